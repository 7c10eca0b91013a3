"""Starts see the edges only and need keep nothing; geodesic ones are Isomap's."""

import numpy as np
import pytest
from sklearn.manifold import Isomap

from labelfold import NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.graph.adjacency import pairs_above
from labelfold.solvers.lowrank import starts
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread
from labelfold.solvers.lowrank.starts import geodesic_start, random_start, smooth_start


@pytest.fixture(scope="module")
def roll():
    X, _, coordinates = make_swiss_roll(600, random_state=0)
    graph = NeighborGraph.build(X, n_neighbors=8).connected()
    edges, lengths = pairs_above(graph.distances)
    return X, DistanceProblem(600, edges, lengths**2, Spread(1.0)), coordinates


def correlation(map_, coordinate):
    A = np.column_stack([map_, np.ones(len(map_))])
    return np.corrcoef(A @ np.linalg.lstsq(A, coordinate, rcond=None)[0], coordinate)[0, 1]


def test_geodesic_start_with_all_landmarks_is_isomap(monkeypatch, roll):
    X, problem, _ = roll
    monkeypatch.setattr(starts, "N_LANDMARKS", 600)
    ours = geodesic_start(problem, 2)
    theirs = Isomap(n_neighbors=8).fit_transform(X)
    for k in range(2):
        a, b = ours[:, k] - ours[:, k].mean(), theirs[:, k]
        assert abs(a @ b) / (b @ b) == pytest.approx(1, abs=1e-6)


def test_geodesic_start_with_few_landmarks_is_near(roll):
    _, problem, coordinates = roll
    R = geodesic_start(problem, 4)
    assert correlation(R[:, :2], coordinates[:, 0]) > 0.999


def test_smooth_start_is_unrolled_and_about_isometric(roll):
    _, problem, coordinates = roll
    R = smooth_start(problem, 4)
    assert correlation(R, coordinates[:, 0]) > 0.99
    assert 0.3 < np.sum(problem.lengths(R)) / np.sum(problem.squares) < 3


@pytest.mark.parametrize("make", [geodesic_start, smooth_start, random_start])
def test_starts_scale_with_the_data_and_repeat(make, roll):
    _, problem, _ = roll
    bigger = DistanceProblem(600, problem.edges, problem.squares * 1e6, problem.spread)
    R = make(problem, 3)
    assert R.shape == (600, 3)
    assert np.array_equal(R, make(problem, 3))
    lengths = np.linalg.norm(R), np.linalg.norm(make(bigger, 3))
    assert lengths[1] == pytest.approx(1000 * lengths[0], rel=1e-3)


@pytest.mark.parametrize("make", [geodesic_start, smooth_start, random_start])
def test_two_points(make):
    problem = DistanceProblem(2, np.array([[0, 1]]), np.array([4.0]), Spread(1.0))
    R = make(problem, 3)
    assert R.shape == (2, 3)
    assert np.isfinite(R).all()
