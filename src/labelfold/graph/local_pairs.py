"""Neighbor pairs and the pairs within one neighborhood, whose distances fix its angles too.

Semidefinite embedding (Weinberger, Sha and Saul, ICML 2004; SSDE section 2 has its tau_ij = 1)
keeps the distance of i and j if j is among the nearest of i, or if both are among the nearest of
some point: tau_ij = 1 or (tau^T tau)_ij > 0, where row i of the 0/1 matrix tau lists the k nearest
of i.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.adjacency import row_numbers, with_values
from labelfold.graph.neighbor_graph import NeighborGraph

__all__ = ["local_pairs"]


def local_pairs(graph: NeighborGraph) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the graph's edges and the pairs of points that are near to a common one.

    There are at most n k (k + 1) / 2 pairs beside the bridges. A point's neighborhood is its k
    nearest, not all that are joined to it, since a hub would add the pairs of all the points that
    count it among their nearest. With a radius the neighborhood is all within it. Bridges are among
    the pairs and in no neighborhood.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        Point numbers i < j, sorted, each pair once.
    distances : ndarray of shape (n_pairs,)
        Their distances in the graph's metric: of edges as the graph has them, else measured.

    Raises
    ------
    InputError
        If one of a pair's precomputed distances is missing: without it a neighborhood could fold.

    Examples
    --------
    >>> from labelfold import NeighborGraph
    >>> from labelfold.graph.local_pairs import local_pairs
    >>> graph = NeighborGraph.build([[0.0], [1.0], [3.0], [7.0]], n_neighbors=2)
    >>> pairs, distances = local_pairs(graph)
    >>> pairs.tolist()
    [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    >>> distances.tolist()
    [1.0, 3.0, 2.0, 6.0, 4.0]
    """
    lists = _ones_at(graph.nearest)  # tau
    joined = (lists.T @ lists + _ones_at(graph.distances)).tocsr()  # counts: no zero is lost
    joined.sort_indices()
    keys, _ = _upper_keys(joined)
    edges, upper = _upper_keys(graph.distances)
    pairs = np.column_stack(np.divmod(keys, graph.n_points))
    distances = np.empty(len(pairs))
    is_edge = np.isin(keys, edges)
    distances[is_edge] = graph.distances.data[upper]  # keys are sorted, and hold every edge
    distances[~is_edge] = graph.index.pair_distances(*pairs[~is_edge].T)
    return pairs, distances


def _ones_at(entries: sp.csr_array) -> sp.csr_array:
    return with_values(entries, np.ones(entries.nnz, dtype=np.int32))


def _upper_keys(entries: sp.csr_array) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return i n + j of the entries above the diagonal, and which these are."""
    rows, columns = row_numbers(entries), entries.indices
    upper = rows < columns
    return rows[upper] * entries.shape[0] + columns[upper], upper
