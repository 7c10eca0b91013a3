"""Which neighbours count where several maps have some to offer: the nearest of all of them.

Every subsample offers its nearest points to x, near ones in one subsample and far ones in another.
Eq. 19 summed over the subsamples' points is a mean of their maps f_s(x), each weighted by the
points that it has among the nearest of all.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.edges import row_numbers

__all__ = ["mean_and_spread", "nearest_of_all"]

Array = NDArray[np.float64]


def nearest_of_all(lists: list[sp.csr_array], n_nearest: int) -> list[sp.csr_array]:
    """Keep of every row's lists the entries that are among the nearest in all lists together.

    Parameters
    ----------
    lists : list of csr_array of shape (n_rows, n_points)
        Distances of the same rows to some points, in each list other ones; no row is empty.
    n_nearest : int
        How many to keep for every row, and those at the same distance as the last.
    """
    rows = np.concatenate([row_numbers(one) for one in lists])
    distances = np.concatenate([one.data for one in lists])
    order = np.lexsort((distances, rows))
    counts = np.bincount(rows, minlength=lists[0].shape[0])
    starts = np.cumsum(counts) - counts
    last = distances[order[starts + np.minimum(counts, n_nearest) - 1]]
    return [_up_to(one, last) for one in lists]


def mean_and_spread(maps: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weighted mean of maps, and how far maps are from it.

    The spread is the root of the weighted mean squared distance over 1 - sum_s w_s^2, for shares w
    (n - 1 instead of n where they are equal), so that it does not depend on the number of maps. A
    single map has none.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n_rows, n_components)
        Coordinates; of no account where the weight is 0.
    weights : ndarray of shape (n_maps, n_rows)
        Nonnegative, for no row all zero.
    """
    shares = weights / weights.sum(axis=0)
    mean = np.einsum("sn,snk->nk", shares, maps)
    squares = np.sum(shares * np.sum((maps - mean) ** 2, axis=2), axis=0)
    freedom = 1 - np.sum(shares**2, axis=0)
    return mean, np.sqrt(squares / np.where(freedom > 1e-9, freedom, np.inf))


def _up_to(found: sp.csr_array, reach: Array) -> sp.csr_array:
    keep = found.data <= reach[row_numbers(found)]
    counts = np.bincount(row_numbers(found)[keep], minlength=found.shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((found.data[keep], found.indices[keep], starts), shape=found.shape)
