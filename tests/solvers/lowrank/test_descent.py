"""The last steps of a solve: hard sides hold, distances come back, all else is left aside."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from labelfold.datasets import make_swiss_roll
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import pairs_above
from labelfold.solvers.lowrank import (
    AnchorSides,
    DistanceProblem,
    HalfSpaces,
    Spread,
    descent,
    measure_errors,
)
from labelfold.solvers.lowrank.descent import Descent, restore, satisfies
from labelfold.solvers.lowrank.sides import NO_SIDES
from labelfold.threads import Team

TOL = 1e-3


def restored(problem, R):
    return restore(problem, R, tol=TOL, max_steps=400, team=Team(1), exact=True)


def error(problem, R):
    return measure_errors(problem, R).decisive


@pytest.fixture(scope="module")
def roll():
    """A roll of two classes with its sides, and a map of it that is shaken."""
    X, y, _ = make_swiss_roll(120, n_bands=2, random_state=0)
    graph = NeighborGraph.build(X, n_neighbors=5).connected()
    edges, lengths = pairs_above(graph.distances)
    labeled = np.arange(40)
    sides = HalfSpaces(labeled, np.zeros(40, dtype=np.intp), 2.0 * y[:40] - 1, 1.0)
    problem, unit = DistanceProblem(120, edges, lengths**2, Spread(1.0), sides=sides).scaled()
    noise = 0.1 * np.random.default_rng(0).standard_normal((120, 4))
    first = np.zeros(120)
    first[:40] = 0.2 * sides.signs  # all short of the margin
    return problem, np.column_stack([first, X / unit]) + noise


class TestHardSides:
    def test_hold_exactly_and_the_error_falls(self, roll):
        problem, R = roll
        assert np.min(problem.sides.slacks(R)) < -0.1
        found = restored(problem, R)
        # To the last bit of a clipped coordinate.
        assert np.min(problem.sides.slacks(found)) >= -1e-15
        assert error(problem, found) <= TOL < 0.05 * error(problem, problem.sides.clipped(R))
        assert satisfies(problem, found, TOL)

    def test_hold_where_distances_have_to_give_way(self):
        """Two points at distance 1 that must be 5 apart."""
        sides = HalfSpaces(np.array([0, 1]), np.array([0, 0]), np.array([1.0, -1.0]), 2.5)
        problem = DistanceProblem(2, np.array([[0, 1]]), np.ones(1), Spread(), sides=sides)
        found = restored(problem, np.random.default_rng(0).standard_normal((2, 2)))
        assert found[:, 0].tolist() == [2.5, -2.5]
        assert found[0, 1] == pytest.approx(found[1, 1], abs=1e-6)
        assert not satisfies(problem, found, TOL)

    def test_distances_give_way_where_that_costs_least(self):
        """A short and a long edge between points 5 apart; squared distances count alike."""
        sides = HalfSpaces(np.array([0, 2]), np.array([0, 0]), np.array([1.0, -1.0]), 2.5)
        edges, squares = np.array([[0, 1], [1, 2]]), np.array([0.25, 4.0])
        problem = DistanceProblem(3, edges, squares, Spread(), sides=sides)
        found = restored(problem, np.array([[1.0, 0.1], [0.0, 0.0], [-1.0, 0.2]]))
        assert found[[0, 2], 0].tolist() == [2.5, -2.5]

        def off(x):
            return np.hypot((2.5 - x) ** 2 - 0.25, (x + 2.5) ** 2 - 4.0) / np.hypot(0.25, 4.0)

        least = minimize_scalar(off, bounds=(-2.5, 2.5), method="bounded").fun
        assert least <= measure_errors(problem, found).rms_squared <= 1.05 * least

    def test_a_map_within_tolerance_stays_as_it_is(self):
        sides = HalfSpaces(np.array([0, 1]), np.array([0, 0]), np.array([1.0, -1.0]), 0.3)
        problem = DistanceProblem(2, np.array([[0, 1]]), np.ones(1), Spread(1.0), sides=sides)
        R = np.array([[0.5, 0.0], [-0.5, 0.0]])
        assert np.array_equal(restored(problem, R), R)


class TestAnchors:
    """A path of two unit edges, whose ends must be on one side of the mean: K[0, 2] >= 0.05."""

    SIDES = AnchorSides(np.array([2]), np.array([0]), np.array([1.0]), 0.05)
    PROBLEM = DistanceProblem(3, np.array([[0, 1], [1, 2]]), np.ones(2), Spread(), sides=SIDES)
    BENT = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])  # K[0, 2] = -4 / 9

    @pytest.mark.parametrize("factor", [1.0, 1.05])
    def test_hold_within_tolerance_where_distances_were_right_or_wrong(self, factor):
        assert self.SIDES.slacks(factor * self.BENT) < -0.4
        assert satisfies(self.PROBLEM, restored(self.PROBLEM, factor * self.BENT), TOL)


class TestSteps:
    def count(self, monkeypatch, problem, R, max_steps):
        """How many steps are asked for, where no map is within tolerance."""
        asked = []

        class Counting(Descent):
            def run(self, n_steps, least):
                asked.append(n_steps)
                super().run(n_steps, least)

        monkeypatch.setattr(descent, "Descent", Counting)
        restore(problem, R, tol=1e-15, max_steps=max_steps, team=Team(1), exact=True)
        return sum(asked)

    @pytest.mark.parametrize(("max_steps", "expected"), [(10, 10), (70, 70), (10**6, 400)])
    def test_without_sides(self, roll, monkeypatch, max_steps, expected):
        problem, R = roll
        bare = replace(problem, sides=NO_SIDES)
        assert self.count(monkeypatch, bare, R, max_steps) == expected


def test_soft_sides_smoothness_and_objective_are_left_aside(roll):
    problem, R = roll
    soft = replace(problem, sides=replace(problem.sides, force=1.0), smoothness=2.0)
    bare = replace(problem, sides=NO_SIDES, spread=Spread())
    assert np.array_equal(restored(soft, R), restored(bare, R))
    assert error(problem, restored(soft, R)) <= TOL
    assert not np.array_equal(restored(problem, R), restored(bare, R))
    rough = replace(problem, smoothness=2.0)
    assert np.array_equal(restored(rough, R), restored(problem, R))


class TestSatisfies:
    R = np.array([[0.5, 0.0], [-0.5, 0.0]])

    def problem(self, sides=NO_SIDES, square=1.0):
        edges = np.array([[0, 1]])
        return DistanceProblem(2, edges, np.array([square]), Spread(), sides=sides)

    def sides(self, margin, force=np.inf):
        return HalfSpaces(np.array([0, 1]), np.array([0, 0]), np.array([1.0, -1.0]), margin, force)

    def test_distances(self):
        assert satisfies(self.problem(), self.R, TOL)
        assert satisfies(self.problem(square=1 / 1.0009), self.R, TOL)
        assert not satisfies(self.problem(square=1 / 1.0011), self.R, TOL)
        assert not satisfies(self.problem(self.sides(0.3), square=1 / 1.0011), self.R, TOL)

    def test_hard_sides_within_the_tolerance(self):
        assert satisfies(self.problem(self.sides(0.5009)), self.R, TOL)
        assert not satisfies(self.problem(self.sides(0.5011)), self.R, TOL)

    def test_soft_sides_do_not_count(self):
        assert satisfies(self.problem(self.sides(5.0, force=1.0)), self.R, TOL)

    def test_anchors_fall_short_along_their_normal(self):
        """K[0, 1] = -1/4 and the anchor is 1/2 from the mean."""
        for margin, expected in ((0.25 + 0.4 * TOL, True), (0.25 + 0.6 * TOL, False)):
            sides = AnchorSides(np.array([1]), np.array([0]), np.array([-1.0]), margin)
            assert satisfies(self.problem(sides), self.R, TOL) == expected
