"""The augmented Lagrangian against its formula, and restoration: sides hold, distances return."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize_scalar

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
from labelfold.solvers.lowrank.descent import (
    AugmentedLagrangian,
    Descent,
    Multipliers,
    restore,
    satisfies,
    stays_sparse,
)
from labelfold.solvers.lowrank.sides import NO_SIDES
from labelfold.threads import ThreadPool

TOL, SIGMA = 1e-3, 3.0


def restored(problem, R):
    return restore(problem, R, tol=TOL, max_steps=400, pool=ThreadPool(1), exact=True)


def error(problem, R):
    return measure_errors(problem, R).decisive


@pytest.fixture(scope="module")
def roll():
    """A roll of two classes with its sides, and a map of it that is shaken."""
    X, y, _ = make_swiss_roll(120, n_bands=2, random_state=0)
    graph = NeighborGraph.build(X, n_neighbors=5).bridged()
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
        restore(problem, R, tol=1e-15, max_steps=max_steps, pool=ThreadPool(1), exact=True)
        return sum(asked)

    @pytest.mark.parametrize(("max_steps", "expected"), [(10, 10), (70, 70), (10**6, 400)])
    def test_without_sides(self, roll, monkeypatch, max_steps, expected):
        problem, R = roll
        bare = replace(problem, sides=NO_SIDES)
        assert self.count(monkeypatch, bare, R, max_steps) == expected


def test_soft_sides_and_objective_are_ignored(roll):
    problem, R = roll
    soft = replace(problem, sides=replace(problem.sides, force=1.0))
    bare = replace(problem, sides=NO_SIDES, spread=Spread())
    assert np.array_equal(restored(soft, R), restored(bare, R))
    assert error(problem, restored(soft, R)) <= TOL
    assert not np.array_equal(restored(problem, R), restored(bare, R))


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


TENSION, SOFT = 2.3, {"force": 0.6}


def make_problem(seed=0, n=9, with_caps=True, with_walls=True, variance=0.7, force=np.inf):
    rng = np.random.default_rng(seed)
    edges = np.array([(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.5])
    is_cap = rng.random(len(edges)) < 0.4 if with_caps else None
    halves = NO_SIDES
    if with_walls:
        halves = HalfSpaces(
            np.array([0, 3, 3]), np.array([0, 0, 1]), np.array([1.0, -1.0, 1.0]), 0.3, force
        )
    pairs, weights = np.array([[0, 8], [2, 7]]), np.array([0.5, 1.5])
    spread = Spread(variance, pairs, weights, masses=rng.uniform(1, 3, n))
    squares = rng.uniform(0.5, 2, len(edges))
    problem = DistanceProblem(n, edges, squares, spread, is_cap, halves)
    y = rng.standard_normal(len(edges))
    y = np.where(problem.caps, np.abs(y), y)
    mu = rng.uniform(0, 1, 3 if with_walls else 0)
    R = rng.standard_normal((n, 3))
    factors = rng.uniform(1, 4, len(edges))
    return problem, R, Multipliers(y, mu), factors


def formula(problem, R, y, factors):
    """F, written out as in MATHEMATICS: one term per constraint.

    The hinge of a soft side is a line beyond its largest force p T.
    """
    total = -problem.spread.value(R)
    h = problem.lengths(R) - problem.squares
    for e in range(len(h)):
        s = SIGMA * factors[e] / problem.squares[e]
        t = y.edges[e] + s * h[e]
        if problem.caps[e]:
            t = max(t, 0.0)
        total += (t**2 - y.edges[e] ** 2) / (2 * s)
    most = problem.sides.force * TENSION
    for mu, g in zip(y.sides, problem.sides.slacks(R), strict=True):
        t = max(mu - SIGMA * g, 0.0)
        total += (min(t, most) ** 2 - mu**2) / (2 * SIGMA)
        if t > most:
            total += most * (t - most) / SIGMA
    return total


def begin(problem, R, y, factors):
    lagrangian = AugmentedLagrangian(problem, ThreadPool(1), TENSION)
    return Descent(lagrangian, R, y, SIGMA, factors, exact=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "parts", [{"with_caps": False, "with_walls": False}, {"with_walls": False}, {}, SOFT]
)
def test_gradient_is_the_derivative(seed, parts):
    problem, R, y, factors = make_problem(seed, **parts)
    if parts is SOFT:
        y = replace(y, sides=4 * y.sides)  # enough for some to be cut

    def value(flat):
        return formula(problem, flat.reshape(R.shape), y, factors)

    expected = approx_fprime(R.ravel(), value, 1e-6).reshape(R.shape)
    assert pytest.approx(expected, rel=1e-4, abs=1e-3) == begin(problem, R, y, factors).G


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("parts", [{}, {"force": 40.0}, {"force": np.inf}])
def test_a_step_ends_at_a_minimum_along_its_direction(seed, parts):
    problem, R, y, factors = make_problem(seed, **parts)
    if parts:
        y = replace(y, sides=100 * y.sides)  # walls that count beside the edges
    descent = begin(problem, R, y, factors)
    descent.run(1, 0.0)
    P = descent.R - R  # the step itself

    def along(a):
        return formula(problem, R + a * P, y, factors)

    def slope(a):
        return (along(a + 1e-6) - along(a - 1e-6)) / 2e-6

    assert along(1.0) < along(0.0)
    assert abs(slope(1.0)) <= 1e-3 * abs(slope(0.0))


@pytest.mark.parametrize("parts", [{}, SOFT])
def test_forces_and_gradient_follow_the_steps(parts):
    problem, R, y, factors = make_problem(1, **parts)
    descent = begin(problem, R, y, factors)
    descent.run(25, 0.0)
    again = begin(problem, descent.R, y, factors)
    assert descent.t == pytest.approx(again.t, rel=1e-9, abs=1e-9)
    assert pytest.approx(again.G, rel=1e-8, abs=1e-8) == descent.G
    assert descent.multipliers.sides == pytest.approx(again.multipliers.sides, abs=1e-9)
    assert np.all(descent.multipliers.sides <= problem.sides.force * TENSION)


def test_multipliers_are_forces_in_the_problems_order():
    problem, R, y, factors = make_problem(2)
    h = problem.lengths(R) - problem.squares
    expected = y.edges + SIGMA * factors / problem.squares * h
    expected = np.where(problem.caps, np.maximum(expected, 0), expected)
    assert begin(problem, R, y, factors).multipliers.edges == pytest.approx(expected)


def test_descent_ends_where_the_gradient_vanishes():
    problem, R, y, factors = make_problem(3)
    before, descent = R.copy(), begin(problem, R, y, factors)
    descent.run(2000, 1e-8)
    assert np.linalg.norm(descent.G) <= 1e-8
    assert np.array_equal(R, before)
    descent.run(3000, 0.0)  # far beyond what rounding allows
    assert np.isfinite(descent.R).all()
    assert formula(problem, descent.R, y, factors) <= formula(problem, R, y, factors)


class TestCurvature:
    def test_is_the_mean_of_the_hessian_over_directions(self):
        """For a map whose edges point everywhere alike, A is the Hessian's average block."""
        problem, _, y, factors = make_problem(0, with_caps=False, with_walls=False, variance=0.0)
        rank, rng = 3, np.random.default_rng(1)
        lagrangian = AugmentedLagrangian(problem, ThreadPool(1))
        s = lagrangian.stiffness(SIGMA, factors)
        t = np.abs(y.edges)
        A = lagrangian.curvature(t, s, SIGMA, rank).toarray()
        i, j = problem.edges[0]
        u = rng.standard_normal((100_000, rank))
        u *= np.sqrt(problem.squares[0]) / np.linalg.norm(u, axis=1)[:, None]
        block = 2 * t[0] * np.eye(rank) + 4 * s[0] * np.einsum("ni,nj->ij", u, u) / len(u)
        assert -A[i, j] == pytest.approx(np.trace(block) / rank, rel=1e-6)


def test_factors_of_sheets_are_sparse_and_of_clouds_are_not():
    def grid(*sizes):
        numbers = np.arange(np.prod(sizes)).reshape(sizes)
        return np.concatenate(
            [
                np.column_stack(
                    [
                        np.take(numbers, range(size - 1), axis).ravel(),
                        np.take(numbers, range(1, size), axis).ravel(),
                    ]
                )
                for axis, size in enumerate(sizes)
            ]
        )

    assert stays_sparse(40 * 100, grid(40, 100))
    rng = np.random.default_rng(0)
    assert not stays_sparse(4000, rng.integers(0, 4000, (20_000, 2)))
    assert stays_sparse(500, rng.integers(0, 500, (20_000, 2)))
