import numpy as np
import pytest
from scipy.spatial.distance import cdist

from labelfold.datasets.curves import outline_length, outline_points

CASES = [(1, 0.5), (2, 0.5), (2, 0.2), (2, 0.8), (3, 0.4), (4, 0.5)]


def dense(n_half_turns, width, n_points):
    """Evenly spaced arc lengths and the points there."""
    length = outline_length(n_half_turns, width)
    arc_length = np.arange(n_points) * length / n_points
    return arc_length, outline_points(arc_length, n_half_turns, width)


@pytest.mark.parametrize(("n_half_turns", "width"), CASES)
def test_curve_is_closed_smooth_and_has_unit_speed(n_half_turns, width):
    assert outline_length(n_half_turns, width) == np.pi * (2 * n_half_turns**2 + width)
    arc_length, points = dense(n_half_turns, width, 20_000)
    step = arc_length[1]
    chords = (np.roll(points, -1, axis=0) - points) / step
    tightest = min(width, 1 - width) / 2
    np.testing.assert_allclose(np.linalg.norm(chords, axis=1), 1, atol=(step / tightest) ** 2)
    # A corner or a gap would turn the tangent by more than the tightest arc does in one step.
    turns = np.linalg.norm(np.roll(chords, -1, axis=0) - chords, axis=1)
    assert turns.max() <= 1.01 * step / tightest


@pytest.mark.parametrize(("n_half_turns", "width"), CASES)
def test_second_half_mirrors_the_first(n_half_turns, width):
    arc_length, points = dense(n_half_turns, width, 1000)
    half = outline_length(n_half_turns, width) / 2
    first = arc_length < half
    np.testing.assert_allclose(points[~first], -points[first], atol=1e-12)


@pytest.mark.parametrize(("n_half_turns", "width"), CASES)
def test_long_sides_are_one_width_apart(n_half_turns, width):
    arc_length, points = dense(n_half_turns, width, 4000)
    half = outline_length(n_half_turns, width) / 2
    cap = np.pi * width / 4
    first = (arc_length > cap) & (arc_length < half - cap)
    second = (arc_length > half + cap) & (arc_length < 2 * half - cap)
    nearest = cdist(points[first], points[second]).min(axis=1)
    # The nearest point drawn on the other side lies within two steps of the foot.
    step = arc_length[1]
    assert nearest.min() >= width - 1e-12
    assert nearest.max() <= np.hypot(width, 2 * step)


@pytest.mark.parametrize(("n_half_turns", "width"), CASES)
def test_curve_keeps_away_from_itself(n_half_turns, width):
    arc_length, points = dense(n_half_turns, width, 3000)
    apart = np.abs(arc_length[:, np.newaxis] - arc_length)
    along = np.minimum(apart, outline_length(n_half_turns, width) - apart)
    # Beyond half of the widest of its inner bends the curve has turned back on itself.
    far = along >= np.pi / 2 * max(width, 1 - width)
    assert cdist(points, points)[far].min() >= min(width, 1 - width) - 1e-3
