"""The entries of LAPCLASS on small stand-ins for its data, and verdicts on made-up results."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

from labelfold import LaplacianClassifier, NeighborGraph, hide_labels
from reproductions import Measurement, Task, load_paper
from reproductions.lapclass import figure_1, figure_2, figure_3, rules
from reproductions.lapclass.nearest import NearestLabeled, measure_nearest, vote
from reproductions.lapclass.points import LabeledPart, Points, Sample, measure_draws
from reproductions.summary import TaskResult, summarize
from reproductions.tests.helpers import summary_of

PAPER = load_paper("lapclass")


def blobs(n, n_classes=3, seed=0):
    """Overlapping classes in five dimensions."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = 1.5 * rng.standard_normal((n_classes, 5))[y] + rng.standard_normal((n, 5))
    return Points(X, y, shared=n // 2, group=5)


def sample_of(points):
    """All points, with all draws."""
    (sample,) = points.samples(len(points.y), 20)
    return sample


def word_counts(n):
    """Sparse rows that sum to 1, with classes that prefer words of their own."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    rates = np.full((3, 30), 0.2) + np.kron(np.eye(3), np.full(10, 0.8))
    counts = rng.poisson(rates[y] * rng.choice([0.5, 1, 3], size=(n, 1))) + (np.arange(30) == 0)
    X = sp.csr_array(counts / counts.sum(axis=1, keepdims=True))
    return Points(X, y, shared=n // 2, group=1)


def values_of(measurements, **setting):
    """Values of the draws by their numbers."""
    return {
        item.draw: item.value
        for item in measurements
        if item.measure == "error" and setting.items() <= item.setting.items()
    }


def test_draws_leave_no_row_out_and_are_the_same_in_every_call():
    points = blobs(60)
    first, again = (list(sample_of(points).parts(12)) for _ in range(2))
    assert [part.number for part in first] == list(range(20))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.given, other.given)
        np.testing.assert_array_equal(
            np.sort(np.concatenate([one.given, one.hidden])), np.arange(60)
        )
    assert not np.array_equal(first[0].given, first[1].given)
    assert len({tuple(part.given) for part in first}) == 20


def test_ten_draws_where_labels_are_costly(monkeypatch):
    monkeypatch.setattr("reproductions.lapclass.points.COSTLY", 30)
    sample = sample_of(blobs(60))
    assert len(list(sample.parts(29))) == 20
    assert len(list(sample.parts(30))) == 10


def test_subsets_are_nested_and_have_the_same_labeled_points():
    points = blobs(60)
    by_size = {size: list(points.samples(size, 20)) for size in (20, 30, 60)}
    assert [len(samples) for samples in by_size.values()] == [20, 4, 1]
    found = {}
    for size, samples in by_size.items():
        for sample in samples:
            assert sample.X.shape == (size, 5)
            for part in sample.parts(10):
                found[size, part.number] = {tuple(row) for row in sample.X[part.given]}
    for draw in range(20):
        assert found[20, draw] == found[30, draw] != found[60, draw]


def test_draws_that_share_a_subset_are_drawn_apart_among_all_points():
    every = next(iter(blobs(60).samples(60, 20)))
    given = [tuple(part.given) for part in every.parts(30)]
    assert len(set(given)) == 20
    alone = Points(every.X, every.y, shared=30, group=1)
    nested = [next(iter(alone.samples(size, 1))) for size in (30, 60)]
    rows = [{tuple(row) for row in s.X[next(s.parts(10)).given]} for s in nested]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("n_labels", [40, 140])
@pytest.mark.parametrize("length", [5, 11, 40, 256])
def test_nearest_labeled_points_are_those_of_a_full_search(length, n_labels):
    points = sample_of(blobs(150))
    search = NearestLabeled(points, length=length)
    D = cdist(points.X, points.X)
    np.fill_diagonal(D, np.inf)
    for part in list(points.parts(n_labels))[:3]:
        expected = part.given[np.argsort(D[:, part.given], axis=1)[:, :6]]
        np.testing.assert_array_equal(search.find(part, 6), expected)


def test_vote_is_that_of_scikit_learn():
    points = sample_of(blobs(120))
    part = next(points.parts(50))
    votes = vote(points.y[NearestLabeled(points).find(part, 7)])
    for k in (1, 2, 4, 7):
        head = KNeighborsClassifier(k).fit(points.X[part.given], points.y[part.given])
        np.testing.assert_array_equal(
            votes[part.hidden, k - 1], head.predict(points.X[part.hidden])
        )


def test_best_k_has_the_least_mean_error_and_the_chosen_one_sees_no_hidden_label(monkeypatch):
    monkeypatch.setattr("reproductions.lapclass.points.N_DRAWS", 4)
    points = sample_of(blobs(100))
    measured = measure_nearest([points], [30], setting={})
    best, chosen = (
        values_of(measured, choice=choice) for choice in ("best k", "k by leave-one-out")
    )
    errors = np.zeros((4, 10))
    for part in points.parts(30):
        X, y = points.X[part.given], points.y[part.given]
        left_out = []
        for k in range(1, 11):
            head = KNeighborsClassifier(k)
            truth = points.y[part.hidden]
            errors[part.number, k - 1] = np.mean(
                head.fit(X, y).predict(points.X[part.hidden]) != truth
            )
            wrong = [
                head.fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[[i]])[0] != y[i]
                for i in range(30)
            ]
            left_out.append(np.mean(wrong))
        assert chosen[part.number] == pytest.approx(errors[part.number, np.argmin(left_out)])
    k = errors.mean(axis=0).argmin()
    assert list(best.values()) == pytest.approx(errors[:, k])
    assert [item.value for item in measured if item.measure == "k"] == [k + 1]


def test_geodesic_rule_takes_the_nearest_along_the_edges():
    points = sample_of(blobs(120))
    graph = NeighborGraph.build(points.X, n_neighbors=6, weights="binary")
    part = next(points.parts(15))
    lengths = sp.csgraph.shortest_path(graph.distances.copy(), directed=False)
    expected = points.y[part.given[lengths[np.ix_(part.hidden, part.given)].argmin(axis=1)]]
    np.testing.assert_array_equal(rules.label_by_geodesic(graph, points, part), expected)


def test_geodesic_rule_names_no_class_that_it_cannot_reach():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 100])
    points = Sample(X, np.repeat([0, 1], 30), {})
    graph = NeighborGraph.build(X, n_neighbors=8)
    only_first = LabeledPart(0, np.arange(5), np.arange(5, 60))
    found = rules.label_by_geodesic(graph, points, only_first)
    np.testing.assert_array_equal(found, [0] * 25 + [-1] * 30)


@pytest.mark.parametrize("alpha", [0.2, 0.9])
def test_spreading_runs_on_the_very_graph(alpha):
    points = sample_of(blobs(120))
    graph = NeighborGraph.build(points.X, n_neighbors=6, weights="binary")
    part = next(points.parts(15))
    W = graph.adjacency.toarray()
    degrees = W.sum(axis=1)
    given = np.zeros((120, 3))
    given[part.given, points.y[part.given]] = 1
    # Zhou et al.: F = (1 - alpha) (I - alpha D^-1/2 W D^-1/2)^-1 Y; row sums don't move argmax.
    S = W / np.sqrt(np.outer(degrees, degrees))
    scores = np.linalg.solve(np.eye(120) - alpha * S, given)[part.hidden]
    found = rules.label_by_spreading(graph, points, part, alpha=alpha)
    ordered = np.sort(scores, axis=1)
    is_clear = ordered[:, -1] > 1.05 * ordered[:, -2]
    assert is_clear.sum() > 60
    np.testing.assert_array_equal(found[is_clear], scores.argmax(axis=1)[is_clear])


def test_errors_count_hidden_rows_only():
    points = sample_of(blobs(50))

    def all_right_but_one(part):
        labels = points.y[part.hidden].copy()
        labels[0] += 1
        return labels

    measured = measure_draws(points, 10, all_right_but_one, {"labels": 10})
    assert {item.value for item in measured} == {1 / 40}
    assert {item.n_scored for item in measured} == {40}


@pytest.fixture
def small_mnist(monkeypatch):
    """Three sizes of blobs and fewer labels."""
    points = blobs(240)
    monkeypatch.setattr(figure_2, "mnist", lambda data_home: points)
    monkeypatch.setattr(figure_2, "LABELS", (20, 50))
    monkeypatch.setattr(figure_2, "MORE_LABELS", (20, 50, 100))
    for name, value in {"ALL": 240, "MANY": 120, "FEW": 60, "MOST_PENALIZED": 20}.items():
        monkeypatch.setattr(figure_2, name, value)
    return sample_of(points)


@pytest.mark.filterwarnings("ignore:max_iter=30")
def test_figure_2(small_mnist, monkeypatch):
    entry = PAPER.entry("figure-2")
    summary = summary_of(entry, entry.tasks(False))
    assert {row.estimate.n_runs for row in summary.rows_with()} == {20}
    laplacian = summary.row(points=240, rule="Laplacian", labels=50, choice="p = 20 %")
    for part in list(small_mnist.parts(50))[:4]:
        y = hide_labels(small_mnist.y, part.given)
        model = LaplacianClassifier.as_published(n_eigenvectors=10, random_state=0)
        model.fit(small_mnist.X, y)
        error = np.mean(model.transduction_[part.hidden] != small_mnist.y[part.hidden])
        assert laplacian.values[part.number] == pytest.approx(error, abs=2 / 190)
    assert laplacian.n_scored == 190
    assert summary.row(points=240, rule="k-NN", labels=100, choice="best k").n_scored == 140
    assert summary.row(points=120, labeled="almost all", rule="Laplacian").n_scored == 12
    assert len(summary.rows_with(rule="LabelSpreading")) == 4
    assert len(summary.rows_with(rule="geodesic")) == 2
    assert len(summary.rows_with(rule="Laplacian", choice="penalty chosen")) == 3
    monkeypatch.setattr(figure_2, "ALL", 60_000)  # whose claims name numbers of labels
    claims = [verdict.statement for verdict in entry.judge(summary)]
    assert "More unlabeled points help (240 rather than 120 points)" in claims
    assert entry.draw(summary) is not None


def test_figure_3(monkeypatch):
    points = word_counts(200)
    monkeypatch.setattr(figure_3, "newsgroups", lambda data_home: points)
    monkeypatch.setattr(figure_3, "ALL", 200)
    monkeypatch.setattr(figure_3, "SIZES", (200, 120))
    monkeypatch.setattr(figure_3, "LABELS", (50, 100))
    entry = PAPER.entry("figure-3")
    tasks = figure_3.list_tasks(False)
    assert len(tasks) == 8
    summary = summary_of(entry, tasks)
    for metric in ("euclidean", "cosine"):
        graph = NeighborGraph.build(points.X, n_neighbors=8, metric=metric, weights="binary")
        hub = summary.row(figure_3.HUB, metric=metric, points=200)
        assert hub.estimate.mean == graph.occurrences.max()
        antihubs = summary.row(figure_3.ANTIHUBS, metric=metric, points=200)
        assert antihubs.estimate.mean == np.mean(graph.occurrences == 0)
    nearest = summary.row(metric="cosine", points=200, rule="k-NN", labels=50, choice="best k")
    assert nearest.n_scored == 150
    assert len(summary.row(figure_3.HUB, metric="cosine", points=120).values) == 20
    # What the data set has, however many of it are drawn.
    assert summary.row(figure_3.N_ARTICLES, metric="cosine", points=120).estimate.mean == 200
    verdicts = {verdict.claim: verdict for verdict in entry.judge(summary)}
    assert verdicts["19,935 articles are left"].found.startswith("200;")
    assert verdicts["19,935 articles are left"].verdict == "does not hold"
    assert entry.draw(summary) is not None


def test_figure_1():
    entry = PAPER.entry("figure-1")
    summary = summary_of(entry, entry.tasks(True))
    assert {verdict.verdict for verdict in entry.judge(summary)} == {"holds"}
    assert len(entry.draw(summary).axes) == 6


def test_the_point_in_question_is_undecided_in_the_plane():
    curve = figure_1.draw_curve(Task({}, 1))
    assert len(curve.X) == 510
    assert curve.y[curve.question] == figure_1.PLUS
    assert curve.question not in curve.labeled
    assert np.bincount(curve.y[curve.labeled]).tolist() == [5, 5]
    near = [
        cdist(curve.X[[curve.question]], curve.X[curve.rows_of(value)]).min() for value in (0, 1)
    ]
    assert curve.ratio() == pytest.approx(near[1] / near[0])
    assert 0.8 < curve.ratio() < 1.25


def test_between_two_pluses_around_a_circle():
    angle = np.radians([0.0, 20, 350, 180, 200])
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    circle = np.concatenate([circle, -circle])  # a middle at the origin
    y = np.array([0, 0, 0, 1, 1] + [0] * 5)
    curve = figure_1.Curve(circle, y, np.zeros(10), np.arange(1, 5), question=0)
    assert figure_1.is_between(circle, curve)
    other = figure_1.Curve(circle, 1 - y, np.zeros(10), np.arange(1, 5), question=0)
    assert not figure_1.is_between(circle, other)


def results_of(values, **setting):
    """Results of two draws that differ by a hair, for each number of labels."""
    return [
        TaskResult(
            Task(setting),
            tuple(
                Measurement(error + hair, {"labels": labels}, draw=draw)
                for labels, error in values.items()
                for draw, hair in enumerate((-1e-6, 1e-6))
            ),
            0.0,
        )
    ]


def figure_2_results(laplacian, nearest):
    results = []
    for size, values in laplacian.items():
        results += results_of(values, points=size, rule="Laplacian", choice="p = 20 %")
    for choice in ("best k", "k by leave-one-out"):
        results += results_of(nearest, points=60_000, rule="k-NN", choice=choice)
    return results


def verdicts(results):
    found = PAPER.entry("figure-2").judge(summarize(results))
    return {item.claim: (item.verdict, item.found) for item in found}


def test_verdicts_of_figure_2():
    nearest = {100: 0.3, 500: 0.15, 1_000: 0.11, 5_000: 0.06, 20_000: 0.045}
    good = verdicts(
        figure_2_results({60_000: {100: 0.07, 500: 0.04}, 1_000: {100: 0.2, 500: 0.15}}, nearest)
    )
    assert {verdict for verdict, _ in good.values()} == {"holds"}
    nearly = good["With 100 labels the classifier does nearly as well as k-NN with 5,000"][1]
    assert "1.17 times" in nearly
    assert "about 3,300 labels" in nearly
    bad = verdicts(
        figure_2_results({60_000: {100: 0.2, 500: 0.1}, 1_000: {100: 0.1, 500: 0.05}}, nearest)
    )
    assert {verdict for verdict, _ in bad.values()} == {"does not hold"}


def test_verdicts_on_rules_beyond_the_paper():
    nearest = {100: 0.3, 500: 0.15, 5_000: 0.06, 20_000: 0.045}
    results = figure_2_results({60_000: {100: 0.07, 500: 0.04}}, nearest)
    results += results_of({100: 0.1, 500: 0.03}, points=60_000, rule="geodesic")
    results += results_of({100: 0.06}, points=60_000, rule="Laplacian", choice="penalty chosen")
    results += results_of({100: 0.05}, points=60_000, rule="LabelSpreading", choice="α = 0.99")
    found = verdicts(results)
    assert (
        found["The Laplacian classifier has a smaller error than the geodesic rule"][0] == "partly"
    )
    assert found["With a chosen penalty it has a smaller error than the paper's rule"][0] == "holds"
    assert (
        found["With a chosen penalty it has a smaller error than LabelSpreading, α = 0.99"][0]
        == "does not hold"
    )


def test_verdict_where_almost_all_is_labeled():
    results = results_of({900: 0.12}, points=1_000, rule="Laplacian", choice="p = 20 %")
    results += results_of({900: 0.115}, points=1_000, rule="k-NN", choice="best k")
    claim = "With almost all labeled it is close to k-NN"
    assert verdicts(results)[claim][0] == "holds"
