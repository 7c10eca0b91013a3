"""Sides on which points must lie (ISM section 3), and the walls that hold them there.

With axes as normals, a side bounds one coordinate: y R[i, c] >= m. With points as normals, as ISM
eq. 5 prints it, it bounds an entry of the centered Gram matrix: y K[A, i] >= m. The slack g is the
left-hand side minus m; along R + a P it goes to g + a b + a^2 c.

The wall of a side with multiplier mu, stiffness s and largest force p has the force t = mu - s g
cut to [0, p]. Its energy, of which that is the derivative, is quadratic up to p and linear above.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_SIDES", "AnchorSides", "HalfSpaces", "Sides", "Walls"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


class Sides(ABC):
    """What the solver needs of either form."""

    points: Numbers  # the point of every side
    signs: Array
    margin: float
    force: float
    degree: ClassVar[int]  # slacks scale as this power of a length

    @property
    def n_axes(self) -> int:
        """Number of leading columns of R that are normals, so that R must not be rotated."""
        return 0

    @property
    def is_hard(self) -> bool:
        """Whether the sides must hold at any cost."""
        return bool(np.isinf(self.force))

    def __len__(self) -> int:
        return len(self.points)

    @abstractmethod
    def slacks(self, R: Array) -> Array:
        """Return g of every side; negative if violated."""

    @abstractmethod
    def coefficients_along(self, R: Array, P: Array) -> tuple[Array, Array]:
        """Return b and c of the slacks g + a b + a^2 c at R + a P."""

    @abstractmethod
    def add_gradient(self, R: Array, forces: Array, G: Array) -> None:
        """Add the gradient at R of the energy of walls with these forces to G."""

    @abstractmethod
    def normal_lengths(self, R: Array) -> Array:
        """Return the length of every side's normal."""

    def shortfalls(self, R: Array) -> Array:
        """Return the length, along the normal, by which every point falls short of its margin."""
        lengths = self.normal_lengths(R)
        return np.asarray(np.maximum(-self.slacks(R), 0) / np.where(lengths > 0, lengths, 1.0))

    @abstractmethod
    def scaled(self, unit: float) -> Self:
        """Return the sides for R / unit."""

    @abstractmethod
    def renumbered(self, numbers: Numbers) -> Self:
        """Return the sides with point ``numbers[i]`` in place of point i."""

    def clipped(self, R: Array) -> Array:
        """Return R moved so that hard sides hold, if that is simple."""
        return R


@dataclass(frozen=True, eq=False)
class HalfSpaces(Sides):
    """The constraints signs * R[points, axes] >= margin."""

    points: Numbers  # rows of R
    axes: Numbers  # columns of R
    signs: Array  # +1 or -1
    margin: float  # m, in the units of R
    # p, in units of tension. A finite one makes the constraints soft: falling short of the margin
    # costs p per unit of length (a hinge).
    force: float = np.inf
    degree: ClassVar[int] = 1

    @property
    def n_axes(self) -> int:
        """Number of leading columns of R that are normals."""
        return int(np.max(self.axes, initial=-1)) + 1

    def slacks(self, R: Array) -> Array:
        """Return g = y R[i, c] - m."""
        return np.asarray(self.signs * R[self.points, self.axes] - self.margin)

    def coefficients_along(self, R: Array, P: Array) -> tuple[Array, Array]:
        """Slacks are linear in R: c = 0."""
        return self.signs * P[self.points, self.axes], np.zeros(len(self))

    def add_gradient(self, R: Array, forces: Array, G: Array) -> None:
        """Add -y t to the bounded coordinates."""
        np.add.at(G, (self.points, self.axes), -self.signs * forces)

    def normal_lengths(self, R: Array) -> Array:
        """Axes have length 1."""
        return np.ones(len(self))

    def scaled(self, unit: float) -> HalfSpaces:
        """Return the sides for R / unit."""
        return replace(self, margin=self.margin / unit)

    def renumbered(self, numbers: Numbers) -> HalfSpaces:
        """Return the sides with point ``numbers[i]`` in place of point i."""
        return replace(self, points=numbers[self.points])

    def clipped(self, R: Array) -> Array:
        """Return R with every coordinate that falls short of a hard side moved to the margin.

        If two sides contradict each other, one of them holds.
        """
        if not self.is_hard:
            return R
        R, short = R.copy(), self.slacks(R) < 0
        R[self.points[short], self.axes[short]] = self.signs[short] * self.margin
        return R


NO_SIDES = HalfSpaces(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), 0.0)


@dataclass(frozen=True, eq=False)
class AnchorSides(Sides):
    """The constraints signs * K[anchors, points] >= margin, K = R R^T of centered R, ISM eq. 5."""

    points: Numbers  # rows of R
    anchors: Numbers  # rows of R that are the normals
    signs: Array  # +1 or -1
    margin: float  # m, in the squared units of R; 0 in the paper
    force: float = np.inf  # p, along the unit normal
    degree: ClassVar[int] = 2

    def slacks(self, R: Array) -> Array:
        """Return g = y K[A, i] - m."""
        R = R - R.mean(axis=0)
        products = np.einsum("ij,ij->i", R[self.points], R[self.anchors])
        return np.asarray(self.signs * products - self.margin)

    def coefficients_along(self, R: Array, P: Array) -> tuple[Array, Array]:
        """Slacks are quadratic in R."""
        R, P = R - R.mean(axis=0), P - P.mean(axis=0)
        R_i, R_A, P_i, P_A = R[self.points], R[self.anchors], P[self.points], P[self.anchors]
        b = self.signs * np.sum(R_i * P_A + P_i * R_A, axis=1)
        return b, self.signs * np.sum(P_i * P_A, axis=1)

    def add_gradient(self, R: Array, forces: Array, G: Array) -> None:
        """Points and anchors pull at each other, and the mean stays."""
        R, pull = R - R.mean(axis=0), np.zeros_like(G)
        signed = (self.signs * forces)[:, None]
        np.add.at(pull, self.points, -signed * R[self.anchors])
        np.add.at(pull, self.anchors, -signed * R[self.points])
        G += pull - pull.mean(axis=0)

    def normal_lengths(self, R: Array) -> Array:
        """Return the anchors' distances from the mean."""
        return np.asarray(np.linalg.norm(R - R.mean(axis=0), axis=1)[self.anchors])

    def scaled(self, unit: float) -> AnchorSides:
        """Return the sides for R / unit."""
        return replace(self, margin=self.margin / unit**2)

    def renumbered(self, numbers: Numbers) -> AnchorSides:
        """Return the sides with point ``numbers[i]`` in place of point i."""
        return replace(self, points=numbers[self.points], anchors=numbers[self.anchors])


class Walls:
    """The walls of sides, with multipliers mu, around a point R that moves along directions.

    ``sigma`` is the stiffness along a unit normal, ``tension`` the unit of the largest force.
    """

    def __init__(self, sides: Sides, R: Array, mu: Array, sigma: float, tension: float) -> None:
        # An anchor near the mean is hardly a direction, and gets the stiffness of an axis.
        self._sides, lengths = sides, np.maximum(sides.normal_lengths(R), 1.0)
        s, self._most = sigma / lengths**2, sides.force * tension / lengths
        self._t = mu - s * sides.slacks(R)
        # Axes share one stiffness, which goes into b and c: it is rounded once.
        self._unit = sigma if sides.n_axes else 1.0
        self._share = s / self._unit
        self._b, self._c = np.zeros_like(self._t), np.zeros_like(self._t)

    @property
    def forces(self) -> Array:
        """The forces, which are the next multipliers."""
        return np.clip(self._t, 0, self._most)

    def look_along(self, R: Array, P: Array) -> None:
        """Set the direction of :meth:`slope` and :meth:`advance`."""
        b, c = self._sides.coefficients_along(R, P)
        self._b, self._c = self._unit * b, self._unit * c

    def slope(self, a: float) -> float:
        """Return the derivative of the energy at R + a P."""
        forces = np.clip(self._at(a), 0, self._most)
        return -float(forces @ (self._b + 2 * a * self._c)) / self._unit

    def advance(self, a: float) -> None:
        """Move to R + a P."""
        self._t = self._at(a)

    def add_gradient(self, R: Array, G: Array) -> None:
        """Add the energy's gradient at R, the point it has moved to, to G."""
        self._sides.add_gradient(R, self.forces, G)

    def _at(self, a: float) -> Array:
        return np.asarray(self._t - self._share * a * (self._b + a * self._c))
