"""New points on any map, from distances to their neighbours alone: a weighted mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.weights import relative_heat
from labelfold.methods import stored

__all__ = ["LocalAverage", "ReadOnly", "first_least"]

Array = NDArray[np.float64]

WIDTHS = np.append(np.inf, 2.0 ** np.arange(3, -6, -1))  # to compare
TIE = 1e-9  # relative difference of errors that rounding can make


class ReadOnly:
    """Arrays that nobody writes into, after unpickling either."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            parts = ("data", "indices", "indptr") if sp.issparse(value) else ()
            for part in (value, *(getattr(value, name) for name in parts)):
                if isinstance(part, np.ndarray):
                    part.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


@stored
@dataclass(frozen=True, eq=False)
class LocalAverage(ReadOnly):
    """A weighted mean of the neighbours' coordinates, from distances alone.

    For metrics without a kernel of their own and for precomputed distances. With D^2 the mean
    squared distance of a row to its neighbours, neighbour j weighs exp(-d_j^2 / (width D^2)).

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_components)
        The points' own.
    width : float
        Width of the weights, up to infinity, where all neighbours count alike.
    leave_one_out_error : float
        ``sqrt(sum_i |y_i - f_i|^2 / sum_i |y_i - mean|^2)``, f_i being what the others predict,
        over rows that have a neighbour; NaN if none has.
    """

    coordinates: Array = field(repr=False)
    width: float
    leave_one_out_error: float

    @classmethod
    def fit(cls, distances: sp.csr_array, Y: Any) -> LocalAverage:
        """Take the width that predicts every point from its neighbours best.

        Parameters
        ----------
        distances : csr_array of shape (n_samples, n_samples)
            Distances of every point to some others, as many as a new row will have:
            ``graph.index.neighbors(n_neighbors)``. Zeros don't count, for these are its twins.
        Y : array-like of shape (n_samples, n_components)
            Coordinates.
        """
        Y = np.array(Y, dtype=float)
        apart = sp.csr_array(distances, copy=True)
        apart.eliminate_zeros()
        known = np.flatnonzero(np.diff(apart.indptr))
        found, targets = apart[known], Y[known]
        spread = np.linalg.norm(targets - Y.mean(axis=0))
        errors = [
            np.linalg.norm(_local_average(found, Y, width) - targets) / (spread or 1.0)
            for width in WIDTHS
        ]
        best = first_least(np.array(errors))
        return cls(Y, float(WIDTHS[best]), float(errors[best]) if len(known) else np.nan)

    def predict(self, distances: sp.csr_array) -> Array:
        """Return coordinates of new rows, each by itself.

        Parameters
        ----------
        distances : csr_array of shape (n_new, n_samples)
            Distances to neighbours, at least one a row: ``graph.distances_to(X)``.
        """
        return _local_average(distances, self.coordinates, self.width)

    def __str__(self) -> str:
        error = 100 * self.leave_one_out_error
        return f"local average: width {self.width:.3g}, left-out error {error:.2g} %"


def first_least(errors: Array) -> int:
    """Return the first error that is least but for rounding: the smoothest of equals."""
    return int(np.flatnonzero(errors <= errors.min() * (1 + TIE))[0])


def _local_average(found: sp.csr_array, coordinates: Array, width: float) -> Array:
    counts = np.diff(found.indptr)
    squares = np.add.reduceat(found.data**2, found.indptr[:-1]) / counts
    scale = width * np.repeat(np.where(squares > 0, squares, 1.0), counts)
    weights = sp.csr_array(
        (relative_heat(found, scale), found.indices, found.indptr), shape=found.shape
    )
    return np.asarray(weights @ coordinates / weights.sum(axis=1)[:, None])
