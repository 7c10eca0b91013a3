"""What the entries of CCDR-2005 share: its roll, its two maps, and the parameters of section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.datasets import make_swiss_roll
from labelfold.graph import NeighborGraph
from labelfold.spectral import CCDR, LaplacianEigenmaps
from reproductions.curves import OKABE_ITO
from reproductions.entry import Task

N_NEIGHBORS, BETA, N_COMPONENTS = 12, 1.0, 2  # CCDR-2005 section 4, maps as in Fig. 2
N_BANDS = 6  # see the entry `bands`
ROLL_ANGLES = np.array([1.5, 4.5]) * np.pi  # start and end of the spiral of make_swiss_roll
COLORS = {
    "CCDR": OKABE_ITO[0],
    "Laplacian": OKABE_ITO[1],
    "3-NN": OKABE_ITO[2],
    "k-NN, best case": OKABE_ITO[2],
}


@dataclass(frozen=True)
class BandedRoll:
    """A Swiss roll with two classes in alternating bands."""

    n_bands: int
    has_half_ends: bool = False  # the first and the last band are half as wide as the others
    height: float = 21.0  # extent along its axis

    def __str__(self) -> str:
        ends = " with half-width ends" if self.has_half_ends else ""
        return f"{self.n_bands} bands{ends}, height {self.height:g}"

    def draw(self, n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw points and their classes."""
        X, y, _ = make_swiss_roll(n, pattern=self._classes, height=self.height, random_state=seed)
        return X, y

    def _classes(self, coordinates: NDArray[np.float64]) -> NDArray[np.int64]:
        # Arc length of the spiral r = angle, from its origin.
        inner, outer = (ROLL_ANGLES * np.hypot(1, ROLL_ANGLES) + np.arcsinh(ROLL_ANGLES)) / 2
        width = (outer - inner) / (self.n_bands - self.has_half_ends)
        band = np.floor(coordinates[:, 0] / width + 0.5 * self.has_half_ends).astype(np.int64)
        return np.clip(band, 0, self.n_bands - 1) % 2


# Readings of the classes that the paper shows in a picture only; see the entry `table-1`.
ROLLS = (BandedRoll(N_BANDS), BandedRoll(4, has_half_ends=True, height=30.0))


def draw_seeds(task: Task, size: int) -> tuple[int, int]:
    """Return seeds for the roll and for everything else, from the task's seed and size."""
    for_roll, for_rest = np.random.SeedSequence([task.seed or 0, size]).spawn(2)
    return int(for_roll.generate_state(1)[0]), int(for_rest.generate_state(1)[0])


def make_maps(
    X: NDArray[np.float64], y: Any, *, n_components: int = N_COMPONENTS
) -> dict[str, NDArray[np.float64]]:
    """Return the maps of CCDR, which sees the labels, and of Laplacian eigenmaps, on one graph."""
    graph = NeighborGraph.build(X, n_neighbors=N_NEIGHBORS)
    ccdr = CCDR(n_components, beta=BETA, n_neighbors=N_NEIGHBORS).fit(X, y, graph=graph)
    laplacian = LaplacianEigenmaps(n_components, n_neighbors=N_NEIGHBORS).fit(X, graph=graph)
    return {"CCDR": ccdr.embedding_, "Laplacian": laplacian.embedding_}
