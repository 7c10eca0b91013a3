"""Neighbours among distances that the caller computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.edges import keep_nearest, row_numbers, symmetrize
from labelfold.graph.furthest import Furthest, lowest_if_touching
from labelfold.graph.group_means import average, means_apart
from labelfold.graph.neighbors import Pairs, SearchReport, same_entries, shortest_of_each, to_rows
from labelfold.methods import stored

__all__ = ["PrecomputedIndex"]


@stored
class PrecomputedIndex:
    """Distances given by the caller, sparse as ``KNeighborsTransformer`` makes them, or dense."""

    def __init__(self, distances: Any) -> None:
        if distances.shape[0] != distances.shape[1]:
            raise InputError(
                "metric='precomputed' needs a square matrix of distances for fit, got shape "
                f"{distances.shape}: pass KNeighborsTransformer(mode='distance').fit_transform(X)."
            )
        self._given = distances
        self._off_diagonal = _explicit_rows(distances, drop_diagonal=True)

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        PrecomputedIndex.__init__(self, state["given"])

    @property
    def report(self) -> SearchReport:
        """How neighbours are found."""
        return SearchReport(backend="precomputed")

    @property
    def n_points(self) -> int:
        """Number of indexed rows."""
        return int(self._given.shape[0])

    def neighbors(self, n_neighbors: int) -> sp.csr_array:
        """Return distances of every indexed row to its nearest others."""
        return _keep_nearest(self._off_diagonal, n_neighbors)

    def query(self, X: Any, n_neighbors: int) -> sp.csr_array:
        """Return distances of new rows to their nearest indexed rows."""
        return _keep_nearest(_explicit_rows(X), n_neighbors)

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""
        rows = (self._off_diagonal if X is None else _explicit_rows(X)).tocoo()
        inside = rows.data <= radius
        return to_rows(rows.row[inside], rows.col[inside], rows.data[inside], rows.shape)

    def same_as(self, X: Any) -> bool:
        """Tell whether ``X`` is what was indexed."""
        return same_entries(X, self._given)

    def are_equal(self, X: Any, rows: NDArray[Any], indexed: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell for pairs at distance zero that they are equal: distance is all there is."""
        return np.ones(len(rows), dtype=bool)

    def exits(self, pieces: NDArray[Any]) -> Pairs:
        """Return the shortest given distance from every piece but the largest to another."""
        entries = self._off_diagonal.tocoo()
        crossing = pieces[entries.row] != pieces[entries.col]
        row, column, lengths = (part[crossing] for part in (entries.row, entries.col, entries.data))
        if len(lengths) == 0:
            raise InputError(
                f"The precomputed distances fall into {pieces.max() + 1} pieces with no distance "
                "between them: compute them with more neighbours."
            )
        return shortest_of_each(pieces[row], row, column, lengths)

    def furthest(self) -> Furthest:
        """Return every row's furthest other row, the shorter distance counting where two differ."""
        n, given = self.n_points, self._all_given("furthest neighbours")
        indices, distances = np.empty(n, dtype=np.intp), np.empty(n)
        for row in range(n):
            to_all = np.minimum(given[row], given[:, row])
            to_all[row] = -1
            indices[row] = to_all.argmax()
            distances[row] = to_all[indices[row]]
        return lowest_if_touching(indices, distances)

    def distance_sums(self) -> NDArray[np.float64]:
        """Return every row's sum of distances, the shorter distance counting where two differ."""
        return np.asarray(self._between_all("medoids").sum(axis=1))

    def distances_of_means(self, groups: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return what the distances say of those between the means of groups; -1 is in none."""
        share = average(groups)
        return means_apart(share @ (self._between_all("means") ** 2 @ share.T))

    def lengths(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return given distances, the shorter where two differ."""
        stored = symmetrize(self._off_diagonal)
        keys = row_numbers(stored) * np.int64(self.n_points) + stored.indices
        wanted = rows * np.int64(self.n_points) + columns
        places = np.searchsorted(keys, wanted)
        known = np.append(keys, -1)[places] == wanted
        if not known.all():
            row, column = rows[~known][0], columns[~known][0]
            raise InputError(
                f"{np.sum(~known)} distances that are needed are not among the precomputed ones, "
                f"such as that of rows {row} and {column}: compute them with more neighbours than "
                "the graph has, or pass the full matrix of distances."
            )
        return stored.data[places]

    def among(self, rows: NDArray[np.intp]) -> PrecomputedIndex:
        """Return an index of the given distances between some of the rows."""
        return PrecomputedIndex(self._given[rows][:, rows])

    def _between_all(self, what: str) -> NDArray[np.float64]:
        """Return all distances, the shorter where two differ."""
        given = self._all_given(what)
        between = np.minimum(given, given.T)
        np.fill_diagonal(between, 0)
        return between

    def _all_given(self, what: str) -> NDArray[np.float64]:
        n = self.n_points
        if self._off_diagonal.nnz < n * (n - 1):
            raise InputError(
                f"The precomputed distances are {self._off_diagonal.nnz} of the {n * (n - 1)} "
                f"between different rows, and {what} need all: pass the full matrix of distances, "
                "or the rows themselves with another metric."
            )
        given: Any = self._given
        return np.asarray(given.toarray() if sp.issparse(self._given) else given)


def _keep_nearest(rows: sp.csr_array, n_neighbors: int) -> sp.csr_array:
    """Keep the ``n_neighbors`` smallest entries of every row, and refuse rows that have fewer."""
    counts = np.diff(rows.indptr)
    if len(counts) and counts.min() < n_neighbors:
        raise InputError(
            f"Row {int(counts.argmin())} of the precomputed distances has {counts.min()} "
            f"neighbours, fewer than n_neighbors={n_neighbors}: compute them with at least "
            "that many, or lower n_neighbors."
        )
    return keep_nearest(rows, n_neighbors)


def _explicit_rows(distances: Any, *, drop_diagonal: bool = False) -> sp.csr_array:
    """Return given distances as sparse rows in which every stored entry is a neighbour."""
    given: Any = distances
    if sp.issparse(distances):
        entries = given.tocoo()
        row, column, values = entries.row, entries.col, entries.data
    else:
        row, column = np.indices(distances.shape).reshape(2, -1)
        values = np.asarray(given).ravel()
    if np.any(values < 0):
        raise InputError("Precomputed distances must not be negative.")
    keep = row != column if drop_diagonal else np.ones(len(row), dtype=bool)
    return to_rows(row[keep], column[keep], np.asarray(values[keep], dtype=float), given.shape)
