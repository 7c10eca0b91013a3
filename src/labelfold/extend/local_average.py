"""New rows in any embedding, from distances to their neighbors alone: a weighted mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.adjacency import ReadOnly, keep_entries, with_values
from labelfold.graph.weights import relative_heat
from labelfold.methods import stored

__all__ = ["LocalAverage", "first_least"]

Array = NDArray[np.float64]

WIDTHS = np.append(np.inf, 2.0 ** np.arange(3, -6, -1))  # to compare
TIE = 1e-9  # relative difference of errors that rounding can make


@stored
@dataclass(frozen=True, eq=False)
class LocalAverage(ReadOnly):
    """A weighted mean of the neighbors' coordinates.

    For metrics without a kernel of their own and for precomputed distances. With D^2 the mean
    squared distance of a row to its neighbors, neighbor j weighs exp(-d_j^2 / (width D^2)).

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_components)
        The points' own.
    width : float
        Width of the weights, up to infinity, at which all neighbors count alike.
    leave_one_out_error : float
        ``sqrt(sum_i |y_i - f_i|^2 / sum_i |y_i - mean|^2)``, f_i being what the others predict,
        over rows that have a neighbor; NaN if none has.
    """

    coordinates: Array = field(repr=False)
    width: float
    leave_one_out_error: float

    @classmethod
    def fit(cls, distances: sp.csr_array, Y: Any) -> LocalAverage:
        """Take the width that predicts every point from its neighbors best.

        Parameters
        ----------
        distances : csr_array of shape (n_samples, n_samples)
            Distances of every point to some others, as many as a new row will have:
            ``graph.index.neighbors(n_neighbors)``. Zeros, which are equal rows, do not count.
        Y : array-like of shape (n_samples, n_components)
            Coordinates.
        """
        Y = np.array(Y, dtype=float)
        apart = keep_entries(distances, distances.data > 0)
        predicted = np.flatnonzero(np.diff(apart.indptr))
        apart, targets = apart[predicted], Y[predicted]
        spread = np.linalg.norm(targets - Y.mean(axis=0))
        errors = [
            np.linalg.norm(_local_average(apart, Y, width) - targets) / (spread or 1.0)
            for width in WIDTHS
        ]
        best = first_least(np.array(errors))
        return cls(Y, float(WIDTHS[best]), float(errors[best]) if len(predicted) else np.nan)

    def predict(self, distances: sp.csr_array) -> Array:
        """Return coordinates of new rows, each by itself.

        Parameters
        ----------
        distances : csr_array of shape (n_new, n_samples)
            Distances to neighbors, at least one per row: ``graph.distances_to(X)``.
        """
        return _local_average(distances, self.coordinates, self.width)

    def __str__(self) -> str:
        error = 100 * self.leave_one_out_error
        return f"local average: width {self.width:.3g}, left-out error {error:.2g} %"


def first_least(errors: Array) -> int:
    """Return the first error that is least except for rounding: the smoothest of equals."""
    return int(np.flatnonzero(errors <= errors.min() * (1 + TIE))[0])


def _local_average(distances: sp.csr_array, coordinates: Array, width: float) -> Array:
    counts = np.diff(distances.indptr)
    squares = np.add.reduceat(distances.data**2, distances.indptr[:-1]) / counts
    scale = width * np.repeat(np.where(squares > 0, squares, 1.0), counts)
    weights = with_values(distances, relative_heat(distances, scale))
    return np.asarray(weights @ coordinates / weights.sum(axis=1)[:, None])
