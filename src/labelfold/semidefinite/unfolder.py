"""What unfoldings share: edges from the graph, a solver, a spectrum, and an extension to new rows.

K = R R^T is the Gram matrix of the embedding. Its eigenvectors times the roots of its eigenvalues
are R along principal axes; the first of them are the embedding (SSDE section 2.2).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_choice, check_integer, check_real, seed_from
from labelfold.exceptions import InputError, warn_user
from labelfold.extend.lazy_extension import LazyExtension
from labelfold.extend.local_average import LocalAverage
from labelfold.extend.regression import KernelRegression
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import pairs_above
from labelfold.graph.all_pairs import furthest_points
from labelfold.labels import PartialLabels
from labelfold.progress import Progress
from labelfold.solvers.certificates import UnfoldingCertificate
from labelfold.solvers.conic import solve_conic
from labelfold.solvers.lowrank import LowRankLimits, solve_lowrank
from labelfold.solvers.lowrank.bound import DualBound, bound_from
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread, measure_errors
from labelfold.solvers.lowrank.solver import Round
from labelfold.solvers.lowrank.starts import geodesic_start, random_start
from labelfold.threads import limit_threads, thread_limit

__all__ = ["Unfolder", "furthest_spread", "gap_dimension", "leading_columns"]

Array = NDArray[np.float64]
# Plain arrays by name: any reader of a pickle or a model file can use these.
History: TypeAlias = dict[str, NDArray[Any]]

SOLVERS = ("lowrank", "conic")
REACHABLE = 1.5  # times the error that no embedding can go below: what a solve may reach
DATA_COLUMNS = 10  # principal components of the data that a start keeps
# Of a spectrum: the share of the variance that its dimensions must hold, since a long strip has a
# wide gap after its length already; and the share of the first eigenvalue below which gaps are
# between errors of the solve.
LEAST_SHARE, NOTHING = 0.99, 1e-6
REMEDIES = {
    "iterations": "raise max_iter, or tol",
    "standstill": "raise rank or n_neighbors, or tol; in few dimensions no map may exist",
    "tolerance": "raise rank, or tol",
}


class Unfolder(GraphEmbedder):
    """Base of estimators that keep the distances of a graph and make a spread large.

    The spread is the variance; a subclass with another objective overrides ``_spread``.
    """

    _inits: ClassVar[tuple[str, ...]] = ("auto", "data", "geodesic", "random")
    _init_from_rows: ClassVar[str] = "data"

    embedding_: Array
    gram_factor_: Array
    spectrum_: Array
    certificate_: UnfoldingCertificate
    history_: History | None

    @property
    def extension_(self) -> KernelRegression | LocalAverage:
        """The extension to new rows, with its error on left-out rows; fitted on first use."""
        check_is_fitted(self)
        return self._extension.extension

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        self._unfold(X, graph, self._problem(graph), progress)

    def _problem(self, graph: NeighborGraph) -> DistanceProblem:
        edges, lengths = self._edges(graph)
        return DistanceProblem(graph.n_points, edges, self._squares(lengths), self._spread(graph))

    def _edges(self, graph: NeighborGraph) -> tuple[NDArray[np.intp], Array]:
        """Return the pairs whose distances are kept, and the distances."""
        return pairs_above(graph.distances)

    def _squares(self, lengths: Array) -> Array:
        # Of rows at unit length, |u - v|^2 = 2 (1 - u.v).
        return 2 * lengths if self.metric == "cosine" else lengths**2

    def _spread(self, graph: NeighborGraph) -> Spread:
        """Return what to make large."""
        return Spread(variance=1.0)

    def _unfold(
        self, X: Any, graph: NeighborGraph, problem: DistanceProblem, progress: Progress
    ) -> None:
        """Solve the problem and set the fitted attributes."""
        seed = seed_from(self.random_state)
        if self.solver == "conic":
            R, certificate = self._solve_conic(problem, progress)
            history = None
        else:
            with limit_threads(1, user_api="blas"):  # the same start for any number of threads
                start = self._start(X, problem, self._rank or self._first_rank(), seed)
            R, certificate, history = self._solve_lowrank(problem, start, seed, progress)
        if not certificate.ok:
            remedy = REMEDIES[certificate.stopped_by]
            warn_user(f"The unfolding is {certificate} Remedy: {remedy}.", ConvergenceWarning)
        self._keep(X, graph, R, certificate, history, seed)

    def _keep(
        self,
        X: Any,
        graph: NeighborGraph,
        R: Array,
        certificate: UnfoldingCertificate,
        history: History | None,
        seed: int,
        least_dimension: int = 1,
    ) -> None:
        """Set the fitted attributes; ``least_dimension`` is for ``n_components="auto"``."""
        self.graph_ = graph
        self.gram_factor_ = R
        self.spectrum_ = self._spectrum(R)
        self.certificate_ = certificate
        self.history_ = history
        self.n_iter_ = certificate.n_iter
        if self.n_components == "auto":
            self.n_components_ = max(gap_dimension(self.spectrum_), least_dimension)
        else:
            self.n_components_ = int(self.n_components)
        self.embedding_ = np.zeros((len(R), self.n_components_))
        n_kept = min(self.n_components_, R.shape[1])
        self.embedding_[:, :n_kept] = R[:, :n_kept]
        # Copied, since the caller may write into X before the extension is fitted.
        self._extension = LazyExtension(X.copy(), graph, self.embedding_, seed)

    def _spectrum(self, R: Array) -> Array:
        return np.asarray(np.sum(R**2, axis=0))  # R is centered, along principal axes

    def _extend(self, X: Any, distances: sp.csr_array) -> Array:
        return self._extension.predict(X, distances)

    @property
    def _rank(self) -> int | None:
        return None if self.rank == "auto" else int(self.rank)

    def _first_rank(self) -> int:
        """Return the number of columns to begin with if the rank may grow."""
        return 3 if self.n_components == "auto" else int(self.n_components) + 1

    def _start(self, X: Any, problem: DistanceProblem, rank: int, seed: int) -> Array:
        if not isinstance(self.init, str):
            try:
                start = np.asarray(self.init, dtype=float)
            except (TypeError, ValueError):
                start = np.empty(0)
            if start.ndim != 2 or len(start) != problem.n_points or not np.isfinite(start).all():
                raise InputError(
                    f"init of shape {start.shape} must be finite coordinates of the "
                    f"{problem.n_points} rows, one row each, or one of {', '.join(self._inits)}."
                )
            return start
        if self.init == "data":
            return leading_columns(X, max(rank, DATA_COLUMNS), seed)
        if self.init == "random":
            return random_start(problem, rank, seed=seed)
        return geodesic_start(problem, rank, seed=seed)

    def _solve_lowrank(
        self,
        problem: DistanceProblem,
        start: Array,
        seed: int,
        progress: Progress,
        least_error: float = 0.0,
    ) -> tuple[Array, UnfoldingCertificate, History]:
        """Solve over R; an error below ``least_error`` is known to be out of reach."""
        tol = max(self.tol, REACHABLE * least_error)
        solution = solve_lowrank(
            problem,
            start,
            rank=self._rank,
            limits=LowRankLimits(tol, max_iter=self.max_iter),
            n_threads=thread_limit(),
            seed=seed,
            progress=progress,
        )
        certificate = UnfoldingCertificate(
            solver="lowrank",
            errors=solution.errors,
            objective=solution.objective,
            bound=solution.bound.value,
            slack=solution.bound.slack(problem.violations(solution.R)),
            rank=solution.R.shape[1],
            n_iter=solution.n_iter,
            tol=self.tol,
            stopped_by=solution.stopped_by,
        )
        return solution.R, certificate, _as_history(solution.history, problem)

    def _solve_conic(
        self, problem: DistanceProblem, progress: Progress
    ) -> tuple[Array, UnfoldingCertificate]:
        with warnings.catch_warnings():
            # The certificate reports the errors, and asks for less than the solver aims at.
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = solve_conic(problem, progress=progress)
        R = solution.factor[:, : self._rank]
        merger = problem.without_zero_edges()
        y = merger.merge_multipliers(solution.multipliers)
        at_rest = solution.status == "optimal" or abs(solution.gap) <= self.tol
        bound = DualBound(solution.bound, y)
        if not at_rest:  # rounding may have spoiled it
            bound = bound_from(merger.problem, y, sparse=False)
        certificate = UnfoldingCertificate(
            solver="conic",
            errors=measure_errors(problem, R),
            objective=problem.spread.value(R),
            bound=bound.value,
            slack=bound.slack(merger.problem.violations(merger.merge_points(R))),
            rank=R.shape[1],
            n_iter=solution.n_iter,
            tol=self.tol,
            stopped_by="tolerance" if at_rest else "standstill",
        )
        return R, certificate

    def _check_parameters(self, labels: PartialLabels) -> None:
        n_components = 1
        if self.n_components != "auto":
            super()._check_parameters(labels)
            n_components = int(self.n_components)
        if self.rank != "auto":
            check_integer("rank", self.rank, least=n_components, hint=" (n_components), or 'auto'")
        if isinstance(self.init, str):
            check_choice("init", self.init, self._inits)
            if self.init == self._init_from_rows and self.metric == "precomputed":
                raise InputError(
                    f"init={self.init!r} needs rows, not distances: use init='geodesic'."
                )
        check_choice("solver", getattr(self, "solver", "lowrank"), SOLVERS)
        check_real("tol", self.tol, above=0, below=1, hint=", such as 1e-3")
        check_integer("max_iter", self.max_iter, least=1)


def furthest_spread(graph: NeighborGraph) -> Spread:
    """Return the squared distances from every point to the one furthest from it (ISM section 2)."""
    furthest, _ = furthest_points(graph.index)
    pairs = np.column_stack([np.arange(graph.n_points), furthest])
    return Spread(pairs=pairs, weights=np.ones(graph.n_points))


def gap_dimension(spectrum: NDArray[np.float64]) -> int:
    """Return the number of eigenvalues before the largest ratio of one to the next.

    Only numbers of eigenvalues that hold 99 % of the sum count. The spectrum is nonnegative and
    descending.
    """
    if len(spectrum) == 0 or spectrum[0] <= 0:
        return 1
    values = np.maximum(spectrum, NOTHING * spectrum[0])
    ratios = values / np.append(values[1:], values[-1])
    enough = np.cumsum(spectrum) >= LEAST_SHARE * np.sum(spectrum)
    return int(np.argmax(np.where(enough, ratios, 0.0))) + 1


def leading_columns(X: Any, n_columns: int, seed: int) -> Array:
    """Return the rows, reduced to principal components if they have more features."""
    if X.shape[1] <= n_columns:
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    reduce = TruncatedSVD if sp.issparse(X) else PCA
    return np.asarray(reduce(min(n_columns, X.shape[0]), random_state=seed).fit_transform(X))


def _as_history(rounds: Sequence[Round], problem: DistanceProblem) -> History:
    """Return ``history_`` from rounds, which count in units of the median edge length."""
    _, unit = problem.without_zero_edges().problem.scaled()
    return {
        "n_iter": np.array([one.n_iter for one in rounds], dtype=np.int64),
        "seconds": np.array([one.seconds for one in rounds], dtype=np.float64),
        "rank": np.array([one.rank for one in rounds], dtype=np.int64),
        "objective": unit**2 * np.array([one.objective for one in rounds], dtype=np.float64),
        "error": np.array([one.error for one in rounds], dtype=np.float64),
    }
