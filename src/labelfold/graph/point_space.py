"""Rows as the neighbor search sees them: one metric, measured the same way everywhere.

Searches may be fast and rough: the Euclidean distances they return are measured again here, by
differences in float64, so that equal rows are at distance exactly 0 and d(i, j) equals d(j, i) to
the last bit. Cosine is searched as Euclidean distance between unit rows, u and v, for which
1 - cos = |u - v|^2 / 2 keeps the digits that 1 - u.v loses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import paired_euclidean_distances
from sklearn.preprocessing import normalize

from labelfold.checks import row_blocks
from labelfold.exceptions import InputError
from labelfold.graph.adjacency import row_numbers, with_values
from labelfold.methods import stored

__all__ = [
    "LEAST_ENTRY",
    "Metric",
    "PointSpace",
    "PreparedRows",
    "Rows",
    "as_float64",
    "middle",
    "number_equal_rows",
    "rows_are_equal",
]

Rows = NDArray[np.float64] | sp.csr_array
Metric = str | Callable[[NDArray[np.float64], NDArray[np.float64]], float]

# Searched as Euclidean distance; scikit-learn's minkowski has p = 2 unless told otherwise.
EUCLIDEAN = ("euclidean", "l2", "minkowski", "sqeuclidean", "cosine")
LARGEST_ENTRY = 1e152  # above it squared distances overflow
LEAST_ENTRY = 1e-152  # if the largest entry is below it, they vanish
SHORT_ROW = 1e-10  # for cosines, a row whose largest entry is below it is rescaled first
PAIRS_AT_ONCE = 2**17  # entries gathered while distances are measured: they fit the cache


@stored
@dataclass(frozen=True, eq=False)
class PointSpace:
    """How to search and to measure in a metric: any that ``NearestNeighbors`` takes, or cosine."""

    metric: Metric

    @property
    def search_metric(self) -> Metric:
        """The metric in which prepared rows are searched."""
        return "euclidean" if self.metric in EUCLIDEAN else self.metric

    def check(self, X: Any, *, least: float = 0.0) -> None:
        """Raise InputError for rows whose magnitude the metric cannot take."""
        _check_magnitude(X, least)
        if self.metric == "cosine":
            blocks = [slice(None)] if sp.issparse(X) else row_blocks(*X.shape)
            _check_zeros(np.concatenate([largest_entries(as_float64(X[b])) for b in blocks]))

    def prepare(self, X: Any, *, least: float = 0.0) -> Rows:
        """Check the rows' magnitude and return them as they are searched."""
        self.check(X, least=least)
        return unit_rows(X) if self.metric == "cosine" else X

    def from_search(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn distances between prepared rows into distances in the metric."""
        if self.metric == "sqeuclidean":
            return distances**2
        return distances**2 / 2 if self.metric == "cosine" else distances

    def to_search(self, distances: Any) -> Any:
        """Turn distances in the metric into distances between prepared rows."""
        if self.metric == "sqeuclidean":
            return np.sqrt(distances)
        return np.sqrt(2 * distances) if self.metric == "cosine" else distances

    def between(self, a: Rows, b: Rows) -> NDArray[np.float64]:
        """Return all distances between the prepared rows of ``a`` and of ``b``."""
        if self.search_metric == "euclidean" and not (sp.issparse(a) or sp.issparse(b)):
            return np.asarray(cdist(a, b))
        return np.asarray(pairwise_distances(a, b, metric=self.search_metric))

    def measure(
        self,
        a: Rows,
        b: Rows,
        pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
        rough: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Measure the distance of row ``pairs[0][e]`` of ``a`` to row ``pairs[1][e]`` of ``b``.

        For metrics other than the Euclidean the search has no shortcut, and ``rough`` is exact
        except for equal rows that rounding keeps apart.
        """
        if self.search_metric != "euclidean":
            exact = rough.copy()
            close = np.flatnonzero((rough != 0) & (rough < 1e-12))
            equal = rows_are_equal(a, pairs[0][close], b, pairs[1][close])
            exact[close[equal]] = 0
            return exact
        exact = np.empty(len(rough))
        step = max(1, PAIRS_AT_ONCE // max(1, a.shape[1]))
        for start in range(0, len(rough), step):
            part = slice(start, start + step)
            left, right = a[pairs[0][part]], b[pairs[1][part]]
            if sp.issparse(left):
                exact[part] = paired_euclidean_distances(left, right)
            else:
                differences = left - right
                exact[part] = np.sqrt(np.einsum("ij,ij->i", differences, differences))
        return exact


class PreparedRows:
    """Dense rows of a narrow type, of which a selection is what ``prepare`` makes of it in float64.

    All of them become float64 only if ``numpy.asarray`` asks for it.
    """

    def __init__(self, X: NDArray[Any], space: PointSpace) -> None:
        self._X, self._is_cosine = X, space.metric == "cosine"
        self.shape = X.shape
        space.check(X)

    def __getitem__(self, selection: Any) -> NDArray[np.float64]:
        rows = as_float64(self._X[selection])
        return np.asarray(unit_rows(rows) if self._is_cosine else rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.float64]:
        return np.asarray(self[:], dtype=dtype)


def as_float64(X: Any) -> Any:
    """Return rows in float64, without a copy if they are."""
    return X.astype(np.float64, copy=False)


def unit_rows(rows: Rows) -> Rows:
    """Return rows, none of them zero, scaled to length 1."""
    largest = largest_entries(rows)
    short = largest < SHORT_ROW
    if short.any():  # normalize would leave such a row as it is, or divide by 0
        divisors = np.where(short, largest, 1.0)
        if sp.issparse(rows):
            rows = with_values(rows, rows.data / divisors[row_numbers(rows)])
        else:
            rows = rows / divisors[:, None]
    return normalize(rows)


def largest_entries(rows: Any) -> NDArray[np.float64]:
    """Return the largest absolute entry of every row."""
    largest = abs(rows).max(axis=1)
    return np.asarray(largest.toarray().ravel() if sp.issparse(rows) else largest)


def rows_are_equal(
    a: Any, rows_of_a: NDArray[Any], b: Any, rows_of_b: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return for pairs of rows, dense or sparse, whether they are the same."""
    if len(rows_of_a) == 0:
        return np.zeros(0, dtype=bool)
    equal = np.empty(len(rows_of_a), dtype=bool)
    for part in row_blocks(len(equal), a.shape[1]):
        differs = a[rows_of_a[part]] != b[rows_of_b[part]]
        equal[part] = np.asarray(differs.sum(axis=1)).ravel() == 0
    return equal


def number_equal_rows(rows: Rows) -> NDArray[np.intp]:
    """Return for every row the number of its group of equal rows, in order of appearance."""
    matrix: Any = rows if sp.issparse(rows) else np.asarray(rows)
    if sp.issparse(rows):
        spans = [slice(*ends) for ends in pairwise(matrix.indptr)]
        keys = (matrix.indices[part].tobytes() + matrix.data[part].tobytes() for part in spans)
    else:
        keys = (row.tobytes() for row in matrix + 0.0)  # -0.0 is 0.0
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def middle(rows: Any) -> NDArray[np.float64]:
    """Return the median of about a thousand rows: a center that outliers do not move."""
    return np.asarray(np.median(rows[:: max(1, rows.shape[0] // 1000)], axis=0))


def _check_zeros(largest: NDArray[np.float64]) -> None:
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        raise InputError(
            f"metric='cosine' is not defined for rows of zeros, such as row {zero[0]} "
            f"({len(zero)} of {len(largest)} rows): drop them or use another metric."
        )


def _check_magnitude(rows: Rows, least: float) -> None:
    entries = rows.data if sp.issparse(rows) else rows
    largest = max(float(np.max(entries, initial=0.0)), -float(np.min(entries, initial=0.0)))
    if largest > LARGEST_ENTRY or 0 < largest < least:
        raise InputError(
            f"X has its largest entry at {largest:.3g}, where squared distances leave the range "
            "of float64: rescale X, for instance with sklearn.preprocessing.MaxAbsScaler."
        )
