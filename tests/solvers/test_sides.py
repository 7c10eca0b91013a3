"""Slacks, shortfalls and moves of sides against loops over single constraints."""

import numpy as np
import pytest

from labelfold.solvers.distance_problem import DistanceProblem, Spread
from labelfold.solvers.sides import AnchorSides, HalfSpaces

SHIFT = np.array([1.0, -2.0, 0.5])
R = np.random.default_rng(3).standard_normal((7, 3)) + SHIFT
# Point 3 has sides on two axes, point 5 is an anchor and on its own side.
POINTS = np.array([0, 3, 3, 5, 6])
AXES = np.array([0, 0, 1, 1, 0])
ANCHORS = np.array([5, 5, 2, 5, 2])
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
MARGIN = 0.8


def half_spaces(force=np.inf, margin=MARGIN):
    return HalfSpaces(POINTS, AXES, SIGNS, margin, force)


def anchor_sides(force=np.inf, margin=MARGIN):
    return AnchorSides(POINTS, ANCHORS, SIGNS, margin, force)


def centred_gram(R):
    centred = R - R.mean(axis=0)
    return centred @ centred.T


def test_slacks_of_half_spaces():
    expected = [y * R[i, c] - MARGIN for i, c, y in zip(POINTS, AXES, SIGNS, strict=True)]
    assert half_spaces().slacks(R) == pytest.approx(expected)
    assert min(expected) < 0 < max(expected)


def test_slacks_of_anchors_are_entries_of_the_centred_gram_matrix():
    K = centred_gram(R)
    expected = [y * K[A, i] - MARGIN for i, A, y in zip(POINTS, ANCHORS, SIGNS, strict=True)]
    assert anchor_sides().slacks(R) == pytest.approx(expected)
    assert anchor_sides().slacks(R + 20 * SHIFT) == pytest.approx(expected)
    assert min(expected) < 0 < max(expected)


def test_shortfalls_of_half_spaces_are_lengths_along_the_axis():
    expected = [max(MARGIN - y * R[i, c], 0.0) for i, c, y in zip(POINTS, AXES, SIGNS, strict=True)]
    assert half_spaces().shortfalls(R) == pytest.approx(expected)
    assert 0.0 in expected


def test_shortfalls_of_anchors_are_lengths_along_the_unit_normal():
    centred = R - R.mean(axis=0)
    expected = []
    for i, A, y in zip(POINTS, ANCHORS, SIGNS, strict=True):
        length = np.linalg.norm(centred[A])
        along = y * centred[i] @ centred[A] / length
        expected.append(max(MARGIN / length - along, 0.0))
    assert anchor_sides().shortfalls(R) == pytest.approx(expected)
    assert 0.0 in expected
    assert max(expected) > 0


def test_an_anchor_at_the_mean_has_a_finite_shortfall():
    at_mean = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    sides = AnchorSides(np.array([0]), np.array([1]), np.array([1.0]), 0.5)
    assert sides.shortfalls(at_mean).tolist() == [0.5]


@pytest.mark.parametrize("unit", [0.1, 4.0])
def test_scaled_slacks_are_slacks_in_other_units(unit):
    halves, anchors = half_spaces(), anchor_sides()
    assert halves.scaled(unit).slacks(R / unit) == pytest.approx(halves.slacks(R) / unit)
    assert anchors.scaled(unit).slacks(R / unit) == pytest.approx(anchors.slacks(R) / unit**2)
    for sides in (halves, anchors):
        power = sides.degree
        assert sides.scaled(unit).slacks(R / unit) == pytest.approx(sides.slacks(R) / unit**power)
        assert sides.scaled(unit).shortfalls(R / unit) == pytest.approx(sides.shortfalls(R) / unit)


@pytest.mark.parametrize("make", [half_spaces, anchor_sides])
def test_renumbered_points_keep_their_slacks(make):
    numbers = np.array([4, 2, 6, 0, 1, 3, 5])  # point i is now number numbers[i]
    moved = np.empty_like(R)
    moved[numbers] = R
    assert make().renumbered(numbers).slacks(moved) == pytest.approx(make().slacks(R))


@pytest.mark.parametrize("make", [half_spaces, anchor_sides])
def test_forces_survive_scaling_and_renumbering(make):
    sides = make(force=2.5)
    assert sides.scaled(3.0).force == sides.renumbered(np.arange(7)).force == 2.5
    assert not sides.is_hard
    assert make().is_hard
    assert len(sides) == len(POINTS)


def test_only_half_spaces_tie_columns_down():
    assert half_spaces().n_axes == 2
    assert anchor_sides().n_axes == 0
    none = np.empty(0, dtype=np.intp)
    assert HalfSpaces(none, none, np.empty(0), 1.0).n_axes == 0
    problem = DistanceProblem(7, np.array([[0, 1]]), np.ones(1), Spread())
    assert problem.n_axes == 0
    assert DistanceProblem(7, problem.edges, np.ones(1), Spread(), sides=half_spaces()).n_axes == 2


def test_clipping_moves_only_what_falls_short():
    clipped, expected = half_spaces().clipped(R), R.copy()
    for i, c, y in zip(POINTS, AXES, SIGNS, strict=True):
        if y * R[i, c] < MARGIN:
            expected[i, c] = y * MARGIN
    assert np.array_equal(clipped, expected)
    assert np.all(half_spaces().slacks(clipped) >= 0)
    assert np.sum(clipped != R) == np.sum(half_spaces().slacks(R) < 0) > 0


def test_clipping_writes_to_a_copy():
    before = R.copy()
    half_spaces().clipped(R)
    assert np.array_equal(R, before)


def test_of_two_contradictory_sides_that_both_fall_short_the_last_holds():
    at_zero, both = np.zeros((1, 1)), np.array([0, 0])
    for signs in ([1.0, -1.0], [-1.0, 1.0]):
        sides = HalfSpaces(both, both, np.array(signs), 0.5)
        assert sides.clipped(at_zero).item() == 0.5 * signs[1]


def test_soft_half_spaces_and_anchors_are_not_clipped():
    assert np.array_equal(half_spaces(force=1.0).clipped(R), R)
    assert np.array_equal(anchor_sides().clipped(R), R)
