"""MNIST's 10,000 test images labeled by a model of the 60,000 training images with 1,000 labels.

The neighbor search of the test images is timed separately from the rest: the extension of 200
eigenvectors and the scores.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from measure import repeat

N_LABELS, N_DRAWS = 1000, 5


def time_new_points(n_repeats: int) -> dict[str, Any]:
    """Return seconds of search and scores, and errors on unlabeled and on new images."""
    from sklearn.decomposition import PCA

    from labelfold import LaplacianClassifier, hide_labels
    from reproductions.data import load_mnist

    X, y = load_mnist("train")
    X_new, y_new = load_mnist("test")
    projection = PCA(100, svd_solver="covariance_eigh").fit(X.astype(np.float64))
    X, X_new = (projection.transform(part.astype(np.float64)) for part in (X, X_new))
    model = LaplacianClassifier.as_published(neighbor_search="exact")
    basis = model.build_basis(X, N_LABELS // 5)
    errors: dict[str, list[float]] = {"unlabeled": [], "new": []}
    for seed in range(N_DRAWS):
        keep = np.random.default_rng(seed).choice(len(y), N_LABELS, replace=False)
        hidden = np.setdiff1d(np.arange(len(y)), keep)
        model.fit(X, hide_labels(y, keep), basis=basis)
        errors["unlabeled"].append(float(np.mean(model.transduction_[hidden] != y[hidden])))
        errors["new"].append(float(np.mean(model.predict(X_new) != y_new)))
    start = time.perf_counter()
    found = model.graph_.distances_to(X_new)
    search = time.perf_counter() - start

    def score() -> None:
        model._columns.combine_at_new(found, model.coef_.T).argmax(axis=1)

    measured = repeat(score, n_repeats)
    return {**measured, "search": search, "n_new": len(y_new), "errors": errors}


TASKS = {"new_points": time_new_points}
