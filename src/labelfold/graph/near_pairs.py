"""Pairs of rows of two sets that are near by the measure of either: one product of matrices.

Two searches would compute all distances between the sets twice. Where it is known how far a row
need look, one pass in single precision finds all pairs that matter and few others; whoever asks
measures these exactly.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from labelfold.threads import for_each

__all__ = ["near_pairs"]

Array = NDArray[np.float64]

ROWS_AT_ONCE = 128  # a block of products that fits the cache for some thousand rows
PAIRS_AT_ONCE = 2**20


def near_pairs(
    a: Array,
    b: Array,
    reach_of_a: Array,
    reach_of_b: Array,
    *,
    most: int,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the pairs whose Euclidean distance is at most the larger of their two reaches.

    Parameters
    ----------
    a, b : ndarray of shape (n_a, n_features), (n_b, n_features)
        Rows, near the origin compared to the distances between them.
    reach_of_a, reach_of_b : ndarray of shape (n_a,), (n_b,)
        How far each row looks; may be infinite.
    most : int
        Number of pairs beyond which to give up.
    n_jobs : int, default=None
        Number of threads; None for all cores. Those of the linear algebra are bound by the caller,
        products being small.

    Returns
    -------
    rows, columns : ndarray of shape (n_pairs,)
        Row numbers in ``a`` and ``b`` of all such pairs, and of some slightly farther ones. None
        where there are more than ``most``.
    """
    unit = max(float(np.max(np.abs(rows), initial=0.0)) for rows in (a, b)) or 1.0
    rows_a, rows_b = ((rows / unit).astype(np.float32) for rows in (a, b))
    # Bound on the rounding of |x|^2 - 2 x.y + |y|^2, from that of sums of so many terms.
    slack = np.float32(4 * (a.shape[1] + 4) * np.finfo(np.float32).eps)
    size_a, size_b = ((1 - slack) * np.einsum("ij,ij->i", r, r) for r in (rows_a, rows_b))
    square_a, square_b = (
        ((reach / unit) ** 2).astype(np.float32) * (1 + slack) for reach in (reach_of_a, reach_of_b)
    )
    # With two columns more the product is the squared distance itself.
    left = np.column_stack([rows_a, size_a, np.ones_like(size_a)])
    right = np.ascontiguousarray(np.column_stack([-2 * rows_b, np.ones_like(size_b), size_b]).T)
    step = max(1, min(ROWS_AT_ONCE, PAIRS_AT_ONCE // max(1, len(b))))
    starts = range(0, len(a), step)
    found: dict[int, NDArray[np.intp]] = {}

    def work(start: int) -> None:
        if sum(map(len, list(found.values()))) <= most:
            part = slice(start, start + step)
            farthest = np.maximum(square_a[part, None], square_b)
            found[start] = np.flatnonzero(left[part] @ right <= farthest) + start * len(b)

    for_each(work, starts, effective_n_jobs(n_jobs or -1))
    if sum(map(len, found.values())) > most:
        return None
    rows, columns = np.divmod(np.concatenate([found[start] for start in starts]), len(b))
    return rows, columns
