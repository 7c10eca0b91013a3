"""What all spectral maps share: they are a graph's eigenvectors but the constant one.

So the map of few dimensions is the beginning of the map of more.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_choice, check_rows
from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import SparseAdjacency
from labelfold.graph.joining import join_rows
from labelfold.labels import PartialLabels
from labelfold.progress import Progress
from labelfold.solvers.certificates import EigenCertificate, fragile_coordinates
from labelfold.solvers.eigen import (
    EIGEN_SOLVERS,
    Eigenpairs,
    refined_eigenpairs,
    smallest_eigenpairs,
)
from labelfold.threads import limit_threads

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
            raise InputError(
                f"n_components={n_components!r} must be an integer from 1 to the {n_fitted} that "
                "were fitted: fit again for more."
            )
        kept = copy.copy(self)
        kept.n_components = n_components
        kept._keep(n_components)
        return kept

    def joined(self, X: Any, *, n_steps: int = 2) -> Self:
        """Return the map of the rows of fit and new ones together, near to a fit of all of them.

        New rows become points of the graph, with edges among themselves and to the rows of fit; a
        few steps of subspace iteration then take the map there.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows, all of which are taken as unlabelled.
        n_steps : int, default=2
            Number of products with the graph's weights. More steps come nearer to the map that
            ``fit`` would give; on Landsat 2 were enough for its errors, with either head.

        Returns
        -------
        estimator
            A fitted copy. Its ``embedding_`` has the new rows behind those of fit; its
            ``certificate_`` tells how near the vectors are to eigenvectors.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        if not isinstance(n_steps, int | np.integer) or n_steps < 1:
            raise InputError(f"n_steps={n_steps!r} must be an integer of at least 1.")
        grown = copy.copy(self)
        # Products are small here: threads of the linear algebra would wait for each other.
        with limit_threads(self.n_jobs), limit_threads(1, user_api="blas"):
            graph = join_rows(self.graph_, X)
            graph = self._join(graph, self._groups(graph.n_points))
            pairs = refined_eigenpairs(
                self._adjacency(graph),
                np.vstack([self._vectors(), _first_guess(graph, self.embedding_)]),
                self.eigenvalues_,
                normalization=self._problem,
                n_steps=int(n_steps),
            )
            grown._set_map(graph, pairs)
        return grown

    def transform_jointly(self, X: Any, *, n_steps: int = 2) -> NDArray[np.float64]:
        """Map new rows together: they see each other, and the rows of fit see them.

        What a row gets depends on the others, unlike in :meth:`transform`. Costs more than that,
        and less than a fit of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows; for ``metric="precomputed"`` there is no joint map, since distances among new
            rows are not known.
        n_steps : int, default=2
            As for :meth:`joined`, whose map this is.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            The joint map, turned and scaled so that the rows of fit come as near to
            ``embedding_`` as they can: heads that were fitted there can work on it.
        """
        grown = self.joined(X, n_steps=n_steps)
        n_fitted = len(self.embedding_)
        fitted, new = np.split(grown.embedding_, [n_fitted])
        rotation, overlap = orthogonal_procrustes(fitted, self.embedding_)
        scale = overlap / np.sum(fitted**2)  # vectors of length 1 shrink as points are added
        return np.asarray(scale * new @ rotation)

    def find_neighbors(self, X: Any) -> sp.csr_array:
        """Return the distances of new rows to their neighbors among the rows of fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.

        Returns
        -------
        csr_array of shape (n_new, n_samples)
            Distances; what is stored is a neighbor, also at distance 0.
        """
        return self.graph_.distances_to(X)

    def known_rows(
        self, X: Any, found: sp.csr_array
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return which rows equal a row of fit, and that row's coordinates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.
        found : csr_array of shape (n_new, n_samples)
            Their neighbors, from :meth:`find_neighbors`, or some of them.

        Returns
        -------
        known : ndarray of shape (n_known,)
            Numbers of the rows.
        coordinates : ndarray of shape (n_known, n_components)
            The mean over all rows of fit that each equals.
        """
        return self._values_of_equal(X, found, self.embedding_)

    def place(
        self, X: Any, found: sp.csr_array, codes: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """Return where some neighbors place new rows, each row by itself.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.
        found : csr_array of shape (n_new, n_samples)
            Distances to the neighbors that count.
        codes : ndarray of shape (n_new,), default=None
            Class of every row by its number in ``classes_``, -1 for none; without effect where the
            map for new rows knows no classes.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Those of the extension, also for rows equal to rows of fit.
        """
        return self._extend(X, found)

    @abstractmethod
    def _adjacency(self, graph: NeighborGraph) -> SparseAdjacency:
        """Return the weights whose eigenvectors are the map."""

    def _set_map(self, graph: NeighborGraph, pairs: Eigenpairs) -> None:
        """Set the fitted attributes, from one row a node, the points last."""
        unit = 1.0 if self._problem == "degree" else float(np.median(graph.weights.sum(axis=1)))
        fragile = fragile_coordinates(pairs.values / unit)
        self.graph_ = graph
        self.eigenvalues_ = pairs.values
        self.embedding_ = pairs.vectors[-graph.n_points :]
        self.certificate_ = replace(pairs.certificate, fragile=fragile)

    @property
    def _problem(self) -> str:
        """Which eigenproblem is solved: L v = lambda D v by "degree", L v = lambda v by "none"."""
        return "degree"

    def _groups(self, n_points: int) -> NDArray[np.intp] | None:
        """Return groups of points that other nodes join, as :meth:`NeighborGraph.connected`."""
        return None

    def _vectors(self) -> NDArray[np.float64]:
        """Return the eigenvectors of the map, one row a node, the points last."""
        return self.embedding_

    def _solve(
        self,
        graph: NeighborGraph,
        adjacency: SparseAdjacency,
        n_components: int,
        progress: Progress,
    ) -> None:
        """Embed a connected graph by the eigenvectors of the adjacency made from it."""
        pairs = eigenmap(
            adjacency,
            n_components,
            normalization=self._problem,
            solver=self.eigen_solver,
            progress=progress,
        )
        self._set_map(graph, pairs)

    def _check_parameters(self, labels: PartialLabels) -> None:
        check_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
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
        One row a node.
    """
    nearby, order = adjacency.reordered()
    pairs = smallest_eigenpairs(
        nearby, n_components + 1, normalization=normalization, solver=solver, progress=progress
    )
    vectors = np.empty((adjacency.size, n_components))
    vectors[order] = pairs.vectors[:, 1:]
    return Eigenpairs(pairs.values[1:], vectors, pairs.certificate)


def _first_guess(graph: NeighborGraph, embedding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each new point's neighbours among the old, or 0 where it has none."""
    n_old = len(embedding)
    to_old = graph.weights[n_old:, :n_old]
    degrees = np.asarray(to_old.sum(axis=1), dtype=float)
    return np.asarray(to_old @ embedding) / np.where(degrees > 0, degrees, 1.0)[:, None]
