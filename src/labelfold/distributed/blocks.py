"""Overlapping blocks of rows that are near each other, and the neighbors within a block.

k-means of a sample gives cells, and blocks are groups of cells with about equal numbers of rows.
A row x belongs to the block of its nearest centroid c, and is searched there alone. Other blocks
hold a copy of it if it lies near their border: x is at least

    h(x, e) = (|x - e|^2 - |x - c|^2) / (2 |c - e|)

away from the cell of the centroid e, which is its distance to the plane halfway between c and e. A
block holds copies of all rows with h up to a reach t. If y is a neighbor of x at distance r, then
h(y, e) <= r for the cell e of x: all neighbors nearer than t are in x's block, and a search there
finds them. The reach follows from the number of copies, on average, that memory and time allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.checks import row_blocks
from labelfold.exceptions import InputError
from labelfold.graph.neighbor_index import others_than
from labelfold.graph.search import make_index
from labelfold.threads import limit_threads

__all__ = ["SAMPLE_PER_CELL", "Blocks", "count_cells", "find_blocks", "search_block"]

Vectors = NDArray[np.float32]
Numbers = NDArray[np.intp]

CELLS_PER_BLOCK = 16  # more make blocks more equal: with 4 the largest is twice the mean
MOST_CELLS = 8192  # with few cells per block; distances between all of them are held in memory
SAMPLE_PER_CELL = 64
ITERATIONS = 10
ENTRIES_AT_ONCE = 2**21  # distances between rows and centroids, held a few times


@dataclass(frozen=True)
class Blocks:
    """A partition of space into blocks, each a group of cells, and the reach of their borders.

    Parameters
    ----------
    centroids : ndarray of shape (n_cells, n_features)
        Centers of the cells, those of a block one after the other.
    starts : ndarray of shape (n_blocks,)
        The first cell of each block.
    reach : float
        Rows up to so far beyond the border of a block are copied into it.
    """

    centroids: Vectors
    starts: Numbers
    reach: float

    @property
    def block_of(self) -> Numbers:
        """For every cell the number of its block."""
        ends = np.append(self.starts[1:], len(self.centroids))
        return np.repeat(np.arange(len(self.starts)), ends - self.starts)

    def members(self, rows: Vectors) -> tuple[Numbers, Numbers, Numbers]:
        """Return row, block and the row's cell for every row in a block, its own or another."""
        found: list[tuple[Numbers, ...]] = []
        for part, cells, beyond in self.measure(rows):
            row, block = np.nonzero(beyond <= self.reach)
            found.append((row + part.start, block, cells[row]))
        row, block, cell = (np.concatenate(one) for one in zip(*found, strict=True))
        return row, block, cell

    def measure(self, rows: Vectors) -> Iterator[tuple[slice, Numbers, NDArray[np.float64]]]:
        """Yield slices of rows, with their cells and how far they lie beyond each block's border.

        In their own block rows are -1 beyond it.
        """
        middle = self.centroids.mean(axis=0, dtype=np.float64)  # near 0 products lose no digits
        centers = self.centroids - middle
        squares = np.einsum("ij,ij->i", centers, centers)
        between = np.sqrt(np.maximum(squares[:, None] - 2 * centers @ centers.T + squares, 0))
        between[between == 0] = np.inf  # a cell and itself
        block_of, step = self.block_of, max(1, ENTRIES_AT_ONCE // len(centers))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            to_centers = squares - 2 * (rows[part] - middle) @ centers.T  # without |x|^2
            cells = to_centers.argmin(axis=1)
            own = to_centers[np.arange(len(cells)), cells]
            to_borders = (to_centers - own[:, None]) / (2 * between[cells])
            beyond = np.minimum.reduceat(to_borders, self.starts, axis=1)
            beyond[np.arange(len(cells)), block_of[cells]] = -1
            yield part, cells, beyond


def count_cells(n_rows: int, rows_per_block: int) -> tuple[int, int]:
    """Return the number of blocks and of cells for so many rows."""
    n_blocks = -(-n_rows // rows_per_block)
    return n_blocks, n_blocks * max(1, min(CELLS_PER_BLOCK, MOST_CELLS // n_blocks))


def find_blocks(
    sample: Vectors, n_blocks: int, n_cells: int, *, copies: float, seed: int
) -> Blocks:
    """Find blocks that hold so many copies of a row of the sample, on average."""
    import faiss

    n_cells = min(n_cells, len(sample))
    kmeans = faiss.Kmeans(
        sample.shape[1],
        n_cells,
        niter=ITERATIONS,
        seed=seed,
        min_points_per_centroid=1,
        max_points_per_centroid=SAMPLE_PER_CELL,
    )
    with limit_threads(None):
        kmeans.train(np.ascontiguousarray(sample))
        _, nearest = kmeans.index.search(sample, 1)
    counts = np.bincount(nearest.ravel(), minlength=n_cells)
    centroids, counts = np.asarray(kmeans.centroids)[counts > 0], counts[counts > 0]
    groups = list(_halve(centroids, counts, np.arange(len(counts)), min(n_blocks, len(counts))))
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    blocks = Blocks(centroids[np.concatenate(groups)], starts, 0.0)
    beyond = np.concatenate([one.ravel() for _, _, one in blocks.measure(sample)])
    n_wanted = min(len(beyond), round(copies * len(sample)))
    reach = float(np.partition(beyond, n_wanted - 1)[n_wanted - 1])
    return Blocks(blocks.centroids, starts, max(reach, 0.0))


def search_block(
    rows: Vectors, n_own: int, n_neighbors: int, *, seed: int
) -> tuple[Numbers, NDArray[np.float64]]:
    """Return the nearest others of the first ``n_own`` rows among all rows, and the distances."""
    if len(rows) <= n_neighbors:
        raise InputError(
            f"{len(rows)} rows, and {n_neighbors} neighbors of each are wanted: raise "
            "rows_per_block."
        )
    n_others = len(rows) - 1
    index: Any = make_index(
        rows, "euclidean", n_neighbors=n_neighbors, neighbor_search="auto", seed=seed
    )
    indices = np.empty((n_own, n_neighbors), dtype=np.intp)
    distances = np.empty((n_own, n_neighbors))
    for part in row_blocks(n_own, rows.shape[1]):
        own = np.arange(part.start, part.stop)
        found = index.search_lists(index.rows[part], min(n_neighbors, n_others) + 1, own=None)
        others = others_than(own, found[0])
        indices[part] = found[0][others].reshape(len(own), -1)
        distances[part] = found[1][others].reshape(len(own), -1)
    return indices, distances


def _halve(centroids: Any, counts: Any, cells: Numbers, n_parts: int) -> Iterator[Numbers]:
    """Yield groups of cells with about equal numbers of rows, split across their longest axis."""
    if n_parts == 1:
        yield cells
        return
    weights = counts[cells] / counts[cells].sum()
    shifted = centroids[cells] - weights @ centroids[cells]
    axis = np.linalg.svd(shifted * np.sqrt(weights)[:, None], full_matrices=False)[2][0]
    order = np.argsort(shifted @ axis, kind="stable")
    n_first = n_parts // 2
    split = int(np.searchsorted(np.cumsum(weights[order]), n_first / n_parts))
    split = min(max(split, n_first), len(cells) - (n_parts - n_first))
    yield from _halve(centroids, counts, cells[order[:split]], n_first)
    yield from _halve(centroids, counts, cells[order[split:]], n_parts - n_first)
