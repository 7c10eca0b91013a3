"""Methods: from rows, their metric and partial labels to a picture in two dimensions.

Each is as it comes, with a seed. Those in `USES_LABELS` draw another picture for other labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def layout(X: Any, metric: str, y: Any) -> Array:
    from labelfold import GraphLayout

    return GraphLayout(metric=metric).fit(X, y).embedding_


def layout_without_labels(X: Any, metric: str, y: Any) -> Array:
    from labelfold import GraphLayout

    return GraphLayout(metric=metric).fit(X).embedding_


def spokes(X: Any, metric: str, y: Any) -> Array:
    """The plane of the classes, of a CCDR with twice as many dimensions as classes."""
    from labelfold import CCDR
    from labelfold.plotting import EmbeddingDisplay

    model = CCDR(2 * len(np.unique(y[y >= 0])), metric=metric).fit(X, y)
    display = EmbeddingDisplay(model.embedding_, labels=y, components="classes")
    return display.view.place(model.embedding_)


def umap(X: Any, metric: str, y: Any) -> Array:
    from umap import UMAP

    return UMAP(metric=metric, random_state=0).fit_transform(X)


def umap_with_labels(X: Any, metric: str, y: Any) -> Array:
    from umap import UMAP

    return UMAP(metric=metric, random_state=0).fit_transform(X, y)


def opentsne(X: Any, metric: str, y: Any) -> Array:
    from openTSNE import TSNE

    return np.asarray(TSNE(metric=metric, random_state=0, n_jobs=-1).fit(X))


def pacmap(X: Any, metric: str, y: Any) -> Array:
    """PaCMAP, which takes no sparse rows: 100 singular dimensions of unit length of those."""
    from pacmap import PaCMAP
    from scipy.sparse import issparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    if issparse(X):
        X = normalize(TruncatedSVD(100, random_state=0).fit_transform(X))
    return PaCMAP(random_state=0).fit_transform(np.asarray(X, dtype=np.float32))


METHODS: dict[str, Callable[[Any, str, Any], Array]] = {
    "layout": layout,
    "layout without labels": layout_without_labels,
    "umap with labels": umap_with_labels,
    "umap": umap,
    "opentsne": opentsne,
    "pacmap": pacmap,
    "spokes": spokes,
}
USES_LABELS = ("layout", "umap with labels", "spokes")
