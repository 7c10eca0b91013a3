"""Many eigenpairs by filtered subspace iteration: against other solvers, and what it promises."""

import multiprocessing
import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from known_graphs import cliques, cycle, grid, path
from scipy.linalg import LinAlgError, cholesky, eigh, subspace_angles
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from labelfold.graph.adjacency import SparseAdjacency
from labelfold.graph.components import find_components
from labelfold.solvers.eigen import (
    chebyshev,
    smallest_eigenpairs,
)
from labelfold.solvers.eigen.chebyshev import inner_products, orthonormalize, remove, rotate
from labelfold.solvers.eigen.operator import ChebyshevFilter, LaplacianOperator
from labelfold.threads import for_each, limit_threads

positive_eigenpairs = partial(smallest_eigenpairs, skip_zeros=True)


def nearest(X, k):
    W = kneighbors_graph(X, k)
    return sp.csr_array(W.maximum(W.T))


DIGITS = nearest(load_digits().data, 8)

# n_pairs, zeros counted, end where the spectrum has a gap: the eigenspace is determined.
GRAPHS = {
    "path": (path(700), 60),
    "cycle": (cycle(701), 61),
    "grid": (grid(25, 25), 59),
    "cliques": (cliques(30, 20), 30),
    "digits": (DIGITS, 150),
}


@pytest.fixture(params=["compiled", "plain"])
def kernel(request, monkeypatch):
    entries = 0 if request.param == "compiled" else 10**12
    monkeypatch.setattr(chebyshev, "COMPILE_ENTRIES", entries)


def laplacian(W, normalization):
    """Return L and M of L v = lambda M v."""
    d = np.asarray(W.sum(axis=1)).ravel()
    M = sp.diags_array(d if normalization == "degree" else np.ones(len(d)))
    return sp.csc_array(sp.diags_array(d) - W), sp.csc_array(M)


def end_of_cluster(values, n):
    """Return the first number from n on after which the spectrum has a gap."""
    while values[n] - values[n - 1] < 1e-5 * values[-1]:
        n += 1
    return n


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("normalization", ["degree", "none"])
@pytest.mark.parametrize("name", GRAPHS)
def test_agrees_with_arpack(name, normalization):
    W, n_pairs = GRAPHS[name]
    L, M = laplacian(W, normalization)
    spectrum = eigh(L.toarray(), M.toarray(), eigvals_only=True)
    n_pairs = end_of_cluster(spectrum, n_pairs)
    v0 = np.random.default_rng(0).standard_normal(len(spectrum))
    expected, vectors = eigsh(L, n_pairs, M, sigma=-0.01, v0=v0)  # SciPy's, by factorization
    found = smallest_eigenpairs(
        SparseAdjacency(W),
        n_pairs,
        normalization=normalization,
        components=find_components(W),
        solver="chebyshev",
    )
    assert found.certificate.ok
    np.testing.assert_allclose(found.values, np.sort(expected), atol=1e-6)
    root = np.sqrt(M.diagonal())[:, None]
    assert np.max(subspace_angles(root * found.vectors, root * vectors)) < 1e-3


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_many_copies_of_one_eigenvalue(normalization):
    # 30 zeros, then 570 copies of a single value: any orthonormal set of them is right.
    W = cliques(30, 20)
    found = positive_eigenpairs(
        SparseAdjacency(W),
        100,
        normalization=normalization,
        components=find_components(W),
        solver="chebyshev",
    )
    np.testing.assert_allclose(found.values, 20 if normalization == "none" else 20 / 19, atol=1e-10)
    assert found.certificate.ok
    assert found.certificate.orthogonality < 1e-12


@pytest.mark.parametrize("solver", ["chebyshev", "auto"])
def test_clusters_cost_no_more_than_one_component(solver):
    # 60 squares, joined in a chain by single edges: 60 eigenvalues near 0, of which 8 are wanted.
    side, n_squares = 6, 60
    square = grid(side, side)
    W = sp.lil_array(sp.block_diag([square] * n_squares))
    joints = np.arange(1, n_squares) * side**2
    W[joints - 1, joints] = W[joints, joints - 1] = 1
    chain = smallest_eigenpairs(SparseAdjacency(sp.csr_array(W)), 8, solver=solver)
    single = SparseAdjacency(sp.csr_array(grid(side * 10, side * 6)))
    assert chain.certificate.ok
    alone = smallest_eigenpairs(single, 8, solver="chebyshev").certificate
    assert chain.certificate.n_products < 2 * alone.n_products
    reference = smallest_eigenpairs(SparseAdjacency(sp.csr_array(W)), 8, solver="dense")
    np.testing.assert_allclose(chain.values, reference.values, atol=1e-9)
    angles = subspace_angles(chain.vectors, reference.vectors)
    assert angles.max() < 1e-3


def test_loose_tolerance_is_reached_by_filters_in_single_precision(monkeypatch):
    monkeypatch.setattr(chebyshev, "COMPILE_ENTRIES", 0)
    used = []
    run = LaplacianOperator.filter
    monkeypatch.setattr(
        LaplacianOperator,
        "filter",
        lambda self, f, X, dtype: (used.append(np.dtype(dtype)), run(self, f, X, dtype))[1],
    )
    adjacency = SparseAdjacency(DIGITS)
    loose = positive_eigenpairs(adjacency, 150, solver="chebyshev", tol=1e-4)
    assert set(used) == {np.dtype(np.float32)}
    assert loose.certificate.max_residual <= 1e-4
    assert loose.certificate.orthogonality < 1e-12
    exact = positive_eigenpairs(adjacency, 150, solver="dense")
    np.testing.assert_allclose(loose.values, exact.values, atol=1e-6)  # squares of residuals
    used.clear()
    fine = positive_eigenpairs(adjacency, 150, solver="chebyshev", tol=1e-10)
    assert np.dtype(np.float64) in used
    assert fine.certificate.max_residual <= 1e-10


def test_long_vectors_with_a_loose_tolerance_are_kept_in_single_precision(monkeypatch):
    monkeypatch.setattr(chebyshev, "LONG", 10_000)
    adjacency = SparseAdjacency(nearest(np.random.default_rng(0).random((15_000, 3)), 8))
    components = find_components(adjacency.matrix)
    exact, loose = (
        positive_eigenpairs(adjacency, 60, components=components, solver="chebyshev", tol=tol)
        for tol in (1e-8, 1e-4)
    )
    assert exact.vectors.dtype == np.float64
    assert loose.vectors.dtype == np.float32
    assert loose.certificate.ok
    assert loose.certificate.orthogonality < 1e-7
    np.testing.assert_allclose(loose.values, exact.values, atol=1e-6)
    roots = np.sqrt(adjacency.degrees)[:, None]
    assert subspace_angles(roots * exact.vectors[:, :50], roots * loose.vectors).max() < 1e-2


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_same_bits_for_any_number_of_threads(monkeypatch, tol):
    monkeypatch.setattr(chebyshev, "COMPILE_ENTRIES", 0)
    monkeypatch.setattr(chebyshev, "ROWS", 500)
    monkeypatch.setattr(chebyshev, "COLUMNS", 32)
    adjacency = SparseAdjacency(DIGITS)
    found = []
    for n_jobs in (1, 2, 3):
        with limit_threads(n_jobs):
            found.append(positive_eigenpairs(adjacency, 120, solver="chebyshev", tol=tol))
    for other in found[1:]:
        np.testing.assert_array_equal(other.vectors, found[0].vectors)
        np.testing.assert_array_equal(other.values, found[0].values)


def test_locked_vectors_do_not_come_back():
    # The last filters work on vectors far below those locked, which rounding in float32 brings back
    # magnified by what the polynomial does at the top.
    W = sp.block_diag([path(40), grid(40, 50)]).tolil()
    W[39, 40] = W[40, 39] = 1e-3
    adjacency = SparseAdjacency(sp.csr_array(W))
    expected = positive_eigenpairs(adjacency, 300, normalization="none", solver="dense")
    operator = LaplacianOperator(adjacency, "none")
    operator.compile(1)
    null = operator.null_vectors(np.zeros(adjacency.size, dtype=int))
    mu, U = chebyshev.top_eigenpairs(operator, 300, known=null, tol=1e-5)
    np.testing.assert_allclose(operator.eigenvalues(mu), expected.values, atol=1e-6)
    np.testing.assert_allclose(U.T @ U, np.eye(300), atol=1e-10)


def test_graph_known_by_its_products_alone():
    class Remote:
        """An adjacency that shows no matrix."""

        def __init__(self, W):
            self._W = W
            self.size, self.degrees = W.shape[0], np.asarray(W.sum(axis=1)).ravel()

        def product(self, block):
            return self._W @ block

    W = DIGITS
    far = positive_eigenpairs(Remote(W), 50, solver="chebyshev")
    near = positive_eigenpairs(SparseAdjacency(W), 50, solver="dense")
    np.testing.assert_allclose(far.values, near.values, atol=1e-8)


def test_components_take_no_dense_vectors():
    # 4,000 components: their indicators as dense columns would take 640 MB.
    W = sp.csr_array(sp.block_diag([path(5)] * 3999 + [grid(15, 15)]))
    adjacency, components = SparseAdjacency(W), find_components(W)
    tracemalloc.start()
    found = positive_eigenpairs(
        adjacency, 20, components=components, normalization="none", tol=1e-6
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
    of_grid = np.add.outer(*[2 - 2 * np.cos(np.pi * np.arange(15) / 15)] * 2).ravel()
    # The paths' first eigenvalue, 3,999 times, follows on those of the grid below it.
    of_path = 2 - 2 * np.cos(np.pi / 5)
    expected = np.sort(of_grid[of_grid > 1e-9])[:20]
    np.testing.assert_allclose(found.values, np.minimum(expected, of_path), atol=1e-5)


def test_memory_is_bounded():
    n, p = 20_000, 150
    rng = np.random.default_rng(0)
    adjacency = SparseAdjacency(nearest(rng.random((n, 3)), 6))
    components = find_components(adjacency.matrix)
    tracemalloc.start()
    positive_eigenpairs(adjacency, p, components=components, solver="chebyshev", tol=1e-4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    block = 8 * n * (1.15 * p + 20)
    assert peak < 8 * n * p + 2 * block + 60e6


def test_stops_with_what_it_has(monkeypatch):
    monkeypatch.setattr(chebyshev, "MAX_FILTERS", 1)
    # As many filters as allowed and no more; the certificate says that it is not enough.
    operator = LaplacianOperator(SparseAdjacency(path(500)), "degree")
    null = operator.null_vectors(np.zeros(500, dtype=int))
    mu, U = chebyshev.top_eigenpairs(operator, 40, known=null, tol=1e-10)
    assert mu.shape == (40,)
    assert np.all(np.isfinite(U))
    residuals = np.linalg.norm(operator(U) - U * mu, axis=0)
    assert residuals.max() > 1e-10


@pytest.mark.parametrize("n_pairs", [10, 60])
def test_cut_through_a_plateau_that_hubs_press_against_the_end(n_pairs):
    # Leaves of the same eight hubs: eigenvalue 8, some 900 times, on a scale where 8 is next to 0.
    rng = np.random.default_rng(0)
    W = np.zeros((1500, 1500))
    W[:8, 8:1000] = 1
    far = nearest(rng.random((500, 2)), 4).toarray()
    W[1000:, 1000:] = far
    W[:8, 1000:1100] = rng.random((8, 100)) < 0.5
    W = np.maximum(W, W.T)
    adjacency = SparseAdjacency(sp.csr_array(W))
    components = find_components(adjacency.matrix)
    spectrum = np.linalg.eigvalsh(np.diag(adjacency.degrees) - W)
    n_null = int(components.max()) + 1
    wanted = int(np.sum(spectrum < 7.99)) - n_null + n_pairs  # the last ones lie on the plateau
    found = positive_eigenpairs(
        adjacency, wanted, normalization="none", components=components, solver="chebyshev", tol=1e-4
    )
    assert found.certificate.ok
    # Residuals of 1 % of an eigenvalue are asked for, so they are as far off at the most.
    np.testing.assert_allclose(found.values, spectrum[n_null : n_null + wanted], rtol=0.01)


@pytest.mark.parametrize("solver", ["auto", "arpack"])
def test_hub_is_no_hindrance(solver):
    # A node that a third of all others are joined to presses all that is wanted against 1.
    W = grid(60, 60).tolil()
    W[0, ::3] = W[::3, 0] = 1
    W[0, 0] = 0
    adjacency = SparseAdjacency(sp.csr_array(W))
    found = positive_eigenpairs(adjacency, 20, normalization="none", solver=solver, tol=1e-6)
    L, _ = laplacian(adjacency.matrix, "none")
    expected = eigsh(L, 21, sigma=-0.01, return_eigenvectors=False)
    assert found.certificate.ok
    np.testing.assert_allclose(found.values, np.sort(expected)[1:], atol=1e-4)


def test_filter_is_the_chebyshev_polynomial():
    x = np.linspace(-1, 1, 9)
    chosen = ChebyshevFilter(-0.5, 0.7, 6)
    inside = (x - 0.1) / 0.6
    expected = np.polynomial.chebyshev.Chebyshev.basis(6)(inside)
    np.testing.assert_allclose(chosen(lambda v: x * v, np.ones(9)), expected, rtol=1e-12)
    grown = ChebyshevFilter.growing(0.7, floor=-0.5, top=0.9, growth=1e4)
    reached = grown(lambda v: 0.9 * v, np.ones(1))[0]
    assert 1e4 / 8 < reached <= 1e4


def _solve_in_child(queue):
    adjacency = SparseAdjacency(DIGITS)
    queue.put(positive_eigenpairs(adjacency, 30, solver="chebyshev", tol=1e-4).values)


def test_forked_child_can_solve_after_its_parent(monkeypatch):
    # A pool of threads that outlives a call would leave a forked child waiting forever.
    monkeypatch.setattr(chebyshev, "COMPILE_ENTRIES", 0)
    with limit_threads(2):
        here = positive_eigenpairs(SparseAdjacency(DIGITS), 30, solver="chebyshev", tol=1e-4)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_solve_in_child, args=(queue,))
    child.start()
    there = queue.get(timeout=60)
    child.join(timeout=60)
    np.testing.assert_array_equal(there, here.values)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(chebyshev, "ROWS", 7)
    monkeypatch.setattr(chebyshev, "COLUMNS", 3)


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
        polynomial = ChebyshevFilter(-0.9, 0.5, degree)
        expected = X.copy()
        plain.filter(polynomial, expected, np.float64)
        for dtype, atol in ((np.float64, 1e-11), (np.float32, 1e-3)):
            found = X.copy()
            compiled.filter(polynomial, found, dtype)
            np.testing.assert_allclose(found, expected, atol=atol)
    assert compiled.n_products == 70 * (1 + 2 * (1 + 2 + 5))


@pytest.mark.parametrize("W", [cycle(2000), grid(40, 50)], ids=["cycle", "grid"])
def test_density_counts_eigenvalues(W):
    operator = LaplacianOperator(SparseAdjacency(W), "none")
    found = chebyshev._estimate_density(operator, np.empty((2000, 0)), 2000, 1)
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
