"""Sparse matrices whose stored entries are edges, zeros among them.

SciPy's own ``maximum`` and ``+`` drop or merge explicit zeros, which here join equal points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["add_edges", "keep_nearest", "pairs_above", "row_numbers", "symmetrize", "touching"]


def row_numbers(entries: sp.csr_array) -> NDArray[np.intp]:
    """Return the row of every stored entry."""
    return np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))


def pairs_above(entries: sp.csr_array) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the pairs i < j of the stored entries above the diagonal, and their values."""
    pairs = np.column_stack([row_numbers(entries), entries.indices]).astype(np.intp)
    above = pairs[:, 0] < pairs[:, 1]
    return pairs[above], np.asarray(entries.data[above])


def touching(distances: sp.csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row and column of every stored zero."""
    zero = np.flatnonzero(distances.data == 0)
    rows = np.searchsorted(distances.indptr, zero, side="right") - 1
    return rows, distances.indices[zero].astype(np.intp)


def keep_nearest(distances: sp.csr_array, n_nearest: int) -> sp.csr_array:
    """Keep the ``n_nearest`` smallest entries of every row, ties by column number."""
    if not distances.has_sorted_indices:
        distances = distances.sorted_indices()
    rows, counts = row_numbers(distances), np.diff(distances.indptr)
    order = np.lexsort((distances.data, rows))  # which leaves ties in their order
    rank = np.arange(len(order)) - np.repeat(distances.indptr[:-1], counts)
    chosen = order[rank < n_nearest]
    entries = (distances.data[chosen], (rows[chosen], distances.indices[chosen]))
    return sp.csr_array(entries, shape=distances.shape)


def symmetrize(found: sp.csr_array) -> sp.csr_array:
    """Join i and j where either found the other (the "or" rule), at the shorter distance."""
    n = found.shape[0]
    rows, columns = row_numbers(found), found.indices
    keys = np.minimum(rows, columns) * np.int64(n) + np.maximum(rows, columns)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    lengths = np.minimum.reduceat(found.data[order], first) if len(first) else np.empty(0)
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
    """Return the narrow type where it suffices: products with the matrix are memory-bound."""
    return np.int32 if n < np.iinfo(np.int32).max else np.int64
