"""Neighbors among distances that the caller computed.

A :class:`PrecomputedIndex` answers the same questions as an index of rows: both are a
``NeighborIndex``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.adjacency import (
    keep_entries,
    keep_nearest,
    row_numbers,
    row_ranges,
    symmetrize,
    with_values,
)
from labelfold.graph.neighbor_index import PointIndex, SearchReport, Selection, same_entries
from labelfold.methods import stored

__all__ = ["NeighborIndex", "PrecomputedIndex"]


@stored
class PrecomputedIndex:
    """Distances given by the caller, sparse as ``KNeighborsTransformer`` makes them, or dense.

    Every stored entry is a neighbor; the shorter counts if two differ. ``known`` are the given
    distances between different rows.
    """

    def __init__(self, distances: Any) -> None:
        if distances.shape[0] != distances.shape[1]:
            raise InputError(
                "metric='precomputed' needs a square matrix of distances for fit, got shape "
                f"{distances.shape}: pass KNeighborsTransformer(mode='distance').fit_transform(X)."
            )
        self._given = distances
        self.known = _stored_entries(distances, drop_diagonal=True)

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        PrecomputedIndex.__init__(self, state["given"])

    @property
    def report(self) -> SearchReport:
        """How neighbors are searched."""
        return SearchReport(backend="precomputed")

    @property
    def n_points(self) -> int:
        """Number of indexed rows."""
        return int(self._given.shape[0])

    def neighbors(self, n_neighbors: int) -> sp.csr_array:
        """Return distances of every indexed row to its nearest others."""
        return _nearest(self.known, n_neighbors)

    def query(self, X: Any, n_neighbors: int) -> sp.csr_array:
        """Return distances of new rows to their nearest indexed rows."""
        return _nearest(_stored_entries(X), n_neighbors)

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""
        given = self.known if X is None else _stored_entries(X)
        return keep_entries(given, given.data <= radius)

    def among(self, rows: NDArray[np.intp]) -> PrecomputedIndex:
        """Return an index of the given distances between some of the rows."""
        return PrecomputedIndex(self._given[rows][:, rows])

    def same_as(self, X: Any) -> bool:
        """Return whether ``X`` is what was indexed."""
        return same_entries(X, self._given)

    def are_equal(self, X: Any, rows: NDArray[Any], indexed: NDArray[Any]) -> NDArray[np.bool_]:
        """Return True for all pairs at distance zero: distance is all there is."""
        return np.ones(len(rows), dtype=bool)

    def pair_distances(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the given distances of pairs, the shorter if two differ."""
        stored = symmetrize(self.known)
        keys = row_numbers(stored) * np.int64(self.n_points) + stored.indices
        wanted = rows * np.int64(self.n_points) + columns
        places = np.searchsorted(keys, wanted)
        is_known = np.append(keys, -1)[places] == wanted
        if not is_known.all():
            row, column = rows[~is_known][0], columns[~is_known][0]
            raise InputError(
                f"{np.sum(~is_known)} distances that are needed are not among the precomputed "
                f"ones, such as that of rows {row} and {column}: compute them with more neighbors "
                "than the graph has, or pass the full matrix of distances."
            )
        return stored.data[places]

    def between(self, rows: Selection, columns: Selection) -> NDArray[np.float64]:
        """Return all distances between some rows and some others, the shorter if two differ."""
        n = self.n_points
        if self.known.nnz < n * (n - 1):
            raise InputError(
                f"The precomputed distances are {self.known.nnz} of the {n * (n - 1)} between "
                "different rows, and all are needed here: pass the full matrix of distances, or "
                "the rows themselves with another metric."
            )
        given: Any = self._given
        there, back = given[rows][:, columns], given[columns][:, rows]
        if sp.issparse(given):
            there, back = there.toarray(), back.toarray()
        numbers = np.arange(n)
        itself = numbers[rows][:, None] == numbers[columns]
        return np.where(itself, 0.0, np.minimum(there, back.T))


NeighborIndex = PointIndex | PrecomputedIndex
NEGATIVE = "Precomputed distances must not be negative."


def _nearest(rows: sp.csr_array, n_neighbors: int) -> sp.csr_array:
    """Keep the ``n_neighbors`` smallest entries of every row; raise if a row has fewer."""
    counts = np.diff(rows.indptr)
    if len(counts) and counts.min() < n_neighbors:
        raise InputError(
            f"Row {int(counts.argmin())} of the precomputed distances has {counts.min()} "
            f"neighbors, and {n_neighbors} are needed: compute them with n_neighbors="
            f"{n_neighbors} or more, or lower n_neighbors if the estimator has it."
        )
    return keep_nearest(rows, n_neighbors)


def _stored_entries(distances: Any, *, drop_diagonal: bool = False) -> sp.csr_array:
    """Return given distances as sparse rows in which every stored entry is a neighbor."""
    given: Any = distances
    if isinstance(given, sp.csr_array | sp.csr_matrix) and given.has_canonical_format:
        lists = with_values(sp.csr_array(given), given.data.astype(float, copy=False))
        if not (drop_diagonal and _has_diagonal(lists)):
            if np.any(lists.data < 0):
                raise InputError(NEGATIVE)
            return lists  # without a copy: there may be billions of entries
    if sp.issparse(distances):
        entries = given.tocoo()
        row, column, values = entries.row, entries.col, entries.data
    else:
        row, column = np.indices(distances.shape).reshape(2, -1)
        values = np.asarray(given).ravel()
    if np.any(values < 0):
        raise InputError(NEGATIVE)
    keep = row != column if drop_diagonal else np.ones(len(row), dtype=bool)
    ends = row[keep], column[keep]
    return sp.csr_array((np.asarray(values[keep], dtype=float), ends), shape=given.shape)


def _has_diagonal(lists: sp.csr_array) -> bool:
    """Return whether an entry is stored for a row and itself."""
    for rows, entries in row_ranges(lists):
        counts = np.diff(lists.indptr[rows.start : rows.stop + 1])
        if np.any(np.repeat(np.arange(rows.start, rows.stop), counts) == lists.indices[entries]):
            return True
    return False
