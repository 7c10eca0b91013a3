"""Nearest neighbors behind ``neighbors``, ``query`` and ``within``.

A search returns a sparse matrix of distances with one row per query; explicit zeros are neighbors
at distance zero. Among equally distant candidates of an exact search the lowest row number wins:
the graph depends neither on the number of threads nor on the batch of a query. This module has the
exact search; :mod:`labelfold.graph.search` chooses between it and an approximate one,
:mod:`labelfold.graph.precomputed` reads distances that the caller computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from labelfold.checks import input_errors, row_blocks
from labelfold.graph.adjacency import keep_entries, row_numbers, with_values
from labelfold.graph.point_space import (
    LEAST_ENTRY,
    PointSpace,
    Rows,
    as_float64,
    middle,
    number_equal_rows,
    rows_are_equal,
)
from labelfold.methods import stored
from labelfold.threads import limit_threads

__all__ = [
    "ExactIndex",
    "Lists",
    "PointIndex",
    "SearchReport",
    "others_than",
    "same_entries",
]

SPARE_CANDIDATES = 4  # searched above k, to see and settle ties at the cut-off
# Above it a tree visits most leaves: 60,000 isotropic rows take 3 s in 6 dimensions, 24 s in 10
# and 81 s in 14, where pairwise reduction takes 6 s. (scikit-learn draws the line at 15.)
KD_TREE_DIMENSIONS = 6
KD_TREE_METRICS = ("euclidean", "manhattan", "l1", "cityblock", "chebyshev")
DISTANCES_AT_ONCE = 2**24  # held in memory while ties are settled
LARGEST_COPY = 2**28  # bytes of rows; more are kept as a reference

Selection = NDArray[np.intp] | slice
Lists = tuple[NDArray[Any], NDArray[np.float64]]  # row numbers and distances, one row per query


@dataclass(frozen=True)
class SearchReport:
    """How neighbors are searched: by which library and structure, and with what recall.

    ``recall`` is the share of true neighbors that are found: 1 for an exact search, measured on
    ``n_checked`` rows for an approximate one.
    """

    backend: str
    recall: float = 1.0
    n_checked: int = 0

    def __str__(self) -> str:
        if self.n_checked == 0:
            return f"{self.backend}, exact"
        return f"{self.backend}, recall {self.recall:.3f} on {self.n_checked} rows"


class PointIndex(ABC):
    """What exact and approximate search share: measuring and comparing rows.

    ``X`` are the rows as given, ``rows`` as ``space`` prepares them, in float64. Pass ``copy=True``
    if the caller may write into X later; more than 256 MB are not copied.
    """

    rows: Any

    def __init__(
        self, X: Any, space: PointSpace, *, n_jobs: int | None = None, copy: bool = True
    ) -> None:
        n_bytes = (X.data if sp.issparse(X) else X).nbytes  # type: ignore[attr-defined]
        self.X = X.copy() if copy and n_bytes <= LARGEST_COPY else X
        self.space, self.n_jobs = space, n_jobs
        self.rows = self._prepare(least=LEAST_ENTRY)
        self._center: NDArray[np.float64] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Rows and parameters alone; derived data is rebuilt deterministically.
        derived = ("rows", "_search")
        return {name: value for name, value in vars(self).items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.rows = self._prepare()

    @property
    @abstractmethod
    def report(self) -> SearchReport:
        """How neighbors are searched."""

    @property
    def n_points(self) -> int:
        """Number of indexed rows."""
        return int(self.rows.shape[0])

    def neighbors(self, n_neighbors: int) -> sp.csr_array:
        """Return distances of every indexed row to its nearest others."""
        lists = self.search_lists(self.rows, n_neighbors, own=np.arange(self.n_points))
        return self._to_rows(*lists)

    def query(self, X: Any, n_neighbors: int) -> sp.csr_array:
        """Return distances of new rows to their nearest indexed rows."""
        n_queries = X.shape[0]
        lists = self._empty_lists(n_queries, n_neighbors)
        for block in row_blocks(*X.shape):
            queries = self.space.prepare(as_float64(self._as_stored(X[block])))
            lists[0][block], lists[1][block] = self.search_lists(queries, n_neighbors, own=None)
        return self._to_rows(*lists)

    @abstractmethod
    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""

    @abstractmethod
    def search_lists(self, queries: Rows, k: int, *, own: NDArray[np.intp] | None) -> Lists:
        """Return the k nearest to prepared rows, with search distances.

        ``own`` are the numbers of queries that are indexed rows, which are not their own neighbors.
        """

    @abstractmethod
    def with_rows(self, X: Any) -> PointIndex:
        """Return an index that has new rows as well, numbered after the indexed ones."""

    def among(self, rows: NDArray[np.intp]) -> ExactIndex:
        """Return an exact index of some of the indexed rows, numbered in their order."""
        return self.of_rows(self.X[rows])

    def of_rows(self, X: Any) -> ExactIndex:
        """Return an exact index of other rows."""
        return ExactIndex(self._as_stored(X), self.space, n_jobs=self.n_jobs, copy=False)

    def same_as(self, X: Any) -> bool:
        """Return whether ``X`` is what was indexed."""
        return same_entries(X, self.X)

    def are_equal(self, X: Any, rows: NDArray[Any], indexed: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether ``rows`` of ``X`` equal the ``indexed`` rows, for pairs at distance 0.

        None for ``X`` stands for the indexed rows themselves.
        """
        X = self.X if X is None else self._as_stored(X)
        return rows_are_equal(X, rows, self.X, indexed)

    def pair_distances(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the distances between pairs of different indexed rows."""
        rough = np.empty(len(rows))
        if self.space.search_metric != "euclidean":
            order = np.argsort(rows, kind="stable")
            starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
            for pairs in np.split(order, starts)[1:]:  # those of one row
                row, others = self.rows[rows[pairs[:1]]], self.rows[columns[pairs]]
                rough[pairs] = self.space.between(row, others)[0]
        exact = self.space.measure(self.rows, self.rows, (rows, columns), rough)
        return self.space.from_search(exact)

    def between(self, rows: Selection, columns: Selection) -> NDArray[np.float64]:
        """Return all distances between some indexed rows and some others."""
        return self.space.from_search(self.space.between(self.rows[rows], self.rows[columns]))

    def _with_rows(self, X: Any) -> Any:
        """Return the indexed rows, and new ones below them."""
        both: Any = [self.X, self._as_stored(X)]
        return sp.csr_array(sp.vstack(both)) if sp.issparse(self.X) else np.vstack(both)

    def _as_stored(self, X: Any) -> Any:
        """Return new rows dense or sparse as the indexed ones are."""
        if sp.issparse(X) == sp.issparse(self.X):
            return X
        return sp.csr_array(X) if sp.issparse(self.X) else np.asarray(X.toarray())

    def _prepare(self, *, least: float = 0.0) -> Any:
        """Return the indexed rows as they are searched."""
        return self.space.prepare(as_float64(self.X), least=least)

    def _empty_lists(self, n_queries: int, k: int) -> Lists:
        """Return room for lists, in the narrow type if that can number the rows."""
        narrow = max(self.n_points, n_queries * k) <= np.iinfo(np.int32).max
        indices = np.empty((n_queries, k), dtype=np.int32 if narrow else np.int64)
        return indices, np.empty((n_queries, k))

    def _shift(self, rows: Rows) -> Rows:
        return rows if self._center is None else rows - self._center

    def _to_rows(self, indices: NDArray[np.intp], distances: NDArray[np.float64]) -> sp.csr_array:
        """Return lists as sparse rows, in distances of the metric."""
        n_queries, k = indices.shape
        starts = np.arange(0, n_queries * k + 1, k, dtype=indices.dtype)
        data = self.space.from_search(distances.ravel())
        rows = sp.csr_array((data, indices.ravel(), starts), shape=(n_queries, self.n_points))
        rows.sort_indices()  # SciPy might sort in place later, under others that share the arrays
        return rows

    def _nearest_of_all(self, queries: Rows, k: int, own: NDArray[np.intp] | None) -> Lists:
        """Compare with every indexed row: slow, and sure about ties. Equal queries go once."""
        if own is not None:
            indices, distances = self._nearest_of_all(queries, k + 1, None)
            others = others_than(own, indices)
            return indices[others].reshape(-1, k), distances[others].reshape(-1, k)
        of_query = number_equal_rows(queries)
        distinct = queries[np.unique(of_query, return_index=True)[1]]
        indices = np.empty((distinct.shape[0], k), dtype=np.intp)
        rough = np.empty(indices.shape)
        step = max(1, DISTANCES_AT_ONCE // self.n_points)
        for start in range(0, len(indices), step):
            to_all = self._to_all(distinct[start : start + step])
            kth = np.partition(to_all, k - 1, axis=1)[:, k - 1]
            for row, distances in enumerate(to_all):
                near = np.flatnonzero(distances <= kth[row])
                nearest = near[np.argsort(distances[near], kind="stable")[:k]]
                indices[start + row], rough[start + row] = nearest, distances[nearest]
        indices, distances = self._measure_and_sort(distinct, indices, rough)
        return indices[of_query], distances[of_query]

    def _to_all(self, queries: Rows) -> NDArray[np.float64]:
        rows = self.rows
        blocks = [slice(None)] if sp.issparse(rows) else row_blocks(*rows.shape)
        return np.hstack([self.space.between(queries, rows[block]) for block in blocks])

    def _measure_and_sort(
        self, queries: Rows, indices: NDArray[np.intp], rough: NDArray[np.float64] | None = None
    ) -> Lists:
        """Return candidates by (distance, row number), and their distances."""
        n_queries, n_candidates = indices.shape
        pairs = np.repeat(np.arange(n_queries), n_candidates), indices.ravel()
        rough = np.empty(indices.shape) if rough is None else rough
        exact = self.space.measure(queries, self.rows, pairs, rough.ravel())
        exact = exact.reshape(indices.shape)
        order = np.lexsort((indices, exact), axis=1)
        return np.take_along_axis(indices, order, axis=1), np.take_along_axis(exact, order, axis=1)


@stored
class ExactIndex(PointIndex):
    """Exact search with scikit-learn: a k-d tree in few dimensions, else pairwise reduction."""

    def __init__(
        self, X: Any, space: PointSpace, *, n_jobs: int | None = None, copy: bool = True
    ) -> None:
        super().__init__(X, space, n_jobs=n_jobs, copy=copy)
        dense = not sp.issparse(self.rows)
        tree = (
            dense
            and self.rows.shape[1] <= KD_TREE_DIMENSIONS
            and space.search_metric in KD_TREE_METRICS
        )
        self._algorithm = "kd_tree" if tree else "brute"
        self._expands = dense and not tree and space.search_metric == "euclidean"
        if self._expands:
            self._center = _center_if_far(np.asarray(self.rows))

    @property
    def report(self) -> SearchReport:
        """How neighbors are searched."""
        return SearchReport(backend=f"scikit-learn {self._algorithm}")

    def with_rows(self, X: Any) -> ExactIndex:
        """Return an index that has new rows as well, numbered after the indexed ones."""
        return self.of_rows(self._with_rows(X))

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""
        queries = self.rows if X is None else self.space.prepare(self._as_stored(X))
        reach = self.space.to_search(radius)
        with limit_threads(self.n_jobs):
            rough = self._search.radius_neighbors_graph(
                None if X is None else self._shift(queries),
                radius=self._widened(reach),
                mode="distance",
            )
        pairs = row_numbers(rough), rough.indices
        exact = self.space.measure(queries, self.rows, pairs, rough.data)
        found = keep_entries(with_values(rough, self.space.from_search(exact)), exact <= reach)
        return found.sorted_indices()

    def search_lists(self, queries: Rows, k: int, *, own: NDArray[np.intp] | None) -> Lists:
        """Return the k nearest to prepared rows, with search distances."""
        n_others = self.n_points - (own is not None)
        n_candidates = min(k + SPARE_CANDIDATES, n_others)
        with limit_threads(self.n_jobs):
            rough, candidates = self._search.kneighbors(
                self._shift(queries) if own is None else None, n_neighbors=n_candidates
            )
        candidates, exact = self._measure_and_sort(queries, candidates, rough)
        indices, distances = candidates[:, :k], exact[:, :k]
        # In doubt if the cut at k falls inside a tie that reaches the last candidate.
        doubtful = exact[:, k - 1] == exact[:, -1]
        if self._expands:
            doubtful |= self._drown(queries, distances[:, -1])
        if n_candidates < n_others and doubtful.any():
            rows = np.flatnonzero(doubtful)
            indices[rows], distances[rows] = self._nearest_of_all(
                queries[rows], k, None if own is None else own[rows]
            )
        return indices, distances

    @cached_property
    def _search(self) -> NearestNeighbors:
        """scikit-learn's search, built on first use."""
        search = NearestNeighbors(
            algorithm=self._algorithm, metric=self.space.search_metric, n_jobs=self.n_jobs
        )
        with input_errors():  # an unknown metric
            return search.fit(self._shift(self.rows))

    def _widened(self, reach: float) -> float:
        """Return a reach with room for rounding in the search; the exact cut follows."""
        if not self._expands:
            return reach * (1 + 1e-6)
        shifted = np.asarray(self._shift(self.rows))
        largest = float(np.einsum("ij,ij->i", shifted, shifted).max())
        return float(np.hypot(reach * (1 + 1e-6), 1e-7 * np.sqrt(largest)))

    def _drown(self, queries: Rows, reach: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return where |x|^2 - 2 x.y + |y|^2 has too few digits to order neighbors so close."""
        shifted = np.asarray(self._shift(queries))
        size = np.einsum("ij,ij->i", shifted, shifted)
        return (reach > 0) & (reach**2 < 1e-9 * size)


def _center_if_far(rows: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the rows' middle, or None if they already lie around the origin.

    Pairwise reduction expands |x - y|^2, which loses digits far from the origin. Shifted rows are a
    copy, which is made only if it gains something.
    """
    center = middle(rows)
    some = rows[:: max(1, len(rows) // 1000)] - center
    is_far = center @ center > np.mean(np.einsum("ij,ij->i", some, some))
    return center if is_far else None


def same_entries(a: Any, b: Any) -> bool:
    """Return whether two matrices, dense or sparse, are equal."""
    if a is b:
        return True
    if a.shape != b.shape or sp.issparse(a) != sp.issparse(b):
        return False
    if sp.issparse(a):
        return bool((a != b).nnz == 0)
    return all(np.array_equal(a[block], b[block]) for block in row_blocks(*a.shape))


def others_than(own: NDArray[np.intp], indices: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark all but the query's own row in every list, or all but the last if it is not there."""
    itself = indices == own[:, None]
    itself[~itself.any(axis=1), -1] = True
    return ~itself
