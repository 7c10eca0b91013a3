"""Supervised semidefinite embedding: classes keep their distances, and part (SSDE)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.checks import check_real
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.semidefinite.class_pairs import ClassPairs, find_class_pairs
from labelfold.semidefinite.unfolder import Unfolder
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread

__all__ = ["SupervisedSemidefiniteEmbedding"]


@declare(
    Declaration(
        "ssde",
        "supervised semidefinite embedding, for thousands of rows",
        labels="uses",
        produces="embedding",
        quick=False,
        agreement=1e-6,
        scales_with_data=True,
        reorders=False,
        only_in_fit=("gram_factor_", "edges_"),
        examples=({"n_neighbors": 2, "max_iter": 200},),
    )
)
class SupervisedSemidefiniteEmbedding(Unfolder):
    """Supervised semidefinite embedding: each class keeps its distances, and the classes part.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the map; "auto" takes the dimensions before the widest gap of the spectrum
        that hold 99 % of the variance.
    n_neighbors : int, default=4
        Neighbours of every point, of its own class, whose distances are kept; where either end
        counts the other. A smaller class keeps all its distances, with a warning.
    spread : float, default=10.0
        How far apart classes may move: their medoids at most so many times as far as the means of
        the classes are in the data. 1 leaves it about at that; the larger, the less there is to
        be seen but the class.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (all distances, as medoids need
        them), or any metric of scikit-learn; not all distances can be kept by points in space.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, at least ``n_components``. "auto" begins with as many
        as classes, and adds columns while they are used.
    solver : {"lowrank", "conic"}, default="lowrank"
        "conic" solves the convex program, for up to 400 points, and refuses more; it has no use
        for ``start``, ``max_iter`` and ``max_time``.
    start : str or ndarray of shape (n_samples, any), default="auto"
        Where the low-rank solver begins: "data", "geodesic" (as Isomap; "auto" takes it), "random",
        or coordinates such as an earlier ``gram_factor_``.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median, of
        those to be kept and of those between medoids apart.
    max_iter : int, default=20_000
        Steps of the low-rank solver.
    max_time : float, default=None
        Seconds after which its rounds stop; the best map so far is kept, with a warning.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick. Within classes the search is always exact.
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
        Eigenvalues of K, descending.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labelled point, sorted.
    medoids_ : ndarray of shape (n_classes,)
        Row of each class' medoid, the point with the least sum of distances to its class.
    edges_ : ndarray of shape (n_edges, 2)
        Pairs whose distances are kept.
    bridges_ : ndarray of shape (n_bridges, 2)
        Those among them that join pieces of a class, or unlabelled points, to the rest.
    certificate_ : UnfoldingCertificate
        How well ``gram_factor_`` keeps distances, the objective, and a bound that no map exceeds.
    history_ : dict of ndarray of shape (n_rounds,), or None
        How the low-rank solve went: steps ``n_iter`` and ``seconds`` so far, ``rank``,
        ``objective`` and distance ``error`` at the end of every round. None for
        ``solver="conic"``.
    extension_ : KernelRegression or LocalAverage
        The map for new points, with its error on left-out rows; fitted when first asked for.
    graph_ : NeighborGraph
        The neighbour graph of all points whatever their class, by which new rows are compared.
    n_components_, n_iter_ : int
        Dimension of the map, and steps of the solver.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    MaximumVarianceUnfolding : The same without labels.
    SupervisedLLE : Neighbours of the same class in locally linear embedding.

    Notes
    -----
    Maximises ``trace(K)`` over positive semidefinite, centred K subject to ``|r_i - r_j|^2 = |x_i -
    x_j|^2`` for neighbours of one class and ``|r_a - r_b| <= max(spread |m_a - m_b|, |x_a - x_b|)``
    for medoids a and b of two classes with means m_a and m_b. Where distances are not those of
    points in space, what they say of means takes their place.

    Deviation: the paper has no caps between medoids (Table 1). Its neighbour graph falls into the
    classes, which nothing holds together, so that the trace has no maximum. The data themselves
    satisfy all constraints here. Means are what classes are compared by, since medoids are single
    points, and most of what parts two of them is common to any two points. As the spread grows,
    the size of a class becomes nothing beside the distances between classes, and the map tends to
    one that shows the class alone: compare with regression on the labels where new points are to
    be classified.

    A class hangs by its medoid. All of it stretches outward, away from the middle of all classes,
    so that it is folded at the medoid: how far out a point lies is about its distance from there.
    How a class is turned about that direction changes no distance of the programme, and is as in
    the start.

    Pieces of a class are joined by their closest pairs, with a warning. An unlabelled point keeps
    its distances to neighbours of any class, and so do those it is a neighbour of. Where it lies
    between classes it holds them together: with few labels classes part little. Without labels this
    is :class:`MaximumVarianceUnfolding`, as it is with a single class that all points have.

    New points go through kernel regression onto the embedding, the paper's nonlinear regression,
    or through a local average where the metric has no kernel. To classify them, put any classifier
    behind: ``make_pipeline(SupervisedSemidefiniteEmbedding(10), KNeighborsClassifier(3))``.

    References
    ----------
    B. Zhang, J. Yan, N. Liu, Q. Cheng, Z. Chen and W.-Y. Ma, "Supervised semi-definite embedding
    for image manifolds", ICME 2005.

    Examples
    --------
    >>> from labelfold import SupervisedSemidefiniteEmbedding
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(300, n_classes=3, n_bands=3, random_state=0)
    >>> model = SupervisedSemidefiniteEmbedding(n_neighbors=5, random_state=0).fit(X, y)
    >>> model.certificate_.ok
    True
    >>> model.transform(X[:5] + 0.01).shape
    (5, 2)
    """

    local_angles = False

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_neighbors: int = 4,
        spread: float = 10.0,
        metric: Any = "euclidean",
        rank: int | str = "auto",
        solver: str = "lowrank",
        start: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 20_000,
        max_time: float | None = None,
        neighbor_search: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.spread = spread
        self.metric = metric
        self.rank = rank
        self.solver = solver
        self.start = start
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.neighbor_search = neighbor_search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _join(self, graph: NeighborGraph, groups: NDArray[np.intp] | None = None) -> NeighborGraph:
        return graph  # classes are joined one by one, by pairs of their own

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        found = find_class_pairs(graph, labels)
        if len(found.bridges):
            _warn_of_bridges(found, labels)
        self.classes_, self.medoids_ = labels.classes, found.medoids
        self.edges_ = np.concatenate([found.edges.pairs, found.bridges.pairs])
        self.bridges_ = found.bridges.pairs
        self._unfold(X, graph, self._class_problem(graph, found), progress)

    def _spread(self, graph: NeighborGraph) -> Spread:
        return Spread(variance=1.0)

    def _class_problem(self, graph: NeighborGraph, found: ClassPairs) -> DistanceProblem:
        kept = found.edges + found.bridges
        # Medoids may always be as far apart as they are, so that the data satisfy all constraints.
        caps = np.maximum(
            self.spread**2 * self._squares(found.means_apart), self._squares(found.caps.lengths)
        )
        return DistanceProblem(
            graph.n_points,
            np.concatenate([kept.pairs, found.caps.pairs]),
            np.concatenate([self._squares(kept.lengths), caps]),
            self._spread(graph),
            is_cap=np.repeat([False, True], [len(kept), len(caps)]),
        )

    def _usual_rank(self) -> int:
        # As far apart as they may be, medoids span as many dimensions.
        return max(super()._usual_rank(), len(self.classes_))

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        return PartialLabels.from_optional_y(y, n_samples=n_samples)

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        check_real("spread", self.spread, above=0, hint=", such as 10.0")


def _warn_of_bridges(found: ClassPairs, labels: PartialLabels) -> None:
    of_class = np.all(labels.mask[found.bridges.pairs], axis=1)
    classes = np.unique(labels.codes[found.bridges.pairs[of_class, 0]])
    parts = []
    if len(classes):
        parts.append(f"of {len(classes)} classes by {of_class.sum()}")
    if not of_class.all():
        parts.append(f"of unlabelled points by {np.sum(~of_class)}")
    warnings.warn(
        f"Neighbour graphs in pieces were joined by shortest edges (bridges_): "
        f"{', '.join(parts)}. More neighbours may do without.",
        DisconnectedGraphWarning,
        stacklevel=4,
    )
