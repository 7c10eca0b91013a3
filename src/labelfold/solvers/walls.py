"""The energy of sides in the augmented Lagrangian, and its course along a direction.

A side with slack g, multiplier mu, stiffness s and largest force p has the force t = mu - s g cut
to [0, p], and the energy of which that is the derivative: a quadratic up to p, a line beyond.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labelfold.solvers.sides import AnchorSides, HalfSpaces, Sides

__all__ = ["Walls", "walls_of"]

Array = NDArray[np.float64]


class Walls(Protocol):
    """The sides' part of F around a point that moves along directions."""

    @property
    def forces(self) -> Array:
        """The forces, which are the next multipliers."""

    def look_along(self, R: Array, P: Array) -> None:
        """Take P as the direction to ask about."""

    def slope(self, a: float) -> float:
        """Return the derivative of the energy at R + a P."""

    def advance(self, a: float) -> None:
        """Move to R + a P."""

    def add_gradient(self, R: Array, G: Array) -> None:
        """Add the energy's gradient at R, the point it has moved to, to G."""


def walls_of(sides: Sides | None, R: Array, mu: Array, sigma: float, tension: float) -> Walls:
    """Return the walls of sides at R.

    Parameters
    ----------
    sides : Sides or None
        The constraints.
    R : ndarray of shape (n_points, rank)
        Where to begin.
    mu : ndarray of shape (n_sides,)
        Multipliers.
    sigma : float
        Stiffness along a unit normal.
    tension : float
        Unit of the sides' largest force.
    """
    if isinstance(sides, HalfSpaces):
        return _AxisWalls(sides, R, mu, sigma, tension)
    if isinstance(sides, AnchorSides):
        return _AnchorWalls(sides, R, mu, sigma, tension)
    return _NoWalls()


class _NoWalls:
    forces = np.empty(0)

    def look_along(self, R: Array, P: Array) -> None:
        pass

    def slope(self, a: float) -> float:
        return 0.0

    def advance(self, a: float) -> None:
        pass

    def add_gradient(self, R: Array, G: Array) -> None:
        pass


class _AxisWalls:
    """g = y R[i, c] - m: linear along a direction."""

    def __init__(
        self, sides: HalfSpaces, R: Array, mu: Array, sigma: float, tension: float
    ) -> None:
        self._at, self._signs = (sides.points, sides.axes), sides.signs
        self._s, self._most = sigma, sides.force * tension
        self._t = mu - sigma * sides.slacks(R)
        self._change = np.zeros_like(self._t)

    @property
    def forces(self) -> Array:
        return np.clip(self._t, 0, self._most)

    def look_along(self, R: Array, P: Array) -> None:
        self._change = -self._s * self._signs * P[self._at]

    def slope(self, a: float) -> float:
        forces = np.clip(self._t + a * self._change, 0, self._most)
        return float(forces @ self._change) / self._s

    def advance(self, a: float) -> None:
        self._t = self._t + a * self._change

    def add_gradient(self, R: Array, G: Array) -> None:
        np.add.at(G, self._at, -self._signs * self.forces)


class _AnchorWalls:
    """g = y <R_i, R_A> - m of centred R: quadratic along a direction."""

    def __init__(
        self, sides: AnchorSides, R: Array, mu: Array, sigma: float, tension: float
    ) -> None:
        self._i, self._anchor, self._signs = sides.points, sides.anchors, sides.signs
        lengths = np.linalg.norm(R - R.mean(axis=0), axis=1)[sides.anchors]
        lengths = np.maximum(lengths, 1.0)  # an anchor at the mean is no direction
        self._s, self._most = sigma / lengths**2, sides.force * tension / lengths
        self._t = mu - self._s * sides.slacks(R)
        self._b, self._c = np.zeros_like(self._t), np.zeros_like(self._t)

    @property
    def forces(self) -> Array:
        return np.clip(self._t, 0, self._most)

    def look_along(self, R: Array, P: Array) -> None:
        R, P = R - R.mean(axis=0), P - P.mean(axis=0)
        R_i, R_A, P_i, P_A = R[self._i], R[self._anchor], P[self._i], P[self._anchor]
        self._b = self._signs * np.sum(R_i * P_A + P_i * R_A, axis=1)
        self._c = self._signs * np.sum(P_i * P_A, axis=1)

    def slope(self, a: float) -> float:
        forces = np.clip(self._t - self._s * a * (self._b + a * self._c), 0, self._most)
        return -float(forces @ (self._b + 2 * a * self._c))

    def advance(self, a: float) -> None:
        self._t = self._t - self._s * a * (self._b + a * self._c)

    def add_gradient(self, R: Array, G: Array) -> None:
        R, pull = R - R.mean(axis=0), np.zeros_like(G)
        forces = (self._signs * self.forces)[:, None]
        np.add.at(pull, self._i, -forces * R[self._anchor])
        np.add.at(pull, self._anchor, -forces * R[self._i])
        G += pull - pull.mean(axis=0)
