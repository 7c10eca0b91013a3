"""What spectral embeddings share: their coordinates are eigenvectors of a graph.

Eigenvectors come in ascending order of their eigenvalues, without the constant one, so an embedding
of few dimensions is the beginning of one of more.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_choice, check_integer
from labelfold.exceptions import InputError
from labelfold.fit_memory import FitMemory
from labelfold.graph import NeighborGraph
from labelfold.graph.added_rows import add_rows
from labelfold.graph.adjacency import SparseAdjacency
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

__all__ = ["EigenmapEmbedder"]

Array = NDArray[np.float64]

USUAL_COMPONENTS = 10  # at most, where the number follows from the data


class EigenmapEmbedder(GraphEmbedder):
    """Base of embedders whose coordinates are eigenvectors in ascending order.

    A subclass says in ``_adjacency`` which weights the eigenvectors belong to.
    """

    _keeps_type: ClassVar[bool] = True
    embedding_: Array
    eigenvalues_: Array
    certificate_: EigenCertificate

    def truncated(self, n_components: int) -> Self:
        """Return the fitted embedding of fewer dimensions, without another solve.

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
        check_integer("n_components", n_components, least=1)
        if n_components > n_fitted:
            raise InputError(
                f"n_components={n_components} must be at most {n_fitted}, the number of fitted "
                "components: fit again for more."
            )
        kept = copy.copy(self)
        kept.n_components = n_components
        kept._truncate(n_components)
        return kept

    def with_rows(self, X: Any, *, n_steps: int = 2) -> Self:
        """Return the embedding of the training rows and new rows together, close to a joint fit.

        New rows become points of the graph, with edges among themselves and to the training rows;
        a few steps of subspace iteration then update the embedding.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            New rows, all taken as unlabeled.
        n_steps : int, default=2
            Number of products with the graph's weights. More steps come closer to a fit of all
            rows; on Landsat 2 were enough for its errors, with either head.

        Returns
        -------
        estimator
            A fitted copy. Its ``embedding_`` has the new rows after the training rows; its
            ``certificate_`` says how close the vectors are to eigenvectors.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        check_integer("n_steps", n_steps, least=1)
        joint = copy.copy(self)
        # Products are small here: threads of the linear algebra would wait for each other.
        with limit_threads(self.n_jobs), limit_threads(1, user_api="blas"):
            graph = add_rows(self.graph_, X)
            graph = self._bridge(graph, self._groups(self._padded_labels(graph.n_points)))
            pairs = refined_eigenpairs(
                self._adjacency(graph),
                np.vstack([self._vectors(), _neighbor_means(graph, self.embedding_)]),
                self.eigenvalues_,
                normalization=self._normalization,
                n_steps=int(n_steps),
            )
            joint._set_embedding(graph, pairs)
        return joint

    def transform_jointly(self, X: Any, *, n_steps: int = 2) -> Array:
        """Embed new rows together: they see each other, and the training rows see them.

        The coordinates of a row depend on the other rows, unlike in :meth:`transform`. This costs
        more than :meth:`transform` and less than a fit of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            New rows. Not for ``metric="precomputed"``, which gives no distances among them.
        n_steps : int, default=2
            As for :meth:`with_rows`, which computes the joint embedding.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            The joint embedding, rotated and scaled to bring the training rows as close to
            ``embedding_`` as possible: heads fitted there work on it.
        """
        joint = self.with_rows(X, n_steps=n_steps)
        fitted, new = np.split(joint.embedding_, [len(self.embedding_)])
        rotation, overlap = orthogonal_procrustes(fitted, self.embedding_)
        squares = np.sum(fitted**2) or 1.0  # a long diffusion takes all coordinates to 0
        scale = overlap / squares  # vectors of length 1 shrink as points are added
        return np.asarray(scale * new @ rotation)

    def embed_from_neighbors(
        self, X: Any, distances: sp.csr_array, codes: NDArray[np.intp] | None = None
    ) -> Array:
        """Embed new rows by the given neighbors, each row by itself.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            New rows.
        distances : csr_array of shape (n_new, n_samples)
            Distances to some neighbors of each row, as from ``graph_.distances_to(X)``.
        codes : ndarray of shape (n_new,), default=None
            Class of every row by its number in ``classes_``, -1 for none; no effect if the
            extension does not use classes.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            With codes, every row goes through the extension; without, a row equal to a training
            row gets that row's coordinates, as in :meth:`transform`.
        """
        coordinates = self._extend(X, distances)
        if codes is None:
            equal, own = self.graph_.values_of_equal(X, distances, self.embedding_)
            coordinates[equal] = own
        return coordinates

    @abstractmethod
    def _adjacency(self, graph: NeighborGraph) -> SparseAdjacency:
        """Return the weights whose eigenvectors are the embedding."""

    @property
    def _normalization(self) -> str:
        """The eigenproblem: L v = lambda D v for "degree", L v = lambda v for "none"."""
        return "degree"

    def _memory(self, X: Any, labels: PartialLabels, graph: NeighborGraph | None) -> FitMemory:
        memory = super()._memory(X, labels, graph)
        given = self.n_components
        n_components = given if isinstance(given, Integral) else USUAL_COMPONENTS
        memory.add_eigenvectors(self._expected_neighbors(X), int(n_components) + 1)
        return memory

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        self._solve(graph, self.n_components, progress)

    def _solve(self, graph: NeighborGraph, n_components: int, progress: Progress) -> None:
        """Set the fitted attributes from the eigenvectors of a connected graph."""
        adjacency, order = self._adjacency(graph).reordered()
        pairs = smallest_eigenpairs(
            adjacency,
            n_components + 1,
            normalization=self._normalization,
            solver=self.eigen_solver,
            progress=progress,
        )
        vectors = np.empty((adjacency.size, n_components))
        vectors[order] = pairs.vectors[:, 1:]  # the constant one comes first
        self._set_embedding(graph, Eigenpairs(pairs.values[1:], vectors, pairs.certificate))

    def _set_embedding(self, graph: NeighborGraph, pairs: Eigenpairs) -> None:
        """Set the fitted attributes from vectors with one row per node, the points last."""
        unit = 1.0
        if self._normalization == "none":
            unit = float(np.median(graph.adjacency.sum(axis=1)))
        self.graph_ = graph
        self.eigenvalues_ = pairs.values
        self.embedding_ = pairs.vectors[-graph.n_points :]
        self.certificate_ = replace(
            pairs.certificate, fragile=fragile_coordinates(pairs.values / unit)
        )

    def _padded_labels(self, n_points: int) -> PartialLabels:
        """Return the labels of fit, followed by unlabeled points."""
        return PartialLabels.none(n_points)

    def _vectors(self) -> Array:
        """Return the eigenvectors, one row per node, the points last."""
        return self.embedding_

    def _truncate(self, n_components: int) -> None:
        """Cut the fitted attributes to the first coordinates."""
        self.embedding_ = self.embedding_[:, :n_components]
        self.eigenvalues_ = self.eigenvalues_[:n_components]
        self.certificate_ = replace(
            self.certificate_.first(n_components + 1),  # the constant one comes first
            fragile=tuple(c for c in self.certificate_.fragile if c < n_components),
        )

    def _check_parameters(self, labels: PartialLabels) -> None:
        check_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        super()._check_parameters(labels)


def _neighbor_means(graph: NeighborGraph, embedding: Array) -> Array:
    """Return the mean of each new row's neighbors in the old embedding, or 0 if it has none."""
    n_old = len(embedding)
    to_old = graph.adjacency[n_old:, :n_old]
    degrees = np.asarray(to_old.sum(axis=1), dtype=float)
    return np.asarray(to_old @ embedding) / np.where(degrees > 0, degrees, 1.0)[:, None]
