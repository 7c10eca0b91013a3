"""The maps that both figures of SSDE compare, and the images of Fig. 2 with their scores."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.extend import KernelRegression
from labelfold.semidefinite import MaximumVarianceUnfolding, SupervisedSemidefiniteEmbedding
from labelfold.spectral import SupervisedLLE
from reproductions.data import load_alphadigits
from reproductions.entry import Measurement, Setting

Array = NDArray[np.float64]
Names = NDArray[np.object_]

SSDE, SDE, SLLE = "SSDE", "SDE", "SLLE"
PLAIN_SLLE = "SLLE, plain basis"
DEFAULT_SPREAD = 10.0  # the library's
SPREADS = (1.0, 2.0, 5.0, DEFAULT_SPREAD, 20.0)
K_NEAREST = 3  # section 4.2
TEST_SHARE = 0.2  # section 4.2
PRECISION, MERGED = "precision", "precision, 0 and O as one"


class PlainSLLE:
    """SLLE with the vectors that LAPACK returns, as in other implementations.

    If classes share no neighbors, the first vectors are any basis of the classes' indicators. New
    images are embedded as by `SupervisedLLE`.
    """

    def __init__(self, n_components: int, **parameters: Any) -> None:
        self.n_components = n_components
        self.model = SupervisedLLE(n_components, **parameters)

    def fit_transform(self, X: Array, y: Names) -> Array:
        """Embed the images and return their coordinates."""
        self.weights_ = self.model.fit(X, y).weights_.toarray()
        B = np.eye(len(X)) - self.weights_
        self.embedding_ = eigh(B.T @ B, subset_by_index=(1, self.n_components))[1]
        self.X_ = X
        return self.embedding_

    def transform(self, X: Array) -> Array:
        """Return the coordinates of new images."""
        places = np.asarray(KernelRegression.fit(self.X_, self.embedding_).predict(X))
        equal = (cdist(X, self.X_) == 0).astype(float)
        known = equal.any(axis=1)
        equal = equal[known] / equal[known].sum(axis=1, keepdims=True)
        places[known] = equal @ self.embedding_
        return places


def fit_map(
    method: str, X: Array, y: Any, n_components: int, seed: int | None, **parameters: Any
) -> tuple[Any, Array]:
    """Fit a map with the library's other defaults; return it and the rows' coordinates."""
    kinds: dict[str, Any] = {
        SSDE: SupervisedSemidefiniteEmbedding,
        SDE: MaximumVarianceUnfolding,
        SLLE: SupervisedLLE,
        PLAIN_SLLE: PlainSLLE,
    }
    if "spread" in parameters:
        parameters["class_spread"] = parameters.pop("spread")
    model = kinds.get(method, PCA)(n_components, random_state=seed, **parameters)
    with warnings.catch_warnings():
        # With few neighbors a class is disconnected; bridges connect it, and SLLE needs none.
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return model, np.asarray(model.fit_transform(X, y))


@lru_cache(maxsize=1)
def load_images(data_home: Path | None) -> tuple[Array, Names]:
    """Load the alphadigits as rows with their characters, once for all tasks of a process."""
    return load_alphadigits(data_home=data_home)


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test images; choices are made on the former."""

    X: Array
    y: Names
    X_new: Array
    y_new: Names

    @classmethod
    def draw(cls, data_home: Path | None, n_characters: int, seed: int | None) -> Split:
        """Draw a fifth of the first characters' images for the test, regardless of class."""
        X, y = load_images(data_home)
        kept = np.isin(y, np.unique(y)[:n_characters])
        parts = train_test_split(X[kept], y[kept], test_size=TEST_SHARE, random_state=seed)
        return cls(parts[0], parts[2], parts[1], parts[3])

    def score(self, predicted: Names, *, merged: bool = False) -> float:
        """Return the share of test images with the right class; 0 and O may count as one."""
        truth = self.y_new
        if merged:
            predicted, truth = (np.where(names == "O", "0", names) for names in (predicted, truth))
        return float(np.mean(predicted == truth))

    def measured(self, predicted: Names, setting: Setting, *, merged: bool) -> list[Measurement]:
        """Return the precision as a measurement, and if asked the one with 0 and O as one class."""
        scores = {PRECISION: self.score(predicted)}
        if merged:
            scores[MERGED] = self.score(predicted, merged=True)
        n = len(self.y_new)
        return [Measurement(score, setting, name, n_scored=n) for name, score in scores.items()]

    def nearest(self, places: Any, new_places: Any) -> Names:
        """Predict the class of test images by the 3 nearest training images."""
        return KNeighborsClassifier(K_NEAREST).fit(places, self.y).predict(new_places)


def map_images(
    method: str, split: Split, n_components: int, seed: int | None, **parameters: Any
) -> tuple[Any, Array, Array, dict[str, float]]:
    """Embed training and test images; return the map, both sets of coordinates and the costs."""
    start = time.perf_counter()
    model, places = fit_map(method, split.X, split.y, n_components, seed, **parameters)
    fitted = time.perf_counter()
    new_places = np.asarray(model.transform(split.X_new))
    mapped = time.perf_counter()
    costs = {"seconds to fit": fitted - start, "seconds to map new images": mapped - fitted}
    return model, places, new_places, costs
