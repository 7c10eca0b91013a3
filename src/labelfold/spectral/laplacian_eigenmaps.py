"""Laplacian eigenmaps with a map for new points (CCDR-MC section II.B.3 and eq. 37)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.extend.nystrom import extend_by_degree, extend_unnormalized
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import SparseAdjacency
from labelfold.labels import PartialLabels
from labelfold.progress import Progress
from labelfold.solvers.eigen import check_normalization
from labelfold.spectral.eigenmap import EigenmapEmbedder, eigenmap

__all__ = ["LaplacianEigenmaps"]


class LaplacianEigenmaps(EigenmapEmbedder):
    """Laplacian eigenmaps: neighbours stay neighbours.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    n_neighbors : int, default=12
        Neighbours of every point; an edge stands where either end counts the other.
    radius : float, default=None
        Join all points up to this distance instead of the nearest ones.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (a sparse matrix of neighbour distances as
        ``KNeighborsTransformer(mode="distance")`` makes it), or any metric of scikit-learn.
    weights : {"heat", "binary"} or callable, default="heat"
        Weight of an edge of length d: exp(-d^2 / scale), 1, or ``weights(distances, scales)``.
    scale : "auto", float or array-like of shape (n_samples,), default="auto"
        Scale of the weights, for all edges or for every point. "auto" is ten times the mean
        squared distance to the nearest distinct point.
    normalization : {"degree", "none"}, default="degree"
        Solve L v = lambda D v, or L v = lambda v.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` tells the recall.
    eigen_solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense up to 1,000 points; beyond, ARPACK for few dimensions and
        Chebyshev-filtered subspace iteration for many.
    random_state : int, RandomState instance or None, default=None
        Fixes the approximate search; nothing else is random.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    eigenvalues_ : ndarray of shape (n_components,)
        Its eigenvalues, ascending, without the trivial zero.
    graph_ : NeighborGraph
        The graph, with bridges where it was not connected.
    certificate_ : EigenCertificate
        How good the solve is.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    CCDR : The same with labels.

    Notes
    -----
    Minimises ``sum_ij w_ij |y_i - y_j|^2`` subject to ``Y^T D Y = I`` and ``Y^T D 1 = 0``
    (CCDR-2005 eq. 3); with ``normalization="none"`` D is replaced by I in both constraints.

    The cost is that of the neighbour search plus O(nnz) for each product with the weights; no
    n x n array is made beyond the dense solver's 1,000 points.

    References
    ----------
    M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
    representation", Neural Computation 15, 2003.

    Examples
    --------
    >>> from labelfold import LaplacianEigenmaps
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, _, _ = make_swiss_roll(500, random_state=0)
    >>> model = LaplacianEigenmaps(n_components=2).fit(X[:400])
    >>> model.embedding_.shape, model.transform(X[400:]).shape
    ((400, 2), (100, 2))
    >>> model.certificate_.ok
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 12,
        radius: float | None = None,
        metric: Any = "euclidean",
        weights: Any = "heat",
        scale: Any = "auto",
        normalization: str = "degree",
        neighbor_search: str = "auto",
        eigen_solver: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.weights = weights
        self.scale = scale
        self.normalization = normalization
        self.neighbor_search = neighbor_search
        self.eigen_solver = eigen_solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        check_normalization(self.normalization)

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        graph = self._join(graph)
        pairs = eigenmap(
            SparseAdjacency(graph.weights),
            self.n_components,
            normalization=self.normalization,
            solver=self.eigen_solver,
            progress=progress,
        )
        self.graph_ = graph
        self.eigenvalues_ = pairs.values
        self.embedding_ = pairs.vectors
        self.certificate_ = pairs.certificate

    def _extend(self, X: Any, found: sp.csr_array) -> NDArray[np.float64]:
        relative = self.graph_.weigh(found, relative=True)
        if self.normalization == "degree":
            return extend_by_degree(relative, self.embedding_, self.eigenvalues_)
        degrees = np.asarray(self.graph_.weigh(found, relative=False).sum(axis=1), dtype=float)
        return extend_unnormalized(relative, degrees, self.embedding_, self.eigenvalues_)
