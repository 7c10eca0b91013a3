"""Isometric separation maps: an unfolding that separates the classes, and a classifier (ISM)."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice, check_integer, check_real, seed_from
from labelfold.exceptions import InfeasibleMapWarning, InputError, warn_user
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.labels.score_classifier import ScoreClassifierMixin
from labelfold.labels.transduction import nearest_distributions, transduce
from labelfold.methods import Declaration, PublishedMixin, declare
from labelfold.progress import Progress
from labelfold.semidefinite.separation import Separation, SeparationCertificate
from labelfold.semidefinite.separation_starts import choose_start, geodesic_start, ridge_start
from labelfold.semidefinite.unfolder import (
    DATA_COLUMNS,
    Unfolder,
    furthest_spread,
    leading_columns,
)
from labelfold.solvers.lowrank import starts
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread
from labelfold.threads import limit_threads

__all__ = ["IsometricSeparationMap"]

Array = NDArray[np.float64]

OBJECTIVES = ("variance", "furthest", "none")
NORMALS = ("axes", "anchors")


@declare(
    Declaration(
        "ism",
        "isometric separation map, for thousands of rows",
        labels="needs",
        produces="both",
        quick=False,
        agreement=1e-3,
        scales_with_data=True,
        reorders=False,
        only_in_fit=("gram_factor_", "decision_values_", "label_distributions_", "transduction_"),
        examples=(
            {"max_iter": 40},
            {"label_weight": None, "max_iter": 40},
            {"n_components": 1, "normals": "anchors", "rank": 5, "max_iter": 40},
        ),
        failed_checks=dict.fromkeys(
            (f"check_estimator_sparse_{kind}" for kind in ("tag", "array", "matrix")),
            "equal rows have different labels, which hard sides do not allow",
        ),
    )
)
class IsometricSeparationMap(PublishedMixin, ScoreClassifierMixin, Unfolder):
    """Isometric separation map: neighbors keep distances, hyperplanes separate the classes.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the embedding. The decision axes come first, one for two classes, else one per
        class. "auto" is the dimensions of the spectrum before its widest gap, or all decision axes.
    margin : float, default=0.3
        Distance that labeled rows keep from the hyperplane, in mean edge lengths. Below half the
        shortest edge between classes distances can be kept exactly. With 0 labels may lie on the
        hyperplane, which counts as the wrong side.
    objective : {"variance", "furthest", "none"}, default="none"
        What is made large, as in :class:`MaximumVarianceUnfolding` and
        :class:`FurthestNeighborUnfolding`; "none" takes any map that keeps distances, which is
        faster and classifies better, but unfolds nothing.
    normals : {"axes", "anchors"} or array-like of int, default="axes"
        "axes" separates the classes by coordinate axes; their position is free. "anchors" is the
        paper's form: a labeled row of the class is the normal and the mean of all rows lies on
        the hyperplane; the one deepest inside is taken. Row numbers, one per normal, name anchors.
    label_weight : float, default=1.0
        The cost of a labeled row per length it falls short of the margin, in units of the usual
        tension of an edge; a label against which the distances pull harder, such as a wrong one,
        gives way. None keeps every label on its side.
    n_neighbors : int, default=5
        Neighbors of every point; a distance is kept if either point is a neighbor of the other.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (a sparse matrix of neighbor
        distances as ``KNeighborsTransformer(mode="distance")`` returns it), or any metric of
        scikit-learn; points in space cannot keep all distances.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, which the paper calls the dimension; at least
        ``n_components``. "auto" adds columns while they are used.
    init : str or ndarray of shape (n_samples, any), default="auto"
        Start of the solver, which decides which of many maps it finds: "geodesic" (shortest paths
        to the labels), "ridge" (linear scores), "random", or coordinates, decision axes first.
        "auto" takes whichever of the first two is better at left-out labels.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median.
    max_iter : int, default=20_000
        Steps of the solver; after them the best map so far is kept, with a warning.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise that revives dimensions, of starts and searches; None is a fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr: objective and distance error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows: decision axes first, the others along their principal axes.
    gram_factor_ : ndarray of shape (n_samples, rank)
        R with K = R R^T, in the same order: a kernel in which the labels are linearly separable.
    normals_ : ndarray of shape (n_normals, rank)
        Normals of the hyperplanes: unit vectors, or the anchors' rows of ``gram_factor_``.
    anchors_ : ndarray of shape (n_normals,) or None
        Row numbers of the anchors; None for axes.
    decision_values_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        ``gram_factor_ @ normals_.T``: for two classes positive on the second one's side, else one
        column per class.
    transduction_ : ndarray of shape (n_samples,)
        A class for every row: the given label if it has one, else that of the side it lies on, or
        of the largest decision value.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Distributions nearest to the decision values in margins; certain from the margin on. A
        measure of confidence, not calibrated.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    spectrum_ : ndarray of shape (rank,)
        Eigenvalues of the centered K, descending (ISM Fig. 3).
    init_ : str
        The start that was taken; "given" for coordinates.
    certificate_ : SeparationCertificate
        Errors of distances and of sides, a lower bound on them, and those of a trivial map.
    history_ : dict of ndarray of shape (n_rounds,)
        Course of the solve: steps ``n_iter`` and ``seconds`` so far, ``rank``, ``objective`` and
        distance ``error`` at the end of every round.
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
    MaximumVarianceUnfolding : The same without labels.
    find_least_rank : How many dimensions separation needs.

    Notes
    -----
    Over R with rows r_i maximizes ``<C, R R^T>`` subject to ``|r_i - r_j|^2 = |x_i - x_j|^2`` for
    neighbors and ``y_ic R[i, c] >= margin`` for labeled rows, with y_ic = 1 inside class c and
    -1 outside.

    The paper's settings, ``objective="variance"`` and ``label_weight=None``, are those of
    ``IsometricSeparationMap.as_published()``. The defaults err less on unlabeled rows
    (``benchmarks/results/classifier_defaults.md``).

    Deviation: the paper's eq. 5 has ``y_i K[A, i] >= 0`` for a row A. An objective that does not
    change when the map is shifted lets r_A = 0 satisfy all of these, which separates nothing. With
    ``normals="anchors"`` K is centered, which removes that freedom but makes the hyperplane pass
    through the mean of all rows; margin is then in squared mean edge lengths. With axes the map may
    lie anywhere, which acts as the bias of a support vector machine.

    The map [margin * y, X] separates any labels, at an error of squared distances of about 4
    margin^2 on edges between classes: a small margin asks for little. ``certificate_`` has this
    error and a lower bound for all maps.

    If no map keeps all distances, as with too few dimensions or too many neighbors, hard sides
    still hold, distances give way, and an :class:`InfeasibleMapWarning` reports by how much.

    New rows get decision values and coordinates by kernel regression on the rows, or by a local
    average if the metric has no kernel. A row equal to a training row gets that row's values.

    The cost is O(n k rank) per step; hundreds of steps find classes, thousands make a map
    isometric.

    References
    ----------
    N. Vasiloglou, A. G. Gray and D. V. Anderson, "Learning isometric separation maps", MLSP 2009.

    Examples
    --------
    >>> from labelfold import IsometricSeparationMap, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(300, n_classes=2, n_bands=2, random_state=0)
    >>> model = IsometricSeparationMap(random_state=0).fit(X, hide_labels(y, keep=range(60)))
    >>> model.certificate_.separation_error
    0.0
    >>> float((model.transduction_ == y)[60:].mean()) > 0.95
    True
    """

    _published: ClassVar = {"objective": "variance", "label_weight": None}
    _inits: ClassVar[tuple[str, ...]] = ("auto", "geodesic", "ridge", "random")
    _init_from_rows: ClassVar[str] = "ridge"

    certificate_: SeparationCertificate

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        margin: float = 0.3,
        objective: str = "none",
        normals: Any = "axes",
        label_weight: float | None = 1.0,
        n_neighbors: int = 5,
        metric: Any = "euclidean",
        rank: int | str = "auto",
        init: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 20_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.margin = margin
        self.objective = objective
        self.normals = normals
        self.label_weight = label_weight
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.rank = rank
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        separation, problem = Separation.from_labels(labels), self._problem(graph)
        self._check_contradictions(problem, separation)
        seed = seed_from(self.random_state)
        with limit_threads(1, user_api="blas"):  # the same start for any number of threads
            start = self._separating_start(X, problem, separation, seed)
        anchors = self._choose_anchors(start, separation)
        lengths = np.sqrt(problem.squares[problem.squares > 0])
        unit = float(lengths.mean()) if len(lengths) else 1.0
        scale = unit if anchors is None else unit**2
        margin = float(self.margin) * scale
        force = np.inf if self.label_weight is None else float(self.label_weight)
        problem = replace(problem, sides=separation.sides(margin, force, anchors))
        # A margin of products with an anchor is not a distance from a hyperplane.
        distance = margin if anchors is None else 0.0
        least_error = separation.least_error(problem, distance)
        is_hard = self.label_weight is None
        R, unfolding, history = self._solve_lowrank(
            problem, start, seed, progress, least_error if is_hard else 0.0
        )
        if anchors is not None:
            R = _anchors_first(R, anchors)
        normals = np.eye(separation.n_normals, R.shape[1]) if anchors is None else R[anchors]
        values = R @ normals.T
        certificate = SeparationCertificate(
            **{one.name: getattr(unfolding, one.name) for one in fields(unfolding)},
            separation_error=separation.wrong(values),
            shortfall=float(np.max(problem.sides.shortfalls(R), initial=0.0)) / unit,
            margin=float(self.margin),
            is_hard=is_hard,
            least_error=least_error,
            trivial_errors=separation.trivial_errors(problem, distance, values),
        )
        if not certificate.ok:
            warn_user(
                f"The separation map is {certificate} Remedy: {certificate.advice}.",
                InfeasibleMapWarning,
            )
        self._keep(X, graph, R, certificate, history, seed, separation.n_normals)
        self.normals_, self.anchors_, self.classes_ = normals, anchors, labels.classes
        self.decision_values_ = values[:, 0] if separation.n_normals == 1 else values
        scores = separation.scores(values)
        # Scores of a row on the margins differ by this.
        self._certain = (1 if separation.n_normals == 1 else 2) * (margin or scale)
        self.transduction_ = transduce(labels, scores)
        self.label_distributions_ = nearest_distributions(scores / self._certain)
        self._separation, self._values = separation, values
        self._value_extension = self._extension.for_values(values)

    def _spread(self, graph: NeighborGraph) -> Spread:
        if self.objective == "furthest":
            return furthest_spread(graph)
        return Spread(variance=1.0) if self.objective == "variance" else Spread()

    def _check_contradictions(self, problem: DistanceProblem, separation: Separation) -> None:
        if self.label_weight is not None:
            return
        clash = separation.find_contradiction(problem.without_zero_edges().point_numbers)
        if clash is not None:
            one, other = separation.labels.at(clash).tolist()
            raise InputError(
                f"Rows {clash[0]} and {clash[1]} of X are at distance 0 but labeled {one!r} and "
                f"{other!r} in y, and no map can separate them: correct or hide one of the labels, "
                "or make labels soft with label_weight=1.0."
            )

    def _choose_anchors(self, start: Array, separation: Separation) -> NDArray[np.intp] | None:
        if not isinstance(self.normals, str):
            anchors = np.asarray(self.normals, dtype=np.intp)
            separation.check_anchors(anchors)
            return anchors
        return separation.deepest(start) if self.normals == "anchors" else None

    def _separating_start(
        self, X: Any, problem: DistanceProblem, separation: Separation, seed: int
    ) -> Array:
        """Return a start with the decision axes first, and set ``init_``."""
        if not isinstance(self.init, str):
            self.init_ = "given"
            return self._start(X, problem, 0, seed)
        self.init_, rank = self.init, self._rank or self._first_rank()
        if self.init == "random":
            return starts.random_start(problem, max(rank, separation.n_normals), seed=seed)
        if self.metric in ("euclidean", "l2", "cosine"):
            unit_rows = normalize(X) if self.metric == "cosine" else X
            rows = leading_columns(unit_rows, max(rank, DATA_COLUMNS), seed)
        else:
            rows = starts.geodesic_start(problem, max(rank, DATA_COLUMNS), seed=seed)
        if self.init == "auto":
            self.init_ = choose_start(problem, rows, separation)
        if self.init_ == "ridge":
            return ridge_start(rows, separation)
        return geodesic_start(problem, rows, separation)

    def _spectrum(self, R: Array) -> Array:
        R = R - R.mean(axis=0)
        return np.maximum(np.linalg.eigvalsh(R.T @ R)[::-1], 0)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._separation.scores(self._carry(X, self._values, self._value_extension.predict))

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        labels = super()._check_labels(y, n_samples)
        if labels.n_classes < 2:
            raise InputError(
                f"y has one class only, {labels.classes.tolist()[0]!r}: a separation map needs "
                "labels of at least two classes; MaximumVarianceUnfolding needs none."
            )
        return labels

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        n_normals = Separation.from_labels(labels).n_normals
        if self.rank != "auto":
            hint = f", one axis for each normal of the {labels.n_classes} classes"
            check_integer("rank", self.rank, least=n_normals, hint=hint)
        check_real("margin", self.margin, at_least=0, hint=", such as 0.3")
        check_choice("objective", self.objective, OBJECTIVES)
        if self.label_weight is not None:
            hint = ", or None for labels that always hold"
            check_real("label_weight", self.label_weight, above=0, hint=hint)
        if isinstance(self.normals, str):
            if self.normals not in NORMALS:
                raise InputError(
                    f"normals={self.normals!r} must be one of {', '.join(NORMALS)}, or row numbers."
                )
            return
        rows = np.asarray(self.normals)
        if rows.shape != (n_normals,) or rows.dtype.kind not in "iu":
            raise InputError(
                f"normals={self.normals!r} must be {n_normals} row numbers, one for each normal: "
                "two classes have one, more have one each."
            )
        if np.any((rows < 0) | (rows >= len(labels))):
            raise InputError(
                f"normals={self.normals!r} must be row numbers from 0 to {len(labels) - 1}."
            )


def _anchors_first(R: Array, anchors: NDArray[np.intp]) -> Array:
    """Rotate R so that the anchors span the first columns, and the others are principal axes."""
    R = R - R.mean(axis=0)
    Q, triangle = np.linalg.qr(R[anchors].T, mode="complete")
    n = min(len(anchors), R.shape[1])
    Q[:, :n] *= np.where(np.diag(triangle) < 0, -1, 1)
    return starts.principal(R @ Q, n)
