r"""Two plane curves by arc length: the Archimedean spiral and the outline of a rolled ribbon.

The spiral r = angle has the arc length from the origin

.. math::

    s(\theta) = \tfrac12 \bigl(\theta \sqrt{1 + \theta^2} + \operatorname{arsinh} \theta\bigr).

The ribbon is rolled up into a double spiral; its outline is a closed curve of circular arcs. Its
middle line starts at the origin and runs out in two arms, each the other's image under x -> -x. Arm
A goes through half circles of radius 1/2, 3/2, 5/2, ... that end at 1, -2, 3, ... on the x axis, so
upper half circles share the center (1/2, 0), lower ones (-1/2, 0), and neighboring turns are 1
apart everywhere. The outline runs at width / 2 to both sides of the middle line, with a half circle
around each end. It consists of arcs, so arc length is known exactly. One side, from the middle of
the cap of arm A to the middle of the cap of arm B, is half of the outline; the other half is its
image under x -> -x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "angle_at_length",
    "length_at_angle",
    "outline_length",
    "outline_points",
    "points_at_angle",
]

FloatArray = NDArray[np.float64]

# One more than double precision needs: `angle_at_length` starts at most 31 % off (at length 2), and
# every step of Newton's method about squares that.
NEWTON_STEPS = 5


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
    for _ in range(NEWTON_STEPS):
        angle = angle - (length_at_angle(angle) - length) / np.hypot(1.0, angle)
    return angle


def points_at_angle(angle: FloatArray) -> FloatArray:
    """Points of the plane, one row per angle."""
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])


@dataclass(frozen=True)
class ArcChain:
    """Consecutive circular arcs with centers on the x axis, each from angle start by sweep."""

    center: FloatArray
    radius: FloatArray
    start: FloatArray
    sweep: FloatArray

    def points(self, arc_length: FloatArray) -> FloatArray:
        """Points at the given arc lengths from the start of the chain, one row each."""
        ends = np.cumsum(self.radius * np.abs(self.sweep))
        arc = np.minimum(np.searchsorted(ends, arc_length, side="right"), len(ends) - 1)
        before_end = (ends[arc] - arc_length) / self.radius[arc]
        angle = self.start[arc] + self.sweep[arc] - np.sign(self.sweep[arc]) * before_end
        x = self.center[arc] + self.radius[arc] * np.cos(angle)
        return np.column_stack([x, self.radius[arc] * np.sin(angle)])


def outline_length(n_half_turns: int, width: float) -> float:
    """Length of the whole closed outline."""
    return float(np.pi * (2 * n_half_turns**2 + width))


def outline_points(arc_length: FloatArray, n_half_turns: int, width: float) -> FloatArray:
    """Points of the outline at arc lengths in [0, `outline_length`)."""
    half = outline_length(n_half_turns, width) / 2
    on_second_side = arc_length >= half
    along_side = np.where(on_second_side, arc_length - half, arc_length)
    points = _left_side(n_half_turns, width).points(along_side)
    return np.where(on_second_side[:, np.newaxis], -points, points)


def _left_side(n_half_turns: int, width: float) -> ArcChain:
    """Chain the arcs left of the middle line, walked from the end of arm A to that of arm B."""
    turns = range(1, n_half_turns + 1)
    end = _sign(n_half_turns) * n_half_turns
    cap_start = -_sign(n_half_turns) * np.pi / 2
    arcs: list[tuple[float, float, float, float]] = [(end, width / 2, cap_start, -np.pi / 2)]
    # Walked inwards, arm A turns left, so the left side is the inner one, of smaller radius; walked
    # outwards, arm B turns right, and the left side is the outer one.
    for turn in reversed(turns):
        arcs.append((_sign(turn) / 2, turn - 0.5 - width / 2, _start(turn), np.pi))
    for turn in turns:
        arcs.append((-_sign(turn) / 2, turn - 0.5 + width / 2, _start(turn), -np.pi))
    arcs.append((-end, width / 2, _start(n_half_turns + 1), -np.pi / 2))
    center, radius, start, sweep = np.array(arcs).T
    return ArcChain(center, radius, start, sweep)


def _sign(turn: int) -> int:
    """Side of the origin on which arm A ends its half turn: 1, -2, 3, ..."""
    return 1 if turn % 2 else -1


def _start(turn: int) -> float:
    """Angle at which both arms' half circles begin: right of the center, left, right, ..."""
    return 0.0 if turn % 2 else np.pi
