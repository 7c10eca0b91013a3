"""How far labels may shape a layout: as far as they predict left-out labels better than chance.

The force of the labels is label_weight times the chance-corrected accuracy on left-out labels,

    force = label_weight * max(0, (a - c) / (1 - c)),

with a the lower end of Wilson's interval for the share of left-out labels that are named right, and
c the share that would be right by chance, sum_k (share of class k among the labels) * (share among
the predictions), as in Cohen's kappa. Labels without a signal have no force.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from labelfold.classify import FewLabelClassifier
from labelfold.graph import NeighborGraph
from labelfold.intervals import wilson_interval

__all__ = ["fit_classifier", "neighbor_purity", "rounded", "signal_of_labels"]

Array = NDArray[np.float64]

LEVEL = 0.95  # of the interval for left-out accuracy
GRAIN = 2.0**-12  # of class probabilities
N_NEAREST = 10  # neighbors in the picture whose classes are compared
MOST_COMPARED = 20_000  # rows
PRECOMPUTED_NEIGHBORS = 10  # that the classifier needs


def fit_classifier(X: Any, graph: NeighborGraph, y: Any, settings: dict[str, Any]) -> Any:
    """Return a classifier of the rows, on distances if it does not know the metric."""
    metric = graph.recipe.metric
    if metric not in ("euclidean", "l2", "cosine"):
        n_neighbors = max(graph.recipe.n_neighbors, PRECOMPUTED_NEIGHBORS)
        X, metric = graph.index.neighbors(min(n_neighbors, graph.n_points - 1)), "precomputed"
    metric = "euclidean" if metric == "l2" else metric
    return FewLabelClassifier(metric=metric, **settings).fit(X, y)


def signal_of_labels(classifier: FewLabelClassifier) -> float:
    """Return by how much left-out labels are predicted better than by chance, from 0 to 1."""
    given = np.searchsorted(classifier.classes_, classifier.transduction_[classifier.labeled_rows_])
    n_classes = len(classifier.classes_)
    can_be_left_out = np.bincount(given, minlength=n_classes)[given] > 1
    n = int(np.count_nonzero(can_be_left_out))
    if n == 0 or n_classes < 2:
        return 0.0
    given = given[can_be_left_out]
    named = classifier.left_out_distributions_[can_be_left_out].argmax(axis=1)
    shares = (np.bincount(one, minlength=n_classes) / n for one in (given, named))
    chance = float(np.dot(*shares))
    low, _ = wilson_interval(float(np.mean(named == given)), n, LEVEL)
    return max(0.0, (low - chance) / (1 - chance)) if chance < 1 else 0.0


def rounded(distributions: Array) -> Array:
    """Return class distributions in steps that hide differences by rounding."""
    return np.asarray(np.rint(distributions / GRAIN) * GRAIN)


def neighbor_purity(coordinates: Array, codes: NDArray[np.intp]) -> float:
    """Return the share of each point's nearest in the picture that have its class.

    The mean over all points, or over evenly spread 20,000 of them.
    """
    n_nearest = min(N_NEAREST, len(coordinates) - 1)
    rows = np.unique(np.linspace(0, len(codes) - 1, MOST_COMPARED).astype(np.intp))
    search = NearestNeighbors(n_neighbors=n_nearest + 1, algorithm="kd_tree").fit(coordinates)
    found = search.kneighbors(coordinates[rows], return_distance=False)
    others = found != rows[:, None]
    others[others.all(axis=1), -1] = False  # the point itself is not among its equals
    same = codes[found] == codes[rows][:, None]
    return float(np.mean(same[others]))
