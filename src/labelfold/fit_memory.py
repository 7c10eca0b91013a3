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
LARGEST_LISTS = 2**25  # entries of rows whose inverted lists stay after the search
NARROW_FROM = 200_000  # rows from which lengths and weights of edges are float32
PANEL, LEAST_PANEL, PANEL_ENTRIES = 64, 16, 2**24  # of a polynomial's columns

EDGES_PER_NEIGHBOR = 1.5  # entries of the symmetric matrix per neighbor: between 1 and 2
BUFFERS = 1.2e8  # blocks of rows or edges, which the allocator holds back for the next ones
MARGIN = 0.1  # for what varies from data to data


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
    >>> memory.kept, memory.peak
    (120.0, 150.0)
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.kept = self.peak = 0.0
        self._real = 8 if n_rows < NARROW_FROM else 4  # bytes of a length or weight

    @property
    def needed(self) -> float:
        """The peak with buffers and a margin."""
        return (1 + MARGIN) * (self.peak + BUFFERS)

    def add(self, *, kept: float = 0, during: float = 0, block: float = 0) -> None:
        """Add a stage, in bytes per row; a block is in bytes, whatever the number of rows."""
        self.kept += kept * self.n_rows
        self.peak = max(self.peak, self.kept + during * self.n_rows + block)

    def add_search(self, row_bytes: float, n_features: int, n_neighbors: int) -> None:
        """Add a search: a copy of few rows, inverted lists in float32, neighbor lists."""
        copy = row_bytes if row_bytes * self.n_rows <= LARGEST_COPY else 0
        lists, found = 4 * n_features + 20, 12 * n_neighbors + 8
        if n_features * self.n_rows > LARGEST_LISTS:
            self.add(kept=copy, during=lists + found)
        else:
            self.add(kept=copy + lists, during=found)

    def add_lists(self, n_neighbors: int) -> None:
        """Add neighbor lists that a graph keeps for others."""
        self.add(kept=(self._real + 4) * n_neighbors)

    def add_edges(self, n_neighbors: int) -> None:
        """Add edges from neighbor lists: lengths, weights and their places.

        Meanwhile there are the lists and their transpose.
        """
        edges = EDGES_PER_NEIGHBOR * n_neighbors
        self.add(kept=(2 * self._real + 4) * edges, during=24 * n_neighbors)

    def add_eigenvectors(self, n_neighbors: int, n_vectors: int, *, is_rough: bool = False) -> None:
        """Add a solve: vectors, two copies of the matrix, and the block at work.

        The block has 1.15 columns per vector and 20 more, for a while also in float32. Its products
        take two panels of columns, and the density of the spectrum a dozen vectors. Rough vectors
        of many rows are float32.
        """
        matrix = (self._real + 4) * EDGES_PER_NEIGHBOR * n_neighbors
        n_columns = 1.15 * n_vectors + 20
        panel = min(n_columns, PANEL, max(LEAST_PANEL, PANEL_ENTRIES // self.n_rows))
        value = self._real if is_rough else 8
        block = value * n_columns + max(4 * n_columns, 16 * panel)
        self.add(kept=value * n_vectors, during=2 * matrix + block + 8 * 12)

    def add_descent(self, n_neighbors: int) -> None:
        """Add a layout: forces along edges, their transpose, and repulsion on a grid."""
        self.add(kept=100, during=40 * EDGES_PER_NEIGHBOR * n_neighbors + 400)

    def add_scores(self, n_classes: int) -> None:
        """Add scores and probabilities of the classes, and what they are computed with."""
        self.add(kept=24 * n_classes, during=24 * n_classes)
