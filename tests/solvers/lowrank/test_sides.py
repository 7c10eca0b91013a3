"""Sides against loops over single constraints, and walls against their energy."""

import numpy as np
import pytest

from labelfold.solvers.lowrank.distances import DistanceProblem, Spread
from labelfold.solvers.lowrank.sides import AnchorSides, HalfSpaces, Walls

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


def test_slacks_and_shortfalls_of_half_spaces_are_lengths_along_the_axis():
    expected = [y * R[i, c] - MARGIN for i, c, y in zip(POINTS, AXES, SIGNS, strict=True)]
    assert min(expected) < 0 < max(expected)
    assert half_spaces().slacks(R) == pytest.approx(expected)
    assert half_spaces().shortfalls(R) == pytest.approx([max(-g, 0.0) for g in expected])


def test_slacks_of_anchors_are_products_and_shortfalls_lengths_along_the_unit_normal():
    centered = R - R.mean(axis=0)
    K = centered @ centered.T
    expected = [y * K[A, i] - MARGIN for i, A, y in zip(POINTS, ANCHORS, SIGNS, strict=True)]
    assert min(expected) < 0 < max(expected)
    assert anchor_sides().slacks(R) == pytest.approx(expected)
    assert anchor_sides().slacks(R + 20 * SHIFT) == pytest.approx(expected)
    lengths = np.sqrt(np.diag(K))[ANCHORS]
    short = np.maximum(-np.array(expected), 0) / lengths
    assert anchor_sides().shortfalls(R) == pytest.approx(short)


def test_an_anchor_at_the_mean_has_a_finite_shortfall():
    at_mean = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    sides = AnchorSides(np.array([0]), np.array([1]), np.array([1.0]), 0.5)
    assert sides.shortfalls(at_mean).tolist() == [0.5]


@pytest.mark.parametrize("unit", [0.1, 4.0])
def test_scaled_slacks_are_slacks_in_other_units(unit):
    for sides, power in ((half_spaces(), 1), (anchor_sides(), 2)):
        assert sides.degree == power
        assert sides.scaled(unit).slacks(R / unit) == pytest.approx(sides.slacks(R) / unit**power)
        assert sides.scaled(unit).shortfalls(R / unit) == pytest.approx(sides.shortfalls(R) / unit)


@pytest.mark.parametrize("make", [half_spaces, anchor_sides])
def test_renumbered_points_keep_their_slacks(make):
    numbers = np.array([4, 2, 6, 0, 1, 3, 5])  # point i is now number numbers[i]
    moved = np.empty_like(R)
    moved[numbers] = R
    assert make().renumbered(numbers).slacks(moved) == pytest.approx(make().slacks(R))


def test_only_half_spaces_tie_columns_down():
    assert half_spaces().n_axes == 2
    assert anchor_sides().n_axes == 0
    none = np.empty(0, dtype=np.intp)
    assert HalfSpaces(none, none, np.empty(0), 1.0).n_axes == 0
    problem = DistanceProblem(7, np.array([[0, 1]]), np.ones(1), Spread())
    assert problem.n_axes == 0
    assert DistanceProblem(7, problem.edges, np.ones(1), Spread(), sides=half_spaces()).n_axes == 2


def test_clipping_moves_only_what_falls_short():
    before = R.copy()
    clipped, expected = half_spaces().clipped(R), R.copy()
    assert np.array_equal(R, before)
    for i, c, y in zip(POINTS, AXES, SIGNS, strict=True):
        if y * R[i, c] < MARGIN:
            expected[i, c] = y * MARGIN
    assert np.array_equal(clipped, expected)
    assert np.all(half_spaces().slacks(clipped) >= 0)
    assert np.sum(clipped != R) == np.sum(half_spaces().slacks(R) < 0) > 0
    for sides in (half_spaces(force=1.0), anchor_sides()):  # soft, or not to be moved alone
        assert np.array_equal(sides.clipped(R), R)


def test_of_two_contradictory_sides_that_both_fall_short_the_last_holds():
    at_zero, both = np.zeros((1, 1)), np.array([0, 0])
    for signs in ([1.0, -1.0], [-1.0, 1.0]):
        sides = HalfSpaces(both, both, np.array(signs), 0.5)
        assert sides.clipped(at_zero).item() == 0.5 * signs[1]


SIGMA, TENSION, WALL_MARGIN = 2.5, 1.7, 0.6
N_POINTS, RANK = 8, 3

KINDS = [
    pytest.param(kind, force, id=f"{kind}-{'hard' if np.isinf(force) else force}")
    for kind in ("axes", "anchors")
    for force in (np.inf, 0.8, 0.05)
]


def make_walls(kind, force, seed=0):
    """Sides with repeated points and, of anchors, one on its own side; a place and multipliers.

    The last two are of the same point and normal, as of merged points.
    """
    rng = np.random.default_rng(seed)
    points = np.array([0, 1, 1, 2, 3, 4, 5, 6, 6])
    normals = np.array([0, 0, 1, 1, 0, 1, 0, 1, 1])
    signs = rng.choice([-1.0, 1.0], len(points))
    if kind == "axes":
        sides = HalfSpaces(points, normals, signs, WALL_MARGIN, force)
    else:
        sides = AnchorSides(points, np.array([3, 7])[normals], signs, WALL_MARGIN, force)
    R = 1.5 * rng.standard_normal((N_POINTS, RANK)) + [0.4, -0.3, 2.0]
    return sides, R, rng.uniform(0, 2, len(points)), rng.standard_normal((N_POINTS, RANK))


def hinge(g, mu, s, most):
    """The energy of a side: its derivative by g is minus the force mu - s g cut to [0, most]."""
    t = mu - s * g
    if t <= 0:
        return 0.0
    if t <= most:
        return t**2 / (2 * s)
    return most**2 / (2 * s) + most * (t - most) / s


def energy(kind, sides, R, mu, at):
    """The sum of hinges at R; the stiffness of anchors is that of the place where walls began."""
    centered, began = R - R.mean(axis=0), at - at.mean(axis=0)
    total = 0.0
    for k, (i, y) in enumerate(zip(sides.points, sides.signs, strict=True)):
        if kind == "axes":
            g, length = y * R[i, sides.axes[k]] - WALL_MARGIN, 1.0
        else:
            A = sides.anchors[k]
            g = y * centered[i] @ centered[A] - WALL_MARGIN
            length = max(np.linalg.norm(began[A]), 1.0)
        total += hinge(g, mu[k], SIGMA / length**2, sides.force * TENSION / length)
    return total


def walls_at(sides, R, mu):
    return Walls(sides, R, mu, SIGMA, TENSION)


def assert_gradient(walls, kind, sides, R, mu, at):
    """Compare what walls add to a gradient with differences of the energy."""
    G, step = np.full_like(R, 10.0), 1e-6
    walls.add_gradient(R, G)
    for index in np.ndindex(R.shape):
        E = np.zeros_like(R)
        E[index] = step
        up, down = (energy(kind, sides, R + sign * E, mu, at) for sign in (1, -1))
        assert G[index] - 10 == pytest.approx((up - down) / (2 * step), abs=1e-6)


@pytest.mark.parametrize(("kind", "force"), KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_is_the_derivative_of_the_energy(kind, force, seed):
    sides, R, mu, _ = make_walls(kind, force, seed)
    assert_gradient(walls_at(sides, R, mu), kind, sides, R, mu, R)


@pytest.mark.parametrize(("kind", "force"), KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_slope_is_the_derivative_along_the_direction(kind, force, seed):
    sides, R, mu, P = make_walls(kind, force, seed)
    walls, step = walls_at(sides, R, mu), 1e-6
    walls.look_along(R, P)
    slopes = []
    for a in (0.0, 0.3, 1.0, 4.0):
        up, down = (energy(kind, sides, R + (a + e) * P, mu, R) for e in (step, -step))
        slopes.append(walls.slope(a))
        assert slopes[-1] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-5)
    assert len(set(slopes)) > 1


@pytest.mark.parametrize(("kind", "force"), KINDS)
def test_forces_are_cut_to_what_is_allowed_and_follow_the_steps(kind, force):
    """Two steps; of anchors the stiffness stays that of the beginning."""
    sides, R, mu, P = make_walls(kind, force, seed=2)
    began, lengths = R, np.ones(len(sides))
    if kind == "anchors":
        centered = R - R.mean(axis=0)
        lengths = np.maximum(np.linalg.norm(centered[sides.anchors], axis=1), 1.0)
    most = force * TENSION / lengths
    walls, whole = walls_at(sides, R, mu), []
    for a, direction in ((0.0, P), (0.7, P), (-0.4, P[::-1].copy())):
        walls.look_along(R, direction)
        walls.advance(a)
        R = R + a * direction
        whole.append(mu - SIGMA / lengths**2 * sides.slacks(R))
        assert walls.forces == pytest.approx(np.clip(whole[-1], 0, most), abs=1e-12)
        assert_gradient(walls, kind, sides, R, mu, began)
    assert np.min(whole) < 0
    assert np.isinf(force) or np.any(whole > most + 1e-3)  # some are cut from above


@pytest.mark.parametrize("force", [np.inf, 0.8])
def test_anchors_pull_at_nothing_but_each_other(force):
    """Moving all points changes no entry of the centered Gram matrix."""
    sides, R, mu, P = make_walls("anchors", force)
    walls, G = walls_at(sides, R, mu), np.zeros_like(R)
    walls.add_gradient(R, G)
    assert G.sum(axis=0) == pytest.approx(np.zeros(RANK), abs=1e-12)
    assert np.abs(G).max() > 0.1
    walls.look_along(R, np.ones_like(R) * [1.0, -2.0, 3.0])
    assert walls.slope(0.7) == pytest.approx(0.0, abs=1e-12)
    walls.look_along(R + 5, P - 3)
    shifted = walls.slope(0.7)
    walls.look_along(R, P)
    assert shifted == pytest.approx(walls.slope(0.7))


def test_anchors_near_the_mean_are_not_stiffer_than_an_axis():
    """The stiffness along a unit normal would be without bound."""
    R = np.array([[-1.0, 0.0], [0.001, 0.0], [0.999, 0.0]])
    sides = AnchorSides(np.array([2]), np.array([1]), np.array([1.0]), 0.5, 2.0)
    forces = walls_at(sides, R, np.zeros(1)).forces
    assert forces == pytest.approx([SIGMA * (0.5 - 0.999 * 0.001)])
    stiff = Walls(sides, R, np.zeros(1), 1e3, TENSION)
    assert stiff.forces == pytest.approx([2.0 * TENSION])
