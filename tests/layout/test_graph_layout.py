"""GraphLayout: forces, honesty about labels, steady pictures, new rows, many rows."""

import subprocess
import sys
from copy import copy

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.neighbors import KNeighborsTransformer

from labelfold import (
    FewLabelClassifier,
    GraphLayout,
    LaplacianClassifier,
    NeighborGraph,
    hide_labels,
)
from labelfold.exceptions import InputError
from labelfold.layout import descent, graph_layout, merged_graph, start
from labelfold.layout.descent import Descent, to_affinities
from labelfold.layout.label_force import signal_of_labels, weaken
from labelfold.layout.layout_certificate import neighbor_purity
from labelfold.layout.merged_graph import MergedGraph
from labelfold.progress import report_nothing

pytest.importorskip("openTSNE")
DIGITS, CLASSES = load_digits(return_X_y=True)
DIGITS, CLASSES = DIGITS[:600], CLASSES[:600]
SOME = hide_labels(CLASSES, keep=np.arange(40))


@pytest.fixture(scope="module")
def layout():
    return GraphLayout().fit(DIGITS, SOME)


@pytest.fixture(scope="module")
def roll():
    """A small graph in one component."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    return NeighborGraph.build(X, n_neighbors=6, weights="self-tuning").bridged()


# ---- forces


def test_affinities_are_symmetric_and_give_every_point_its_share(roll):
    P = to_affinities(roll.adjacency).toarray()
    W = roll.adjacency.toarray()
    B = W / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(P, (B + B.T) / 120, rtol=1e-6)
    np.testing.assert_allclose(P.sum(), 1, rtol=1e-6)


def test_agreement_is_the_fourth_power_of_the_bhattacharyya_coefficient():
    edges = sp.csr_array(np.array([[0, 1.0, 1.0], [1.0, 0, 2.0], [1.0, 2.0, 0]]))
    P = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    found = weaken(edges, P, P, 0.9).toarray()
    np.testing.assert_allclose(found[0], [0, 1, 0.1 + 0.9 * 0.01], atol=1e-12)
    np.testing.assert_allclose(found[1, 2], 2 * found[0, 2])
    np.testing.assert_allclose(found, found.T)


def test_agreement_in_chunks(monkeypatch, roll):
    P = np.random.default_rng(0).dirichlet(np.ones(4), size=60)
    whole = weaken(roll.adjacency, P, P, 0.9)
    monkeypatch.setattr("labelfold.layout.label_force.ENTRIES_AT_ONCE", 12)
    np.testing.assert_array_equal(weaken(roll.adjacency, P, P, 0.9).data, whole.data)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_relative_gradient_is_that_of_the_stated_objective(roll, n_components):
    """Attraction 4 e p_ij q_ij, repulsion 4 q_ij^2 / sum, each along y_i - y_j."""
    P = to_affinities(roll.adjacency)
    Y = np.random.default_rng(1).normal(size=(60, n_components))
    divergence, gradient = Descent(roll.adjacency, 1.5, report_nothing).evaluate(Y)
    Q = 1 / (1 + cdist(Y, Y) ** 2)
    np.fill_diagonal(Q, 0)
    dense, normal = P.toarray(), Q / Q.sum()
    kept = dense > 0
    expected = np.sum(dense[kept] * np.log(dense[kept] / normal[kept]))
    apart = Y[:, None] - Y[None]
    attraction = np.einsum("ij,ijk->ik", 1.5 * dense * Q, apart)
    repulsion = np.einsum("ij,ijk->ik", normal * Q, apart)
    np.testing.assert_allclose(divergence, expected, rtol=1e-2)  # the tree approximates
    ratio = np.linalg.norm(attraction - repulsion) / np.linalg.norm(attraction)
    np.testing.assert_allclose(gradient, ratio, rtol=2e-2)


def test_descent_leaves_its_affinities_alone(roll):
    steps, Y = (
        Descent(roll.adjacency, 2.0, report_nothing),
        np.random.default_rng(0).normal(size=(60, 2)),
    )
    first = steps.relax(Y, 20)
    np.testing.assert_array_equal(steps.relax(Y, 20), first)
    np.testing.assert_array_equal(steps._affinities.data, to_affinities(roll.adjacency).data)


def test_descent_settles(layout):
    certificate = layout.certificate_
    assert certificate.ok
    assert 0.3 < certificate.neighbors_kept < 1
    assert certificate.n_steps == descent.EARLY_STEPS + descent.STEPS + graph_layout.LABEL_STEPS
    assert "divergence" in str(certificate)
    assert layout.exaggeration_ == 1.0


def test_groups_that_are_far_apart_stay_apart():
    X, y = make_blobs(300, 10, centers=5, random_state=0)
    with pytest.warns(UserWarning, match="separate components"):
        Z = GraphLayout().fit(X).embedding_
    assert neighbor_purity(Z, y) == 1


def test_equal_rows_are_one_point_and_no_attractor():
    X = np.random.default_rng(0).normal(size=(200, 4))
    many = np.vstack([X, np.repeat(X[:1], 100, axis=0)])
    Z = GraphLayout().fit(many).embedding_
    np.testing.assert_array_equal(Z[200:], np.repeat(Z[:1], 100, axis=0))
    points = MergedGraph.of_equal_rows(NeighborGraph.build(many, n_neighbors=8).bridged())
    assert points.weights.shape == (200, 200)
    assert (points.weights.diagonal() == 0).all()
    # The row that occurs often has no more room around it, and no more company, than others.
    near = np.sort(cdist(Z[:200], Z[:200]), axis=1)[:, 5]
    assert 0.2 < near[0] / np.median(near) < 5


# ---- labels


def test_labels_without_a_signal_have_no_force(layout):
    permuted = hide_labels(np.random.default_rng(0).permutation(CLASSES), keep=np.arange(40))
    other = clone(layout).fit(DIGITS, permuted)
    effect = other.certificate_.label_effect
    assert effect.force == effect.added == effect.median_move == 0
    assert "no force" in str(other.certificate_)
    np.testing.assert_array_equal(other.embedding_, layout.base_embedding_)
    np.testing.assert_array_equal(other.embedding_, other.base_embedding_)


def test_force_is_chance_corrected_accuracy_on_left_out_labels(layout):
    model = layout.classifier_
    given = np.searchsorted(model.classes_, CLASSES[model.labeled_rows_])
    named = model.left_out_distributions_.argmax(axis=1)
    assert (np.bincount(given) > 1).all()
    right, chance = np.mean(named == given), np.bincount(given) @ np.bincount(named) / 40**2
    kappa = (right - chance) / (1 - chance)
    effect = layout.certificate_.label_effect
    assert 0.5 * kappa < effect.signal < kappa  # the lower end of an interval
    assert effect.force == 0.9 * effect.signal
    half = clone(layout).set_params(label_weight=0.45).fit(DIGITS, SOME)
    assert half.certificate_.label_effect.force == effect.force / 2


def test_a_weak_force_has_a_weak_effect(layout):
    """The effect compares layouts of as many steps: it tends to 0 with the force."""
    weak = clone(layout).set_params(label_weight=1e-6).fit(DIGITS, SOME)
    effect = weak.certificate_.label_effect
    assert effect.force > 0
    assert effect.median_move < 1e-3
    assert abs(effect.added) < 1e-3


def test_one_label_per_class_cannot_be_left_out():
    one_each = [np.flatnonzero(value == CLASSES)[0] for value in range(10)]
    model = FewLabelClassifier().fit(DIGITS, hide_labels(CLASSES, keep=one_each))
    assert signal_of_labels(model) == 0


def test_labels_add_no_more_to_predicted_than_to_true_classes():
    """The head may be wrong; its own classes must not look purer than the true ones became."""
    labeled = np.concatenate([np.flatnonzero(value == CLASSES)[:2] for value in range(10)])
    layout = GraphLayout().fit(DIGITS, hide_labels(CLASSES, keep=labeled))
    named = layout.classifier_.label_distributions_.argmax(axis=1)
    added = [
        neighbor_purity(layout.embedding_, codes) - neighbor_purity(layout.base_embedding_, codes)
        for codes in (named, CLASSES)
    ]
    assert added[0] <= added[1] + 0.02


def test_the_force_separates_what_the_classifier_is_sure_of():
    X = np.random.default_rng(0).normal(size=(300, 3))
    sides = (X[:, 0] > 0).astype(int)
    layout = GraphLayout().fit(X)
    sure, unsure = np.eye(2)[sides], np.full((300, 2), 0.5)
    purities = []
    for distributions in (unsure, sure):
        weights = weaken(layout.graph_.adjacency, distributions, distributions, 0.9)
        steps = Descent(weights, layout.exaggeration_, report_nothing)
        purities.append(neighbor_purity(steps.relax(layout.embedding_, 100), sides))
    assert purities[1] > purities[0] + 0.03


# ---- steady pictures


def test_refit_is_what_fit_gives(layout):
    more = hide_labels(CLASSES, keep=np.arange(50))
    again = clone(layout).fit(DIGITS, SOME).refit(more)
    cold = GraphLayout().fit(DIGITS, more)
    np.testing.assert_array_equal(again.embedding_, cold.embedding_)
    assert str(again.certificate_) == str(cold.certificate_)


def test_a_layout_that_is_stopped_stays_and_goes_on_later():
    layout = GraphLayout().fit(DIGITS, SOME)
    before = layout.embedding_.copy()
    model = copy(layout.classifier_).refit(hide_labels(CLASSES, keep=np.arange(50)))

    def stop(stage, done, total=None, note=""):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        layout.follow(model, stop)
    np.testing.assert_array_equal(layout.embedding_, before)
    cold = GraphLayout().fit(DIGITS, hide_labels(CLASSES, keep=np.arange(50)))
    np.testing.assert_array_equal(layout.follow(model).embedding_, cold.embedding_)


def test_ten_more_labels_move_few_points(layout):
    cold = GraphLayout().fit(DIGITS, hide_labels(CLASSES, keep=np.arange(50)))
    radius = np.linalg.norm(layout.embedding_, axis=1).max()
    moves = np.linalg.norm(cold.embedding_ - layout.embedding_, axis=1) / radius
    assert np.median(moves) < 0.02
    assert np.mean(moves > 0.25) <= 0.001


def test_labels_move_no_point_far():
    base, moved = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 4.0], [1.3, 1.4]])
    found = graph_layout._near(base, moved, 1.0)
    np.testing.assert_allclose(found, [[0.6, 0.8], [1.3, 1.4]])


def test_more_rows_leave_old_ones_near_their_places(layout):
    first = GraphLayout().fit(DIGITS[:500])
    second = GraphLayout(init=first).fit(DIGITS)
    cold = GraphLayout().fit(DIGITS)
    radius = np.linalg.norm(first.embedding_, axis=1).max()
    warm_move, cold_move = (
        np.median(np.linalg.norm(one.embedding_[:500] - first.embedding_, axis=1)) / radius
        for one in (second, cold)
    )
    assert warm_move < 0.1
    assert warm_move < cold_move
    assert second.certificate_.n_steps == graph_layout.WARM_STEPS + graph_layout.LABEL_STEPS


def test_labels_come_to_a_layout_without_any():
    first = GraphLayout().fit(DIGITS)
    with pytest.raises(InputError, match="without labels"):
        first.refit(SOME)
    second = GraphLayout(init=first).fit(DIGITS, SOME, graph=first.graph_)
    np.testing.assert_array_equal(second.embedding_, GraphLayout().fit(DIGITS, SOME).embedding_)


def test_a_given_start_keeps_its_orientation():
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    Z = GraphLayout(init=ring).fit(ring).embedding_
    turned = np.angle((Z @ [1, 1j]) / (ring @ [1, 1j]))
    assert np.abs(turned).max() < 0.3


def test_bits_do_not_depend_on_threads_or_process(layout):
    for n_jobs in (1, 2):
        other = clone(layout).set_params(n_jobs=n_jobs).fit(DIGITS, SOME)
        np.testing.assert_array_equal(other.embedding_, layout.embedding_)
    code = (
        "import numpy as np\nfrom sklearn.datasets import load_digits\n"
        "from labelfold import GraphLayout, hide_labels\n"
        "X, y = load_digits(return_X_y=True)\n"
        "y = hide_labels(y[:600], keep=np.arange(40))\n"
        "print(GraphLayout(n_jobs=2).fit(X[:600], y).embedding_.tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == layout.embedding_.tobytes().hex()


# ---- new rows


def test_a_new_row_is_at_the_weighted_median_of_its_neighbors(layout):
    plain = GraphLayout().fit(DIGITS)
    new = DIGITS[:20] + 0.3
    distances = plain.graph_.distances_to(new)
    weights = plain.graph_.weigh(distances, relative=True).toarray()

    def median(of_row):
        near, point = np.flatnonzero(of_row), np.empty(2)
        for column in range(2):
            order = near[np.argsort(plain.embedding_[near, column], kind="stable")]
            reached = np.cumsum(of_row[order]) >= of_row[near].sum() / 2
            point[column] = plain.embedding_[order[np.argmax(reached)], column]
        return point

    for of_row, found in zip(weights, plain.transform(new), strict=True):
        away = np.sum((plain.embedding_ - median(of_row)) ** 2, axis=1)
        np.testing.assert_allclose(found, median(of_row / (1 + away)))


def test_new_rows_come_to_their_classes():
    X, y = load_digits(return_X_y=True)
    layout = GraphLayout().fit(X[:1200], hide_labels(y[:1200], keep=np.arange(50)))
    nearest = cdist(layout.transform(X[1200:]), layout.embedding_).argmin(axis=1)
    assert np.mean(y[nearest] == y[1200:]) > 0.9


# ---- many rows


def test_seeds_cover_the_graph_and_are_no_neighbors(roll):
    coarse = MergedGraph.of_seeds(roll.adjacency, 0)
    n_seeds = coarse.weights.shape[0]
    assert 5 < n_seeds < 30
    merge = np.eye(n_seeds)[coarse.number]
    W = merge.T @ roll.adjacency.toarray() @ merge
    np.fill_diagonal(W, 0)
    np.testing.assert_allclose(coarse.weights.toarray(), W)
    is_seed = merged_graph._independent(roll.adjacency, np.random.default_rng(0).permutation(60))
    within = roll.adjacency.toarray() > 0
    assert not within[np.ix_(is_seed, is_seed)].any()
    assert (within[:, is_seed].any(axis=1) | is_seed).all()


def test_many_rows_by_a_coarse_graph(monkeypatch):
    whole = GraphLayout().fit(DIGITS)
    monkeypatch.setattr(graph_layout, "MOST_TOGETHER", 300)
    coarse = GraphLayout().fit(DIGITS)
    assert 50 < coarse.certificate_.n_sampled < 300
    assert "laid out" in str(coarse.certificate_)
    purities = [neighbor_purity(one.embedding_, CLASSES) for one in (whole, coarse)]
    assert purities[1] > purities[0] - 0.03


def test_a_start_from_a_coarse_graph(monkeypatch):
    monkeypatch.setattr(start, "MANY_POINTS", 300)
    layout = GraphLayout().fit(DIGITS)
    assert neighbor_purity(layout.embedding_, CLASSES) > 0.9


# ---- classifiers and metrics


def test_layout_of_a_classifier_uses_its_probabilities():
    model = FewLabelClassifier().fit(DIGITS, SOME)
    layout = GraphLayout.of_classifier(model)
    assert layout.certificate_.label_effect.force > 0
    assert layout.classifier_ is model
    placed = layout.place(model.distances_to(DIGITS[:50] + 0.1))
    assert np.median(np.linalg.norm(placed - layout.embedding_[:50], axis=1)) < 2
    before = model.transduction_.copy()
    layout.refit(hide_labels(CLASSES, keep=np.arange(60)))
    np.testing.assert_array_equal(model.transduction_, before)


def test_layout_of_another_classifier_has_no_force():
    layout = GraphLayout.of_classifier(LaplacianClassifier().fit(DIGITS, SOME))
    assert layout.certificate_.label_effect is None
    with pytest.raises(InputError, match="no graph_"):
        GraphLayout.of_classifier(object())


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "precomputed"])
def test_metrics_with_labels(metric):
    X = DIGITS
    if metric == "precomputed":
        X = KNeighborsTransformer(mode="distance", n_neighbors=20).fit_transform(DIGITS)
    layout = GraphLayout(metric=metric).fit(X, SOME)
    assert layout.certificate_.label_effect.force > 0.3
    assert neighbor_purity(layout.embedding_, CLASSES) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 4}, "n_components=4 must be at most 3"),
        ({"label_weight": 1.5}, "label_weight=1.5"),
        ({"exaggeration": 0.5}, "exaggeration=0.5"),
        ({"exaggeration": "strong"}, "exaggeration='strong'"),
        ({"init": "random"}, "init='random'"),
        ({"init": np.zeros((3, 2))}, r"init has shape \(3, 2\)"),
        ({"init": GraphLayout()}, "not fitted"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        GraphLayout(**parameters).fit(DIGITS[:50])


def test_a_start_of_another_dimension():
    fitted = GraphLayout(3).fit(DIGITS[:50])
    with pytest.raises(InputError, match="3 dimensions"):
        GraphLayout(init=fitted).fit(DIGITS[:50])


def test_without_opentsne_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(graph_layout, "is_available", lambda: False)
    with pytest.raises(ImportError, match=r"labelfold\[app\]"):
        GraphLayout().fit(DIGITS[:50])
