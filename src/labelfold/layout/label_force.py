"""How far labels may shape a layout: as far as they predict left-out labels better than chance.

Under the labels' force f, an edge whose ends have class probabilities p and q keeps

    1 - f + f (sum_c sqrt(p_c q_c))^4

of its weight. The sum, Bhattacharyya's coefficient, is 1 if both ends have equal probabilities,
however uncertain, and 0 if they have no class in common. With a the lower end of Wilson's interval
for the share of left-out labels that are named right, and c the share that would be right by
chance, sum_k (share of class k among the labels) * (share among the predictions),

    f = label_weight * max(0, (a - c) / (1 - c))

as in Cohen's kappa: labels without a signal have no force.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.classify import FewLabelClassifier
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import row_numbers, with_values
from labelfold.intervals import wilson_interval

__all__ = ["fit_classifier", "rounded", "signal_of_labels", "weaken"]

Array = NDArray[np.floating]

LEVEL = 0.95  # of the interval for left-out accuracy
SHARPNESS = 4  # power of the agreement: calibrated probabilities leave much in common
STEPS_TO_ONE = 2**12  # of class probabilities
ENTRIES_AT_ONCE = 2**22  # of class probabilities at the ends of edges
PRECOMPUTED_NEIGHBORS = 10  # that the classifier needs


def fit_classifier(
    X: Any, graph: NeighborGraph, y: Any, settings: dict[str, Any]
) -> FewLabelClassifier:
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


def rounded(distributions: Array) -> NDArray[np.float32]:
    """Return class probabilities in steps that hide differences by rounding.

    Products of matrices, and so the last digits of scores, depend on the number of threads.
    """
    return (np.rint(distributions * STEPS_TO_ONE) / STEPS_TO_ONE).astype(np.float32)


def weaken(edges: sp.csr_array, of_rows: Array, of_columns: Array, force: float) -> sp.csr_array:
    """Return edge weights, smaller where the class probabilities of both ends differ."""
    left = np.sqrt(of_rows)
    right = left if of_rows is of_columns else np.sqrt(of_columns)
    rows, agreement = row_numbers(edges), np.empty(edges.nnz)
    step = max(1, ENTRIES_AT_ONCE // left.shape[1])
    for start in range(0, edges.nnz, step):
        part = slice(start, start + step)
        ends = left[rows[part]], right[edges.indices[part]]
        agreement[part] = np.einsum("ij,ij->i", *ends)
    lost = force * (1 - np.minimum(agreement, 1) ** SHARPNESS)
    return with_values(edges, edges.data * (1 - lost))
