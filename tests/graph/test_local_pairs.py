"""Neighbor pairs and the pairs within neighborhoods, against sets made point by point."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer

from labelfold import NeighborGraph
from labelfold.graph.local_pairs import local_pairs


def brute_force(lists):
    """All pairs of a point with one on its list, and of two on one list."""
    pairs = set()
    for i, near in enumerate(lists):
        pairs |= set(combinations(sorted([i, *near]), 2))
    return sorted(pairs)


def nearest(D, k):
    """Each point's k nearest others by (distance, number)."""
    numbers = np.arange(len(D))
    lists = []
    for i in numbers:
        order = np.lexsort((numbers, D[i]))
        lists.append([int(j) for j in order if j != i][:k])
    return lists


def assert_pairs(found, expected, D):
    pairs, distances = found
    assert pairs.dtype == np.intp
    assert pairs.tolist() == [list(pair) for pair in expected]
    np.testing.assert_allclose(distances, D[pairs[:, 0], pairs[:, 1]], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["real", "integer", "repeated", "far from the origin"])
@pytest.mark.parametrize("n_features", [1, 3, 20])
def test_pairs_of_all_shapes(kind, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, n_features))
    X = {
        "real": X,
        "integer": np.round(2 * X),
        "repeated": X[rng.integers(40, size=120)],
        "far from the origin": X + 1e8,
    }[kind]
    D = cdist(X, X)
    graph = NeighborGraph.build(X, n_neighbors=5)
    assert_pairs(local_pairs(graph), brute_force(nearest(D, 5)), D)


def test_edges_have_the_lengths_of_the_graph():
    X = np.random.default_rng(0).normal(size=(90, 3))
    for metric in ("euclidean", "manhattan", "cosine"):
        graph = NeighborGraph.build(X, n_neighbors=4, metric=metric)
        pairs, distances = local_pairs(graph)
        found = sp.csr_array((distances, pairs.T), shape=(90, 90))
        stored = sp.triu(graph.distances).tocoo()
        np.testing.assert_array_equal(found.toarray()[stored.row, stored.col], stored.data)


@pytest.mark.parametrize("neighborhood", [{"n_neighbors": 4}, {"radius": 3.0}])
def test_bridges_belong_to_no_neighborhood(neighborhood):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 50])
    graph = NeighborGraph.build(X, **neighborhood)
    without, lengths = local_pairs(graph)
    joined = graph.bridged()
    assert len(joined.bridges) == 1
    pairs, distances = local_pairs(joined)
    is_bridge = (pairs == np.sort(joined.bridges[0])).all(axis=1)
    assert is_bridge.sum() == 1
    np.testing.assert_array_equal(pairs[~is_bridge], without)
    np.testing.assert_array_equal(distances[~is_bridge], lengths)
    np.testing.assert_allclose(
        distances[is_bridge], np.linalg.norm(np.diff(X[joined.bridges[0]], axis=0))
    )


@pytest.mark.filterwarnings("ignore::labelfold.exceptions.HubnessWarning")
def test_hub_does_not_join_all_around_it():
    X = np.vstack([np.zeros(40), np.eye(40)])  # the first is nearest to all
    graph = NeighborGraph.build(X, n_neighbors=2, weights="binary")
    assert graph.statistics.largest_neighborhood == 40
    pairs, _ = local_pairs(graph)
    assert len(pairs) <= 41 * 2 * 3 / 2


def test_radius():
    X = np.random.default_rng(0).random((100, 2))
    D = cdist(X, X)
    lists = [[j for j in np.flatnonzero(D[i] <= 0.25) if j != i] for i in range(100)]
    graph = NeighborGraph.build(X, radius=0.25)
    assert graph.statistics.largest_neighborhood > graph.recipe.n_neighbors
    assert_pairs(local_pairs(graph), brute_force(lists), D)


def largest_step(a, b):
    return np.abs(a - b).max()


@pytest.mark.parametrize(
    ("metric", "name", "store"),
    [
        ("euclidean", "euclidean", sp.csr_array),
        ("manhattan", "cityblock", np.asarray),
        ("manhattan", "cityblock", sp.csr_array),
        ("cosine", "cosine", np.asarray),
        ("cosine", "cosine", sp.csr_array),
        ("sqeuclidean", "sqeuclidean", np.asarray),
        ("canberra", "canberra", np.asarray),
        (largest_step, "chebyshev", np.asarray),
    ],
)
def test_any_metric_dense_and_sparse(metric, name, store):
    X = np.random.default_rng(0).random((60, 6))
    X[np.random.default_rng(1).random((60, 6)) < 0.3] = 0
    X[:, 0] += 0.1  # no empty row
    D = cdist(X, X, name)
    graph = NeighborGraph.build(store(X), n_neighbors=4, metric=metric, weights="binary")
    assert_pairs(local_pairs(graph), brute_force(nearest(D, 4)), D)


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array, "12 nearest"])
def test_enough_distances_precomputed(as_given):
    X = np.linspace(0, 1, 30)[:, None] ** 2
    D = cdist(X, X)
    few = KNeighborsTransformer(n_neighbors=12).fit_transform(X)
    given = few if as_given == "12 nearest" else as_given(D)
    graph = NeighborGraph.build(given, n_neighbors=4, metric="precomputed")
    assert_pairs(local_pairs(graph), brute_force(nearest(D, 4)), D)


def test_distances_missing_from_precomputed():
    X = np.random.default_rng(0).normal(size=(50, 3))
    given = KNeighborsTransformer(n_neighbors=4).fit_transform(X)
    graph = NeighborGraph.build(given, n_neighbors=4, metric="precomputed")
    missing = set(brute_force(nearest(cdist(X, X), 4))) - set(zip(*given.nonzero(), strict=True))
    missing = sorted(pair for pair in missing if given[pair[::-1]] == 0)
    i, j = missing[0]
    message = rf"^{len(missing)} distances .* rows {i} and {j}: "
    with pytest.raises(ValueError, match=message):
        local_pairs(graph)
