"""Starts of separation maps: a first guess on the decision axes, the data on the others.

Of the many maps that keep distances and separate the labels, the start decides which one is found,
and so the classes of unlabeled rows far from any label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
PENALTIES = np.logspace(-4, 2, 13)  # of the ridge, relative to the labeled rows' variance


def geodesic_start(problem: DistanceProblem, rows: Array, separation: Separation) -> Array:
    """Return a start from shortest paths to the labeled rows.

    Along the normal of a class a row lies half as far out as the nearest labeled row of another
    class is farther than the nearest of this one.
    """
    return np.hstack([SHARE * _geodesic_values(problem, separation), rows])


def ridge_start(rows: Array, separation: Separation) -> Array:
    """Return a map that keeps the distances of the rows, with ridge scores on the first axes.

    With W the coefficients of the scores over their largest singular value, [X W, X S] with S^2 =
    I - W W^T has the distances of X. With one normal it is a rotation.
    """
    W, bias = _ridge(rows, separation)
    size = float(np.linalg.norm(W, 2))
    if size == 0:  # all labeled rows are equal
        return np.hstack([np.zeros((len(rows), separation.n_normals)), rows])
    W, bias = W / size, bias / size
    values, vectors = np.linalg.eigh(np.eye(len(W)) - W @ W.T)
    left = values > 1e-12
    return np.hstack([rows @ W + bias, rows @ (vectors[:, left] * np.sqrt(values[left]))])


def choose_start(problem: DistanceProblem, rows: Array, separation: Separation) -> str:
    """Return "ridge" or "geodesic", whichever guesses better.

    The cost of a guess is the share of left-out labels guessed wrong plus the share of edges
    between rows of different guesses. The former says little if labels are few, and the latter is
    small if they are many.
    """
    guesses: dict[str, Callable[[Separation], Array]] = {
        "ridge": lambda one: _ridge_values(rows, one),
        "geodesic": lambda one: _geodesic_values(problem, one),
    }
    i, j = problem.edges.T
    costs = {}
    for name, guess in guesses.items():
        classes = separation.scores(guess(separation)).argmax(axis=1)
        n_wrong = 0
        for rest, left_out in _leave_out(separation.labels):
            values = guess(Separation.from_labels(rest))[left_out]
            guessed = separation.scores(values).argmax(axis=1)
            n_wrong += int(np.sum(guessed != separation.labels.codes[left_out]))
        costs[name] = n_wrong / len(separation.rows) + float(np.mean(classes[i] != classes[j]))
    return min(costs, key=lambda name: costs[name])


def _geodesic_values(problem: DistanceProblem, separation: Separation) -> Array:
    """Return for every row and normal half of (path to another class - path to this one)."""
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
    """Return coefficients and biases of ridge scores, fitted to the signs of labeled rows."""
    labeled = rows[separation.rows]
    size = float(np.sum(np.var(labeled, axis=0))) * len(labeled) / labeled.shape[1] or 1.0
    model = RidgeCV(alphas=PENALTIES * size).fit(labeled, separation.signs)
    W = np.asarray(model.coef_).reshape(separation.n_normals, -1).T
    return W, np.broadcast_to(model.intercept_, (separation.n_normals,)).copy()


def _ridge_values(rows: Array, separation: Separation) -> Array:
    W, bias = _ridge(rows, separation)
    return np.asarray(rows @ W + bias)


def _leave_out(labels: PartialLabels) -> Iterator[tuple[PartialLabels, NDArray[np.intp]]]:
    """Yield folds: the remaining labels and the rows left out; none if a class has one label.

    Labels of a class go to the folds in turn.
    """
    rows_of_classes = [np.flatnonzero(labels.codes == c) for c in range(labels.n_classes)]
    n_folds = min(N_FOLDS, *(len(rows) for rows in rows_of_classes))
    for fold in range(n_folds if n_folds > 1 else 0):
        left_out = np.concatenate([rows[fold::n_folds] for rows in rows_of_classes])
        codes = labels.codes.copy()
        codes[left_out] = -1
        yield PartialLabels(codes, labels.classes), left_out
