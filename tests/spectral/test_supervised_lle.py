"""Supervised LLE: agreement with scikit-learn, neighbors by brute force, classes that collapse."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from method_cases import tiny_set
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_s_curve
from sklearn.manifold import LocallyLinearEmbedding

from labelfold import NeighborGraph, SupervisedLLE
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning, FewNeighborsWarning, GraphMismatchError

RNG = np.random.default_rng(0)


def digits():
    X = load_digits().data[:500]
    return X + 1e-3 * np.random.default_rng(0).random(X.shape)  # no ties


# All have a gap in their spectrum after three coordinates.
DATA = {
    "roll": make_swiss_roll(600, random_state=0)[0],
    "s_curve": make_s_curve(500, random_state=0)[0],
    "isotropic": RNG.normal(size=(300, 8)),
    "digits": digits(),
}


def blobs(n_classes=4, n_each=40, n_features=6, seed=0):
    """Classes that overlap: nearest neighbors are often of another one."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_each)
    order = rng.permutation(len(y))
    X = rng.normal(size=(len(y), n_features)) + 0.5 * rng.normal(size=(n_classes, n_features))[y]
    return X[order], y[order]


def brute_force(X, y, k, alpha):
    """The k nearest in D', from the definition; of equally distant ones the own class first."""
    D = cdist(X, X)
    differ = (alpha > 0) & (y[:, None] != y) & (y[:, None] != -1) & (y != -1)
    enlarged = D + alpha * D.max() * differ
    np.fill_diagonal(enlarged, np.inf)
    numbers = np.broadcast_to(np.arange(len(X)), D.shape)
    return np.lexsort((numbers, D, differ, enlarged), axis=1)[:, :k]


def same_up_to_sign(a, b, atol=1e-7):
    np.testing.assert_allclose(a, b * np.sign(np.sum(a * b, axis=0)), atol=atol)


# ---- the weights and the eigenproblem


@pytest.mark.parametrize("solver", ["dense", "arpack"])
@pytest.mark.parametrize("ridge", [1e-3, 0.1])
@pytest.mark.parametrize("name", DATA)
def test_without_labels_it_is_locally_linear_embedding(name, ridge, solver):
    X = DATA[name]
    theirs = LocallyLinearEmbedding(n_neighbors=10, n_components=3, reg=ridge, eigen_solver="dense")
    ours = SupervisedLLE(4, n_neighbors=10, ridge=ridge, eigen_solver=solver).fit(X)
    gap = ours.eigenvalues_[3] / ours.eigenvalues_[2]
    assert gap > 1.02
    assert ours.certificate_.ok
    assert ours.certificate_.solver == solver
    theirs.fit(X)
    assert subspace_angles(ours.embedding_[:, :3], theirs.embedding_).max() < 1e-6
    np.testing.assert_allclose(
        ours.eigenvalues_[:3].sum(), theirs.reconstruction_error_, rtol=1e-6, atol=1e-14
    )


@pytest.mark.parametrize(
    ("alpha", "y"),
    [(0, np.arange(600) % 3), (1, None), (1, np.full(600, -1)), (0.7, np.zeros(600, dtype=int))],
    ids=["alpha=0", "no y", "all hidden", "one class"],
)
def test_ways_to_plain_locally_linear_embedding(alpha, y):
    expected = SupervisedLLE(3, alpha=0).fit(DATA["roll"])
    model = SupervisedLLE(3, alpha=alpha).fit(DATA["roll"], y)
    np.testing.assert_array_equal(model.neighbors_, expected.neighbors_)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    assert len(model.classes_) == (0 if y is None else len(np.unique(y[y >= 0])))


def test_weights_rebuild_the_points():
    X = DATA["isotropic"]
    model = SupervisedLLE(n_neighbors=20, ridge=1e-9).fit(X)  # more than there are dimensions
    W = model.weights_
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(W @ X, X, atol=1e-5)
    for row in range(len(X)):
        assert set(W[[row]].indices) == set(model.neighbors_[row])


def test_weights_solve_their_least_squares_problem():
    X, y = blobs()
    model = SupervisedLLE(n_neighbors=4, ridge=0.05, alpha=0.2).fit(X, y)
    for row in (0, 17, 99):
        C = X[model.neighbors_[row]] - X[row]
        w = model.weights_[[row]].toarray().ravel()[model.neighbors_[row]]
        # At the minimum of w^T (C C^T + ridge) w with sum 1, the gradient is a constant.
        gradient = (C @ C.T + 0.05 * np.sum(C**2) * np.eye(4)) @ w
        np.testing.assert_allclose(gradient, gradient[0], rtol=1e-9)


def test_the_embedding_solves_its_problem():
    X, y = blobs()
    model = SupervisedLLE(5, n_neighbors=8, alpha=0.05).fit(X, y)
    Y = model.embedding_
    np.testing.assert_allclose(Y.T @ Y, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-10)
    errors = np.sum((Y - model.weights_ @ Y) ** 2, axis=0)
    np.testing.assert_allclose(errors, model.eigenvalues_, atol=1e-12)
    s = np.linalg.svd(np.eye(len(X)) - model.weights_.toarray(), compute_uv=False)
    np.testing.assert_allclose(model.eigenvalues_, s[-2:-7:-1] ** 2, atol=1e-12)


def test_arpack_is_taken_for_many_points():
    X, y, _ = make_swiss_roll(1600, random_state=0)
    model = SupervisedLLE(alpha=0).fit(X, y)
    assert model.certificate_.solver == "arpack"
    assert model.certificate_.ok
    dense = SupervisedLLE(alpha=0, eigen_solver="dense").fit(X, y)
    np.testing.assert_allclose(model.embedding_, dense.embedding_, atol=1e-6)


# ---- neighbors


@pytest.mark.parametrize("hidden", [0, 0.3, 0.9])
@pytest.mark.parametrize("alpha", [0, 0.1, 0.3, 1])
def test_neighbors_by_brute_force(alpha, hidden):
    X, y = blobs(n_features=3)
    y[np.random.default_rng(1).random(len(y)) < hidden] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = SupervisedLLE(n_neighbors=7, alpha=alpha).fit(X, y)
    np.testing.assert_array_equal(model.neighbors_, brute_force(X, y, 7, alpha))


@pytest.mark.parametrize("alpha", [0, 0.02, 0.1, 0.25, 0.5, 1])
@pytest.mark.parametrize("sparse", [False, True])
def test_neighbors_among_many_ties(alpha, sparse):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, size=(120, 3)).astype(float)
    y = rng.integers(-1, 3, size=120)
    y[y == 2] = np.where(np.arange(np.sum(y == 2)) < 4, 2, 0)  # four points are a class
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = SupervisedLLE(n_neighbors=6, alpha=alpha)
        model.fit(sp.csr_array(X) if sparse else X, y)
    np.testing.assert_array_equal(model.neighbors_, brute_force(X, y, 6, alpha))


def test_a_class_smaller_than_the_neighborhood_borrows_from_others():
    X, y = blobs(2, 50)
    small = np.arange(0, 100, 30)  # four points
    y[small] = 2
    model = SupervisedLLE(3, n_neighbors=7, alpha=1).fit(X, y)
    np.testing.assert_array_equal(model.neighbors_, brute_force(X, y, 7, 1))
    for row in small:
        assert set(model.neighbors_[row, :3]) == set(small) - {row}
        assert np.all(y[model.neighbors_[row, 3:]] != 2)
    # The other two classes have all they need: each has one place along the first coordinate,
    # and the borrowers lie where these put them.
    first = model.embedding_[:, 0]
    assert np.ptp(first[y == 0]) < 1e-12
    assert np.ptp(first[y == 1]) < 1e-12
    assert abs(first[y == 0][0] - first[y == 1][0]) > 0.1
    np.testing.assert_allclose((model.weights_ @ first)[small], first[small], atol=1e-12)
    assert model.eigenvalues_[0] == 0
    assert model.eigenvalues_[1] > 1e-8


# ---- classes that collapse


@pytest.mark.parametrize("solver", ["dense", "arpack"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_each_connected_class_has_one_place(n_classes, solver):
    X, y = blobs(n_classes, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # components that are classes are what was asked for
        model = SupervisedLLE(n_classes + 1, alpha=1, eigen_solver=solver).fit(X, y)
    assert model.certificate_.ok
    places = model.embedding_[:, : n_classes - 1]
    for label in range(n_classes):
        assert np.ptp(places[y == label], axis=0).max() < 1e-10
    # Each of the coordinates after them shows the inside of one class.
    for inside in model.embedding_[:, n_classes - 1 :].T:
        assert sum(np.ptp(inside[y == label]) > 1e-3 for label in range(n_classes)) == 1
    np.testing.assert_allclose(places.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_array_equal(model.eigenvalues_[: n_classes - 1], 0)
    assert np.all(model.eigenvalues_[n_classes - 1 :] > 1e-9)
    centers = np.array([places[y == label][0] for label in range(n_classes)])
    apart = cdist(centers, centers)[np.triu_indices(n_classes, 1)]
    assert apart.min() > 1e-2


def test_few_dimensions_separate_many_classes():
    X, y = blobs(7, 40)
    model = SupervisedLLE(2, alpha=1).fit(X, y)
    centers = np.array([model.embedding_[y == label][0] for label in range(7)])
    assert cdist(centers, centers)[np.triu_indices(7, 1)].min() > 5e-3
    more = SupervisedLLE(4, alpha=1).fit(X, y)
    np.testing.assert_allclose(model.embedding_, more.embedding_[:, :2], atol=1e-10)


def test_order_of_rows_names_of_labels_and_motion():
    X, y = blobs(5, 50)
    expected = SupervisedLLE(6, alpha=1).fit(X, y)
    order = RNG.permutation(len(X))
    model = SupervisedLLE(6, alpha=1).fit(X[order], y[order])
    same_up_to_sign(model.embedding_, expected.embedding_[order])
    names = np.array(["e", "a", "d", "c", "b"], dtype=object)
    model = SupervisedLLE(6, alpha=1).fit(X, names[y])
    same_up_to_sign(model.embedding_, expected.embedding_)
    assert model.classes_.tolist() == sorted(names)
    Q, _ = np.linalg.qr(RNG.normal(size=(6, 6)))
    model = SupervisedLLE(6, alpha=1).fit(3 * X @ Q + RNG.normal(size=6), y)
    same_up_to_sign(model.embedding_, expected.embedding_)


# ---- components


def test_split_classes_are_reported():
    X, y = blobs(2, 40)
    X = np.vstack([X, X + 1000])
    twice = np.append(y, y)
    with pytest.warns(
        DisconnectedGraphWarning, match=r"4 components .* class 0 lie in 2 of them \(2 cl"
    ):
        SupervisedLLE(alpha=1).fit(X, twice)
    with pytest.warns(DisconnectedGraphWarning, match=r"2 components .* unlabeled rows lie in 2"):
        model = SupervisedLLE(1, alpha=0).fit(X, twice)
    assert np.ptp(model.embedding_[:80]) < 1e-10  # no bridge: components separate
    assert len(model.graph_.bridges) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SupervisedLLE(alpha=1).fit(X, np.append(y, y + 2))


# ---- odd data


def test_classes_of_one_and_two_points():
    X, y = blobs(2, 30)
    y[:3] = 7, 8, 8
    model = SupervisedLLE(4, n_neighbors=5, alpha=1).fit(X, y)
    np.testing.assert_array_equal(model.neighbors_, brute_force(X, y, 5, 1))
    assert model.certificate_.ok
    assert np.all(np.isfinite(model.embedding_))
    every = SupervisedLLE(4, n_neighbors=5, alpha=1).fit(X, np.arange(60))
    np.testing.assert_array_equal(every.neighbors_, SupervisedLLE(n_neighbors=5).fit(X).neighbors_)


def test_all_neighbors_equal_the_point():
    X, y = blobs(2, 20)
    X[:10], y[:10] = X[0], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = SupervisedLLE(n_neighbors=4, alpha=1).fit(X, y)
    np.testing.assert_allclose(model.weights_[[0]].data, 1 / 4)
    assert model.certificate_.ok
    # Equal rows have one place: their mean.
    np.testing.assert_allclose(model.transform(X[:1])[0], model.embedding_[:10].mean(axis=0))


@pytest.mark.parametrize("seed", range(100))
def test_tiny_point_sets(seed):
    rng, X, y = tiny_set(seed, all_equal=False)
    n = len(X)
    alpha, k = float(rng.choice([0, 0.1, 1])), int(rng.integers(1, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        warnings.simplefilter("ignore", FewNeighborsWarning)
        model = SupervisedLLE(int(rng.integers(1, n)), n_neighbors=k, alpha=alpha).fit(X, y)
    assert model.certificate_.ok, model.certificate_
    codes = np.array([-1 if v is None else v for v in y])
    np.testing.assert_array_equal(model.neighbors_, brute_force(X, codes, min(k, n - 1), alpha))
    assert np.all(np.isfinite(model.embedding_))
    assert np.all(np.isfinite(model.transform(X + 0.01)))


def test_rows_whose_squares_overflow():
    X = np.random.default_rng(0).uniform(-1, 1, size=(60, 2000))
    y = np.arange(60) % 2
    expected = SupervisedLLE(3, n_neighbors=28, alpha=1).fit(X, y)
    model = SupervisedLLE(3, n_neighbors=28, alpha=1).fit(X * 9.9e151, y)
    np.testing.assert_allclose(model.weights_.data, expected.weights_.data, rtol=1e-9)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-8)


def test_batches_of_weights_change_nothing(monkeypatch):
    X, y = blobs()
    expected = SupervisedLLE(alpha=0.2).fit(X, y)
    monkeypatch.setattr("labelfold.spectral.supervised_lle.ENTRIES_AT_ONCE", 200)
    model = SupervisedLLE(alpha=0.2).fit(X, y)
    np.testing.assert_allclose(model.weights_.data, expected.weights_.data, rtol=1e-12)


# ---- new rows, and what estimators do


def test_new_rows():
    X, y, _ = make_swiss_roll(500, random_state=1)
    model = SupervisedLLE(alpha=0, random_state=0).fit(X[:400], y[:400])
    np.testing.assert_allclose(model.transform(X[:400]), model.embedding_, atol=1e-12)
    assert model.extension_.leave_one_out_error < 0.1
    # A new row lies near its neighbors among the training rows.
    nearest = cdist(X[400:], X[:400]).argmin(axis=1)
    size = model.embedding_.std()
    assert np.median(np.abs(model.transform(X[400:]) - model.embedding_[nearest])) < 0.2 * size


def test_a_graph_made_before():
    X, y = blobs()
    graph = SupervisedLLE(n_neighbors=6).build_graph(X)
    model = SupervisedLLE(n_neighbors=6, alpha=0.1).fit(X, y, graph=graph)
    assert model.graph_ is graph
    expected = SupervisedLLE(n_neighbors=6, alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    with pytest.raises(GraphMismatchError, match="n_neighbors"):
        SupervisedLLE(n_neighbors=7).fit(X, y, graph=graph)
    for other in ({"metric": "cosine"}, {"radius": 1.0}):
        with pytest.raises(GraphMismatchError, match=next(iter(other))):
            SupervisedLLE(n_neighbors=6).fit(
                X, y, graph=NeighborGraph.build(X, n_neighbors=6, **other)
            )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -0.1}, r"alpha=-0.1 must be a number, finite and at least 0"),
        ({"alpha": 1.1}, "alpha=1.1"),
        ({"alpha": np.nan}, "alpha=nan"),
        ({"alpha": "1"}, "alpha='1'"),
        ({"ridge": 0}, "ridge=0 must be a number"),
        ({"ridge": -1e-3}, "ridge=-0.001"),
        ({"ridge": np.nan}, "ridge=nan"),
        ({"ridge": np.inf}, "ridge=inf"),
        ({"ridge": None}, "ridge=None"),
        ({"eigen_solver": "chebyshev"}, "eigen_solver='chebyshev' is unknown"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SupervisedLLE(**parameters).fit(*blobs())


def test_progress_is_shown(capsys):
    SupervisedLLE(verbose=1).fit(*blobs())
    shown = capsys.readouterr().err
    for stage in ("neighbors", "weights", "eigenpairs"):
        assert stage in shown
