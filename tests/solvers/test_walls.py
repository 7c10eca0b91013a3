"""Slopes, gradients and forces of walls against their energy, written out one side at a time."""

import numpy as np
import pytest
from scipy.integrate import quad

from labelfold.solvers.sides import AnchorSides, HalfSpaces
from labelfold.solvers.walls import walls_of

SIGMA, TENSION, MARGIN = 2.5, 1.7, 0.6
N_POINTS, RANK = 8, 3

KINDS = [
    pytest.param(kind, force, id=f"{kind}-{'hard' if np.isinf(force) else force}")
    for kind in ("axes", "anchors")
    for force in (np.inf, 0.8, 0.05)
]


def make(kind, force, seed=0):
    """Sides with repeated points and, of anchors, one on its own side; a place and multipliers.

    The last two are of the same point and normal, as of merged points.
    """
    rng = np.random.default_rng(seed)
    points = np.array([0, 1, 1, 2, 3, 4, 5, 6, 6])
    normals = np.array([0, 0, 1, 1, 0, 1, 0, 1, 1])
    signs = rng.choice([-1.0, 1.0], len(points))
    if kind == "axes":
        sides = HalfSpaces(points, normals, signs, MARGIN, force)
    else:
        sides = AnchorSides(points, np.array([3, 7])[normals], signs, MARGIN, force)
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
    centred, began = R - R.mean(axis=0), at - at.mean(axis=0)
    total = 0.0
    for k, (i, y) in enumerate(zip(sides.points, sides.signs, strict=True)):
        if kind == "axes":
            g, length = y * R[i, sides.axes[k]] - MARGIN, 1.0
        else:
            A = sides.anchors[k]
            g = y * centred[i] @ centred[A] - MARGIN
            length = max(np.linalg.norm(began[A]), 1.0)
        total += hinge(g, mu[k], SIGMA / length**2, sides.force * TENSION / length)
    return total


def walls_at(sides, R, mu):
    return walls_of(sides, R, mu, SIGMA, TENSION)


@pytest.mark.parametrize(("mu", "most"), [(1.3, np.inf), (1.3, 0.7), (0.4, 0.7), (0.0, 0.7)])
def test_the_energy_here_is_the_integral_of_the_force(mu, most):
    """The comparison stands on it, so it is checked on its own."""
    for g in (-2.0, -0.1, 0.3, 1.0):
        force = quad(
            lambda x: np.clip(mu - 3.0 * x, 0, most), g, 5.0, points=[mu / 3, (mu - 0.7) / 3]
        )
        assert hinge(g, mu, 3.0, most) == pytest.approx(force[0], abs=1e-7)


@pytest.mark.parametrize(("kind", "force"), KINDS)
def test_forces_are_cut_to_what_is_allowed(kind, force):
    sides, R, mu, _ = make(kind, force)
    centred = R - R.mean(axis=0)
    expected = []
    for k, g in enumerate(sides.slacks(R)):
        length = 1.0 if kind == "axes" else max(np.linalg.norm(centred[sides.anchors[k]]), 1.0)
        t = mu[k] - SIGMA / length**2 * g
        expected.append(min(max(t, 0.0), force * TENSION / length))
    assert walls_at(sides, R, mu).forces == pytest.approx(expected)
    assert 0.0 in expected
    if force == 0.8:
        whole = mu - SIGMA * sides.slacks(R)
        assert np.any(np.array(expected) < whole - 1e-3)  # some are cut from above


@pytest.mark.parametrize(("kind", "force"), KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_is_the_derivative_of_the_energy(kind, force, seed):
    sides, R, mu, _ = make(kind, force, seed)
    G = np.full_like(R, 10.0)
    walls_at(sides, R, mu).add_gradient(R, G)
    step = 1e-6
    for i in range(N_POINTS):
        for c in range(RANK):
            E = np.zeros_like(R)
            E[i, c] = step
            up, down = (energy(kind, sides, R + sign * E, mu, R) for sign in (1, -1))
            assert G[i, c] - 10 == pytest.approx((up - down) / (2 * step), abs=1e-6)


@pytest.mark.parametrize(("kind", "force"), KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_slope_is_the_derivative_along_the_direction(kind, force, seed):
    sides, R, mu, P = make(kind, force, seed)
    walls, step = walls_at(sides, R, mu), 1e-6
    walls.look_along(R, P)
    slopes = []
    for a in (0.0, 0.3, 1.0, 4.0):
        up, down = (energy(kind, sides, R + (a + e) * P, mu, R) for e in (step, -step))
        slopes.append(walls.slope(a))
        assert slopes[-1] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-5)
    assert len(set(slopes)) > 1


@pytest.mark.parametrize(("kind", "force"), KINDS)
def test_the_first_slope_is_the_gradient_along_the_direction(kind, force):
    sides, R, mu, P = make(kind, force, seed=5)
    walls, G = walls_at(sides, R, mu), np.zeros_like(R)
    walls.add_gradient(R, G)
    walls.look_along(R, P)
    assert walls.slope(0.0) == pytest.approx(np.vdot(G, P))


@pytest.mark.parametrize(("kind", "force"), KINDS)
def test_walls_that_advanced_are_as_made_anew(kind, force):
    """Two steps; of anchors the stiffness stays that of the beginning."""
    sides, R, mu, P = make(kind, force, seed=2)
    walls = walls_at(sides, R, mu)
    for a, direction in ((0.7, P), (-0.4, P[::-1].copy())):
        walls.look_along(R, direction)
        walls.advance(a)
        R = R + a * direction
    _, began, _, _ = make(kind, force, seed=2)
    lengths = np.ones(len(sides))
    if kind == "anchors":
        centred = began - began.mean(axis=0)
        lengths = np.maximum(np.linalg.norm(centred[sides.anchors], axis=1), 1.0)
    t = mu - SIGMA / lengths**2 * sides.slacks(R)
    assert walls.forces == pytest.approx(np.clip(t, 0, force * TENSION / lengths), abs=1e-12)
    G, expected, step = np.zeros_like(R), np.zeros_like(R), 1e-6
    walls.add_gradient(R, G)
    for index in np.ndindex(R.shape):
        E = np.zeros_like(R)
        E[index] = step
        up, down = (energy(kind, sides, R + sign * E, mu, began) for sign in (1, -1))
        expected[index] = (up - down) / (2 * step)
    assert pytest.approx(expected, abs=1e-6) == G


@pytest.mark.parametrize("force", [np.inf, 0.8])
def test_anchors_pull_at_nothing_but_each_other(force):
    """Moving all points changes no entry of the centred Gram matrix."""
    sides, R, mu, P = make("anchors", force)
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
    stiff = walls_of(sides, R, np.zeros(1), 1e3, TENSION)
    assert stiff.forces == pytest.approx([2.0 * TENSION])


def test_without_sides_there_is_nothing():
    R = np.ones((3, 2))
    walls, G = walls_of(None, R, np.empty(0), SIGMA, TENSION), np.zeros((3, 2))
    walls.look_along(R, R)
    walls.advance(0.5)
    walls.add_gradient(R, G)
    assert walls.slope(0.3) == 0
    assert len(walls.forces) == 0
    assert not G.any()
