"""Where groups of points have their middle: medoids, and how far apart their means are.

With D_ab the mean of squared distances between points of the groups a and b, each point with itself
included, |mean_a - mean_b|^2 = D_ab - (D_aa + D_bb) / 2. Where distances are not those of points in
space there are no means, and the right-hand side, at least 0, stands for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from labelfold.graph.neighbor_index import NeighborIndex, PointIndex

__all__ = ["distances_of_means", "medoid"]

Array = NDArray[np.float64]

DISTANCES_AT_ONCE = 2**24  # held in memory
TIED = 1e-9  # relative difference of sums of distances that rounding can make


def medoid(index: NeighborIndex) -> int:
    """Return the point with the least sum of distances to all others, the first of those that tie.

    Parameters
    ----------
    index : NeighborIndex
        The points; of precomputed distances all are needed.
    """
    sums = np.concatenate([block.sum(axis=1) for _, block in _blocks(index)])
    return int(np.flatnonzero(sums <= sums.min() * (1 + TIED))[0])


def distances_of_means(index: NeighborIndex, groups: NDArray[np.intp]) -> Array:
    """Return the distances between the means of groups.

    Parameters
    ----------
    index : NeighborIndex
        The points; of precomputed distances all are needed.
    groups : ndarray of shape (n,)
        Number of each point's group; -1 for none. Every number up to the largest occurs.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
        Distances in the metric; O(n d) for Euclidean and cosine, else O(n^2 d).
    """
    inside = np.flatnonzero(groups >= 0)
    numbers = groups[inside]
    shares = 1 / np.bincount(numbers)[numbers]
    average = sp.csr_array((shares, (numbers, inside)), shape=(numbers.max() + 1, len(groups)))
    if isinstance(index, PointIndex) and index.space.search_metric == "euclidean":
        means: Any = average @ index.rows
        means = means.toarray() if hasattr(means, "toarray") else means
        return index.space.from_search(cdist(means, means))
    squares = np.zeros((average.shape[0],) * 2)
    for part, block in _blocks(index):
        squares += np.asarray(average[:, part] @ (block**2 @ average.T))
    own = np.diag(squares)
    return np.sqrt(np.maximum(squares - (own[:, None] + own) / 2, 0))


def _blocks(index: NeighborIndex) -> Iterator[tuple[slice, Array]]:
    """Yield some rows at a time with their distances to all."""
    step = max(1, DISTANCES_AT_ONCE // index.n_points)
    for start in range(0, index.n_points, step):
        part = slice(start, start + step)
        yield part, index.between(part, slice(None))
