"""What the entries of CCDR-2005 share: its roll, its two maps, and the parameters of section 4."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.graph import NeighborGraph
from labelfold.plotting.palette import OKABE_ITO
from labelfold.reproduce.entry import Task
from labelfold.spectral import CCDR, LaplacianEigenmaps

__all__ = ["COLORS", "N_BANDS", "draw_seeds", "make_maps", "size_of"]

N_NEIGHBORS, BETA, N_COMPONENTS = 12, 1.0, 2  # CCDR-2005 section 4, maps as in Fig. 2
N_BANDS = 6  # see the entry `bands`
COLORS = {
    "CCDR": OKABE_ITO[0],
    "Laplacian": OKABE_ITO[1],
    "3-NN": OKABE_ITO[2],
    "k-NN, best case": OKABE_ITO[2],
}


def size_of(task: Task, name: str) -> int:
    """Return a number of points from a task's setting."""
    return int(task.setting[name])


def draw_seeds(task: Task, size: int) -> tuple[int, int]:
    """Return a seed for the roll and one for all else, by the task's seed and size only."""
    for_roll, for_rest = np.random.SeedSequence([task.seed or 0, size]).spawn(2)
    return int(for_roll.generate_state(1)[0]), int(for_rest.generate_state(1)[0])


def make_maps(X: NDArray[np.float64], y: Any) -> dict[str, NDArray[np.float64]]:
    """Return the maps of CCDR, which sees the labels, and of Laplacian eigenmaps, on one graph."""
    graph = NeighborGraph.build(X, n_neighbors=N_NEIGHBORS)
    ccdr = CCDR(N_COMPONENTS, beta=BETA, n_neighbors=N_NEIGHBORS).fit(X, y, graph=graph)
    laplacian = LaplacianEigenmaps(N_COMPONENTS, n_neighbors=N_NEIGHBORS).fit(X, graph=graph)
    return {"CCDR": ccdr.embedding_, "Laplacian": laplacian.embedding_}
