"""Laplacian eigenmaps: closed forms, agreement with scikit-learn, the extension's identities."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, subspace_angles
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import KNeighborsTransformer

from labelfold import LaplacianEigenmaps
from labelfold.datasets import make_swiss_roll
from labelfold.extend.nystrom import extend_by_degree, extend_unnormalized

POLYGON = np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(40) / 40])


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(600, random_state=0)[0]


def test_regular_polygon_maps_to_a_circle():
    # The neighbor graph is a cycle, whose first two eigenvectors are cosine and sine.
    model = LaplacianEigenmaps(n_neighbors=2, weights="binary").fit(POLYGON)
    np.testing.assert_allclose(model.eigenvalues_, 1 - np.cos(2 * np.pi / 40), atol=1e-12)
    radii = np.linalg.norm(model.embedding_, axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-9)
    angles = np.unwrap(np.arctan2(*model.embedding_.T))
    np.testing.assert_allclose(np.abs(np.diff(angles)), 2 * np.pi / 40, rtol=1e-9)


def test_line_maps_to_cosines():
    model = LaplacianEigenmaps(3, n_neighbors=1, weights="binary", normalization="none")
    model.fit(np.arange(1, 31)[:, None] ** 1.01)  # a path: every point's nearest is one before
    j, i = np.arange(1, 4), np.arange(30)[:, None]
    expected = np.cos(np.pi * j * (i + 0.5) / 30) * np.sqrt(2 / 30)
    cosines = np.abs(np.sum(expected * model.embedding_, axis=0))
    np.testing.assert_allclose(cosines, 1, atol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_, 2 - 2 * np.cos(np.pi * j / 30))


@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_constraints_of_the_problem(roll, normalization):
    model = LaplacianEigenmaps(4, normalization=normalization).fit(roll)
    W = model.graph_.adjacency
    d = W.sum(axis=1) if normalization == "degree" else np.ones(len(roll))
    Y = model.embedding_
    np.testing.assert_allclose(Y.T @ (d[:, None] * Y), np.eye(4), atol=1e-10)
    np.testing.assert_allclose(Y.T @ d, 0, atol=1e-10)
    objective = np.trace(Y.T @ (W.sum(axis=1)[:, None] * Y - W @ Y))
    np.testing.assert_allclose(objective, model.eigenvalues_.sum(), rtol=1e-10)


def test_agrees_with_scikit_learn(roll):
    W = LaplacianEigenmaps().fit(roll).graph_.adjacency.toarray()
    theirs = SpectralEmbedding(3, affinity="precomputed", random_state=0).fit_transform(W)
    ours = LaplacianEigenmaps(3).fit(roll).embedding_
    assert np.max(subspace_angles(ours, theirs)) < 1e-6


@pytest.mark.parametrize("weights", ["heat", "binary"])
@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_extension_reproduces_the_graphs_own_rows(roll, normalization, weights):
    model = LaplacianEigenmaps(5, normalization=normalization, weights=weights).fit(roll)
    W, d = model.graph_.adjacency, model.graph_.adjacency.sum(axis=1)
    Y, eigenvalues = model.embedding_, model.eigenvalues_
    if normalization == "degree":
        again = extend_by_degree(W, Y, eigenvalues)
    else:
        again = extend_unnormalized(W, d, Y, eigenvalues)
    np.testing.assert_allclose(again, Y, atol=1e-9)


def test_unnormalized_extension_is_bounded_where_the_formula_is_not():
    relative = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]))
    degrees = np.array([10.0, 1.0, 0.5])  # above, at and below lambda = 1
    placed = extend_unnormalized(relative, degrees, np.array([[1.0], [3.0]]), np.array([1.0]))
    np.testing.assert_allclose(placed.ravel(), [2 / 0.9, 2 / 0.1, 2 / 0.1])


@pytest.mark.parametrize("normalization", ["degree", "none"])
@pytest.mark.parametrize(
    "metric", ["euclidean", "cosine", "correlation", "manhattan", "sqeuclidean"]
)
def test_transform_of_training_rows_is_the_embedding(normalization, metric):
    X = np.random.default_rng(0).random((60, 8))
    model = LaplacianEigenmaps(2, metric=metric, n_neighbors=8, normalization=normalization).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.transform(X[::-7]), model.embedding_[::-7])


def test_new_points_land_near_where_a_joint_fit_puts_them(roll):
    rng = np.random.default_rng(1)
    new = rng.choice(600, 60, replace=False)
    old = np.setdiff1d(np.arange(600), new)
    whole = LaplacianEigenmaps(2).fit_transform(roll)
    placed = LaplacianEigenmaps(2).fit(roll[old]).transform(roll[new])
    for c in range(2):
        assert abs(np.corrcoef(placed[:, c], whole[new, c])[0, 1]) > 0.99


def test_equal_rows_share_their_mean():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    X[[5, 20, 33]] = X[5]
    model = LaplacianEigenmaps(2, n_neighbors=6).fit(X)
    mean = model.embedding_[[5, 20, 33]].mean(axis=0)
    np.testing.assert_allclose(model.transform(X[[20]]), mean[None], rtol=1e-12)


@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_far_new_point_is_placed(roll, normalization):
    model = LaplacianEigenmaps(2, normalization=normalization).fit(roll)
    placed = model.transform(np.array([[1e6, 0, 0], [0.0, 0.0, -1e12]]))
    assert np.all(np.isfinite(placed))
    assert np.all(np.abs(placed) <= 11 * np.abs(model.embedding_).max())


def test_precomputed_neighbors_give_the_same_map(roll):
    neighbors = KNeighborsTransformer(n_neighbors=12, mode="distance").fit(roll)
    a = LaplacianEigenmaps(3).fit(roll)
    b = LaplacianEigenmaps(3, metric="precomputed").fit(neighbors.transform(roll))
    np.testing.assert_allclose(a.embedding_, b.embedding_, atol=1e-8)
    new = roll[:20] + 0.05
    np.testing.assert_allclose(a.transform(new), b.transform(neighbors.transform(new)), atol=1e-8)


def test_fragile_coordinates_are_flagged():
    # A star has eigenvalue 1 many times over: neighbors say nothing of those coordinates.
    X = np.vstack([np.zeros(8), np.eye(8)])
    model = LaplacianEigenmaps(3, n_neighbors=1, weights="binary").fit(X)
    W = model.graph_.adjacency.toarray()
    values = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)), eigvals_only=True)
    np.testing.assert_allclose(values[1:4], 1)
    assert model.certificate_.fragile == (0, 1, 2)
    assert "extend badly" in str(model.certificate_)
    assert np.all(np.isfinite(model.transform(X + 0.01)))


def test_verbose_shows_progress_on_stderr(roll, capsys):
    LaplacianEigenmaps(2, eigen_solver="arpack", verbose=1).fit(roll)
    output = capsys.readouterr()
    assert output.out == ""
    assert "neighbors" in output.err
    assert "eigenpairs" in output.err
