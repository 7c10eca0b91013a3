"""Laplacian eigenmaps with a map for new points (CCDR-MC section II.B.3 and eq. 37).

With two parameters more they are diffusion maps: ``density`` takes the sampling density out of the
weights, ``diffusion_time`` makes distances in the map those of a random walk on the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.checks import check_choice, check_real
from labelfold.exceptions import InputError
from labelfold.extend.nystrom import extend_by_degree, extend_unnormalized
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import SparseAdjacency, row_numbers
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.solvers.eigen import NORMALIZATIONS, Eigenpairs
from labelfold.spectral.eigenmap import EigenmapEmbedder

__all__ = ["LaplacianEigenmaps"]


@declare(
    Declaration(
        "eigenmaps",
        "Laplacian eigenmaps",
        labels="ignores",
        produces="embedding",
        examples=({}, {"n_components": 3, "normalization": "none", "weights": "binary"}),
    )
)
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
    density : float, default=0.0
        From 0 to 1, the alpha of diffusion maps: each weight w_ij is divided by
        (q_i q_j)^density, where q are the degrees. 1 takes out how densely the points were
        sampled, 0 leaves the weights as they are; for ``normalization="degree"``.
    diffusion_time : float, default=None
        Multiply coordinate k by (1 - lambda_k)^diffusion_time, which makes a diffusion map of
        so many steps; None and 0 multiply by nothing. For ``normalization="degree"``.
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
        Its eigenvalues lambda, ascending, without the trivial zero; 1 - lambda are those of the
        random walk.
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

    With ``density`` the weights in this problem, and in D, are ``w_ij / (q_i q_j)^density``. With
    ``diffusion_time=t`` and all n - 1 components, squared distances in the map are the diffusion
    distances ``sum_l (p_t(i, l) - p_t(j, l))^2 / d_l``, where p_t(i, l) is the probability that a
    random walk on the graph goes from i to l in t steps; fewer components leave out the terms
    that fade fastest.

    Degrees tell the density only where neighbourhoods end at a distance, and not at a number of
    neighbours: use ``radius``, or heat with a ``scale`` for which the last of ``n_neighbors``
    weighs little. In a binary graph of nearest neighbours all degrees are much alike, and
    ``density`` changes little.

    Deviation: Coifman and Lafon give every point a weight to itself and divide by the share of
    all degrees, ``d_l / sum(d)``, in the distance. Here there are no weights from a point to
    itself, so that 1 - lambda can be negative, and the map is smaller by ``sqrt(sum(d))``.

    The cost is that of the neighbour search plus O(nnz) for each product with the weights; no
    n x n array is made beyond the dense solver's 1,000 points.

    References
    ----------
    R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 21,
    2006.

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
        density: float = 0.0,
        diffusion_time: float | None = None,
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
        self.density = density
        self.diffusion_time = diffusion_time
        self.neighbor_search = neighbor_search
        self.eigen_solver = eigen_solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        density, time = self.density, self.diffusion_time
        hint = ": 0 for weights as they are, 1 for weights without the sampling density"
        check_real("density", density, at_least=0, at_most=1, hint=hint)
        if time is not None:
            check_real("diffusion_time", time, at_least=0, hint=", or None")
        if self.normalization != "degree" and (density or time is not None):
            given = f"density={density!r}" if density else f"diffusion_time={time!r}"
            raise InputError(
                f"{given} is for normalization='degree', got "
                f"normalization={self.normalization!r}: a random walk is defined only there."
            )

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        self._solve(graph, self._adjacency(graph), self.n_components, progress)

    @property
    def _problem(self) -> str:
        return self.normalization

    def _adjacency(self, graph: NeighborGraph) -> SparseAdjacency:
        weights = graph.weights
        if self.density:
            power = self._degree_power(graph)
            weights = _divided(weights, power[row_numbers(weights)] * power[weights.indices])
        return SparseAdjacency(weights)

    def _set_map(self, graph: NeighborGraph, pairs: Eigenpairs) -> None:
        super()._set_map(graph, pairs)
        self.embedding_ = self._after_steps(self.embedding_, pairs.values)
        self._divisors = self._degree_power(graph) if self.density else None

    def _extend(self, X: Any, found: sp.csr_array) -> NDArray[np.float64]:
        relative = self.graph_.weigh(found, relative=True)
        if self.normalization == "degree":
            if self._divisors is not None:
                # The new point's own degree is a common factor of its weights, and cancels.
                relative = _divided(relative, self._divisors[relative.indices])
            return extend_by_degree(relative, self.embedding_, self.eigenvalues_)
        degrees = np.asarray(self.graph_.weigh(found, relative=False).sum(axis=1), dtype=float)
        return extend_unnormalized(relative, degrees, self.embedding_, self.eigenvalues_)

    def _degree_power(self, graph: NeighborGraph) -> NDArray[np.float64]:
        """Return what the weights at every point are divided by, q^density."""
        return np.asarray(graph.weights.sum(axis=1), dtype=float) ** self.density

    def _after_steps(
        self, vectors: NDArray[np.float64], eigenvalues: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the coordinates scaled as a random walk of ``diffusion_time`` steps does."""
        time = self.diffusion_time
        if time is None:
            return vectors
        walk = 1 - eigenvalues
        if np.any(walk < 0) and time != int(time):
            n_positive = int(np.argmax(walk < 0))
            raise InputError(
                f"diffusion_time={time!r} must be a whole number here, since the random walk has "
                f"the negative eigenvalue {walk.min():.3g}: round it, or lower n_components to "
                f"{n_positive}."
            )
        return np.asarray(vectors * walk**time)


def _divided(weights: sp.csr_array, divisors: NDArray[np.float64]) -> sp.csr_array:
    """Return the weights with every stored entry divided by its own number."""
    data = weights.data / divisors
    return sp.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
