"""Sides of labels, and what separating maps cost, against loops and explicit maps."""

from dataclasses import asdict

import numpy as np
import pytest
from scipy.optimize import minimize

from labelfold.labels import PartialLabels
from labelfold.semidefinite.separation import Separation, SeparationCertificate
from labelfold.solvers.certificates import DistanceErrors
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread, measure_errors

TWO = ["b", None, "a", "b", None, "a", "b"]
THREE = ["c", None, "a", "b", None, "a", "c"]


def separation(y):
    return Separation.from_labels(PartialLabels.from_y(y))


def complete(X):
    """The problem of keeping all distances of X."""
    edges = np.column_stack(np.triu_indices(len(X), 1))
    squares = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
    return DistanceProblem(len(X), edges, squares, Spread())


class TestSigns:
    def test_two_classes_have_one_normal_toward_the_second(self):
        found = separation(TWO)
        assert found.rows.tolist() == [0, 2, 3, 5, 6]
        assert found.signs.tolist() == [[1], [-1], [1], [-1], [1]]
        assert found.n_normals == 1

    def test_three_classes_have_one_normal_each(self):
        found = separation(THREE)
        assert found.n_normals == 3
        for row, signs in zip(found.rows, found.signs, strict=True):
            expected = [1 if THREE[row] == name else -1 for name in ("a", "b", "c")]
            assert signs.tolist() == expected

    @pytest.mark.parametrize(("y", "anchors"), [(TWO, None), (THREE, None), (THREE, [5, 3, 0])])
    def test_sides_of_axes_and_of_anchors(self, y, anchors):
        found, R = separation(y), np.random.default_rng(0).standard_normal((7, 5))
        sides = found.sides(0.4, 2.0, None if anchors is None else np.array(anchors))
        values, normals = R, sides.axes if anchors is None else sides.anchors
        if anchors is not None:
            values = (R - R.mean(axis=0)) @ (R - R.mean(axis=0)).T
        expected = {
            (i, normal): found.signs[k, c] * values[i, normal] - 0.4
            for k, i in enumerate(found.rows)
            for c, normal in enumerate(anchors or range(found.n_normals))
        }
        pairs = zip(sides.points, normals, strict=True)
        assert dict(zip(pairs, sides.slacks(R), strict=True)) == pytest.approx(expected)
        assert sides.force == 2.0
        assert sides.n_axes == (found.n_normals if anchors is None else 0)


class TestAnchors:
    def test_the_deepest_labeled_point_of_the_class(self):
        found = separation(THREE)
        start = np.random.default_rng(0).standard_normal((7, 4))
        start[[1, 4]] = 99.0  # unlabeled
        start[:, 3] = np.arange(7.0)  # no normal
        expected = [
            max((start[i, c], i) for i in range(7) if THREE[i] == "abc"[c]) for c in range(3)
        ]
        assert found.deepest(start).tolist() == [i for _, i in expected]

    def test_of_two_classes_it_is_in_the_second(self):
        start = np.array([[0.1], [9.0], [5.0], [0.3], [9.0], [7.0], [-0.2]])
        assert separation(TWO).deepest(start).tolist() == [3]


class TestScores:
    def test_of_two_classes_the_value_is_the_difference(self):
        values = np.array([[0.3], [-2.0]])
        scores = separation(TWO).scores(values)
        assert scores.shape == (2, 2)
        assert scores[:, 1] - scores[:, 0] == pytest.approx(values[:, 0])
        assert scores.argmax(axis=1).tolist() == [1, 0]

    def test_of_three_classes_the_largest_value_wins(self):
        values = np.array([[0.3, 0.1, -2.0], [-3.0, -1.0, -2.0]])
        scores = separation(THREE).scores(values)
        assert scores.argmax(axis=1).tolist() == [0, 1]

    @pytest.mark.parametrize(("y", "lead"), [(TWO, 1), (THREE, 2)])
    def test_how_far_a_label_at_its_margin_is_ahead(self, y, lead):
        """Scores differ by the margin for two classes, else by twice the margin."""
        found = separation(y)
        scores = found.scores(found.signs)
        codes = found.labels.codes[found.rows]
        own = scores[np.arange(len(codes)), codes]
        others = np.where(np.eye(found.labels.n_classes)[codes] == 1, -np.inf, scores).max(axis=1)
        assert own - others == pytest.approx(np.full(len(codes), lead))

    @pytest.mark.parametrize("y", [TWO, THREE])
    def test_wrong_counts_points_not_normals(self, y):
        found = separation(y)
        values = np.zeros((7, found.n_normals))
        values[found.rows] = found.signs
        assert found.wrong(values) == 0
        assert found.wrong(-values) == 1
        values[found.rows[1]] *= -1
        assert found.wrong(values) == pytest.approx(1 / 5)
        values[found.rows[1]] *= -1
        values[found.rows[2], 0] = 0.0  # on the hyperplane is on no side
        assert found.wrong(values) == pytest.approx(1 / 5)
        values[1] = 77.0  # unlabeled
        assert found.wrong(values) == pytest.approx(1 / 5)


class TestLeastError:
    @pytest.mark.parametrize("y", [TWO, THREE])
    @pytest.mark.parametrize("margin", [0.1, 0.5, 1.0])
    def test_loop(self, y, margin):
        problem, found = complete(np.random.default_rng(0).standard_normal((7, 2))), separation(y)
        names = ("b",) if y is TWO else ("a", "b", "c")
        stretched = 0.0
        for (i, j), d in zip(problem.edges, problem.squares, strict=True):
            q = 0
            if y[i] is not None and y[j] is not None:
                q = sum((y[i] == name) != (y[j] == name) for name in names)
            stretched += max(4 * margin**2 * q - d, 0) ** 2
        expected = np.sqrt(stretched / np.sum(problem.squares**2))
        assert found.least_error(problem, margin) == pytest.approx(expected)

    @pytest.mark.parametrize("y", [TWO, THREE])
    @pytest.mark.parametrize("seed", range(20))
    def test_no_map_with_the_margin_errs_less(self, y, seed):
        rng = np.random.default_rng(seed)
        problem, found = complete(rng.standard_normal((7, 2))), separation(y)
        margin = rng.uniform(0.1, 1.5)
        R = rng.uniform(0.1, 2) * rng.standard_normal((7, 5))
        R = found.sides(margin, np.inf).clipped(R)
        assert found.wrong(R[:, : found.n_normals]) == 0
        least = found.least_error(problem, margin)
        assert measure_errors(problem, R).rms_squared >= least

    @pytest.mark.parametrize("y", [["a", "b"], ["a", "b", "c"], ["a", "a", "b"], ["a", None, "b"]])
    def test_it_is_reached_where_edges_do_not_conflict(self, y):
        """The best of some searches, over maps of a path that keep the margin."""
        n, rng = len(y), np.random.default_rng(0)
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
        problem, found = (
            DistanceProblem(n, edges, np.linspace(0.5, 1.5, n - 1), Spread()),
            separation(y),
        )
        margin, halves = 0.7, found.sides(0.7, np.inf)
        shape = (n, found.n_normals + 2)
        bounds = np.full((*shape, 2), np.nan)
        bounds[..., 0], bounds[..., 1] = -9, 9
        for i, c, sign in zip(halves.points, halves.axes, halves.signs, strict=True):
            bounds[i, c] = (margin, 9) if sign > 0 else (-9, -margin)

        def off(flat):
            return measure_errors(problem, flat.reshape(shape)).rms_squared ** 2

        best = min(
            minimize(off, rng.standard_normal(shape).ravel(), bounds=bounds.reshape(-1, 2)).fun
            for _ in range(4)
        )
        assert np.sqrt(best) == pytest.approx(found.least_error(problem, margin), abs=1e-3)

    @pytest.mark.parametrize("unit", [1e-100, 1e100])
    def test_units_do_not_matter(self, unit):
        X, found = np.random.default_rng(0).standard_normal((7, 2)), separation(TWO)
        one = found.least_error(complete(X), 0.5)
        assert one > 0
        assert found.least_error(complete(X * unit), 0.5 * unit) == pytest.approx(one)


class TestTrivialMap:
    @pytest.mark.parametrize("y", [TWO, THREE])
    @pytest.mark.parametrize("margin", [0.0, 0.2, 1.0])
    def test_errors_are_those_of_the_map(self, y, margin):
        rng = np.random.default_rng(0)
        X, found = rng.standard_normal((7, 3)), separation(y)
        values = rng.standard_normal((7, found.n_normals))
        first = np.empty_like(values)
        for i in range(7):
            for c in range(found.n_normals):
                first[i, c] = min(max(values[i, c], -margin), margin)
                if y[i] is not None:
                    first[i, c] = margin * found.signs[found.rows == i, c][0]
        expected = asdict(measure_errors(complete(X), np.hstack([first, X])))
        given = values.copy()
        assert asdict(found.trivial_errors(complete(X), margin, values)) == pytest.approx(expected)
        assert np.array_equal(values, given)
        assert found.wrong(first) == (margin == 0)


class TestContradictions:
    def test_none(self):
        assert separation(THREE).find_contradiction(np.arange(7)) is None
        # 2 and 5 are both a, 0 and 6 both c, and 1 and 4 have no label.
        assert separation(THREE).find_contradiction(np.array([0, 1, 2, 3, 2, 2, 0])) is None

    @pytest.mark.parametrize(
        ("numbers", "expected"),
        [
            ([0, 1, 2, 3, 4, 5, 2], {2, 6}),
            ([3, 1, 2, 3, 3, 5, 6], {0, 3}),
            ([9, 1, 2, 9, 4, 2, 9], {0, 3, 6}),
        ],
    )
    def test_a_pair_is_named(self, numbers, expected):
        one, other = separation(THREE).find_contradiction(np.array(numbers))
        assert {one, other} <= expected
        assert numbers[one] == numbers[other]
        assert THREE[one] != THREE[other]


class TestCertificate:
    ERRORS = DistanceErrors(1e-4, 5e-5, 1e-2, 5e-5, 5e-3)

    def certificate(self, **changes):
        given = {
            "solver": "lowrank",
            "errors": self.ERRORS,
            "objective": 100.0,
            "bound": 104.0,
            "slack": 1.0,
            "rank": 3,
            "n_iter": 10,
            "tol": 1e-3,
            "stopped_by": "tolerance",
            "separation_error": 0.0,
            "shortfall": 0.0,
            "margin": 0.3,
            "is_hard": True,
            "least_error": 0.0,
            "trivial_errors": DistanceErrors(2e-2, 1e-2, 1e-1, 1e-2, 1e-1),
        }
        return SeparationCertificate(**(given | changes))

    def test_sentence(self):
        text = str(self.certificate())
        assert text.startswith("ok: squared distances kept to 1.0e-04")
        assert "0 % of the labels on the wrong side; the trivial map" in text
        assert text.endswith("errs by 2.0e-02.")
        wrong = str(self.certificate(separation_error=0.125, shortfall=0.25, least_error=0.03))
        assert "12.5 % of the labels on the wrong side" in wrong
        assert "short of margin 0.3 by up to 0.25 edges" in wrong
        assert "with this margin no map errs less than 3.0e-02" in wrong
        soft = str(self.certificate(is_hard=False, least_error=0.03))
        assert "errs less" not in soft  # it errs by 1e-4

    @pytest.mark.parametrize(
        ("changes", "verdict", "advice"),
        [
            ({}, "ok", "lower margin"),
            ({"stopped_by": "iterations"}, "NOT converged (stopped by iterations)", "max_iter"),
            ({"stopped_by": "standstill"}, "NOT converged (stopped by standstill)", "lower margin"),
            ({"tol": 1e-5}, "NOT isometric", "lower margin or n_neighbors, raise rank or tol"),
            ({"separation_error": 0.1}, "NOT separated", "label_weight"),
            ({"separation_error": 0.1, "is_hard": False}, "ok", "label_weight"),
            ({"least_error": 0.03}, "NOT feasible (edges between classes are shorter", "margin"),
            ({"least_error": 5e-4}, "ok", "margin"),
            ({"least_error": 0.03, "is_hard": False}, "ok", "margin"),
        ],
    )
    def test_verdict_and_advice(self, changes, verdict, advice):
        certificate = self.certificate(**changes)
        assert certificate.verdict.startswith(verdict)
        assert str(certificate).startswith(certificate.verdict + ": squared distances")
        assert certificate.ok == verdict.startswith(("ok", "NOT feasible"))
        assert advice in certificate.advice
