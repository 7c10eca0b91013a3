from __future__ import annotations

import numpy as np

from labelfold.plotting.confidence import LEAST_OPACITY, confidence_in, opacity


def test_opacity_rises_from_the_least_to_one():
    opacities = opacity(np.linspace(0, 1, 11))
    assert opacities[0] == LEAST_OPACITY > 0
    assert opacities[-1] == 1.0
    assert (np.diff(opacities) > 0).all()


def test_confidence_is_the_share_of_the_predicted_class():
    distributions = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.0, 1.0, 0.0]])
    predictions = np.array(["c", "b", "b"])
    confidence = confidence_in(predictions, distributions, np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(confidence, [0.7, 0.3, 1.0])


def test_rounding_does_not_leave_the_range():
    distributions = np.array([[1 + 1e-12, -1e-12]] * 2)
    confidence = confidence_in(np.array([0, 1]), distributions, np.array([0, 1]))
    np.testing.assert_array_equal(confidence, [1.0, 0.0])
