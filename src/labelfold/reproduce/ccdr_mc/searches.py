"""Searches over parameters on Landsat: with the test labels known, and without.

The best case takes the least test error over a grid, as the paper's Table I does. The honest choice
sees the training rows' labels only: five folds of them, held out one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from labelfold.evaluate import LabeledKFold, TransductiveSearchCV
from labelfold.labels import hide_labels
from labelfold.reproduce.ccdr_mc.landsat import N_TEST, Landsat
from labelfold.reproduce.entry import Measurement
from labelfold.reproduce.summary import Summary, SummaryRow, mean_over_seeds

__all__ = ["BEST_CASE", "CROSS_VALIDATED", "Grid", "derive_gaps", "error_of_choice"]

BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
GAP = "gap to the best case"
Grid = Mapping[str, Sequence[Any]]
CHOSEN = {
    "embedder__beta": "chosen β",
    "embedder__n_components": "chosen dimension",
    "embedder__n_neighbors": "chosen neighbours in the graph",
    "head__n_neighbors": "chosen neighbours that vote",
}


def error_of_choice(
    data: Landsat, model: Any, grid: Grid, *, choice: str, transductive: bool, seed: int | None
) -> list[Measurement]:
    """Choose parameters, and measure the error on the test rows.

    Parameters
    ----------
    data : Landsat
        The data.
    model : ManifoldClassifier
        What is searched over.
    grid : mapping of str to sequence
        Parameters and their values.
    choice : {"best case", "cross-validated"}
        By the test rows' labels, or by the training rows' alone.
    transductive : bool
        Whether the test rows are part of the map, without their labels.
    seed : int or None
        Of the folds.

    Returns
    -------
    list of Measurement
        The error on the test rows, that of cross-validation, and the numbers that were chosen.
    """
    kind = TransductiveSearchCV if transductive else GridSearchCV
    if choice == BEST_CASE:
        # The test rows are the only fold, so the best score is the best case itself.
        is_test = np.isin(np.arange(len(data.y)), data.test)
        fold = PredefinedSplit(np.where(is_test, 0, -1))
        search = kind(model, grid, cv=fold, refit=False).fit(data.X, data.y)
        return [_error(1 - search.best_score_), *_chosen(search.best_params_)]
    search = kind(model, grid, cv=LabeledKFold(5, shuffle=True, random_state=seed))
    if transductive:
        search.fit(data.X, hide_labels(data.y, data.train))
        predicted = search.transduction_[data.test]
    else:
        search.fit(data.X[data.train], data.y[data.train])
        predicted = search.predict(data.X[data.test])
    promised = Measurement(1 - search.best_score_, measure="error in cross-validation")
    return [_error(data.error(predicted)), promised, *_chosen(search.best_params_)]


def derive_gaps(summary: Summary) -> list[SummaryRow]:
    """Return how far every cross-validated choice is from the best case."""
    gaps = []
    for row in summary.rows_with(choice=CROSS_VALIDATED):
        best = next(
            other.estimate.mean
            for other in summary.rows_with(choice=BEST_CASE)
            if {**other.setting, "choice": CROSS_VALIDATED} == row.setting
        )
        values = {seed: value - best for seed, value in row.values.items()}
        estimate = mean_over_seeds(list(values.values()))
        gaps.append(SummaryRow(row.setting, GAP, "share", values, None, estimate))
    return gaps


def _error(value: float) -> Measurement:
    return Measurement(value, n_scored=N_TEST)


def _chosen(parameters: Mapping[str, Any]) -> list[Measurement]:
    return [
        Measurement(float(parameters[name]), measure=measure, unit="choice")
        for name, measure in CHOSEN.items()
        if name in parameters
    ]
