"""Sparse matrices as graphs: every stored entry is an edge, explicit zeros among them.

Matrices of distances hold zeros between equal points, which SciPy's ``maximum`` and ``+`` would
drop or merge; the functions here keep them.

:class:`SparseAdjacency` is a matrix of weights as solvers see it. They touch a graph only through
the protocol :class:`labelfold.solvers.eigen.operator.Adjacency`, which is its size, its degrees and
its product with a block of vectors: a graph partitioned over many machines can take its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = [
    "ReadOnly",
    "SparseAdjacency",
    "add_edges",
    "coincident",
    "keep_entries",
    "keep_nearest",
    "pairs_above",
    "row_numbers",
    "symmetrize",
    "with_class_nodes",
    "with_values",
]

ROUNDING = 1e-9  # relative difference of distances up to which they count as equal


class SparseAdjacency:
    """Weights W of an undirected graph, from a symmetric nonnegative matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix = matrix
        self.degrees: NDArray[np.float64] = np.asarray(matrix.sum(axis=1), dtype=float)

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
    C = class_weight * membership
    blocks: Any = [[None, C], [C.T, edge_weight * weights]]
    return SparseAdjacency(sp.csr_array(sp.block_array(blocks)))


def row_numbers(entries: sp.csr_array) -> NDArray[np.intp]:
    """Return the row of every stored entry."""
    return np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))


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
    before = np.concatenate([[0], np.cumsum(kept)])
    parts = (entries.data[kept], entries.indices[kept], before[entries.indptr])
    return sp.csr_array(parts, shape=entries.shape)


def keep_nearest(distances: sp.csr_array, n_nearest: int, *, ties: bool = False) -> sp.csr_array:
    """Keep the ``n_nearest`` smallest entries of every row, and with ``ties`` their equals.

    Without, ties are broken by column number.
    """
    if not distances.has_sorted_indices:
        distances = distances.sorted_indices()
    rows, counts = row_numbers(distances), np.diff(distances.indptr)
    order = np.lexsort((distances.data, rows))  # leaves ties in their order
    rank = np.arange(len(order)) - np.repeat(distances.indptr[:-1], counts)
    if ties:
        last = rank == n_nearest - 1
        limits = np.full(distances.shape[0], np.inf)
        limits[rows[last]] = distances.data[order[last]] * (1 + ROUNDING)
        return keep_entries(distances, distances.data <= limits[rows])
    nearest = np.zeros(len(order), dtype=bool)
    nearest[order[rank < n_nearest]] = True
    return keep_entries(distances, nearest)


def nearest_points(distances: sp.csr_array) -> NDArray[np.intp]:
    """Return for every row the point of its smallest entry; every row has an entry."""
    order = np.lexsort((distances.data, row_numbers(distances)))
    return np.asarray(distances.indices[order[distances.indptr[:-1]]], dtype=np.intp)


def symmetrize(lists: sp.csr_array) -> sp.csr_array:
    """Join i and j if either lists the other (the "or" rule), at the shorter distance."""
    n = lists.shape[0]
    rows, columns = row_numbers(lists), lists.indices
    keys = np.minimum(rows, columns) * np.int64(n) + np.maximum(rows, columns)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    lengths = np.minimum.reduceat(lists.data[order], first) if len(first) else np.empty(0)
    low, high = (end.astype(_index_dtype(n)) for end in np.divmod(keys[first], n))
    ends = np.concatenate([low, high]), np.concatenate([high, low])
    return sp.csr_array((np.tile(lengths, 2), ends), shape=(n, n))


def add_edges(
    entries: sp.csr_array, rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float64]
) -> sp.csr_array:
    """Return the entries together with new ones in other places."""
    dtype = _index_dtype(max(entries.shape))
    ends = (
        np.concatenate([row_numbers(entries), rows]).astype(dtype),
        np.concatenate([entries.indices, columns]).astype(dtype),
    )
    return sp.csr_array((np.concatenate([entries.data, values]), ends), shape=entries.shape)


def _index_dtype(n: int) -> type[np.signedinteger[Any]]:
    """Return the narrow type if it suffices: products with the matrix are memory-bound."""
    return np.int32 if n < np.iinfo(np.int32).max else np.int64
