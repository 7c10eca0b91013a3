"""Sparse matrices as graphs: every stored entry is an edge, explicit zeros among them.

Matrices of distances hold zeros between equal points, which SciPy's ``maximum`` and ``+`` would
drop or merge; the functions here keep them.

:class:`SparseAdjacency` is a matrix of weights as solvers see it. They touch a graph only through
the protocol :class:`labelfold.solvers.eigen.operator.Adjacency`, which is its size, its degrees and
its product with a block of vectors: a graph partitioned over many machines can take its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = [
    "ReadOnly",
    "SparseAdjacency",
    "add_edges",
    "coincident",
    "edge_type",
    "keep_entries",
    "keep_nearest",
    "listed_by_both",
    "pairs_above",
    "row_numbers",
    "row_ranges",
    "row_sums",
    "symmetrize",
    "with_class_nodes",
    "with_values",
]

EDGES_AT_ONCE = 2**20  # weighed, sorted or merged together, so that temporary memory is bounded
NARROW_FROM = 200_000  # points from which lengths and weights of edges are float32
ROUNDING = 1e-9  # relative difference of distances up to which they count as equal
LATEST = np.int64(2**63 - 1)


class SparseAdjacency:
    """Weights W of an undirected graph, from a symmetric nonnegative matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix = matrix
        self.degrees = row_sums(matrix)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    def product(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return W times a vector or a block of vectors."""
        return np.asarray(self.matrix @ block)

    def reordered(self) -> tuple[SparseAdjacency, NDArray[np.int32]]:
        """Return the graph with neighbors numbered close to each other, and the old numbers.

        Products are memory-bound: neighbors should be near each other in memory.
        """
        order = sp.csgraph.reverse_cuthill_mckee(self.matrix, symmetric_mode=True)
        matrix = self.matrix[order][:, order]
        matrix.sort_indices()
        return SparseAdjacency(matrix), np.asarray(order)


def row_sums(matrix: sp.csr_array) -> NDArray[np.float64]:
    """Return the sums of the rows, added up in float64."""
    sums = np.empty(matrix.shape[0])
    for rows, _ in row_ranges(matrix):
        sums[rows] = np.asarray(matrix[rows].astype(np.float64, copy=False).sum(axis=1))
    return sums


class ReadOnly:
    """Base of immutable values: nobody writes into their arrays, after unpickling either."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            parts = ("data", "indices", "indptr") if sp.issparse(value) else ()
            for part in (value, *(getattr(value, name) for name in parts)):
                if isinstance(part, np.ndarray):
                    part.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def with_class_nodes(
    weights: sp.csr_array, membership: sp.csr_array, *, class_weight: float, edge_weight: float
) -> SparseAdjacency:
    """Return G = [[0, a C], [a C^T, b W]]: class nodes first, then points (CCDR-MC section IV).

    C is the membership, of shape (n_classes, n); every class has a member. The paper's G has the
    class weight a = 1 and the edge weight b = beta.
    """
    n_classes, n = membership.shape
    nodes, members = row_numbers(membership), membership.indices + n_classes
    shifted = sp.csr_array(
        (
            edge_weight * weights.data,
            weights.indices + weights.indices.dtype.type(n_classes),
            np.concatenate([np.zeros(n_classes, dtype=weights.indptr.dtype), weights.indptr]),
        ),
        shape=(n_classes + n, n_classes + n),
    )
    values = class_weight * membership.data
    ends = np.concatenate([nodes, members]), np.concatenate([members, nodes])
    return SparseAdjacency(add_edges(shifted, *ends, np.tile(values, 2)))


def row_numbers(entries: sp.csr_array) -> NDArray[np.intp]:
    """Return the row of every stored entry."""
    return np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))


def row_ranges(*matrices: sp.csr_array) -> Iterator[tuple[slice, slice]]:
    """Yield ranges of rows with about :data:`EDGES_AT_ONCE` entries in all matrices together.

    Each comes with the range of its stored entries in the first one.
    """
    n = matrices[0].shape[0]
    n_entries = sum(int(one.indptr[-1]) for one in matrices)
    n_ranges = min(max(1, n), 1 + n_entries // EDGES_AT_ONCE)
    for i in range(n_ranges):
        first, last = n * i // n_ranges, n * (i + 1) // n_ranges
        starts = matrices[0].indptr
        yield slice(first, last), slice(int(starts[first]), int(starts[last]))


def pairs_above(entries: sp.csr_array) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the pairs i < j of the stored entries above the diagonal, and their values."""
    pairs = np.column_stack([row_numbers(entries), entries.indices]).astype(np.intp)
    above = pairs[:, 0] < pairs[:, 1]
    return pairs[above], np.asarray(entries.data[above])


def coincident(distances: sp.csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row and column of every stored zero: points at distance 0."""
    zero = distances.data == 0
    return row_numbers(distances)[zero], distances.indices[zero].astype(np.intp)


def with_values(entries: sp.csr_array, values: NDArray[Any]) -> sp.csr_array:
    """Return other values in the places of the stored entries."""
    return sp.csr_array((values, entries.indices, entries.indptr), shape=entries.shape)


def keep_entries(entries: sp.csr_array, kept: NDArray[np.bool_]) -> sp.csr_array:
    """Return the stored entries, zeros among them, for which ``kept`` is True."""
    before = np.zeros(len(kept) + 1, dtype=entries.indptr.dtype)
    np.cumsum(kept, out=before[1:])
    parts = (entries.data[kept], entries.indices[kept], before[entries.indptr])
    return sp.csr_array(parts, shape=entries.shape)


def keep_nearest(distances: sp.csr_array, n_nearest: int, *, ties: bool = False) -> sp.csr_array:
    """Keep the ``n_nearest`` smallest entries of every row, and with ``ties`` their equals.

    Without, ties are broken by column number.
    """
    if not distances.has_sorted_indices:
        distances = distances.sorted_indices()
    if np.diff(distances.indptr).max(initial=0) <= n_nearest:
        return distances
    kept = np.zeros(distances.nnz, dtype=bool)
    for rows, entries in row_ranges(distances):
        counts = np.diff(distances.indptr[rows.start : rows.stop + 1])
        kept[entries] = _are_nearest(distances.data[entries], counts, n_nearest, ties)
    return keep_entries(distances, kept)


def _are_nearest(
    values: NDArray[np.float64], counts: NDArray[Any], n_nearest: int, ties: bool
) -> NDArray[np.bool_]:
    """Return which values are among the smallest of their row, given the rows' lengths."""
    rows = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((values, rows))  # leaves ties in their order
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    if ties:
        last = rank == n_nearest - 1
        limits = np.full(len(counts), np.inf)
        limits[rows[last]] = values[order[last]] * (1 + ROUNDING)
        return np.asarray(values <= limits[rows])
    nearest = np.zeros(len(order), dtype=bool)
    nearest[order[rank < n_nearest]] = True
    return nearest


def nearest_points(distances: sp.csr_array) -> NDArray[np.intp]:
    """Return for every row the point of its smallest entry; every row has an entry."""
    order = np.lexsort((distances.data, row_numbers(distances)))
    return np.asarray(distances.indices[order[distances.indptr[:-1]]], dtype=np.intp)


def symmetrize(lists: sp.csr_array) -> sp.csr_array:
    """Join i and j if either lists the other (the "or" rule), at the shorter distance."""
    n = lists.shape[0]
    dtype = _index_dtype(max(n, 2 * lists.nnz))
    # Room for lists without a pair in common. What stays empty takes no memory.
    data = np.empty(2 * lists.nnz, dtype=edge_type(lists))
    indices = np.empty(2 * lists.nnz, dtype=dtype)
    starts = np.zeros(n + 1, dtype=dtype)
    end = 0
    for rows, there, back in _both_ways(lists):
        # As integers lengths >= 0 keep their order. Counted down from LATEST none is 0, which
        # SciPy would drop, and the shorter of two is the maximum.
        merged = _counted_down(there).maximum(_counted_down(back))
        start, end = end, end + merged.nnz
        data[start:end] = (LATEST - merged.data).view(np.float64)
        indices[start:end] = merged.indices
        starts[rows.start + 1 : rows.stop + 1] = merged.indptr[1:] + start
    data.resize(end, refcheck=False)
    indices.resize(end, refcheck=False)
    return sp.csr_array((data, indices, starts), shape=(n, n))


def listed_by_both(lists: sp.csr_array) -> NDArray[np.bool_]:
    """Return for each entry of ``symmetrize(lists)`` whether both ends list each other."""
    found = []
    for _, *ways in _both_ways(lists):
        there, back = (with_values(one, np.ones(one.nnz, dtype=np.int8)) for one in ways)
        found.append(sp.csr_array(there + back).data == 2)
    return np.concatenate(found)


def add_edges(
    entries: sp.csr_array, rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float64]
) -> sp.csr_array:
    """Return the entries together with new ones in other places, in the type of the entries."""
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    if not entries.has_sorted_indices:
        entries = entries.sorted_indices()
    starts, indices = entries.indptr, entries.indices
    # A new entry comes after those of its row in earlier columns.
    lengths = starts[rows + 1] - starts[rows]
    of_new = np.repeat(np.arange(len(rows)), lengths)
    own = np.arange(len(of_new)) + np.repeat(starts[rows] - np.cumsum(lengths) + lengths, lengths)
    is_earlier = indices[own] < columns[of_new]
    places = starts[rows] + np.bincount(of_new[is_earlier], minlength=len(rows))
    counts = np.bincount(rows, minlength=entries.shape[0])
    dtype = _index_dtype(max(*entries.shape, len(indices) + len(rows)))
    starts = starts + np.concatenate([[0], np.cumsum(counts)])
    parts = (
        np.insert(entries.data, places, values),
        np.insert(indices, places, columns).astype(dtype, copy=False),
        starts.astype(dtype, copy=False),
    )
    return sp.csr_array(parts, shape=entries.shape)


def _both_ways(lists: sp.csr_array) -> Iterator[tuple[slice, sp.csr_array, sp.csr_array]]:
    """Yield ranges of rows, with their lists and with the points that list them."""
    if not lists.has_canonical_format:
        lists = lists.copy()
        lists.sum_duplicates()
    back = sp.csr_array(lists.T)
    for rows, _ in row_ranges(lists, back):
        yield rows, lists[rows], back[rows]


def _counted_down(lengths: sp.csr_array) -> sp.csr_array:
    values = lengths.data.astype(np.float64) + 0.0  # makes 0.0 of -0.0
    return with_values(lengths, LATEST - values.view(np.int64))


def edge_type(lists: sp.csr_array) -> type[np.floating[Any]]:
    """Return the type of lengths and weights: float32 for very many points, if lengths fit."""
    if lists.shape[0] < NARROW_FROM:
        return np.float64
    largest = max(lists.data[entries].max(initial=0) for _, entries in row_ranges(lists))
    return np.float32 if largest < np.finfo(np.float32).max else np.float64


def _index_dtype(n: int) -> type[np.signedinteger[Any]]:
    """Return the narrow type if it suffices: products with the matrix are memory-bound."""
    return np.int32 if n < np.iinfo(np.int32).max else np.int64
