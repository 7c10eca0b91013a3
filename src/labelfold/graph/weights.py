"""Distances of edges become weights: binary, heat, or any function of distance and scale.

Heat is w = exp(-d^2 / c) (CCDR-2005 section 2), with c by default the automatic scale of
CCDR-2005 section 4, c = (10 / n) sum_i min_j |x_i - x_j|^2 over x_j != x_i. A function of distance
and scale covers the kernels exp(-Q(d) / c) of CCDR-MC appendix III, c one number or one a point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError

__all__ = [
    "Scale",
    "WeightFunction",
    "automatic_scale",
    "check_scale",
    "edge_weights",
    "relative_heat",
]

WeightFunction = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
Scale = float | NDArray[np.float64]

# An edge is an edge: far below it a weight would drown in rounding, at 0 its row has no degree.
LEAST_WEIGHT = 1e-100


def automatic_scale(distances: sp.csr_array) -> float:
    """Return ten times the mean squared distance to the nearest distinct point.

    Rows without a distinct neighbour in reach are left out of the mean.

    Parameters
    ----------
    distances : csr_array of shape (n_samples, n_samples)
        Symmetric distances; explicit zeros join equal points.

    Returns
    -------
    float
        The scale; 1 where no two points are distinct.
    """
    positive = np.where(distances.data > 0, distances.data, np.inf)
    occupied = np.flatnonzero(np.diff(distances.indptr))
    if len(occupied) == 0:
        return 1.0
    nearest = np.minimum.reduceat(positive, distances.indptr[occupied])
    nearest = nearest[np.isfinite(nearest)]
    if len(nearest) == 0:
        return 1.0
    largest = nearest.max()
    return float(10 * largest**2 * np.mean((nearest / largest) ** 2))


def check_scale(scale: Any, n_samples: int) -> Scale | None:
    """Return a given scale as a number or as one number a row; None for "auto"."""
    if isinstance(scale, str):
        if scale != "auto":
            raise InputError(
                f"scale={scale!r} is unknown: use 'auto', a positive number, or one a row."
            )
        return None
    values = np.asarray(scale, dtype=float)
    if values.ndim and values.shape != (n_samples,):
        raise InputError(
            f"scale has shape {values.shape} but X has {n_samples} rows: give one number, or one "
            "a row."
        )
    if not np.all(np.isfinite(values) & (values > 0)):
        raise InputError(f"scale={scale!r} must be positive and finite, or 'auto'.")
    return values.copy() if values.ndim else float(values)


def edge_weights(
    distances: NDArray[np.float64], scale: Scale, weights: str | WeightFunction
) -> NDArray[np.float64]:
    """Return one weight an edge.

    Parameters
    ----------
    distances : ndarray of shape (n_edges,)
        Length of every edge.
    scale : float or ndarray of shape (n_edges,)
        c of every edge.
    weights : {"heat", "binary"} or callable
        A callable takes distances and scales, arrays of one shape, and returns weights.
    """
    if callable(weights):
        return _checked(weights, distances, np.broadcast_to(scale, distances.shape))
    if weights == "binary":
        return np.ones_like(distances)
    if weights != "heat":
        raise InputError(f"weights={weights!r} is unknown: use 'heat', 'binary' or a callable.")
    return np.maximum(np.exp(-((distances / np.sqrt(scale)) ** 2)), LEAST_WEIGHT)


def relative_heat(distances: sp.csr_array, scale: Scale) -> NDArray[np.float64]:
    """Return heat weights of new rows' edges, the largest of every row 1.

    Where only ratios matter, this keeps those of a far row from being 0 / 0.

    Parameters
    ----------
    distances : csr_array of shape (n_new, n_samples)
        Lengths; no row is empty.
    scale : float or ndarray of shape (n_edges,)
        c of every edge.
    """
    starts, counts = distances.indptr[:-1], np.diff(distances.indptr)
    lengths = distances.data / np.sqrt(scale)
    least = np.repeat(np.minimum.reduceat(lengths, starts), counts)
    # (a - b)(a + b) keeps the digits that a^2 - b^2 loses far out.
    return np.maximum(np.exp(-(lengths - least) * (lengths + least)), LEAST_WEIGHT)


def _checked(
    function: WeightFunction, distances: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    values = np.asarray(function(distances, scale), dtype=float)
    if values.shape != distances.shape:
        raise InputError(
            f"weights returned an array of shape {values.shape} for {distances.shape} distances: "
            "it must return one weight an edge."
        )
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise InputError("weights returned a negative, infinite or NaN weight.")
    return np.maximum(values, LEAST_WEIGHT)
