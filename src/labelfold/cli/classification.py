"""A classifier fitted on all labels, and its error estimated by hiding some of them.

The graph, and an embedding that ignores labels, are computed once for the fit and all folds.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold import CCDR, ManifoldClassifier
from labelfold.cli.methods import dimension_to_choose, scikit_learn_errors
from labelfold.cli.options import MethodOptions
from labelfold.cli.reports import listed
from labelfold.evaluate import LabeledKFold, permuted_label_baseline
from labelfold.evaluate.shared_fits import build_graphs, fit_together
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, wilson_interval
from labelfold.labels import PartialLabels, hide_labels
from labelfold.methods import Method
from labelfold.progress import Progress


def make_classifier(
    estimator: Any, method: Method, options: MethodOptions, head: str, X: Any, y: NDArray[Any]
) -> Any:
    """Return an unfitted classifier: the estimator itself, or a head on its embedding.

    If no option sets the number of coordinates, it is the one `ManifoldClassifier` gives to CCDR.
    """
    if not method.declaration.embeds:
        return estimator
    parameter = dimension_to_choose(method, options)
    if parameter is not None:
        # Three coordinates per class, for a ridge head, are many for some of the other methods.
        is_ccdr = issubclass(method.estimator, CCDR)
        classifier = ManifoldClassifier(head=head if is_ccdr else "linear")
        n_components = classifier.make_embedder(PartialLabels.from_y(y)).n_components
        if parameter == "n_components" and not method.declaration.uses_graph:
            n_components = min(n_components, *X.shape)  # such an embedding is linear
        estimator.set_params(**{parameter: n_components})
    return ManifoldClassifier(estimator, head=head)


def fit_and_estimate(
    model: Any, X: Any, y: NDArray[Any], *, folds: int, seed: int, progress: Progress
) -> tuple[Any, dict[str, Any]]:
    """Return the model fitted on all labels, and its error on labels hidden in folds.

    There are fewer folds if no class has that many labels. The error is None if there is no
    estimate; notes say why.
    """
    labels = PartialLabels.some_from_y(y)
    hidden, notes = _hidden_rows(labels, folds, seed)
    every = np.arange(len(labels))
    ys = [y, *(hide_labels(y, labels.mask & ~np.isin(every, rows)) for rows in hidden)]
    [graph] = build_graphs([model], X)
    fits = fit_together([model], X, ys, graph)
    progress("fits", 0, len(ys))
    with scikit_learn_errors(getattr(model, "embedder", model)):
        _, _, fitted = next(fits)
    progress("fits", 1, len(ys))
    n_wrong = 0
    try:
        with warnings.catch_warnings(), scikit_learn_errors(getattr(model, "embedder", model)):
            warnings.simplefilter("ignore")  # the fit on all labels gave the same warnings
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
    """The same estimate with shuffled labels, as plain values."""
    if n_folds < 2:
        raise InputError(
            "--permutations needs a class with two labels or more: label more rows, or leave it "
            "out."
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
    """Return the rows whose labels each fold hides, and notes about them."""
    if folds == 0:
        return [], ["--folds 0 was given."]
    counts = Counter(labels.at(np.flatnonzero(labels.mask)).tolist())
    n_folds = min(folds, max(counts.values()))
    if n_folds < 2:
        return [], ["Every class has only one label: label two or more rows of each class."]
    notes = []
    if n_folds < folds:
        notes.append(f"There are {n_folds} folds because no class has more labels.")
    single = [str(label) for label, count in counts.items() if count == 1]
    if single:
        notes.append(
            f"The only label of a class ({listed(sorted(single))}) counts as wrong: while it is "
            "hidden, no row shows its class."
        )
    splitter = LabeledKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # scikit-learn warns about classes with fewer labels than folds; the notes say it.
        warnings.simplefilter("ignore")
        return [rows for _, rows in splitter.split(labels.codes, labels.codes)], notes
