"""How much memory a fit takes, before it starts: from rows, columns, neighbors and vectors.

A fit goes through stages. Each keeps some arrays to the end and holds others while it runs, so the
most that is held at any time is

    max over stages of (kept by the stages before + kept by it + held while it runs).

The formulas count bytes per row, with 8 for a float64 and 4 for a float32 or a row number.
``benchmarks/memory.py`` compares them with the peak of real fits.
"""

from __future__ import annotations

__all__ = ["FitMemory"]

LARGEST_COPY = 2**28  # bytes of rows that an index copies
EDGES_PER_NEIGHBOR = 1.5  # entries of the symmetric matrix per neighbor: between 1 and 2
BUFFERS = 6e7  # blocks of rows or edges, whatever the number of rows
HELD_BACK = 0.15  # share of the peak that an allocator keeps of what was freed before


class FitMemory:
    """Bytes that a fit of so many rows holds, stage by stage.

    Parameters
    ----------
    n_rows : int
        Number of rows.

    Attributes
    ----------
    kept : float
        Held from here to the end.
    peak : float
        The most held at any time so far.

    Examples
    --------
    >>> from labelfold.fit_memory import FitMemory
    >>> memory = FitMemory(n_rows=10)
    >>> memory.add(kept=10, during=5)
    >>> memory.add(kept=2, during=1)
    >>> memory.kept, memory.peak, round(memory.needed, 1)
    (120.0, 150.0, 172.5)
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.kept = self.peak = 0.0

    @property
    def needed(self) -> float:
        """The peak, and what the allocator holds back."""
        return (1 + HELD_BACK) * self.peak

    def add(self, *, kept: float = 0, during: float = 0, buffers: float = 0) -> None:
        """Add a stage, in bytes per row, and bytes whatever their number."""
        self.kept += kept * self.n_rows
        self.peak = max(self.peak, self.kept + during * self.n_rows + buffers)

    def add_search(self, row_bytes: float, n_features: int, n_neighbors: int) -> None:
        """Add a search: a copy of few rows, inverted lists in float32, neighbor lists."""
        copy = row_bytes if row_bytes * self.n_rows <= LARGEST_COPY else 0
        self.add(kept=copy + 4 * n_features + 20, during=24 * n_neighbors, buffers=BUFFERS)

    def add_edges(self, n_neighbors: int) -> None:
        """Add edges from neighbor lists: lengths, weights and their places.

        Meanwhile lists and their transpose are there, and room for edges of both.
        """
        edges = EDGES_PER_NEIGHBOR * n_neighbors
        self.add(kept=20 * edges, during=36 * n_neighbors, buffers=BUFFERS)

    def add_eigenvectors(self, n_neighbors: int, n_vectors: int) -> None:
        """Add a solve: vectors, the matrix in another order and scaled, and the block at work.

        The block has 1.15 columns per vector and 20 more, in float64 and for a while in float32;
        its products are computed for 64 columns at a time.
        """
        matrix = 36 * EDGES_PER_NEIGHBOR * n_neighbors
        n_columns = 1.15 * n_vectors + 20
        block = 12 * n_columns + 16 * min(64, n_columns)
        self.add(kept=8 * n_vectors, during=matrix + block)

    def add_descent(self, n_neighbors: int) -> None:
        """Add a layout: forces along edges, their transpose, and repulsion on a grid."""
        self.add(kept=100, during=40 * EDGES_PER_NEIGHBOR * n_neighbors + 400)

    def add_scores(self, n_classes: int) -> None:
        """Add scores and probabilities of the classes, and the arrays they come from."""
        self.add(kept=16 * n_classes, during=24 * n_classes)
