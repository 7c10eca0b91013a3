"""Distances of edges become weights: binary, heat, or any function of distance and scale.

Heat is w = exp(-d^2 / c) (CCDR-2005 section 2), with c by default the automatic scale of
CCDR-2005 section 4, c = (10 / n) sum_i min_j |x_i - x_j|^2 over x_j != x_i. A function of distance
and scale covers the kernels exp(-Q(d) / c) of CCDR-MC appendix III, c one number or one per point.

Self-tuning weights are heat with c = s_i s_j, where s_i is the distance from i to the last point on
its neighbor list (Zelnik-Manor and Perona, NIPS 2004): dense and sparse regions count alike. Shared
weights are these times J_ij^2, where J is the Jaccard index of the neighbor lists of i and j, each
with the point itself: edges between groups share few neighbors. Both halve the weight of an edge
that only one of its ends lists, unless the graph has another factor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.adjacency import row_ranges, with_values

__all__ = [
    "Scale",
    "WeightFunction",
    "automatic_scale",
    "check_scale",
    "edge_weights",
    "is_self_tuning",
    "list_scales",
    "relative_heat",
    "shared_neighbors",
]

WeightFunction = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
Scale = float | NDArray[np.float64]

# Far below it a weight would drown in rounding; at 0 an edge is lost, and a row may have no degree.
LEAST_WEIGHT = 1e-100
LONGEST = 1e150  # in units of the scale: its square is a number
LEAST_SHARED = 1e-3  # in place of a smaller J^2, which would cut edges
SELF_TUNING = ("self-tuning", "shared")
NAMES = ("heat", "binary", *SELF_TUNING)
PAIRS_AT_ONCE = 2**22  # of neighbor lists whose common entries are counted


def automatic_scale(distances: sp.csr_array) -> float:
    """Return ten times the mean squared distance to the nearest distinct point.

    Points without a distinct neighbor are left out of the mean; the scale is 1 if all are.
    """
    found = []
    for rows, entries in row_ranges(distances):
        starts = distances.indptr[rows.start : rows.stop + 1]
        values = distances.data[entries]
        values = np.where(values > 0, values, np.inf)
        if len(values):
            found.append(np.minimum.reduceat(values, starts[:-1][np.diff(starts) > 0] - starts[0]))
    nearest = np.concatenate([*found, np.empty(0)])
    nearest = nearest[nearest < np.inf]
    if len(nearest) == 0:
        return 1.0
    largest = nearest.max()
    return float(10 * largest**2 * np.mean((nearest / largest) ** 2))


def check_scale(scale: Any, n_samples: int) -> Scale | None:
    """Return a given scale as one number or as one per row; None for "auto"."""
    if isinstance(scale, str):
        if scale != "auto":
            raise InputError(
                f"scale={scale!r} is unknown: use 'auto', a positive number, or one per row."
            )
        return None
    try:
        values = np.asarray(scale, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"scale={scale!r} must be 'auto', a number, or one per row.") from error
    if values.ndim and values.shape != (n_samples,):
        raise InputError(
            f"scale has shape {values.shape} but X has {n_samples} rows: give one number, or one "
            "per row."
        )
    if not np.all(np.isfinite(values) & (values > 0)):
        raise InputError(f"scale={scale!r} must be positive and finite, or 'auto'.")
    return values.copy() if values.ndim else float(values)


def edge_weights(
    distances: NDArray[np.float64], scale: Scale, weights: str | WeightFunction
) -> NDArray[np.float64]:
    """Return one weight per edge, given its length and the scale of all edges or of each.

    A callable takes distances and scales, arrays of one shape, and returns weights.
    """
    if callable(weights):
        return _checked(weights, distances, np.broadcast_to(scale, distances.shape))
    if not isinstance(weights, str) or weights not in NAMES:
        raise InputError(f"weights={weights!r} is unknown: use one of {NAMES} or a callable.")
    if weights == "binary":
        return np.ones_like(distances)
    with np.errstate(over="ignore"):  # infinitely far at this scale: the least weight
        values = np.square(distances / np.sqrt(scale))
    np.exp(np.negative(values, out=values), out=values)
    return np.maximum(values, LEAST_WEIGHT, out=values)


def is_self_tuning(weights: str | WeightFunction) -> bool:
    """Return whether every point has a scale of its own, from its neighbor list."""
    return isinstance(weights, str) and weights in SELF_TUNING


def list_scales(lists: sp.csr_array) -> NDArray[np.float64]:
    """Return s^2 of every row, s being the largest distance on its list; never 0.

    A row whose list holds only equal rows, or nothing, has the smallest scale of the others.
    """
    scales = np.asarray(lists.max(axis=1).toarray(), dtype=float).ravel() ** 2
    least = np.min(scales, where=scales > 0, initial=np.inf)
    return np.where(scales > 0, scales, least if np.isfinite(least) else 1.0)


def shared_neighbors(
    edges: sp.csr_array, lists: sp.csr_array, other_lists: sp.csr_array
) -> NDArray[np.float64]:
    """Return J^2 of every stored edge (i, j), from the list of row i and the other list of row j.

    Rows of ``lists`` and ``other_lists`` hold neighbors among the same points.
    """
    ones, others = (
        with_values(one, np.ones(one.nnz, dtype=np.int8)) for one in (lists, other_lists)
    )
    sizes, other_sizes = np.diff(ones.indptr), np.diff(others.indptr)
    shares = np.empty(edges.nnz)
    step = max(1, PAIRS_AT_ONCE // max(1, int(sizes.max(initial=1))))
    for start in range(0, edges.nnz, step):
        part = slice(start, min(start + step, edges.nnz))
        numbers = np.arange(part.start, part.stop)
        rows, columns = np.searchsorted(edges.indptr, numbers, "right") - 1, edges.indices[part]
        product = ones[rows].multiply(others[columns])
        common = np.asarray(product.sum(axis=1), dtype=float)
        shares[part] = (common / (sizes[rows] + other_sizes[columns] - common)) ** 2
    return np.maximum(shares, LEAST_SHARED, out=shares)


def relative_heat(distances: sp.csr_array, scale: Scale) -> NDArray[np.float64]:
    """Return heat weights of new rows' edges, the largest of every row 1; no row is empty.

    If only ratios matter, this keeps those of a far row from being 0 / 0.
    """
    starts, counts = distances.indptr[:-1], np.diff(distances.indptr)
    with np.errstate(over="ignore"):
        lengths = np.minimum(distances.data / np.sqrt(scale), LONGEST)
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
            "it must return one weight per edge."
        )
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise InputError(
            "weights returned a negative, infinite or NaN weight: it must return finite weights of "
            "at least 0."
        )
    return np.maximum(values, LEAST_WEIGHT)
