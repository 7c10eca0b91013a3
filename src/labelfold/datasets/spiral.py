r"""The Archimedean spiral r = angle: from angles to arc lengths and back.

Its arc length from the origin is

.. math::

    s(\theta) = \tfrac12 \bigl(\theta \sqrt{1 + \theta^2} + \operatorname{arsinh} \theta\bigr).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# One more than full double precision takes: the start of `angle_at_length` is at most 31 % off (at
# length 2), and every step of Newton's method about squares that.
_NEWTON_STEPS = 5


def length_at_angle(angle: FloatArray) -> FloatArray:
    """Arc length of the spiral from its origin to `angle` (non-negative)."""
    return 0.5 * (angle * np.hypot(1.0, angle) + np.arcsinh(angle))


def angle_at_length(length: FloatArray) -> FloatArray:
    r"""Angle at which the spiral has run through `length` (non-negative).

    Newton's method. As :math:`s(\theta)` is convex and at least :math:`\theta` and
    :math:`\theta^2 / 2`, the start :math:`\min(s, \sqrt{2 s})` is never below the answer, and from
    above Newton's method falls monotonically onto it.
    """
    angle = np.minimum(length, np.sqrt(2.0 * length))
    for _ in range(_NEWTON_STEPS):
        angle = angle - (length_at_angle(angle) - length) / np.hypot(1.0, angle)
    return angle


def points_at_angle(angle: FloatArray) -> FloatArray:
    """Points of the plane, one row an angle."""
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
