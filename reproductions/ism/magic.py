"""The MAGIC experiments of ISM: draws, features, maps and support vector machines."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC

from labelfold.evaluate import LabeledKFold, TransductiveSearchCV
from labelfold.labels import hide_labels
from labelfold.semidefinite import IsometricSeparationMap, MaximumVarianceUnfolding
from reproductions.data import load_magic
from reproductions.entry import Measurement

Array = NDArray[np.float64]

SCORE = "score"
BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
FEATURES = RAW, STANDARDIZED, QUANTILE = "raw", "standardized", "quantile"
HARD, SOFT = "hard", "soft"
MAPS = {HARD: RAW, SOFT: QUANTILE}  # the paper's and ours, with their features
DISTANCE_ERROR = "rms error of squared distances, in %"
WRONG_SIDE = "labels on the wrong side"
N_QUANTILES = 1000
STEPS_OF_A_MACHINE = 50_000  # high powers of raw features would never end


@dataclass(frozen=True, eq=False)
class Magic:
    """A draw: the first rows are labeled, the others are scored."""

    X: Array
    y: NDArray[Any]
    n_labeled: int

    @classmethod
    def draw(cls, n_labeled: int, n_scored: int, seed: int, data_home: Path | None) -> Magic:
        """Draw rows of MAGIC without replacement."""
        X, y = _load(data_home)
        rows = np.random.default_rng(seed).permutation(len(y))[: n_labeled + n_scored]
        return cls(X[rows], y[rows], n_labeled)

    @property
    def partial(self) -> NDArray[Any]:
        """The labels, hidden where they are scored."""
        return hide_labels(self.y, keep=np.arange(self.n_labeled))

    def features(self, kind: str) -> Array:
        """Return all rows in one kind of features, made without any label."""
        if kind == STANDARDIZED:
            return np.asarray(StandardScaler().fit_transform(self.X))
        if kind == QUANTILE:
            # Of all rows: above 10,000 it would draw some of them, without a seed.
            sizes = {"n_quantiles": min(N_QUANTILES, len(self.X)), "subsample": len(self.X)}
            return np.asarray(QuantileTransformer(**sizes).fit_transform(self.X))
        return self.X

    def score(self, predicted: NDArray[Any]) -> float:
        """Return the share of right predictions; those of all rows, or of the scored ones."""
        return float(np.mean(predicted[-self.n_scored :] == self.y[self.n_labeled :]))

    @property
    def n_scored(self) -> int:
        """Number of rows that are scored."""
        return len(self.y) - self.n_labeled

    def measured(self, score: float, **setting: str | int | float) -> Measurement:
        """Return a score as a measurement."""
        return Measurement(score, setting, SCORE, n_scored=self.n_scored)


@lru_cache(maxsize=1)
def _load(data_home: Path | None) -> tuple[Array, NDArray[Any]]:
    return load_magic(data_home=data_home)


def make_map(labels: str, **parameters: Any) -> IsometricSeparationMap:
    """Return a separation map: the paper's with hard labels, ours with soft ones."""
    own: dict[str, Any] = {"margin": 0.3}
    if labels == SOFT:
        own = {"margin": 0.5, "label_weight": 0.1, "init": "ridge"}
    common = {"n_components": 1, "objective": "none", "tol": 0.01, "random_state": 0}
    return IsometricSeparationMap.as_published(**{**common, **own, **parameters})


def fit_quietly(model: Any, *data: Any) -> Any:
    """Fit a model that may run out of steps: the table shows the errors."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return model.fit(*data)


def measure_map(draw: Magic, features: str, model: IsometricSeparationMap) -> list[Measurement]:
    """Fit a map, and measure its classes and its certificate."""
    fit_quietly(model, draw.features(features), draw.partial)
    return [draw.measured(draw.score(model.transduction_)), *measure_certificate(model)]


def measure_certificate(model: IsometricSeparationMap) -> list[Measurement]:
    """Measure distances and labels of a fitted map."""
    found = model.certificate_
    return [
        Measurement(100 * found.errors.rms_squared, {}, DISTANCE_ERROR, unit="number"),
        Measurement(found.separation_error, {}, WRONG_SIDE),
    ]


def search_map(
    draw: Magic, model: IsometricSeparationMap, grid: dict[str, Any], *, n_folds: int
) -> list[Measurement]:
    """Score the map that cross-validation on the labels chooses, on quantile features."""
    folds = LabeledKFold(n_folds, shuffle=True, random_state=0)
    search = TransductiveSearchCV(model, grid, cv=folds)
    fit_quietly(search, draw.features(QUANTILE), draw.partial)
    chosen = [
        Measurement(float(value), {"choice": CROSS_VALIDATED}, f"chosen {name}", unit="choice")
        for name, value in search.best_params_.items()
    ]
    return [draw.measured(draw.score(search.transduction_), choice=CROSS_VALIDATED), *chosen]


def unfold(draw: Magic) -> list[Measurement]:
    """Unfold all rows in 5 dimensions, in at most 3,000 steps."""
    model = MaximumVarianceUnfolding(5, rank=5, max_iter=3000, random_state=0)
    fit_quietly(model, draw.features(STANDARDIZED))
    error = 100 * model.certificate_.errors.rms_squared
    return [Measurement(error, {}, DISTANCE_ERROR, unit="number")]


def map_with_one_neighbor(draw: Magic) -> list[Measurement]:
    """Map all rows, all of them labeled, each with its nearest neighbor only."""
    model = make_map(HARD, n_neighbors=1, margin=0.001, rank=12, tol=1e-3)
    with warnings.catch_warnings(action="ignore"):  # of bridges; the table shows the errors
        model.fit(draw.features(STANDARDIZED), draw.y)
    return measure_certificate(model)


def learn_kernel(draw: Magic, model: IsometricSeparationMap) -> list[Measurement]:
    """Give the K of a map to a support vector machine, beside the map and its ridge start."""
    n, (map_score, *_) = draw.n_labeled, measure_map(draw, QUANTILE, model)
    K = model.gram_factor_ @ model.gram_factor_.T
    machine = SVC(kernel="precomputed").fit(K[:n, :n], draw.y[:n])
    # The scores from which separation maps begin with init="ridge".
    X, sides = draw.features(QUANTILE), np.where(draw.y[:n] == model.classes_[1], 1.0, -1.0)
    size = float(np.sum(np.var(X[:n], axis=0))) * n / X.shape[1]
    ridge = RidgeCV(alphas=np.logspace(-4, 2, 13) * size).fit(X[:n], sides)
    by_ridge = model.classes_[(ridge.predict(X) > 0).astype(int)]
    return [
        draw.measured(map_score.value, method="side of the map"),
        draw.measured(draw.score(machine.predict(K[n:, :n])), method="K as kernel"),
        draw.measured(draw.score(by_ridge), method="ridge"),
    ]


def make_machine(X: Array, kernel: str, parameter: float, C: float) -> SVC:
    """Return a support vector machine for rows X, with kernels as in SVM-light."""
    # Except that products are relative to the mean square: the eighth power of others overflows.
    size = float(np.mean(np.sum(X**2, axis=1)))
    power = {"degree": int(parameter), "gamma": 1 / size, "coef0": 1.0}
    kernels: dict[str, dict[str, Any]] = {
        "linear": {"kernel": "linear"},
        "Gaussian": {"kernel": "rbf", "gamma": parameter},
        "polynomial": {"kernel": "poly", **power},
    }
    return SVC(C=C, max_iter=STEPS_OF_A_MACHINE, cache_size=500, **kernels[kernel])


def try_machines(
    draw: Magic, features: str, kernels: Sequence[tuple[str, float]], penalties: Sequence[float]
) -> Iterator[Measurement]:
    """Score machines with the penalty that is best on the scored rows, as the paper did."""
    X, n = draw.features(features), draw.n_labeled
    for kernel, parameter in kernels:
        machines = [make_machine(X, kernel, parameter, C) for C in penalties]
        fitted = [fit_quietly(machine, X[:n], draw.y[:n]) for machine in machines]
        best = max(draw.score(machine.predict(X[n:])) for machine in fitted)
        yield draw.measured(best, kernel=kernel, parameter=parameter, choice=BEST_CASE)


def search_machine(
    draw: Magic, features: str, kernel: str, grid: dict[str, Any], *, n_folds: int
) -> Measurement:
    """Score the machine that cross-validation on the labeled rows chooses."""
    X, n = draw.features(features), draw.n_labeled
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    search = GridSearchCV(make_machine(X[:n], kernel, 1.0, 1.0), grid, cv=folds)
    fit_quietly(search, X[:n], draw.y[:n])
    return draw.measured(draw.score(search.predict(X[n:])), kernel=kernel, choice=CROSS_VALIDATED)
