"""What Fig. 1 is made of: rolls of four classes, their maps, and what is measured of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.semidefinite import SupervisedSemidefiniteEmbedding
from labelfold.spectral import SupervisedLLE
from reproductions.entry import Task
from reproductions.lapclass.nearest import vote
from reproductions.ssde.names import K_NEAREST, SLLE, SSDE

__all__ = [
    "BANDS",
    "DATA",
    "N_CLASSES",
    "RANDOM",
    "Array",
    "Classes",
    "Roll",
    "class_correlation",
    "fit_map",
    "groups_apart",
    "left_out_precision",
    "new_precision",
    "outward_correlation",
    "within_share",
]

Array = NDArray[np.float64]
Classes = NDArray[np.int64]

BANDS, RANDOM = "bands", "random"
DATA = "data"
N_CLASSES = 4
NEIGHBORS = {SLLE: 8, SSDE: 4}
COLLAPSED = 1e-12  # share of variance within classes that rounding makes of points


@dataclass(frozen=True, eq=False)
class Roll:
    """Labelled points with their arc length and height, and new points of the same roll."""

    X: Array
    y: Classes
    coordinates: Array
    X_new: Array
    y_new: Classes

    @classmethod
    def draw(cls, task: Task) -> Roll:
        """Draw the roll of a task; half as many points again are new ones."""
        n = int(task.setting["points"])
        X, y, coordinates = make_swiss_roll(
            n + n // 2,
            pattern=task.setting["classes"],  # type: ignore[arg-type]
            n_classes=N_CLASSES,
            n_bands=N_CLASSES,
            random_state=task.seed,
        )
        return cls(X[:n], y[:n], coordinates[:n], X[n:], y[n:])


def fit_map(roll: Roll, name: str, parameter: float, seed: int | None) -> Any:
    """Map a roll into the plane: SLLE with that alpha, or SSDE with that spread."""
    model: Any = SupervisedLLE(2, n_neighbors=NEIGHBORS[SLLE], alpha=parameter, random_state=seed)
    if name == SSDE:
        model = SupervisedSemidefiniteEmbedding(
            2, n_neighbors=NEIGHBORS[SSDE], spread=parameter, random_state=seed
        )
    with warnings.catch_warnings():
        # Few neighbours leave pieces of a class, above all where classes are drawn at random.
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return model.fit(roll.X, roll.y)


def left_out_precision(places: Array, y: Classes) -> float:
    """Return the share of points that the 3 others nearest on the map would give their class."""
    search = NearestNeighbors(n_neighbors=K_NEAREST).fit(places)
    return float(np.mean(vote(y[search.kneighbors(return_distance=False)])[:, -1] == y))


def new_precision(places: Array, new_places: Array, roll: Roll) -> float:
    """Return the share of new points that the 3 nearest labelled ones give their class."""
    head = KNeighborsClassifier(K_NEAREST).fit(places, roll.y)
    return float(head.score(new_places, roll.y_new))


def groups_apart(places: Array, y: Classes) -> float:
    """Return the share of classes that are groups of their own.

    Such a class is farther from every other point than any gap within it is wide: joining nearest
    points first, one would put it together before anything else is added.
    """
    return float(np.mean([_is_group(places, y == value) for value in np.unique(y)]))


def _is_group(places: Array, mask: NDArray[np.bool_]) -> bool:
    own = places[mask]
    # Equal points would be no edge of the tree, and no gap either.
    tree = minimum_spanning_tree(cdist(own, own)).data
    return bool(cdist(own, places[~mask]).min() > tree.max(initial=0.0))


def within_share(places: Array, y: Classes) -> float:
    """Return the part of the variance that is within classes; 0 if each is a single point."""
    centers = np.stack([places[y == value].mean(axis=0) for value in np.unique(y)])
    within = np.sum((places - centers[np.searchsorted(np.unique(y), y)]) ** 2)
    share = float(within / np.sum((places - places.mean(axis=0)) ** 2))
    return share if share > COLLAPSED else 0.0


def class_correlation(places: Array, coordinates: Array, y: Classes) -> float:
    """Return how distances within classes correlate with those along the roll, mean over classes.

    0 where classes are single points.
    """
    if within_share(places, y) == 0:
        return 0.0
    pairs = [(pdist(places[y == value]), pdist(coordinates[y == value])) for value in np.unique(y)]
    return float(np.mean([np.corrcoef(found, true)[0, 1] for found, true in pairs]))


def outward_correlation(model: Any, roll: Roll) -> float:
    """Return how far out points of a class lie, against their distance on the roll from its medoid.

    Out is away from the middle of all classes; the mean correlation over classes is returned.
    """
    found = []
    for value, medoid in enumerate(model.medoids_):
        mask = roll.y == value
        places = model.gram_factor_[mask]
        true = np.linalg.norm(roll.coordinates[mask] - roll.coordinates[medoid], axis=1)
        found.append(np.corrcoef(places @ places.mean(axis=0), true)[0, 1])
    return float(np.mean(found))
