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

__all__ = ["Scale", "WeightFunction", "automatic_scale", "check_scale", "edge_weights"]

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
            raise ValueError(
                f"scale={scale!r} is unknown: use 'auto', a positive number, or one a row."
            )
        return None
    values = np.asarray(scale, dtype=float)
    if values.ndim and values.shape != (n_samples,):
        raise ValueError(
            f"scale has shape {values.shape} but X has {n_samples} rows: give one number, or one "
            "a row."
        )
    if not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"scale={scale!r} must be positive and finite, or 'auto'.")
    return values if values.ndim else float(values)


def edge_weights(
    distances: NDArray[np.float64],
    scale: Scale,
    weights: str | WeightFunction,
    *,
    nearest: NDArray[np.float64] | None = None,
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
    nearest : ndarray of shape (n_edges,), default=None
        A length to subtract, squared, before heat's exponential: the same for all edges of one
        query, it cancels in ratios of weights and keeps those of a far query from being 0 / 0.
    """
    if callable(weights):
        return _checked(weights, distances, np.broadcast_to(scale, distances.shape))
    if weights == "binary":
        return np.ones_like(distances)
    if weights != "heat":
        raise ValueError(f"weights={weights!r} is unknown: use 'heat', 'binary' or a callable.")
    root = np.sqrt(scale)
    exponent = (distances / root) ** 2
    if nearest is not None:
        # (d - m)(d + m) keeps the digits that d^2 - m^2 loses far out.
        exponent = ((distances - nearest) / root) * ((distances + nearest) / root)
    return np.maximum(np.exp(-exponent), LEAST_WEIGHT)


def _checked(
    function: WeightFunction, distances: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    values = np.asarray(function(distances, scale), dtype=float)
    if values.shape != distances.shape:
        raise ValueError(
            f"weights returned an array of shape {values.shape} for {distances.shape} distances: "
            "it must return one weight an edge."
        )
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ValueError("weights returned a negative, infinite or NaN weight.")
    return np.maximum(values, LEAST_WEIGHT)
