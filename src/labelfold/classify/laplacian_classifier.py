"""Classification by the eigenvectors of the graph Laplacian (LAPCLASS)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEstimator
from labelfold.checks import check_choice, check_graph_rows, check_integer, check_real, check_rows
from labelfold.classify.laplacian_scores import (
    LEAST_SHARE,
    LaplacianColumns,
    check_number,
    check_penalty,
    count_eigenvectors,
    fit_scores,
    largest_number,
)
from labelfold.classify.settling import mean_of_equal
from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.graph.neighbor_graph import fingerprint
from labelfold.labels import PartialLabels
from labelfold.labels.score_classifier import ScoreClassifierMixin
from labelfold.labels.transduction import (
    class_frequencies,
    find_unreached,
    nearest_distributions,
    transduce,
    warn_of_unreached,
)
from labelfold.memory import require_memory
from labelfold.methods import Declaration, PublishedMixin, declare, stored
from labelfold.progress import Progress, show_progress
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen import EIGEN_SOLVERS, NORMALIZATIONS
from labelfold.solvers.ridge import RidgeFit
from labelfold.spectral.laplacian_basis import LaplacianBasis
from labelfold.threads import limit_threads

__all__ = ["LaplacianCertificate", "LaplacianClassifier"]

LARGEST_POWER = 10  # above it the roughness of the smoothest vectors is out of range
CRITERIA = {
    "leave-one-out": "leave-one-out error",
    "usual": "default, as no label can be left out",
}


@stored
@dataclass(frozen=True, eq=False)
class LaplacianCertificate:
    """Evidence for a fitted :class:`LaplacianClassifier`.

    Parameters
    ----------
    eigen : EigenCertificate
        Residuals and orthogonality of the eigenvectors.
    n_labeled : int
        Number of labeled rows.
    n_columns : int
        Number of functions combined.
    column_rank : int
        Their rank on the labeled rows: below n_columns the smoothest scores are taken, unless a
        penalty makes them unique.
    criterion : {"given", "leave-one-out", "usual"}
        Whether number of eigenvectors and penalty were given, compared on left-out labels, or, if
        no label can be left out, set to a default.
    n_unreached : int
        Rows in components without a label.
    n_bounded : int
        Eigenvectors that the extension bounds at a typical new row, those with
        1 - lambda / d(x) below 0.5.
    """

    eigen: EigenCertificate = field(repr=False)
    n_labeled: int
    n_columns: int
    column_rank: int
    criterion: str
    n_unreached: int
    n_bounded: int

    @property
    def ok(self) -> bool:
        """Whether the eigenvectors are as good as asked."""
        return self.eigen.ok

    def __str__(self) -> str:
        text = (
            f"{str(self.eigen).removesuffix('.')}; {self.n_columns} columns of rank "
            f"{self.column_rank} on {self.n_labeled} labeled rows"
        )
        if self.criterion != "given":
            text += f"; parameters by {CRITERIA[self.criterion]}"
        if self.n_unreached:
            text += f"; {self.n_unreached} rows in components without a label"
        if self.n_bounded:
            text += f"; {self.n_bounded} eigenvectors are bounded at new rows"
        return text + "."


@declare(
    Declaration(
        "laplacian",
        "regression of labels on Laplacian eigenvectors",
        labels="needs",
        produces="classification",
        only_in_fit=("label_distributions_", "transduction_"),
        examples=(
            {},
            {"n_eigenvectors": "auto", "penalty": 0.0, "weights": "binary"},
            {"n_eigenvectors": 20, "tol": 1e-10},
            {
                "n_eigenvectors": 10,
                "penalty": 0.0,
                "normalization": "degree",
                "weights": "heat",
                "eigen_solver": "arpack",
                "tol": 1e-10,
            },
        ),
    )
)
class LaplacianClassifier(PublishedMixin, ScoreClassifierMixin, GraphEstimator):
    """Label all rows by least squares on the smoothest functions over their graph.

    Parameters
    ----------
    n_eigenvectors : float, int or "auto", default=0.2
        Number of eigenvectors p, the constant one included. A float is a fraction of the labeled
        rows, an int the number. With a penalty, which damps the rough ones, a fraction is raised
        to 100 eigenvectors, and "auto" is a fifth; a given basis bounds both. Without, "auto" takes
        the number with the smallest leave-one-out error, up to half the labeled rows.
    penalty : float or "auto", default="auto"
        Weight of the scores' roughness. "auto" is chosen by leave-one-out error; 0 is the paper's
        rule, which errs more if labels are few; ``float("inf")`` the limit of a large penalty.
    penalty_power : float, default=2.0
        Power of the eigenvalues in the roughness. 1 is LAPCLASS section 4, and its limit of a large
        penalty has the direction of Poisson learning; 2 was better on images and spectra with few
        labels.
    n_neighbors : int, default=10
        Neighbors of every row; two rows share an edge if either is a neighbor of the other.
    radius : float, default=None
        Connect all rows up to this distance instead of the nearest ones.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (a sparse matrix of neighbor distances, such as that
        of ``KNeighborsTransformer(mode="distance")``), or any metric of scikit-learn.
    weights : {"heat", "binary", "self-tuning", "shared"} or callable, default="shared"
        Weight of an edge of length d: exp(-d^2 / scale), 1, heat with a scale per point, this times
        the share of neighbors that both ends have, or ``weights(distances, scales)``.
    scale : "auto", float or array-like of shape (n_samples,), default="auto"
        Scale of the weights, for all edges or for every row. "auto" is ten times the mean
        squared distance to the nearest distinct row.
    normalization : {"none", "degree"}, default="none"
        Eigenvectors of L e = lambda e, or of L e = lambda D e.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` has the recall.
    eigen_solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" chooses by the size of the graph and the number of eigenvectors.
    tol : float, default=1e-4
        Residual that every eigenvector must reach, with the operator's spectrum scaled to [-1, 1];
        1e-15 or more.
        Labels hardly change below it.
    random_state : int, RandomState instance or None, default=None
        Seed of the approximate search, the only chance in it; None is a fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A class for every row: the given label, or the class with the largest score.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The distribution nearest to every row's scores, labeled rows too: a given label that
        disagrees with it is worth a look. A measure of confidence, not calibrated.
    decision_values_ : ndarray of shape (n_samples, n_classes)
        The scores of all rows.
    unreached_ : ndarray of shape (n_unreached,)
        Rows in components of the graph without a label. Their distribution is the frequencies of
        the given labels, their class the most frequent one, and a warning counts them.
    coef_ : ndarray of shape (n_classes, n_columns)
        Coefficients of the scores. The first columns are the indicators, of length 1, of the
        components with a label, ordered as in ``graph_.connected_components``. The others are
        ``basis_.vectors``.
    eigenvalues_ : ndarray of shape (n_columns,)
        Eigenvalues of the columns: zeros for the components, then ascending.
    n_eigenvectors_ : int
        The number p used, the constant one included.
    penalty_ : float
        The penalty used.
    column_rank_ : int
        Rank of the columns on the labeled rows. Below n_columns the paper's rule is not unique,
        and the smoothest scores are taken.
    basis_ : LaplacianBasis
        The eigenvectors above the null space.
    graph_ : NeighborGraph
        The graph, without bridges.
    certificate_ : LaplacianCertificate
        How good the solve is, and how many eigenvectors are bounded at new rows.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    ManifoldClassifier : A classifier on an embedding that depends on the labels.
    labelfold.evaluate.TransductiveSearchCV : Choose parameters; candidates share graph and basis.

    Notes
    -----
    For every class k minimizes over the coefficients a_k ::

        sum_i (c_ki - sum_j a_kj e_j(i))^2 + penalty * sum_j lambda_j^penalty_power a_kj^2

    where i runs over the labeled rows, c_ki is 1 for a member and 0 otherwise, and e_j is the
    j-th eigenvector of the graph Laplacian with eigenvalue lambda_j (LAPCLASS section 3; by its
    section 4 the second sum is the roughness of the score for power 1). The class with the largest
    score wins. For two classes that is the sign of the paper's single function, fitted to -1
    and +1.

    On a graph of several components the indicator of each is an eigenvector with eigenvalue 0. The
    indicators of all components with a label come first; only the first counts in p.

    With a penalty a score is a level, the share of the class among the labels of the component,
    plus a difference from it. A large penalty makes the differences small, and the most frequent
    class would win everywhere: so differences are scaled back to fit left-out labels, and levels
    that differ by chance are drawn together.

    New rows get their scores from their neighbors: eigenvector j at x is ::

        sum_i w(x, x_i) e_j(x_i) / (d(x) - lambda_j),    d(x) = sum_i w(x, x_i)

    (CCDR-MC eq. 37; with ``normalization="degree"`` the denominator is d(x) (1 - lambda_j)), with
    the denominator bounded below by half of d(x). An indicator is the mean of the neighbors'.
    A row equal to a training row gets that row's scores. Each row is treated by itself.

    The cost is that of the neighbor search and of the eigenvectors, which depend on X alone and
    can be shared by many fits (:meth:`build_basis`), plus O(n_labeled p^2 + n p n_classes).

    The paper's settings, ``penalty=0.0``, ``n_neighbors=8`` and ``weights="binary"``, are those of
    ``LaplacianClassifier.as_published()``. With up to ten labels per class the defaults err less
    on average (``benchmarks/results/classifier_defaults.md``).

    Deviation: if the columns are dependent on the labeled rows, as they are if p exceeds their
    number, the paper's normal equations have no unique solution. The smoothest one is taken, the
    limit of a penalty that tends to 0.

    References
    ----------
    M. Belkin and P. Niyogi, "Using manifold structure for partially labeled classification",
    NIPS 15, 2002.

    Examples
    --------
    >>> from labelfold import LaplacianClassifier, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(1000, random_state=0)
    >>> model = LaplacianClassifier().fit(X[:900], hide_labels(y[:900], keep=range(100)))
    >>> model.score(X[900:], y[900:]) > 0.9
    True
    >>> LaplacianClassifier.as_published().fit(X, hide_labels(y, keep=range(100))).n_eigenvectors_
    20
    """

    _published: ClassVar = {"penalty": 0.0, "n_neighbors": 8, "weights": "binary"}

    def __init__(
        self,
        n_eigenvectors: float | int | str = 0.2,
        *,
        penalty: float | str = "auto",
        penalty_power: float = 2.0,
        n_neighbors: int = 10,
        radius: float | None = None,
        metric: Any = "euclidean",
        weights: Any = "shared",
        scale: Any = "auto",
        normalization: str = "none",
        neighbor_search: str = "auto",
        eigen_solver: str = "auto",
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_eigenvectors = n_eigenvectors
        self.penalty = penalty
        self.penalty_power = penalty_power
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.weights = weights
        self.scale = scale
        self.normalization = normalization
        self.neighbor_search = neighbor_search
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        graph: NeighborGraph | None = None,
        basis: LaplacianBasis | None = None,
    ) -> Self:
        """Fit the scores on the labeled rows and label all others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; neighbor distances of shape (n_samples, n_samples) for
            ``metric="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabeled.
        graph : NeighborGraph, default=None
            A graph built from the same rows with the same parameters, to save the search.
        basis : LaplacianBasis, default=None
            From :meth:`build_basis`, to save search and solve.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = check_rows(self, X, reset=True, keep_type=self._keeps_type)
        labels = PartialLabels.some_from_y(y, n_samples=X.shape[0])
        self._check_parameters()
        if basis is None:
            n_vectors = largest_number(self.n_eigenvectors, self.penalty, labels)
            self._require_memory(X, graph, n_vectors, labels.n_classes)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            if basis is not None:
                basis.check_matches(graph, self.normalization)
                graph = basis.graph
            graph = self._make_graph(X, graph, progress)
            n_eigenvectors = count_eigenvectors(
                self.n_eigenvectors, self.penalty, labels, graph, basis
            )
            if basis is None:
                basis = self._compute_basis(graph, n_eigenvectors, progress)
            columns, scores = fit_scores(
                LaplacianColumns.from_labels(basis.truncated(n_eigenvectors - 1), labels),
                labels,
                n_eigenvectors=self.n_eigenvectors,
                penalty=self.penalty,
                penalty_power=self.penalty_power,
            )
            self._store(columns, scores, labels)
        return self

    def build_basis(
        self, X: Any, n_eigenvectors: int, *, graph: NeighborGraph | None = None
    ) -> LaplacianBasis:
        """Compute eigenvectors that fits with any labels can share.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for :meth:`fit`.
        n_eigenvectors : int
            The largest number that a fit will use, the constant included.
        graph : NeighborGraph, default=None
            As for :meth:`fit`.

        Returns
        -------
        LaplacianBasis
            For ``fit(X, y, basis=...)``.
        """
        self._check_parameters()
        check_integer("n_eigenvectors", n_eigenvectors, least=1, hint=", the constant included")
        X = check_graph_rows(X, keep_type=self._keeps_type)
        self._require_memory(X, graph, n_eigenvectors)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            graph = self._make_graph(X, graph, progress)
            return self._compute_basis(graph, n_eigenvectors, progress)

    def sharing_key(self) -> Hashable:
        """Return a key that is equal for classifiers that :meth:`fit_many` can fit together.

        They differ in ``n_eigenvectors``, ``penalty`` and its power.
        """
        fitted = ("n_eigenvectors", "penalty", "penalty_power")
        shared = {name: value for name, value in self.get_params().items() if name not in fitted}
        return tuple((name, fingerprint(value)) for name, value in shared.items())

    def shares_folds(self) -> bool:
        """Return True: eigenvectors do not depend on labels."""
        return True

    def fit_many(
        self,
        models: Sequence[LaplacianClassifier],
        X: Any,
        ys: Sequence[ArrayLike],
        graph: NeighborGraph | None = None,
    ) -> Iterator[tuple[int, int, LaplacianClassifier]]:
        """Fit classifiers that share eigenvectors, for every y.

        Parameters
        ----------
        models : sequence of LaplacianClassifier
            All with the :meth:`sharing_key` of this one; not changed.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        ys : sequence of array-like of shape (n_samples,)
            Labels.
        graph : NeighborGraph, default=None
            As for :meth:`fit`.

        Yields
        ------
        model, y, fitted : int, int, LaplacianClassifier
            Positions in ``models`` and ``ys``, and the model fitted for that y.
        """
        for model in models:
            model._check_parameters()
        every = [PartialLabels.from_y(y) for y in ys]
        most = max(
            largest_number(model.n_eigenvectors, model.penalty, labels)
            for model in models
            for labels in every
        )
        basis = self.build_basis(X, most, graph=graph)
        for number, model in enumerate(models):
            for fold, y in enumerate(ys):
                yield number, fold, clone(model).fit(X, y, basis=basis)

    @property
    def _keeps_type(self) -> bool:
        return bool(self.metric != "precomputed")

    def _check_parameters(self) -> None:
        """Raise InputError for wrong parameters before the search begins."""
        check_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_number(self.n_eigenvectors)
        check_penalty(self.penalty)
        power, hint = self.penalty_power, ": 1 for the roughness of LAPCLASS section 4, 2 stiffer"
        check_real("penalty_power", power, above=0, at_most=LARGEST_POWER, hint=hint)
        check_real("tol", self.tol, at_least=1e-15, below=1, hint=", such as 1e-4")

    def _require_memory(
        self, X: Any, graph: NeighborGraph | None, n_vectors: int, n_classes: int = 0
    ) -> None:
        """Raise NotEnoughMemoryError unless graph, vectors and scores fit in free memory."""
        memory = self._graph_memory(X, graph)
        memory.add_eigenvectors(self._expected_neighbors(X), min(n_vectors, X.shape[0]))
        memory.add_scores(n_classes)
        require_memory(memory.needed, verbose=self.verbose)

    def _compute_basis(
        self, graph: NeighborGraph, n_eigenvectors: int, progress: Progress
    ) -> LaplacianBasis:
        if graph.adjacency.nnz == 0:
            raise InputError(
                f"radius={self.radius} joins no two points: raise it, or use n_neighbors."
            )
        return LaplacianBasis.compute(
            graph,
            n_eigenvectors - 1,
            normalization=self.normalization,
            eigen_solver=self.eigen_solver,
            tol=self.tol,
            progress=progress,
        )

    def _store(self, columns: LaplacianColumns, fit: RidgeFit, labels: PartialLabels) -> None:
        """Score all rows and set the fitted attributes."""
        basis, graph = columns.basis, columns.basis.graph
        self.unreached_ = find_unreached(labels, graph.connected_components)
        warn_of_unreached(labels, graph.connected_components, self.unreached_)
        # Among ties at the end of a neighbor list only some of several equal rows are taken.
        scores = mean_of_equal(columns.combine(fit.coefficients), graph.equal_groups)
        self._prior = class_frequencies(labels)
        scores[self.unreached_] = self._prior
        self.classes_ = labels.classes
        self.decision_values_ = scores
        self.transduction_ = transduce(labels, scores)
        self.label_distributions_ = nearest_distributions(scores)
        self.coef_ = fit.coefficients.T
        self.eigenvalues_ = columns.eigenvalues
        self.n_eigenvectors_ = basis.n_vectors + 1
        self.penalty_ = fit.penalty
        self.column_rank_ = fit.rank
        self.graph_ = graph
        self.basis_ = basis
        self.certificate_ = LaplacianCertificate(
            basis.certificate,
            n_labeled=labels.n_labeled,
            n_columns=columns.n_columns,
            column_rank=fit.rank,
            criterion=fit.criterion,
            n_unreached=len(self.unreached_),
            n_bounded=_count_bounded(basis),
        )
        self._columns = columns

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, keep_type=self._keeps_type)
        with limit_threads(self.n_jobs):
            distances = self.graph_.distances_to(X)
            scores = self._columns.combine_at_new(distances, self.coef_.T)
        scores[np.isnan(scores[:, 0])] = self._prior
        equal, own = self.graph_.values_of_equal(X, distances, self.decision_values_)
        scores[equal] = own
        return scores


def _count_bounded(basis: LaplacianBasis) -> int:
    """Return how many eigenvectors the extension bounds at a typical new row.

    A new row has n_neighbors edges, fewer than most rows of the graph, which are neighbors of
    others too: its d(x) is estimated as the median over the graph's rows of n_neighbors times the
    mean weight of a row's edges.
    """
    unit = 1.0
    if basis.normalization == "none":
        weights, recipe = basis.graph.adjacency, basis.graph.recipe
        counts = np.diff(weights.indptr)
        degrees = np.asarray(weights.sum(axis=1), dtype=float)[counts > 0]
        share = np.ones(len(degrees))
        if recipe.radius is None:
            share = np.minimum(1, recipe.n_neighbors / counts[counts > 0])
        unit = float(np.median(share * degrees)) if len(degrees) else 1.0
    return int(np.count_nonzero(1 - basis.eigenvalues / unit < LEAST_SHARE))
