"""Laplacian eigenmaps with an extension to new rows (CCDR-MC section II.B.3 and eq. 37).

Two more parameters make them diffusion maps: ``density_exponent`` takes the sampling density out
of the weights, ``diffusion_time`` makes distances those of a random walk on the graph.
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
        examples=(
            {},
            {"n_components": 3, "normalization": "none", "weights": "binary"},
            {"density_exponent": 1.0, "diffusion_time": 1},
        ),
    )
)
class LaplacianEigenmaps(EigenmapEmbedder):
    """Laplacian eigenmaps: neighbors stay neighbors.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding.
    density_exponent : float, default=0.0
        From 0 to 1, the alpha of diffusion maps: each weight w_ij is divided by
        (q_i q_j)^density_exponent, where q are the degrees. 1 takes out how densely the points were
        sampled, 0 leaves the weights as they are. For ``normalization="degree"``.
    diffusion_time : float, default=None
        Multiply coordinate k by (1 - lambda_k)^diffusion_time, which gives the diffusion map of a
        walk of that many steps; None and 0 change nothing. For ``normalization="degree"``.
    n_neighbors : int, default=12
        Neighbors of every point; two points share an edge if either is a neighbor of the other.
    radius : float, default=None
        Connect all points within this distance instead of the nearest ones.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (a sparse matrix of neighbor distances as
        ``KNeighborsTransformer(mode="distance")`` returns it), or any metric of scikit-learn.
    weights : {"heat", "binary", "self-tuning", "shared"} or callable, default="heat"
        Weight of an edge of length d: exp(-d^2 / scale), 1, heat with a scale per point, this times
        the share of neighbors that both ends have, or ``weights(distances, scales)``.
    scale : "auto", float or array-like of shape (n_samples,), default="auto"
        Scale of the weights, one for all edges or one per point. "auto" is ten times the mean
        squared distance to the nearest distinct point.
    normalization : {"degree", "none"}, default="degree"
        Solve L v = lambda D v, or L v = lambda v.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` reports the recall.
    eigen_solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense up to 1,000 points; above, ARPACK for few dimensions and
        Chebyshev-filtered subspace iteration for many.
    random_state : int, RandomState instance or None, default=None
        Seed of the approximate search; None is a fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues lambda of the coordinates, ascending, without the trivial zero; 1 - lambda are
        those of the random walk.
    normalization_, density_exponent_, diffusion_time_
        The values of these parameters in fit.
    graph_ : NeighborGraph
        The graph, with bridges if it was not connected.
    certificate_ : EigenCertificate
        How good the solve is.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    CCDR : The same with labels.

    Notes
    -----
    Minimizes ``sum_ij w_ij |y_i - y_j|^2`` subject to ``Y^T D Y = I`` and ``Y^T D 1 = 0``
    (CCDR-2005 eq. 3); with ``normalization="none"`` D is replaced by I in both constraints.

    With ``density_exponent=a`` the weights in this problem, and in D, are ``w_ij / (q_i q_j)^a``.
    With ``diffusion_time=t`` and all n - 1 components, squared distances in the embedding are the
    diffusion distances ``sum_l (p_t(i, l) - p_t(j, l))^2 / d_l``, where p_t(i, l) is the
    probability that a random walk on the graph goes from i to l in t steps; fewer components leave
    out the terms that fade fastest.

    Degrees measure density only if neighborhoods end at a distance, not at a number of neighbors:
    use ``radius``, or heat with a ``scale`` that gives the last of ``n_neighbors`` little weight.
    In a binary graph of nearest neighbors all degrees are much alike, and ``density_exponent``
    changes little.

    Deviation: Coifman and Lafon give every point a weight to itself and divide by the share of
    all degrees, ``d_l / sum(d)``, in the distance. Here no point has a weight to itself, so
    1 - lambda can be negative, and the embedding is smaller by ``sqrt(sum(d))``.

    The cost is that of the neighbor search plus O(nnz) for each product with the weights; only
    the dense solver, for up to 1,000 points, makes an n x n array.

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
        density_exponent: float = 0.0,
        diffusion_time: float | None = None,
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
        self.density_exponent = density_exponent
        self.diffusion_time = diffusion_time
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
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        density, time = self.density_exponent, self.diffusion_time
        hint = ": 0 for weights as they are, 1 for weights without the sampling density"
        check_real("density_exponent", density, at_least=0, at_most=1, hint=hint)
        if time is not None:
            check_real("diffusion_time", time, at_least=0, hint=", or None")
        if self.normalization != "degree" and (density or time is not None):
            given = f"density_exponent={density!r}" if density else f"diffusion_time={time!r}"
            raise InputError(
                f"{given} needs normalization='degree', got normalization={self.normalization!r}: "
                "a random walk is defined only for 'degree'."
            )

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        self.normalization_ = self.normalization
        self.density_exponent_ = self.density_exponent
        self.diffusion_time_ = self.diffusion_time
        super()._embed(X, graph, labels, progress)

    @property
    def _normalization(self) -> str:
        return self.normalization_

    def _adjacency(self, graph: NeighborGraph) -> SparseAdjacency:
        weights = graph.adjacency
        if self.density_exponent_:
            power = self._degree_power(graph)
            weights = _divide(weights, power[row_numbers(weights)] * power[weights.indices])
        return SparseAdjacency(weights)

    def _set_embedding(self, graph: NeighborGraph, pairs: Eigenpairs) -> None:
        super()._set_embedding(graph, pairs)
        self._divisors = self._degree_power(graph) if self.density_exponent_ else None
        time, walk = self.diffusion_time_, 1 - pairs.values
        if time is None:
            return
        if np.any(walk < 0) and time != int(time):
            raise InputError(
                f"diffusion_time={time!r} must be a whole number here, since the random walk has "
                f"the negative eigenvalue {walk.min():.3g}: round it, or lower n_components to "
                f"{np.argmax(walk < 0)}."
            )
        self.embedding_ = self.embedding_ * walk**time

    def _extend(self, X: Any, distances: sp.csr_array) -> NDArray[np.float64]:
        relative = self.graph_.weigh(distances, relative=True)
        if self.normalization_ == "degree":
            if self._divisors is not None:
                # The new row's own degree is a common factor of its weights, and cancels.
                relative = _divide(relative, self._divisors[relative.indices])
            return extend_by_degree(relative, self.embedding_, self.eigenvalues_)
        degrees = np.asarray(self.graph_.weigh(distances, relative=False).sum(axis=1), dtype=float)
        return extend_unnormalized(relative, degrees, self.embedding_, self.eigenvalues_)

    def _degree_power(self, graph: NeighborGraph) -> NDArray[np.float64]:
        """Return what the weights at every point are divided by, q^density_exponent."""
        return np.asarray(graph.adjacency.sum(axis=1), dtype=float) ** self.density_exponent_


def _divide(weights: sp.csr_array, divisors: NDArray[np.float64]) -> sp.csr_array:
    """Return the weights with every stored entry divided by its own number."""
    data = weights.data / divisors
    return sp.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
