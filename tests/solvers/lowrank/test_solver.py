"""The low-rank solver against closed forms, the convex solver and its own certificate."""

from dataclasses import replace

import numpy as np
import pytest

from labelfold import NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.graph.adjacency import pairs_above
from labelfold.graph.all_pairs import furthest_points
from labelfold.solvers.conic import solve_conic
from labelfold.solvers.lowrank import (
    AnchorSides,
    DistanceProblem,
    HalfSpaces,
    LowRankLimits,
    Spread,
    descent,
    solve_lowrank,
    solver,
)

EXACT = LowRankLimits(tol=1e-6, objective_tol=1e-7)


def polygon(n, seed=None):
    """n points around a circle, and the edges of a path through them."""
    t = np.linspace(0, 5, n)
    X = np.column_stack([np.cos(t), np.sin(t)])
    if seed is not None:
        X += 0.2 * np.random.default_rng(seed).standard_normal((n, 2))
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    squares = np.sum((X[1:] - X[:-1]) ** 2, axis=1)
    return X, edges, squares


def roll_problem(n, *, n_neighbors=4, height=10.0, objective="variance"):
    X, _, _ = make_swiss_roll(n, height=height, random_state=0)
    graph = NeighborGraph.build(X, n_neighbors=n_neighbors).bridged()
    edges, lengths = pairs_above(graph.distances)
    spread = Spread(1.0)
    if objective == "furthest":
        pairs = np.column_stack([np.arange(n), furthest_points(graph.index)[0]])
        spread = Spread(pairs=pairs, weights=np.ones(n))
    return X, DistanceProblem(n, edges, lengths**2, spread)


def centered_gram(R):
    R = R - R.mean(axis=0)
    return R @ R.T


class TestClosedForms:
    @pytest.mark.parametrize("n", [2, 3, 30])
    def test_a_path_becomes_a_straight_line(self, n):
        X, edges, squares = polygon(n, seed=1)
        solution = solve_lowrank(DistanceProblem(n, edges, squares, Spread(1.0)), X, limits=EXACT)
        x = np.concatenate([[0], np.cumsum(np.sqrt(squares))])
        x -= x.mean()
        assert solution.converged
        assert solution.R.shape[1] == 1
        assert np.abs(solution.R[:, 0]) == pytest.approx(np.abs(x), rel=1e-5, abs=1e-6)
        assert solution.bound.value == pytest.approx(x @ x, rel=1e-5)

    def test_a_clique_is_rigid(self):
        X = np.random.default_rng(0).standard_normal((15, 3))
        edges = np.column_stack(np.triu_indices(15, 1))
        squares = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
        problem = DistanceProblem(15, edges, squares, Spread(1.0))
        solution = solve_lowrank(problem, np.random.default_rng(1).standard_normal((15, 3)))
        assert centered_gram(solution.R) == pytest.approx(centered_gram(X), abs=2e-2)
        assert solution.R.shape[1] == 3

    def test_a_square_of_rods_becomes_a_tetrahedron_or_flat(self):
        """Four unit rods in a ring: any map has the two diagonals' squares add up to at most 4."""
        edges = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
        problem = DistanceProblem(4, edges, np.ones(4), Spread(1.0))
        solution = solve_lowrank(problem, np.eye(4), limits=EXACT)
        # sum of all six squared distances / n
        assert solution.objective == pytest.approx((4 + 4) / 4, rel=1e-5)

    def test_furthest_pair_of_a_path(self):
        """Pulling the ends of a path apart straightens it too."""
        X, edges, squares = polygon(12)
        spread = Spread(pairs=np.array([[0, 11]]), weights=np.ones(1))
        solution = solve_lowrank(DistanceProblem(12, edges, squares, spread), X, limits=EXACT)
        assert solution.objective == pytest.approx(np.sum(np.sqrt(squares)) ** 2, rel=1e-5)
        assert solution.bound.value == pytest.approx(solution.objective, rel=1e-4)

    def test_caps_are_reached_where_they_hold_and_idle_where_not(self):
        """Three points: caps 1, 1 and 5. The variance pulls the path straight; 5 is never met."""
        edges = np.array([[0, 1], [1, 2], [0, 2]])
        problem = DistanceProblem(
            3, edges, np.array([1.0, 1.0, 25.0]), Spread(1.0), is_cap=np.ones(3, dtype=bool)
        )
        solution = solve_lowrank(problem, np.eye(3), limits=EXACT)
        assert problem.lengths(solution.R) == pytest.approx([1, 1, 4], rel=1e-4)
        assert solution.multipliers.edges[2] == 0
        assert np.all(solution.multipliers.edges >= 0)

    def test_caps_alone_do_not_end_in_a_single_point(self):
        """A start far too large for tiny caps used to be thrown back to 0 and stay there."""
        edges = np.column_stack([np.arange(9), np.arange(1, 10)])
        problem = DistanceProblem(
            10, edges, np.full(9, 1e-12), Spread(1.0), is_cap=np.ones(9, dtype=bool)
        )
        solution = solve_lowrank(problem, np.random.default_rng(0).standard_normal((10, 2)))
        x = 1e-6 * (np.arange(10) - 4.5)
        assert solution.objective == pytest.approx(x @ x, rel=1e-2)


class TestSides:
    """Closed forms with sides; R is drawn at random to begin with."""

    FAR = LowRankLimits(tol=1e-7, objective_tol=1e-8)

    def chain(self, n, margin, length=1.0):
        """Points at a distance from the next, the ends on either side of axis 0."""
        ends, signs = np.array([0, n - 1]), np.array([1.0, -1.0])
        halves = HalfSpaces(ends, np.zeros(2, int), signs, margin)
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
        return DistanceProblem(n, edges, np.full(n - 1, length**2), Spread(), sides=halves)

    def bent_path(self, margin, *, length=1.0, force=np.inf):
        """Three points in a row: the ends on one side of axis 0, the middle on the other.

        With c the distance between them along the axis, the variance is 2 length^2 - 4 c^2 / 3,
        and soft sides cost force (2 margin - c): they bend the path until c = 3 force / 8, in
        lengths, and no farther than the margins. The unit of tension is 1.
        """
        halves = HalfSpaces(np.arange(3), np.zeros(3, int), np.array([1.0, -1, 1]), margin, force)
        edges = np.array([[0, 1], [1, 2]])
        return DistanceProblem(3, edges, np.full(2, length**2), Spread(1.0), sides=halves)

    def solve(self, problem, rank=2, seed=0, **more):
        start = np.random.default_rng(seed).standard_normal((problem.n_points, 2))
        solution = solve_lowrank(problem, start, rank=rank, limits=self.FAR, **more)
        assert solution.converged
        return solution

    @pytest.mark.parametrize("seed", range(3))
    def test_margins_as_wide_as_the_distance_leave_one_map(self, seed):
        R = self.solve(self.chain(2, 1.0, length=2.0), seed=seed).R
        assert R[:, 0] == pytest.approx([1, -1], abs=1e-6)
        assert R[0, 1] == pytest.approx(R[1, 1], abs=2e-3)  # to the root of the tolerance

    @pytest.mark.parametrize("length", [1.0, 3.0])
    @pytest.mark.parametrize("force", [0.2, 0.6, 1.2])
    def test_soft_sides_bend_a_path_as_far_as_they_outweigh_the_variance(self, length, force):
        margin, c = 0.4 * length, min(3 * force / 8, 2 * 0.4) * length
        problem = self.bent_path(margin, length=length, force=force)
        solution = self.solve(problem)
        assert solution.R[:, 0] == pytest.approx([margin, margin - c, margin], abs=1e-5 * length)
        assert problem.lengths(solution.R) == pytest.approx([length**2] * 2)
        assert solution.objective == pytest.approx(2 * length**2 - 4 * c**2 / 3, rel=1e-5)
        corrected = solution.objective / length**2 - force * (2 * margin - c) / length
        assert solution.history[-1].corrected == pytest.approx(corrected, rel=1e-5)

    @pytest.mark.parametrize("length", [1.0, 3.0])
    @pytest.mark.parametrize("force", [1.2, np.inf])
    def test_sides_hold_with_the_force_that_balances_the_variance(self, length, force):
        """At c = 2 m the variance pulls with 8 c / 3: less than the largest force."""
        margin = 0.2 * length
        solution = self.solve(self.bent_path(margin, length=length, force=force))
        assert solution.R[:, 0] == pytest.approx([margin, -margin, margin], abs=1e-5 * length)
        expected = 8 * margin / 3 * np.array([1, 2, 1])
        assert solution.multipliers.sides == pytest.approx(expected, rel=1e-4)

    def test_errors_on_the_way_are_of_maps_that_keep_the_margin(self):
        problem = self.chain(2, 2.5)
        start = np.random.default_rng(0).standard_normal((2, 2))
        solution = solve_lowrank(problem, start, rank=2, limits=LowRankLimits(max_iter=90))
        assert all(r.error >= 24 * (1 - 1e-9) for r in solution.history)

    def test_a_chain_too_short_for_its_margins_is_stretched_evenly(self):
        """Hard sides hold at the price of distances: 8 edges of 1 between points 10 apart."""
        problem, start = self.chain(9, 5.0), np.random.default_rng(0).standard_normal((9, 2))
        solution = solve_lowrank(problem, start, rank=2, limits=LowRankLimits(max_iter=900))
        assert not solution.converged
        assert np.min(problem.sides.slacks(solution.R)) >= 0
        assert solution.errors.rms_squared == pytest.approx(1.25**2 - 1, rel=1e-3)
        assert solution.R[:, 0] == pytest.approx(np.linspace(5, -5, 9), abs=0.03)

    @pytest.mark.parametrize("signs", [[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
    def test_of_contradictory_soft_labels_on_one_point_most_win(self, signs):
        """Points 0, 1 and 2 are one: at x = +-m two hinges balance the third."""
        halves = HalfSpaces(np.array([0, 1, 2]), np.zeros(3, int), np.array(signs), 0.4, 1.0)
        edges, squares = np.array([[0, 1], [1, 2], [2, 3]]), np.array([0.0, 0.0, 1.0])
        problem = DistanceProblem(4, edges, squares, Spread(), sides=halves)
        solution = self.solve(problem)
        assert solution.R[:3, 0] == pytest.approx([0.4 * signs[0]] * 3, abs=1e-6)
        mu = solution.multipliers.sides
        assert mu @ np.array(signs) == pytest.approx(0, abs=1e-3)
        assert mu[1] == pytest.approx(100)  # the largest force: no distance holds it back

    def test_the_axes_are_neither_turned_nor_centered(self):
        """Four points of a rhombus; the last column is, the first is where its sides want it."""
        halves = HalfSpaces(np.arange(4), np.zeros(4, int), np.ones(4), 3.0)
        edges = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])
        problem = DistanceProblem(4, edges, np.ones(5), Spread(1.0), sides=halves)
        R = self.solve(problem, rank=3).R
        assert R[:, 0].min() >= 3
        assert R[:, 1:].mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
        assert R[:, 1] @ R[:, 2] == pytest.approx(0, abs=1e-9)

    @pytest.mark.parametrize("length", [1.0, 3.0])
    def test_anchors(self, length):
        """Ends of a path of two unit edges on one side of the mean: K[0, 2] >= 0.05.

        With an angle a between the edges K[0, 2] = (5 cos a - 4) / 9, and the variance is 2 (2 -
        cos a) / 3: the least cosine is best, and the multiplier is the ratio of the slopes.
        """
        sides = AnchorSides(np.array([2]), np.array([0]), np.array([1.0]), 0.05 * length**2)
        problem = DistanceProblem(
            3, np.array([[0, 1], [1, 2]]), np.full(2, length**2), Spread(1.0), sides=sides
        )
        solution = self.solve(problem)
        assert solution.multipliers.sides == pytest.approx([(2 / 3) / (5 / 9)], rel=1e-4)
        assert solution.objective == pytest.approx(problem.spread.value(solution.R))
        problem, sides = problem.scaled()[0], sides.scaled(length)
        R, cosine = solution.R / length, (9 * 0.05 + 4) / 5
        assert (R[0] - R[1]) @ (R[2] - R[1]) == pytest.approx(cosine, abs=1e-5)
        assert sides.slacks(R) == pytest.approx([0], abs=1e-5)
        assert R.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
        assert problem.spread.value(R) == pytest.approx(2 * (2 - cosine) / 3, rel=1e-5)

    def test_soft_sides_that_all_hold_do_not_keep_it_waiting(self):
        X, edges = np.random.default_rng(0).standard_normal((5, 2)), np.triu_indices(5, 1)
        squares = np.sum((X[edges[0]] - X[edges[1]]) ** 2, axis=1)
        halves = HalfSpaces(np.array([0, 4]), np.zeros(2, int), np.array([1.0, -1.0]), 0.3)
        problem = DistanceProblem(5, np.column_stack(edges), squares, Spread(), sides=halves)
        hard = solve_lowrank(problem, X)
        soft = solve_lowrank(replace(problem, sides=replace(halves, force=1.0)), X)
        assert halves.shortfalls(soft.R) == pytest.approx([0, 0], abs=1e-3)
        assert soft.converged
        assert soft.n_iter <= 10 * hard.n_iter  # 200 rounds of 30 steps were counted


class TestFeasibilityProblems:
    HALVES = HalfSpaces(np.array([0]), np.array([0]), np.array([1.0]), 0.1)

    def problem(self, **more):
        return DistanceProblem(2, np.array([[0, 1]]), np.ones(1), **more)

    def test_the_first_map_that_satisfies_all_is_taken(self):
        """No objective has to come to rest, which takes five rounds."""
        problem = self.problem(spread=Spread(), sides=self.HALVES)
        solution = solve_lowrank(problem, np.random.default_rng(0).standard_normal((2, 2)))
        assert solution.converged
        assert len(solution.history) < solver.SETTLED

    def test_sides_survive_scaling_and_merging(self):
        edges, squares = np.array([[0, 1], [1, 2]]), np.array([0.0, 4.0])
        halves = HalfSpaces(np.array([1, 2]), np.array([0, 1]), np.array([1.0, -1.0]), 0.5)
        problem = DistanceProblem(3, edges, squares, Spread(), sides=halves)
        merged = problem.without_zero_edges().problem
        assert merged.sides.points.tolist() == [0, 1]
        scaled, unit = merged.scaled()
        assert unit == 2
        assert scaled.sides.margin == 0.25


class TestAgainstTheConvexOptimum:
    # Few pairs pull in the second problem, and its optimum is approached more slowly.
    @pytest.mark.parametrize(("objective", "near"), [("variance", 1e-4), ("furthest", 4e-4)])
    def test_objective_gram_matrix_and_bound(self, objective, near):
        X, problem = roll_problem(100, objective=objective)
        limits = LowRankLimits(tol=1e-5, objective_tol=1e-6)
        ours = solve_lowrank(problem, X, limits=limits)
        convex = solve_conic(problem)
        corrected = ours.objective - ours.multipliers.edges @ problem.violations(ours.R)
        assert corrected == pytest.approx(convex.value, rel=near)
        difference = np.linalg.norm(centered_gram(ours.R) - centered_gram(convex.factor))
        assert difference <= 0.01 * np.linalg.norm(centered_gram(convex.factor))
        assert ours.bound.value >= convex.value * (1 - 1e-6)
        assert ours.bound.value <= convex.value * 1.01
        # Soft edges give way: what that bought is taken off again.
        assert all(r.corrected < r.objective for r in ours.history[:5])


class TestRoll:
    def test_every_start_leads_to_the_same_objective(self):
        X, problem = roll_problem(300, n_neighbors=5, height=21.0)
        rng = np.random.default_rng(0)
        starts = [X, 1e30 * rng.standard_normal((300, 3)), 1e-6 * rng.standard_normal((300, 2))]
        found = [solve_lowrank(problem, start, rank=4) for start in starts]
        assert all(solution.converged for solution in found)
        objectives = [solution.objective for solution in found]
        assert np.ptp(objectives) <= 0.02 * min(objectives)
        for solution in found:
            slack = solution.bound.slack(problem.violations(solution.R))
            assert solution.objective <= solution.bound.value + slack
            assert solution.bound.value + slack <= 1.14 * solution.objective

    def test_units_and_order_do_not_matter(self):
        X, problem = roll_problem(150)
        one = solve_lowrank(problem, X, rank=4)
        scaled = DistanceProblem(150, problem.edges, problem.squares * 1e8, problem.spread)
        other = solve_lowrank(scaled, X * 1e4, rank=4)
        assert pytest.approx(one.R * 1e4, rel=1e-6, abs=1) == other.R
        order = np.random.default_rng(0).permutation(150)
        place = np.argsort(order)
        moved = DistanceProblem(150, place[problem.edges], problem.squares, problem.spread)
        third = solve_lowrank(moved, X[order], rank=4)
        assert third.objective == pytest.approx(one.objective, rel=5e-3)

    def test_any_number_of_threads_gives_the_same_map(self, monkeypatch):
        monkeypatch.setattr("labelfold.solvers.lowrank.descent.RANGE", 64)
        X, problem = roll_problem(150)
        one, two = (solve_lowrank(problem, X, rank=4, n_threads=k) for k in (1, 2))
        assert np.array_equal(one.R, two.R)

    def test_equal_points_stay_together(self):
        X, problem = roll_problem(80)
        edges = np.concatenate([problem.edges, [[0, 80], [80, 81]]])
        squares = np.append(problem.squares, [0.0, 0.0])
        problem = DistanceProblem(82, edges, squares, Spread(1.0))
        solution = solve_lowrank(problem, np.vstack([X, X[[0, 0]]]), rank=4)
        assert np.array_equal(solution.R[[0, 0]], solution.R[[80, 81]])
        assert solution.multipliers.edges[-2:].tolist() == [0, 0]
        assert solution.R.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-9)
        assert solution.errors.rms_squared <= 1e-3


class TestLimits:
    def test_iterations(self):
        X, problem = roll_problem(150)
        solution = solve_lowrank(problem, X, rank=4, limits=LowRankLimits(1e-6, max_iter=70))
        assert solution.stopped_by == "iterations"
        assert not solution.converged
        assert np.isfinite(solution.R).all()
        assert np.isfinite(solution.bound.value)
        assert 70 <= solution.n_iter <= 100

    def test_standstill_where_the_rank_is_too_low(self, monkeypatch):
        monkeypatch.setattr(solver, "STANDSTILL", 20)
        X = np.random.default_rng(0).standard_normal((8, 3))
        edges = np.column_stack(np.triu_indices(8, 1))
        squares = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
        solution = solve_lowrank(DistanceProblem(8, edges, squares, Spread(1.0)), X, rank=1)
        assert solution.stopped_by == "standstill"
        assert solution.errors.rms_squared > 0.1

    def test_several_components_raise(self):
        problem = DistanceProblem(4, np.array([[0, 1], [2, 3]]), np.ones(2), Spread(1.0))
        with pytest.raises(ValueError, match="2 connected components, which can be moved apart"):
            solve_lowrank(problem, np.eye(4))

    def test_contradictory_distances_end_with_a_proof(self):
        edges = np.array([[0, 1], [1, 2], [0, 2]])
        problem = DistanceProblem(3, edges, np.array([1.0, 1.0, 100.0]), Spread(1.0))
        solution = solve_lowrank(problem, np.eye(3), limits=LowRankLimits(max_iter=3000))
        assert not solution.converged
        assert solution.bound.value < 0


def test_restoration_lowers_the_error_and_keeps_the_objective(monkeypatch):
    X, problem = roll_problem(300, n_neighbors=5, height=21.0)
    limits = LowRankLimits(tol=1e-9, max_iter=3000)
    restored = solve_lowrank(problem, X, rank=4, limits=limits)
    monkeypatch.setattr(descent, "STEPS", 0)
    left = solve_lowrank(problem, X, rank=4, limits=limits)
    assert restored.errors.rms_squared < left.errors.rms_squared / 2
    assert restored.objective == pytest.approx(left.objective, rel=5e-3)
