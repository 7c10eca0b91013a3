"""Maximum variance unfolding and maximum furthest neighbor unfolding (ISM section 2)."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.graph import NeighborGraph
from labelfold.graph.local_pairs import local_pairs
from labelfold.methods import Declaration, declare
from labelfold.semidefinite.unfolder import Unfolder, furthest_spread
from labelfold.solvers.lowrank.distances import Spread

__all__ = ["FurthestNeighborUnfolding", "MaximumVarianceUnfolding"]


@declare(
    Declaration(
        "mvu",
        "maximum variance unfolding, for thousands of rows",
        labels="ignores",
        produces="embedding",
        quick=False,
        agreement=1e-6,
        scales_with_data=True,
        reorders=False,
        only_in_fit=("gram_factor_",),
        examples=({"max_iter": 300},),
    )
)
class MaximumVarianceUnfolding(Unfolder):
    """Maximum variance unfolding: neighbors keep their distances, all other rows move apart.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the embedding; "auto" takes the dimensions before the widest gap of the
        spectrum that hold 99 % of the variance.
    local_angles : bool, default=False
        Also keep the distances between the neighbors of every point, and with them the angles.
    n_neighbors : int, default=5
        Neighbors of every point; a distance is kept if either point is a neighbor of the other.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (a sparse matrix of neighbor
        distances as ``KNeighborsTransformer(mode="distance")`` returns it), or any metric of
        scikit-learn; points in space cannot keep all distances.
    solver : {"lowrank", "conic"}, default="lowrank"
        "conic" solves the convex program, for up to 400 rows, and raises an error for more; it
        ignores ``init`` and ``max_iter``.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, at least ``n_components``. Few are quicker, but may
        not be enough: a roll of 1,500 rows can't be kept in 2, and hardly in 3. "auto" adds
        columns while they are used.
    init : str or ndarray of shape (n_samples, any), default="auto"
        Start of the low-rank solver: "data", "geodesic" (as Isomap; "auto" takes it), "random",
        or coordinates such as an earlier ``gram_factor_``.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median.
    max_iter : int, default=20_000
        Steps of the low-rank solver; after them the best embedding so far is kept, with a warning.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise that revives dimensions, of starts and searches; None is a fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr: objective and distance error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows: leading eigenvectors of K times the roots of their eigenvalues.
    gram_factor_ : ndarray of shape (n_samples, rank)
        R with K = R R^T, along principal axes.
    spectrum_ : ndarray of shape (rank,)
        Eigenvalues of K, descending: those that stand out are the dimensions of the data.
    certificate_ : UnfoldingCertificate
        How well ``gram_factor_`` keeps distances, the objective, and an upper bound on it.
    history_ : dict of ndarray of shape (n_rounds,), or None
        Course of the low-rank solve: steps ``n_iter`` and ``seconds`` so far, ``rank``,
        ``objective`` and distance ``error`` at the end of every round. None for
        ``solver="conic"``.
    extension_ : KernelRegression or LocalAverage
        The extension to new rows, with its error on left-out rows; fitted on first use.
    graph_ : NeighborGraph
        The graph, with bridges if it was not connected.
    n_components_, n_iter_ : int
        Dimension of the embedding, and steps of the solver.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    FurthestNeighborUnfolding : Moves every row away from its furthest one only.

    Notes
    -----
    Maximizes ``trace(K)`` over positive semidefinite, centered K subject to
    ``K_ii - 2 K_ij + K_jj = |x_i - x_j|^2`` for neighbors (ISM eq. 1; also known as
    semidefinite embedding). The low-rank solver works on ``K = R R^T`` (ISM eq. 4) at a cost of
    O(n k rank) per step, without any n x n array. The problem in R is not convex:
    ``certificate_.gap`` bounds how far the result is from the best embedding of any rank.

    A graph of several components has no best embedding, as components can move apart without end:
    their shortest bridges are added, with a warning.

    Equal rows become one point. New rows go through kernel regression onto the embedding (the
    nonlinear regression of SSDE), or through a local average if the metric has no kernel.

    References
    ----------
    K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by semidefinite
    programming", International Journal of Computer Vision 70, 2006.

    Examples
    --------
    >>> from labelfold import MaximumVarianceUnfolding
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, _, _ = make_swiss_roll(300, random_state=0)
    >>> model = MaximumVarianceUnfolding(n_components="auto", random_state=0).fit(X)
    >>> model.n_components_
    2
    >>> model.certificate_.errors.rms_squared < 1e-3
    True
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        local_angles: bool = False,
        n_neighbors: int = 5,
        metric: Any = "euclidean",
        solver: str = "lowrank",
        rank: int | str = "auto",
        init: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 20_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.local_angles = local_angles
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.solver = solver
        self.rank = rank
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _edges(self, graph: NeighborGraph) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        return local_pairs(graph) if self.local_angles else super()._edges(graph)


@declare(
    Declaration(
        "mfnu",
        "furthest neighbor unfolding, for thousands of rows",
        labels="ignores",
        produces="embedding",
        quick=False,
        agreement=1e-6,
        scales_with_data=True,
        reorders=False,
        only_in_fit=("gram_factor_",),
        examples=({"n_components": 1, "rank": 3, "local_angles": True, "max_iter": 300},),
    )
)
class FurthestNeighborUnfolding(MaximumVarianceUnfolding):
    """Maximum furthest neighbor unfolding: rows move away from those furthest from them.

    Parameters and attributes are those of MaximumVarianceUnfolding.

    See Also
    --------
    MaximumVarianceUnfolding : Moves all rows apart.

    Notes
    -----
    Maximizes ``sum_i |r_i - r_f(i)|^2`` subject to the constraints of maximum variance unfolding,
    where f(i) is the row furthest from i in the data (ISM section 2). The furthest rows are
    found exactly. Solver, certificate and extension are those of
    :class:`MaximumVarianceUnfolding`.

    If one row is furthest from all others of a region, only that row pulls: without a pull of
    their own, rows in between may lie anywhere their neighbors allow.

    References
    ----------
    N. Vasiloglou, A. G. Gray and D. V. Anderson, "Scalable semidefinite manifold learning", MLSP
    2008.

    Examples
    --------
    >>> from labelfold import FurthestNeighborUnfolding
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, _, _ = make_swiss_roll(300, random_state=0)
    >>> model = FurthestNeighborUnfolding(random_state=0).fit(X)
    >>> model.embedding_.shape
    (300, 2)
    """

    def _spread(self, graph: NeighborGraph) -> Spread:
        return furthest_spread(graph)


# Written once, in the parent's docstring; help and documentation show them in both.
_shared = (inspect.getdoc(MaximumVarianceUnfolding) or "").partition("Parameters\n")
FurthestNeighborUnfolding.__doc__ = (inspect.getdoc(FurthestNeighborUnfolding) or "").replace(
    "Parameters and attributes are those of MaximumVarianceUnfolding.",
    (_shared[1] + _shared[2].partition("See Also\n")[0]).rstrip(),
)
