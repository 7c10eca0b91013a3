"""Measures of a picture: classes of the nearest, trustworthiness, purity, moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
N_NEAREST = 10
N_SAMPLED = 1000  # rows whose trustworthiness is measured, among all


def nearest_in_picture(Z: Array, asked: Array | None = None, n: int = N_NEAREST) -> Codes:
    """Return the nearest of every point, without itself, or of other points."""
    search = NearestNeighbors(n_neighbors=n, algorithm="kd_tree").fit(Z)
    return search.kneighbors(asked, return_distance=False)


def vote(classes: Codes) -> Codes:
    """Return the most frequent class of every row."""
    votes = np.zeros((len(classes), classes.max() + 1))
    for column in classes.T:
        votes[np.arange(len(classes)), column] += 1
    return votes.argmax(axis=1)


def knn_accuracy(Z: Array, y: Codes) -> float:
    """Return the accuracy of the ten nearest with all other labels."""
    return float(np.mean(vote(y[nearest_in_picture(Z)]) == y))


def one_nearest_error(Z: Array, y: Codes, labeled: Codes) -> float:
    """Return the error of the nearest labeled point, on unlabeled rows."""
    hidden = np.delete(np.arange(len(y)), labeled)
    named = KNeighborsClassifier(1).fit(Z[labeled], y[labeled]).predict(Z[hidden])
    return float(np.mean(named != y[hidden]))


def purity(Z: Array, classes: Codes) -> float:
    """Return the share of the ten nearest that have the point's class."""
    return float(np.mean(classes[nearest_in_picture(Z)] == classes[:, None]))


def trustworthiness(X: Any, Z: Array, metric: str) -> float:
    """Return the trustworthiness at ten neighbors (Venna and Kaski), from a sample of rows."""
    n, k = len(Z), N_NEAREST
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, N_SAMPLED), replace=False))
    near = nearest_in_picture(Z)
    excess = 0.0
    for part in np.array_split(rows, max(1, len(rows) * n // 10_000_000)):
        distances = pairwise_distances(X[part], X, metric=metric)
        distances[np.arange(len(part)), part] = -1  # rank 0
        ranks = distances.argsort(axis=1).argsort(axis=1)
        excess += np.maximum(np.take_along_axis(ranks, near[part], axis=1) - k, 0).sum()
    return float(1 - 2 * excess / (len(rows) * k * (2 * n - 3 * k - 1)))


def moves(before: Array, after: Array) -> Array:
    """Return how far every point moved, relative to the radius that holds 99 % of the points."""
    radius = np.quantile(np.linalg.norm(before - before.mean(axis=0), axis=1), 0.99)
    return np.asarray(np.linalg.norm(after - before, axis=1) / radius)


def share_in_empty_space(old: Array, new: Array) -> float:
    """Return the share of new rows farther from the nearest old row than 99 % of the old are."""
    search = NearestNeighbors(n_neighbors=1, algorithm="kd_tree").fit(old)
    reach = np.quantile(search.kneighbors()[0], 0.99)
    return float(np.mean(search.kneighbors(new)[0] > reach))
