"""Spreads, edges and certificates against dense matrices."""

import numpy as np
import pytest

from labelfold.solvers.certificates import DistanceErrors, UnfoldingCertificate
from labelfold.solvers.lowrank.distances import (
    DistanceProblem,
    Spread,
    edge_laplacian,
    measure_errors,
)

RNG = np.random.default_rng(0)


def test_variance_is_the_centering_matrix():
    n = 7
    assert Spread(variance=1.0).matrix(n) == pytest.approx(np.eye(n) - 1 / n)


def test_masses_count_like_repeated_points():
    R = RNG.standard_normal((3, 2))
    repeated = R[[0, 0, 1, 2, 2, 2]]
    with_masses = Spread(variance=2.0, masses=np.array([2.0, 1.0, 3.0]))
    assert with_masses.value(R) == pytest.approx(2 * np.sum((repeated - repeated.mean(0)) ** 2))


def test_pairs_are_sums_of_squared_distances():
    R = RNG.standard_normal((5, 3))
    pairs, weights = np.array([[0, 4], [1, 4], [4, 1]]), np.array([1.0, 2.0, 0.5])
    expected = sum(w * np.sum((R[i] - R[j]) ** 2) for (i, j), w in zip(pairs, weights, strict=True))
    assert Spread(pairs=pairs, weights=weights).value(R) == pytest.approx(expected)
    assert Spread(pairs=pairs, weights=weights).value(R + 100) == pytest.approx(expected)


def test_edge_laplacian():
    edges, w = np.array([[0, 1], [1, 2], [0, 2]]), np.array([1.0, -2.0, 3.0])
    expected = np.array([[4, -1, -3], [-1, -1, 2], [-3, 2, 1.0]])
    assert edge_laplacian(3, edges, w).toarray() == pytest.approx(expected)


def test_violations_of_caps_are_one_sided():
    R = np.array([[0.0], [1.0], [3.0]])
    edges, squares = np.array([[0, 1], [1, 2], [0, 2]]), np.array([2.0, 2.0, 10.0])
    free = DistanceProblem(3, edges, squares, Spread(1.0))
    assert free.violations(R) == pytest.approx([-1, 2, -1])
    capped = DistanceProblem(3, edges, squares, Spread(1.0), is_cap=np.array([True, True, False]))
    assert capped.violations(R) == pytest.approx([0, 2, -1])


class TestWithoutZeroEdges:
    def problem(self):
        edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [1, 4]])
        squares = np.array([0.0, 4.0, 4.0, 9.0, 0.0, 16.0])
        return DistanceProblem(
            5, edges, squares, Spread(1.0, np.array([[0, 1], [0, 3]]), np.array([5.0, 7.0]))
        )

    def test_points_become_one(self):
        merger = self.problem().without_zero_edges()
        assert merger.point_numbers.tolist() == [0, 0, 1, 2, 2]
        assert merger.problem.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
        assert merger.problem.squares.tolist() == [4, 16, 9]
        assert merger.problem.spread.pairs.tolist() == [[0, 2]]

    def test_spread_and_violations_stay(self):
        problem, merger = self.problem(), self.problem().without_zero_edges()
        R = RNG.standard_normal((3, 2))
        assert merger.problem.spread.value(R) == pytest.approx(
            problem.spread.value(R[merger.point_numbers])
        )
        assert merger.merge_points(R[merger.point_numbers]) == pytest.approx(R)

    def test_multipliers_there_and_back(self):
        problem, merger = self.problem(), self.problem().without_zero_edges()
        y = np.array([1.0, 2.0, 3.0])
        split = merger.split_multipliers(y)
        assert merger.merge_multipliers(split) == pytest.approx(y)
        R = RNG.standard_normal((3, 2))
        h = problem.violations(R[merger.point_numbers])
        assert split @ h == pytest.approx(y @ merger.problem.violations(R))

    def test_a_cap_and_an_edge_stay_apart(self):
        problem = DistanceProblem(
            2,
            np.array([[0, 1], [1, 0], [0, 1]]),
            np.array([1.0, 3.0, 9.0]),
            Spread(1.0),
            is_cap=np.array([False, False, True]),
        )
        merged = problem.without_zero_edges().problem
        assert merged.squares.tolist() == [2, 9]
        assert merged.caps.tolist() == [False, True]

    def test_of_parallel_caps_the_least_holds(self):
        problem = DistanceProblem(
            2, np.array([[0, 1], [1, 0]]), np.array([4.0, 1.0]), Spread(1.0), np.ones(2, dtype=bool)
        )
        assert problem.without_zero_edges().problem.squares.tolist() == [1]


class TestErrors:
    def test_definitions(self):
        R = np.array([[0.0], [1.1], [3.0]])
        problem = DistanceProblem(
            3, np.array([[0, 1], [1, 2]]), np.array([1.0, 4.0]), Spread(variance=1.0)
        )
        q = np.array([1.21, 1.9**2])
        errors = measure_errors(problem, R)
        assert errors.rms_squared == pytest.approx(np.sqrt((0.21**2 + (q[1] - 4) ** 2) / 17))
        assert errors.largest_squared == pytest.approx(0.21)
        assert errors.median_squared == pytest.approx((0.21 + (4 - q[1]) / 4) / 2)
        assert errors.decisive == errors.median_squared
        assert errors.rms == pytest.approx(np.sqrt((0.1**2 + 0.1**2) / 5))
        assert errors.largest == pytest.approx(0.1)

    @pytest.mark.parametrize("unit", [1e-150, 1e-3, 1e150])
    def test_units_do_not_matter(self, unit):
        R, edges = RNG.standard_normal((4, 2)), np.array([[0, 1], [1, 2], [2, 3]])
        squares = np.array([1.0, 2.0, 0.5])
        one = measure_errors(DistanceProblem(4, edges, squares, Spread(1.0)), R)
        other = measure_errors(DistanceProblem(4, edges, squares * unit**2, Spread(1.0)), R * unit)
        assert other.rms_squared == pytest.approx(one.rms_squared)
        assert other.largest == pytest.approx(one.largest)

    def test_caps_err_where_exceeded(self):
        R, is_cap = np.array([[0.0], [1.0], [3.0]]), np.array([True, True])
        edges, squares = np.array([[0, 1], [1, 2]]), np.array([4.0, 1.0])
        errors = measure_errors(DistanceProblem(3, edges, squares, Spread(1.0), is_cap), R)
        assert errors.largest == pytest.approx(1.0)

    def test_long_caps_do_not_dilute_errors_of_edges(self):
        edges, squares = np.array([[0, 1], [1, 2]]), np.array([1.0, 100.0**2])
        problem = DistanceProblem(3, edges, squares, Spread(), np.array([False, True]))
        errors = measure_errors(problem, np.array([[0.0], [1.1], [50]]))
        assert errors.rms_squared == errors.median_squared == pytest.approx(0.21)
        assert errors.rms == errors.largest == pytest.approx(0.1)
        errors = measure_errors(problem, np.array([[0.0], [1], [102]]))
        assert errors.rms == errors.largest == pytest.approx(0.01)


def test_the_unit_is_that_of_edges_where_there_are_any():
    edges, squares = np.array([[0, 1], [1, 2], [0, 2]]), np.array([4.0, 400.0, 900.0])
    is_cap = np.array([False, True, True])
    assert DistanceProblem(3, edges, squares, Spread(), is_cap).scaled()[1] == 2
    assert DistanceProblem(3, edges[1:], squares[1:], Spread(), is_cap[1:]).scaled()[1] ** 2 == 650


class TestCertificate:
    def certificate(self, **changes):
        given = {
            "solver": "lowrank",
            "errors": DistanceErrors(1e-4, 5e-5, 1e-2, 5e-5, 5e-3),
            "objective": 100.0,
            "bound": 104.0,
            "slack": 1.0,
            "rank": 3,
            "n_iter": 10,
            "tol": 1e-3,
            "stopped_by": "tolerance",
        }
        return UnfoldingCertificate(**(given | changes))

    def test_gap_counts_what_violations_bought(self):
        assert self.certificate().gap == pytest.approx(0.05)

    def test_ok_needs_tolerance_and_rest(self):
        assert self.certificate().ok
        assert not self.certificate(tol=1e-5).ok
        assert not self.certificate(stopped_by="iterations").ok
        hidden = DistanceErrors(1e-4, 0.5, 1e-2, 5e-5, 5e-3)
        assert not self.certificate(errors=hidden).ok

    def test_sentence(self):
        text = str(self.certificate())
        assert text.startswith("ok: squared distances kept to 1.0e-04 (rms, asked 1e-03)")
        assert "gap 5.0%" in text
        assert "NOT converged (stopped by iterations)" in str(
            self.certificate(stopped_by="iterations")
        )
        assert "no embedding keeps these distances" in str(self.certificate(bound=-1.0))
