"""How many dimensions a spectrum has: those before its widest gap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["gap_dimension"]

LEAST_SHARE = 1e-4  # of the first eigenvalue: below, gaps are between errors of the solve


def gap_dimension(spectrum: NDArray[np.float64]) -> int:
    """Return the number of eigenvalues before the largest ratio of one to the next.

    Parameters
    ----------
    spectrum : ndarray of shape (n,)
        Nonnegative, descending. Ends with what is below one part in 10,000 of the first.
    """
    if len(spectrum) == 0 or spectrum[0] <= 0:
        return 1
    floor = LEAST_SHARE * spectrum[0]
    values = np.append(np.maximum(spectrum, floor), floor)
    return int(np.argmax(values[:-1] / values[1:])) + 1
