"""New rows join a graph: the graph of all rows, without a new search for the old ones.

A list of nearest neighbors changes only if a row of the other kind is nearer than the last one on
it: for m new rows among n old ones 2 m (n + m) distances are computed instead of (n + m)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelfold.exceptions import InputError
from labelfold.graph.adjacency import keep_nearest, row_numbers
from labelfold.graph.neighbor_graph import NeighborGraph, graph_of_lists
from labelfold.graph.neighbor_index import PointIndex

__all__ = ["add_rows"]


def add_rows(graph: NeighborGraph, X: Any) -> NeighborGraph:
    """Return the graph of its points and validated new rows, which are numbered after them.

    With exact search it is what :meth:`NeighborGraph.build` makes of all rows with the graph's
    scale. It has no bridges. With one scale per point, a new one has that of its nearest old one.
    """
    graph = graph.unbridged or graph
    index, recipe = graph.index, graph.recipe
    if not isinstance(index, PointIndex):
        raise InputError(
            "metric='precomputed' has no distances among new rows, which are needed to join them "
            "to the graph: fit all rows together, or use transform, which takes each by itself."
        )
    new_index = index.of_rows(X)
    if recipe.radius is None:
        k, n_new = recipe.n_neighbors, new_index.n_points
        new = sp.csr_array((1, 1)) if n_new == 1 else new_index.neighbors(min(k, n_new - 1))
        across = _across(index, new_index, X, k)
        lists = keep_nearest(_in_blocks(graph.nearest, across, new), k)
    else:
        across, new = index.within(recipe.radius, X), new_index.within(recipe.radius)
        lists = _in_blocks(graph.distances, across, new)
    scale = graph.scale
    if isinstance(scale, np.ndarray):
        scale = np.append(scale, scale[index.query(X, 1).indices])
    return graph_of_lists(lists, scale, recipe, index.with_rows(X))


def _across(index: PointIndex, new_index: PointIndex, X: Any, n_neighbors: int) -> sp.csr_array:
    """Return distances of new rows to old ones, if either is among the other's nearest."""
    there = index.query(X, min(n_neighbors, index.n_points))
    back = new_index.query(index.X, min(n_neighbors, new_index.n_points))
    rows = np.concatenate([row_numbers(there), back.indices])
    columns = np.concatenate([there.indices, row_numbers(back)])
    distances = np.concatenate([there.data, back.data])
    _, first = np.unique(rows * np.int64(index.n_points) + columns, return_index=True)
    return sp.csr_array((distances[first], (rows[first], columns[first])), shape=there.shape)


def _in_blocks(old: sp.csr_array, across: sp.csr_array, new: sp.csr_array) -> sp.csr_array:
    """Put distances among old rows, of new to old ones and among new rows together."""
    blocks: Any = [[old, across.T], [across, new]]
    return sp.csr_array(sp.block_array(blocks))
