"""MNIST end to end: 60,000 rows, 100 principal components, 8 neighbors, 20 dims, 100 labels.

The clock starts at the principal components, the same array for all, and stops at the embedding, or
at the labels of methods without one. Every repeat has its own draw of labels, the same for all;
errors are those of two heads on the unlabeled rows, fitted on the labeled ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import repeat
from numpy.typing import NDArray

N_NEIGHBORS, N_COMPONENTS, N_LABELS = 8, 20, 100
N_WARM = 6000  # rows for a warm-up of compiled code and libraries

Fit = Callable[[NDArray[np.float64], NDArray[np.int64]], Any]


def rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the first 100 principal components of the training images, and their labels."""
    from sklearn.decomposition import PCA

    from reproductions.data import load_mnist

    X, y = load_mnist("train")
    return PCA(100, random_state=0).fit_transform(X.astype(np.float64)), y


def measure(fit: Fit, n_repeats: int) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Time `fit` of rows and partial labels; return figures, what it returned, and the labels."""
    from labelfold import hide_labels

    X, y = rows()
    partial = [
        hide_labels(y, np.random.default_rng(draw).choice(len(y), N_LABELS, replace=False))
        for draw in range(n_repeats)
    ]
    fit(X[:N_WARM], hide_labels(y[:N_WARM], np.arange(N_LABELS)))
    found: list[Any] = []
    figures = repeat(lambda: found.append(fit(X, partial[len(found)])), n_repeats)
    return figures, found, [(y, labels) for labels in partial]


def measure_map(fit: Fit, n_repeats: int) -> dict[str, Any]:
    """Time an embedding, and measure the errors of both heads on it."""
    figures, maps, draws = measure(fit, n_repeats)
    pairs = [(embedding, *draw) for embedding, draw in zip(maps, draws, strict=True)]
    errors = {
        "linear": [linear_error(*pair) for pair in pairs],
        "1-NN": [nearest_error(*pair) for pair in pairs],
    }
    return {**figures, "errors": errors}


def measure_labels(fit: Fit, n_repeats: int) -> dict[str, Any]:
    """Time a method that gives only labels, and measure its error."""
    figures, answers, draws = measure(fit, n_repeats)
    errors = [
        float(np.mean(answer[labels == -1] != y[labels == -1]))
        for answer, (y, labels) in zip(answers, draws, strict=True)
    ]
    return {**figures, "errors": {"its own": errors}}


def linear_error(embedding: Any, y: Any, labels: Any) -> float:
    """Return the error on unlabeled rows of least squares one against all (CCDR-MC V.A)."""
    from labelfold import LeastSquaresClassifier

    given = labels != -1
    scaled = embedding / embedding.std(axis=0)
    head = LeastSquaresClassifier().fit(scaled[given], y[given])
    return float(np.mean(head.predict(scaled[~given]) != y[~given]))


def nearest_error(embedding: Any, y: Any, labels: Any) -> float:
    """Return the error on unlabeled rows of the nearest labeled one."""
    from sklearn.neighbors import KNeighborsClassifier

    given = labels != -1
    head = KNeighborsClassifier(1).fit(embedding[given], y[given])
    return float(np.mean(head.predict(embedding[~given]) != y[~given]))


def time_labelfold(n_repeats: int) -> dict[str, Any]:
    """CCDR."""
    from labelfold import CCDR

    model = CCDR(N_COMPONENTS, n_neighbors=N_NEIGHBORS, random_state=0)
    figures = measure_map(lambda X, y: model.fit(X, y).embedding_, n_repeats)
    return {**figures, "certificate": str(model.certificate_), "search": str(model.graph_.search)}


def time_laplacian_classifier(n_repeats: int) -> dict[str, Any]:
    """LaplacianClassifier with a chosen penalty."""
    from labelfold import LaplacianClassifier

    model = LaplacianClassifier.as_published(
        n_neighbors=N_NEIGHBORS, penalty="auto", random_state=0
    )
    return measure_labels(lambda X, y: model.fit(X, y).transduction_, n_repeats)


def time_umap(
    n_repeats: int, *, labels: bool = False, random_state: int | None = None
) -> dict[str, Any]:
    """umap-learn with the same neighbors and dims."""
    import umap

    def fit(X: Any, y: Any) -> Any:
        model = umap.UMAP(
            n_neighbors=N_NEIGHBORS, n_components=N_COMPONENTS, random_state=random_state
        )
        return model.fit(X, y if labels else None).embedding_

    return measure_map(fit, n_repeats)


def time_umap_labels(n_repeats: int) -> dict[str, Any]:
    """umap-learn with the same labels too."""
    return time_umap(n_repeats, labels=True)


def time_umap_labels_seed(n_repeats: int) -> dict[str, Any]:
    """umap-learn with labels and a seed, which disables its threads."""
    return time_umap(n_repeats, labels=True, random_state=0)


def time_spectral_embedding(n_repeats: int) -> dict[str, Any]:
    """scikit-learn's k-NN graph and SpectralEmbedding with the multigrid solver."""
    from sklearn.manifold import SpectralEmbedding

    model = SpectralEmbedding(
        N_COMPONENTS,
        affinity="nearest_neighbors",
        n_neighbors=N_NEIGHBORS + 1,  # scikit-learn counts the row itself
        eigen_solver="amg",
        random_state=0,
        n_jobs=-1,
    )
    return measure_map(lambda X, y: model.fit(X).embedding_, n_repeats)


def time_label_spreading(n_repeats: int) -> dict[str, Any]:
    """scikit-learn's LabelSpreading on a k-NN graph, with the alpha that was best on MNIST."""
    from sklearn.semi_supervised import LabelSpreading

    model = LabelSpreading(
        kernel="knn", n_neighbors=N_NEIGHBORS + 1, alpha=0.99, max_iter=1000, n_jobs=-1
    )
    return measure_labels(lambda X, y: model.fit(X, y).transduction_, n_repeats)


TASKS = {
    "labelfold": time_labelfold,
    "laplacian_classifier": time_laplacian_classifier,
    "umap": time_umap,
    "umap_labels": time_umap_labels,
    "umap_labels_seed": time_umap_labels_seed,
    "spectral_embedding": time_spectral_embedding,
    "label_spreading": time_label_spreading,
}
