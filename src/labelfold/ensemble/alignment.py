"""Maps of the same points, turned onto each other (generalised Procrustes analysis).

An eigenmap is determined up to the signs of its coordinates, and up to a rotation among those with
nearly equal eigenvalues; its size depends on the number of its points. So maps are compared after
the best rotation, reflection, scale and shift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from labelfold.methods import stored

__all__ = ["Motion", "align"]

Array = NDArray[np.float64]

MOST_ROUNDS = 50
SETTLED = 1e-10  # relative change of the mean map


@stored
@dataclass(frozen=True, eq=False)
class Motion:
    """x -> scale (x - origin) rotation + target.

    Parameters
    ----------
    origin, target : ndarray of shape (n_components,)
        A point of the map, and where it goes.
    rotation : ndarray of shape (n_components, n_components)
        Orthogonal; may reflect.
    scale : float
        Positive.
    """

    origin: Array
    target: Array
    rotation: Array
    scale: float

    @classmethod
    def onto(cls, source: Array, goal: Array) -> Motion:
        """Return the motion that takes the points of a map nearest to the goal, in squares."""
        origin, target = source.mean(axis=0), goal.mean(axis=0)
        centered = source - origin
        rotation, overlap = orthogonal_procrustes(centered, goal - target)
        size = float(np.sum(centered**2))
        return cls(origin, target, rotation, overlap / size if size > 0 else 1.0)

    def __call__(self, points: Array) -> Array:
        """Return the points where the motion takes them."""
        return np.asarray(self.scale * (points - self.origin) @ self.rotation + self.target)


def align(maps: list[Array]) -> tuple[list[Motion], Array]:
    """Return the motions that bring maps of the same points together, and what is left apart.

    Parameters
    ----------
    maps : list of ndarray of shape (n_shared, n_components)
        The same points in every map; row by row.

    Returns
    -------
    motions : list of Motion
        One a map. The mean of the moved maps has the first one's size and is turned onto it.
    errors : ndarray of shape (n_maps,)
        Distance of each moved map from the mean, relative to the mean's size.
    """
    size = float(np.linalg.norm(maps[0] - maps[0].mean(axis=0)))
    mean = maps[0]
    for _ in range(MOST_ROUNDS):
        before = mean
        mean = np.mean([Motion.onto(one, mean)(one) for one in maps], axis=0)
        # Scales that fit a mean shrink it round by round.
        centered = mean - mean.mean(axis=0)
        length = float(np.linalg.norm(centered))
        mean = maps[0].mean(axis=0) + centered * (size / length if length > 0 else 1.0)
        if np.linalg.norm(mean - before) <= SETTLED * size:
            break
    if len(maps) > 1:  # one map is its own mean, to the last digit
        turned = Motion.onto(mean, maps[0])
        mean = (mean - turned.origin) @ turned.rotation + turned.target
    motions = [Motion.onto(one, mean) for one in maps]
    left = [np.linalg.norm(move(one) - mean) for move, one in zip(motions, maps, strict=True)]
    return motions, np.array(left) / (size or 1.0)
