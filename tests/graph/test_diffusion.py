"""Heat on small graphs, against the matrix exponential."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm

from labelfold import NeighborGraph
from labelfold.graph.diffusion import HeatDiffusion


def make_graph(n=200, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return NeighborGraph.build(X, n_neighbors=6, weights="shared")


def kernel(adjacency, time):
    W = adjacency.toarray()
    roots = np.sqrt(W.sum(axis=1))
    return expm(-time * (np.eye(len(W)) - W / np.outer(roots, roots)))


@pytest.mark.parametrize("time", [0.3, 2.0, 30.0, 400.0])
def test_heat_is_the_matrix_exponential(time):
    graph = make_graph()
    H = kernel(graph.adjacency, time)
    block = HeatDiffusion(graph.adjacency).spread(np.eye(graph.n_points), time)
    np.testing.assert_allclose(block, H, atol=1e-3 * H.max())
    one = graph.diffusion.spread(np.eye(graph.n_points)[3], time)
    np.testing.assert_allclose(one, block[3], atol=1e-12)


@pytest.mark.parametrize("n_regions", [100, 40, 12])
def test_time_by_the_trace(n_regions):
    adjacency = make_graph(300).adjacency
    time, found = HeatDiffusion(adjacency).time_of(n_regions)
    assert found == pytest.approx(n_regions)
    assert np.trace(kernel(adjacency, time)) == pytest.approx(n_regions, rel=0.2)


def test_times_that_were_found_do_not_change():
    adjacency = make_graph().adjacency
    both = HeatDiffusion(adjacency)
    first = both.time_of(50)
    both.time_of(5)
    assert both.time_of(50) == first == HeatDiffusion(adjacency).time_of(50)


def test_more_regions_than_components_at_any_time():
    two = sp.csr_array(sp.block_diag([make_graph(50).adjacency, make_graph(50, 1).adjacency]))
    time, found = HeatDiffusion(two).time_of(1)
    assert time == pytest.approx(512)
    assert found == pytest.approx(2, rel=0.5)


def test_heat_stays_on_a_row_without_edges():
    adjacency = sp.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=float))
    spread = HeatDiffusion(adjacency).spread(np.array([1.0, 0.0, 1.0]), 50.0)
    np.testing.assert_allclose(spread, [0.5, 0.5, 1], atol=1e-3)
