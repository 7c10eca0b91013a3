import numpy as np
import pytest
from scipy.integrate import quad

from labelfold.datasets.curves import angle_at_length, length_at_angle, points_at_angle


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.5 * np.pi, 4.5 * np.pi])
def test_length_is_the_integral_of_the_speed(angle):
    integral, _ = quad(lambda t: np.hypot(1.0, t), 0.0, angle)
    assert length_at_angle(np.array(angle)) == pytest.approx(integral, rel=1e-12)


def test_inverse_is_accurate_over_the_whole_range():
    length = np.concatenate([[0.0], np.geomspace(1e-12, 1e12, 5001)])
    angle = angle_at_length(length)
    np.testing.assert_allclose(length_at_angle(angle), length, rtol=1e-13, atol=0)


def test_points_have_their_angle_as_radius_and_direction():
    angle = np.linspace(0.1, 3.0, 50)
    points = points_at_angle(angle)
    np.testing.assert_allclose(np.hypot(*points.T), angle)
    np.testing.assert_allclose(np.arctan2(points[:, 1], points[:, 0]), angle)
