"""The graph as a value: pieces, bridges, sharing, equal rows, statistics."""

import dataclasses
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import skew
from sklearn.datasets import load_digits

from labelfold import CCDR, LaplacianEigenmaps, NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning, GraphMismatchError, HubnessWarning
from labelfold.graph.components import find_pieces
from labelfold.graph.neighbors import ExactIndex


def clumps(rng, sizes, n_features=2, gap=100.0):
    """Clumps of points along the first axis, 100, 200, 300, ... apart."""
    starts = np.cumsum(gap * np.arange(len(sizes)))
    X = rng.normal(size=(sum(sizes), n_features))
    X[:, 0] += np.repeat(starts, sizes)
    return X, np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("sizes", [(30, 40, 50, 20), (150, 300, 120), (3, 3, 3, 3, 500)])
@pytest.mark.parametrize("n_features", [2, 20])
def test_bridges_are_the_shortest_spanning_tree_of_the_pieces(sizes, n_features):
    X, _ = clumps(np.random.default_rng(0), sizes, n_features)
    graph = NeighborGraph.build(X, n_neighbors=2)
    n_pieces = graph.statistics.n_pieces
    assert n_pieces >= len(sizes)
    joined = graph.connected()
    assert joined.statistics.n_pieces == 1
    assert len(joined.bridges) == n_pieces - 1
    D = cdist(X, X)
    same = graph.pieces[:, None] == graph.pieces[None]
    between = np.full((n_pieces, n_pieces), np.inf)
    np.minimum.at(
        between,
        tuple(graph.pieces[i] for i in np.nonzero(~same)),
        D[~same],
    )
    tree = sp.csgraph.minimum_spanning_tree(np.where(np.isfinite(between), between, 0))
    i, j = joined.bridges.T
    assert np.sum(D[i, j]) == pytest.approx(tree.sum())
    np.testing.assert_allclose(joined.distances[i, j], D[i, j])


def test_a_bridge_weighs_at_least_the_median_of_its_ends_edges():
    X, _ = clumps(np.random.default_rng(0), (30, 30))
    graph = NeighborGraph.build(X, n_neighbors=4)
    joined = graph.connected()
    assert abs(joined.weights - joined.weights.T).max() == 0
    for i, j in joined.bridges:
        ends = np.concatenate([graph.weights[[i]].data, graph.weights[[j]].data])
        assert joined.weights[i, j] == pytest.approx(np.median(ends))


def test_class_nodes_join_pieces():
    X, clump = clumps(np.random.default_rng(0), (30, 30, 30))
    graph = NeighborGraph.build(X, n_neighbors=5)
    groups = np.full(90, -1)
    groups[[0, 31]] = 0  # one class in the first two clumps
    assert len(np.unique(find_pieces(graph.weights, groups))) == 2
    joined = graph.connected(groups)
    assert len(joined.bridges) == 1
    assert {clump[i] for i in joined.bridges[0]} == {1, 2}


def test_bridges_are_chosen_anew_for_other_labels():
    X, _ = clumps(np.random.default_rng(0), (30, 30, 30))
    y = np.full(90, None)
    y[[0, 31]] = "a"  # joins the first two clumps
    with pytest.warns(DisconnectedGraphWarning):
        model = CCDR(n_neighbors=5).fit(X, y)
    with pytest.warns(DisconnectedGraphWarning, match="3 pieces"):
        passed_on = LaplacianEigenmaps(n_neighbors=5).fit(X, graph=model.graph_)
    with pytest.warns(DisconnectedGraphWarning):
        fresh = LaplacianEigenmaps(n_neighbors=5).fit(X)
    assert len(passed_on.graph_.bridges) == 2
    np.testing.assert_array_equal(passed_on.embedding_, fresh.embedding_)


def test_connected_graph_is_returned_as_it_is():
    graph = NeighborGraph.build(np.random.default_rng(0).random((50, 2)), n_neighbors=10)
    assert graph.connected() is graph


def test_precomputed_pieces_without_a_distance_between_them_are_refused():
    X, _ = clumps(np.random.default_rng(0), (20, 20))
    given = NeighborGraph.build(X, n_neighbors=5).distances
    with pytest.raises(ValueError, match="2 pieces with no distance between them"):
        NeighborGraph.build(given, n_neighbors=4, metric="precomputed").connected()
    joined = NeighborGraph.build(cdist(X, X), n_neighbors=4, metric="precomputed").connected()
    assert joined.statistics.n_pieces == 1


def test_precomputed_groups_of_equal_points_are_joined():
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    graph = NeighborGraph.build(cdist(X, X), n_neighbors=5, metric="precomputed")
    assert graph.statistics.n_pieces == 2
    assert len(graph.connected().bridges) == 1
    with pytest.raises(ValueError, match="All 10 rows"):
        NeighborGraph.build(np.zeros((10, 10)), n_neighbors=5, metric="precomputed")


def test_two_huge_pieces_are_bridged_from_a_sample(monkeypatch):
    monkeypatch.setattr("labelfold.graph.neighbors.PAIRS_COMPARED", 3000)
    X, clump = clumps(np.random.default_rng(0), (300, 300))
    joined = NeighborGraph.build(X, n_neighbors=12).connected()
    assert joined.statistics.n_pieces == 1
    i, j = joined.bridges[0]
    shortest = cdist(X[clump == 0], X[clump == 1]).min()
    assert np.linalg.norm(X[i] - X[j]) < 1.05 * shortest


def test_graph_is_searched_once_for_many_fits(monkeypatch):
    X = np.random.default_rng(0).random((60, 3))
    y = np.arange(60) % 3
    graph = NeighborGraph.build(X, n_neighbors=8)

    def no_search(*arguments, **keywords):
        raise AssertionError("searched again")

    monkeypatch.setattr(ExactIndex, "neighbors", no_search)
    for beta in (0.1, 1, 10):
        model = CCDR(beta=beta, n_neighbors=8).fit(X, y, graph=graph)
        assert model.graph_ is graph
    LaplacianEigenmaps(n_neighbors=8).fit(X, graph=graph)


def test_shared_graph_gives_the_same_fit():
    X = np.random.default_rng(0).random((60, 3))
    y = np.arange(60) % 3
    graph = NeighborGraph.build(X, n_neighbors=8)
    a = CCDR(n_neighbors=8).fit(X, y, graph=graph).embedding_
    np.testing.assert_array_equal(a, CCDR(n_neighbors=8).fit(X, y).embedding_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 9}, "n_neighbors=8 here and n_neighbors=9 there"),
        ({"weights": "binary"}, "weights='heat' here and weights='binary'"),
        ({"scale": 3.0}, "scale='auto' here and scale=3.0"),
        ({"metric": "cosine"}, "metric='euclidean' here and metric='cosine'"),
        ({"radius": 1.0}, "radius=None here and radius=1.0"),
    ],
)
def test_mismatch_of_parameters_is_an_error(parameters, message):
    X = np.random.default_rng(0).random((30, 3))
    graph = NeighborGraph.build(X, n_neighbors=8)
    with pytest.raises(GraphMismatchError, match=message):
        LaplacianEigenmaps(**{"n_neighbors": 8, **parameters}).fit(X, graph=graph)


def test_mismatch_of_rows_is_an_error():
    X = np.random.default_rng(0).random((30, 3))
    graph = NeighborGraph.build(X, n_neighbors=8)
    other = X.copy()
    other[3, 1] += 1e-9
    for rows in (X[:20], X[::-1], other, sp.csr_array(X)):
        with pytest.raises(GraphMismatchError, match="other rows"):
            LaplacianEigenmaps(n_neighbors=8).fit(rows, graph=graph)
    LaplacianEigenmaps(n_neighbors=8).fit(X.copy(), graph=graph)
    LaplacianEigenmaps(n_neighbors=8).fit(X.tolist(), graph=graph)


def test_clipped_neighbors_are_no_mismatch():
    X = np.random.default_rng(0).random((6, 3))
    with pytest.warns(UserWarning, match="n_neighbors=12"):
        graph = NeighborGraph.build(X)
    LaplacianEigenmaps().fit(X, graph=graph)


def test_graph_is_immutable():
    graph = NeighborGraph.build(np.random.default_rng(0).random((30, 3)), n_neighbors=8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.scale = 3.0
    for value in (graph, pickle.loads(pickle.dumps(graph))):
        with pytest.raises(ValueError, match="read-only"):
            value.weights.data[0] = 5
    scale = np.ones(30)
    X = np.random.default_rng(0).random((30, 3))
    graph = NeighborGraph.build(X, n_neighbors=8, scale=scale)
    scale[0] = 2
    assert graph.scale[0] == 1
    X[0] += 5
    with pytest.raises(GraphMismatchError):
        LaplacianEigenmaps(n_neighbors=8, scale=np.ones(30)).fit(X, graph=graph)


def test_statistics_count_hubs_and_duplicates():
    # A star: every leaf's nearest is the hub at the centre.
    leaves = 5 * np.eye(12)
    X = np.vstack([np.zeros(12), leaves, leaves[:2]])
    statistics = NeighborGraph.build(X, n_neighbors=2, weights="binary").statistics
    assert statistics.n_points == 15
    assert statistics.n_duplicates == 4
    assert statistics.largest_neighborhood >= 12
    assert statistics.n_pieces == 1


def test_occurrences_count_who_has_a_point_among_its_nearest():
    X = np.random.default_rng(0).normal(size=(80, 5))
    graph = NeighborGraph.build(X, n_neighbors=6)
    nearest = np.argsort(cdist(X, X), axis=1)[:, 1:7]
    counts = np.bincount(nearest.ravel(), minlength=80)
    np.testing.assert_array_equal(graph.occurrences, counts)
    assert graph.statistics.largest_occurrence == counts.max()
    assert graph.statistics.occurrence_skewness == pytest.approx(skew(counts))
    assert graph.statistics.share_of_antihubs == np.mean(counts == 0)
    within = NeighborGraph.build(X, radius=2.0)
    np.testing.assert_array_equal(within.occurrences, np.diff(within.weights.indptr))


def test_points_on_a_circle_have_no_hub():
    angle = np.linspace(0, 2 * np.pi, 41)[:-1]
    X = np.round(np.column_stack([np.cos(angle), np.sin(angle)]), 12)
    statistics = NeighborGraph.build(X, n_neighbors=2).statistics
    assert statistics.largest_occurrence == 2
    assert statistics.occurrence_skewness == 0
    assert statistics.share_of_antihubs == 0


def short_and_long_vectors(n=400):
    """Directions at random; row 7 is short, so that it is near to all others."""
    X = np.random.default_rng(0).normal(size=(n, 60))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[7] *= 0.1
    return X


def test_an_extreme_hub_is_warned_of():
    X = short_and_long_vectors()
    message = r"Point 7 is a hub: it is among the 3 nearest of 399 of the 400 points.*cosine"
    with pytest.warns(HubnessWarning, match=message) as caught:
        NeighborGraph.build(X, n_neighbors=3)
    assert caught[0].filename == __file__
    with pytest.warns(HubnessWarning, match=message) as caught:
        LaplacianEigenmaps(n_neighbors=3).fit(X)
    with pytest.warns(HubnessWarning, match="Other distances"):
        NeighborGraph.build(cdist(X, X), n_neighbors=3, metric="precomputed")


@pytest.mark.parametrize(
    ("X", "parameters"),
    [
        (short_and_long_vectors(), {"n_neighbors": 3, "metric": "cosine"}),
        (short_and_long_vectors(), {"radius": 1.1}),
        (short_and_long_vectors(60), {"n_neighbors": 3}),  # too few to tell
        (load_digits().data, {"n_neighbors": 8}),
        (make_swiss_roll(1000, random_state=0)[0], {"n_neighbors": 12}),
    ],
    ids=["cosine", "radius", "few points", "digits", "Swiss roll"],
)
def test_ordinary_graphs_are_not_warned_of(X, parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HubnessWarning)
        NeighborGraph.build(X, **parameters)


def test_zero_distance_is_not_equality():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    graph = NeighborGraph.build(X, n_neighbors=2, metric="cosine")
    groups = graph.equal_groups
    assert groups[0] != groups[1]  # parallel, at cosine distance 0
    assert groups[3] == groups[4]
