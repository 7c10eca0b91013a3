"""What the MAGIC experiments share: draws, features, maps and support vector machines."""

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
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC

from labelfold.evaluate import LabeledKFold, TransductiveSearchCV
from labelfold.labels import hide_labels
from labelfold.semidefinite import IsometricSeparationMap, MaximumVarianceUnfolding
from reproductions.data import load_magic
from reproductions.entry import Measurement
from reproductions.summary import Summary, SummaryRow

__all__ = [
    "BEST_CASE",
    "CROSS_VALIDATED",
    "DISTANCE_ERROR",
    "HARD",
    "QUANTILE",
    "RAW",
    "SCORE",
    "SOFT",
    "STANDARDISED",
    "WRONG_SIDE",
    "Magic",
    "best_case",
    "make_map",
    "measure_map",
    "rows_of",
    "search_machine",
    "search_map",
    "try_machines",
    "unfold",
]

Array = NDArray[np.float64]

SCORE = "score"
BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
RAW, STANDARDISED, QUANTILE = "raw", "standardised", "quantile"
HARD, SOFT = "hard", "soft"
DISTANCE_ERROR = "rms error of squared distances, in %"
WRONG_SIDE = "labels on the wrong side"
FIRST_SEED = 1000  # of the draws: settings of our own were found on others
N_QUANTILES = 1000
STEPS_OF_A_MACHINE = 50_000  # high powers of raw features would never end


@dataclass(frozen=True, eq=False)
class Magic:
    """A draw: the first rows are labelled, the others are scored."""

    X: Array
    y: NDArray[Any]
    n_labeled: int

    @classmethod
    def draw(cls, n_labeled: int, n_scored: int, seed: int | None, data_home: Path | None) -> Magic:
        """Draw rows of MAGIC without replacement."""
        X, y = _load(data_home)
        rng = np.random.default_rng(FIRST_SEED + (seed or 0))
        rows = rng.permutation(len(y))[: n_labeled + n_scored]
        return cls(X[rows], y[rows], n_labeled)

    @property
    def partial(self) -> NDArray[Any]:
        """The labels, hidden where they are scored."""
        return hide_labels(self.y, keep=np.arange(self.n_labeled))

    def features(self, kind: str) -> Array:
        """Return all rows in one kind of features, made without any label."""
        if kind == STANDARDISED:
            return np.asarray(StandardScaler().fit_transform(self.X))
        if kind == QUANTILE:
            # Of all rows: where there are more than 10,000 it would draw some, from no seed.
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
        own = {"margin": 0.5, "label_penalty": 0.1, "start": "ridge"}
    common = {"n_components": 1, "objective": "none", "tol": 0.01, "random_state": 0}
    return IsometricSeparationMap(**{**common, **own, **parameters})


def measure_map(draw: Magic, X: Array, model: IsometricSeparationMap) -> list[Measurement]:
    """Fit a map, and measure its classes and its certificate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the errors stand in the table
        model.fit(X, draw.partial)
    errors = model.certificate_.errors
    return [
        draw.measured(draw.score(model.transduction_)),
        Measurement(100 * errors.rms_squared, {}, DISTANCE_ERROR, unit="number"),
        Measurement(model.certificate_.separation_error, {}, WRONG_SIDE),
    ]


def search_map(
    draw: Magic, model: IsometricSeparationMap, grid: dict[str, Any], *, n_folds: int
) -> list[Measurement]:
    """Score the map that cross-validation on the labels chooses, on quantile features."""
    folds = LabeledKFold(n_folds, shuffle=True, random_state=0)
    search = TransductiveSearchCV(model, grid, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(draw.features(QUANTILE), draw.partial)
    chosen = [
        Measurement(float(value), {"choice": CROSS_VALIDATED}, f"chosen {name}", unit="choice")
        for name, value in search.best_params_.items()
    ]
    return [draw.measured(draw.score(search.transduction_), choice=CROSS_VALIDATED), *chosen]


def unfold(draw: Magic) -> list[Measurement]:
    """Unfold all rows in 5 dimensions, in at most ten minutes."""
    model = MaximumVarianceUnfolding(5, rank=5, max_iter=3000, max_time=600, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(draw.features(STANDARDISED))
    error = 100 * model.certificate_.errors.rms_squared
    return [Measurement(error, {}, DISTANCE_ERROR, unit="number")]


def make_machine(X: Array, kernel: str, parameter: float, C: float) -> SVC:
    """Return a support vector machine for rows X, with kernels as in SVM-light.

    But that products in polynomials are relative to the rows' mean square: the eighth power of raw
    ones is not a number any more.
    """
    size = float(np.mean(np.sum(X**2, axis=1)))
    power = {"degree": int(parameter), "gamma": 1 / size, "coef0": 1.0}
    kernels: dict[str, dict[str, Any]] = {
        "linear": {"kernel": "linear"},
        "Gaussian": {"kernel": "rbf", "gamma": parameter},
        "polynomial": {"kernel": "poly", **power},
    }
    return SVC(C=C, max_iter=STEPS_OF_A_MACHINE, cache_size=500, **kernels[kernel])


def try_machines(
    draw: Magic,
    features: str,
    kernels: Sequence[tuple[str, float]],
    penalties: Sequence[float],
) -> Iterator[Measurement]:
    """Score machines with the penalty that is best on the scored rows, as the paper did."""
    X, n = draw.features(features), draw.n_labeled
    for kernel, parameter in kernels:
        scores = []
        for C in penalties:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine = make_machine(X, kernel, parameter, C).fit(X[:n], draw.y[:n])
            scores.append(draw.score(machine.predict(X[n:])))
        yield draw.measured(max(scores), kernel=kernel, parameter=parameter, choice=BEST_CASE)


def search_machine(
    draw: Magic, features: str, kernel: str, grid: dict[str, Any], *, n_folds: int
) -> Measurement:
    """Score the machine that cross-validation on the labelled rows chooses."""
    X, n = draw.features(features), draw.n_labeled
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    machine = make_machine(X[:n], kernel, 1.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = GridSearchCV(machine, grid, cv=folds).fit(X[:n], draw.y[:n])
    score = draw.score(search.predict(X[n:]))
    return draw.measured(score, kernel=kernel, choice=CROSS_VALIDATED)


def best_case(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """Return the row of the highest mean: the paper's reading of a table."""
    return max(rows, key=lambda row: row.estimate.mean, default=None)


def rows_of(summary: Summary, **setting: str | int | float) -> list[SummaryRow]:
    """Return the rows of scores."""
    return summary.rows_with(SCORE, **setting)
