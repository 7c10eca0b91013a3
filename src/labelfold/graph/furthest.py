"""For every point its furthest other point, exactly: the pairs that MFNU pulls apart.

Maximum furthest neighbor unfolding (ISM section 2) wants argmax_y |x - y| for every x. Euclidean
rows are compared by matrix products, |x - y|^2 - |x|^2 = (-2 x, 1).(y, |y|^2); whatever comes
within rounding of the largest is measured by differences, and these decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.neighbor_index import NeighborIndex, PointIndex
from labelfold.graph.point_space import middle, number_equal_rows

__all__ = ["furthest_points"]

# For every point the number of its furthest other point, and the distance.
Furthest = tuple[NDArray[np.intp], NDArray[np.float64]]

DISTANCES_AT_ONCE = 2**22  # held in memory


def furthest_points(index: NeighborIndex) -> Furthest:
    """Return every point's furthest other point, the lowest number among equally far ones.

    Parameters
    ----------
    index : NeighborIndex
        Two points or more; of precomputed distances all are needed.

    Returns
    -------
    indices : ndarray of shape (n,)
        Point numbers.
    distances : ndarray of shape (n,)
        In the metric.

    Notes
    -----
    Time is O(n^2 d), in matrix products for Euclidean and cosine distances; memory is that of the
    rows.
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
    # Where the furthest is at distance 0 all others tie.
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


def _parts(n: int) -> list[slice]:
    """Return slices of rows whose distances to all are held in memory together."""
    step = max(1, DISTANCES_AT_ONCE // n)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
