"""The two graphs of marginal Fisher analysis: inside the classes, and across their margins.

W_w joins points of one class of which either is among the other's k1 nearest of that class (CCDR-MC
eq. 9), W_b points of different classes of which either is among the other's k2 nearest outside its
class (eq. 11). All weights are 1, and unlabelled points have no edge. Distances are those between
rows, or those that a kernel K stands for, d_ij^2 = k_ii - 2 k_ij + k_jj; of equally distant points
the lowest row number is the nearer one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.edges import symmetrize
from labelfold.graph.neighbors import ExactIndex
from labelfold.graph.point_space import PointSpace

__all__ = ["KernelSearch", "RowSearch", "SubsetSearch", "join_nearest", "marginal_graphs"]

Numbers = NDArray[np.intp]

ROUNDING = 8 * np.finfo(float).eps  # of k_ii + k_jj: squared distances below it are 0


class SubsetSearch(Protocol):
    """Exact nearest neighbours among some of the points."""

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
        np.fill_diagonal(squares, np.inf)  # no point is its own neighbour
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
    """Join neighbours of one class, and neighbours of different classes.

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
