"""The one compiled kernel: a step of a three-term recurrence with a sparse matrix.

SciPy's product of a sparse matrix with a block uses one thread and holds the interpreter lock, and
the additions of the recurrence would each pass over memory once more. Here everything is done while
a row is at hand. The kernel is serial and releases the lock: threads work on different panels of
columns, so that the result has the same bits for any number of them, and no thread pool outlives
the call, which a forked process could not survive.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

__all__ = ["compiled_step", "recurrence_step"]


def recurrence_step(
    indptr: Any, indices: Any, data: Any, diagonal: Any, X: Any, Y: Any, a: Any, b: Any, c: Any
) -> None:
    """Overwrite Y by a (S + diag(diagonal)) X + b X + c Y, S in compressed rows; X is not Y."""
    n, n_columns = X.shape
    total = np.empty(n_columns, X.dtype)
    for i in range(n):
        own = a * diagonal[i] + b
        for t in range(n_columns):
            total[t] = c * Y[i, t] + own * X[i, t]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            weight = a * data[k]
            for t in range(n_columns):
                total[t] += weight * X[j, t]
        for t in range(n_columns):
            Y[i, t] = total[t]


@cache
def compiled_step() -> Callable[..., None]:
    """Return the kernel as machine code, kept on disk between runs where that can be."""
    import numba

    try:
        return numba.njit(nogil=True, cache=True)(recurrence_step)
    except RuntimeError:  # neither the package's directory nor the user's cache can be written
        return numba.njit(nogil=True)(recurrence_step)
