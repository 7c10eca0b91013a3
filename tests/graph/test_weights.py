"""Weights and their scale, by hand."""

import numpy as np
import pytest

from labelfold import NeighborGraph


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
    np.testing.assert_allclose(graph.weights.toarray(), expected)
    graph = NeighborGraph.build(line(0, 1, 3), n_neighbors=1, weights="binary")
    np.testing.assert_array_equal(graph.weights.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_callable_weights_with_one_scale_a_point():
    # The kernel exp(-Q(d) / c) of CCDR-MC appendix III with Q(d) = d.
    graph = NeighborGraph.build(
        line(0, 1, 3), n_neighbors=1, weights=lambda d, c: np.exp(-d / c), scale=[1.0, 4.0, 9.0]
    )
    W = graph.weights.toarray()
    assert W[0, 1] == pytest.approx(np.exp(-1 / 2))
    assert W[1, 2] == pytest.approx(np.exp(-2 / 6))
    np.testing.assert_array_equal(W, W.T)
    # A new point takes the scale of its nearest.
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
    assert graph.weights[2, 3] > 0
    assert graph.weights.nnz == 6


def test_relative_weights_of_a_far_point_keep_their_ratios():
    graph = NeighborGraph.build(line(0, 1, 2, 3), n_neighbors=2, scale=1.0)
    found = graph.distances_to(line(100.0))
    assert graph.weigh(found, relative=False).sum() < 1e-90
    relative = graph.weigh(found, relative=True).toarray()[0]
    np.testing.assert_allclose(relative, [0, 0, np.exp(97**2 - 98**2), 1], rtol=1e-10)
