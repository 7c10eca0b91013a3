"""Eigenpairs against closed forms, against each other, and on ten thousand odd little graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from known_graphs import cliques, complete, cycle, grid, path, star
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from labelfold import NeighborGraph
from labelfold.graph.adjacency import SparseAdjacency
from labelfold.graph.components import find_components
from labelfold.solvers.eigen import smallest_eigenpairs

SOLVERS = ["dense", "arpack", "chebyshev"]


# name, weights, spectrum of L, spectrum of (L, D)
def closed_forms():
    j, cos, pi = np.arange, np.cos, np.pi
    of_cycle = 1 - cos(2 * pi * j(61) / 61)
    of_path = 2 - 2 * cos(pi * j(12) / 12)
    yield "path", path(60), 2 - 2 * cos(pi * j(60) / 60), 1 - cos(pi * j(60) / 59)
    yield "cycle", cycle(61), 2 * of_cycle, of_cycle
    yield "complete", complete(25), np.repeat([0, 25.0], [1, 24]), np.repeat([0, 25 / 24], [1, 24])
    yield "star", star(20), np.r_[0, np.ones(18), 20], np.r_[0, np.ones(18), 2]
    yield "cliques", cliques(5, 8), np.repeat([0, 8.0], [5, 35]), np.repeat([0, 8 / 7], [5, 35])
    yield "grid", grid(12, 12), np.add.outer(of_path, of_path).ravel(), None


CLOSED_FORMS = [
    pytest.param(W, spectrum, normalization, id=f"{name}-{normalization}")
    for name, W, plain, by_degree in closed_forms()
    for spectrum, normalization in ((plain, "none"), (by_degree, "degree"))
    if spectrum is not None
]


def residuals(W, pairs, normalization):
    """|L v - lambda M v| in the norm in which v has length one."""
    d = np.asarray(W.sum(axis=1)).ravel()
    V = pairs.vectors
    R = d[:, None] * V - W @ V
    if normalization == "none":
        return np.linalg.norm(R - V * pairs.values, axis=0) / max(d.max(), 1)
    s = 1 / np.sqrt(np.where(d > 0, d, 1))
    return np.linalg.norm(s[:, None] * (R - d[:, None] * V * pairs.values), axis=0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("W", "spectrum", "normalization"), CLOSED_FORMS)
def test_closed_form(W, spectrum, normalization, solver):
    adjacency = SparseAdjacency(W)
    pairs = smallest_eigenpairs(
        adjacency,
        9,
        normalization=normalization,
        components=find_components(adjacency.matrix),
        solver=solver,
    )
    scale = max(spectrum.max(), 1)
    np.testing.assert_allclose(pairs.values, np.sort(spectrum)[:9], atol=1e-9 * scale)
    assert residuals(W, pairs, normalization).max() < 1e-8
    d = adjacency.degrees if normalization == "degree" else np.ones(adjacency.size)
    gram = pairs.vectors.T @ (d[:, None] * pairs.vectors)
    np.testing.assert_allclose(gram, np.eye(9), atol=1e-8)
    assert pairs.certificate.ok
    assert pairs.certificate.max_residual < 1e-8


@pytest.mark.parametrize("normalization", ["degree", "none"])
def test_solvers_agree_on_eigenspaces(normalization):
    rng = np.random.default_rng(0)
    W = sp.random_array((400, 400), density=0.02, random_state=rng)
    adjacency = SparseAdjacency(sp.csr_array(W + W.T + cycle(400)))
    found = [
        smallest_eigenpairs(adjacency, 6, normalization=normalization, solver=s) for s in SOLVERS
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.values, found[0].values, atol=1e-10 * 20)
        assert np.max(subspace_angles(other.vectors, found[0].vectors)) < 1e-6
        np.testing.assert_allclose(other.vectors, found[0].vectors, atol=1e-7)  # signs too


def test_against_scipys_generalized_solver():
    rng = np.random.default_rng(1)
    W = rng.random((30, 30))
    W = W + W.T
    np.fill_diagonal(W, 0)
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D)
    pairs = smallest_eigenpairs(SparseAdjacency(sp.csr_array(W)), 30)
    np.testing.assert_allclose(pairs.values, np.maximum(values, 0), atol=1e-12)
    cosines = np.abs(np.sum(pairs.vectors * (D @ vectors), axis=0))
    np.testing.assert_allclose(cosines, 1, atol=1e-9)


def test_many_pairs_of_a_clustered_spectrum_take_no_detour():
    """On this graph ARPACK stalls from 50 pairs on, after hundreds of thousands of products."""
    graph = NeighborGraph.build(load_digits().data, n_neighbors=8, weights="binary")
    found = smallest_eigenpairs(
        SparseAdjacency(graph.adjacency), 99, normalization="none", tol=1e-4
    ).certificate
    assert found.ok
    assert found.n_products < 10_000


@pytest.mark.parametrize("solver", ["arpack", "chebyshev"])
def test_all_copies_of_a_repeated_eigenvalue_are_found(solver):
    # Lanczos from one vector sees a single copy of each of the cycle's double eigenvalues.
    pairs = smallest_eigenpairs(SparseAdjacency(cycle(501)), 13, solver=solver)
    np.testing.assert_allclose(
        pairs.values, 1 - np.cos(2 * np.pi * ((np.arange(13) + 1) // 2) / 501), atol=1e-12
    )


def test_chebyshev_finishes_where_lanczos_stalls(monkeypatch):
    monkeypatch.setattr("labelfold.solvers.eigen.lanczos.RESTARTS", 1)
    pairs = smallest_eigenpairs(SparseAdjacency(path(3000)), 5, solver="arpack")
    assert pairs.certificate.solver == "chebyshev"
    assert pairs.certificate.ok
    np.testing.assert_allclose(pairs.values, 1 - np.cos(np.pi * np.arange(5) / 2999), atol=1e-12)


@pytest.mark.parametrize("solver", ["arpack", "chebyshev"])
def test_eigenvalues_below_the_tolerance_are_told_apart(solver):
    # lambda_1 = 1.4e-7: a residual of 1e-8 would leave the first vectors mixed.
    pairs = smallest_eigenpairs(SparseAdjacency(path(6000)), 4, solver=solver)
    assert pairs.certificate.tol < 2e-9
    assert pairs.certificate.ok
    j = np.arange(4)
    exact = np.cos(np.pi * j * np.arange(6000)[:, None] / 5999)
    cosines = np.abs(np.sum(exact * pairs.vectors, axis=0)) / np.linalg.norm(exact, axis=0)
    cosines /= np.linalg.norm(pairs.vectors, axis=0)
    np.testing.assert_allclose(cosines, 1, atol=1e-3)
    np.testing.assert_allclose(pairs.values, 1 - np.cos(np.pi * j / 5999), atol=1e-12)


def test_zero_eigenvectors_are_the_components():
    W = sp.csr_array(sp.block_diag([complete(4), complete(9), complete(6)]))
    pairs = smallest_eigenpairs(
        SparseAdjacency(W), 3, components=find_components(W), normalization="none"
    )
    np.testing.assert_array_equal(pairs.values, 0)
    expected = np.repeat([[0, 0, 1], [1, 0, 0], [0, 1, 0]], [4, 9, 6], axis=0)
    np.testing.assert_array_equal(pairs.vectors != 0, expected)


def test_node_of_next_to_no_degree_lies_among_its_neighbors():
    W = np.pad(cycle(30).toarray(), (0, 1))
    W[30, [3, 8, 9]] = W[[3, 8, 9], 30] = 1e-100
    pairs = smallest_eigenpairs(SparseAdjacency(sp.csr_array(W)), 4)
    expected = pairs.vectors[[3, 8, 9], 1:].mean(axis=0) / (1 - pairs.values[1:])
    np.testing.assert_allclose(pairs.vectors[30, 1:], expected, rtol=1e-10)


def test_no_convergence_warns_with_numbers():
    W = path(50)
    with pytest.warns(ConvergenceWarning, match=r"worst residual \d"):
        smallest_eigenpairs(SparseAdjacency(W), 5, tol=1e-30)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_pairs": 11}, "n_pairs=11"),
        ({"n_pairs": 0}, "n_pairs=0"),
        ({"n_pairs": 2, "solver": "magic"}, "eigen_solver='magic'"),
        ({"n_pairs": 2, "normalization": "both"}, "normalization='both'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        smallest_eigenpairs(SparseAdjacency(path(10)), **arguments)


def random_graph(seed):
    """Draw a tiny graph: path, tree, cliques, random, with isolated nodes and wild weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    kind = rng.integers(5)
    W = np.zeros((n, n))
    if kind == 0:
        i = np.arange(n - 1)
        W[i, i + 1] = 1
    elif kind == 1:
        for i in range(1, n):
            W[rng.integers(i), i] = 1
    elif kind == 2:
        cut = rng.integers(1, n)
        W[:cut, :cut] = W[cut:, cut:] = 1
    elif kind == 3:
        W[rng.random((n, n)) < 0.4] = 1
    else:
        W[:] = 1
    if rng.random() < 0.5:
        W *= 10.0 ** rng.uniform(-rng.integers(1, 60), 1, (n, n))
    if rng.random() < 0.3:
        alone = rng.integers(n)
        W[alone] = W[:, alone] = 0
    W = np.triu(W, 1)
    W = W + W.T
    if rng.random() < 0.3:  # a duplicate: a node with another's neighbors, joined to it
        twin = rng.integers(n)
        W = np.pad(W, (0, 1))
        W[n, :n] = W[:n, n] = W[twin, :n]
        W[n, twin] = W[twin, n] = 1
    return sp.csr_array(W)


@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_tiny_graphs(block):
    for seed in range(1000 * block, 1000 * (block + 1)):
        adjacency = SparseAdjacency(random_graph(seed))
        components = find_components(adjacency.matrix)
        for normalization in ("degree", "none"):
            n_pairs = 1 + seed % adjacency.size
            pairs = smallest_eigenpairs(
                adjacency, n_pairs, normalization=normalization, components=components
            )
            assert np.all(np.isfinite(pairs.vectors)), seed
            assert residuals(adjacency.matrix, pairs, normalization).max() <= 1e-8, seed
            assert pairs.certificate.ok, seed
            assert np.all(np.diff(pairs.values) >= -1e-12 * max(1, adjacency.degrees.max())), seed
            n_zero = min(n_pairs, int(components.max()) + 1)
            assert np.all(pairs.values[:n_zero] == 0), seed


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["arpack", "chebyshev"]))
def test_solvers_agree_on_tiny_graphs(seed, solver):
    adjacency = SparseAdjacency(random_graph(seed))
    components = find_components(adjacency.matrix)
    n_pairs = max(1, adjacency.size // 2)
    dense, other = (
        smallest_eigenpairs(adjacency, n_pairs, components=components, solver=s)
        for s in ("dense", solver)
    )
    np.testing.assert_allclose(other.values, dense.values, atol=1e-10)
