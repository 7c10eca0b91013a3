"""Pieces of a graph, and the few shortest bridges that make one piece of them.

The bridges are the edges of a minimum spanning tree over the pieces, grown as Boruvka does: every
piece but the largest takes its shortest way out, pieces that met become one, and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.neighbors import NeighborIndex, Pairs

__all__ = ["find_bridges", "find_pieces"]


def find_pieces(
    adjacency: sp.csr_array, groups: NDArray[np.intp] | None = None
) -> NDArray[np.int32]:
    """Return for every node the number of its piece.

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
        Every stored entry is an edge, zeros too.
    groups : ndarray of shape (n,), default=None
        Nodes with the same number count as joined, as by a class node; -1 stands alone.
    """
    n = adjacency.shape[0]
    edges = sp.csr_array(
        (np.ones(adjacency.nnz, dtype=np.int8), adjacency.indices, adjacency.indptr), shape=(n, n)
    )
    if groups is not None and np.any(groups >= 0):
        rows = np.flatnonzero(groups >= 0)
        shape = (n, int(groups.max()) + 1)
        joins = sp.csr_array((np.ones(len(rows), dtype=np.int8), (rows, groups[rows])), shape=shape)
        blocks: Any = [[edges, joins], [joins.T, None]]
        edges = sp.csr_array(sp.block_array(blocks))
    _, pieces = sp.csgraph.connected_components(edges, directed=False)
    _, relabeled = np.unique(pieces[:n], return_inverse=True)  # groups may have had no member
    return relabeled.astype(np.int32)


def find_bridges(pieces: NDArray[Any], index: NeighborIndex) -> Pairs:
    """Return the edges that join all pieces."""
    found: list[Pairs] = []
    while pieces.max() > 0:
        found.append(index.exits(pieces))
        pieces = _merge(pieces, *found[-1][:2])
    rows, columns, lengths = (np.concatenate(part) for part in zip(*found, strict=True))
    ends = np.sort(np.column_stack([rows, columns]), axis=1)
    ends, first = np.unique(ends, axis=0, return_index=True)  # two pieces may choose one edge
    return ends[:, 0], ends[:, 1], lengths[first]


def _merge(
    pieces: NDArray[Any], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.int32]:
    n = int(pieces.max()) + 1
    joined = sp.coo_array((np.ones(len(rows)), (pieces[rows], pieces[columns])), shape=(n, n))
    _, merged = sp.csgraph.connected_components(joined, directed=False)
    return np.asarray(merged)[pieces]
