"""How good a fit of the Laplacian classifier is, as numbers, a flag and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from labelfold.classify.laplacian_columns import LEAST_SHARE
from labelfold.methods import stored
from labelfold.solvers.certificates import EigenCertificate
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = ["LaplacianCertificate", "count_bounded"]

CRITERIA = {
    "leave-one-out": "leave-one-out error",
    "usual": "custom, as no label can be left out",
}


@stored
@dataclass(frozen=True, eq=False)
class LaplacianCertificate:
    """Evidence for a fitted :class:`LaplacianClassifier`.

    Parameters
    ----------
    eigen : EigenCertificate
        Residuals and orthogonality of the eigenvectors.
    n_labeled : int
        Number of labelled points.
    n_columns : int
        Number of functions that were combined.
    rank : int
        Their rank on the labelled points: below n_columns the smoothest scores are taken, unless a
        penalty makes them unique.
    criterion : {"given", "leave-one-out", "usual"}
        Whether number of eigenvectors and penalty were given, compared on labels that were left
        out, or, where no label can be left out, set to what is usual.
    n_unreached : int
        Points in components without a label.
    n_bounded : int
        Eigenvectors that the guard of the extension bounds at a typical new point, where
        1 - lambda / d(x) falls below 0.5.
    """

    eigen: EigenCertificate = field(repr=False)
    n_labeled: int
    n_columns: int
    rank: int
    criterion: str
    n_unreached: int
    n_bounded: int

    @property
    def ok(self) -> bool:
        """Whether the eigenvectors are as good as asked."""
        return self.eigen.ok

    def __str__(self) -> str:
        text = str(self.eigen).removesuffix(".")
        text += (
            f"; {self.n_columns} columns of rank {self.rank} on {self.n_labeled} labelled points"
        )
        if self.criterion != "given":
            text += f"; parameters by {CRITERIA[self.criterion]}"
        if self.n_unreached:
            text += f"; {self.n_unreached} points out of reach of any label"
        if self.n_bounded:
            text += f"; {self.n_bounded} eigenvectors are bounded at new points"
        return text + "."


def count_bounded(basis: LaplacianBasis) -> int:
    """Return how many eigenvectors the guard of the extension bounds at a typical new point.

    A new point has n_neighbors edges, fewer than most points of the graph, whose neighbours may
    also have chosen them: its d(x) is taken as the median over the graph's points, of each as many
    mean edges.
    """
    unit = 1.0
    if basis.normalization == "none":
        weights, recipe = basis.graph.weights, basis.graph.recipe
        counts = np.diff(weights.indptr)
        degrees = np.asarray(weights.sum(axis=1), dtype=float)[counts > 0]
        share = np.ones(len(degrees))
        if recipe.radius is None:
            share = np.minimum(1, recipe.n_neighbors / counts[counts > 0])
        unit = float(np.median(share * degrees)) if len(degrees) else 1.0
    return int(np.count_nonzero(1 - basis.eigenvalues / unit < LEAST_SHARE))
