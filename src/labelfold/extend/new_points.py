"""Which map carries new points onto an embedding, and when it is fitted."""

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

__all__ = ["NewPoints"]

Array = NDArray[np.float64]


@stored
class NewPoints:
    """The map for new points, fitted when first asked for: it can cost more than the embedding.

    Rows in a metric with a kernel are mapped by kernel regression, others by their neighbours.
    """

    def __init__(self, X: Any, graph: NeighborGraph, embedding: Array, seed: int) -> None:
        self._X, self._graph, self._embedding, self._seed = X, graph, embedding, seed

    @cached_property
    def extension(self) -> KernelRegression | LocalAverage:
        """The fitted map."""
        metric = self._graph.recipe.metric
        if metric in ("euclidean", "l2", "cosine"):
            return KernelRegression.fit(self._X, self._embedding, metric=metric, seed=self._seed)
        neighbors = self._graph.index.neighbors(self._graph.recipe.n_neighbors)
        return LocalAverage.fit(neighbors, self._embedding)

    def of(self, values: Array) -> NewPoints:
        """Return the same for other values of the same points."""
        return NewPoints(self._X, self._graph, values, self._seed)

    def for_new_rows(self) -> NewPoints:
        """Return the fitted map alone, without what it was fitted on."""
        small = NewPoints.__new__(NewPoints)
        small.__dict__["extension"] = self.extension
        return small

    def predict(self, X: Any, found: sp.csr_array) -> Array:
        """Return coordinates of rows, given with the distances to their neighbours."""
        extension = self.extension
        return extension.predict(X if isinstance(extension, KernelRegression) else found)
