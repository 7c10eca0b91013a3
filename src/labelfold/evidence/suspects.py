"""Which given labels look wrong, and why.

The score of a label is the probability that it is wrong, given all other labels: 1 minus the
calibrated left-out probability of its class. That is the rule of confident learning's
self-confidence, for labels of which most rows have none. A label without another of its class
cannot be left out: it has the mean score of all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.checks import check_real
from labelfold.evidence.suggestions import REGIONS_PER_LABEL
from labelfold.exceptions import InputError
from labelfold.graph.neighbor_graph import NeighborGraph

__all__ = ["Suspect", "score_labels", "suspect_labels"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

N_WITNESSES = 3
FAR = 1.5  # mean distance to neighbors, relative to that of the neighbors to theirs
BORDER = 0.5  # of the suggested class's probability: a given class above it is nearly as likely


@dataclass(frozen=True)
class Suspect:
    """A given label that looks wrong.

    Parameters
    ----------
    row : int
        Number of the row.
    given, suggested : object
        Its label, and the class that other labels speak for.
    score : float
        Probability that the label is wrong, given the others.
    reason : str
        "same row with two labels", "only label of its class", "outlier", "on the border" or
        "neighbors disagree".
    rows_for, rows_against : tuple of int
        The nearest labeled rows of the given and of the suggested class, along the graph.
    """

    row: int
    given: Any
    suggested: Any
    score: float
    reason: str
    rows_for: tuple[int, ...]
    rows_against: tuple[int, ...]


def suspect_labels(model: Any, *, least_score: float = 0.5) -> list[Suspect]:
    """Return the given labels that look wrong, the most suspect first.

    Parameters
    ----------
    model : estimator
        A fitted :class:`~labelfold.FewLabelClassifier`, or any model with ``graph_``,
        ``classes_``, ``labeled_rows_``, ``transduction_`` and ``left_out_distributions_``.
    least_score : float, default=0.5
        Least probability that a label is wrong; 0 for all labels.

    Returns
    -------
    list of Suspect
        ``pandas.DataFrame(...)`` makes a table of it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from labelfold import FewLabelClassifier, hide_labels
    >>> from labelfold.evidence import suspect_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> y[7] = 3  # it shows a 7
    >>> found = suspect_labels(FewLabelClassifier().fit(X, hide_labels(y, keep=range(100))))
    >>> [(one.row, int(one.given), int(one.suggested)) for one in found[:2]]  # row 5 is unusual
    [(5, 5, 9), (7, 3, 7)]
    """
    if not hasattr(model, "left_out_distributions_"):
        raise InputError(
            f"{type(model).__name__} has no left_out_distributions_: give a fitted "
            "FewLabelClassifier."
        )
    check_real("least_score", least_score, at_least=0, at_most=1)
    classes, rows = model.classes_, np.asarray(model.labeled_rows_)
    if len(classes) < 2:
        return []
    given = np.searchsorted(classes, model.transduction_[rows])
    left_out = model.left_out_distributions_
    scores = score_labels(left_out, given)
    kept = np.flatnonzero(scores >= least_score)
    kept = kept[np.argsort(-scores[kept], kind="stable")]
    others = left_out[kept].copy()
    others[np.arange(len(kept)), given[kept]] = -1
    suggested = others.argmax(axis=1)
    reasons = _reasons(model.graph_, rows, given, left_out, kept, suggested)
    witnesses = _witnesses(model.graph_, rows, given, kept, suggested)
    return [
        Suspect(int(rows[k]), classes[given[k]], classes[other], float(scores[k]), why, *speak)
        for k, other, why, speak in zip(kept, suggested, reasons, witnesses, strict=True)
    ]


def score_labels(left_out: Array, codes: NDArray[np.integer]) -> Array:
    """Return the probability of every label to be wrong.

    Parameters
    ----------
    left_out : ndarray of shape (n_labels, n_classes)
        Calibrated probabilities of labeled rows, each by the other labels.
    codes : ndarray of shape (n_labels,)
        Numbers of their classes.

    Returns
    -------
    ndarray of shape (n_labels,)
        1 minus the probability of the own class; the mean of the others where there is no other
        label of the class.
    """
    scores = 1 - left_out[np.arange(len(codes)), codes]
    alone = np.bincount(codes)[codes] == 1
    scores[alone] = scores[~alone].mean() if not alone.all() else 0.0
    return np.asarray(scores)


def _reasons(
    graph: NeighborGraph,
    rows: Numbers,
    given: Numbers,
    left_out: Array,
    kept: Numbers,
    suggested: Numbers,
) -> list[str]:
    """Return the first reason that holds for each label that is kept."""
    groups = graph.equal_groups[rows]
    counts = np.bincount(given)
    nearest = graph.nearest
    lengths = np.add.reduceat(nearest.data, nearest.indptr[:-1]) / np.diff(nearest.indptr)
    reasons = []
    for k, other in zip(kept, suggested, strict=True):
        start, stop = nearest.indptr[rows[k] : rows[k] + 2]
        if np.any(given[groups == groups[k]] != given[k]):
            reasons.append("same row with two labels")
        elif counts[given[k]] == 1:
            reasons.append("only label of its class")
        elif lengths[rows[k]] > FAR * lengths[nearest.indices[start:stop]].mean():
            reasons.append("outlier")
        elif left_out[k, given[k]] > BORDER * left_out[k, other]:
            reasons.append("on the border")
        else:
            reasons.append("neighbors disagree")
    return reasons


def _witnesses(
    graph: NeighborGraph, rows: Numbers, given: Numbers, kept: Numbers, suggested: Numbers
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the labeled rows of both classes that get most heat from each row that is kept."""
    time, _ = graph.diffusion.time_of(REGIONS_PER_LABEL * len(rows))
    found = []
    for k, other in zip(kept, suggested, strict=True):
        source = np.zeros(graph.n_points)
        source[rows[k]] = 1
        heat = graph.diffusion.spread(source, time)[rows]
        heat[k] = -1
        order = np.argsort(-heat, kind="stable")
        order = order[heat[order] > 0]
        both = [rows[order[given[order] == code]][:N_WITNESSES] for code in (given[k], other)]
        found.append((tuple(both[0].tolist()), tuple(both[1].tolist())))
    return found
