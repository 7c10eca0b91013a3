"""The roll of ISM Fig. 1 and its maps of two coordinates: two unfoldings, Isomap and PCA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from labelfold.datasets import make_swiss_roll
from labelfold.graph import NeighborGraph
from labelfold.semidefinite import FurthestNeighborUnfolding, MaximumVarianceUnfolding
from reproductions.entry import Task

__all__ = [
    "ANGLES",
    "KEPT",
    "NEIGHBORS",
    "N_NEIGHBORS",
    "RANK",
    "UNFOLDINGS",
    "Array",
    "Roll",
    "Unfolding",
    "correlate",
    "distance_errors",
    "make_plain_map",
    "neighbor_distances",
    "turn_onto",
    "unfold",
]

Array = NDArray[np.float64]
Unfolding = MaximumVarianceUnfolding | FurthestNeighborUnfolding

N_NEIGHBORS = 5  # ISM section 4
N_COMPONENTS, RANK = 2, 4
UNFOLDINGS: dict[str, type[Unfolding]] = {
    "MVU": MaximumVarianceUnfolding,
    "MFNU": FurthestNeighborUnfolding,
}

# Which distances an unfolding keeps, and how well: rms relative error of squared ones.
NEIGHBORS, ANGLES = "neighbours", "neighbours and angles"
KEPT = {NEIGHBORS: 1e-4, ANGLES: 1e-3}


@dataclass(frozen=True, eq=False)
class Roll:
    """Points of the roll, their two classes in bands, and their arc length and height."""

    X: Array
    y: NDArray[np.int64]
    coordinates: Array

    @classmethod
    def draw(cls, task: Task) -> Roll:
        """Draw the roll of a task; it depends on the number of points and the seed only."""
        return cls(*make_swiss_roll(int(task.setting["points"]), random_state=task.seed))


def unfold(X: Array, name: str, kept: str, seed: int | None) -> Unfolding:
    """Unfold the roll by MVU or MFNU."""
    model = UNFOLDINGS[name](
        N_COMPONENTS,
        n_neighbors=N_NEIGHBORS,
        local_angles=kept == ANGLES,
        rank=RANK,
        tol=KEPT[kept],
        random_state=seed,
    )
    return model.fit(X)


def make_plain_map(X: Array, name: str) -> Array:
    """Map the roll by Isomap, with as many neighbours, or by PCA."""
    if name == "Isomap":
        return np.asarray(
            Isomap(n_neighbors=N_NEIGHBORS, n_components=N_COMPONENTS).fit_transform(X)
        )
    return np.asarray(PCA(N_COMPONENTS).fit_transform(X))


def turn_onto(embedding: Array, coordinates: Array) -> Array:
    """Turn, reflect and shift a map, without any scaling, to where it is nearest to coordinates."""
    center = coordinates.mean(axis=0)
    centered = embedding - embedding.mean(axis=0)
    rotation, _ = orthogonal_procrustes(centered, coordinates - center)
    return np.asarray(centered @ rotation + center)


def correlate(places: Array, coordinates: Array) -> tuple[float, float]:
    """Return the correlations of a turned map's coordinates with arc length and height."""
    length, height = (
        float(np.corrcoef(places[:, column], coordinates[:, column])[0, 1]) for column in (0, 1)
    )
    return length, height


def neighbor_distances(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the pairs of neighbors, first and second points, and the distances between them."""
    upper = sp.triu(NeighborGraph.build(X, n_neighbors=N_NEIGHBORS).distances, k=1).tocoo()
    return upper.row.astype(np.intp), upper.col.astype(np.intp), np.asarray(upper.data)


def distance_errors(X: Array, places: Array) -> dict[str, float]:
    """Return the relative errors of a map's distances between neighbors, and of their squares.

    The names are those of a certificate's ``errors``.
    """
    i, j, given = neighbor_distances(X)
    found = np.linalg.norm(places[i] - places[j], axis=1)
    errors, squared = found - given, found**2 - given**2
    return {
        "rms": float(np.linalg.norm(errors) / np.linalg.norm(given)),
        "largest": float(np.max(np.abs(errors) / given)),
        "rms_squared": float(np.linalg.norm(squared) / np.linalg.norm(given**2)),
        "largest_squared": float(np.max(np.abs(squared) / given**2)),
    }
