"""Nearest neighbours behind ``neighbors`` and ``query``, whatever does the searching.

A search returns a sparse matrix of distances with one row a query point; explicit zeros are
neighbours at distance zero. Among equally distant candidates of an exact search the lowest row
number wins, so that the graph depends neither on the number of threads nor on the batch a query
came in.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from labelfold.graph.edges import row_numbers
from labelfold.graph.furthest import Furthest, furthest_rows
from labelfold.graph.group_means import distances_of_means
from labelfold.graph.near_pairs import near_pairs
from labelfold.graph.neighbor_index import NeighborIndex, Pairs, SearchReport
from labelfold.graph.point_space import LEAST_ENTRY, PointSpace, Rows, middle, rows_are_equal
from labelfold.methods import stored
from labelfold.threads import limit_threads

__all__ = [
    "ExactIndex",
    "NeighborIndex",
    "Pairs",
    "PointIndex",
    "SearchReport",
    "others_than",
    "same_entries",
    "shortest_of_each",
    "to_rows",
]

SPARE_CANDIDATES = 4  # found beyond k, so that ties at the cut-off can be seen and settled
# Beyond it a tree visits most leaves: 60,000 isotropic rows take 3 s in 6 dimensions, 24 s in 10
# and 81 s in 14, where pairwise reduction takes 6 s. (scikit-learn draws the line at 15.)
KD_TREE_DIMENSIONS = 6
KD_TREE_METRICS = ("euclidean", "manhattan", "l1", "cityblock", "chebyshev")
SMALL_PIECES = (5, 20, 100)  # rows; such a piece is left by widening its rows' searches
PAIRS_COMPARED = 10**9  # when leaving a larger piece
ROWS_AT_ONCE = 2**24  # distances held in memory while ties are settled or sums taken
ROWS_MEASURED = 32  # by one call, although most of the distances between them are not asked for


class PointIndex(ABC):
    """What exact and approximate search over rows share: measuring and comparing rows."""

    def __init__(
        self, X: Any, space: PointSpace, *, n_jobs: int | None = None, copy: bool = True
    ) -> None:
        self._X = X.copy() if copy else X  # the caller may write into X later
        self._space, self._n_jobs = space, n_jobs
        self._rows = space.prepare(self._X, least=LEAST_ENTRY)
        self._center: NDArray[np.float64] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Rows and parameters alone: what is made of them is made again, the same.
        return {name: value for name, value in vars(self).items() if name != "_rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._rows = self._space.prepare(self._X)

    @property
    @abstractmethod
    def report(self) -> SearchReport:
        """How neighbours are found."""

    @property
    def n_points(self) -> int:
        """Number of indexed rows."""
        return int(self._rows.shape[0])

    def same_as(self, X: Any) -> bool:
        """Tell whether ``X`` is what was indexed."""
        return same_entries(X, self._X)

    def are_equal(self, X: Any, rows: NDArray[Any], indexed: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell whether ``rows`` of ``X`` equal the ``indexed`` rows, for pairs at distance 0."""
        X = self._X if X is None else self._as_stored(X)
        return rows_are_equal(X, rows, self._X, indexed)

    def exits(self, pieces: NDArray[Any]) -> Pairs:
        """Return for every piece of the rows but the largest its shortest way to another."""
        sizes = np.bincount(pieces)
        leaving = np.flatnonzero(np.arange(len(sizes)) != sizes.argmax())
        pairs, below = [], 0
        for size in SMALL_PIECES:
            small = leaving[(sizes[leaving] > below) & (sizes[leaving] <= size)]
            if len(small):
                pairs.append(self._exits_of_small(pieces, small, min(size + 1, self.n_points)))
            below = size
        pairs += [self._exit_of_large(pieces == p) for p in leaving[sizes[leaving] > below]]
        row, column, lengths = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return row, column, self._space.from_search(lengths)

    def furthest(self) -> Furthest:
        """Return every indexed row's furthest other row and the distance."""
        return furthest_rows(self._rows, self._space)

    def lengths(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances between pairs of different indexed rows."""
        rough = np.empty(len(rows))
        if self._space.search_metric != "euclidean":
            step = 1 if callable(self._space.metric) else ROWS_MEASURED
            order = np.argsort(rows, kind="stable")
            starts = np.flatnonzero(np.diff(rows[order], prepend=-1))[::step]
            for pairs in np.split(order, starts)[1:]:
                low, row = np.unique(rows[pairs], return_inverse=True)
                high, column = np.unique(columns[pairs], return_inverse=True)
                between = self._space.between(self._rows[low], self._rows[high])
                rough[pairs] = between[row, column]
        exact = self._space.measure(self._rows, self._rows, (rows, columns), rough)
        return self._space.from_search(exact)

    def distance_sums(self) -> NDArray[np.float64]:
        """Return every indexed row's sum of distances to all others."""
        sums = np.empty(self.n_points)
        step = max(1, ROWS_AT_ONCE // self.n_points)
        for start in range(0, self.n_points, step):
            part = slice(start, start + step)
            between = self._space.between(self._rows[part], self._rows)
            sums[part] = self._space.from_search(between).sum(axis=1)
        return sums

    def distances_of_means(self, groups: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances between the means of groups of rows; -1 is in no group."""
        return distances_of_means(self._rows, self._space, groups)

    def among(self, rows: NDArray[np.intp]) -> ExactIndex:
        """Return an exact index of some of the indexed rows, numbered in their order."""
        return ExactIndex(self._X[rows], self._space, n_jobs=self._n_jobs, copy=False)

    def query_back(self, new: PointIndex, n_neighbors: int) -> sp.csr_array:
        """Return distances of the indexed rows to the nearest rows of another index."""
        return new.query(self._X, n_neighbors)

    def of_rows(self, X: Any) -> ExactIndex:
        """Return an exact index of other rows."""
        return ExactIndex(self._as_stored(X), self._space, n_jobs=self._n_jobs, copy=False)

    def near(
        self, X: Any, reach: NDArray[np.float64], reach_of_new: NDArray[np.float64], *, most: int
    ) -> sp.csr_array | None:
        """Return distances of new rows to all indexed ones within the reach of either.

        None where there are more than ``most`` such pairs, or where the metric allows no quick
        search. Some slightly farther pairs may be among them.
        """
        space, queries = self._space, self._space.prepare(self._as_stored(X))
        if sp.issparse(queries) or space.search_metric != "euclidean":
            return None
        center = middle(self._rows) if self._center is None else self._center
        reaches = space.to_search(reach_of_new), space.to_search(reach)
        pairs = near_pairs(
            queries - center, self._rows - center, *reaches, most=most, n_jobs=self._n_jobs
        )
        if pairs is None:
            return None
        exact = space.measure(queries, self._rows, pairs, np.empty(len(pairs[0])))
        return to_rows(*pairs, space.from_search(exact), (queries.shape[0], self.n_points))

    @abstractmethod
    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""

    @abstractmethod
    def joined(self, X: Any) -> PointIndex:
        """Return an index that has new rows as well, numbered after the indexed ones."""

    def _exits_of_small(self, pieces: NDArray[Any], small: NDArray[np.intp], reach: int) -> Pairs:
        """Search more neighbours than any of the pieces has rows, all in one go."""
        rows = np.flatnonzero(np.isin(pieces, small))
        indices, distances = self.search_lists(self._rows[rows], reach, own=None)
        row = np.repeat(rows, reach)
        leaves = pieces[row] != pieces[indices.ravel()]
        row, column, lengths = row[leaves], indices.ravel()[leaves], distances.ravel()[leaves]
        return shortest_of_each(pieces[row], row, column, lengths)

    def _exit_of_large(self, inside: NDArray[np.bool_]) -> Pairs:
        """Search from the piece into the rest; from some of its rows where both are huge."""
        rest, rows = np.flatnonzero(~inside), np.flatnonzero(inside)
        rows = rows[:: max(1, len(rows) * len(rest) // PAIRS_COMPARED)]
        near = self._closest(rows, rest)
        back = self._closest(near[1], np.flatnonzero(inside))  # settles on a locally closest pair
        return back[1], near[1], back[2]

    def _closest(self, rows: NDArray[np.intp], among: NDArray[np.intp]) -> Pairs:
        search = NearestNeighbors(n_neighbors=1, metric=self._space.search_metric)
        search.fit(self._shift(self._rows[among]))
        rough, found = search.kneighbors(self._shift(self._rows[rows]))
        best = rough.ravel().argmin()
        row, column = rows[best : best + 1], among[found[best]]
        return row, column, self._space.measure(self._rows, self._rows, (row, column), rough[best])

    @abstractmethod
    def search_lists(
        self, queries: Rows, k: int, *, own: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return rows and search distances of the k nearest; ``own`` are the queries' rows."""

    def neighbors(self, n_neighbors: int) -> sp.csr_array:
        """Return distances of every indexed row to its nearest others."""
        lists = self.search_lists(self._rows, n_neighbors, own=np.arange(self.n_points))
        return self._to_rows(*lists)

    def query(self, X: Any, n_neighbors: int) -> sp.csr_array:
        """Return distances of new rows to their nearest indexed rows."""
        queries = self._space.prepare(self._as_stored(X))
        return self._to_rows(*self.search_lists(queries, n_neighbors, own=None))

    def _with_rows(self, X: Any) -> Any:
        """Return the indexed rows, and new ones below them."""
        both: Any = [self._X, self._as_stored(X)]
        return sp.csr_array(sp.vstack(both)) if sp.issparse(self._X) else np.vstack(both)

    def _as_stored(self, X: Any) -> Any:
        """Return new rows dense or sparse as the indexed ones are."""
        if sp.issparse(X) == sp.issparse(self._X):
            return X
        return sp.csr_array(X) if sp.issparse(self._X) else np.asarray(X.toarray())

    def _shift(self, rows: Rows) -> Rows:
        return rows if self._center is None else rows - self._center

    def _to_rows(self, indices: NDArray[np.intp], distances: NDArray[np.float64]) -> sp.csr_array:
        n_queries, k = indices.shape
        starts = np.arange(0, n_queries * k + 1, k)
        data = self._space.from_search(distances.ravel())
        rows = sp.csr_array((data, indices.ravel(), starts), shape=(n_queries, self.n_points))
        rows.sort_indices()  # now: SciPy sorts in place when it likes, under whoever shares them
        return rows

    def _nearest(
        self, queries: Rows, indices: NDArray[np.intp], rough: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
        """Measure the candidates and keep the k nearest by (distance, row number).

        Also tells which queries the candidates leave in doubt, because the cut at k falls inside
        a tie that reaches the last of them.
        """
        indices, exact = self._measure_and_sort(queries, indices, rough)
        return indices[:, :k], exact[:, :k], exact[:, k - 1] == exact[:, -1]

    def _nearest_of_all(
        self, queries: Rows, k: int, excluded: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Compare with every indexed row: slow, and sure about ties. Equal queries go once."""
        if not sp.issparse(queries):
            distinct, of_query = np.unique(queries, axis=0, return_inverse=True)
            if len(distinct) < queries.shape[0]:
                wanted = k + (excluded is not None)
                indices, distances = self._nearest_of_all(distinct, wanted, None)
                indices, distances = indices[of_query.ravel()], distances[of_query.ravel()]
                if excluded is None:
                    return indices, distances
                others = others_than(excluded, indices)
                return indices[others].reshape(-1, k), distances[others].reshape(-1, k)
        indices = np.empty((queries.shape[0], k), dtype=np.intp)
        rough = np.empty(indices.shape)
        step = max(1, ROWS_AT_ONCE // self.n_points)
        for start in range(0, len(indices), step):
            part = slice(start, start + step)
            to_all = self._space.between(queries[part], self._rows)
            if excluded is not None:
                to_all[np.arange(len(to_all)), excluded[part]] = np.inf
            kth = np.partition(to_all, k - 1, axis=1)[:, k - 1]
            for row, distances in enumerate(to_all):
                near = np.flatnonzero(distances <= kth[row])
                order = np.argsort(distances[near], kind="stable")[:k]
                indices[start + row] = near[order]
                rough[start + row] = distances[near[order]]
        return self._measure_and_sort(queries, indices, rough)

    def _measure_and_sort(
        self, queries: Rows, indices: NDArray[np.intp], rough: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        n_queries, n_candidates = indices.shape
        pairs = np.repeat(np.arange(n_queries), n_candidates), indices.ravel()
        rough = np.empty(indices.shape) if rough is None else rough
        exact = self._space.measure(queries, self._rows, pairs, rough.ravel())
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
        dense = not sp.issparse(self._rows)
        tree = (
            dense
            and self._rows.shape[1] <= KD_TREE_DIMENSIONS
            and space.search_metric in KD_TREE_METRICS
        )
        self._algorithm = "kd_tree" if tree else "brute"
        self._expands = dense and not tree and space.search_metric == "euclidean"
        if self._expands:
            self._center = _center_if_far(np.asarray(self._rows))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_search", None)
        return state

    @property
    def report(self) -> SearchReport:
        """How neighbours are found."""
        return SearchReport(backend=f"scikit-learn {self._algorithm}")

    def joined(self, X: Any) -> ExactIndex:
        """Return an index that has new rows as well, numbered after the indexed ones."""
        index = copy.copy(self)
        index._X = self._with_rows(X)
        index._rows = self._space.prepare(index._X)
        vars(index).pop("_search", None)
        return index

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""
        queries = self._rows if X is None else self._space.prepare(self._as_stored(X))
        reach = self._space.to_search(radius)
        with limit_threads(self._n_jobs):
            rough = self._search.radius_neighbors_graph(
                None if X is None else self._shift(queries),
                radius=self._widened(reach),
                mode="distance",
            ).tocsr()
        rows = row_numbers(rough)
        exact = self._space.measure(queries, self._rows, (rows, rough.indices), rough.data)
        inside = exact <= reach
        exact = self._space.from_search(exact[inside])
        return to_rows(rows[inside], rough.indices[inside], exact, rough.shape)

    def search_lists(
        self, queries: Rows, k: int, *, own: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return rows and search distances of the k nearest; ``own`` are the queries' rows."""
        n_others = self.n_points - (own is not None)
        n_candidates = min(k + SPARE_CANDIDATES, n_others)
        with limit_threads(self._n_jobs):
            rough, candidates = self._search.kneighbors(
                self._shift(queries) if own is None else None, n_neighbors=n_candidates
            )
        indices, distances, doubtful = self._nearest(queries, candidates, rough, k)
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
        """scikit-learn's search, made when it is first asked."""
        search = NearestNeighbors(
            algorithm=self._algorithm, metric=self._space.search_metric, n_jobs=self._n_jobs
        )
        return search.fit(self._shift(self._rows))

    def _widened(self, reach: float) -> float:
        """Return a reach that rounding in the search can't fall short of; the exact cut follows."""
        if not self._expands:
            return reach * (1 + 1e-6)
        shifted = np.asarray(self._shift(self._rows))
        largest = float(np.einsum("ij,ij->i", shifted, shifted).max())
        return float(np.sqrt(reach**2 * (1 + 1e-6) + 1e-14 * largest))

    def _drown(self, queries: Rows, reach: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell where |x|^2 - 2 x.y + |y|^2 has too few digits to order neighbours so close."""
        shifted = np.asarray(self._shift(queries))
        size = np.einsum("ij,ij->i", shifted, shifted)
        return (reach > 0) & (reach**2 < 1e-9 * size)


def _center_if_far(rows: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the rows' middle, or None where they lie about the origin as they are.

    Pairwise reduction expands |x - y|^2, which loses digits far from the origin. Shifted rows are a
    copy, which is spared where nothing is gained.
    """
    center = middle(rows)
    some = rows[:: max(1, len(rows) // 1000)] - center
    is_far = center @ center > np.mean(np.einsum("ij,ij->i", some, some))
    return center if is_far else None


def same_entries(a: Any, b: Any) -> bool:
    """Tell whether two matrices, dense or sparse, are equal."""
    if a is b:
        return True
    if a.shape != b.shape or sp.issparse(a) != sp.issparse(b):
        return False
    return bool((a != b).nnz == 0 if sp.issparse(a) else np.array_equal(a, b))


def to_rows(
    rows: NDArray[Any], columns: NDArray[Any], distances: NDArray[np.float64], shape: Any
) -> sp.csr_array:
    """Assemble sparse distances; explicit zeros stay."""
    return sp.csr_array((distances, (rows, columns)), shape=shape)


def others_than(own: NDArray[np.intp], indices: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark all but the query's own row in every list, or all but the last where it is not there."""
    itself = indices == own[:, None]
    itself[~itself.any(axis=1), -1] = True
    return ~itself


def shortest_of_each(
    groups: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], lengths: NDArray[np.float64]
) -> Pairs:
    """Return the shortest pair of every group, ties by row and column number."""
    order = np.lexsort((columns, rows, lengths, groups))
    _, first = np.unique(groups[order], return_index=True)
    best = order[first]
    return rows[best], columns[best], lengths[best]
