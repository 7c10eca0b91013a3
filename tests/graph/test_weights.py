"""Weights and their scale, by hand."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

from labelfold import NeighborGraph
from labelfold.graph import GraphRecipe
from labelfold.graph.adjacency import row_numbers
from labelfold.graph.neighbor_graph import build_graph


def line(*positions):
    return np.array(positions, dtype=float)[:, None]


@pytest.mark.parametrize(
    ("positions", "n_neighbors", "scale"),
    [
        ((0, 1, 3), 1, 10 / 3 * (1 + 1 + 4)),  # nearest distances 1, 1, 2
        ((0, 0, 1, 3), 2, 10 / 4 * (1 + 1 + 1 + 4)),  # both copies of 0 have 1 as nearest distinct
        ((0, 0, 5, 6), 1, 10 * 1),  # rows with only duplicates in reach are left out
    ],
)
def test_automatic_scale_by_hand(positions, n_neighbors, scale):
    graph = NeighborGraph.build(line(*positions), n_neighbors=n_neighbors)
    assert graph.scale == pytest.approx(scale)


def test_heat_and_binary_weights_by_hand():
    # 3's nearest is 1, 1's nearest is 0: one direction is enough.
    graph = NeighborGraph.build(line(0, 1, 3), n_neighbors=1, scale=2.0)
    expected = [[0, np.exp(-0.5), 0], [np.exp(-0.5), 0, np.exp(-2)], [0, np.exp(-2), 0]]
    np.testing.assert_allclose(graph.adjacency.toarray(), expected)
    graph = NeighborGraph.build(line(0, 1, 3), n_neighbors=1, weights="binary")
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_callable_weights_with_one_scale_a_point():
    # The kernel exp(-Q(d) / c) of CCDR-MC appendix III with Q(d) = d.
    graph = NeighborGraph.build(
        line(0, 1, 3), n_neighbors=1, weights=lambda d, c: np.exp(-d / c), scale=[1.0, 4.0, 9.0]
    )
    W = graph.adjacency.toarray()
    assert W[0, 1] == pytest.approx(np.exp(-1 / 2))
    assert W[1, 2] == pytest.approx(np.exp(-2 / 6))
    np.testing.assert_array_equal(W, W.T)
    # A new row takes the scale of its nearest.
    found = graph.distances_to(line(2.9))
    assert graph.weigh(found, relative=False).toarray()[0, 2] == pytest.approx(np.exp(-0.1 / 9))


def test_relative_heat_with_one_scale_a_point_keeps_ratios():
    graph = NeighborGraph.build(line(0, 1, 3), n_neighbors=2, scale=[1.0, 4.0, 9.0])
    found = graph.distances_to(line(1.8))
    plain = graph.weigh(found, relative=False).toarray()[0]
    relative = graph.weigh(found, relative=True).toarray()[0]
    np.testing.assert_allclose(relative / relative.sum(), plain / plain.sum(), rtol=1e-12)
    assert plain[2] / plain[1] == pytest.approx(np.exp(-(1.2**2) / 6 + 0.8**2 / 4))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda d, c: -d - 1, "negative"),
        (lambda d, c: d * np.nan, "NaN"),
        (lambda d, c: 1.0, "shape"),
    ],
)
def test_bad_callable(function, message):
    with pytest.raises(ValueError, match=message):
        NeighborGraph.build(line(0, 1, 3), n_neighbors=1, weights=function)


def test_an_edge_never_weighs_nothing():
    graph = NeighborGraph.build(line(0, 1, 2, 1e6), n_neighbors=1, scale=1.0)
    assert graph.adjacency[2, 3] > 0
    assert graph.adjacency.nnz == 6


def test_relative_weights_of_a_far_point_keep_their_ratios():
    graph = NeighborGraph.build(line(0, 1, 2, 3), n_neighbors=2, scale=1.0)
    found = graph.distances_to(line(100.0))
    assert graph.weigh(found, relative=False).sum() < 1e-90
    relative = graph.weigh(found, relative=True).toarray()[0]
    np.testing.assert_allclose(relative, [0, 0, np.exp(97**2 - 98**2), 1], rtol=1e-10)


def test_self_tuning_weights_by_hand():
    # Lists of two: 0 -> {1, 3}, 1 -> {0, 3}, 3 -> {1, 0}, 7 -> {3, 1}; s = 3, 2, 3, 6.
    W = NeighborGraph.build(line(0, 1, 3, 7), n_neighbors=2, weights="self-tuning").adjacency
    expected = np.zeros((4, 4))
    expected[0, 1], expected[0, 2] = np.exp(-1 / 6), np.exp(-9 / 9)
    expected[1, 2] = np.exp(-4 / 6)
    expected[1, 3], expected[2, 3] = np.exp(-36 / 12) / 2, np.exp(-16 / 18) / 2  # listed by 7 only
    np.testing.assert_allclose(W.toarray(), expected + expected.T, rtol=1e-14)


@pytest.mark.parametrize("radius", [None, 0.9])
def test_shared_weights_are_self_tuning_ones_times_the_squared_jaccard_index(radius):
    X = np.random.default_rng(0).normal(size=(60, 3))
    settings = {"n_neighbors": 6, "radius": radius}
    tuned, shared = (
        NeighborGraph.build(X, weights=name, **settings) for name in ("self-tuning", "shared")
    )
    lists = [{i, *tuned.nearest[[i]].indices.tolist()} for i in range(60)]
    W, S = tuned.adjacency.tocoo(), shared.adjacency.toarray()
    for i, j, w in zip(W.row, W.col, W.data, strict=True):
        index = len(lists[i] & lists[j]) / len(lists[i] | lists[j])
        assert S[i, j] == pytest.approx(w * max(index**2, 1e-3), rel=1e-12)
    assert abs(shared.adjacency - shared.adjacency.T).max() == 0


@pytest.mark.parametrize("weights", ["self-tuning", "shared"])
def test_weights_with_lists_extend_to_new_rows_and_do_not_depend_on_units(weights):
    X = np.random.default_rng(0).normal(size=(80, 3))
    graph = NeighborGraph.build(X, n_neighbors=7, weights=weights)
    far = NeighborGraph.build(1e3 * X, n_neighbors=7, weights=weights)
    np.testing.assert_allclose(far.adjacency.data, graph.adjacency.data, rtol=1e-9)
    new = X[:20] + 0.2
    distances = graph.distances_to(new)
    found, compact = (one.weigh(distances, relative=False) for one in (graph, graph.for_new_rows()))
    np.testing.assert_array_equal(compact.data, found.data)
    lists = [{i, *graph.nearest[[i]].indices.tolist()} for i in range(80)]
    for i in range(20):
        d, near = distances[[i]].data, distances[[i]].indices
        reach = np.sqrt(np.asarray(graph.scale)[near])  # of the points' lists
        expected = np.exp(-(d**2) / (d.max() * reach)) * np.where(d <= reach, 1, 0.5)
        if weights == "shared":
            common = np.array([len(set(near) & lists[j]) for j in near])
            expected *= np.maximum((common / (7 + 8 - common)) ** 2, 1e-3)
        np.testing.assert_allclose(found[[i]].data, expected, rtol=1e-12)
    relative = graph.weigh(distances, relative=True)
    ratio = relative.data / found.data
    np.testing.assert_allclose(ratio.reshape(20, 7), ratio.reshape(20, 7)[:, :1] * np.ones(7))
    far = graph.distances_to(X[:1] + 1e4)  # where heat itself vanishes
    assert graph.weigh(far, relative=True).max() > 1e-4


@pytest.mark.parametrize("weights", ["heat", "binary", "self-tuning", "shared"])
def test_edges_that_one_end_lists_weigh_less(weights):
    X = np.random.default_rng(0).normal(size=(60, 3))
    full, part = (
        NeighborGraph.build(X, n_neighbors=5, weights=weights, one_sided=one) for one in (1, 0.05)
    )
    listed = (part.nearest.toarray() > 0).astype(int)
    both = (listed + listed.T)[part.adjacency.nonzero()] == 2
    assert 0.2 < both.mean() < 0.9
    expected = full.adjacency.data * np.where(both, 1, 0.05)
    np.testing.assert_allclose(part.adjacency.data, expected, rtol=1e-12)
    usual = NeighborGraph.build(X, n_neighbors=5, weights=weights)
    factor = 0.5 if weights in ("self-tuning", "shared") else 1.0
    expected = full.adjacency.data * np.where(both, 1, factor)
    np.testing.assert_allclose(usual.adjacency.data, expected, rtol=1e-12)
    other = NeighborGraph.build(X, n_neighbors=9, weights="binary")
    fewer = other.reweighed(5, weights, one_sided=0.05)
    np.testing.assert_allclose(fewer.adjacency.data, part.adjacency.data, rtol=1e-12)
    for wrong in (0, -1, 2, "or"):
        with pytest.raises(ValueError, match="one_sided"):
            NeighborGraph.build(X, one_sided=wrong)


def test_lists_keep_neighbors_as_near_as_their_last():
    X = np.random.default_rng(0).integers(0, 4, size=(80, 4)).astype(float)

    def build(X, n_neighbors, weights):
        recipe = GraphRecipe(n_neighbors, weights=weights, most_ties=70)
        return build_graph(X, recipe, neighbor_search="exact", random_state=None, n_jobs=None)

    graph = build(X, 3, "shared")
    distances = euclidean_distances(X) + np.diag(np.full(80, np.inf))
    expected = distances <= np.sort(distances, axis=1)[:, 2:3] * (1 + 1e-12)
    assert expected.sum(axis=1).max() > 5
    listed = np.zeros((80, 80), dtype=bool)
    listed[row_numbers(graph.nearest), graph.nearest.indices] = True
    np.testing.assert_array_equal(listed, expected)
    order = np.random.default_rng(1).permutation(80)
    other = build(X[order], 3, "shared")
    np.testing.assert_allclose(
        other.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(order, order)], atol=1e-12
    )
    fewer = build(X, 5, "binary").reweighed(3, "shared")
    np.testing.assert_allclose(fewer.adjacency.toarray(), graph.adjacency.toarray(), atol=1e-12)


def test_equal_rows_and_a_given_scale_with_self_tuning_weights():
    graph = NeighborGraph.build(line(0, 0, 0, 0, 1, 2), n_neighbors=2, weights="self-tuning")
    assert np.all(np.isfinite(graph.adjacency.data))
    assert np.all(np.asarray(graph.scale) > 0)
    with pytest.raises(ValueError, match="finds the scale of every point itself"):
        NeighborGraph.build(line(0, 1, 3), n_neighbors=1, weights="shared", scale=1.0)


def test_a_bridge_of_shared_weights_has_the_median_weight_of_its_ends():
    X = np.concatenate([np.random.default_rng(0).normal(size=(30, 2)) + 4.5 * k for k in (0, 1)])
    graph = NeighborGraph.build(X, n_neighbors=5, weights="shared")
    bridged = graph.bridged()
    (i, j), ends = bridged.bridges[0], graph.adjacency
    assert bridged.adjacency[i, j] == np.median(np.concatenate([ends[[i]].data, ends[[j]].data]))
