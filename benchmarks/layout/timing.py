"""Timed fits, each in a process of its own: see `benchmarks.measure`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.layout.data import load
from benchmarks.layout.measures import knn_accuracy
from benchmarks.measure import repeat
from labelfold import GraphLayout

SEED = 1000
N_GROUPS, N_FEATURES, N_LABELS = 100, 50, 1000


def time_mnist(make: Callable[[], Any]) -> dict[str, Any]:
    """Fit MNIST's 60,000 rows with 100 labels, after a first fit of few rows."""
    rows = load("mnist60k")
    y = rows.partial(rows.labeled(SEED))
    few = load("digits")
    make().fit_transform(few.X, few.partial(few.labeled(SEED)))

    def work() -> dict[str, Any]:
        Z = make().fit_transform(rows.X, y)
        centers = np.array([Z[rows.y == one].mean(axis=0) for one in range(10)])
        nearest = ((Z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        return {"knn": knn_accuracy(Z, rows.y), "off_center": float(np.mean(nearest != rows.y))}

    return repeat(work, 1)


def time_layout() -> dict[str, Any]:
    return time_mnist(GraphLayout)


def time_umap() -> dict[str, Any]:
    from umap import UMAP

    return time_mnist(UMAP)  # without a seed, which would leave it one thread


def time_synthetic(n: int) -> dict[str, Any]:
    """Fit overlapping groups of rows with 1,000 labels."""
    X, groups = make_blobs(
        n, N_FEATURES, centers=N_GROUPS, cluster_std=2.5, random_state=0, center_box=(-5, 5)
    )
    y = np.full(n, -1)
    y[:N_LABELS] = groups[:N_LABELS]

    def work() -> dict[str, Any]:
        layout = GraphLayout().fit(X, y)
        knn = knn_accuracy(layout.embedding_, groups)
        return {"knn": knn, "certificate": str(layout.certificate_)}

    return repeat(work, 1)


TASKS = {"layout": time_layout, "umap": time_umap, "synthetic": time_synthetic}
warnings.simplefilter("ignore")
