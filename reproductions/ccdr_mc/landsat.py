"""What the entries of CCDR-MC share: Landsat, its splits and its graphs.

The paper has one split, 4,435 training and 2,000 test rows. Random splits of the same sizes show
how much of a figure is that split's doing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelfold.graph import NeighborGraph
from reproductions.data import load_landsat
from reproductions.entry import Task

__all__ = ["N_TEST", "N_TRAIN", "Landsat", "graph_of", "landsat_of"]

N_TRAIN, N_TEST = 4435, 2000


@dataclass(frozen=True, eq=False)
class Landsat:
    """All rows, and which of them are for training and for testing."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    def error(self, predicted: NDArray[np.int64]) -> float:
        """Return the share of test rows with a wrong prediction."""
        return float(np.mean(predicted != self.y[self.test]))


def landsat_of(task: Task, data_home: Path | None) -> Landsat:
    """Return Landsat in the task's split: the paper's, or the random one of the task's seed."""
    X, y = _load(data_home)
    order = np.arange(len(y))
    if task.setting.get("split") == "random":
        order = np.random.default_rng([task.seed or 0, N_TRAIN]).permutation(len(y))
    return Landsat(X, y, np.sort(order[:N_TRAIN]), np.sort(order[N_TRAIN:]))


@lru_cache(maxsize=16)
def graph_of(data_home: Path | None, n_neighbors: int) -> NeighborGraph:
    """Return the graph of all rows, which no split changes."""
    return NeighborGraph.build(_load(data_home)[0], n_neighbors=n_neighbors)


@lru_cache(maxsize=1)
def _load(data_home: Path | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return load_landsat("all", data_home=data_home)
