"""What the members of an ensemble know of the rows of fit: coordinates of their own, and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FittedRows"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Rows of fit.

    Parameters
    ----------
    subsamples : list of ndarray of shape (subsample_size,)
        Rows of each member.
    embedded : list of ndarray of shape (subsample_size, n_components)
        Their coordinates in the member's map.
    codes : ndarray of shape (n_samples,)
        Class of every row, -1 for an unlabelled one.
    """

    subsamples: list[Numbers]
    embedded: list[Array]
    codes: Numbers

    def of_member(self, number: int, rows: Numbers) -> tuple[Numbers, Array]:
        """Return which of these rows are a member's own, and their coordinates in its map."""
        its_rows = self.subsamples[number]
        order = np.argsort(its_rows)
        place = np.searchsorted(its_rows, rows, sorter=order)
        position = order[np.minimum(place, len(order) - 1)]
        known = np.flatnonzero(its_rows[position] == rows)
        return known, self.embedded[number][position[known]]
