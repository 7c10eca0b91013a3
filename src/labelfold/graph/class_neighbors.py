"""Nearest neighbors with regard to classes: for alpha-SLLE and marginal Fisher analysis.

alpha-SLLE takes other classes for further away than they are: D are the distances, and
D' = D + alpha max(D) for points that are labeled differently, D' = D for all others. No more than k
points of either kind can be among the k nearest, so that they are searched apart.

Marginal Fisher analysis has two graphs. W_w joins points of one class of which either is among the
other's k1 nearest of that class (CCDR-MC eq. 9), W_b points of different classes of which either is
among the other's k2 nearest outside its class (eq. 11). All weights are 1, and unlabeled points
have no edge. Distances are those between rows, or those that a kernel K stands for,
d_ij^2 = k_ii - 2 k_ij + k_jj. Of equally distant points the lowest row number is the nearer one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.adjacency import symmetrize
from labelfold.graph.furthest import furthest_points
from labelfold.graph.neighbor_graph import NeighborGraph
from labelfold.graph.neighbor_index import ExactIndex, others_than
from labelfold.graph.point_space import PointSpace

__all__ = [
    "KernelSearch",
    "RowSearch",
    "SubsetSearch",
    "join_nearest",
    "marginal_graphs",
    "nearest_by_class",
]

Numbers = NDArray[np.intp]
Array = NDArray[np.float64]

ROUNDING = 8 * np.finfo(float).eps  # of k_ii + k_jj: squared distances below it are 0


def nearest_by_class(X: Any, graph: NeighborGraph, codes: Numbers, alpha: float) -> Numbers:
    """Return every point's nearest others in enlarged distances.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Rows of the graph.
    graph : NeighborGraph
        Their graph in plain distances, by number of neighbors.
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
    nearest, lengths = (part.reshape(-1, k) for part in (graph.nearest.indices, graph.nearest.data))
    order = np.lexsort((nearest, lengths), axis=1)
    chosen = np.take_along_axis(nearest, order, axis=1).astype(np.intp)
    other_class = (codes[:, None] >= 0) & (codes[chosen] >= 0) & (codes[:, None] != codes[chosen])
    mixed = np.flatnonzero(other_class.any(axis=1))  # the others keep theirs: no point comes nearer
    if alpha == 0 or len(mixed) == 0:
        return chosen
    # At 1 no plain distance exceeds an enlarged one: it need not be known how large that is.
    enlargement = np.inf if alpha == 1 else alpha * float(furthest_points(graph.index)[1].max())
    for code in np.unique(codes[mixed]):
        rows = mixed[codes[mixed] == code]
        near = (codes == code) | (codes < 0)
        indices, distances = _search(X, graph, rows, np.flatnonzero(near), k)
        enlarged = distances
        if indices.shape[1] < k or np.any(distances > enlargement):
            others, further = _search(X, graph, rows, np.flatnonzero(~near), k)
            indices, distances = np.hstack([indices, others]), np.hstack([distances, further])
            enlarged = np.hstack([enlarged, further + enlargement])
        is_far = ~near[indices]
        order = np.lexsort((indices, distances, is_far, enlarged), axis=1)[:, :k]
        chosen[rows] = np.take_along_axis(indices, order, axis=1)
    return chosen


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


class SubsetSearch(Protocol):
    """Exact nearest neighbors among some of the points."""

    def among(self, members: Numbers, n_neighbors: int) -> Numbers:
        """Return for every member the nearest other members, of shape (n_members, n_neighbors)."""

    def from_outside(self, rows: Numbers, members: Numbers, n_neighbors: int) -> Numbers:
        """Return the members nearest to rows that are none, of shape (n_rows, n_neighbors)."""


class RowSearch:
    """Search by Euclidean distance between the rows of a matrix.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Points.
    n_jobs : int, default=None
        Bound on the number of threads.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        self._X, self._n_jobs = X, n_jobs

    def among(self, members: Numbers, n_neighbors: int) -> Numbers:
        """Return for every member the nearest other members."""
        found = self._index(members).neighbors(n_neighbors)
        return members[found.indices].reshape(len(members), n_neighbors)

    def from_outside(self, rows: Numbers, members: Numbers, n_neighbors: int) -> Numbers:
        """Return the members nearest to rows that are none."""
        found = self._index(members).query(self._X[rows], n_neighbors)
        return members[found.indices].reshape(len(rows), n_neighbors)

    def _index(self, members: Numbers) -> ExactIndex:
        space = PointSpace("euclidean")
        return ExactIndex(self._X[members], space, n_jobs=self._n_jobs, copy=False)


class KernelSearch:
    """Search by the distances that a kernel stands for.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel between all points, symmetric.
    """

    def __init__(self, K: NDArray[np.float64]) -> None:
        sizes = np.diag(K)
        sums = sizes[:, None] + sizes
        squares = sums - 2 * K
        squares[squares <= ROUNDING * np.abs(sums)] = 0  # equal points are at distance 0
        np.fill_diagonal(squares, np.inf)  # no point is its own neighbor
        self._squares = squares

    def among(self, members: Numbers, n_neighbors: int) -> Numbers:
        """Return for every member the nearest other members."""
        return self.from_outside(members, members, n_neighbors)

    def from_outside(self, rows: Numbers, members: Numbers, n_neighbors: int) -> Numbers:
        """Return the members nearest to the rows."""
        order = np.argsort(self._squares[np.ix_(rows, members)], axis=1, kind="stable")
        return members[order[:, :n_neighbors]]


def marginal_graphs(
    search: SubsetSearch, codes: Numbers, n_within: int, n_between: int
) -> tuple[sp.csr_array, sp.csr_array]:
    """Join neighbors of one class, and neighbors of different classes.

    Parameters
    ----------
    search : SubsetSearch
        The search among the points.
    codes : ndarray of shape (n,)
        Number of each point's class; -1 for none.
    n_within, n_between : int
        k1 and k2. A point that has fewer others to be joined with is joined with all of them.

    Returns
    -------
    within, between : csr_array of shape (n, n)
        W_w and W_b.
    """
    n = len(codes)
    within, between = [np.empty((0, 2), dtype=np.intp)], [np.empty((0, 2), dtype=np.intp)]
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        others = np.flatnonzero((codes >= 0) & (codes != code))
        k = min(n_within, len(members) - 1)
        if k > 0:
            within.append(_pairs(members, search.among(members, k)))
        k = min(n_between, len(others))
        if k > 0:
            between.append(_pairs(members, search.from_outside(members, others, k)))
    return _either_way(np.vstack(within), n), _either_way(np.vstack(between), n)


def join_nearest(search: SubsetSearch, n: int, n_neighbors: int) -> sp.csr_array:
    """Join all points of which either is among the other's nearest, whatever their class."""
    everyone = np.arange(n)
    nearest = search.among(everyone, min(n_neighbors, n - 1))
    return _either_way(_pairs(everyone, nearest), n)


def _pairs(rows: Numbers, nearest: Numbers) -> Numbers:
    return np.column_stack([np.repeat(rows, nearest.shape[1]), nearest.ravel()])


def _either_way(pairs: Numbers, n: int) -> sp.csr_array:
    """Return weights of 1 for the pairs and their reverse."""
    return symmetrize(sp.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)))
