"""What a graph needs of a neighbour search, whatever does the searching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph.furthest import Furthest

__all__ = ["NeighborIndex", "Pairs", "SearchReport"]

# Rows, other rows, and the distances between them.
Pairs = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]


@dataclass(frozen=True)
class SearchReport:
    """How the neighbours were found.

    Parameters
    ----------
    backend : str
        The library and structure that searched.
    recall : float
        Share of true neighbours that were found: 1 for an exact search, measured on a sample
        of rows for an approximate one.
    n_checked : int
        Number of rows in that sample; 0 for an exact search.
    """

    backend: str
    recall: float = 1.0
    n_checked: int = 0

    def __str__(self) -> str:
        if self.n_checked == 0:
            return f"{self.backend}, exact"
        return f"{self.backend}, recall {self.recall:.3f} on {self.n_checked} rows"


class NeighborIndex(Protocol):
    """What a graph needs of a neighbour search: its own rows' neighbours, and new rows'."""

    @property
    def report(self) -> SearchReport:
        """How neighbours are found."""

    @property
    def n_points(self) -> int:
        """Number of indexed rows."""

    def neighbors(self, n_neighbors: int) -> sp.csr_array:
        """Return distances of every indexed row to its nearest others."""

    def query(self, X: Any, n_neighbors: int) -> sp.csr_array:
        """Return distances of new rows to their nearest indexed rows."""

    def within(self, radius: float, X: Any = None) -> sp.csr_array:
        """Return distances up to ``radius``, of new rows or of the indexed rows to others."""

    def same_as(self, X: Any) -> bool:
        """Tell whether ``X`` is what was indexed."""

    def are_equal(self, X: Any, rows: NDArray[Any], indexed: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell whether ``rows`` of ``X`` equal the ``indexed`` rows, for pairs at distance 0.

        None for ``X`` stands for the indexed rows themselves.
        """

    def exits(self, pieces: NDArray[Any]) -> Pairs:
        """Return for every piece of the rows but the largest its shortest way to another."""

    def furthest(self) -> Furthest:
        """Return every indexed row's furthest other row and the distance."""

    def lengths(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances between pairs of different indexed rows."""

    def distance_sums(self) -> NDArray[np.float64]:
        """Return every indexed row's sum of distances to all others."""

    def distances_of_means(self, groups: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances between the means of groups of rows; -1 is in no group."""

    def among(self, rows: NDArray[np.intp]) -> NeighborIndex:
        """Return an exact index of some of the indexed rows, numbered in their order."""
