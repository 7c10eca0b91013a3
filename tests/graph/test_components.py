"""Components and the bridges that join them, against a minimum spanning tree of all distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from labelfold import CCDR, LaplacianEigenmaps, NeighborGraph
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.graph import components
from labelfold.graph.components import find_bridges, find_components
from labelfold.graph.neighbor_index import ExactIndex
from labelfold.graph.point_space import PointSpace


def clusters(rng, sizes, n_features=2, gap=100.0):
    """Clusters of points along the first axis, 100, 200, 300, ... apart."""
    starts = np.cumsum(gap * np.arange(len(sizes)))
    X = rng.normal(size=(sum(sizes), n_features))
    X[:, 0] += np.repeat(starts, sizes)
    return X, np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("sizes", [(30, 40, 50, 20), (150, 300, 120), (3, 3, 3, 3, 500)])
@pytest.mark.parametrize("n_features", [2, 20])
def test_bridges_are_the_shortest_spanning_tree_of_the_components(sizes, n_features):
    X, _ = clusters(np.random.default_rng(0), sizes, n_features)
    graph = NeighborGraph.build(X, n_neighbors=2)
    n_connected_components = graph.statistics.n_connected_components
    assert n_connected_components >= len(sizes)
    joined = graph.bridged()
    assert joined.statistics.n_connected_components == 1
    assert len(joined.bridges) == n_connected_components - 1
    gaps, tree = tree_of(X, graph.connected_components)
    i, j = joined.bridges.T
    lengths = np.linalg.norm(X[i] - X[j], axis=1)
    assert np.sum(lengths) == pytest.approx(sum(gaps[pair] for pair in tree))
    np.testing.assert_allclose(joined.distances[i, j], lengths)


def test_a_bridge_weighs_at_least_the_median_of_its_ends_edges():
    X, _ = clusters(np.random.default_rng(0), (30, 30))
    graph = NeighborGraph.build(X, n_neighbors=4)
    joined = graph.bridged()
    assert abs(joined.adjacency - joined.adjacency.T).max() == 0
    for i, j in joined.bridges:
        ends = np.concatenate([graph.adjacency[[i]].data, graph.adjacency[[j]].data])
        assert joined.adjacency[i, j] == pytest.approx(np.median(ends))


def test_class_nodes_join_components():
    X, cluster = clusters(np.random.default_rng(0), (30, 30, 30))
    graph = NeighborGraph.build(X, n_neighbors=5)
    groups = np.full(90, -1)
    groups[[0, 31]] = 0  # one class in the first two clusters
    assert len(np.unique(find_components(graph.adjacency, groups))) == 2
    joined = graph.bridged(groups)
    assert len(joined.bridges) == 1
    assert {cluster[i] for i in joined.bridges[0]} == {1, 2}


def test_bridges_are_chosen_again_for_other_labels():
    X, _ = clusters(np.random.default_rng(0), (30, 30, 30))
    y = np.full(90, None)
    y[[0, 31]] = "a"  # joins the first two clusters
    with pytest.warns(DisconnectedGraphWarning):
        model = CCDR(n_neighbors=5).fit(X, y)
    with pytest.warns(DisconnectedGraphWarning, match="3 separate components"):
        passed_on = LaplacianEigenmaps(n_neighbors=5).fit(X, graph=model.graph_)
    with pytest.warns(DisconnectedGraphWarning):
        fresh = LaplacianEigenmaps(n_neighbors=5).fit(X)
    assert len(passed_on.graph_.bridges) == 2
    np.testing.assert_array_equal(passed_on.embedding_, fresh.embedding_)


def test_connected_graph_is_returned_as_it_is():
    graph = NeighborGraph.build(np.random.default_rng(0).random((50, 2)), n_neighbors=10)
    assert graph.bridged() is graph


def test_precomputed_components_without_a_distance_between_them_raise():
    X, _ = clusters(np.random.default_rng(0), (20, 20))
    given = NeighborGraph.build(X, n_neighbors=5).distances
    with pytest.raises(ValueError, match="2 components with no distance between them"):
        NeighborGraph.build(given, n_neighbors=4, metric="precomputed").bridged()
    joined = NeighborGraph.build(cdist(X, X), n_neighbors=4, metric="precomputed").bridged()
    assert joined.statistics.n_connected_components == 1


def test_precomputed_groups_of_equal_points_are_joined():
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    graph = NeighborGraph.build(cdist(X, X), n_neighbors=5, metric="precomputed")
    assert graph.statistics.n_connected_components == 2
    assert len(graph.bridged().bridges) == 1
    with pytest.raises(ValueError, match="All 10 rows"):
        NeighborGraph.build(np.zeros((10, 10)), n_neighbors=5, metric="precomputed")


def test_a_warning_counts_components_and_bridges_of_one_graph():
    X, _ = clusters(np.random.default_rng(0), (30, 30, 30, 30, 30))
    y = np.full(150, None)
    y[[0, 31, 61, 91]] = "a"  # joins four of the five
    message = r"has 2 separate components, .* 120 of 150 points, .* Added 1 bridging edge \("
    with pytest.warns(DisconnectedGraphWarning, match=message) as caught:
        model = CCDR(n_neighbors=5).fit(X, y)
    assert len(model.graph_.bridges) == 1
    assert "A larger n_neighbors may avoid this." in str(caught[0].message)
    message = r"has 5 separate components, .* 30 of 150 points\. Added 4 bridging edges \("
    with pytest.warns(DisconnectedGraphWarning, match=message):
        LaplacianEigenmaps(n_neighbors=5).fit(X)
    # It points at the user's line, through scikit-learn's wrapper as well.
    with pytest.warns(DisconnectedGraphWarning) as through_wrapper:
        LaplacianEigenmaps(n_neighbors=5).fit_transform(X)
    assert caught[0].filename == through_wrapper[0].filename == __file__


def test_ties_make_no_circle_of_bridges():
    # Every corner of a square has two others at the same distance.
    corners = 100.0 * np.array([[0, 0], [0, 1], [1, 1], [1, 0], [7, 7]])
    X = np.vstack([corners, corners + np.array([0, 1e-3]), corners[-1:] + np.array([1e-3, 0])])
    joined = NeighborGraph.build(X, n_neighbors=1).bridged()
    assert len(joined.bridges) == 4
    assert joined.statistics.n_connected_components == 1


def tree_of(X, of_row, metric="euclidean"):
    """Return the gaps between components, and the minimum spanning tree over them."""
    n = of_row.max() + 1
    gaps = np.zeros((n, n))
    for a in range(n):
        for b in range(a):
            gaps[a, b] = cdist(X[of_row == a], X[of_row == b], metric).min()
    tree = sp.csgraph.minimum_spanning_tree(gaps).tocoo()
    return gaps + gaps.T, {tuple(sorted(pair)) for pair in zip(tree.row, tree.col, strict=True)}


def blobs(rng, sizes, n_features):
    """Clusters at gaps that differ: each center is further out than the one before."""
    of_row = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    directions = rng.normal(size=(len(sizes), n_features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    centers = directions * (20 * 1.6 ** np.arange(len(sizes)))[:, None]
    return centers[of_row] + rng.normal(size=(len(of_row), n_features)), of_row


def shells(rng, sizes, n_features):
    """Nested shells, each around the one before."""
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(of_row), n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X * (3.0**of_row)[:, None], of_row


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("n_features", [2, 10, 50])
@pytest.mark.parametrize("shape", [blobs, shells])
def test_bridges_of_large_components(shape, n_features, sample, monkeypatch):
    """A few comparisons per row find the same tree, its edges a little longer than the shortest."""
    if sample:
        monkeypatch.setattr(components, "PAIRS_COMPARED", 0)
        monkeypatch.setattr(components, "ROWS_COMPARED", 30)
    X, of_row = shape(np.random.default_rng(0), (300, 900, 500, 200), n_features)
    gaps, tree = tree_of(X, of_row)
    rows, columns, lengths = find_bridges(of_row, ExactIndex(X, PointSpace("euclidean")))
    found = {tuple(sorted(pair)) for pair in zip(of_row[rows], of_row[columns], strict=True)}
    np.testing.assert_allclose(lengths, np.linalg.norm(X[rows] - X[columns], axis=1), rtol=1e-14)
    shortest = sum(gaps[pair] for pair in tree)
    if sample:
        assert np.sum(lengths) <= 1.15 * shortest
    else:
        assert np.sum(lengths) == pytest.approx(shortest)
    if not sample or shape is blobs or n_features == 2:  # gaps of shells in space are much alike
        assert found == tree


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_bridges_in_other_metrics(metric, store):
    X, of_row = blobs(np.random.default_rng(1), (150, 300, 220), 5)
    gaps, tree = tree_of(X, of_row, {"manhattan": "cityblock"}.get(metric, metric))
    rows, columns, lengths = find_bridges(of_row, ExactIndex(store(X), PointSpace(metric)))
    assert {tuple(sorted(pair)) for pair in zip(of_row[rows], of_row[columns], strict=True)} == tree
    np.testing.assert_allclose(lengths, gaps[of_row[rows], of_row[columns]], rtol=1e-9)


def test_a_bridge_ends_at_a_thin_arm_of_a_component():
    """Few rows of many are near the other component: bounds find them where samples would not."""
    rng = np.random.default_rng(0)
    arm = np.column_stack([np.linspace(0, 90, 200), np.zeros(200)])
    body, other = rng.normal(size=(2, 20_000, 2))
    X = np.vstack([body, arm, other + np.array([100, 0])])
    of_row = np.repeat([0, 1], [20_200, 20_000])
    rows, _, lengths = find_bridges(of_row, ExactIndex(X, PointSpace("euclidean")))
    assert rows.tolist() == [20_199]
    shortest = np.linalg.norm(X[20_200:] - np.array([90, 0]), axis=1).min()
    assert lengths[0] == pytest.approx(shortest, rel=1e-14)


@pytest.mark.parametrize("n_features", [10, 50])
def test_bridges_cost_less_than_the_search_and_join_what_exact_ones_do(n_features, monkeypatch):
    X, of_row = blobs(np.random.default_rng(0), [2000] * 10, n_features)
    index = ExactIndex(X, PointSpace("euclidean"))
    n_distances = []
    between = PointSpace.between

    def counted(space, a, b):
        n_distances.append(a.shape[0] * b.shape[0])
        return between(space, a, b)

    monkeypatch.setattr(PointSpace, "between", counted)
    rows, columns, _ = find_bridges(of_row, index)
    assert len(rows) == 9
    assert 0 < sum(n_distances) < len(X) ** 2 / 4  # the exact search compares all with all
    if n_features == 10:
        joined = {tuple(sorted(pair)) for pair in zip(of_row[rows], of_row[columns], strict=True)}
        assert joined == tree_of(X, of_row)[1]


def test_bridges_are_the_same_for_any_number_of_threads():
    X, _ = blobs(np.random.default_rng(0), [500] * 5, 40)
    one, two = (NeighborGraph.build(X, n_jobs=n).bridged() for n in (1, 2))
    np.testing.assert_array_equal(one.bridges, two.bridges)
    np.testing.assert_array_equal(one.adjacency.data, two.adjacency.data)
