"""Values, gradients and line searches of the augmented Lagrangian against its formula."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from labelfold.solvers.lowrank import DistanceProblem, HalfSpaces, Spread
from labelfold.solvers.lowrank.descent import Descent, stays_sparse
from labelfold.solvers.lowrank.lagrangian import AugmentedLagrangian, Multipliers
from labelfold.solvers.lowrank.sides import NO_SIDES
from labelfold.threads import Team

SIGMA = 3.0


TENSION, SOFT = 2.3, {"force": 0.6, "smoothness": 0.7}


def make_problem(
    seed=0, n=9, with_caps=True, with_walls=True, variance=0.7, force=np.inf, smoothness=0.0
):
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
    problem = DistanceProblem(n, edges, squares, spread, is_cap, halves, smoothness=smoothness)
    y = rng.standard_normal(len(edges))
    y = np.where(problem.caps, np.abs(y), y)
    mu = rng.uniform(0, 1, 3 if with_walls else 0)
    R = rng.standard_normal((n, 3))
    factors = rng.uniform(1, 4, len(edges))
    return problem, R, Multipliers(y, mu), factors


def roughness(problem, R):
    """w T sum_e sum_c (R[i, c] - R[j, c])^2 over the axes."""
    i, j = problem.edges.T
    steps = (R[i] - R[j])[:, : problem.n_axes]
    return problem.smoothness * TENSION * np.sum(steps**2)


def formula(problem, R, y, factors):
    """F, written out as in MATHEMATICS: one term a constraint.

    The hinge of a soft side is a line beyond its largest force p T.
    """
    total = roughness(problem, R) - problem.spread.value(R)
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


def start(problem, R, y, factors):
    lagrangian = AugmentedLagrangian(problem, Team(1), TENSION)
    return Descent(lagrangian, R, y, SIGMA, factors, exact=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "parts", [{"with_caps": False, "with_walls": False}, {"with_walls": False}, {}, SOFT]
)
def test_gradient_is_the_derivative(seed, parts):
    problem, R, y, factors = make_problem(seed, **parts)
    if parts is SOFT:
        y = replace(y, sides=4 * y.sides)  # enough for some to be cut

    def gradient(value):
        return approx_fprime(R.ravel(), lambda flat: value(flat.reshape(R.shape)), 1e-6)

    expected = gradient(lambda R: formula(problem, R, y, factors)).reshape(R.shape)
    G = start(problem, R, y, factors).G
    assert pytest.approx(expected, rel=1e-4, abs=1e-3) == G
    # The smoothness alone, to its own accuracy: of three columns, two are axes.
    rough = G - start(replace(problem, smoothness=0.0), R, y, factors).G
    alone = gradient(lambda R: roughness(problem, R)).reshape(R.shape)
    assert rough == pytest.approx(alone, abs=2e-5 * np.max(np.abs(expected)))
    assert not rough[:, 2].any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "parts", [{}, {"force": 40.0, "smoothness": 0.7}, {"force": np.inf, "smoothness": 0.7}]
)
def test_a_step_ends_at_a_minimum_along_its_direction(seed, parts):
    problem, R, y, factors = make_problem(seed, **parts)
    if parts:
        y = replace(y, sides=100 * y.sides)  # walls that count beside the edges
    descent = start(problem, R, y, factors)
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
    descent = start(problem, R, y, factors)
    descent.run(25, 0.0)
    anew = start(problem, descent.R, y, factors)
    assert descent.t == pytest.approx(anew.t, rel=1e-9, abs=1e-9)
    assert pytest.approx(anew.G, rel=1e-8, abs=1e-8) == descent.G
    assert descent.multipliers.sides == pytest.approx(anew.multipliers.sides, abs=1e-9)
    assert np.all(descent.multipliers.sides <= problem.sides.force * TENSION)


def test_multipliers_are_forces_in_the_problems_order():
    problem, R, y, factors = make_problem(2)
    h = problem.lengths(R) - problem.squares
    expected = y.edges + SIGMA * factors / problem.squares * h
    expected = np.where(problem.caps, np.maximum(expected, 0), expected)
    assert start(problem, R, y, factors).multipliers.edges == pytest.approx(expected)


def test_descent_ends_where_the_gradient_vanishes():
    problem, R, y, factors = make_problem(3)
    before, descent = R.copy(), start(problem, R, y, factors)
    descent.run(2000, 1e-8)
    assert np.linalg.norm(descent.G) <= 1e-8
    assert np.array_equal(R, before)
    descent.run(3000, 0.0)  # far beyond what rounding allows
    assert np.isfinite(descent.R).all()
    assert formula(problem, descent.R, y, factors) <= formula(problem, R, y, factors)


def test_costs_one_by_one():
    problem, R, _, _ = make_problem(2, **SOFT)
    sides, hinges = problem.sides, 0.0
    for i, c, y in zip(sides.points, sides.axes, sides.signs, strict=True):
        hinges += sides.force * TENSION * max(sides.margin - y * R[i, c], 0.0)
    assert hinges > 0

    def costs(problem):
        return AugmentedLagrangian(problem, Team(1), TENSION).costs(R)

    rough = roughness(problem, R)
    assert costs(problem) == pytest.approx(rough + hinges)
    assert costs(replace(problem, smoothness=0.0)) == pytest.approx(hinges)
    hard = replace(problem, sides=replace(sides, force=np.inf))
    assert costs(hard) == pytest.approx(rough)
    assert costs(replace(problem, sides=NO_SIDES)) == 0.0  # no axes to be smooth along


class TestCurvature:
    def test_is_the_mean_of_the_hessian_over_directions(self):
        """For a map whose edges point everywhere alike, A is the Hessian's average block."""
        problem, _, y, factors = make_problem(0, with_caps=False, with_walls=False, variance=0.0)
        rank, rng = 3, np.random.default_rng(1)
        lagrangian = AugmentedLagrangian(problem, Team(1))
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
