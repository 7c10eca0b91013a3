"""What all spectral maps share: they are a graph's eigenvectors but the constant one.

So the map of few dimensions is the beginning of the map of more.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.graph.adjacency import SparseAdjacency
from labelfold.labels import PartialLabels
from labelfold.progress import Progress
from labelfold.solvers.certificates import EigenCertificate, fragile_coordinates
from labelfold.solvers.eigen import Eigenpairs, check_solver, smallest_eigenpairs

__all__ = ["EigenmapEmbedder", "eigenmap"]


class EigenmapEmbedder(GraphEmbedder):
    """Base of embedders whose coordinates are eigenvectors in ascending order."""

    embedding_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]
    certificate_: EigenCertificate

    def truncated(self, n_components: int) -> Self:
        """Return the fitted map of fewer dimensions, without another solve.

        Parameters
        ----------
        n_components : int
            Number of coordinates to keep, from the first one on.

        Returns
        -------
        estimator
            A fitted copy that shares the graph: what ``fit`` with that many components gives, up
            to the tolerance of the solver.
        """
        check_is_fitted(self)
        n_fitted = self.embedding_.shape[1]
        is_integer = isinstance(n_components, int | np.integer) and n_components is not True
        if not is_integer or not 1 <= n_components <= n_fitted:
            raise ValueError(
                f"n_components={n_components!r} must be an integer from 1 to the {n_fitted} that "
                "were fitted: fit again for more."
            )
        kept = copy.copy(self)
        kept.n_components = n_components
        kept._keep(n_components)
        return kept

    def _check_parameters(self, labels: PartialLabels) -> None:
        check_solver(self.eigen_solver)
        super()._check_parameters(labels)

    def _keep(self, n_components: int) -> None:
        """Cut the fitted attributes to the first coordinates."""
        self.embedding_ = self.embedding_[:, :n_components]
        self.eigenvalues_ = self.eigenvalues_[:n_components]
        self.certificate_ = replace(
            self.certificate_.first(n_components + 1),  # the constant comes first
            fragile=tuple(c for c in self.certificate_.fragile if c < n_components),
        )


def eigenmap(
    adjacency: SparseAdjacency,
    n_components: int,
    *,
    normalization: str = "degree",
    solver: str,
    progress: Progress,
) -> Eigenpairs:
    """Return the eigenpairs after the trivial one of a connected graph.

    Parameters
    ----------
    adjacency : SparseAdjacency
        The graph, in one piece.
    n_components : int
        Number of eigenpairs.
    normalization : {"degree", "none"}, default="degree"
        L v = lambda D v, or L v = lambda v.
    solver : str
        See :func:`labelfold.solvers.eigen.smallest_eigenpairs`.
    progress : Progress
        Called while the solver works.

    Returns
    -------
    Eigenpairs
        One row a node; the certificate names the coordinates that extend badly to new points.
    """
    nearby, order = adjacency.reordered()
    pairs = smallest_eigenpairs(
        nearby, n_components + 1, normalization=normalization, solver=solver, progress=progress
    )
    vectors = np.empty((adjacency.size, n_components))
    vectors[order] = pairs.vectors[:, 1:]
    unit = 1.0 if normalization == "degree" else float(np.median(adjacency.degrees))
    fragile = fragile_coordinates(pairs.values[1:] / unit)
    return Eigenpairs(pairs.values[1:], vectors, replace(pairs.certificate, fragile=fragile))
