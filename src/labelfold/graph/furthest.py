"""For every row its furthest other row, exactly: the pairs that MFNU pulls apart.

Maximum furthest neighbour unfolding (ISM section 2) wants argmax_y |x - y| for every x. Dense
Euclidean rows are taken by groups of close ones. Let q be a group's centre and y* the row furthest
from q. A row y is no candidate if

    |q - y| + |x - q| < the furthest found so far from x          for every x of the group, or
    |q - y*|^2 - |q - y|^2 > 2 |y - y*| max_x |x - q|             (y* is further for every x).

That leaves a hundredth of the rows in few dimensions, and all where distances are as alike as in a
hundred independent ones. Candidates are compared by matrix products in single precision: a furthest
distance is never small against the data's extent, so that this is enough to tell who may win.
Who does is decided by differences in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.point_space import PointSpace, Rows, middle, number_equal_rows
from labelfold.threads import for_each, limit_threads, thread_limit

__all__ = ["Furthest", "furthest_rows", "lowest_if_touching"]

# For every row the number of its furthest other row, and the distance.
Furthest = tuple[NDArray[np.intp], NDArray[np.float64]]

GROUP_SIZE = 512  # rows that share their candidates
FIRST_TRIED = 512  # rows, those furthest from the group's centre
ROWS_AT_ONCE = 128  # of a group: they are sorted by need, so that few must see many candidates
COLUMNS_AT_ONCE = 2048  # candidates: the products fit the cache
ENTRIES_AT_ONCE = 2**23  # distances held in memory by a thread, should all of them be ties


def furthest_rows(rows: Rows, space: PointSpace) -> Furthest:
    """Return every row's furthest other row, the lowest row number among equally far ones.

    Parameters
    ----------
    rows : {ndarray, csr_array} of shape (n, d)
        Rows as ``space`` prepared them, two or more.
    space : PointSpace
        The metric.

    Returns
    -------
    indices : ndarray of shape (n,)
        Row numbers.
    distances : ndarray of shape (n,)
        In the metric, measured by differences.

    Notes
    -----
    Time is n^2 d for rows that are sparse or not Euclidean, and at worst for the others; memory is
    that of the rows, once more for every thread. As many threads as BLAS may use just now work.
    """
    of_row = number_equal_rows(rows)  # copies would be n^2 ties; of equal rows the first wins
    first = np.unique(of_row, return_index=True)[1]
    distinct = rows[first]
    if space.search_metric == "euclidean" and not sp.issparse(rows):
        indices, lengths = _furthest_of_dense(np.asarray(distinct), space)
    else:
        indices, lengths = _furthest_of_all(distinct, space)
    indices, lengths = first[indices][of_row], lengths[of_row]
    return lowest_if_touching(indices, space.from_search(lengths))


def lowest_if_touching(indices: NDArray[np.intp], distances: NDArray[np.float64]) -> Furthest:
    """Settle the tie of all other rows where the furthest is at distance 0."""
    lowest = np.zeros_like(indices)
    lowest[0] = 1
    return np.where(distances == 0, lowest, indices), distances


def _furthest_of_all(rows: Rows, space: PointSpace) -> Furthest:
    """Compare every row with every other."""
    n = rows.shape[0]
    slack = 0.0
    if sp.issparse(rows) and space.search_metric == "euclidean":
        # |x|^2 - 2 x.y + |y|^2 about an origin that may be far.
        slack = _rounding(rows.shape[1], float, sp.linalg.norm(rows, axis=1).max())
    indices, lengths = np.empty(n, dtype=np.intp), np.empty(n)
    numbers = np.arange(n)
    step = max(1, ENTRIES_AT_ONCE // n)
    for start in range(0, n, step):
        part = slice(start, start + step)
        indices[part], lengths[part] = _furthest_among(rows, numbers[part], numbers, space, slack)
    return indices, lengths


def _furthest_of_dense(rows: NDArray[np.float64], space: PointSpace) -> Furthest:
    """Compare the rows of every group with their candidates."""
    cloud = _Cloud(rows)
    slack = _rounding(rows.shape[1], float, cloud.radius)
    indices, lengths = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))

    def work(group: NDArray[np.intp]) -> None:
        for members, columns in cloud.contenders(group):
            found = _furthest_among(rows, members, columns, space, slack)
            indices[members], lengths[members] = found

    n_threads = thread_limit()
    with limit_threads(1, user_api="blas"):  # the threads are ours
        for_each(work, cloud.groups(), n_threads)
    return indices, lengths


class _Cloud:
    """Rows moved and scaled into the unit ball, in single precision.

    With x' = (-2x, 1) and y' = (y, |y|^2) it is x'.y' = |x - y|^2 - |x|^2: one product compares.
    """

    def __init__(self, rows: NDArray[np.float64]) -> None:
        centered = rows - middle(rows)  # not their mean, which rounding can carry away from them
        self.radius = float(np.linalg.norm(centered, axis=1).max()) or 1.0
        self._points = (centered / self.radius).astype(np.float32)
        self._squares = np.einsum("ij,ij->i", self._points, self._points)
        self._lifted = np.column_stack([self._points, self._squares])
        self._slack = np.float32(_rounding(rows.shape[1], np.float32, 1.0))

    def groups(self) -> Iterator[NDArray[np.intp]]:
        """Halve the rows across their widest coordinate until they are few."""
        pending = [np.arange(len(self._points))]
        while pending:
            group = pending.pop()
            if len(group) <= GROUP_SIZE:
                yield group
                continue
            points = self._points[group]
            along = points[:, np.ptp(points, axis=0).argmax()]
            order = np.argpartition(along, len(group) // 2)
            pending += np.split(group[order], [len(group) // 2])

    def contenders(
        self, group: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield some rows of the group at a time, with all that may be furthest from any."""
        points = self._points[group]
        center = points.mean(axis=0)
        away = np.linalg.norm(points.astype(float) - center, axis=1)
        from_center = self._squares_from(center)
        queries = np.column_stack([-2 * points, np.ones(len(group), dtype=np.float32)])

        tried = np.argpartition(from_center, -min(FIRST_TRIED, len(from_center)))[-FIRST_TRIED:]
        found = (queries @ self._lifted[tried].T).max(axis=1) + self._squares[group]
        need = np.sqrt(np.maximum(found - self._slack, 0)) - away
        need = np.maximum(need, 0) ** 2 - self._slack  # of a candidate's from_center

        candidates = np.flatnonzero(from_center >= need.min())
        furthest = from_center.argmax()
        lost = from_center[furthest] - from_center[candidates] - self._slack
        apart = self._squares_from(self._points[furthest], candidates) + self._slack
        candidates = candidates[lost <= 2 * away.max() * np.sqrt(apart)]
        candidates = candidates[np.argsort(-from_center[candidates], kind="stable")]
        lifted, falling = self._lifted[candidates], -from_center[candidates]

        order = np.argsort(need)[::-1]
        step = min(ROWS_AT_ONCE, max(1, ENTRIES_AT_ONCE // len(candidates)))
        for start in range(0, len(group), step):
            part = order[start : start + step]
            n_seen = int(np.searchsorted(falling, -need[part[-1]], side="right"))
            high = _with_high_products(queries[part], lifted[:n_seen], self._slack)
            yield group[part], candidates[high]

    def _squares_from(
        self, point: NDArray[np.float32], rows: NDArray[np.intp] | slice = slice(None)
    ) -> NDArray[np.float32]:
        squares = self._lifted[rows] @ np.append(-2 * point, np.float32(1)) + point @ point
        return np.maximum(squares, 0)


def _rounding(n_features: int, dtype: type[np.floating[Any]] | type[float], radius: float) -> float:
    """Return what comparing two or three squared distances within a ball can be off by.

    One alone, from squared lengths and a product, is off by (d + 4) eps radius^2 at most.
    """
    return float(8 * (n_features + 8) * np.finfo(dtype).eps * radius**2)


def _furthest_among(
    rows: Rows,
    queries: NDArray[np.intp],
    columns: NDArray[np.intp],
    space: PointSpace,
    slack: float,
) -> Furthest:
    """Return the furthest from some rows among some others, ties by row number.

    Whatever may be furthest, its squared distance being off by ``slack``, is measured.
    """
    rough = space.between(rows[queries], rows[columns])
    best = rough.max(axis=1)
    reach = np.minimum(best, np.sqrt(np.maximum(best**2 - slack, 0)))
    near, places = np.divmod(np.flatnonzero(rough >= reach[:, None]), len(columns))
    pairs = queries[near], columns[places]
    exact = space.measure(rows, rows, pairs, rough[near, places])
    order = np.lexsort((pairs[1], -exact, near))
    first = order[np.flatnonzero(np.diff(near[order], prepend=-1))]
    return pairs[1][first], exact[first]


def _with_high_products(
    queries: NDArray[np.float32], lifted: NDArray[np.float32], slack: np.float32
) -> NDArray[np.intp]:
    """Return the rows whose product with any query is within ``slack`` of its largest so far."""
    reach = np.full(len(queries), -np.inf, dtype=np.float32)
    found = []
    for start in range(0, len(lifted), COLUMNS_AT_ONCE):
        products = queries @ lifted[start : start + COLUMNS_AT_ONCE].T
        reach = np.maximum(reach, products.max(axis=1) - slack)
        found.append(start + np.flatnonzero((products >= reach[:, None]).any(axis=0)))
    return np.concatenate(found)
