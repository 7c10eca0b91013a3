"""Sides on which points have to lie: the constraints of separation maps (ISM section 3).

With axes as normals, a constraint bounds one coordinate: y R[i, c] >= m. With points as normals, as
ISM eq. 5 prints it, it bounds an entry of the centred Gram matrix: y K[A, i] >= m.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnchorSides", "HalfSpaces", "Sides"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


class Sides(Protocol):
    """What the solver asks of either form."""

    @property
    def points(self) -> Numbers:
        """The point of every constraint."""

    @property
    def n_axes(self) -> int:
        """Number of leading columns of R that are normals, so that R must not be turned."""

    @property
    def force(self) -> float:
        """The largest force on a point; infinite if the constraints must hold at any price."""

    @property
    def is_hard(self) -> bool:
        """Whether the constraints must hold at any price."""

    @property
    def degree(self) -> int:
        """The power of a length that slacks are."""

    def __len__(self) -> int:
        """Return the number of constraints."""

    def slacks(self, R: Array) -> Array:
        """Return g of every constraint; negative where violated."""

    def scaled(self, unit: float) -> Self:
        """Return the constraints on R / unit."""

    def renumbered(self, numbers: Numbers) -> Self:
        """Return the constraints with ``numbers[i]`` in the place of point i."""

    def clipped(self, R: Array) -> Array:
        """Return R moved to where the constraints hold, as far as that is simple."""

    def shortfalls(self, R: Array) -> Array:
        """Return the length by which every point falls short of its margin; 0 if it does not."""


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """The constraints signs * R[points, axes] >= margin.

    Parameters
    ----------
    points, axes : ndarray of shape (n_half_spaces,)
        Rows and columns of R.
    signs : ndarray of shape (n_half_spaces,)
        +1 or -1.
    margin : float
        m, in the units of R.
    force : float, default=inf
        The largest force on a point, in units of the tension at which equal edges all over hold the
        objective. A finite one makes the constraints soft: what a point falls short of the margin
        costs this much a length (a hinge).
    """

    points: Numbers
    axes: Numbers
    signs: Array
    margin: float
    force: float = np.inf

    @property
    def n_axes(self) -> int:
        """Number of leading columns of R that are normals."""
        return int(np.max(self.axes, initial=-1)) + 1

    @property
    def is_hard(self) -> bool:
        """Whether the constraints must hold at any price."""
        return bool(np.isinf(self.force))

    @property
    def degree(self) -> int:
        """Slacks are lengths."""
        return 1

    def __len__(self) -> int:
        return len(self.points)

    def slacks(self, R: Array) -> Array:
        """Return g = y R[i, c] - m; negative where violated."""
        return np.asarray(self.signs * R[self.points, self.axes] - self.margin)

    def scaled(self, unit: float) -> HalfSpaces:
        """Return the constraints on R / unit."""
        return replace(self, margin=self.margin / unit)

    def renumbered(self, numbers: Numbers) -> HalfSpaces:
        """Return the constraints with ``numbers[i]`` in the place of point i."""
        return replace(self, points=numbers[self.points])

    def clipped(self, R: Array) -> Array:
        """Return R with every coordinate that falls short moved to the margin, if they are hard.

        Where two constraints contradict each other, one of them holds.
        """
        if not self.is_hard:
            return R
        R, short = R.copy(), self.slacks(R) < 0
        R[self.points[short], self.axes[short]] = self.signs[short] * self.margin
        return R

    def shortfalls(self, R: Array) -> Array:
        """Return the length by which every point falls short of its margin; 0 if it does not."""
        return np.maximum(-self.slacks(R), 0)


@dataclass(frozen=True, eq=False)
class AnchorSides:
    """The constraints signs * K[anchors, points] >= margin on K = R R^T of centred R (ISM eq. 5).

    Parameters
    ----------
    points, anchors : ndarray of shape (n_sides,)
        Rows of R; anchors are the normals.
    signs : ndarray of shape (n_sides,)
        +1 or -1.
    margin : float
        m, in the squared units of R; the paper has 0.
    force : float, default=inf
        As for :class:`HalfSpaces`, along the unit normal.
    """

    points: Numbers
    anchors: Numbers
    signs: Array
    margin: float
    force: float = np.inf

    @property
    def n_axes(self) -> int:
        """No column of R is tied down."""
        return 0

    @property
    def is_hard(self) -> bool:
        """Whether the constraints must hold at any price."""
        return bool(np.isinf(self.force))

    @property
    def degree(self) -> int:
        """Slacks are squares of lengths."""
        return 2

    def __len__(self) -> int:
        return len(self.points)

    def slacks(self, R: Array) -> Array:
        """Return g = y K[A, i] - m; negative where violated."""
        R = R - R.mean(axis=0)
        products = np.einsum("ij,ij->i", R[self.points], R[self.anchors])
        return np.asarray(self.signs * products - self.margin)

    def scaled(self, unit: float) -> AnchorSides:
        """Return the constraints on R / unit."""
        return replace(self, margin=self.margin / unit**2)

    def renumbered(self, numbers: Numbers) -> AnchorSides:
        """Return the constraints with ``numbers[i]`` in the place of point i."""
        return replace(self, points=numbers[self.points], anchors=numbers[self.anchors])

    def clipped(self, R: Array) -> Array:
        """Return R as it is: no coordinate can be moved without moving the mean."""
        return R

    def shortfalls(self, R: Array) -> Array:
        """Return the length, along the normal, by which every point falls short of its margin."""
        lengths = np.linalg.norm(R - R.mean(axis=0), axis=1)[self.anchors]
        return np.asarray(np.maximum(-self.slacks(R), 0) / np.where(lengths > 0, lengths, 1.0))
