"""Where separation maps begin: on the decision axes with a first guess, elsewhere with the data.

Of the many maps that keep distances and separate the labels, the start decides which one is found,
and with it the classes of unlabelled points far from any label.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from sklearn.linear_model import RidgeCV

from labelfold.labels import PartialLabels
from labelfold.semidefinite.separation import Separation
from labelfold.solvers.distance_problem import DistanceProblem

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
    """Return "ridge" or "geodesic", whichever tells labels of left-out points better.

    Geodesics are for labels that follow the shape of the data, and the choice where a class has one
    label only, so that none can be left out.
    """
    codes = separation.labels.codes[separation.rows]
    n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        return "geodesic"
    folds = _stratified(codes, n_folds)
    errors = np.zeros(2)
    for fold in range(n_folds):
        left_out = separation.rows[folds == fold]
        kept = separation.labels.codes.copy()
        kept[left_out] = -1
        rest = Separation.of(PartialLabels(kept, separation.labels.classes))
        W, bias = _ridge(rows, rest)
        guesses = rows[left_out] @ W + bias, _geodesic_values(problem, rest)[left_out]
        truth = separation.labels.codes[left_out]
        for k, guess in enumerate(guesses):
            errors[k] += np.sum(separation.scores(guess).argmax(axis=1) != truth)
    return "ridge" if errors[0] < errors[1] else "geodesic"


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


def _stratified(codes: NDArray[np.intp], n_folds: int) -> NDArray[np.intp]:
    """Return a fold for every entry, those of a class in turn."""
    folds = np.empty(len(codes), dtype=np.intp)
    for c in np.unique(codes):
        of_class = np.flatnonzero(codes == c)
        folds[of_class] = np.arange(len(of_class)) % n_folds
    return folds
