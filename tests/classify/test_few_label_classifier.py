"""FewLabelClassifier against closed forms of its parts, and on what it must not get wrong."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KNeighborsTransformer

import labelfold
from labelfold import (
    CCDR,
    FewLabelClassifier,
    LaplacianEigenmaps,
    NeighborGraph,
    PartialLabels,
    checks,
    hide_labels,
)
from labelfold.classify import kernel_average, row_kernels
from labelfold.classify.class_sizes import find_offsets, read_class_sizes
from labelfold.classify.kernel_average import KernelAverage
from labelfold.classify.row_kernels import GRAPH_KERNELS, NewRows, RowKernels
from labelfold.classify.settling import settle
from labelfold.datasets import make_swiss_roll
from labelfold.evidence import calibrate
from labelfold.exceptions import (
    DisconnectedGraphWarning,
    FewLabelsWarning,
    FewNeighborsWarning,
    GraphMismatchError,
    InputError,
    UnreachedPointsWarning,
)
from labelfold.graph import adjacency
from labelfold.progress import report_nothing

QUICK = ("mutual", "linear", "gaussian-standardized")
PLAIN = ("mutual", "shared", "graph-10", "shared-20", "linear", "gaussian")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def fitted(digits):
    X, y = digits
    return FewLabelClassifier().fit(X, hide_labels(y, keep=range(60)))


def kernels_of(X, metric="euclidean"):
    return RowKernels(X, metric, neighbor_search="exact", seed=0, n_jobs=None)


def columns_of(kernels, name, labeled):
    columns = kernels.columns(name, labeled, report_nothing)
    return columns, columns.at(kernels, np.arange(kernels.n_rows))


def error(model, y, labeled):
    hidden = np.delete(np.arange(len(y)), labeled)
    return np.mean(model.transduction_[hidden] != y[hidden])


# Kernels


@pytest.mark.parametrize("name", GRAPH_KERNELS)
def test_graph_kernel_is_the_sum_over_eigenvectors(name, digits):
    X = digits[0][:200]
    kernels = kernels_of(X)
    _, phi = columns_of(kernels, name, np.arange(20))
    W = kernels.graph(name, report_nothing).bridged().adjacency.toarray()
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D)
    kept = slice(1, phi.shape[1] + 1)
    expected = (vectors[:, kept] / values[kept] ** 2) @ vectors[:, kept].T
    np.testing.assert_allclose(phi @ phi.T, expected, atol=1e-6 * np.abs(expected).max())


def test_linear_kernel_weighs_components_by_their_variances():
    X = np.random.default_rng(0).normal(size=(80, 5)) * [1, 2, 3, 4, 5]
    _, phi = columns_of(kernels_of(X), "linear", np.arange(9))
    centered = X - X.mean(axis=0)
    expected = centered @ np.cov(X.T) @ centered.T
    K = phi @ phi.T
    np.testing.assert_allclose(K / K[0, 0], expected / expected[0, 0], atol=1e-6)


def test_gaussian_kernel_has_the_median_distance_for_scale():
    X = np.random.default_rng(0).normal(size=(80, 5))
    labeled = np.arange(0, 80, 4)
    _, phi = columns_of(kernels_of(X), "gaussian", labeled)
    squares = euclidean_distances(X, squared=True)
    expected = np.exp(-squares / np.median(squares[np.triu_indices(80, 1)]))
    exact = expected[:, labeled]  # Nystroem is exact between any row and a landmark
    np.testing.assert_allclose(phi @ phi[labeled].T, exact, atol=1e-6)


def test_standardized_kernels_do_not_depend_on_units():
    X = np.random.default_rng(0).normal(size=(80, 5))
    for name in ("linear-standardized", "gaussian-standardized"):
        one = columns_of(kernels_of(X), name, np.arange(9))[1]
        other = columns_of(kernels_of(X * [1, 10, 1e3, 0.1, 5]), name, np.arange(9))[1]
        np.testing.assert_allclose(other @ other.T, one @ one.T, atol=1e-6)


@pytest.mark.parametrize("name", [*PLAIN, "linear-standardized", "gaussian-standardized"])
def test_columns_combine_alike_at_training_rows_and_at_rows_beside_them(name, digits):
    X = digits[0][:400]
    kernels = kernels_of(X)
    columns, phi = columns_of(kernels, name, np.arange(40))
    a = np.random.default_rng(0).normal(size=(phi.shape[1], 2))
    a /= np.maximum(np.linalg.norm(phi, axis=0), 1e-9)[:, None]
    scores = columns.combine(kernels, a)
    np.testing.assert_allclose(scores, phi @ a, atol=1e-10 * np.abs(scores).max())
    beside = columns.combine_at_new(NewRows(kernels.views, X + 1e-6), a)
    assert np.corrcoef(beside.ravel(), scores.ravel())[0, 1] > 0.95


def test_one_search_serves_mutual_and_shared_neighbors(digits):
    kernels = kernels_of(digits[0][:300])
    mutual, shared = (kernels.graph(name, report_nothing) for name in ("mutual", "shared"))
    assert mutual.index is shared.index
    assert (mutual.recipe.n_neighbors, shared.recipe.n_neighbors) == (6, 10)


# Rows as they are


@pytest.fixture
def many(monkeypatch):
    """Take 500 digits for many rows, whose views are fitted to a sample of them."""
    monkeypatch.setattr(row_kernels, "MANY_ENTRIES", 20_000)
    monkeypatch.setattr(row_kernels, "SAMPLE_ENTRIES", 30_000)
    monkeypatch.setattr(row_kernels, "SAMPLE_SIZE", 400)


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
def test_narrow_rows_give_what_the_same_values_give_in_float64(kind, digits):
    X, y = digits[0][:300], hide_labels(digits[1][:300], keep=range(40))
    expected = FewLabelClassifier(candidates=QUICK).fit(X, y)
    model = FewLabelClassifier(candidates=QUICK).fit(X.astype(kind), y)
    np.testing.assert_array_equal(model.decision_values_, expected.decision_values_)
    new = X[:9] + 1
    found = model.predict_proba(new.astype(kind))
    np.testing.assert_array_equal(found, expected.predict_proba(new))


@pytest.mark.parametrize(("metric", "wide"), [("euclidean", False), ("cosine", True)])
def test_many_rows_give_the_same_labels_whatever_their_type(many, metric, wide, digits, tmp_path):
    X, y = digits[0][:500], digits[1][:500]
    if wide:
        X = np.sin(X @ np.random.default_rng(0).normal(size=(64, 150)) / 20)
    X = X.astype(np.float16)
    model = FewLabelClassifier(candidates=QUICK, metric=metric)
    fitted = model.fit(X.astype(float), hide_labels(y, keep=range(60)))
    assert fitted._views.in_blocks
    assert error(fitted, y, np.arange(60)) < 0.2
    np.testing.assert_array_equal(fitted.predict(X.astype(float)), fitted.transduction_)
    np.save(tmp_path / "rows.npy", X)
    for rows in (X.astype(np.float32), np.load(tmp_path / "rows.npy", mmap_mode="r")):
        other = clone(model).fit(rows, hide_labels(y, keep=range(60)))
        assert np.mean(other.transduction_ == fitted.transduction_) > 0.999
        np.testing.assert_array_equal(other.predict(rows), other.transduction_)
    labelfold.save(other, tmp_path / "model.labelfold")
    again = labelfold.load(tmp_path / "model.labelfold")
    np.testing.assert_array_equal(again.predict(X), other.transduction_)


def test_views_of_a_sample_are_near_those_of_all_rows(many, digits):
    X, y = digits[0][:500], hide_labels(digits[1][:500], keep=range(60))
    for name in ("linear", "gaussian", "linear-standardized", "gaussian-standardized"):
        labels = FewLabelClassifier(candidates=[name]).fit(X, y).transduction_
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_kernels, "MANY_ENTRIES", 10**9)
            of_all = FewLabelClassifier(candidates=[name]).fit(X, y).transduction_
        assert np.mean(labels == of_all) > 0.95


def test_many_rows_on_disk_are_never_in_memory_as_float64(monkeypatch, tmp_path):
    """40,000 rows take 31 MB on disk, 123 MB in float64, and their searched view 16 MB."""
    monkeypatch.setattr(row_kernels, "MANY_ENTRIES", 2**20)
    monkeypatch.setattr(row_kernels, "SAMPLE_ENTRIES", 2**20)
    for module in (checks, row_kernels):
        monkeypatch.setattr(module, "ENTRIES_AT_ONCE", 2**20)
    rng = np.random.default_rng(0)
    np.save(tmp_path / "rows.npy", rng.normal(size=(40_000, 384)).astype(np.float16))
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    tracemalloc.start()
    kernels = kernels_of(X)
    assert kernels.view("rows").dtype == np.float32
    for name in ("linear", "gaussian-standardized"):
        columns = kernels.columns(name, np.arange(20), report_nothing)
        columns.combine(kernels, np.ones((columns.at(kernels, np.arange(1)).shape[1], 2)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80e6


# A graph that is given


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_graph_with_room_for_ties_gives_what_a_search_of_its_own_gives(kind, digits, monkeypatch):
    X, y = digits[0][:300].astype(kind), hide_labels(digits[1][:300], keep=range(40))
    expected = FewLabelClassifier(candidates=QUICK).fit(X, y)
    graph = CCDR(n_neighbors=13).build_graph(X)
    monkeypatch.setattr(row_kernels, "build_graph", lambda *a, **k: pytest.fail("searched"))
    model = FewLabelClassifier(candidates=QUICK).fit(X, y, graph=graph)
    np.testing.assert_array_equal(model.decision_values_, expected.decision_values_)
    np.testing.assert_array_equal(model.predict_proba(X + 1), expected.predict_proba(X + 1))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_columns", [40, 150])
def test_graph_of_any_estimator_or_of_its_own(metric, n_columns, digits):
    y = digits[1][:400]
    X = digits[0][:400] @ np.random.default_rng(0).normal(size=(64, n_columns))
    given = hide_labels(y, keep=range(60))
    model = FewLabelClassifier(candidates=QUICK, metric=metric)
    alone = clone(model).fit(X, given)
    own = clone(model).fit(X, given, graph=model.build_graph(X))
    np.testing.assert_array_equal(own.decision_values_, alone.decision_values_)
    np.testing.assert_array_equal(own.predict_proba(X + 1), alone.predict_proba(X + 1))
    embedder = LaplacianEigenmaps(n_neighbors=10, metric=metric).fit(X)
    shared = clone(model).fit(X, given, graph=embedder.graph_)
    assert shared.graph_.index is embedder.graph_.index
    assert error(shared, y, np.arange(60)) < error(alone, y, np.arange(60)) + 0.03
    np.testing.assert_array_equal(shared.predict(X), shared.transduction_)


def test_edges_of_very_many_rows_are_narrow_and_give_the_same_labels(digits, monkeypatch):
    X, y = digits[0][:301], hide_labels(digits[1][:301], keep=range(40))
    expected = FewLabelClassifier(candidates=QUICK).fit(X, y)
    monkeypatch.setattr(adjacency, "NARROW_FROM", 100)
    graph = CCDR(n_neighbors=13).build_graph(X)
    for given in (None, graph):
        model = FewLabelClassifier(candidates=QUICK).fit(X, y, graph=given)
        assert model.graph_.distances.dtype == np.float32
        assert np.mean(model.transduction_ == expected.transduction_) > 0.98


def test_graph_with_bridges_serves_without_them():
    X, y = make_blobs(200, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    with pytest.warns(DisconnectedGraphWarning):
        graph = LaplacianEigenmaps(n_neighbors=13).fit(X).graph_
    given = hide_labels(y, keep=range(20))
    model = FewLabelClassifier(candidates=QUICK).fit(X, given, graph=graph)
    expected = FewLabelClassifier(candidates=QUICK).fit(X, given).decision_values_
    np.testing.assert_array_equal(model.decision_values_, expected)


def test_graph_with_few_neighbors_is_used_with_a_warning(digits):
    X, y = digits[0][:200], digits[1][:200]
    graph = NeighborGraph.build(X, n_neighbors=5)
    with pytest.warns(FewNeighborsWarning, match="has 5 neighbors per row"):
        model = FewLabelClassifier(candidates=QUICK).fit(
            X, hide_labels(y, keep=range(40)), graph=graph
        )
    assert model.graph_.recipe.n_neighbors == 5
    assert np.mean(model.predict(X) == model.transduction_) == 1


@pytest.mark.parametrize("change", ["rows", "metric", "radius"])
def test_graph_of_other_rows_or_metric_is_refused(change, digits):
    X, y = digits[0][:200], hide_labels(digits[1][:200], keep=range(40))
    settings = {"metric": {"metric": "cosine"}, "radius": {"radius": 30.0}}.get(change, {})
    graph = NeighborGraph.build(X[::-1] if change == "rows" else X, **settings)
    with pytest.raises(GraphMismatchError, match=change):
        FewLabelClassifier().fit(X, y, graph=graph)


# The average


def test_weights_follow_from_priors_and_left_out_errors(fitted):
    table = {one.name: one for one in fitted.candidates_}
    errors = np.array([one.left_out_error for one in table.values()])
    assert len(table) == 14
    has_graph = np.array(
        ["shared" in name or "mutual" in name or "graph" in name for name in table]
    )
    has_feature = np.array(["linear" in name or "gaussian" in name for name in table])
    prior = np.where(has_feature, np.where(has_graph, 0.3, 0.1), 1.0)
    expected = prior * np.exp(-60 * errors) / np.sum(prior * np.exp(-60 * errors))
    weights = [one.weight for one in table.values()]
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    assert weights == sorted(weights, reverse=True)


def test_scores_are_the_weighted_scores_of_the_candidates(digits):
    X, y = digits[0][:500], digits[1][:500]
    both = FewLabelClassifier(candidates=["shared", "graph-10"]).fit(X, hide_labels(y, range(40)))
    weights = {one.name: one.weight for one in both.candidates_}
    assert min(weights.values()) > 0.02
    parts = {name: FewLabelClassifier(candidates=[name]).fit(X, y) for name in weights}
    for n_labels, attribute in ((40, "decision_values_"), (120, "left_out_values_")):
        for model in (both, *parts.values()):
            model.refit(hide_labels(y, range(n_labels)))
        weights = {one.name: one.weight for one in both.candidates_}
        expected = sum(weights[name] * getattr(parts[name], attribute) for name in parts)
        np.testing.assert_allclose(getattr(both, attribute), expected, atol=1e-8)


@pytest.mark.parametrize("kernel", ["shared", "gaussian"])
def test_few_left_out_scores_are_those_of_fits_without_a_tenth_of_the_labels(
    digits, kernel, monkeypatch
):
    X, y = digits[0][:300], digits[1][:300]
    model = FewLabelClassifier(candidates=[kernel]).fit(X, hide_labels(y, range(40)))
    left_out = model.left_out_values_
    with monkeypatch.context() as patch:
        patch.setattr(kernel_average, "MOST_FOLDED", 0)
        model.refit(hide_labels(y, range(40)))
    own = model.left_out_values_[range(40), np.searchsorted(model.classes_, y[:40])]
    order = np.lexsort((own.round(6), y[:40]))
    for fold in range(10):
        hidden = order[fold::10]
        model.refit(hide_labels(y, np.setdiff1d(range(40), hidden)))
        expected = model.decision_values_[hidden]
        np.testing.assert_allclose(left_out[hidden], expected, atol=1e-6)


def test_sentence_names_weights_and_left_out_labels(fitted, digits):
    codes = digits[1][:60]
    counted = np.bincount(codes)[codes] > 1
    wrong = np.sum((fitted.left_out_values_.argmax(axis=1) != codes) & counted)
    first = next(iter(fitted.candidates_))
    text = str(fitted.candidates_)
    assert text.startswith(f"{first.name} {first.weight:.2f}")
    assert text.endswith(f"{wrong} of {counted.sum()} left-out labels wrong.")
    lone = FewLabelClassifier().fit(digits[0][:200], hide_labels(digits[1][:200], keep=range(10)))
    assert str(lone.candidates_).endswith("as no label can be left out.")


def test_left_out_scores_foretell_fits_without_the_label(digits):
    X, y = digits[0][:600], digits[1][:600]
    model = FewLabelClassifier(candidates=PLAIN).fit(X, hide_labels(y, keep=range(50)))
    foretold = model.left_out_values_.argmax(axis=1)
    found = []
    for i in range(50):
        model.refit(hide_labels(y, keep=np.delete(np.arange(50), i)))
        found.append(model.classes_[model.decision_values_[i].argmax()])
    assert np.mean(foretold == np.array(found)) >= 0.9


def test_refit_is_a_fit_with_other_labels(digits):
    X, y = digits[0][:500], digits[1][:500]
    one = FewLabelClassifier().fit(X, hide_labels(y, keep=range(30)))
    one.refit(hide_labels(y, keep=range(80)))
    other = FewLabelClassifier().fit(X, hide_labels(y, keep=range(80)))
    np.testing.assert_array_equal(one.decision_values_, other.decision_values_)
    with pytest.raises(ValueError, match="y has 3 entries but X has 500 rows"):
        one.refit([0, 1, -1])


def test_folds_are_fitted_once_each_on_the_same_graphs(digits, monkeypatch):
    X, y = digits[0][:300], digits[1][:300]
    ys = [hide_labels(y, keep=range(start, start + 40)) for start in (0, 40)]
    models = [FewLabelClassifier(), FewLabelClassifier(class_sizes="balanced")]
    expected = [[clone(model).fit(X, one).decision_values_ for one in ys] for model in models]
    fit, given = KernelAverage.fit, []
    monkeypatch.setattr(
        KernelAverage, "fit", lambda *arguments: given.append(arguments) or fit(*arguments)
    )
    for number, fold, fitted in models[0].fit_many(models, X, ys, None):
        np.testing.assert_allclose(fitted.decision_values_, expected[number][fold], atol=1e-9)
        assert fitted.class_sizes == models[number].class_sizes
    assert len(given) == 4
    assert len({id(kernels) for kernels, *_ in given}) == 1


def test_many_labels_are_fitted_on_all_of_them():
    X = np.random.default_rng(0).normal(size=(4000, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    labeled = np.arange(2600)
    model = FewLabelClassifier().fit(X, hide_labels(y, keep=labeled))
    assert error(model, y, labeled) < 0.07
    assert model.left_out_values_.shape == (2600, 2)
    assert sum(one.weight for one in model.candidates_) == pytest.approx(1)


# What it must not get wrong


@pytest.mark.parametrize("seed", range(20))
def test_separate_blobs_with_one_label_each(seed):
    X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)
    labeled = [int(np.flatnonzero(y == k)[0]) for k in range(3)]
    model = FewLabelClassifier().fit(X, hide_labels(y, keep=labeled))
    np.testing.assert_array_equal(model.transduction_, y)


@pytest.mark.parametrize("seed", range(5))
def test_class_with_a_single_label_is_named(seed, digits):
    X, y = digits
    rng = np.random.default_rng(seed)
    others = rng.choice(np.flatnonzero(y != 8), 49, replace=False)
    eight = rng.choice(np.flatnonzero(y == 8), 1)
    model = FewLabelClassifier().fit(X, hide_labels(y, keep=np.concatenate([others, eight])))
    named = y[model.transduction_ == 8]
    assert len(named) > 30
    assert np.mean(named == 8) > 0.6


def test_small_class_among_nine_times_as_many_rows(digits):
    X, y = digits
    few = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 7)[:20]])
    for seed in range(5):
        labeled = np.random.default_rng(seed).choice(len(few) - 20, 9, replace=False)
        labeled = np.append(labeled, len(few) - 1 - seed)
        model = FewLabelClassifier().fit(X[few], hide_labels(y[few], keep=labeled))
        assert error(model, y[few], labeled) < 0.03


def test_rule_that_no_graph_sees_is_learned_from_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30)) * np.linspace(3, 0.2, 30)
    y = (X[:, -1] / 0.2 + X[:, -2] / 0.3 > 0).astype(int)
    labeled = np.arange(150)
    model = FewLabelClassifier().fit(X, hide_labels(y, keep=labeled))
    assert "standardized" in next(iter(model.candidates_)).name
    assert error(model, y, labeled) < 0.25


@pytest.mark.parametrize("change", ["order", "rotation"])
def test_order_and_rotation_change_no_label_although_neighbors_are_equally_near(change):
    rng = np.random.default_rng(0)
    classes = np.arange(1500) % 6
    X = np.rint(1.6 * rng.normal(size=(6, 20))[classes] + 2 * rng.normal(size=(1500, 20)))
    y = hide_labels(classes, keep=range(12))
    one = FewLabelClassifier(candidates=PLAIN).fit(X, y)
    assert error(one, classes, np.arange(12)) < 0.4
    order = rng.permutation(1500) if change == "order" else np.arange(1500)
    turned = X if change == "order" else X @ ortho_group.rvs(20, random_state=0)
    other = FewLabelClassifier(candidates=PLAIN).fit(turned[order], y[order])
    assert np.mean(other.transduction_ != one.transduction_[order]) <= 0.001


# New rows, storage and metrics


def test_new_rows_err_as_little_as_rows_of_the_fit(digits):
    X, y = digits
    model = FewLabelClassifier().fit(X[:1200], hide_labels(y[:1200], keep=range(100)))
    own = error(model, y[:1200], np.arange(100))
    assert 1 - model.score(X[1200:], y[1200:]) < own + 0.03
    np.testing.assert_array_equal(model.predict(X[100:140]), model.transduction_[100:140])


def test_wide_rows_that_are_equal_get_equal_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 300)) + 3 * (np.arange(150) % 3)[:, None]
    X[100] = X[7]
    y = hide_labels(np.arange(150) % 3, keep=range(12))
    model = FewLabelClassifier().fit(X, y)
    np.testing.assert_allclose(model.decision_values_[100], model.decision_values_[7], atol=1e-12)
    for some in (slice(None), slice(100, 101), slice(3, 20)):
        found = model.predict_proba(X[some])
        np.testing.assert_allclose(found, model.label_distributions_[some], atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_columns", [40, 150])
def test_sparse_rows_are_their_dense_copies(metric, n_columns):
    rng = np.random.default_rng(0)
    classes = np.arange(200) % 4
    X = rng.poisson(0.2 + 2 * (np.arange(n_columns) % 4 == classes[:, None])).astype(float)
    y = hide_labels(classes, keep=range(20))
    one = FewLabelClassifier(metric=metric, candidates=PLAIN).fit(X, y)
    other = FewLabelClassifier(metric=metric, candidates=PLAIN).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(other.decision_values_, one.decision_values_, atol=1e-5)
    np.testing.assert_allclose(
        other.predict_proba(sp.csr_array(X[:9] + 1)), one.predict_proba(X[:9] + 1), atol=1e-5
    )


def test_cosine_ignores_the_length_of_rows_and_serves_word_counts():
    rng = np.random.default_rng(0)
    classes = np.arange(200) % 4
    counts = rng.poisson(0.1 + (np.arange(150) % 4 == classes[:, None])).astype(float)
    y = hide_labels(classes, keep=range(20))
    longer = counts * rng.integers(1, 9, size=(200, 1))
    one, other = (FewLabelClassifier().fit(sp.csr_array(X), y) for X in (counts, longer))
    np.testing.assert_allclose(other.decision_values_, one.decision_values_, atol=1e-5)


def test_precomputed_neighbors_are_the_graphs_of_the_rows():
    X, y, _ = make_swiss_roll(300, n_classes=3, random_state=0)
    y = hide_labels(y, keep=range(40))
    finder = KNeighborsTransformer(mode="distance", n_neighbors=20).fit(X)
    rows = FewLabelClassifier(candidates=["mutual", "shared"], neighbor_search="exact").fit(X, y)
    given = FewLabelClassifier(metric="precomputed").fit(finder.transform(X), y)
    assert rows.graph_.statistics.n_connected_components == 1
    np.testing.assert_allclose(given.decision_values_, rows.decision_values_, atol=1e-6)
    new = X[:20] + 0.1
    np.testing.assert_allclose(
        given.predict_proba(finder.transform(new)), rows.predict_proba(new), atol=1e-5
    )


def test_too_few_precomputed_neighbors_are_refused():
    X, y, _ = make_swiss_roll(60, n_classes=3, random_state=0)
    known = KNeighborsTransformer(mode="distance", n_neighbors=5).fit_transform(X)
    with pytest.raises(ValueError, match="has 5 neighbors, and 10 are needed"):
        FewLabelClassifier(metric="precomputed").fit(known, hide_labels(y, keep=range(9)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_columns", [3, 150])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_equal_rows_are_refused_without_a_warning(n_columns, metric):
    y = hide_labels(np.arange(60) % 3, keep=range(9))
    with pytest.raises(ValueError, match="All 60 rows of X are equal"):
        FewLabelClassifier(metric=metric).fit(np.ones((60, n_columns)), y)


def test_rows_that_no_label_reaches_get_the_frequencies():
    X, y = make_blobs(120, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    labeled = np.concatenate([np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:6]])
    finder = KNeighborsTransformer(mode="distance", n_neighbors=12).fit(X)
    with pytest.warns(UnreachedPointsWarning, match="40 of 120 rows"):
        model = FewLabelClassifier(metric="precomputed").fit(
            finder.transform(X), hide_labels(y, keep=labeled)
        )
    np.testing.assert_array_equal(model.unreached_, np.flatnonzero(y == 2))
    np.testing.assert_array_equal(model.transduction_[y < 2], y[y < 2])
    np.testing.assert_allclose(model.label_distributions_[y == 2], [[0.25, 0.75]] * 40)
    new = finder.transform([[0.3, 0.1], [50.2, 0.3], [0.1, 50.4]])
    np.testing.assert_allclose(model.predict_proba(new)[2], [0.25, 0.75])
    np.testing.assert_array_equal(model.predict(new)[:2], [0, 1])


def test_compact_file_predicts_and_does_not_refit(fitted, digits, tmp_path):
    labelfold.save(fitted, tmp_path / "model.skops", compact=True)
    loaded = labelfold.load(tmp_path / "model.skops")
    new = digits[0][:30] + 0.5
    np.testing.assert_array_equal(loaded.predict_proba(new), fitted.predict_proba(new))
    with pytest.raises(ValueError, match="compact=False"):
        loaded.refit(hide_labels(digits[1], keep=range(60)))


# Settling


@pytest.fixture(scope="module")
def two_clusters():
    """Two clusters, five labels in each, and scores whose boundary runs through the second."""
    X, y = make_blobs([150, 150], centers=[[0, 0], [7, 0]], random_state=0)
    away = np.linalg.norm(X[:, None] - X[[np.argmin(y), np.argmax(y)]], axis=2)
    labels = PartialLabels.from_y(hide_labels(y, keep=np.argsort(away, axis=0)[:5].ravel()))
    scores = np.clip((5.7 - X[:, :1]) / 4, -1, 1) * [0.3, -0.3] + 0.5
    graph = NeighborGraph.build(X, n_neighbors=8, weights="self-tuning")
    return X, y, labels, scores, graph


def left_out(labels, n_wrong=0):
    """Scores of the labeled rows of which the first few are wrong."""
    codes = labels.codes[labels.mask]
    codes[:n_wrong] = 1 - codes[:n_wrong]
    return np.eye(2)[codes]


def test_boundary_moves_to_the_gap(two_clusters):
    _, y, labels, scores, graph = two_clusters
    wrong = np.mean(scores.argmax(axis=1) != y)
    settled = settle(scores, left_out(labels), labels, graph)
    assert 0.02 < wrong < 0.1
    np.testing.assert_array_equal(settled.argmax(axis=1), y)


def test_last_round_is_the_mean_of_scores_and_a_walk_that_ends_at_labels(two_clusters):
    _, y, labels, scores, graph = two_clusters
    W = graph.adjacency.toarray()
    P = W / W.sum(axis=1, keepdims=True)
    P[labels.mask] = np.eye(300)[labels.mask]
    expected = (np.linalg.matrix_power(P, 30) @ np.eye(2)[y] + scores) / 2
    settled = settle(scores, left_out(labels), labels, graph)
    np.testing.assert_allclose(settled, expected, atol=1e-10)


def test_overlapping_classes_do_not_settle(two_clusters):
    _, _, labels, scores, graph = two_clusters
    noise = np.random.default_rng(0).normal(scale=0.5, size=scores.shape)
    assert settle(scores + noise, left_out(labels), labels, graph) is None


def test_labels_that_are_hard_to_predict_do_not_settle(two_clusters):
    _, y, _, scores, graph = two_clusters
    labels = PartialLabels.from_y(hide_labels(y, keep=range(39)))
    assert settle(scores, left_out(labels, 3), labels, graph) is not None
    assert settle(scores, left_out(labels, 4), labels, graph) is None


def test_class_that_would_be_swallowed_does_not_settle(two_clusters):
    X, _, labels, _, graph = two_clusters
    few = np.argsort(np.linalg.norm(X - X[labels.codes == 1][0], axis=1))[:12]
    scores = np.tile([0.55, 0.45], (300, 1))
    scores[few] = 0.45, 0.55
    assert settle(scores, left_out(labels), labels, graph) is None
    sizes = np.array([[288, 288], [12, 12]])
    known = settle(scores, left_out(labels), labels, graph, sizes)
    assert np.sum(known.argmax(axis=1)) in range(10, 15)


def test_new_rows_settle_with_their_neighbors(digits):
    X, y = digits[0], digits[1]
    given = hide_labels(y[:1200], keep=range(60))
    model = FewLabelClassifier().fit(X[:1200], given)
    plain = model._average.scores(model._kernels, model._groups)
    assert np.abs(model.decision_values_ - plain).max() > 0.1
    beside = model.decision_function(X[:1200] + 1e-7)
    away = np.abs(beside - model.decision_values_).mean()
    assert away < 0.3 * np.abs(plain - model.decision_values_).mean()


# Class sizes


@pytest.mark.parametrize("seed", range(4))
def test_offsets_bring_sizes_into_their_bands(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal([0, 0.5, 1, 1.5], size=(1000, 4))
    labels = PartialLabels.from_y(hide_labels(np.arange(1000) % 4, keep=range(40)))
    bands = np.array([[400, 400], [50, 150], [0, 1000], [200, 250]])
    offsets = find_offsets(scores, labels, bands)
    classes = np.where(labels.mask, labels.codes, (scores + offsets).argmax(axis=1))
    sizes = np.bincount(classes, minlength=4)
    assert np.all((sizes >= 0.98 * bands[:, 0] - 1) & (sizes <= 1.02 * bands[:, 1] + 1))


def test_sizes_that_are_right_already_change_nothing(digits):
    X, y = digits
    given = hide_labels(y, keep=range(60))
    model = FewLabelClassifier(candidates=["shared"]).fit(X, given)
    found = model.transduction_
    sizes = dict(enumerate(np.bincount(found).tolist()))
    model.set_params(class_sizes=sizes).refit(given)
    np.testing.assert_array_equal(model.class_offsets_, np.zeros(10))
    np.testing.assert_array_equal(model.transduction_, found)


def test_known_sizes_help_where_classes_overlap():
    plain, known = [], []
    for seed in range(8):
        X, y = make_blobs([250, 50], centers=[[0, 0], [2.5, 0]], random_state=seed)
        labeled = np.random.default_rng(seed).choice(250, 7, replace=False)
        labeled = np.append(labeled, [np.flatnonzero(y == 1)[k] for k in (0, 1, 2)])
        given = hide_labels(y, keep=labeled)
        model = FewLabelClassifier().fit(X, given)
        plain.append(error(model, y, labeled))
        model.set_params(class_sizes={0: 5 / 6, 1: 1 / 6}).refit(given)
        known.append(error(model, y, labeled))
        assert abs(np.mean(model.transduction_) - 1 / 6) < 0.01
        near = model.predict(X + 1e-9)
        assert np.mean(near == model.classes_[model.decision_values_.argmax(axis=1)]) > 0.95
    assert np.mean(known) < np.mean(plain) - 0.01


def test_equal_scores_cannot_be_parted():
    labels = PartialLabels.from_y([0, 1, *[None] * 58])
    scores = np.repeat([[1.0, 0], [0.5, 0.2], [0, 1]], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="widen the bands"):
        find_offsets(scores, labels, np.array([[30, 30], [30, 30]]))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("even", "'even' is unknown: use 'balanced'"),
        ({0: 0.5}, r"lacks \[1\]"),
        ({0: 0.3, 1: 0.3, 2: 0.4}, r"has \[2\], of which y has no label"),
        ({0: 0.2, 1: 0.2}, "the sizes must add up"),
        ({0: "a", 1: 0.2}, "positive size or to"),
        ({0: -1, 1: 2}, "positive size or to"),
        ({0: (0.9, 0.1), 1: 0.5}, "the sizes must add up"),
    ],
)
def test_wrong_sizes_are_refused(sizes, message):
    labels = PartialLabels.from_y([0, 1, None, None])
    with pytest.raises(ValueError, match=message):
        read_class_sizes(sizes, labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"candidates": "shared"}, "must be a list of names"),
        ({"candidates": ["shared", "spectral"]}, "must be a list of names"),
        ({"candidates": []}, "must be a list of names"),
        ({"metric": "manhattan"}, "metric='manhattan' is unknown"),
        ({"neighbor_search": "fast"}, "neighbor_search='fast' is unknown"),
        ({"metric": "precomputed", "candidates": ["linear"]}, "name one of"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    X = euclidean_distances(np.random.default_rng(0).normal(size=(30, 2)))
    with pytest.raises(ValueError, match=message):
        FewLabelClassifier(**parameters).fit(X, hide_labels(np.arange(30) % 2, keep=range(6)))


# Evidence


def test_probabilities_are_calibrated_scores_of_training_and_new_rows(digits, fitted):
    X = digits[0]
    expected = fitted.calibration_.distributions(fitted.decision_values_)
    np.testing.assert_array_equal(fitted.label_distributions_, expected)
    np.testing.assert_allclose(fitted.predict_proba(X[:20]), expected[:20], atol=1e-6)
    scores = fitted.left_out_values_
    expected = fitted.calibration_.distributions(scores)
    np.testing.assert_array_equal(fitted.left_out_distributions_, expected)


def test_evidence_is_near_the_truth_on_digits(digits, fitted):
    X, y = digits
    hidden = np.ones(len(y), dtype=bool)
    hidden[fitted.labeled_rows_] = False
    wrong = np.mean(fitted.transduction_[hidden] != y[hidden])
    estimate = fitted.error_estimate_
    assert estimate.low <= wrong <= estimate.high
    assert abs(estimate.error - wrong) < 0.05
    shares = [one["share"] for one in fitted.class_sizes_.classes]
    assert np.abs(np.array(shares) - 0.1).max() < 0.05
    sets = fitted.label_sets(0.9)
    assert np.mean(sets[hidden, y[hidden]]) > 0.88
    assert sets[hidden].sum(axis=1).mean() < 1.5
    assert (sets[fitted.labeled_rows_].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(fitted.predict_sets(X[hidden][:50]), sets[hidden][:50])


def test_audit_rows_alone_are_the_evidence(digits):
    X, y = digits[0][:400], digits[1][:400]
    partial, audit = hide_labels(y, range(60)), np.zeros(400, dtype=bool)
    audit[[3, 17, 31, 45, 200]] = True  # the last one has no label yet
    model = FewLabelClassifier().fit(X, partial, audit=audit)
    everything = model.refit(partial).calibration_
    found = model.refit(partial, audit=audit).calibration_
    assert (everything.n_labels, everything.sample) == (60, "labels")
    assert (found.n_labels, found.sample) == (4, "audit")
    assert found == calibrate(model.left_out_values_[[3, 17, 31, 45]], y[[3, 17, 31, 45]], "audit")
    assert model.error_estimate_.n_labels == 4
    with pytest.warns(FewLabelsWarning, match="4 labels are too few"):
        model.label_sets(0.9)
    assert model.refit(partial, audit=np.zeros(400, dtype=bool)).calibration_.sample == "chosen"
    with pytest.raises(InputError, match="audit must have one True or False"):
        model.refit(partial, audit=[3, 17])


def test_the_only_label_of_a_class_is_no_evidence():
    X, y = make_blobs(n_samples=90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    one_each = hide_labels(y, [int(np.flatnonzero(y == k)[0]) for k in range(3)])
    model = FewLabelClassifier().fit(X, one_each)
    assert model.calibration_.n_labels == 0
    assert (model.transduction_ == y).all()
    assert model.error_estimate_.error < 0.5
    assert "rough guess" in str(model.error_estimate_)
    with pytest.warns(FewLabelsWarning, match="0 labels are too few"):
        assert model.label_sets()[one_each < 0].all()


def test_rows_that_no_label_reaches_have_the_frequencies_of_labels():
    X = np.vstack([np.random.default_rng(k).normal(100 * k, 1, size=(20, 2)) for k in range(3)])
    distances = KNeighborsTransformer(mode="distance", n_neighbors=12).fit_transform(X)
    y = np.full(60, -1)
    y[[0, 1, 20]] = 0, 0, 1
    with pytest.warns(UnreachedPointsWarning):
        model = FewLabelClassifier(metric="precomputed").fit(distances, y)
    np.testing.assert_allclose(model.label_distributions_[40:], [[2 / 3, 1 / 3]] * 20)
    np.testing.assert_allclose(model.predict_proba(distances[40:42]), [[2 / 3, 1 / 3]] * 2)


def test_evidence_of_complete_labels_is_about_left_out_rows(digits):
    X, y = digits[0][:150], digits[1][:150]
    model = FewLabelClassifier().fit(X, y)
    doubt = 1 - model.left_out_distributions_.max(axis=1).mean()
    assert model.error_estimate_.error == pytest.approx(doubt)
