"""Approximate neighbours with faiss: rows are sorted into lists, and a query scans a few lists.

IVF-flat gives the same graph for any number of threads, needs no warm-up and no tuning by hand:
the number of lists follows from n, and the number of lists scanned is raised until a sample of
rows finds the goal's share of its true neighbours.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.neighbors import SPARE_CANDIDATES, ExactIndex, PointIndex, SearchReport
from labelfold.graph.point_space import PointSpace, Rows, middle
from labelfold.threads import limit_threads

__all__ = ["InvertedFileIndex", "faiss_is_installed"]

RECALL_GOAL = 0.99
SAMPLE_SIZE = 500
KMEANS_ITERATIONS = 5
ROWS_PER_CENTROID = 20  # that k-means is trained on: more moves the recall little
LEAST_PROBES = 8


def faiss_is_installed() -> bool:
    """Tell whether faiss can be imported, without importing it."""
    return find_spec("faiss") is not None


class RecallNotReachedError(RuntimeError):
    """So many lists must be scanned that an exact search is as quick."""


class InvertedFileIndex(PointIndex):
    """Approximate Euclidean (or cosine) search over dense rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    space : PointSpace
        Euclidean or cosine.
    n_neighbors : int
        Number of neighbours for which the recall goal is checked.
    seed : int
        Fixes k-means and the sample.
    n_jobs : int, default=None
        Number of threads.
    """

    def __init__(
        self,
        X: NDArray[np.float64],
        space: PointSpace,
        *,
        n_neighbors: int,
        seed: int,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(X, space)
        self._n_jobs = n_jobs
        self._center = middle(self._rows)
        self._unit = float(np.max(np.abs(self._rows - self._center))) or 1.0
        rng = np.random.default_rng(seed)
        self._centroids = self._train(rng)
        self._faiss: Any = None
        self._n_probes = LEAST_PROBES
        self._recall, self._n_checked = self._raise_recall(n_neighbors, rng)

    @property
    def report(self) -> SearchReport:
        """How neighbours are found, with the recall measured on a sample."""
        return SearchReport(
            backend=f"faiss IVF-flat, {self._n_probes} of {len(self._centroids)} lists",
            recall=self._recall,
            n_checked=self._n_checked,
        )

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return all distances up to ``radius``, which lists can't promise: searched exactly."""
        return ExactIndex(self._X, self._space, n_jobs=self._n_jobs).within(radius, X)

    def __getstate__(self) -> dict[str, Any]:
        # The faiss object is rebuilt from the centroids: the same lists, no foreign pickle.
        return {**self.__dict__, "_faiss": None}

    def search_lists(
        self, queries: Rows, k: int, *, own: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return rows and search distances of the k nearest; ``own`` are the queries' rows."""
        candidates, rough = self._candidates(queries, k, own)
        complete = candidates.min(axis=1) >= 0
        indices = np.empty((len(candidates), k), dtype=np.intp)
        distances = np.empty(indices.shape)
        indices[complete], distances[complete], _ = self._nearest(
            queries if complete.all() else queries[complete],
            candidates[complete],
            rough[complete],
            k,
        )
        if not complete.all():  # the scanned lists hold fewer rows than are wanted
            short = np.flatnonzero(~complete)
            indices[short], distances[short] = self._nearest_of_all(
                queries[short], k, None if own is None else own[short]
            )
        return indices, distances

    def _candidates(
        self, queries: Rows, k: int, own: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the rows found in the scanned lists, -1 where there were too few."""
        wanted = min(k + SPARE_CANDIDATES // 2, self.n_points - (own is not None))
        index = self._index()
        with limit_threads(self._n_jobs):
            rough, indices = index.search(self._to_float32(queries), wanted + (own is not None))
        if own is None:
            return indices, rough
        # Drop the row itself, or the last one where equal rows crowd it out.
        itself = indices == own[:, None]
        itself[~itself.any(axis=1), -1] = True
        shape = (len(indices), wanted)
        return indices[~itself].reshape(shape), rough[~itself].reshape(shape)

    def _raise_recall(self, k: int, rng: np.random.Generator) -> tuple[float, int]:
        """Scan more lists until the sample's recall reaches the goal; return what was reached."""
        sample = rng.choice(self.n_points, min(SAMPLE_SIZE, self.n_points), replace=False)
        queries = self._rows[sample]
        exact = ExactIndex(self._X, self._space, n_jobs=self._n_jobs)
        # The nearest of all is the row itself, or one equal to it.
        reach = exact.search_lists(queries, k + 1, own=None)[1][:, -1:]
        while True:
            found, _ = self._candidates(queries, k, sample)
            pairs = np.repeat(np.arange(len(sample)), found.shape[1]), np.maximum(found, 0).ravel()
            distances = self._space.measure(queries, self._rows, pairs, np.empty(found.size))
            hits = (distances.reshape(found.shape) <= reach) & (found >= 0)
            recall = float(np.minimum(hits.sum(axis=1), k).mean() / k)
            if recall >= RECALL_GOAL:
                return recall, len(sample)
            if self._n_probes >= len(self._centroids) // 4:
                raise RecallNotReachedError(
                    f"recall {recall:.3f} with {self._n_probes} of {len(self._centroids)} lists"
                )
            self._n_probes += max(2, self._n_probes // 4)
            self._index().nprobe = self._n_probes

    def _train(self, rng: np.random.Generator) -> NDArray[np.float32]:
        import faiss

        n_lists = max(1, int(4 * np.sqrt(self.n_points)))
        size = min(self.n_points, ROWS_PER_CENTROID * n_lists)
        sample = np.sort(rng.choice(self.n_points, size, replace=False))
        kmeans = faiss.Kmeans(
            self._rows.shape[1],
            n_lists,
            niter=KMEANS_ITERATIONS,
            seed=int(rng.integers(2**31)),
            min_points_per_centroid=1,
            max_points_per_centroid=ROWS_PER_CENTROID,
        )
        with limit_threads(self._n_jobs):
            kmeans.train(self._to_float32(self._rows[sample]))
        return np.asarray(kmeans.centroids)

    def _index(self) -> Any:
        if self._faiss is None:
            import faiss

            n_lists, n_features = self._centroids.shape
            quantizer = faiss.IndexFlatL2(n_features)
            quantizer.add(self._centroids)
            index = faiss.IndexIVFFlat(quantizer, n_features, n_lists)
            with limit_threads(self._n_jobs):
                index.add(self._to_float32(self._rows))
            index.nprobe = self._n_probes
            self._faiss = index
        return self._faiss

    def _to_float32(self, rows: Rows) -> NDArray[np.float32]:
        return np.ascontiguousarray((rows - self._center) / self._unit, dtype=np.float32)
