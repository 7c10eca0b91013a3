"""Which extension gives new rows their coordinates, and when it is fitted."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.extend.local_average import LocalAverage
from labelfold.extend.regression import KernelRegression
from labelfold.graph import NeighborGraph
from labelfold.methods import stored

__all__ = ["LazyExtension"]

Array = NDArray[np.float64]


@stored
class LazyExtension:
    """The extension of an embedding, fitted on first use: it can cost more than the embedding.

    Rows in a metric with a kernel go through kernel regression, others through their neighbors.
    """

    def __init__(self, X: Any, graph: NeighborGraph, embedding: Array, seed: int) -> None:
        self._X, self._graph, self._embedding, self._seed = X, graph, embedding, seed

    @cached_property
    def extension(self) -> KernelRegression | LocalAverage:
        """The fitted extension."""
        metric = self._graph.recipe.metric
        if metric in ("euclidean", "l2", "cosine"):
            return KernelRegression.fit(self._X, self._embedding, metric=metric, seed=self._seed)
        neighbors = self._graph.index.neighbors(self._graph.recipe.n_neighbors)
        return LocalAverage.fit(neighbors, self._embedding)

    def for_values(self, values: Array) -> LazyExtension:
        """Return the extension of other values of the same rows."""
        return LazyExtension(self._X, self._graph, values, self._seed)

    def for_new_rows(self) -> LazyExtension:
        """Return the fitted extension alone, without what it was fitted on."""
        small = LazyExtension.__new__(LazyExtension)
        small.__dict__["extension"] = self.extension
        return small

    def predict(self, X: Any, distances: sp.csr_array) -> Array:
        """Return coordinates of rows, given with the distances to their neighbors."""
        extension = self.extension
        return extension.predict(X if isinstance(extension, KernelRegression) else distances)
