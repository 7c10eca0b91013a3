"""Neighbors by overlapping partitions with exact blocks, against the library's inverted lists.

    python benchmarks/partitions.py --rows 1000000 --folder DIR [--columns 384]

Every row belongs to the partitions of its nearest centroids; each partition is searched exactly by
matrix products, and a row keeps the nearest it meets in any (as PiPNN does). Decision 29 has the
figures.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from many_rows import AT_ONCE, N_FEATURES, N_NEIGHBORS, write_sheets
from numpy.typing import NDArray

SAMPLE = 2000


def partition_search(
    X: NDArray[np.float32], k: int, *, block: int, overlap: int
) -> NDArray[np.int32]:
    """Return the k nearest found by blocks of about ``block`` rows, each row in ``overlap``."""
    n, n_features = X.shape
    n_centroids = max(overlap, n * overlap // block)
    rng = np.random.default_rng(0)
    sample = X[np.sort(rng.choice(n, min(n, 20 * n_centroids), replace=False))]
    kmeans = faiss.Kmeans(n_features, n_centroids, niter=4, seed=0, min_points_per_centroid=1)
    kmeans.train(sample)
    quantizer = faiss.IndexFlatL2(n_features)
    quantizer.add(kmeans.centroids)
    homes = np.empty((n, overlap), dtype=np.int32)
    for start in range(0, n, AT_ONCE):
        homes[start : start + AT_ONCE] = quantizer.search(X[start : start + AT_ONCE], overlap)[1]
    order = np.argsort(homes.ravel(), kind="stable")
    ends = np.searchsorted(homes.ravel()[order], np.arange(n_centroids + 1))
    found = np.full((n, overlap * k), -1, dtype=np.int32)
    lengths = np.full((n, overlap * k), np.inf, dtype=np.float32)
    for first, last in pairwise(ends.tolist()):
        rows, place = np.divmod(order[first:last], overlap)
        n_found = min(k + 1, len(rows))
        if n_found < 2:
            continue
        D, nearest = faiss.knn(X[rows], X[rows], n_found)
        D[nearest == np.arange(len(rows))[:, None]] = np.inf  # the row itself
        columns = place[:, None] * k + np.arange(n_found - 1)
        best = np.argsort(D, axis=1, kind="stable")[:, : n_found - 1]
        found[rows[:, None], columns] = rows[np.take_along_axis(nearest, best, axis=1)]
        lengths[rows[:, None], columns] = np.take_along_axis(D, best, axis=1)
    result = np.empty((n, k), dtype=np.int32)
    for start in range(0, n, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        by_number = np.argsort(found[part], axis=1, kind="stable")
        numbers = np.take_along_axis(found[part], by_number, axis=1)
        D = np.take_along_axis(lengths[part], by_number, axis=1)
        D[:, 1:][numbers[:, 1:] == numbers[:, :-1]] = np.inf  # met in two partitions
        best = np.argsort(D, axis=1, kind="stable")[:, :k]
        result[part] = np.take_along_axis(numbers, best, axis=1)
    return result


def list_search(X: NDArray[np.float32], k: int) -> tuple[NDArray[np.int32], str]:
    """Return the neighbors that the library's inverted lists find, and how."""
    from labelfold.graph.search import make_index

    index = make_index(X, "euclidean", n_neighbors=k, neighbor_search="approximate")
    lists = index.neighbors(k)
    return lists.indices.reshape(-1, k), str(index.report)


def recall(X: NDArray[np.float32], found: NDArray[np.int32]) -> float:
    """Return the share of true neighbors that were found, of a sample of rows."""
    n, k = found.shape
    some = np.random.default_rng(1).choice(n, SAMPLE, replace=False)
    D, true = faiss.knn(X[some], X, k + 1)
    D[true == some[:, None]] = np.inf
    kth = np.sort(D, axis=1)[:, k - 1]
    mine = ((X[some, None].astype(np.float64) - X[found[some]]) ** 2).sum(axis=2)
    return float(np.mean(mine <= kth[:, None] * (1 + 1e-4) + 1e-6))


def main() -> None:
    """Print seconds, processor seconds and recall of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=N_FEATURES)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    X: Any = np.load(write_sheets(given.folder, given.rows)[0])
    if given.columns != N_FEATURES:
        rng = np.random.default_rng(3)
        X = X @ rng.normal(size=(N_FEATURES, given.columns)).astype(np.float32)
        X += 0.1 * rng.normal(size=X.shape).astype(np.float32)
    for setting in (None, (1000, 2), (1000, 4), (2000, 4), (4000, 4), (2000, 8)):
        start, work = time.perf_counter(), time.process_time()
        if setting is None:
            found, name = list_search(X, N_NEIGHBORS)
        else:
            block, overlap = setting
            found = partition_search(X, N_NEIGHBORS, block=block, overlap=overlap)
            name = f"blocks of {block}, each row in {overlap}"
        seconds, processor = time.perf_counter() - start, time.process_time() - work
        found_share = recall(X, found)
        print(f"{name}: {seconds:.1f} s, {processor:.1f} s of work, recall {found_share:.4f}")


if __name__ == "__main__":
    main()
