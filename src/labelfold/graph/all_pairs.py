"""Passes over the distances of all pairs: furthest points, medoids, distances of group means.

Maximum furthest neighbor unfolding (ISM section 2) pulls apart every x and argmax_y |x - y|.
Euclidean rows are compared by matrix products, |x - y|^2 - |x|^2 = (-2 x, 1).(y, |y|^2); what
comes within rounding of the largest is measured by differences, and these decide.

With D_ab the mean of squared distances between points of the groups a and b, each point with itself
included, |mean_a - mean_b|^2 = D_ab - (D_aa + D_bb) / 2. For distances that are not those of points
in space there are no means, and the right-hand side, at least 0, stands for them.

Distances are computed in blocks: time is O(n^2 d), memory that of the rows. Of precomputed
distances all are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from labelfold.graph.neighbor_index import PointIndex
from labelfold.graph.point_space import middle, number_equal_rows
from labelfold.graph.precomputed import NeighborIndex

__all__ = ["distances_of_means", "furthest_points", "medoid"]

Array = NDArray[np.float64]
Furthest = tuple[NDArray[np.intp], Array]  # number and distance of every point's furthest other

DISTANCES_AT_ONCE = 2**22  # held in memory
TIED = 1e-9  # relative difference of sums of distances that rounding can make


def furthest_points(index: NeighborIndex) -> Furthest:
    """Return every point's furthest other point, the lowest number of equally far ones.

    Returns
    -------
    indices : ndarray of shape (n,)
        Point numbers.
    distances : ndarray of shape (n,)
        In the metric.
    """
    if isinstance(index, PointIndex) and index.space.search_metric == "euclidean":
        indices, distances = _furthest_rows(index)
    else:
        n = index.n_points
        indices, distances = np.empty(n, dtype=np.intp), np.empty(n)
        for part in _parts(n):
            to_all = index.between(part, slice(None))
            own = np.arange(n)[part]
            to_all[np.arange(len(own)), own] = -1
            indices[part], distances[part] = to_all.argmax(axis=1), to_all.max(axis=1)
    # If the furthest is at distance 0, all others tie.
    lowest = np.zeros_like(indices)
    lowest[0] = 1
    return np.where(distances == 0, lowest, indices), distances


def _furthest_rows(index: PointIndex) -> Furthest:
    """Compare Euclidean rows by products, each of several equal ones once."""
    of_row = number_equal_rows(index.rows)
    first = np.unique(of_row, return_index=True)[1]
    rows = index.rows[first]
    n = len(first)
    scaled: Any = rows if sp.issparse(rows) else rows - middle(rows)
    norms = (sp.linalg.norm if sp.issparse(rows) else np.linalg.norm)(scaled, axis=1)
    radius = float(norms.max()) or 1.0
    scaled, squares = scaled / radius, (norms / radius) ** 2
    # A squared length and a product are off by (d + 4) eps at most, and two are compared.
    slack = 8 * (rows.shape[1] + 8) * np.finfo(float).eps
    indices, distances = np.empty(n, dtype=np.intp), np.empty(n)
    for part in _parts(n):
        products = scaled[part] @ scaled.T
        products = products.toarray() if sp.issparse(rows) else products
        products *= -2
        products += squares
        high = products >= products.max(axis=1, keepdims=True) - slack
        near, columns = np.divmod(np.flatnonzero(high), n)
        queries = near + part.start
        exact = index.space.measure(rows, rows, (queries, columns), np.empty(len(near)))
        order = np.lexsort((columns, -exact, near))
        best = order[np.flatnonzero(np.diff(near[order], prepend=-1))]
        indices[part], distances[part] = columns[best], exact[best]
    return first[indices][of_row], index.space.from_search(distances[of_row])


def medoid(index: NeighborIndex) -> int:
    """Return the point with the least sum of distances to all others, the first of ties."""
    parts = _parts(index.n_points)
    sums = np.concatenate([index.between(part, slice(None)).sum(axis=1) for part in parts])
    return int(np.flatnonzero(sums <= sums.min() * (1 + TIED))[0])


def distances_of_means(index: NeighborIndex, groups: NDArray[np.intp]) -> Array:
    """Return the distances between the means of groups, of shape (n_groups, n_groups).

    Euclidean and cosine distances need no pass over all pairs.

    Parameters
    ----------
    index : NeighborIndex
        The points.
    groups : ndarray of shape (n,)
        Number of each point's group; -1 for none. Every number up to the largest occurs.
    """
    inside = np.flatnonzero(groups >= 0)
    numbers = groups[inside]
    shares = 1 / np.bincount(numbers)[numbers]
    average = sp.csr_array((shares, (numbers, inside)), shape=(numbers.max() + 1, len(groups)))
    if isinstance(index, PointIndex) and index.space.search_metric == "euclidean":
        means: Any = average @ index.rows
        means = means.toarray() if sp.issparse(index.rows) else means
        return index.space.from_search(cdist(means, means))
    squares = np.zeros((average.shape[0],) * 2)
    for part in _parts(index.n_points):
        block = index.between(part, slice(None))
        squares += np.asarray(average[:, part] @ (block**2 @ average.T))
    own = np.diag(squares)
    return np.sqrt(np.maximum(squares - (own[:, None] + own) / 2, 0))


def _parts(n: int) -> list[slice]:
    """Return slices of rows whose distances to all are held in memory together."""
    step = max(1, DISTANCES_AT_ONCE // n)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
