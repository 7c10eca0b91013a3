"""Nearest neighbors by class: for alpha-SLLE and marginal Fisher analysis.

alpha-SLLE enlarges the distances D between points that are labeled differently:
D' = D + alpha max(D) for them, D' = D for all others. No more than k points of either kind can be
among the k nearest, so each kind is searched by itself.

Marginal Fisher analysis has two graphs. W_w joins points of one class of which either is among the
other's k1 nearest of that class (CCDR-MC eq. 9), W_b points of different classes of which either is
among the other's k2 nearest outside its class (eq. 11). All weights are 1, and unlabeled points
have no edge. Distances are those between rows, or those of a kernel K,
d_ij^2 = k_ii - 2 k_ij + k_jj. Of equally distant points the lowest row number is the nearer one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.adjacency import keep_nearest, symmetrize
from labelfold.graph.all_pairs import furthest_points
from labelfold.graph.neighbor_graph import NeighborGraph
from labelfold.graph.neighbor_index import PointIndex, others_than

__all__ = ["Search", "kernel_search", "marginal_graphs", "nearest_by_class", "row_search"]

Numbers = NDArray[np.intp]
Array = NDArray[np.float64]
# From rows, members and a number k: the k members nearest to each row, itself left out, and their
# distances, both of shape (n_rows, k), in any order. Either all of the rows are members or none.
Search = Callable[[Numbers, Numbers, int], tuple[Numbers, Array]]

ROUNDING = 8 * np.finfo(float).eps  # of k_ii + k_jj: squared distances below it are 0


def nearest_by_class(graph: NeighborGraph, codes: Numbers, alpha: float) -> Numbers:
    """Return every point's nearest others in enlarged distances, of shape (n, n_neighbors).

    Nearest come first. Of equally distant points those of the own class come first, then those that
    are nearer without the enlargement, then the lowest number.

    Parameters
    ----------
    graph : NeighborGraph
        The graph in plain distances, by number of neighbors.
    codes : ndarray of shape (n,)
        Number of each point's class; -1 for none, whose distances to all classes are plain.
    alpha : float
        From 0, for plain distances, to 1, at which other classes come last.
    """
    k = graph.recipe.n_neighbors
    lists = keep_nearest(graph.nearest, k)
    nearest, lengths = (part.reshape(-1, k) for part in (lists.indices, lists.data))
    order = np.lexsort((nearest, lengths), axis=1)
    chosen = np.take_along_axis(nearest, order, axis=1).astype(np.intp)
    other_class = (codes[:, None] >= 0) & (codes[chosen] >= 0) & (codes[:, None] != codes[chosen])
    mixed = np.flatnonzero(other_class.any(axis=1))  # the others keep theirs: no point comes nearer
    if alpha == 0 or len(mixed) == 0:
        return chosen
    assert isinstance(graph.index, PointIndex)
    search = row_search(graph.index)
    # At 1 no plain distance exceeds an enlarged one, however large that is.
    enlargement = np.inf if alpha == 1 else alpha * float(furthest_points(graph.index)[1].max())
    for code in np.unique(codes[mixed]):
        rows = mixed[codes[mixed] == code]
        near = (codes == code) | (codes < 0)
        members = np.flatnonzero(near)
        indices, distances = search(rows, members, min(k, len(members) - 1))
        enlarged = distances
        if indices.shape[1] < k or np.any(distances > enlargement):
            members = np.flatnonzero(~near)
            others, further = search(rows, members, min(k, len(members)))
            indices, distances = np.hstack([indices, others]), np.hstack([distances, further])
            enlarged = np.hstack([enlarged, further + enlargement])
        order = np.lexsort((indices, distances, ~near[indices], enlarged), axis=1)[:, :k]
        chosen[rows] = np.take_along_axis(indices, order, axis=1)
    return chosen


def row_search(index: PointIndex) -> Search:
    """Return an exact search by the metric of an index."""

    def search(rows: Numbers, members: Numbers, k: int) -> tuple[Numbers, Array]:
        own = bool(np.isin(rows[0], members))
        nearest = index.among(members).query(index.X[rows], k + own)
        indices = members[nearest.indices].reshape(len(rows), k + own)
        distances = nearest.data.reshape(indices.shape)
        if own:
            others = others_than(rows, indices)
            shape = (len(rows), k)
            return indices[others].reshape(shape), distances[others].reshape(shape)
        return indices, distances

    return search


def kernel_search(K: Array) -> Search:
    """Return a search by the distances of a symmetric kernel between all points."""
    sizes = np.diag(K)
    sums = sizes[:, None] + sizes
    squares = sums - 2 * K
    squares[squares <= ROUNDING * np.abs(sums)] = 0  # equal points are at distance 0
    np.fill_diagonal(squares, np.inf)  # no point is its own neighbor

    def search(rows: Numbers, members: Numbers, k: int) -> tuple[Numbers, Array]:
        between = squares[np.ix_(rows, members)]
        order = np.argsort(between, axis=1, kind="stable")[:, :k]
        return members[order], np.sqrt(np.take_along_axis(between, order, axis=1))

    return search


def marginal_graphs(
    search: Search, codes: Numbers, n_within: int, n_between: int
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return W_w and W_b for class numbers, -1 for none, with k1 and k2 neighbors.

    A point with fewer others is joined with all of them.
    """
    within, between = [], []
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        others = np.flatnonzero((codes >= 0) & (codes != code))
        within.append(_pairs(search, members, members, min(n_within, len(members) - 1)))
        between.append(_pairs(search, members, others, min(n_between, len(others))))
    return _join(np.hstack(within), len(codes)), _join(np.hstack(between), len(codes))


def _pairs(search: Search, rows: Numbers, members: Numbers, k: int) -> Numbers:
    """Return pairs of a row and one of its k nearest members, of shape (2, n_pairs)."""
    nearest = search(rows, members, k)[0].ravel() if k > 0 else np.empty(0, dtype=np.intp)
    return np.array([np.repeat(rows, max(k, 0)), nearest])


def _join(pairs: Numbers, n: int) -> sp.csr_array:
    """Return weights of 1 for the pairs and their reverse."""
    return symmetrize(sp.csr_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(n, n)))
