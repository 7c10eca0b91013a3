"""What many draws of labels share: everything that depends on the rows alone.

Each part is computed when a method first reads it. `seconds` is the time spent on parts so far, so
that the cost of one draw and the cost of what all draws share can be told apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

N_NEIGHBORS = 8  # of every graph that is not another package's own
LEAST_EIGENVECTORS = 100  # LaplacianClassifier with a penalty uses as many
EIGENVECTORS_PER_LABEL = 0.2  # and more if labels are many


def shared(compute: Callable[[SharedRows], Any]) -> cached_property[Any]:
    """Return a property that is computed once and adds its time to `SharedRows.seconds`."""

    def timed(rows: SharedRows) -> Any:
        return rows.time_shared(lambda: compute(rows))

    timed.__doc__ = compute.__doc__
    return cached_property(timed)


@dataclass(eq=False)
class SharedRows:
    """Rows of one data set, and what methods derive from them."""

    X: NDArray[np.float64]
    # Sizes of the classes among all rows, for methods with "true-sizes" in their name only.
    true_sizes: NDArray[np.int64]
    most_labels: int  # the largest number of labels that will be drawn
    seconds: float = field(default=0.0, init=False)
    _models: dict[str, Any] = field(default_factory=dict, init=False)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.X)

    def partial(self, labeled: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return labels of all rows, -1 for the unlabeled ones."""
        y = np.full(self.n_rows, -1, dtype=np.int64)
        y[labeled] = codes
        return y

    def model(self, name: str, fit: Callable[[], Any]) -> Any:
        """Return the model of that name, fitted by the first call; others give it new labels."""
        if name not in self._models:
            self._models[name] = self.time_shared(fit)
        return self._models[name]

    def time_shared(self, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returns, and count its time as shared."""
        before, start = self.seconds, time.perf_counter()
        part = compute()
        # Not a sum, since a part may have read another, whose time is in there already.
        self.seconds = before + time.perf_counter() - start
        return part

    @shared
    def plain(self) -> NDArray[np.float64]:
        """Rows in one common unit: the mean variance of the columns is 1."""
        centered = self.X - self.X.mean(axis=0)
        return centered / np.sqrt(np.mean(centered**2))

    @shared
    def standardized(self) -> NDArray[np.float64]:
        """Rows with columns of variance 1."""
        return StandardScaler().fit_transform(self.X)

    @shared
    def basis(self) -> Any:
        """Eigenvectors of the Laplacian of the binary graph of 8 neighbors."""
        from labelfold import LaplacianClassifier

        model = LaplacianClassifier(n_neighbors=N_NEIGHBORS, weights="binary", random_state=0)
        n_eigenvectors = max(LEAST_EIGENVECTORS, int(EIGENVECTORS_PER_LABEL * self.most_labels))
        return model.build_basis(self.X, n_eigenvectors)

    @shared
    def default_graph(self) -> Any:
        """The graph that ManifoldClassifier builds by default."""
        from labelfold import ManifoldClassifier

        return ManifoldClassifier().build_graph(self.X)

    @shared
    def neighbor_matrix(self) -> Any:
        """The kernel "knn" of scikit-learn's LabelSpreading: 8 neighbors and the row itself."""
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(n_neighbors=N_NEIGHBORS + 1).fit(self.X)
        return search.kneighbors_graph(self.X)

    @shared
    def umap_coordinates(self) -> NDArray[np.float64]:
        """20 dimensions of umap-learn, without labels, each with variance 1."""
        import umap

        model = umap.UMAP(n_neighbors=N_NEIGHBORS, n_components=20, random_state=0, n_jobs=1)
        return StandardScaler().fit_transform(model.fit_transform(self.X).astype(np.float64))

    @shared
    def graphlearning_weights(self) -> Any:
        """GraphLearning's usual graph, Gaussian weights of 10 neighbors, from an exact search."""
        import graphlearning
        from sklearn.neighbors import NearestNeighbors

        n_neighbors = 10
        search = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(self.X)
        distances, neighbors = search.kneighbors(self.X)
        # The package divides by the last distance, 0 where more than 10 rows are equal.
        distances[:, -1] = np.maximum(distances[:, -1], np.finfo(float).tiny ** 0.25)
        return graphlearning.weightmatrix.knn(self.X, n_neighbors, knn_data=(neighbors, distances))
