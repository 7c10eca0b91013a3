"""Maximum variance unfolding and maximum furthest neighbour unfolding (ISM section 2)."""

from __future__ import annotations

from labelfold.graph import NeighborGraph
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
    """Maximum variance unfolding: neighbours keep their distances, all else moves apart.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the map; "auto" takes the dimensions before the widest gap of the spectrum
        that hold 99 % of the variance.
    n_neighbors : int, default=5
        Neighbours of every point whose distances are kept; where either end counts the other.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (a sparse matrix of neighbour
        distances as ``KNeighborsTransformer(mode="distance")`` makes it), or any metric of
        scikit-learn; not all distances can be kept by points in space.
    local_angles : bool, default=False
        Keep the distances between the neighbours of every point too, and with them the angles.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, at least ``n_components``. Few are quicker, but may
        not suffice: a roll of 1,500 points can't be kept in 2, and hardly in 3. "auto" adds
        columns while they are used.
    solver : {"lowrank", "conic"}, default="lowrank"
        "conic" solves the convex program, for up to 400 points, and refuses more; it has no use
        for ``start``, ``max_iter`` and ``max_time``.
    start : str or ndarray of shape (n_samples, any), default="auto"
        Where the low-rank solver begins: "data", "geodesic" (as Isomap; "auto" takes it), "random",
        or coordinates such as an earlier ``gram_factor_``.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median.
    max_iter : int, default=20_000
        Steps of the low-rank solver.
    max_time : float, default=None
        Seconds after which its rounds stop; the best map so far is kept, with a warning.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` tells the recall.
    random_state : int, RandomState instance or None, default=None
        Fixes the noise that revives dimensions, and what else is drawn.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr: objective and distance error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map: leading eigenvectors of K times the roots of their eigenvalues.
    gram_factor_ : ndarray of shape (n_samples, rank)
        R with K = R R^T, along principal axes.
    spectrum_ : ndarray of shape (rank,)
        Eigenvalues of K, descending: those that stand out are the dimensions of the data.
    certificate_ : UnfoldingCertificate
        How well ``gram_factor_`` keeps distances, the objective, and a bound that no map exceeds.
    history_ : dict of ndarray of shape (n_rounds,), or None
        How the low-rank solve went: steps ``n_iter`` and ``seconds`` so far, ``rank``,
        ``objective`` and distance ``error`` at the end of every round. None for
        ``solver="conic"``.
    extension_ : KernelRegression or LocalAverage
        The map for new points, with its error on left-out rows; fitted when first asked for.
    graph_ : NeighborGraph
        The graph, with bridges where it was not connected.
    n_components_, n_iter_ : int
        Dimension of the map, and steps of the solver.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    FurthestNeighborUnfolding : Pulls every point away from its furthest one only.

    Notes
    -----
    Maximises ``trace(K)`` over positive semidefinite, centred K subject to ``K_ii - 2 K_ij + K_jj =
    |x_i - x_j|^2`` for neighbours (ISM eq. 1; also known as semidefinite embedding). The low-rank
    solver works on ``K = R R^T`` (ISM eq. 4) at a cost of O(n k rank) a step, without any n x n
    array. The problem in R is not convex: ``certificate_.gap`` tells how far from the best map of
    any rank the result can be at most.

    A graph in several pieces would have no best map, as pieces can be moved apart without end:
    they are joined by their shortest bridges, with a warning.

    Equal rows become one point. New points go through kernel regression onto the embedding (the
    nonlinear regression of SSDE), or through a local average where the metric has no kernel.

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

    def _spread(self, graph: NeighborGraph) -> Spread:
        return Spread(variance=1.0)


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
class FurthestNeighborUnfolding(Unfolder):
    """Maximum furthest neighbour unfolding: points part from those furthest away.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the map; "auto" takes the dimensions before the widest gap of the spectrum
        that hold 99 % of the variance.
    n_neighbors : int, default=5
        Neighbours of every point whose distances are kept; where either end counts the other.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (a sparse matrix of neighbour
        distances as ``KNeighborsTransformer(mode="distance")`` makes it), or any metric of
        scikit-learn; not all distances can be kept by points in space.
    local_angles : bool, default=False
        Keep the distances between the neighbours of every point too, and with them the angles.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, at least ``n_components``. Few are quicker, but may
        not suffice: a roll of 1,500 points can't be kept in 2, and hardly in 3. "auto" adds
        columns while they are used.
    solver : {"lowrank", "conic"}, default="lowrank"
        "conic" solves the convex program, for up to 400 points, and refuses more; it has no use
        for ``start``, ``max_iter`` and ``max_time``.
    start : str or ndarray of shape (n_samples, any), default="auto"
        Where the low-rank solver begins: "data", "geodesic" (as Isomap; "auto" takes it), "random",
        or coordinates such as an earlier ``gram_factor_``.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median.
    max_iter : int, default=20_000
        Steps of the low-rank solver.
    max_time : float, default=None
        Seconds after which its rounds stop; the best map so far is kept, with a warning.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` tells the recall.
    random_state : int, RandomState instance or None, default=None
        Fixes the noise that revives dimensions, and what else is drawn.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr: objective and distance error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map: leading eigenvectors of K times the roots of their eigenvalues.
    gram_factor_ : ndarray of shape (n_samples, rank)
        R with K = R R^T, along principal axes.
    spectrum_ : ndarray of shape (rank,)
        Eigenvalues of K, descending: those that stand out are the dimensions of the data.
    certificate_ : UnfoldingCertificate
        How well ``gram_factor_`` keeps distances, the objective, and a bound that no map exceeds.
    history_ : dict of ndarray of shape (n_rounds,), or None
        How the low-rank solve went: steps ``n_iter`` and ``seconds`` so far, ``rank``,
        ``objective`` and distance ``error`` at the end of every round. None for
        ``solver="conic"``.
    extension_ : KernelRegression or LocalAverage
        The map for new points, with its error on left-out rows; fitted when first asked for.
    graph_ : NeighborGraph
        The graph, with bridges where it was not connected.
    n_components_, n_iter_ : int
        Dimension of the map, and steps of the solver.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    MaximumVarianceUnfolding : Moves all points apart.

    Notes
    -----
    Maximises ``sum_i |r_i - r_f(i)|^2`` subject to the constraints of maximum variance unfolding,
    where f(i) is the point furthest from i among the data (ISM section 2). The furthest points are
    found exactly. Solver, certificate and new points are those of
    :class:`MaximumVarianceUnfolding`.

    Where one point is furthest from all others of a part, only that point pulls: without a pull of
    their own, points in between may lie anywhere their neighbours let them.

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
