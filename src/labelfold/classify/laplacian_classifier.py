"""Classification by the eigenvectors of the graph Laplacian (LAPCLASS)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEstimator
from labelfold.checks import check_choice, check_real, check_rows
from labelfold.classify.laplacian_scores import (
    LEAST_SHARE,
    LaplacianColumns,
    ScoreFit,
    check_number,
    check_penalty,
    count_eigenvectors,
    fit_scores,
    largest_number,
)
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
from labelfold.methods import Declaration, declare, stored
from labelfold.progress import Progress, show_progress
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen import EIGEN_SOLVERS, NORMALIZATIONS
from labelfold.spectral.laplacian_basis import LaplacianBasis
from labelfold.threads import limit_threads

__all__ = ["LaplacianCertificate", "LaplacianClassifier"]

LARGEST_POWER = 10  # beyond, the roughness of the smoothest vectors is out of range
CRITERIA = {
    "leave-one-out": "leave-one-out error",
    "usual": "custom, as no label can be left out",
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
        Number of labelled points.
    n_columns : int
        Number of functions that were combined.
    rank : int
        Their rank on the labelled points: below n_columns the smoothest scores are taken, unless a
        penalty makes them unique.
    criterion : {"given", "leave-one-out", "usual"}
        Whether number of eigenvectors and penalty were given, compared on labels that were left
        out, or, where no label can be left out, set to what is usual.
    n_unreached : int
        Points in components without a label.
    n_bounded : int
        Eigenvectors that the guard of the extension bounds at a typical new point, where
        1 - lambda / d(x) falls below 0.5.
    """

    eigen: EigenCertificate = field(repr=False)
    n_labeled: int
    n_columns: int
    rank: int
    criterion: str
    n_unreached: int
    n_bounded: int

    @property
    def ok(self) -> bool:
        """Whether the eigenvectors are as good as asked."""
        return self.eigen.ok

    def __str__(self) -> str:
        text = str(self.eigen).removesuffix(".")
        text += (
            f"; {self.n_columns} columns of rank {self.rank} on {self.n_labeled} labelled points"
        )
        if self.criterion != "given":
            text += f"; parameters by {CRITERIA[self.criterion]}"
        if self.n_unreached:
            text += f"; {self.n_unreached} points out of reach of any label"
        if self.n_bounded:
            text += f"; {self.n_bounded} eigenvectors are bounded at new points"
        return text + "."


@declare(
    Declaration(
        "laplacian",
        "regression of labels on Laplacian eigenvectors",
        labels="needs",
        produces="classification",
        only_in_fit=("label_distributions_", "transduction_"),
        agreement=1e-6,
        examples=(
            {},
            {"n_eigenvectors": "auto", "penalty": "auto"},
            {
                "n_eigenvectors": 10,
                "normalization": "degree",
                "weights": "heat",
                "eigen_solver": "arpack",
                "tol": 1e-10,
            },
        ),
    )
)
class LaplacianClassifier(ScoreClassifierMixin, GraphEstimator):
    """Label all points by least squares on the smoothest functions over their graph.

    Parameters
    ----------
    n_eigenvectors : float, int or "auto", default=0.2
        Number of eigenvectors p, the constant one included. A float is a fraction of the labelled
        points, an int the number. "auto" takes the number with the smallest leave-one-out error,
        up to half the labelled points. With a penalty, which holds the rough ones back, a fraction
        is raised to 100 eigenvectors, and "auto" is a fifth; a given basis bounds both.
    penalty : float or "auto", default=0.0
        Weight of the scores' roughness. 0 is the paper's rule; ``float("inf")`` the limit of a
        large penalty; "auto" is chosen by leave-one-out error, and errs less than the paper's rule
        where labels are few.
    penalty_power : float, default=2.0
        Power of the eigenvalues in the roughness. 1 is LAPCLASS section 4, and its limit of a large
        penalty points where Poisson learning does; 2 was better on images and spectra with few
        labels.
    n_neighbors : int, default=8
        Neighbours of every point; an edge stands where either end counts the other.
    radius : float, default=None
        Join all points up to this distance instead of the nearest ones.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (a sparse matrix of neighbour distances as
        ``KNeighborsTransformer(mode="distance")`` makes it), or any metric of scikit-learn.
    weights : {"heat", "binary"} or callable, default="binary"
        Weight of an edge of length d: exp(-d^2 / scale), 1, or ``weights(distances, scales)``.
    scale : "auto", float or array-like of shape (n_samples,), default="auto"
        Scale of the weights, for all edges or for every point. "auto" is ten times the mean
        squared distance to the nearest distinct point.
    normalization : {"none", "degree"}, default="none"
        Eigenvectors of L e = lambda e, or of L e = lambda D e.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` tells the recall.
    eigen_solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" chooses by the size of the graph and the number of eigenvectors.
    tol : float, default=1e-4
        Residual that every eigenvector has to reach, on the scale where the operator's spectrum
        lies in [-1, 1]. Labels hardly change below it.
    random_state : int, RandomState instance or None, default=None
        Fixes the approximate search; nothing else is random.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes with a labelled point, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A class for every row: the given label where there is one, else the one with the largest
        score.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The distribution nearest to every row's scores, labelled rows too: where it disagrees with
        a given label, that label is worth a look. A measure of confidence, not calibrated.
    scores_ : ndarray of shape (n_samples, n_classes)
        The competing scores of all rows.
    unreached_ : ndarray of shape (n_unreached,)
        Rows in components of the graph without a label. They get the frequencies of the given
        labels as distribution and the most frequent class, and a warning counts them.
    coef_ : ndarray of shape (n_classes, n_columns)
        Coefficients of the scores. The first columns are the components with a label, in the order
        of their numbers in ``graph_.pieces``: indicators of length 1. The others are
        ``basis_.vectors``.
    eigenvalues_ : ndarray of shape (n_columns,)
        Eigenvalues of the columns: zeros for the components, then ascending.
    n_eigenvectors_ : int
        The number p that was used, the constant one included.
    penalty_ : float
        The penalty that was used.
    rank_ : int
        Rank of the columns on the labelled rows. Below n_columns the paper's rule is not unique,
        and the smoothest scores are taken.
    basis_ : LaplacianBasis
        The eigenvectors above the null space.
    graph_ : NeighborGraph
        The graph; its components are not joined.
    certificate_ : LaplacianCertificate
        How good the solve is, and how many eigenvectors are bounded when new points are placed.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    ManifoldClassifier : A classifier on a map that sees the labels.
    labelfold.evaluate.TransductiveSearchCV : Choose parameters; candidates share graph and basis.

    Notes
    -----
    For every class k minimises over the coefficients a_k ::

        sum_i (c_ki - sum_j a_kj e_j(i))^2 + penalty * sum_j lambda_j^penalty_power a_kj^2

    where i runs over the labelled points, c_ki is 1 for a member and 0 otherwise, and e_j is the
    j-th eigenvector of the graph Laplacian with eigenvalue lambda_j (LAPCLASS section 3; by its
    section 4 the second sum is the roughness of the score for power 1). The class with the largest
    score wins. For two classes that is the sign of the paper's single function, fitted to -1
    and +1.

    On a graph of several components the indicator of each is an eigenvector with eigenvalue 0. The
    indicators of all components with a label come first, and those after the first do not count
    in p.

    With a penalty a score is a level, the share of the class among the labels of the component,
    plus a difference from it. A large penalty makes the differences small, and the largest score
    would name the most frequent class everywhere: so they are scaled back to fit labels that were
    left out, and levels that differ by chance are drawn together.

    New points get their scores from their neighbours: eigenvector j at x is ::

        sum_i w(x, x_i) e_j(x_i) / (d(x) - lambda_j),    d(x) = sum_i w(x, x_i)

    (CCDR-MC eq. 37; with ``normalization="degree"`` the denominator is d(x) (1 - lambda_j)), where
    the denominator is kept at half of d(x) or above. An indicator is the mean of the neighbours'.
    A row equal to a training row gets that row's scores. Each row is treated by itself.

    The cost is that of the neighbour search and of the eigenvectors, which depend on X alone and
    can be shared by many fits (:meth:`build_basis`), plus O(n_labeled p^2 + n p n_classes).

    Deviation: where the columns are dependent on the labelled points, as they are if p exceeds
    their number, the paper's normal equations have no unique solution. The smoothest of all is
    taken, which is the limit of a penalty that tends to 0.

    References
    ----------
    M. Belkin and P. Niyogi, "Using manifold structure for partially labelled classification",
    NIPS 15, 2002.

    Examples
    --------
    >>> from labelfold import LaplacianClassifier, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(1000, random_state=0)
    >>> model = LaplacianClassifier().fit(X[:900], hide_labels(y[:900], keep=range(100)))
    >>> model.n_eigenvectors_
    20
    >>> model.score(X[900:], y[900:]) > 0.9
    True
    """

    def __init__(
        self,
        n_eigenvectors: float | int | str = 0.2,
        *,
        penalty: float | str = 0.0,
        penalty_power: float = 2.0,
        n_neighbors: int = 8,
        radius: float | None = None,
        metric: Any = "euclidean",
        weights: Any = "binary",
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
        """Fit the scores on the labelled rows and label all others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; neighbour distances of shape (n_samples, n_samples) for
            ``metric="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabelled.
        graph : NeighborGraph, default=None
            A graph built from the same rows with the same parameters, to spare the search.
        basis : LaplacianBasis, default=None
            From :meth:`build_basis`, to spare search and solve.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = check_rows(self, X, reset=True)
        labels = PartialLabels.some_from_y(y, n_samples=X.shape[0])
        self._check_parameters()
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            if basis is not None:
                basis.check_matches(graph, self.normalization)
                graph = basis.graph
            graph = self._graph_of(X, graph, progress)
            n_eigenvectors = count_eigenvectors(
                self.n_eigenvectors, self.penalty, labels, graph, basis
            )
            if basis is None:
                basis = self._compute_basis(graph, n_eigenvectors, progress)
            columns = LaplacianColumns.of_labels(basis.truncated(n_eigenvectors - 1), labels)
            fitted = fit_scores(
                columns,
                labels,
                n_eigenvectors=self.n_eigenvectors,
                penalty=self.penalty,
                penalty_power=self.penalty_power,
            )
            self._store(fitted, labels)
        return self

    def build_basis(
        self, X: Any, n_eigenvectors: int, *, graph: NeighborGraph | None = None
    ) -> LaplacianBasis:
        """Compute eigenvectors that many fits share, whatever their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points, as for :meth:`fit`.
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
        check_number(n_eigenvectors)
        if isinstance(n_eigenvectors, str) or n_eigenvectors < 1:
            raise InputError(
                f"n_eigenvectors={n_eigenvectors!r} must be a whole number here, where the "
                "labels are not known."
            )
        X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            graph = self._graph_of(X, graph, progress)
            return self._compute_basis(graph, n_eigenvectors, progress)

    def sharing_key(self) -> Hashable:
        """Return a key that is equal for classifiers that :meth:`fit_many` can fit together.

        They differ in ``n_eigenvectors``, ``penalty`` and its power.
        """
        fitted = ("n_eigenvectors", "penalty", "penalty_power")
        shared = {name: value for name, value in self.get_params().items() if name not in fitted}
        return type(self), *((name, fingerprint(value)) for name, value in shared.items())

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
            Points.
        ys : sequence of array-like of shape (n_samples,)
            Labels.
        graph : NeighborGraph, default=None
            As for :meth:`fit`.

        Yields
        ------
        model, y, fitted : int, int, LaplacianClassifier
            Numbers within ``models`` and ``ys``, and the model fitted for that y.
        """
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

    def _check_parameters(self) -> None:
        """Refuse wrong parameters before the search begins."""
        check_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_number(self.n_eigenvectors)
        check_penalty(self.penalty)
        power, hint = self.penalty_power, ": 1 for the roughness of LAPCLASS section 4, 2 stiffer"
        check_real("penalty_power", power, above=0, at_most=LARGEST_POWER, hint=hint)
        check_real("tol", self.tol, above=0, below=1, hint=", such as 1e-4")

    def _compute_basis(
        self, graph: NeighborGraph, n_eigenvectors: int, progress: Progress
    ) -> LaplacianBasis:
        if graph.weights.nnz == 0:
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

    def _store(self, fitted: ScoreFit, labels: PartialLabels) -> None:
        """Score all points and set the fitted attributes."""
        basis, graph = fitted.columns.basis, fitted.columns.basis.graph
        self.unreached_ = find_unreached(labels, graph.pieces)
        warn_of_unreached(labels, graph.pieces, self.unreached_)
        scores = fitted.columns.combine(fitted.coefficients)
        self._prior = class_frequencies(labels)
        scores[self.unreached_] = self._prior
        self.classes_ = labels.classes
        self.scores_ = scores
        self.transduction_ = transduce(labels, scores)
        self.label_distributions_ = nearest_distributions(scores)
        self.coef_ = fitted.coefficients.T
        self.eigenvalues_ = fitted.columns.eigenvalues
        self.n_eigenvectors_ = basis.n_vectors + 1
        self.penalty_ = fitted.penalty
        self.rank_ = fitted.rank
        self.graph_ = graph
        self.basis_ = basis
        self.certificate_ = LaplacianCertificate(
            basis.certificate,
            n_labeled=labels.n_labeled,
            n_columns=fitted.columns.n_columns,
            rank=fitted.rank,
            criterion=fitted.criterion,
            n_unreached=len(self.unreached_),
            n_bounded=_count_bounded(basis),
        )
        self._columns = fitted.columns

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        with limit_threads(self.n_jobs):
            found = self.graph_.distances_to(X)
            scores = self._columns.combine_at_new(found, self.coef_.T)
        scores[np.isnan(scores[:, 0])] = self._prior
        known, own = self._values_of_equal(X, found, self.scores_)
        scores[known] = own
        return scores


def _count_bounded(basis: LaplacianBasis) -> int:
    """Return how many eigenvectors the guard of the extension bounds at a typical new point.

    A new point has n_neighbors edges, fewer than most points of the graph, whose neighbours may
    also have chosen them: its d(x) is taken as the median over the graph's points, of each as many
    mean edges.
    """
    unit = 1.0
    if basis.normalization == "none":
        weights, recipe = basis.graph.weights, basis.graph.recipe
        counts = np.diff(weights.indptr)
        degrees = np.asarray(weights.sum(axis=1), dtype=float)[counts > 0]
        share = np.ones(len(degrees))
        if recipe.radius is None:
            share = np.minimum(1, recipe.n_neighbors / counts[counts > 0])
        unit = float(np.median(share * degrees)) if len(degrees) else 1.0
    return int(np.count_nonzero(1 - basis.eigenvalues / unit < LEAST_SHARE))
