"""The low-rank solver against closed forms, the convex solver and its own certificate."""

import numpy as np
import pytest

from labelfold import NeighborGraph
from labelfold.datasets import make_swiss_roll
from labelfold.semidefinite.unfolder import _neighbor_pairs
from labelfold.solvers import lowrank, restoration
from labelfold.solvers.columns import Columns
from labelfold.solvers.conic import solve_conic
from labelfold.solvers.distance_problem import DistanceProblem, Spread
from labelfold.solvers.lowrank import LowRankLimits, solve_lowrank
from labelfold.solvers.sides import HalfSpaces

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
    graph = NeighborGraph.build(X, n_neighbors=n_neighbors).connected()
    edges, lengths = _neighbor_pairs(graph)
    spread = Spread(1.0)
    if objective == "furthest":
        pairs = np.column_stack([np.arange(n), graph.index.furthest()[0]])
        spread = Spread(pairs=pairs, weights=np.ones(n))
    return X, DistanceProblem(n, edges, lengths**2, spread)


def centred_gram(R):
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
        assert centred_gram(solution.R) == pytest.approx(centred_gram(X), abs=2e-2)
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

    def test_half_spaces_are_respected(self):
        """Two points at distance 2 on either side of a wall, a margin of 0.7 away from it."""
        halves = HalfSpaces(np.array([0, 1]), np.array([0, 0]), np.array([1.0, -1.0]), 0.7)
        problem = DistanceProblem(2, np.array([[0, 1]]), np.array([4.0]), Spread(), sides=halves)
        rng = np.random.default_rng(0)
        solution = solve_lowrank(problem, rng.standard_normal((2, 2)), rank=2, limits=EXACT)
        assert solution.converged
        assert np.all(halves.slacks(solution.R) >= -1e-5)
        assert problem.lengths(solution.R) == pytest.approx([4.0], rel=1e-4)

    def test_a_wall_no_map_can_respect_is_reported(self):
        halves = HalfSpaces(np.array([0, 1]), np.array([0, 0]), np.array([1.0, -1.0]), 5.0)
        problem = DistanceProblem(2, np.array([[0, 1]]), np.array([4.0]), Spread(), sides=halves)
        limits = LowRankLimits(max_iter=600)
        solution = solve_lowrank(problem, np.eye(2), rank=2, limits=limits)
        assert not solution.converged


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
        difference = np.linalg.norm(centred_gram(ours.R) - centred_gram(convex.factor))
        assert difference <= 0.01 * np.linalg.norm(centred_gram(convex.factor))
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
        monkeypatch.setattr("labelfold.solvers.augmented_lagrangian.RANGE", 64)
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


class TestColumns:
    def problem(self):
        return roll_problem(60)[1]

    def test_dead_ones_are_revived_below_the_violation(self):
        R = np.zeros((60, 4))
        R[:, 0] = np.arange(60.0)
        tended = Columns(self.problem(), 4, seed=0).tend(R, 1e-4)
        sizes = np.mean(tended**2, axis=0)
        assert sizes[0] == pytest.approx(np.var(R[:, 0]))
        assert np.all((sizes[1:] > 1e-7) & (sizes[1:] < 1e-5))

    def test_more_are_added_while_all_are_used(self):
        R = np.random.default_rng(0).standard_normal((60, 4))
        assert Columns(self.problem(), None, seed=0).tend(R, 1e-4).shape == (60, 7)
        assert Columns(self.problem(), 4, seed=0).tend(R, 1e-4).shape == (60, 4)

    def test_idle_ones_are_dropped_where_the_rank_is_free(self):
        R = np.random.default_rng(0).standard_normal((60, 4)) * [1, 1, 1e-4, 1e-4]
        assert Columns(self.problem(), None, seed=0).used(R, 1e-4).shape == (60, 2)
        assert Columns(self.problem(), 4, seed=0).used(R, 1e-4).shape == (60, 4)

    def test_a_start_keeps_its_strongest_columns(self):
        R = np.random.default_rng(0).standard_normal((60, 6)) * [1, 9, 1, 1, 8, 1]
        kept = Columns(self.problem(), 2, seed=0).begin(R)
        assert np.sum(kept**2) > 0.9 * np.sum(R[:, [1, 4]] ** 2)


class TestLimits:
    def test_iterations(self):
        X, problem = roll_problem(150)
        solution = solve_lowrank(problem, X, rank=4, limits=LowRankLimits(1e-6, max_iter=70))
        assert solution.stopped_by == "iterations"
        assert not solution.converged
        assert np.isfinite(solution.R).all()
        assert np.isfinite(solution.bound.value)
        assert 70 <= solution.n_iter <= 100

    def test_time(self):
        X, problem = roll_problem(150)
        limits = LowRankLimits(1e-9, objective_tol=1e-12, max_iter=10**6, max_time=0.2)
        assert solve_lowrank(problem, X, rank=4, limits=limits).stopped_by == "time"

    def test_standstill_where_the_rank_is_too_low(self, monkeypatch):
        monkeypatch.setattr(lowrank, "STANDSTILL", 20)
        X = np.random.default_rng(0).standard_normal((8, 3))
        edges = np.column_stack(np.triu_indices(8, 1))
        squares = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
        solution = solve_lowrank(DistanceProblem(8, edges, squares, Spread(1.0)), X, rank=1)
        assert solution.stopped_by == "standstill"
        assert solution.errors.rms_squared > 0.1

    def test_a_warm_start_is_quick(self):
        X, problem = roll_problem(150)
        first = solve_lowrank(problem, X, rank=4)
        second = solve_lowrank(problem, first.R, rank=4, multipliers=first.multipliers)
        assert second.converged
        assert len(second.history) < len(first.history) / 2
        assert second.objective == pytest.approx(first.objective, rel=5e-3)

    def test_progress_tells_objective_and_error(self):
        X, problem = roll_problem(60)
        notes = []

        def progress(stage, done, total=None, note=""):
            notes.append((stage, done, total, note))

        solution = solve_lowrank(problem, X, progress=progress)
        assert len(notes) == len(solution.history)
        assert notes[-1][0] == "unfolding"
        assert "distance error" in notes[-1][3]

    def test_pieces_are_refused(self):
        problem = DistanceProblem(4, np.array([[0, 1], [2, 3]]), np.ones(2), Spread(1.0))
        with pytest.raises(ValueError, match="2 pieces that can be moved apart without end"):
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
    monkeypatch.setattr(restoration, "STEPS", 0)
    left = solve_lowrank(problem, X, rank=4, limits=limits)
    assert restored.errors.rms_squared < left.errors.rms_squared / 2
    assert restored.objective == pytest.approx(left.objective, rel=5e-3)
