"""A classifier fitted on all labels, and its error estimated by hiding some of them.

The graph, and a map that sees no labels, are made once for the fit and all folds.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold import ManifoldClassifier
from labelfold.cli.methods import dimension_to_choose, refusals_of
from labelfold.cli.options import MethodOptions
from labelfold.cli.reports import listed
from labelfold.cli.tables import Table
from labelfold.evaluate import LabeledKFold, permuted_label_baseline
from labelfold.evaluate.shared_fits import build_graphs, fit_together
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, wilson_interval
from labelfold.labels import PartialLabels, hide_labels
from labelfold.methods import Method
from labelfold.progress import Progress


def make_classifier(
    estimator: Any, method: Method, options: MethodOptions, head: str, table: Table
) -> Any:
    """Return an unfitted classifier: the estimator itself, or its map with a head.

    Where no option says how many coordinates the map has, it gets as many as `ManifoldClassifier`
    gives to CCDR.
    """
    if not method.declaration.embeds:
        return estimator
    parameter = dimension_to_choose(method, options)
    if parameter is not None:
        labels = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
        n_components = ManifoldClassifier().make_embedder(labels).n_components
        if parameter == "n_components" and not method.declaration.uses_graph:
            # Such a map is linear.
            n_components = min(n_components, table.n_features, table.n_rows)
        estimator.set_params(**{parameter: n_components})
    return ManifoldClassifier(estimator, head=head)


def fit_and_estimate(
    model: Any, X: Any, y: NDArray[Any], *, folds: int, seed: int, progress: Progress
) -> tuple[Any, dict[str, Any]]:
    """Fit the model on all labels, and on all but those of each fold.

    Parameters
    ----------
    model : classifier
        Unfitted.
    X, y : matrix, ndarray of objects
        All rows, and their labels, None where there is none.
    folds : int
        Number of parts that the labels are hidden in; 0 makes no estimate. Fewer are made where
        no class has so many labels.
    seed : int
        Draws the parts.
    progress : Progress
        Is told of every fit.

    Returns
    -------
    model, estimate : classifier, dict
        The one fitted on all labels, and how often those fitted on fewer were wrong, as plain
        values; the error is None where there is no estimate, and notes say why.
    """
    labels = PartialLabels.some_from_y(y)
    hidden, notes = _hidden_rows(labels, folds, seed)
    every = np.arange(len(labels))
    ys = [y, *(hide_labels(y, labels.mask & ~np.isin(every, rows)) for rows in hidden)]
    [graph] = build_graphs([model], X)
    fits = fit_together([model], X, ys, graph)
    progress("fits", 0, len(ys))
    with refusals_of(getattr(model, "embedder", model)):
        _, _, fitted = next(fits)
    progress("fits", 1, len(ys))
    n_wrong = 0
    try:
        with warnings.catch_warnings(), refusals_of(getattr(model, "embedder", model)):
            warnings.simplefilter("ignore")  # the fit on all labels has said it
            for _, number, other in fits:
                rows = hidden[number - 1]
                n_wrong += int(np.count_nonzero(other.transduction_[rows] != labels.at(rows)))
                progress("fits", number + 1, len(ys))
    except InputError as error:
        hidden, n_wrong, notes = [], 0, [f"With some labels hidden the method fails: {error}"]
    counts = np.bincount(labels.codes[labels.mask])
    n_folds, n_hidden = len(hidden), sum(map(len, hidden))
    share = n_wrong / n_hidden if n_hidden else None
    return fitted, {
        "error": share,
        "interval": None if share is None else wilson_interval(share, n_hidden),
        "level": LEVEL,
        "n_wrong": n_wrong,
        "n_hidden": n_hidden,
        "n_folds": n_folds,
        "n_left": round(n_hidden * (1 - 1 / n_folds)) if n_folds else 0,
        "chance": 1 - float(counts.max() / labels.n_labeled),
        "notes": notes,
    }


def estimate_shuffled(
    model: Any, X: Any, y: Any, n_folds: int, n_permutations: int, seed: int
) -> dict[str, Any]:
    """The same estimate with labels shuffled, as plain values."""
    if n_folds < 2:
        raise InputError(
            "--permutations needs labels to hide, two of some class: label more "
            "rows, or leave it out."
        )
    folds = LabeledKFold(n_folds, shuffle=True, random_state=seed)  # those of the estimate
    baseline = permuted_label_baseline(
        model, X, y, cv=folds, n_permutations=n_permutations, random_state=seed
    )
    return {
        "n_permutations": n_permutations,
        "error": baseline.hidden_error,
        "shuffled_error": float(baseline.permuted_hidden_errors.mean()),
        "p_value": baseline.p_value,
        "has_signal": baseline.has_signal,
        "text": str(baseline),
    }


def _hidden_rows(
    labels: PartialLabels, folds: int, seed: int
) -> tuple[list[NDArray[np.intp]], list[str]]:
    """Return the rows whose labels each fold hides, and what is to be said about them."""
    if folds == 0:
        return [], ["--folds 0 was given."]
    counts = Counter(labels.at(np.flatnonzero(labels.mask)).tolist())
    n_folds = min(folds, max(counts.values()))
    if n_folds < 2:
        return [], [
            "Every class has one label, and none is left where it is hidden: label two rows or "
            "more of each class."
        ]
    notes = []
    if n_folds < folds:
        notes.append(f"There are {n_folds} folds, as no class has more labels.")
    single = [str(label) for label, count in counts.items() if count == 1]
    if single:
        notes.append(
            f"A class with one label ({listed(sorted(single))}) cannot be named while it is "
            "hidden, which counts as wrong."
        )
    splitter = LabeledKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Of scikit-learn, about classes with fewer labels than folds.
        warnings.simplefilter("ignore")
        return [rows for _, rows in splitter.split(labels.codes, labels.codes)], notes
