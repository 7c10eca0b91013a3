"""How far apart the means of groups of points are, by the points or by their distances alone.

With D_ab the mean of squared distances between points of the groups a and b, each point with itself
included, |mean_a - mean_b|^2 = D_ab - (D_aa + D_bb) / 2. Where distances are not those of points in
space there are no means, and the right-hand side, at least 0, stands for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from labelfold.graph.point_space import PointSpace, Rows

__all__ = ["average", "distances_of_means", "means_apart"]

Array = NDArray[np.float64]

DISTANCES_AT_ONCE = 2**24  # held in memory


def distances_of_means(rows: Rows, space: PointSpace, groups: NDArray[np.intp]) -> Array:
    """Return the distances between the means of groups.

    Parameters
    ----------
    rows : {ndarray, csr_array} of shape (n, d)
        Points, prepared for the space.
    space : PointSpace
        Their metric.
    groups : ndarray of shape (n,)
        Number of each point's group; -1 for none. Every number up to the largest occurs.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
        Distances in the metric; O(n d) for Euclidean and cosine, else O(n^2 d).
    """
    share = average(groups)
    if space.search_metric == "euclidean":
        means: Any = share @ rows
        means = np.asarray(means.toarray() if hasattr(means, "toarray") else means)
        return space.from_search(cdist(means, means))
    squares = np.zeros((share.shape[0],) * 2)
    step = max(1, DISTANCES_AT_ONCE // len(groups))
    for start in range(0, len(groups), step):
        part = slice(start, start + step)
        squares += share[:, part] @ (space.between(rows[part], rows) ** 2 @ share.T)
    return means_apart(squares)


def average(groups: NDArray[np.intp]) -> sp.csr_array:
    """Return the matrix of shape (n_groups, n) that takes means over groups."""
    inside = np.flatnonzero(groups >= 0)
    numbers = groups[inside]
    values = 1 / np.bincount(numbers)[numbers]
    shape = (int(numbers.max()) + 1, len(groups))
    return sp.csr_array((values, (numbers, inside)), shape=shape)


def means_apart(squares: Array) -> Array:
    """Return how far means are apart, from the means of squared distances between groups."""
    own = np.diag(squares)
    return np.sqrt(np.maximum(squares - (own[:, None] + own) / 2, 0))
