"""How many dimensions a spectrum has: those before its widest gap, with most of the variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["gap_dimension"]

LEAST_SHARE = 0.99  # of the variance: a long strip has a wide gap after its length already
NOTHING = 1e-6  # of the first eigenvalue: below, gaps are between errors of the solve


def gap_dimension(spectrum: NDArray[np.float64]) -> int:
    """Return the number of eigenvalues before the largest ratio of one to the next.

    Only numbers count that hold 99 % of the sum.

    Parameters
    ----------
    spectrum : ndarray of shape (n,)
        Nonnegative, descending.
    """
    if len(spectrum) == 0 or spectrum[0] <= 0:
        return 1
    values = np.maximum(spectrum, NOTHING * spectrum[0])
    ratios = values / np.append(values[1:], values[-1])
    enough = np.cumsum(spectrum) >= LEAST_SHARE * np.sum(spectrum)
    return int(np.argmax(np.where(enough, ratios, 0.0))) + 1
