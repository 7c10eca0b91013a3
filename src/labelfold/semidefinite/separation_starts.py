"""Where separation maps begin: on the decision axes with a first guess, elsewhere with the data.

Of the many maps that keep distances and separate the labels, the start decides which one is found,
and with it the classes of unlabelled points far from any label.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from sklearn.linear_model import RidgeCV

from labelfold.labels import PartialLabels
from labelfold.semidefinite.separation import Separation
from labelfold.solvers.lowrank.distances import DistanceProblem

__all__ = ["choose_start", "geodesic_start", "ridge_start"]

Array = NDArray[np.float64]

SHARE = 0.5  # of the geodesic distance that a decision axis takes up; 0.3 to 0.7 serve
N_FOLDS = 5
PENALTIES = np.logspace(-4, 2, 13)  # of the ridge, relative to the labelled rows' variance


def geodesic_start(problem: DistanceProblem, rows: Array, separation: Separation) -> Array:
    """Return a start from shortest paths to the labelled points.

    Along the normal of a class a point lies half as far out as the nearest labelled point of
    another class is farther than the nearest of this one.
    """
    return np.hstack([SHARE * _geodesic_values(problem, separation), rows])


def ridge_start(rows: Array, separation: Separation) -> Array:
    """Return the rows turned, so that distances are kept, with ridge scores on the axes.

    With W the coefficients of the scores over their largest singular value, [X W, X S] with S^2 =
    I - W W^T has the distances of X. One normal is a mere rotation.
    """
    W, bias = _ridge(rows, separation)
    size = float(np.linalg.norm(W, 2))
    if size == 0:  # all labelled rows are equal
        return np.hstack([np.zeros((len(rows), separation.n_normals)), rows])
    W, bias = W / size, bias / size
    values, vectors = np.linalg.eigh(np.eye(len(W)) - W @ W.T)
    left = values > 1e-12
    return np.hstack([rows @ W + bias, rows @ (vectors[:, left] * np.sqrt(values[left]))])


def choose_start(problem: DistanceProblem, rows: Array, separation: Separation) -> str:
    """Return "ridge" or "geodesic", whichever guesses better.

    Counted are wrong guesses at labels that are left out, as a share of the labels, and edges
    between points of different guesses, as a share of all edges. Where labels are few the former
    tell little, and where they are many the latter weigh little.
    """
    guesses: dict[str, Callable[[Separation], Array]] = {
        "ridge": lambda one: _ridge_values(rows, one),
        "geodesic": lambda one: _geodesic_values(problem, one),
    }
    folds = _leave_out(separation.labels)
    costs = {}
    for name, guess in guesses.items():
        classes = separation.scores(guess(separation)).argmax(axis=1)
        i, j = problem.edges.T
        n_wrong = 0
        for rest, left_out in folds:
            told = separation.scores(guess(Separation.of(rest))[left_out]).argmax(axis=1)
            n_wrong += int(np.sum(told != separation.labels.codes[left_out]))
        costs[name] = n_wrong / len(separation.rows) + float(np.mean(classes[i] != classes[j]))
    return min(costs, key=lambda name: costs[name])


def _geodesic_values(problem: DistanceProblem, separation: Separation) -> Array:
    """Return for every point and normal half of (path to another class - path to this one)."""
    n, (i, j) = problem.n_points, problem.edges.T.astype(np.int32)
    lengths = np.tile(np.sqrt(problem.squares), 2)
    graph = sp.csr_array((lengths, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n))
    codes = separation.labels.codes
    paths = np.column_stack(
        [
            dijkstra(graph, indices=np.flatnonzero(codes == c), min_only=True)
            for c in range(separation.labels.n_classes)
        ]
    )
    if separation.n_normals == 1:
        return (paths[:, :1] - paths[:, 1:]) / 2
    two_least = np.sort(paths, axis=1)[:, :2]
    is_nearest = paths == two_least[:, :1]
    others = np.where(is_nearest, two_least[:, 1:], two_least[:, :1])
    return (others - paths) / 2


def _ridge(rows: Array, separation: Separation) -> tuple[Array, Array]:
    """Return coefficients and biases of ridge scores, fitted to the signs of labelled rows."""
    labeled = rows[separation.rows]
    size = float(np.sum(np.var(labeled, axis=0))) * len(labeled) / labeled.shape[1] or 1.0
    model = RidgeCV(alphas=PENALTIES * size).fit(labeled, separation.signs)
    W = np.asarray(model.coef_).reshape(separation.n_normals, -1).T
    return W, np.broadcast_to(model.intercept_, (separation.n_normals,)).copy()


def _ridge_values(rows: Array, separation: Separation) -> Array:
    W, bias = _ridge(rows, separation)
    return np.asarray(rows @ W + bias)


def _leave_out(labels: PartialLabels) -> list[tuple[PartialLabels, NDArray[np.intp]]]:
    """Return folds, each the labels that are left and the rows left out; none if a class has one.

    Labels of a class go to the folds in turn.
    """
    rows = np.flatnonzero(labels.mask)
    codes = labels.codes[rows]
    n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        return []
    folds = np.empty(len(codes), dtype=np.intp)
    for c in range(labels.n_classes):
        folds[codes == c] = np.arange(np.sum(codes == c)) % n_folds
    parts = []
    for fold in range(n_folds):
        left_out, kept = rows[folds == fold], labels.codes.copy()
        kept[left_out] = -1
        parts.append((PartialLabels(kept, labels.classes), left_out))
    return parts
