"""The pieces under the iteration: products with tall blocks, the kernel, the spectrum's density."""

import numpy as np
import pytest
import scipy.sparse as sp
from known_graphs import cycle, grid
from scipy.linalg import LinAlgError, cholesky, subspace_angles

from labelfold.graph.adjacency import SparseAdjacency
from labelfold.solvers.eigen.blocks import inner_products, orthonormalize, remove, rotate
from labelfold.solvers.eigen.chebyshev import _estimate_density
from labelfold.solvers.eigen.operator import ChebyshevFilter, LaplacianOperator
from labelfold.threads import for_each


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr("labelfold.solvers.eigen.blocks.ROWS", 7)
    monkeypatch.setattr("labelfold.solvers.eigen.blocks.COLUMNS", 3)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_products_in_parts(n_threads):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 8)), rng.standard_normal((40, 5))
    np.testing.assert_allclose(inner_products(X, Y, n_threads), X.T @ Y, atol=1e-13)
    np.testing.assert_allclose(inner_products(X, X, n_threads, symmetric=True), X.T @ X, atol=1e-13)
    S = rng.standard_normal((8, 6))
    np.testing.assert_allclose(rotate(X.copy(), S, n_threads), X @ S, atol=1e-13)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remove(kind, dtype):
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.standard_normal((40, 3)))
    X = rng.standard_normal((40, 6)).astype(dtype)
    remove(X, kind(basis), 1)
    assert X.dtype == dtype
    np.testing.assert_allclose(basis.T @ X, 0, atol=10 * np.finfo(dtype).eps)
    remove(X, kind(np.empty((40, 0))), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_orthonormalize_where_cholesky_breaks(dtype):
    # What a filter leaves: columns that are nearly one vector, of sizes far apart.
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((500, 30)))
    mix = np.geomspace(1, 1e-9 if dtype == np.float64 else 1e-3, 30)
    X = ((Q * mix) @ rng.standard_normal((30, 30)) * np.geomspace(1, 1e8, 30)).astype(dtype)
    if dtype == np.float64:
        with pytest.raises(LinAlgError):
            cholesky(X.T @ X)
    original = X.astype(float)
    basis = orthonormalize(X, 1, accurate=True)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=50 * eps)
    assert np.shares_memory(basis, X)
    # What was lost is below the accuracy of the Gram matrix: the rest spans the same.
    leading = np.linalg.svd(original / np.linalg.norm(original, axis=0))[0][:, :10]
    assert np.max(subspace_angles(leading, basis.astype(float))) < 1e-3


def test_orthonormalize_drops_what_is_no_direction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X[:, 2] = 0
    X[:, 4] = X[:, 1]
    basis = orthonormalize(X.copy(), 1, accurate=True)
    assert basis.shape == (50, 4)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-13)
    assert np.max(subspace_angles(basis, X[:, [0, 1, 3, 5]])) < 1e-10


@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_compiled_operator_is_the_operator(normalization):
    rng = np.random.default_rng(0)
    W = sp.random_array((80, 80), density=0.1, random_state=rng)
    W = sp.csr_array(W + W.T)
    W = sp.csr_array(sp.block_diag([W, [[0.0]]]))  # an isolated node
    plain = LaplacianOperator(SparseAdjacency(W), normalization)
    compiled = LaplacianOperator(SparseAdjacency(W), normalization)
    compiled.compile(2)
    assert compiled.is_compiled
    X = rng.standard_normal((81, 70))
    np.testing.assert_allclose(compiled(X), plain(X), atol=1e-13)
    for degree in (1, 2, 5):
        chebyshev = ChebyshevFilter(-0.9, 0.5, degree)
        expected = X.copy()
        plain.filter(chebyshev, expected, np.float64)
        for dtype, atol in ((np.float64, 1e-11), (np.float32, 1e-3)):
            found = X.copy()
            compiled.filter(chebyshev, found, dtype)
            np.testing.assert_allclose(found, expected, atol=atol)
    assert compiled.n_products == 70 * (1 + 2 * (1 + 2 + 5))


@pytest.mark.parametrize("W", [cycle(2000), grid(40, 50)], ids=["cycle", "grid"])
def test_density_counts_eigenvalues(W):
    operator = LaplacianOperator(SparseAdjacency(W), "none")
    found = _estimate_density(operator, np.empty((2000, 0)), 2000, 1)
    spectrum = np.linalg.eigvalsh(operator(np.eye(2000)))[::-1]
    assert found.floor <= spectrum[-1] + 1e-3
    for rank in (100, 400, 1000, 1800):
        value = found.value_at(rank)
        assert abs(np.sum(spectrum >= value) - rank) < 100


def test_error_in_a_thread_is_raised():
    def work(part):
        if part == 3:
            raise ValueError("part 3")

    for n_threads in (1, 2):
        with pytest.raises(ValueError, match="part 3"):
            for_each(work, range(5), n_threads)
