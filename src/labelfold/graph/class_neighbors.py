"""Nearest neighbours where other classes count as further away than they are (alpha-SLLE).

D are the distances, and D' = D + alpha max(D) for points that are labelled differently, D' = D for
all others. No more than k points of either kind can be among the k nearest: they are sought apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.edges import row_numbers
from labelfold.graph.neighbor_graph import NeighborGraph
from labelfold.graph.neighbors import others_than

__all__ = ["nearest_by_class"]

Numbers = NDArray[np.intp]
Array = NDArray[np.float64]


def nearest_by_class(X: Any, graph: NeighborGraph, codes: Numbers, alpha: float) -> Numbers:
    """Return every point's nearest others in enlarged distances.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Rows of the graph.
    graph : NeighborGraph
        Their graph in plain distances, by number of neighbours.
    codes : ndarray of shape (n,)
        Number of each point's class; -1 for none, which is as near to any class as it is.
    alpha : float
        From 0, for plain distances, to 1, at which others than the own class come last.

    Returns
    -------
    ndarray of shape (n, n_neighbors)
        Row numbers, nearest first. Of equally distant points those of the own class come first,
        then those that are nearer but for the enlargement, then the lowest number.
    """
    k = graph.recipe.n_neighbors
    chosen = _nearest_in_rows(graph.distances, k)
    strange = (codes[:, None] >= 0) & (codes[chosen] >= 0) & (codes[:, None] != codes[chosen])
    mixed = np.flatnonzero(strange.any(axis=1))  # the others keep theirs: no point comes nearer
    if alpha == 0 or len(mixed) == 0:
        return chosen
    # At 1 no plain distance exceeds an enlarged one: it need not be known how large that is.
    enlargement = np.inf if alpha == 1 else alpha * float(graph.index.furthest()[1].max())
    for code in np.unique(codes[mixed]):
        rows = mixed[codes[mixed] == code]
        near = (codes == code) | (codes < 0)
        indices, distances = _search(X, graph, rows, np.flatnonzero(near), k)
        enlarged = distances
        if indices.shape[1] < k or np.any(distances > enlargement):
            others, lengths = _search(X, graph, rows, np.flatnonzero(~near), k)
            indices, distances = np.hstack([indices, others]), np.hstack([distances, lengths])
            enlarged = np.hstack([enlarged, lengths + enlargement])
        is_far = ~near[indices]
        order = np.lexsort((indices, distances, is_far, enlarged), axis=1)[:, :k]
        chosen[rows] = np.take_along_axis(indices, order, axis=1)
    return chosen


def _nearest_in_rows(distances: sp.csr_array, k: int) -> Numbers:
    """Return the k nearest of each row's entries, of which there are as many, nearest first."""
    order = np.lexsort((distances.indices, distances.data, row_numbers(distances)))
    places = distances.indptr[:-1, None] + np.arange(k)
    return np.asarray(distances.indices[order[places]], dtype=np.intp)


def _search(
    X: Any, graph: NeighborGraph, rows: Numbers, members: Numbers, k: int
) -> tuple[Numbers, Array]:
    """Return the members nearest to each of some rows, without itself, and their distances.

    There are k of them, or all if they are fewer; none or all of the rows are members.
    """
    own = bool(np.isin(rows[0], members))
    width = min(k, len(members) - own)
    found = graph.index.among(members).query(X[rows], width + own)
    shape = (len(rows), width + own)
    indices, distances = members[found.indices].reshape(shape), found.data.reshape(shape)
    if own:
        others = others_than(rows, indices)
        shape = (len(rows), width)
        indices, distances = indices[others].reshape(shape), distances[others].reshape(shape)
    return indices, distances
