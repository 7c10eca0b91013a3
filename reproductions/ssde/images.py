"""What Fig. 2 is made of: splits of the alphadigits, maps with new images on them, and scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
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
from reproductions.ssde.names import K_NEAREST, PLAIN_SLLE, SDE, SLLE, SSDE

__all__ = [
    "ARGMAX",
    "CONTROL",
    "DIMENSIONS",
    "DISTANCE_ERROR",
    "GAP",
    "MERGED",
    "NEAREST",
    "PRECISION",
    "PRINCIPAL",
    "RAW",
    "SECONDS",
    "SECONDS_NEW",
    "SHAPE",
    "Array",
    "Images",
    "Mapped",
    "Names",
    "PlainSLLE",
    "Split",
    "distance_error",
    "load_images",
    "make_map",
    "measure_certificate",
    "predict_from_labels",
    "score_dimensions",
]

Array = NDArray[np.float64]
Names = NDArray[np.object_]

PRINCIPAL, RAW, CONTROL = "PCA", "raw pixels", "one-hot control"
NEAREST, ARGMAX = "3-NN", "argmax"
PRECISION, MERGED = "precision", "precision, 0 and O as one"
SECONDS, SECONDS_NEW = "seconds to fit", "seconds to map new images"
DISTANCE_ERROR = "rms error of squared distances within classes, in %"
GAP = "gap to the dual bound, in %"

DIMENSIONS = (2, 5, 10, 15, 20, 25, 30, 40, 50, 60)
SHAPE = (20, 16)
TEST_SHARE = 0.2  # section 4.2


@dataclass(frozen=True, eq=False)
class Images:
    """Images as rows, and their characters."""

    X: Array
    y: Names

    def of_first(self, n_characters: int) -> Images:
        """Return the images of the first characters."""
        kept = np.isin(self.y, np.unique(self.y)[:n_characters])
        return Images(self.X[kept], self.y[kept])


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test images; what is chosen is chosen among the former."""

    X: Array
    y: Names
    X_new: Array
    y_new: Names

    @classmethod
    def draw(cls, images: Images, seed: int | None) -> Split:
        """Draw a fifth of the images for the test, whatever their class."""
        parts = train_test_split(images.X, images.y, test_size=TEST_SHARE, random_state=seed)
        return cls(parts[0], parts[2], parts[1], parts[3])

    def score(self, predicted: Names, *, merged: bool = False) -> float:
        """Return the share of test images with the right class."""
        if merged:
            return float(np.mean(_merge(predicted) == _merge(self.y_new)))
        return float(np.mean(predicted == self.y_new))

    def measured(self, predicted: Names, setting: Setting, *, merged: bool) -> list[Measurement]:
        """Return the precision as a measurement, and if asked the one with 0 and O as one class."""
        n_scored = len(self.y_new)
        kinds = {PRECISION: False} | ({MERGED: True} if merged else {})
        return [
            Measurement(self.score(predicted, merged=kind), setting, measure, n_scored=n_scored)
            for measure, kind in kinds.items()
        ]


@dataclass(frozen=True, eq=False)
class Mapped:
    """A fitted map, the coordinates of training and test images, and what they cost."""

    model: Any
    places: Array
    new_places: Array
    seconds: float
    seconds_new: float

    @classmethod
    def of(cls, model: Any, split: Split) -> Mapped:
        """Fit a map to the training images and place the test images by its own transform."""
        start = time.perf_counter()
        with warnings.catch_warnings():
            # Bridges join what falls apart, and SLLE needs none.
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            places = np.asarray(model.fit_transform(split.X, split.y))
        fitted = time.perf_counter()
        new_places = np.asarray(model.transform(split.X_new))
        mapped = time.perf_counter()
        return cls(model, places, new_places, fitted - start, mapped - fitted)

    def measured_seconds(self) -> list[Measurement]:
        """Return what it cost."""
        costs = {SECONDS: self.seconds, SECONDS_NEW: self.seconds_new}
        return [Measurement(cost, {}, measure, unit="number") for measure, cost in costs.items()]


class PlainSLLE:
    """SLLE with the vectors that LAPACK returns, as implementations elsewhere have it.

    Where classes have no neighbour in common, the first vectors are any basis of the classes'
    indicators. New images are mapped as `SupervisedLLE` maps them: by kernel regression, and those
    equal to training images to the places of these.
    """

    def __init__(self, n_components: int, **parameters: Any) -> None:
        self.n_components = n_components
        self.model = SupervisedLLE(n_components, **parameters)

    def fit(self, X: Array, y: Names) -> PlainSLLE:
        """Map the images."""
        self.weights_ = self.model.fit(X, y).weights_.toarray()
        B = np.eye(len(X)) - self.weights_
        self.embedding_ = eigh(B.T @ B, subset_by_index=(1, self.n_components))[1]
        self.X_ = X
        return self

    def fit_transform(self, X: Array, y: Names) -> Array:
        """Map the images and return their places."""
        return self.fit(X, y).embedding_

    def transform(self, X: Array) -> Array:
        """Return the places of new images."""
        places = np.asarray(KernelRegression.fit(self.X_, self.embedding_).predict(X))
        equal = (cdist(X, self.X_) == 0).astype(float)
        known = equal.any(axis=1)
        equal = equal[known] / equal[known].sum(axis=1, keepdims=True)
        places[known] = equal @ self.embedding_
        return places


@lru_cache(maxsize=1)
def load_images(data_home: Path | None) -> Images:
    """Load the alphadigits, once for all tasks of a process."""
    return Images(*load_alphadigits(data_home=data_home))


def make_map(method: str, n_components: int, seed: int | None, **parameters: Any) -> Any:
    """Return an estimator of that many dimensions, at the library's defaults but for these."""
    kinds: dict[str, Any] = {
        SSDE: SupervisedSemidefiniteEmbedding,
        SDE: MaximumVarianceUnfolding,
        SLLE: SupervisedLLE,
        PLAIN_SLLE: PlainSLLE,
    }
    kind = kinds.get(method, PCA)
    return kind(n_components, random_state=seed, **parameters)


def score_dimensions(
    mapped: Mapped, split: Split, *, merged: bool = False
) -> Iterator[Measurement]:
    """Classify the test images by their nearest training images on the first coordinates."""
    for dimension in DIMENSIONS:
        head = KNeighborsClassifier(K_NEAREST).fit(mapped.places[:, :dimension], split.y)
        predicted = head.predict(mapped.new_places[:, :dimension])
        yield from split.measured(predicted, {"dimension": dimension}, merged=merged)


def predict_from_labels(split: Split) -> dict[str, Names]:
    """Predict classes by the same regression on the labels themselves, without any embedding."""
    classes = np.unique(split.y)
    targets = (split.y[:, None] == classes).astype(float)
    targets -= targets.mean(axis=0)
    regressed = KernelRegression.fit(split.X, targets).predict(split.X_new)
    head = KNeighborsClassifier(K_NEAREST).fit(targets, split.y)
    return {NEAREST: head.predict(regressed), ARGMAX: classes[regressed.argmax(axis=1)]}


def measure_certificate(model: Any, X: Array) -> list[Measurement]:
    """Measure how well an SSDE map keeps distances within classes, and what is left to gain."""
    return [
        Measurement(100 * distance_error(model, X), {}, DISTANCE_ERROR, unit="number"),
        Measurement(100 * model.certificate_.gap, {}, GAP, unit="number"),
    ]


def distance_error(model: Any, X: Array) -> float:
    """Return the root mean square error of squared distances on the map's edges."""
    first, second = model.edges_.T
    asked, found = (
        np.sum((places[first] - places[second]) ** 2, axis=1) for places in (X, model.gram_factor_)
    )
    return float(np.linalg.norm(found - asked) / np.linalg.norm(asked))


def _merge(names: Names) -> Names:
    return np.where(names == "O", "0", names)
