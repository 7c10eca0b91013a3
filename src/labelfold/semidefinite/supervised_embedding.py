"""Supervised semidefinite embedding: classes keep their distances and move apart (SSDE)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.checks import check_real
from labelfold.exceptions import DisconnectedGraphWarning, warn_user
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.semidefinite.class_pairs import find_class_pairs
from labelfold.semidefinite.unfolder import Unfolder
from labelfold.solvers.lowrank.distances import DistanceProblem

__all__ = ["SupervisedSemidefiniteEmbedding"]

LARGEST_SPREAD = 1e10  # whose square leaves distances digits


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
    """Supervised semidefinite embedding: classes keep their distances and move apart.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the embedding; "auto" takes the dimensions before the widest gap of the
        spectrum that hold 99 % of the variance.
    class_spread : float, default=10.0
        How far apart classes may move: their medoids at most this many times as far as the means
        of the classes are in the data. 1 leaves classes about where they are; the larger, the
        less the embedding shows but the class. At most 1e10.
    n_neighbors : int, default=4
        Neighbors of every row, of its own class; a distance is kept if either row is a neighbor of
        the other. A smaller class keeps all its distances, with a warning.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (all distances, since medoids
        need them), or any metric of scikit-learn; points in space cannot keep all distances.
    solver : {"lowrank", "conic"}, default="lowrank"
        "conic" solves the convex program, for up to 400 rows, and raises an error for more; it
        ignores ``init`` and ``max_iter``.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, at least ``n_components``. "auto" begins with one per
        class, and adds columns while they are used.
    init : str or ndarray of shape (n_samples, any), default="auto"
        Start of the low-rank solver: "data", "geodesic" (as Isomap; "auto" takes it), "random",
        or coordinates such as an earlier ``gram_factor_``.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median,
        for kept distances and for those between medoids separately.
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
        Eigenvalues of K, descending.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    medoids_ : ndarray of shape (n_classes,)
        Each class's medoid, the row with the least sum of distances to its class.
    edges_ : ndarray of shape (n_edges, 2)
        Pairs whose distances are kept.
    bridges_ : ndarray of shape (n_bridges, 2)
        Those that connect components of a class, or unlabeled rows with the rest.
    certificate_ : UnfoldingCertificate
        How well ``gram_factor_`` keeps distances, the objective, and an upper bound on it.
    history_ : dict of ndarray of shape (n_rounds,), or None
        Course of the low-rank solve: steps ``n_iter`` and ``seconds`` so far, ``rank``,
        ``objective`` and distance ``error`` at the end of every round. None for
        ``solver="conic"``.
    extension_ : KernelRegression or LocalAverage
        The extension to new rows, with its error on left-out rows; fitted on first use.
    graph_ : NeighborGraph
        The neighbor graph of all rows of any class, to which new rows are compared.
    n_components_, n_iter_ : int
        Dimension of the embedding, and steps of the solver.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    MaximumVarianceUnfolding : The same without labels.
    SupervisedLLE : Neighbors of the same class in locally linear embedding.

    Notes
    -----
    Maximizes ``trace(K)`` over positive semidefinite, centered K subject to
    ``|r_i - r_j|^2 = |x_i - x_j|^2`` for neighbors of one class and
    ``|r_a - r_b| <= max(spread |m_a - m_b|, |x_a - x_b|)`` for medoids a and b of two classes with
    means m_a and m_b. If distances are not those of points in space, the distance of means is
    defined by the same formula in squared distances.

    Deviation: the paper has no caps between medoids (Table 1). Its neighbor graph falls into the
    classes, which nothing holds together, so the trace has no maximum. Here the data themselves
    satisfy all constraints. Classes are compared by their means, since medoids are single rows, and
    most of the distance between two of them is common to any two rows. As the spread grows, the
    size of a class vanishes beside the distances between classes, and the embedding tends to one
    that shows the class alone: compare with regression on the labels to classify new rows.

    A class hangs by its medoid. All of it stretches outward, away from the middle of all classes,
    and folds at the medoid: how far out a row lies is about its distance from there. Rotating a
    class about that direction changes no distance of the program, and is as in the start.

    Components of a class are connected by their closest pairs, with a warning. An unlabeled row
    keeps its distances to neighbors of any class, and to rows it is a neighbor of. If it lies
    between classes it holds them together: with few labels, classes move little. Without labels, or
    with all rows in one class, this is :class:`MaximumVarianceUnfolding`.

    New rows go through kernel regression onto the embedding, the paper's nonlinear regression, or
    through a local average if the metric has no kernel. To classify them, append any classifier:
    ``make_pipeline(SupervisedSemidefiniteEmbedding(10), KNeighborsClassifier(3))``.

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

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        class_spread: float = 10.0,
        n_neighbors: int = 4,
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
        self.class_spread = class_spread
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

    def _bridge(
        self, graph: NeighborGraph, groups: NDArray[np.intp] | None = None
    ) -> NeighborGraph:
        return graph  # each class has bridges of its own

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        pairs = find_class_pairs(graph, labels)
        if len(pairs.bridges):
            _warn_of_bridges(pairs.bridges.pairs, labels)
        self.classes_, self.medoids_ = labels.classes, pairs.medoids
        kept = pairs.edges + pairs.bridges
        self.edges_, self.bridges_ = kept.pairs, pairs.bridges.pairs
        # Medoids may always be as far apart as they are, so the data satisfy all constraints.
        caps = np.maximum(
            self.class_spread**2 * self._squares(pairs.distances_of_means),
            self._squares(pairs.caps.lengths),
        )
        problem = DistanceProblem(
            graph.n_points,
            np.concatenate([kept.pairs, pairs.caps.pairs]),
            np.concatenate([self._squares(kept.lengths), caps]),
            self._spread(graph),
            is_cap=np.repeat([False, True], [len(kept), len(caps)]),
        )
        self._unfold(X, graph, problem, progress)

    def _first_rank(self) -> int:
        # As far apart as they may be, medoids span as many dimensions.
        return max(super()._first_rank(), len(self.classes_))

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        hint = ", such as 10.0"
        check_real("class_spread", self.class_spread, above=0, at_most=LARGEST_SPREAD, hint=hint)


def _warn_of_bridges(bridges: NDArray[np.intp], labels: PartialLabels) -> None:
    of_class = np.all(labels.mask[bridges], axis=1)
    n_classes, n_open = len(np.unique(labels.codes[bridges[of_class, 0]])), np.sum(~of_class)
    parts = [f"{of_class.sum()} within {n_classes} classes"] if n_classes else []
    parts += [f"{n_open} at unlabeled rows"] if n_open else []
    warn_user(
        "Neighbor graphs within classes are not connected. Added bridging edges (see bridges_): "
        f"{', '.join(parts)}. A larger n_neighbors may avoid this.",
        DisconnectedGraphWarning,
    )
