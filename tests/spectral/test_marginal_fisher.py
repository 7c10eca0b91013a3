"""Marginal Fisher analysis: graphs by brute force, a dense reference, kernels, odd data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from method_cases import tiny_set
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelfold import MarginalFisherAnalysis, hide_labels
from labelfold.datasets import make_concentric_circles
from labelfold.exceptions import FewNeighborsWarning
from labelfold.graph.class_neighbors import kernel_search

RNG = np.random.default_rng(0)


def blobs(n_classes=3, n_each=40, n_features=5, seed=0):
    """Classes that overlap, of features in different units."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(n_classes), n_each))
    X = rng.normal(size=(len(y), n_features)) + 2 * rng.normal(size=(n_classes, n_features))[y]
    return X * np.linspace(0.5, 2, n_features) + 3, y


def brute_force(D, y, k1, k2):
    """Both graphs from their definition (CCDR-MC eq. 9 and 11), one pair at a time."""
    n = len(D)

    def nearest(i, candidates, k):
        return sorted((j for j in candidates if j != i), key=lambda j: (D[i, j], j))[:k]

    within, between = np.zeros((n, n)), np.zeros((n, n))
    labeled = [i for i in range(n) if y[i] != -1]
    for i in labeled:
        for j in nearest(i, [j for j in labeled if y[j] == y[i]], k1):
            within[i, j] = within[j, i] = 1
        for j in nearest(i, [j for j in labeled if y[j] != y[i]], k2):
            between[i, j] = between[j, i] = 1
    return within, between


def sum_over_edges(X, W):
    """Sum of w_ij (x_i - x_j)(x_i - x_j)^T over pairs i < j, with no Laplacian involved."""
    form = np.zeros((X.shape[1], X.shape[1]))
    for i, j in np.argwhere(np.triu(W)):
        form += W[i, j] * np.outer(X[i] - X[j], X[i] - X[j])
    return form


def reference(X, y, n_components, *, k1=5, k2=20, ridge=1e-3, graph_weight=0.0):
    """Ratios and directions of the definition, scaled as documented."""
    within, between = brute_force(cdist(X, X), y, k1, k2)
    within += graph_weight * brute_force(cdist(X, X), np.zeros(len(X)), k1, k2)[0]
    S, B = sum_over_edges(X, within), sum_over_edges(X, between)
    S += ridge * np.trace(S) * np.eye(len(S))
    ratios, V = eigh(S, B)
    V = V[:, :n_components] / np.sqrt(np.einsum("ij,ij->j", V, B @ V))[:n_components]
    return ratios[:n_components], V.T * np.sqrt(between.sum() / 2)


def same_up_to_sign(a, b, atol=1e-8):
    """Compare rows."""
    np.testing.assert_allclose(a, b * np.sign(np.sum(a * b, axis=1, keepdims=True)), atol=atol)


# ---- the graphs


@pytest.mark.parametrize("k1", [1, 4])
@pytest.mark.parametrize("k2", [1, 7, 30])
@pytest.mark.parametrize("kernel", [None, "linear"])
@pytest.mark.parametrize("sparse", [False, True])
def test_graphs_by_brute_force_with_ties_and_unlabeled_rows(k1, k2, kernel, sparse):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, size=(90, 3)).astype(float)
    y = rng.integers(-1, 3, size=90)
    within, between = brute_force(cdist(X, X), y, k1, k2)
    model = MarginalFisherAnalysis(
        n_neighbors_within=k1, n_neighbors_between=k2, kernel=kernel, graph_weight=0.5 * sparse
    ).fit(sp.csr_array(X) if sparse else X, y)
    np.testing.assert_array_equal(model.within_graph_.toarray(), within)
    np.testing.assert_array_equal(model.between_graph_.toarray(), between)


def test_graphs_of_a_kernel_that_turns_the_order_of_distances():
    X = RNG.normal(size=(60, 1))
    y = np.arange(60) % 3
    D = np.abs(X**3 - X.T**3)
    model = MarginalFisherAnalysis(
        1, n_neighbors_within=3, n_neighbors_between=4, kernel=lambda a, b: float(a[0] * b[0]) ** 3
    ).fit(X, y)
    within, between = brute_force(D, y, 3, 4)
    np.testing.assert_array_equal(model.within_graph_.toarray(), within)
    np.testing.assert_array_equal(model.between_graph_.toarray(), between)
    assert not np.array_equal(within, brute_force(cdist(X, X), y, 3, 4)[0])


# ---- the eigenproblem


@pytest.mark.parametrize("ridge", [1e-9, 1e-3, 1.0])
@pytest.mark.parametrize(("n_classes", "k1", "k2"), [(2, 5, 20), (3, 3, 4), (6, 8, 30)])
def test_dense_reference(n_classes, k1, k2, ridge):
    X, y = blobs(n_classes)
    ratios, components = reference(X, y, 4, k1=k1, k2=k2, ridge=ridge)
    model = MarginalFisherAnalysis(
        4, n_neighbors_within=k1, n_neighbors_between=k2, ridge=ridge
    ).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, ratios, rtol=1e-8)
    same_up_to_sign(model.components_, components)
    np.testing.assert_allclose(
        model.transform(X), (X - X.mean(axis=0)) @ model.components_.T, atol=1e-12
    )
    assert model.certificate_.ok
    assert model.certificate_.max_residual < 1e-10


def test_no_direction_has_a_smaller_ratio():
    X, y = blobs()
    model = MarginalFisherAnalysis(3, ridge=1e-12).fit(X, y)
    directions = np.vstack([model.components_, RNG.normal(size=(1000, 5))])

    def lengths(graph):
        i, j = np.nonzero(graph.toarray())
        return np.sum(((X[i] - X[j]) @ directions.T) ** 2, axis=0)

    ratios = lengths(model.within_graph_) / lengths(model.between_graph_)
    np.testing.assert_allclose(ratios[:3], model.eigenvalues_, rtol=1e-6)
    assert np.all(np.diff(model.eigenvalues_) > 0)
    assert np.all(ratios[3:] > ratios[0])


def test_neighbors_of_other_classes_are_1_apart_in_every_coordinate():
    X, y = blobs()
    model = MarginalFisherAnalysis(4).fit(X, y)
    Y = model.transform(X)
    i, j = np.nonzero(model.between_graph_.toarray())
    np.testing.assert_allclose((Y[i] - Y[j]).T @ (Y[i] - Y[j]) / len(i), np.eye(4), atol=1e-10)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-12)


# ---- invariance


@pytest.mark.parametrize("unit", [1e-140, 1e140])
@pytest.mark.parametrize("n_features", [5, 200])
def test_units_in_which_squares_leave_the_range(unit, n_features):
    X, y = blobs(3, 20, n_features)
    expected = MarginalFisherAnalysis(3).fit(X, y)
    model = MarginalFisherAnalysis(3).fit(X * unit, y)
    np.testing.assert_allclose(model.transform(X * unit), expected.transform(X), atol=1e-8)
    np.testing.assert_allclose(model.components_ * unit, expected.components_, rtol=1e-6)


def test_a_repeated_ratio_has_one_basis():
    # A square and its class in the middle: both axes are alike.
    corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [2, 0], [0, 2], [-2, 0], [0, -2.0]])
    y = np.repeat([0, 1], 4)
    Q = np.array([[0.6, -0.8], [0.8, 0.6]])
    model, turned = (
        MarginalFisherAnalysis(n_neighbors_within=3, n_neighbors_between=4).fit(rows, y)
        for rows in (corners, corners @ Q)
    )
    assert np.ptp(model.eigenvalues_) < 1e-12
    np.testing.assert_allclose(turned.transform(corners @ Q), model.transform(corners), atol=1e-10)


# ---- more features than points, flat data, sparse rows


def test_more_features_than_points():
    X, y = blobs(3, 12, 80)
    model = MarginalFisherAnalysis(3).fit(X, y)
    within, between = brute_force(cdist(X, X), y, 5, 20)
    S, B = sum_over_edges(X, within), sum_over_edges(X, between)
    S += 1e-3 * np.trace(S) * np.eye(80)
    separability, V = eigh(B, S)  # the other way round: outside the span of the rows B is 0
    np.testing.assert_allclose(model.eigenvalues_, 1 / separability[:-4:-1], rtol=1e-8)
    V = V[:, :-4:-1] * np.sqrt(model.eigenvalues_ * between.sum() / 2)
    same_up_to_sign(model.components_, V.T)


def test_features_that_tell_nothing_have_no_part():
    X, y = blobs()
    expected = MarginalFisherAnalysis(4).fit(X, y)
    more = np.column_stack([X, np.full(len(X), 7.0), np.zeros(len(X))])
    model = MarginalFisherAnalysis(4).fit(more, y)
    np.testing.assert_allclose(model.components_[:, :5], expected.components_, atol=1e-8)
    np.testing.assert_allclose(model.components_[:, 5:], 0, atol=1e-10)
    copies = np.column_stack([X, X]) / np.sqrt(2)
    model = MarginalFisherAnalysis(4).fit(copies, y)
    np.testing.assert_allclose(model.transform(copies), expected.transform(X), atol=1e-8)


def test_a_direction_without_separability_does_not_win():
    # Along the first axis no within-class neighbors differ, nor do any across the margin.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.repeat([0, 1, 0, 1], 20)
    X[:, 1] += y
    X[40:, 0] += 1000
    X[:40, 0], X[40:, 0] = 0, 1000
    model = MarginalFisherAnalysis(2, n_neighbors_within=3, n_neighbors_between=3).fit(X, y)
    np.testing.assert_allclose(model.components_[:, 0], 0, atol=1e-9)
    with pytest.raises(ValueError, match=r"n_components=3 is more .* which is 2"):
        MarginalFisherAnalysis(3, n_neighbors_within=3, n_neighbors_between=3).fit(X, y)


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_more_components_than_the_rank(kernel):
    X, y = blobs(2, 30, 4)
    flat = X @ RNG.normal(size=(4, 9))
    assert MarginalFisherAnalysis(4, kernel=kernel).fit(flat, y).transform(flat).shape == (60, 4)
    with pytest.raises(ValueError, match=r"n_components=5 is more than the rank .* is 4"):
        MarginalFisherAnalysis(5, kernel=kernel).fit(flat, y)
    with pytest.raises(ValueError, match=r"n_components=2 .* is 1"):
        MarginalFisherAnalysis(2, kernel=kernel).fit(flat[:, :1], y)
    with pytest.raises(ValueError, match=r"n_components=1 .* is 0"):
        MarginalFisherAnalysis(1, kernel=kernel).fit(np.ones((60, 2)), y)


@pytest.mark.parametrize("shape", [(150, 40), (50, 120)])
@pytest.mark.parametrize("kernel", [None, "rbf", "cosine"])
def test_sparse_rows(shape, kernel):
    X = sp.random_array(shape, density=0.2, random_state=0).toarray() + 0.1 * np.eye(*shape)
    y = np.arange(len(X)) % 3
    dense, sparse = (
        MarginalFisherAnalysis(4, kernel=kernel).fit(rows, y) for rows in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    new = sp.csr_array(X[::-1] * 1.1)
    np.testing.assert_allclose(sparse.transform(new), dense.transform(new.toarray()), atol=1e-8)
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X), atol=1e-8)


# ---- kernels


def test_the_linear_kernel_gives_the_same_map():
    X, y = blobs()
    new = X + 0.3
    expected = MarginalFisherAnalysis(3).fit(X, y)
    model = MarginalFisherAnalysis(3, kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.transform(new), expected.transform(new), atol=1e-8)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(
        (X - X.mean(axis=0)).T @ model.dual_coef_, expected.components_.T, atol=1e-8
    )


def test_a_polynomial_kernel_is_the_map_of_its_features():
    X, y, _ = make_concentric_circles(200, noise=0.2, random_state=0)

    def features(X):  # their inner product is (x.y + 1)^2
        a, b = X.T
        root = np.sqrt(2)
        return np.column_stack([a**2, b**2, root * a * b, root * a, root * b, np.ones(len(X))])

    expected = MarginalFisherAnalysis(3).fit(features(X), y)
    model = MarginalFisherAnalysis(3, kernel="poly", degree=2, gamma=1, coef0=1).fit(X, y)
    new = RNG.normal(size=(50, 2))
    np.testing.assert_allclose(model.transform(new), expected.transform(features(new)), atol=1e-8)


def test_ways_to_give_a_kernel():
    X, y = blobs(3, 20)
    new = X[::2] + 0.1
    y[::5] = -1
    expected = MarginalFisherAnalysis(kernel="rbf", gamma=0.1).fit(X, y)
    by_function = MarginalFisherAnalysis(kernel=lambda a, b: np.exp(-0.1 * np.sum((a - b) ** 2)))
    given = MarginalFisherAnalysis(kernel="precomputed")
    by_function.fit(X, y)
    given.fit(rbf_kernel(X, gamma=0.1), y)
    np.testing.assert_allclose(by_function.transform(new), expected.transform(new), atol=1e-8)
    np.testing.assert_allclose(
        given.transform(rbf_kernel(new, X, gamma=0.1)), expected.transform(new), atol=1e-8
    )
    assert len(expected.X_fit_) == len(expected.dual_coef_) == np.sum(y >= 0)
    default = MarginalFisherAnalysis(kernel="rbf").fit(X, y)
    fifth = MarginalFisherAnalysis(kernel="rbf", gamma=1 / 5).fit(X, y)
    np.testing.assert_allclose(default.transform(new), fifth.transform(new), atol=1e-10)


def test_kernels_that_are_none():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"square matrix for fit, got shape \(120, 5\)"):
        MarginalFisherAnalysis(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not symmetric"):
        MarginalFisherAnalysis(kernel="precomputed").fit(X[:, :1] - X[:, 1], y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        MarginalFisherAnalysis(kernel="precomputed").fit(cdist(X, X), y)
    with pytest.raises(ValueError, match="kernel='magic' is unknown"):
        MarginalFisherAnalysis(kernel="magic").fit(X, y)


def test_fitting_again_without_the_kernel():
    X, y = blobs()
    model = MarginalFisherAnalysis(kernel="rbf").fit(X, y)
    assert not hasattr(model, "components_")
    model.set_params(kernel=None).fit(X, y)
    assert not hasattr(model, "dual_coef_")
    expected = MarginalFisherAnalysis().fit(X, y).transform(X)
    np.testing.assert_array_equal(model.transform(X), expected)


# ---- partial labels


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_unlabeled_rows_have_no_effect(kernel):
    X, y = blobs()
    keep = np.sort(RNG.permutation(len(X))[:70])
    partial = hide_labels(y, keep=keep)
    model = MarginalFisherAnalysis(kernel=kernel).fit(X, partial)
    alone = MarginalFisherAnalysis(kernel=kernel).fit(X[keep], y[keep])
    np.testing.assert_array_equal(model.transform(X), alone.transform(X))
    np.testing.assert_array_equal(model.support_, keep)
    assert model.within_graph_.shape == (120, 120)
    assert model.within_graph_.nnz == alone.within_graph_.nnz


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_graph_weight_adds_the_graph_of_all_rows(kernel):
    X, y = blobs()
    y[RNG.permutation(len(y))[:60]] = -1
    ratios, components = reference(X, y, 3, graph_weight=0.3)
    model = MarginalFisherAnalysis(3, kernel=kernel, graph_weight=0.3).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, ratios, rtol=1e-8)
    same_up_to_sign(model.transform(X).T, components @ (X - X.mean(axis=0)).T)
    np.testing.assert_array_equal(model.support_, np.arange(len(X)))


def test_graph_weight_helps_where_labels_are_few():
    # The classes differ along one axis; along another all rows spread, and few labels mislead.
    gains = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.arange(400) % 2
        X = rng.normal(size=(400, 10))
        X[:, 0] = 0.3 * X[:, 0] + 2 * y
        partial = hide_labels(y, keep=range(12))
        angle = []
        for graph_weight in (0.0, 0.01):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FewNeighborsWarning)
                model = MarginalFisherAnalysis(1, graph_weight=graph_weight).fit(X, partial)
            found = model.components_[0]
            angle.append(np.degrees(np.arccos(abs(found[0]) / np.linalg.norm(found))))
        gains.append(angle[0] - angle[1])
    assert np.mean(gains) > 10


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.full(120, -1), r"y holds no label, and .* two classes.*PCA"),
        (["a"] * 120, r"y holds one class, 'a'"),
    ],
)
def test_labels_that_do_not_do(y, message):
    with pytest.raises(ValueError, match=message):
        MarginalFisherAnalysis().fit(blobs()[0], y)


# ---- odd data


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_small_classes(kernel):
    X, y = blobs(2, 30)
    y[:3] = 7, 8, 8
    with pytest.warns(
        FewNeighborsWarning,
        match=r"n_neighbors_within=5 .* 0 other .* class 7 .*2 of 4 classes",
    ):
        model = MarginalFisherAnalysis(4, kernel=kernel).fit(X, y)
    within, between = brute_force(cdist(X, X), y, 5, 20)
    np.testing.assert_array_equal(model.within_graph_.toarray(), within)
    np.testing.assert_array_equal(model.between_graph_.toarray(), between)
    assert within[0].sum() == 0
    assert model.certificate_.ok
    with pytest.warns(FewNeighborsWarning, match=r"n_neighbors_between=50 .* a row of class 0"):
        MarginalFisherAnalysis(n_neighbors_within=1, n_neighbors_between=50).fit(*blobs(2, 20))


def test_classes_of_one_point_each():
    X = np.array([[0.0, 0, 0], [3, 0, 4]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewNeighborsWarning)
        model = MarginalFisherAnalysis(1).fit(X, [0, 1])
    np.testing.assert_allclose(np.abs(model.components_), [[0.12, 0, 0.16]], atol=1e-12)
    np.testing.assert_allclose(np.abs(model.transform(X)), 0.5, atol=1e-12)


def test_equal_rows():
    X, y = blobs()
    X, y = np.repeat(X, 7, axis=0), np.repeat(y, 7)
    y[:3] = (y[0] + 1) % 3  # in different classes, too
    model = MarginalFisherAnalysis(4).fit(X, y)
    within, between = brute_force(cdist(X, X), y, 5, 20)
    np.testing.assert_array_equal(model.within_graph_.toarray(), within)
    np.testing.assert_array_equal(model.between_graph_.toarray(), between)
    # Neighbors of one class are all equal: the ridge alone decides.
    assert model.certificate_.ok
    assert np.all(np.isfinite(model.transform(X)))
    assert MarginalFisherAnalysis(4, kernel="rbf").fit(X, y).certificate_.ok


def test_rounding_of_a_kernel_does_not_order_equal_rows():
    # Off by one unit in the last place, as the entries of a kernel are.
    K = 1 + np.finfo(float).eps * np.random.default_rng(0).choice([-1, 0, 1], size=(8, 8))
    everyone = np.arange(8)
    lowest = [[j for j in range(8) if j != i][:3] for i in everyone]
    np.testing.assert_array_equal(kernel_search(K + K.T)(everyone, everyone, 3)[0], lowest)


@pytest.mark.parametrize("seed", range(60))
def test_tiny_point_sets(seed):
    _, X, y = tiny_set(seed)
    y[:2] = 0, 1
    X[0] = X[1] + 1
    kernel = [None, "rbf", "linear"][seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewNeighborsWarning)
        model = MarginalFisherAnalysis(
            1, n_neighbors_within=2, n_neighbors_between=3, kernel=kernel, graph_weight=seed % 2
        ).fit(X, y)
    assert model.certificate_.ok, model.certificate_
    assert model.eigenvalues_[0] > 0
    assert np.all(np.isfinite(model.transform(X + 0.1)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 6}, r"n_components=6 is more .* is 5"),
        ({"n_neighbors_within": 0}, "n_neighbors_within=0"),
        ({"n_neighbors_between": "all"}, "n_neighbors_between='all'"),
        ({"ridge": 0}, "ridge=0 must be a number, finite and at least 1e-12"),
        ({"ridge": np.nan}, "ridge=nan"),
        ({"ridge": None}, "ridge=None"),
        ({"graph_weight": -1}, "graph_weight=-1 must be a number, finite and at least 0"),
        ({"graph_weight": np.inf}, "graph_weight=inf"),
        ({"graph_weight": "1"}, "graph_weight='1'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MarginalFisherAnalysis(**parameters).fit(*blobs())


# ---- what estimators do


CUT = "a kernel whose entries were cut to integers is not positive semidefinite"


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.FewNeighborsWarning")
@parametrize_with_checks(
    [MarginalFisherAnalysis(1, kernel="precomputed")],
    expected_failed_checks=lambda _: {"check_estimators_dtypes": CUT},
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
