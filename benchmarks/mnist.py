"""MNIST end to end: 60,000 rows, 100 principal components, 8 neighbours, 20 dims, 100 labels.

The clock starts at the principal components, the same array for all, and stops at the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import repeat
from numpy.typing import NDArray

N_NEIGHBORS, N_COMPONENTS, N_LABELS = 8, 20, 100


def rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the first 100 principal components of the training images, and their labels."""
    from sklearn.decomposition import PCA

    from labelfold.datasets import load_mnist

    X, y = load_mnist("train")
    return PCA(100, random_state=0).fit_transform(X.astype(np.float64)), y


def linear_error(embedding: Any, y: Any, labeled: Any) -> float:
    """Return the error on unlabelled rows of least squares one against all (CCDR-MC V.A)."""
    from sklearn.linear_model import LinearRegression

    scaled = embedding / embedding.std(axis=0)
    targets = np.eye(10)[y[labeled]]
    scores = LinearRegression().fit(scaled[labeled], targets).predict(scaled)
    unlabeled = np.setdiff1d(np.arange(len(y)), labeled)
    return float(np.mean(scores[unlabeled].argmax(axis=1) != y[unlabeled]))


def time_labelfold(n_repeats: int) -> dict[str, Any]:
    """CCDR from rows to map; then the error over five draws of labels."""
    from labelfold import CCDR, hide_labels

    X, y = rows()
    draws = [
        np.random.default_rng(seed).choice(len(y), N_LABELS, replace=False) for seed in range(5)
    ]
    model = CCDR(N_COMPONENTS, n_neighbors=N_NEIGHBORS, random_state=0)
    model.fit(X[:6000], hide_labels(y[:6000], np.arange(N_LABELS)))  # imports, first touch

    def work() -> dict[str, Any]:
        model.fit(X, hide_labels(y, draws[0]))
        return {"certificate": str(model.certificate_), "search": str(model.graph_.search)}

    measured = repeat(work, n_repeats)
    graph = model.graph_
    errors = [
        linear_error(model.fit(X, hide_labels(y, draw), graph=graph).embedding_, y, draw)
        for draw in draws
    ]
    return {**measured, "errors": errors, "mean_error": float(np.mean(errors))}


def time_umap(
    n_repeats: int, *, labels: bool = False, random_state: int | None = None
) -> dict[str, Any]:
    """umap-learn with the same neighbours and dims, compiled beforehand on a part."""
    import umap

    from labelfold import hide_labels

    X, y = rows()
    y = hide_labels(y, np.random.default_rng(0).choice(len(y), N_LABELS, replace=False))

    def work(n: int) -> None:
        model = umap.UMAP(
            n_neighbors=N_NEIGHBORS, n_components=N_COMPONENTS, random_state=random_state
        )
        model.fit(X[:n], y[:n] if labels else None)

    work(6000)
    return repeat(lambda: work(len(X)), n_repeats)


def time_umap_labels(n_repeats: int) -> dict[str, Any]:
    """umap-learn with the same labels too."""
    return time_umap(n_repeats, labels=True)


def time_umap_labels_seed(n_repeats: int) -> dict[str, Any]:
    """umap-learn with labels and a seed, which it gives up threads for."""
    return time_umap(n_repeats, labels=True, random_state=0)


def time_spectral_embedding(n_repeats: int) -> dict[str, Any]:
    """scikit-learn's k-NN graph and SpectralEmbedding with the multigrid solver."""
    from sklearn.manifold import SpectralEmbedding

    X, _ = rows()
    model = SpectralEmbedding(
        N_COMPONENTS,
        affinity="nearest_neighbors",
        n_neighbors=N_NEIGHBORS + 1,  # scikit-learn counts the point itself
        eigen_solver="amg",
        random_state=0,
        n_jobs=-1,
    )
    model.fit(X[:6000])
    return repeat(lambda: model.fit(X) and None, n_repeats)


TASKS = {
    "labelfold": time_labelfold,
    "umap": time_umap,
    "umap_labels": time_umap_labels,
    "umap_labels_seed": time_umap_labels_seed,
    "spectral_embedding": time_spectral_embedding,
}
