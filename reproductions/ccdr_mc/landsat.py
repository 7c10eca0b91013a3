"""What the entries of CCDR-MC share: Landsat in its splits, graphs, heads, and searches.

The paper has one split, 4,435 training and 2,000 test rows. Random splits of the same sizes show
how much of a figure is due to that split. A search takes the best case, the least test error over a
grid, as in the paper's Table I; or it chooses by five-fold cross-validation on the training labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier

from labelfold.classify import LeastSquaresClassifier, ManifoldClassifier
from labelfold.evaluate import LabeledKFold, TransductiveSearchCV
from labelfold.graph import NeighborGraph
from labelfold.labels import hide_labels
from reproductions.data import load_landsat
from reproductions.entry import Measurement, Setting, Task
from reproductions.summary import Summary, SummaryRow, mean_over_seeds
from reproductions.tables import format_value

N_TRAIN, N_TEST = 4435, 2000
N_SPLITS = 10
HEADS = {"linear": LeastSquaresClassifier(), "3-NN": KNeighborsClassifier(3)}

BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
Grid = Mapping[str, Sequence[Any]]  # of the following
PARAMETERS = {
    "beta": ("embedder__beta", "chosen β"),
    "dimension": ("embedder__n_components", "chosen dimension"),
    "neighbors": ("embedder__n_neighbors", "chosen neighbors in the graph"),
    "within": ("embedder__n_neighbors_within", "chosen neighbors within classes"),
    "between": ("embedder__n_neighbors_between", "chosen neighbors between classes"),
    "gamma": ("embedder__gamma", "chosen gamma"),
    "voters": ("head__n_neighbors", "chosen neighbors that vote"),
}

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Landsat:
    """All rows, and which of them are for training and for testing."""

    X: Array
    y: NDArray[np.int64]
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    @property
    def y_hidden(self) -> NDArray[np.int64]:
        """The classes of the training rows, those of the test rows hidden."""
        return hide_labels(self.y, self.train)

    def error(self, predicted: NDArray[np.int64]) -> float:
        """Return the share of test rows with a wrong prediction."""
        return float(np.mean(predicted != self.y[self.test]))

    def score_heads(self, train: Array, test: Array, setting: Setting) -> list[Measurement]:
        """Measure the error of both heads, given coordinates of training and test rows."""
        return [
            Measurement(
                self.error(clone(head).fit(train, self.y[self.train]).predict(test)),
                {**setting, "head": name},
                n_scored=N_TEST,
            )
            for name, head in HEADS.items()
        ]


def split_tasks(quick: bool) -> list[Task]:
    """List one task for the paper's split and, unless quick, one for each random split."""
    random_splits = [Task({"split": "random"}, seed) for seed in range(N_SPLITS)]
    return [Task({"split": "paper"})] + ([] if quick else random_splits)


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
def _load(data_home: Path | None) -> tuple[Array, NDArray[np.int64]]:
    return load_landsat("all", data_home=data_home)


def search(
    data: Landsat,
    embedder: Any,
    heads: Mapping[str, tuple[Any, Grid]],
    *,
    choice: str,
    transductive: bool,
    seed: int | None,
) -> list[Measurement]:
    """Choose parameters of a map and a head, and measure the error on the test rows.

    Several heads, named by "classifier", search on the same embeddings, each on its own grid. In a
    transductive search the test rows are part of the maps. The seed is that of the folds.
    """
    model = ManifoldClassifier.as_published(embedder=embedder)
    grids = {
        name: [
            {"head": head} | {PARAMETERS[key][0]: value for key, value in one.items()}
            for one in ParameterGrid(grid)
        ]
        for name, (head, grid) in heads.items()
    }
    candidates = [{key: [x] for key, x in one.items()} for grid in grids.values() for one in grid]
    # The test rows are the only fold, so scores are on them.
    folds = PredefinedSplit(np.where(np.isin(np.arange(len(data.y)), data.test), 0, -1))
    X, y = data.X, data.y
    if choice == CROSS_VALIDATED:
        folds = LabeledKFold(5, shuffle=True, random_state=seed)
        rows = slice(None) if transductive else data.train
        X, y = data.X[rows], data.y_hidden[rows]
    kind = TransductiveSearchCV if transductive else GridSearchCV
    scores = kind(model, candidates, cv=folds, refit=False).fit(X, y).cv_results_["mean_test_score"]
    measurements = []
    for name, grid in grids.items():
        own, scores = scores[: len(grid)], scores[len(grid) :]
        parameters, error = grid[int(own.argmax())], 1 - own.max()
        about = {"classifier": name} if len(heads) > 1 else {}
        promised = []
        if choice == CROSS_VALIDATED:
            promised = [Measurement(error, about, "error in cross-validation")]
            fitted = clone(model).set_params(**clone(parameters, safe=False)).fit(X, y)
            new = data.test
            labels = fitted.transduction_[new] if transductive else fitted.predict(data.X[new])
            error = data.error(labels)
        measurements += [Measurement(error, about, n_scored=N_TEST), *promised]
        measurements += [
            Measurement(float(parameters[key]), about, measure, unit="choice")
            for key, measure in PARAMETERS.values()
            if key in parameters
        ]
    return measurements


def list_errors(errors: Mapping[str, float]) -> str:
    """Write errors with their names."""
    return ", ".join(f"{name} {format_value(error, 'share')}" for name, error in errors.items())


def derive_gaps(summary: Summary) -> list[SummaryRow]:
    """Return how far every cross-validated choice is from the best case."""
    gaps = []
    for row in summary.rows_with(choice=CROSS_VALIDATED):
        best = summary.row("error", **{**row.setting, "choice": BEST_CASE}).estimate.mean
        values = {seed: value - best for seed, value in row.values.items()}
        estimate = mean_over_seeds(list(values.values()))
        gap = "gap to the best case"
        gaps.append(SummaryRow(row.setting, gap, "share", values, None, estimate))
    return gaps
