"""Searches over parameters on Landsat: with the test labels known, and without.

The best case takes the least test error over a grid, as the paper's Table I does. The honest choice
sees the training rows' labels only: five folds of them, held out one at a time. Where maps are
costly, several heads search on the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, ParameterGrid, PredefinedSplit

from labelfold.classify import ManifoldClassifier
from labelfold.evaluate import LabeledKFold, TransductiveSearchCV
from labelfold.labels import hide_labels
from reproductions.ccdr_mc.landsat import N_TEST, Landsat
from reproductions.entry import Measurement, Setting
from reproductions.summary import Summary, SummaryRow, mean_over_seeds

__all__ = [
    "BEST_CASE",
    "CROSS_VALIDATED",
    "Grid",
    "derive_gaps",
    "error_of_choice",
    "errors_of_choices",
]

BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
GAP, PROMISED = "gap to the best case", "error in cross-validation"
Grid = Mapping[str, Sequence[Any]]
CHOSEN = {
    "embedder__beta": "chosen β",
    "embedder__n_components": "chosen dimension",
    "embedder__n_neighbors": "chosen neighbours in the graph",
    "embedder__n_neighbors_within": "chosen neighbours within classes",
    "embedder__n_neighbors_between": "chosen neighbours between classes",
    "embedder__gamma": "chosen gamma",
    "embedder__reg": "chosen ridge",
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
        search = kind(model, grid, cv=_test_fold(data), refit=False).fit(data.X, data.y)
        return [_error(1 - search.best_score_), *_chosen(search.best_params_)]
    search = kind(model, grid, cv=_draw_folds(seed))
    if transductive:
        search.fit(data.X, hide_labels(data.y, data.train))
        predicted = search.transduction_[data.test]
    else:
        search.fit(data.X[data.train], data.y[data.train])
        predicted = search.predict(data.X[data.test])
    promised = Measurement(1 - search.best_score_, measure=PROMISED)
    return [_error(data.error(predicted)), promised, *_chosen(search.best_params_)]


def errors_of_choices(
    data: Landsat,
    embedder: Any,
    heads: Mapping[str, tuple[Any, Grid]],
    *,
    choice: str,
    seed: int | None,
) -> list[Measurement]:
    """Choose parameters for each of several heads on the same maps, and measure their errors.

    Parameters
    ----------
    data : Landsat
        The data.
    embedder : transformer
        What makes the maps. Test rows are mapped, and must not count where their labels are hidden.
    heads : mapping of str to (classifier, grid)
        Heads by the names of their classifiers, with what is searched over for each.
    choice : {"best case", "cross-validated"}
        By the test rows' labels, or by the training rows' alone.
    seed : int or None
        Of the folds.

    Returns
    -------
    list of Measurement
        For every head what :func:`error_of_choice` gives, told apart by "classifier".
    """
    model = ManifoldClassifier(embedder)
    candidates = {
        name: [{"head": head, **parameters} for parameters in ParameterGrid(grid)]
        for name, (head, grid) in heads.items()
    }
    promised: dict[str, list[Measurement]] = {name: [] for name in heads}
    if choice == CROSS_VALIDATED:
        y = hide_labels(data.y, data.train)
        scores = _score_candidates(model, candidates, _draw_folds(seed), data, y)
        for name, found in scores.items():
            candidates[name] = [candidates[name][int(found.argmax())]]
            promised[name].append(Measurement(1 - found.max(), {"classifier": name}, PROMISED))
    scores = _score_candidates(model, candidates, _test_fold(data), data, data.y)
    measurements = []
    for name, found in scores.items():
        about = {"classifier": name}
        parameters = candidates[name][int(found.argmax())]
        measurements += [_error(1 - found.max(), about), *promised[name]]
        measurements += _chosen(parameters, about)
    return measurements


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


def _score_candidates(
    model: ManifoldClassifier,
    candidates: Mapping[str, list[dict[str, Any]]],
    folds: Any,
    data: Landsat,
    y: NDArray[np.int64],
) -> dict[str, NDArray[np.float64]]:
    """Return the scores of every head's candidates, with each map made once."""
    grids = [
        {parameter: [value] for parameter, value in one.items()}
        for some in candidates.values()
        for one in some
    ]
    search = TransductiveSearchCV(model, grids, cv=folds, refit=False).fit(data.X, y)
    ends = np.cumsum([len(some) for some in candidates.values()])
    scores = np.split(search.cv_results_["mean_test_score"], ends[:-1])
    return dict(zip(candidates, scores, strict=True))


def _test_fold(data: Landsat) -> PredefinedSplit:
    """Return the split whose only fold is the test rows."""
    is_test = np.isin(np.arange(len(data.y)), data.test)
    return PredefinedSplit(np.where(is_test, 0, -1))


def _draw_folds(seed: int | None) -> LabeledKFold:
    return LabeledKFold(5, shuffle=True, random_state=seed)


def _error(value: float, setting: Setting | None = None) -> Measurement:
    return Measurement(value, setting or {}, n_scored=N_TEST)


def _chosen(parameters: Mapping[str, Any], setting: Setting | None = None) -> list[Measurement]:
    return [
        Measurement(float(parameters[name]), setting or {}, measure, unit="choice")
        for name, measure in CHOSEN.items()
        if name in parameters
    ]
