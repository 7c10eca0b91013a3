"""New points join a graph: the graph of all points, without searching for the old ones anew.

A list of nearest neighbours changes only where a point of the other kind is nearer than the last
one on it. How far that is tells how far each point need look across: for m new points among n old
ones m (n + m) distances are computed instead of (n + m)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.edges import keep_nearest, row_numbers
from labelfold.graph.neighbor_graph import NeighborGraph, graph_of_lists
from labelfold.graph.neighbors import PointIndex, to_rows
from labelfold.graph.weights import Scale

__all__ = ["join_rows"]

CROWDED = 20  # times as many pairs within reach as there are neighbours: two searches are quicker


def join_rows(graph: NeighborGraph, X: Any) -> NeighborGraph:
    """Return the graph of its points and new rows, which are numbered after them.

    Parameters
    ----------
    graph : NeighborGraph
        The graph; its bridges are left out.
    X : {ndarray, csr_array} of shape (n_new, n_features)
        Validated rows.

    Returns
    -------
    NeighborGraph
        What :meth:`NeighborGraph.build` makes of all rows with the graph's scale, where the search
        is exact; not yet joined where it falls into pieces. With one scale a point, a new point has
        that of its nearest old one.
    """
    graph = graph.unbridged or graph
    index = graph.index
    if not isinstance(index, PointIndex):
        raise InputError(
            "metric='precomputed' knows no distances among new rows, which are needed to join them "
            "to the graph: fit all rows together, or use transform, which maps each by itself."
        )
    new_index = index.of_rows(X)
    if graph.recipe.radius is None:
        found = _join_lists(graph, index, new_index, X)
    else:
        radius = graph.recipe.radius
        found = _in_blocks(graph.distances, index.within(radius, X), new_index.within(radius))
    return graph_of_lists(found, _scales(graph, X), graph.recipe, index.joined(X))


def _join_lists(
    graph: NeighborGraph, index: PointIndex, new_index: PointIndex, X: Any
) -> sp.csr_array:
    """Return distances of all points to their nearest others."""
    k, n_new = graph.recipe.n_neighbors, new_index.n_points
    old = graph.nearest
    new = sp.csr_array((1, 1)) if n_new == 1 else new_index.neighbors(min(k, n_new - 1))
    reach_of_new = _longest(new) if n_new > k else np.full(n_new, np.inf)
    across = index.near(X, _longest(old), reach_of_new, most=CROWDED * k * (graph.n_points + n_new))
    if across is None:
        across = _either_way(index, new_index, X, k)
    return keep_nearest(_in_blocks(old, across, new), k)


def _either_way(index: PointIndex, new_index: PointIndex, X: Any, n_neighbors: int) -> sp.csr_array:
    """Return distances of new rows to old ones, where either is among the other's nearest."""
    there = index.query(X, min(n_neighbors, index.n_points))
    back = index.query_back(new_index, min(n_neighbors, new_index.n_points))
    rows = np.concatenate([row_numbers(there), back.indices])
    columns = np.concatenate([there.indices, row_numbers(back)])
    distances = np.concatenate([there.data, back.data])
    _, first = np.unique(rows * np.int64(index.n_points) + columns, return_index=True)
    return to_rows(rows[first], columns[first], distances[first], there.shape)


def _longest(lists: sp.csr_array) -> NDArray[np.float64]:
    """Return the longest distance in every list; none is empty."""
    return np.asarray(np.maximum.reduceat(lists.data, lists.indptr[:-1]))


def _in_blocks(old: sp.csr_array, across: sp.csr_array, new: sp.csr_array) -> sp.csr_array:
    """Put distances among old points, of new to old ones and among new points together."""
    blocks: Any = [[old, across.T], [across, new]]
    return sp.csr_array(sp.block_array(blocks))


def _scales(graph: NeighborGraph, X: Any) -> Scale:
    """Return the scale of all points, or one a point."""
    if np.ndim(graph.scale) == 0:
        return graph.scale
    scales = np.asarray(graph.scale)
    return np.append(scales, scales[graph.index.query(X, 1).indices])
