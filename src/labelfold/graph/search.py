"""The choice of a neighbor search: exact while that is quick, else an inverted file of faiss.

An inverted file sorts rows into lists, and a query scans a few of them. IVF-flat gives the same
graph for any number of threads, and needs no warm-up and no tuning: the number of lists follows
from n, and the number of lists to scan is the least that finds the goal's share of the true
neighbors of a sample of rows.
"""

from __future__ import annotations

import copy
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.checkpoint_folder import once
from labelfold.checks import check_choice, row_blocks
from labelfold.exceptions import ApproximateSearchWarning, warn_user
from labelfold.graph.neighbor_index import (
    KD_TREE_DIMENSIONS,
    ExactIndex,
    Lists,
    PointIndex,
    SearchReport,
    others_than,
)
from labelfold.graph.point_space import Metric, PointSpace, PreparedRows, Rows, middle
from labelfold.graph.precomputed import NeighborIndex, PrecomputedIndex
from labelfold.methods import stored
from labelfold.threads import limit_threads

__all__ = ["InvertedFileIndex", "make_index"]

SEARCHES = ("auto", "exact", "approximate")
QUICK = 2e10  # n^2 d up to which an exact search takes about a second on two cores
VERY_SLOW = 1e12  # minutes

# With it classifiers err on MNIST as with the exact search, to 0.05 points; at 0.99 they err 0.1 to
# 0.2 points more often, and the search takes a fifth less time.
RECALL_GOAL = 0.998
MANY_ROWS, RECALL_GOAL_OF_MANY = 1_000_000, 0.99
SAMPLE_SIZE = 300
KMEANS_ITERATIONS = 4
LARGEST_LISTS = 2**25  # entries of rows; lists of more, a copy in float32, go after the search
ROWS_PER_CENTROID = 10  # that k-means is trained on: more moves the recall little


def make_index(
    X: Any,
    metric: Metric,
    *,
    n_neighbors: int,
    neighbor_search: str = "exact",
    seed: int = 0,
    n_jobs: int | None = None,
) -> NeighborIndex:
    """Return the index for these rows; see :meth:`NeighborGraph.build` for the parameters."""
    check_choice("neighbor_search", neighbor_search, SEARCHES)
    if metric == "precomputed":
        return PrecomputedIndex(X)
    space = PointSpace(metric)
    cost = float(X.shape[0]) ** 2 * X.shape[1]
    is_slow = X.shape[1] > KD_TREE_DIMENSIONS and cost > QUICK
    if neighbor_search == "approximate" or (neighbor_search == "auto" and is_slow):
        obstacle = _obstacle(X, space)
        if not obstacle:
            try:
                return InvertedFileIndex(
                    X, space, n_neighbors=n_neighbors, seed=seed, n_jobs=n_jobs
                )
            except RecallNotReachedError as error:
                obstacle = f"it reaches only {error}"
        if neighbor_search == "approximate" or cost > VERY_SLOW:
            warn_user(
                f"The approximate search is not used here, since {obstacle}; the search is exact, "
                "which takes long on many rows.",
                ApproximateSearchWarning,
            )
    return ExactIndex(X, space, n_jobs=n_jobs)


def _obstacle(X: Any, space: PointSpace) -> str:
    """Return why an inverted file cannot serve; "" if it can."""
    if sp.issparse(X):
        return "X is sparse"
    if space.search_metric != "euclidean":
        return f"metric={space.metric!r} is neither 'euclidean' nor 'cosine'"
    if find_spec("faiss") is None:
        return "faiss is not installed"
    return ""


class RecallNotReachedError(RuntimeError):
    """So many lists must be scanned that an exact search is as quick."""


@stored
class InvertedFileIndex(PointIndex):
    """Approximate Euclidean or cosine search over dense rows.

    The recall goal is checked for ``n_neighbors`` neighbors of a sample. Raises
    :class:`RecallNotReachedError` if a quarter of the lists or single precision does not suffice.
    """

    def __init__(
        self,
        X: NDArray[Any],
        space: PointSpace,
        *,
        n_neighbors: int,
        seed: int,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(X, space, n_jobs=n_jobs)
        self._center = middle(self.rows)
        self._unit = float(once("unit", self._find_unit)[0])
        rng = np.random.default_rng(seed)
        self._centroids = self._train(rng)
        self._list_of: NDArray[np.int32] | None = None
        self._lists: _Lists | None = None  # filled when they are first searched
        sample = rng.choice(self.n_points, min(SAMPLE_SIZE, self.n_points), replace=False)
        probes, recall = once("probes", lambda: self._choose_probes(sample, n_neighbors))
        self._n_probes, self._recall = int(probes), float(recall)
        self._n_checked = len(sample)

    @property
    def report(self) -> SearchReport:
        """How neighbors are searched, with the recall measured on a sample."""
        return SearchReport(
            backend=f"faiss IVF-flat, {self._n_probes} of {len(self._centroids)} lists",
            recall=self._recall,
            n_checked=self._n_checked,
        )

    def with_rows(self, X: Any) -> InvertedFileIndex:
        """Return an index that has new rows as well, sorted into the same lists."""
        index = copy.copy(self)
        index.X = self._with_rows(X)
        index.rows = index._prepare()
        index._list_of = None
        index._lists = index._fill_lists()
        return index

    def neighbors(self, n_neighbors: int) -> sp.csr_array:
        """Return distances of every indexed row to its nearest others.

        Rows of one list scan the same lists: one after the other they find them in the cache.
        200,000 rows of 100 features take 2.7 s instead of 5.3 s on one core. Blocks are small, as
        a run that was stopped repeats the last one.
        """
        order = np.argsort(self._filled_lists().list_of, kind="stable")
        indices, distances = self._empty_lists(self.n_points, n_neighbors)
        for block in row_blocks(self.n_points, 4 * self.rows.shape[1]):
            own = order[block]
            search = partial(self.search_lists, self.rows[own], n_neighbors, own=own)
            found = once(f"lists of block {block.start}", search, passing=True)
            indices[own], distances[own] = found
        if np.prod(self.rows.shape) > LARGEST_LISTS:
            self._lists = None  # new rows will fill them again
        return self._to_rows(indices, distances)

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return all distances up to ``radius``; lists could miss some, so the search is exact."""
        return self.of_rows(self.X).within(radius, X)

    def search_lists(self, queries: Rows, k: int, *, own: NDArray[np.intp] | None) -> Lists:
        """Return the k nearest to prepared rows, with search distances."""
        candidates = self._candidates(queries, k, own)
        complete = candidates.min(axis=1) >= 0
        indices = np.empty(candidates.shape, dtype=np.intp)
        distances = np.empty(candidates.shape)
        indices[complete], distances[complete] = self._measure_and_sort(
            queries if complete.all() else queries[complete], candidates[complete]
        )
        if not complete.all():  # the scanned lists hold fewer rows than are wanted
            short = np.flatnonzero(~complete)
            indices[short], distances[short] = self._nearest_of_all(
                queries[short], k, None if own is None else own[short]
            )
        return indices, distances

    def __getstate__(self) -> dict[str, Any]:
        # The same lists are filled again from the centroids, without a pickle of faiss.
        return {**super().__getstate__(), "_lists": None, "_list_of": None}

    def _candidates(self, queries: Rows, k: int, own: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Return the k nearest rows in the scanned lists, -1 if these hold too few."""
        rows, lists = self._to_float32(queries), self._filled_lists()
        with limit_threads(self.n_jobs):
            if own is None:
                return lists.search(rows, k, self._n_probes)
            nearest = lists.search(rows, k + 1, self._n_probes)
        return np.asarray(nearest[others_than(own, nearest)].reshape(-1, k))

    def _choose_probes(self, sample: NDArray[np.intp], k: int) -> tuple[NDArray[Any], ...]:
        """Return the least number of lists that reaches the recall goal, and the recall."""
        queries = self.rows[sample]
        # The nearest of all is the row itself, or one equal to it.
        nearest, distances = self._exact_lists(queries, k + 1)
        most = max(1, len(self._centroids) // 4)
        rank = self._filled_lists().rank(self._to_float32(queries), nearest[:, 1:], most)
        goal = RECALL_GOAL if self.n_points < MANY_ROWS else RECALL_GOAL_OF_MANY
        needed = int(np.quantile(rank, goal, method="inverted_cdf")) + 1
        self._n_probes = min(needed, most)
        candidates = self._candidates(queries, k, sample)
        pairs = np.repeat(np.arange(len(sample)), k), np.maximum(candidates, 0).ravel()
        measured = self.space.measure(queries, self.rows, pairs, np.empty(candidates.size))
        hits = (measured.reshape(candidates.shape) <= distances[:, -1:]) & (candidates >= 0)
        recall = float(hits.mean())
        if needed > most or recall < goal - 0.002:
            raise RecallNotReachedError(
                f"recall {recall:.3f} with {self._n_probes} of {len(self._centroids)} lists"
            )
        return np.array(self._n_probes), np.array(recall)

    def _find_unit(self) -> tuple[NDArray[np.float64]]:
        blocks = row_blocks(*self.rows.shape)
        shifted = (np.asarray(self._shift(self.rows[block])) for block in blocks)
        return (np.array(max(float(np.max(np.abs(rows))) for rows in shifted) or 1.0),)

    def _exact_lists(self, queries: Rows, k: int) -> Lists:
        """Return the true k nearest to prepared rows, from exact searches of blocks of rows."""
        found = []
        for block in row_blocks(*self.rows.shape):
            part = self.of_rows(self.X[block])
            indices, distances = part.search_lists(queries, min(k, part.n_points), own=None)
            found.append((indices + block.start, distances))
        indices, distances = (np.hstack(part) for part in zip(*found, strict=True))
        nearest = np.arange(len(indices))[:, None], np.lexsort((indices, distances), axis=1)[:, :k]
        return indices[nearest], distances[nearest]

    def _train(self, rng: np.random.Generator) -> NDArray[np.float32]:
        import faiss

        n_lists = min(self.n_points, int(4 * np.sqrt(self.n_points)))
        size = min(self.n_points, ROWS_PER_CENTROID * n_lists)
        sample = np.sort(rng.choice(self.n_points, size, replace=False))
        kmeans = faiss.Kmeans(
            self.rows.shape[1],
            n_lists,
            niter=KMEANS_ITERATIONS,
            seed=int(rng.integers(2**31)),
            min_points_per_centroid=1,
            max_points_per_centroid=ROWS_PER_CENTROID,
        )

        def train() -> tuple[NDArray[np.float32]]:
            with limit_threads(self.n_jobs):
                kmeans.train(self._to_float32(self.rows[sample]))
            return (np.asarray(kmeans.centroids),)

        return once("centroids", train)[0]

    def _prepare(self, *, least: float = 0.0) -> Any:
        if self.X.dtype == np.float64:
            return super()._prepare(least=least)
        return PreparedRows(self.X, self.space)

    def _filled_lists(self) -> _Lists:
        if self._lists is None:
            self._lists = self._fill_lists()
        return self._lists

    def _fill_lists(self) -> _Lists:
        import faiss  # noqa: F401  loaded here, so that its threads are bound too

        lists = _Lists(self._centroids)
        with limit_threads(self.n_jobs):
            for block in row_blocks(*self.rows.shape):
                rows = self._to_float32(self.rows[block])
                if self._list_of is not None:
                    nearest = self._list_of[block]
                else:
                    assign = partial(lists.nearest, rows)
                    [nearest] = once(f"nearest of block {block.start}", assign, passing=True)
                lists.add(rows, nearest)
        self._list_of = lists.list_of
        return lists

    def _to_float32(self, rows: Rows) -> NDArray[np.float32]:
        return np.ascontiguousarray(self._shift(rows) / self._unit, dtype=np.float32)


class _Lists:
    """Rows in single precision, each in the list of its nearest centroid; a thin view of faiss."""

    def __init__(self, centroids: NDArray[np.float32]) -> None:
        import faiss

        n_lists, n_features = centroids.shape
        self._quantizer = faiss.IndexFlatL2(n_features)
        self._quantizer.add(centroids)
        self._index = faiss.IndexIVFFlat(self._quantizer, n_features, n_lists)
        self.list_of = np.empty(0, dtype=np.int32)

    def nearest(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.int32]]:
        """Return the list of every row."""
        return (self._quantizer.assign(rows, 1).ravel().astype(np.int32),)

    def add(self, rows: NDArray[np.float32], nearest: NDArray[np.int32]) -> None:
        """Add rows to their lists, numbered after those before them."""
        import faiss

        numbers = nearest.astype(np.int64)
        self._index.add_core(len(rows), faiss.swig_ptr(rows), None, faiss.swig_ptr(numbers))
        self.list_of = np.append(self.list_of, nearest)

    def rank(
        self, queries: NDArray[np.float32], wanted: NDArray[np.intp], most: int
    ) -> NDArray[np.intp]:
        """Return how many lists come before the one that holds a wanted row, ``most`` if more."""
        _, order = self._quantizer.search(queries, most)
        is_it = order[:, None, :] == self.list_of[wanted][:, :, None]
        return np.where(is_it.any(axis=2), is_it.argmax(axis=2), most)

    def search(self, queries: NDArray[np.float32], k: int, n_probes: int) -> NDArray[np.int64]:
        """Return the k nearest rows in the ``n_probes`` nearest lists."""
        self._index.nprobe = n_probes
        return np.asarray(self._index.search(queries, k)[1])
