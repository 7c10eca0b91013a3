"""The Laplacian's first eigenvectors as a basis of functions on a graph (LAPCLASS section 4).

One basis serves every choice of labeled rows and, truncated, every smaller number of vectors. The
graph need not be connected: its null vectors are the indicators of its components, which the
component numbers stand for, and the vectors kept here are orthogonal to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import GraphMismatchError
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import SparseAdjacency
from labelfold.methods import stored
from labelfold.progress import Progress, report_nothing
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen import smallest_eigenpairs

__all__ = ["LaplacianBasis"]

TOLERANCE = 1e-4  # on the residuals: a classifier gains nothing from more


@stored
@dataclass(frozen=True, eq=False)
class LaplacianBasis:
    """Eigenvectors of a graph's Laplacian with the smallest eigenvalues above zero.

    Make it with :meth:`compute`; the fields are read-only.

    Parameters
    ----------
    graph : NeighborGraph
        The graph; its ``connected_components`` stand for the vectors with eigenvalue zero.
    normalization : {"none", "degree"}
        L v = lambda v, or L v = lambda D v.
    eigenvalues : ndarray of shape (n_vectors,)
        In ascending order.
    vectors : ndarray of shape (n_samples, n_vectors)
        V with V^T V = I, or V^T D V = I; float32 if there are very many rows.
    certificate : EigenCertificate
        How good the solve is.
    """

    graph: NeighborGraph
    normalization: str
    eigenvalues: NDArray[np.float64] = field(repr=False)
    vectors: NDArray[np.float64] = field(repr=False)
    certificate: EigenCertificate

    @classmethod
    def compute(
        cls,
        graph: NeighborGraph,
        n_vectors: int,
        *,
        normalization: str = "none",
        eigen_solver: str = "auto",
        tol: float = TOLERANCE,
        progress: Progress = report_nothing,
    ) -> LaplacianBasis:
        """Solve for the first vectors above the null space.

        Parameters
        ----------
        graph : NeighborGraph
            The graph, in any number of components.
        n_vectors : int
            How many; fewer if the graph has no more.
        normalization : {"none", "degree"}, default="none"
            L v = lambda v, or L v = lambda D v.
        eigen_solver : str, default="auto"
            See :func:`labelfold.solvers.eigen.smallest_eigenpairs`.
        tol : float, default=1e-4
            Residual to reach, with the operator's spectrum scaled to [-1, 1].
        progress : Progress
            Called while the solver works.
        """
        adjacency, order = SparseAdjacency(graph.adjacency).reordered()
        components = graph.connected_components[order]
        n_vectors = min(n_vectors, adjacency.size - (int(components.max()) + 1))
        pairs = smallest_eigenpairs(
            adjacency,
            n_vectors,
            normalization=normalization,
            components=components,
            skip_zeros=True,
            solver=eigen_solver,
            tol=tol,
            progress=progress,
        )
        vectors = np.empty_like(pairs.vectors)
        vectors[order] = pairs.vectors
        return cls(graph, normalization, pairs.values, vectors, pairs.certificate)

    @property
    def n_vectors(self) -> int:
        """Number of vectors."""
        return len(self.eigenvalues)

    def check_matches(self, graph: NeighborGraph | None, normalization: str) -> None:
        """Raise :class:`GraphMismatchError` unless computed from ``graph`` with ``normalization``.

        Parameters
        ----------
        graph : NeighborGraph or None
            None matches any graph.
        normalization : {"none", "degree"}
            Of the estimator.
        """
        if normalization != self.normalization:
            raise GraphMismatchError(
                f"The basis was computed with normalization={self.normalization!r}, and the "
                f"estimator has normalization={normalization!r}: set the same, or recompute the "
                "basis."
            )
        if graph is None or graph is self.graph:
            return
        given, own = graph.adjacency, self.graph.adjacency
        parts = ("indptr", "indices", "data")
        if not all(np.array_equal(getattr(given, part), getattr(own, part)) for part in parts):
            raise GraphMismatchError(
                "The basis was computed from another graph than the one given: leave out graph, "
                "or compute the basis from it."
            )

    def truncated(self, n_vectors: int) -> LaplacianBasis:
        """Return the first vectors, without another solve and without a copy."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[:n_vectors],
            vectors=self.vectors[:, :n_vectors],
            certificate=self.certificate.first(n_vectors),
        )
