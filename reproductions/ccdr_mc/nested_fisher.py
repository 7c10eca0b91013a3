"""Marginal Fisher analysis for searches: the map of few dimensions is the beginning of a larger.

Its directions come in the order of their ratios, and each is scaled by itself, so that one solve
serves a whole grid of dimensions. `TransductiveSearchCV` makes use of that where an estimator has
`truncated`; with a kernel on all of Landsat's training rows a solve takes about a minute.
"""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelfold.spectral import MarginalFisherAnalysis

__all__ = ["NestedFisherAnalysis"]


class NestedFisherAnalysis(MarginalFisherAnalysis):
    """Marginal Fisher analysis that keeps its map and can be cut to fewer dimensions.

    Parameters are those of :class:`MarginalFisherAnalysis`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows of `fit_transform`, labelled or not.
    """

    embedding_: NDArray[np.float64]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Find the directions, and return the map of all rows."""
        self.embedding_ = self.fit(X, y).transform(X)
        return self.embedding_

    def truncated(self, n_components: int) -> Self:
        """Return the fitted map of fewer dimensions, without another solve."""
        kept = copy.copy(self)
        kept.n_components = n_components
        kept.eigenvalues_ = self.eigenvalues_[:n_components]
        kept.embedding_ = self.embedding_[:, :n_components]
        if self.kernel is None:
            kept.components_ = self.components_[:n_components]
        else:
            kept.dual_coef_ = self.dual_coef_[:, :n_components]
        return kept
