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
from labelfold.layout import graph_layout

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


def time_groups(n: int) -> dict[str, Any]:
    """Fit groups of rows with 1,000 labels: as many clean clusters as classes.

    They have no inner order, so that exaggeration draws them together to dots.
    """
    X, groups = make_blobs(
        n, N_FEATURES, centers=N_GROUPS, cluster_std=2.5, random_state=0, center_box=(-5, 5)
    )
    y = np.full(n, -1)
    y[:N_LABELS] = groups[:N_LABELS]
    return repeat(lambda: measure(GraphLayout().fit(X, y), groups), 1)


def time_rows(name: str, sampled: bool) -> dict[str, Any]:
    """Fit MNIST or synthetic rows without labels: all at once, or a subsample first."""
    if name == "mnist60k":
        rows = load(name)
        X, classes = rows.X, rows.y
    else:
        X, classes = make_sheets(int(name))
    graph_layout.MOST_TOGETHER = 0 if sampled else len(X)
    return repeat(lambda: measure(GraphLayout().fit(X), classes), 1)


def make_sheets(n: int) -> tuple[Any, Any]:
    """Return rows in groups of four dimensions, each in directions of its own, and noise."""
    rng = np.random.default_rng(0)
    groups = rng.integers(N_GROUPS, size=n)
    centers = 0.2 * rng.normal(size=(N_GROUPS, N_FEATURES))
    directions = rng.normal(size=(N_GROUPS, 4, N_FEATURES)) / 2
    X = rng.normal(0, 0.1, size=(n, N_FEATURES)).astype(np.float32)
    for group in range(N_GROUPS):
        members = np.flatnonzero(groups == group)
        X[members] += centers[group] + rng.normal(size=(len(members), 4)) @ directions[group]
    return X, groups


def measure(layout: GraphLayout, classes: Any) -> dict[str, Any]:
    return {
        "knn": knn_accuracy(layout.embedding_, classes),
        "kept": layout.certificate_.neighbors_kept,
        "certificate": str(layout.certificate_),
    }


TASKS = {"layout": time_layout, "umap": time_umap, "groups": time_groups, "rows": time_rows}
warnings.simplefilter("ignore")
