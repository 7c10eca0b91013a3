"""Isometric separation maps: unfold so that the classes separate, and classify with it (ISM)."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice, check_integer, check_real
from labelfold.exceptions import InfeasibleMapWarning, InputError
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.labels.score_classifier import ScoreClassifierMixin
from labelfold.labels.transduction import nearest_distributions, transduce
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.semidefinite.separation import Separation, SeparationCertificate
from labelfold.semidefinite.separation_starts import choose_start, geodesic_start, ridge_start
from labelfold.semidefinite.unfolder import (
    DATA_COLUMNS,
    Unfolder,
    furthest_spread,
    gap_dimension,
    leading_columns,
)
from labelfold.solvers.certificates import UnfoldingCertificate
from labelfold.solvers.lowrank import starts
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread
from labelfold.solvers.lowrank.starts import principal
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
        agreement=1e-2,
        scales_with_data=True,
        reorders=False,
        only_in_fit=("gram_factor_", "decision_values_", "label_distributions_", "transduction_"),
        examples=(
            {"objective": "none", "max_iter": 40},
            {
                "n_components": 1,
                "objective": "none",
                "normals": "anchors",
                "label_penalty": 1.0,
                "rank": 5,
                "max_iter": 40,
            },
        ),
        failed_checks=dict.fromkeys(
            (f"check_estimator_sparse_{kind}" for kind in ("tag", "array", "matrix")),
            "equal rows have different labels, which hard sides refuse",
        ),
    )
)
class IsometricSeparationMap(ScoreClassifierMixin, Unfolder):
    """Map that keeps distances of neighbours while given hyperplanes part the classes.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the map. The decision axes come first, one for two classes, else one a class.
        "auto" is the dimensions of the spectrum before its widest gap, or all decision axes.
    margin : float, default=0.3
        Distance that labelled points keep from the hyperplane, in mean edge lengths. Below half the
        shortest edge between classes distances can be kept exactly. With 0 labels may lie on the
        hyperplane, which counts as the wrong side.
    objective : {"variance", "furthest", "none"}, default="variance"
        What is made large, as in :class:`MaximumVarianceUnfolding` and
        :class:`FurthestNeighborUnfolding`; "none" takes any map that keeps distances.
    normals : {"axes", "anchors"} or array-like of int, default="axes"
        "axes" parts the classes by coordinate axes; where they lie is free. "anchors" is the
        paper's form: a labelled point of the class is the normal and the mean of all points lies on
        the hyperplane; the one deepest inside is taken. Row numbers, one a normal, name anchors.
    label_penalty : float, default=None
        None has every label on its side. A number makes labels soft, for noisy ones: it is what a
        labelled point costs a length it falls short of the margin, in units of the usual tension
        of an edge; a label against which the distances pull harder gives way.
    smoothness : float, default=0.0
        Weight of the decision coordinates' squared differences along edges, in the same units: the
        norm of the normal that the paper's summary wants small.
    n_neighbors : int, default=5
        Neighbours of every point whose distances are kept; where either end counts the other.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (rows at unit length), "precomputed" (a sparse matrix of neighbour
        distances as ``KNeighborsTransformer(mode="distance")`` makes it), or any metric of
        scikit-learn; not all distances can be kept by points in space.
    rank : int or "auto", default="auto"
        Columns of the Gram matrix's factor, which the paper calls the dimension; at least
        ``n_components``. "auto" adds columns while they are used.
    start : str or ndarray of shape (n_samples, any), default="auto"
        Where the solver begins, and so which of many maps it finds: "geodesic" (shortest paths to
        the labels), "ridge" (linear scores), "random", or coordinates, decision axes first. "auto"
        takes whichever of the first two is better at labels that are left out.
    tol : float, default=1e-3
        Relative error of squared distances that is allowed, as root mean square and as median.
    max_iter : int, default=20_000
        Steps of the solver.
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
        The map: decision axes first and as they are, the others along their principal axes.
    gram_factor_ : ndarray of shape (n_samples, rank)
        R with K = R R^T, in the same order: a kernel in which the labels are linearly separable.
    normals_ : ndarray of shape (n_normals, rank)
        Normals of the hyperplanes: unit vectors, or the anchors' rows of ``gram_factor_``.
    anchors_ : ndarray of shape (n_normals,) or None
        Rows of the anchors; None for axes.
    decision_values_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        ``gram_factor_ @ normals_.T``: for two classes positive on the second one's side, else a
        column a class.
    transduction_ : ndarray of shape (n_samples,)
        A class for every row: the given label where there is one, else that of the side it lies on,
        or of the largest decision value.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Distributions nearest to the decision values in margins; certain from the margin on. A
        measure of confidence, not calibrated.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labelled point, sorted.
    spectrum_ : ndarray of shape (rank,)
        Eigenvalues of the centred K, descending (ISM Fig. 3).
    start_ : str
        The start that was taken; "given" for coordinates.
    certificate_ : SeparationCertificate
        Errors of distances and of sides apart, what any map must cost, and what a trivial one does.
    history_ : dict of ndarray of shape (n_rounds,)
        How the solve went: steps ``n_iter`` and ``seconds`` so far, ``rank``, ``objective`` and
        distance ``error`` at the end of every round.
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
    MaximumVarianceUnfolding : The same without labels.
    find_least_rank : How many dimensions separation needs.

    Notes
    -----
    Over R with rows r_i maximises ``<C, R R^T>`` subject to ``|r_i - r_j|^2 = |x_i - x_j|^2`` for
    neighbours and ``y_ic R[i, c] >= margin`` for labelled points, with y_ic = 1 inside class c and
    -1 outside.

    Deviation: the paper's eq. 5 has ``y_i K[A, i] >= 0`` for a point A. A maximum that does not
    change when the map is moved lets r_A = 0 satisfy all of these, so that nothing is separated.
    With ``normals="anchors"`` K is centred, which removes that freedom but makes the hyperplane
    pass through the mean of all points; margin is then in squared mean edge lengths. With axes the
    map may lie anywhere, which acts as the bias of a support vector machine.

    The map [margin * y, X] separates any labels, at an error of squared distances of about 4
    margin^2 on edges between classes: a small margin asks for little. ``certificate_`` has this
    error and what no map can go below.

    Where no map keeps all distances, as with too few dimensions or too many neighbours, hard sides
    hold all the same, distances give way, and an :class:`InfeasibleMapWarning` tells by how much.

    New points: decision values and coordinates by kernel regression on the rows, or by a local
    average where the metric has no kernel. A row equal to a training row gets that row's values.

    The cost is O(n k rank) a step; hundreds of steps find classes, thousands make a map isometric.

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

    solver = "lowrank"
    local_angles = False
    starts: ClassVar[tuple[str, ...]] = ("auto", "geodesic", "ridge", "random")
    starts_on_rows: ClassVar[tuple[str, ...]] = ("ridge",)

    certificate_: SeparationCertificate

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        margin: float = 0.3,
        objective: str = "variance",
        normals: Any = "axes",
        label_penalty: float | None = None,
        smoothness: float = 0.0,
        n_neighbors: int = 5,
        metric: Any = "euclidean",
        rank: int | str = "auto",
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
        self.margin = margin
        self.objective = objective
        self.normals = normals
        self.label_penalty = label_penalty
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.rank = rank
        self.start = start
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.neighbor_search = neighbor_search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict_proba(self, X: Any) -> Array:
        """Return the distributions nearest to the decision values, in margins.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in the form that ``fit`` takes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A row a point, a column a class in the order of ``classes_``.
        """
        return nearest_distributions(self._scores(X) / self._certain)

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        separation = Separation.of(labels)
        problem = self._problem(graph, self._spread(graph))
        self._refuse_contradictions(problem, separation)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with limit_threads(1, user_api="blas"):  # the same start for any number of threads
            start = self._separating_start(X, problem, separation, seed)
        anchors = self._anchors(start, separation)
        unit = _mean_length(problem)
        problem = self._with_sides(problem, separation, anchors, unit)
        least = 0.0
        if self.label_penalty is None and problem.n_axes:
            least = separation.least_error(problem, self.margin * unit)
        R, unfolding, history = self._solve_lowrank(problem, start, seed, progress, least)
        if anchors is not None:
            R = _anchors_first(R, anchors)
        normals = np.eye(separation.n_normals, R.shape[1]) if anchors is None else R[anchors]
        values = R @ normals.T
        certificate = self._certify(unfolding, problem, separation, R, values, unit)
        if not certificate.ok:
            warnings.warn(
                f"The separation map is {certificate} To go on: {certificate.advice}.",
                InfeasibleMapWarning,
                stacklevel=3,
            )
        self._separation, self._values = separation, values
        # Scores differ by it where a point lies on the margins.
        apart = 1 if separation.n_normals == 1 else 2
        self._certain = apart * (self.margin or 1.0) * (unit if anchors is None else unit**2)
        self._keep(X, graph, R, certificate, history, seed)
        self.normals_, self.anchors_ = normals, anchors
        self._classify()

    def _classify(self) -> None:
        """Set the attributes that tell the classes of all points."""
        separation, values = self._separation, self._values
        self._new_values = self._new_points.of(values)
        self.classes_ = separation.labels.classes
        self.decision_values_ = values[:, 0] if separation.n_normals == 1 else values
        scores = separation.scores(values)
        self.transduction_ = transduce(separation.labels, scores)
        self.label_distributions_ = nearest_distributions(scores / self._certain)

    # ---- the problem

    def _spread(self, graph: NeighborGraph) -> Spread:
        if self.objective == "furthest":
            return furthest_spread(graph)
        return Spread(variance=1.0) if self.objective == "variance" else Spread()

    def _with_sides(
        self,
        problem: DistanceProblem,
        separation: Separation,
        anchors: NDArray[np.intp] | None,
        unit: float,
    ) -> DistanceProblem:
        force = np.inf if self.label_penalty is None else float(self.label_penalty)
        if anchors is not None:
            sides: Any = separation.anchor_sides(anchors, self.margin * unit**2, force)
        else:
            sides = separation.half_spaces(self.margin * unit, force)
        return replace(problem, sides=sides, smoothness=float(self.smoothness))

    def _refuse_contradictions(self, problem: DistanceProblem, separation: Separation) -> None:
        if self.label_penalty is not None:
            return
        clash = separation.contradictions(problem.without_zero_edges().point_numbers)
        if clash is not None:
            one, other = separation.labels.at(np.array(clash)).tolist()
            raise InputError(
                f"Rows {clash[0]} and {clash[1]} of X are at distance 0 but labelled {one!r} and "
                f"{other!r} in y, so that no map can part them: correct or hide one of the labels, "
                "or make labels soft with label_penalty=1.0."
            )

    def _anchors(self, start: Array, separation: Separation) -> NDArray[np.intp] | None:
        if not isinstance(self.normals, str):
            anchors = np.asarray(self.normals, dtype=np.intp)
            separation.check_anchors(anchors)
            return anchors
        return separation.deepest(start) if self.normals == "anchors" else None

    # ---- the start

    def _separating_start(
        self, X: Any, problem: DistanceProblem, separation: Separation, seed: int
    ) -> Array:
        if not isinstance(self.start, str):
            self.start_ = "given"
            return self._start(X, problem, 0, seed)
        rank = self._rank or self._usual_rank()
        if self.start == "random":
            self.start_ = "random"
            return starts.random_start(problem, max(rank, separation.n_normals), seed=seed)
        has_rows = self.metric in ("euclidean", "l2", "cosine")
        if has_rows:
            unit = normalize(X) if self.metric == "cosine" else X
            rows = leading_columns(unit, max(rank, DATA_COLUMNS), seed)
        else:
            rows = starts.geodesic_start(problem, max(rank, DATA_COLUMNS), seed=seed)
        self.start_ = self.start
        if self.start == "auto":
            self.start_ = choose_start(problem, rows, separation)
        if self.start_ == "ridge":
            return ridge_start(rows, separation)
        return geodesic_start(problem, rows, separation)

    # ---- the result

    def _certify(
        self,
        unfolding: UnfoldingCertificate,
        problem: DistanceProblem,
        separation: Separation,
        R: Array,
        values: Array,
        unit: float,
    ) -> SeparationCertificate:
        margin = self.margin * unit if problem.n_axes else 0.0  # in space, of a hyperplane
        fields = {name: getattr(unfolding, name) for name in asdict(unfolding)}
        return SeparationCertificate(
            **fields,
            separation_error=separation.wrong(values),
            shortfall=float(np.max(problem.sides.shortfalls(R), initial=0.0)) / unit,
            margin=float(self.margin),
            is_hard=self.label_penalty is None,
            least_error=separation.least_error(problem, margin),
            trivial_errors=separation.trivial_errors(problem, margin, values),
        )

    def _spectrum(self, R: Array) -> Array:
        R = R - R.mean(axis=0)
        return np.maximum(np.linalg.eigvalsh(R.T @ R)[::-1], 0)

    def _dimension(self) -> int:
        if self.n_components == "auto":
            return max(gap_dimension(self.spectrum_), self._separation.n_normals)
        return int(self.n_components)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._separation.scores(self._carry(X, self._values, self._new_values.predict))

    # ---- parameters

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        if y is None:
            raise InputError(
                "IsometricSeparationMap requires y to be passed, but the target y is None: give "
                "labels, with None or -1 for unlabelled rows."
            )
        labels = PartialLabels.some_from_y(y, n_samples=n_samples)
        if labels.n_classes < 2:
            raise InputError(
                f"y has one class only, {labels.classes.tolist()[0]!r}: a separation map needs "
                "labels of at least two classes; MaximumVarianceUnfolding needs none."
            )
        return labels

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        n_normals = Separation.of(labels).n_normals
        if self.rank != "auto":
            hint = f", one axis for each normal of the {labels.n_classes} classes"
            check_integer("rank", self.rank, least=n_normals, hint=hint)
        check_real("margin", self.margin, at_least=0, hint=", such as 0.3")
        check_choice("objective", self.objective, OBJECTIVES)
        if self.label_penalty is not None:
            hint = ", or None for labels that hold at any price"
            check_real("label_penalty", self.label_penalty, above=0, hint=hint)
        check_real("smoothness", self.smoothness, at_least=0)
        self._check_normals(labels, n_normals)

    def _check_normals(self, labels: PartialLabels, n_normals: int) -> None:
        if isinstance(self.normals, str):
            if self.normals not in NORMALS:
                raise InputError(
                    f"normals={self.normals!r} must be one of {', '.join(NORMALS)}, or row numbers."
                )
        else:
            rows = np.asarray(self.normals)
            if rows.shape != (n_normals,) or rows.dtype.kind not in "iu":
                raise InputError(
                    f"normals={self.normals!r} must be {n_normals} row numbers, one for each "
                    "normal: two classes have one, more have one each."
                )
            if np.any((rows < 0) | (rows >= len(labels))):
                raise InputError(
                    f"normals={self.normals!r} must be row numbers from 0 to {len(labels) - 1}."
                )
        if self.smoothness and not (isinstance(self.normals, str) and self.normals == "axes"):
            raise InputError(
                f"smoothness={self.smoothness!r} is about axes: use normals='axes', or 0."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _mean_length(problem: DistanceProblem) -> float:
    lengths = np.sqrt(problem.squares[problem.squares > 0])
    return float(lengths.mean()) if len(lengths) else 1.0


def _anchors_first(R: Array, anchors: NDArray[np.intp]) -> Array:
    """Turn R so that the anchors span the first columns, and the others are principal axes."""
    R = R - R.mean(axis=0)
    Q, triangle = np.linalg.qr(R[anchors].T, mode="complete")
    n = min(len(anchors), R.shape[1])
    Q[:, :n] *= np.where(np.diag(triangle) < 0, -1, 1)
    return principal(R @ Q, n)
