"""New rows join a graph: the graph of all rows, for any metric and search."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from labelfold import NeighborGraph
from labelfold.graph.added_rows import add_rows


def cloud(n=260, d=8, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def same(joined, whole):
    for name in ("distances", "adjacency"):
        a, b = getattr(joined, name), getattr(whole, name)
        np.testing.assert_array_equal(a.indptr, b.indptr)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.data, b.data)
    np.testing.assert_array_equal(joined.occurrences, whole.occurrences)


@pytest.mark.parametrize("n_new", [1, 2, 5, 90, 200])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_neighbors": 3, "weights": "binary"},
        {"metric": "cosine"},
        {"metric": "sqeuclidean", "n_neighbors": 4},
        {"metric": "manhattan"},
        {"radius": 3.0},
        {"radius": 0.4, "metric": "cosine"},
    ],
)
def test_joined_graph_is_the_graph_of_all_rows(n_new, parameters):
    X = cloud()
    graph = NeighborGraph.build(X[:-n_new], scale=5.0, **parameters)
    whole = NeighborGraph.build(X, scale=5.0, **parameters)
    same(add_rows(graph, X[-n_new:]), whole)


@pytest.mark.parametrize("n_features", [2, 8])  # a k-d tree, and pairwise reduction
def test_sparse_rows_and_few_dimensions(n_features):
    X = np.round(cloud(150, n_features), 1)
    whole = NeighborGraph.build(X, n_neighbors=5, scale=1.0)
    same(add_rows(NeighborGraph.build(X[:100], n_neighbors=5, scale=1.0), X[100:]), whole)
    graph = NeighborGraph.build(sp.csr_array(X[:100]), n_neighbors=5, scale=1.0)
    of_sparse = add_rows(graph, sp.csr_array(X[100:]))
    np.testing.assert_array_equal(of_sparse.distances.indices, whole.distances.indices)
    np.testing.assert_allclose(of_sparse.adjacency.data, whole.adjacency.data, rtol=1e-12)


def test_ties_and_equal_rows():
    """On a grid nearly all distances are tied; equal rows are at distance 0 and stay edges."""
    grid = np.array([[i, j, 0, 0, 0, 0, 0] for i in range(12) for j in range(12)], dtype=float)
    X = np.vstack([grid, grid[::2], np.tile(grid[:1], (80, 1))])
    X = X[np.random.default_rng(1).permutation(len(X))]
    graph = NeighborGraph.build(X[:150], n_neighbors=4, scale=2.0)
    joined = add_rows(graph, X[150:])
    same(joined, NeighborGraph.build(X, n_neighbors=4, scale=2.0))
    assert np.any(joined.distances.data == 0)


def test_far_from_the_origin_and_in_any_unit():
    X = cloud(200, 7)
    for shift, unit in ((1e6, 1.0), (0.0, 1e-100), (0.0, 1e140)):
        moved = unit * (X + shift)
        graph = NeighborGraph.build(moved[:140], n_neighbors=6)
        whole = NeighborGraph.build(moved, n_neighbors=6, scale=graph.scale)
        same(add_rows(graph, moved[140:]), whole)


def test_bridges_are_left_out():
    X = np.vstack([cloud(40, 3), cloud(40, 3, seed=1) + 50])
    bridged = NeighborGraph.build(X[::2], n_neighbors=3).bridged()
    assert len(bridged.bridges)
    joined = add_rows(bridged, X[1::2])
    assert len(joined.bridges) == 0
    assert joined.connected_components.max() >= 1


def test_new_rows_have_the_scale_of_their_nearest():
    X = cloud(60, 7)
    scales = np.linspace(1, 2, 50)
    joined = add_rows(NeighborGraph.build(X[:50], scale=scales), X[50:])
    nearest = np.argmin(((X[50:, None] - X[None, :50]) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(joined.scale, np.r_[scales, scales[nearest]])


def test_approximate_search_keeps_its_lists():
    X = cloud(3000, 10)
    graph = NeighborGraph.build(X[:2500], neighbor_search="approximate", random_state=0)
    joined = add_rows(graph, X[2500:])
    whole = NeighborGraph.build(X, neighbor_search="exact")
    found = joined.distances.astype(bool).multiply(whole.distances.astype(bool)).nnz
    assert found > 0.98 * whole.distances.nnz
    assert joined.distances_to(X[2600:2601]).indices.tolist().count(2600) == 1


def test_precomputed_distances_raise():
    X = cloud(40, 3)
    given = kneighbors_graph(X, 8, mode="distance")
    graph = NeighborGraph.build(given, metric="precomputed", n_neighbors=4)
    with pytest.raises(ValueError, match=r"precomputed.*fit all rows together"):
        add_rows(graph, given[:3])
