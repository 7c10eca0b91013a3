"""Starts see the edges only and need keep nothing; geodesic ones are Isomap's."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.manifold import Isomap

from labelfold import NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.graph.adjacency import pairs_above
from labelfold.solvers.lowrank import DistanceProblem, HalfSpaces, Spread, starts
from labelfold.solvers.lowrank.starts import Columns, geodesic_start, principal, random_start


@pytest.fixture(scope="module")
def roll():
    X, _, coordinates = make_swiss_roll(600, random_state=0)
    graph = NeighborGraph.build(X, n_neighbors=8).bridged()
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


@pytest.mark.parametrize("make", [geodesic_start, random_start])
def test_starts_scale_with_the_data_and_repeat(make, roll):
    _, problem, _ = roll
    bigger = DistanceProblem(600, problem.edges, problem.squares * 1e6, problem.spread)
    R = make(problem, 3)
    assert R.shape == (600, 3)
    assert np.array_equal(R, make(problem, 3))
    lengths = np.linalg.norm(R), np.linalg.norm(make(bigger, 3))
    assert lengths[1] == pytest.approx(1000 * lengths[0], rel=1e-3)


@pytest.mark.parametrize("make", [geodesic_start, random_start])
def test_two_points(make):
    problem = DistanceProblem(2, np.array([[0, 1]]), np.array([4.0]), Spread(1.0))
    R = make(problem, 3)
    assert R.shape == (2, 3)
    assert np.isfinite(R).all()


def path(n):
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return DistanceProblem(n, edges, np.ones(n - 1), Spread(1.0))


def centered_gram(R):
    R = R - R.mean(axis=0)
    return R @ R.T


class TestPrincipal:
    R = np.random.default_rng(0).standard_normal((20, 4)) @ np.diag([1, 2, 3, 4.0]) + 5

    @pytest.mark.parametrize("n_axes", [0, 1])
    def test_axes_stay_and_the_others_are_principal(self, n_axes):
        turned = principal(self.R, n_axes)
        others = turned[:, n_axes:]
        assert np.array_equal(turned[:, :n_axes], self.R[:, :n_axes])
        assert others.mean(axis=0) == pytest.approx(np.zeros(4 - n_axes), abs=1e-12)
        products = others.T @ others
        assert products == pytest.approx(np.diag(np.diag(products)), abs=1e-9)
        assert np.all(np.diff(np.diag(products)) <= 0)
        assert centered_gram(turned) == pytest.approx(centered_gram(self.R))

    def test_columns_leave_axes_alone(self):
        halves = HalfSpaces(np.array([0]), np.array([0]), np.array([1.0]), 0.1)
        problem = replace(path(20), sides=halves)
        R = self.R * [0, 1, 1, 1e-9] + [0.1, 0, 0, 0]
        for rank in (2, 4, None):
            columns = Columns(problem, rank, seed=0)
            assert np.array_equal(columns.begin(R)[:, 0], R[:, 0])
            for error in (1e-4, 10.0):  # the axis is weak beside the latter, and not revived
                assert np.array_equal(columns.tend(R, error)[:, 0], R[:, 0])
                assert np.array_equal(columns.used(R, error)[:, 0], R[:, 0])
        assert Columns(problem, None, seed=0).used(1e-6 * R, 1.0).shape == (20, 1)

    def test_there_is_a_column_for_every_axis(self):
        halves = HalfSpaces(np.array([0, 1, 2]), np.arange(3), np.ones(3), 0.1)
        problem = DistanceProblem(3, np.array([[0, 1], [1, 2]]), np.ones(2), Spread(), sides=halves)
        assert Columns(problem, None, seed=0).begin(np.ones((3, 1))).shape[1] >= 3


class TestColumns:
    def test_dead_ones_are_revived_below_the_violation(self):
        R = np.zeros((60, 4))
        R[:, 0] = np.arange(60.0)
        tended = Columns(path(60), 4, seed=0).tend(R, 1e-4)
        sizes = np.mean(tended**2, axis=0)
        assert sizes[0] == pytest.approx(np.var(R[:, 0]))
        assert np.all((sizes[1:] > 1e-7) & (sizes[1:] < 1e-5))

    def test_more_are_added_while_all_are_used(self):
        R = np.random.default_rng(0).standard_normal((60, 4))
        assert Columns(path(60), None, seed=0).tend(R, 1e-4).shape == (60, 7)
        assert Columns(path(60), 4, seed=0).tend(R, 1e-4).shape == (60, 4)

    def test_idle_ones_are_dropped_where_the_rank_is_free(self):
        R = np.random.default_rng(0).standard_normal((60, 4)) * [1, 1, 1e-4, 1e-4]
        assert Columns(path(60), None, seed=0).used(R, 1e-4).shape == (60, 2)
        assert Columns(path(60), 4, seed=0).used(R, 1e-4).shape == (60, 4)

    def test_a_start_keeps_its_strongest_columns(self):
        R = np.random.default_rng(0).standard_normal((60, 6)) * [1, 9, 1, 1, 8, 1]
        kept = Columns(path(60), 2, seed=0).begin(R)
        assert np.sum(kept**2) > 0.9 * np.sum(R[:, [1, 4]] ** 2)
