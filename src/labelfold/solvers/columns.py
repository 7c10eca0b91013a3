"""How many columns R has: as many as the tight problem needs, not the loose one.

While edges are soft, few dimensions are of use, and the others die out; they would stay dead, since
a column of zeros has no gradient. So weak columns are given noise well below the violation, and
where the rank may grow there are always some to spare: the staircase of Burer and Monteiro.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelfold.solvers.distance_problem import DistanceProblem

__all__ = ["Columns", "principal"]

Array = NDArray[np.float64]

WEAK = 0.1  # mean square of a column, relative to the violation, below which it is revived
NOISE = 1e-2  # mean square of what revives it, likewise
SPARE = 3  # columns that rank "auto" keeps beyond those in use


class Columns:
    """The columns of R for one problem.

    Parameters
    ----------
    problem : DistanceProblem
        In units of the median edge length. Columns that are normals of sides are not turned.
    rank : int or None
        Number of columns; None for as many as are used.
    seed : int
        Fixes the noise.
    """

    def __init__(self, problem: DistanceProblem, rank: int | None, seed: int) -> None:
        self._n_axes, self._rank = problem.n_axes, rank
        # Where no map but the best is stable (Burer and Monteiro).
        enough = int(np.ceil(np.sqrt(2 * len(problem.edges)))) + 1
        self._most = max(min(problem.n_points - 1, enough), 1)
        self._noise = np.random.default_rng(seed)

    def begin(self, start: Array) -> Array:
        """Return the start with a first number of columns, the strongest if there were more."""
        rank = self._rank or min(max(start.shape[1], 3) + SPARE, self._most)
        rank = max(rank, self._n_axes)
        if start.shape[1] > rank:
            start = principal(start, self._n_axes)[:, :rank]
        missing = rank - start.shape[1]
        return np.hstack([start, 1e-3 * self._noise.standard_normal((len(start), missing))])

    def tend(self, R: Array, error: float) -> Array:
        """Revive columns that died out; add more where the rank may grow and all are in use."""
        R = principal(R, self._n_axes)
        weak = np.mean(R**2, axis=0) < WEAK * error
        weak[: self._n_axes] = False
        if self._rank is None and np.sum(weak) < SPARE:
            added = max(min(SPARE, self._most - R.shape[1]), 0)
            R = np.hstack([R, np.zeros((len(R), added))])
            weak = np.append(weak, np.ones(added, dtype=bool))
        noise = self._noise.standard_normal((len(R), int(np.sum(weak))))
        R[:, weak] += np.sqrt(NOISE * error) * noise
        return R

    def used(self, R: Array, error: float) -> Array:
        """Return R, where the rank is ours to choose without the columns that are mere noise."""
        if self._rank is not None:
            return R
        R = principal(R, self._n_axes)
        used = np.mean(R**2, axis=0) >= WEAK * error
        used[: max(self._n_axes, 1)] = True
        return R[:, used]


def principal(R: Array, n_axes: int = 0) -> Array:
    """Centre R and turn it to its principal axes, the longest first; leave the first columns."""
    others = R[:, n_axes:] - R[:, n_axes:].mean(axis=0)
    turned = others @ np.linalg.eigh(others.T @ others)[1][:, ::-1]
    return np.hstack([R[:, :n_axes], turned])
