"""Marginal Fisher analysis: a projection with compact classes and wide margins between them.

Two graphs define it: neighbors within a class should come close, and neighbors of different classes
move apart (CCDR-MC eq. 8-11). With a kernel, the projection is one of the kernel's feature space.

Rows are given by their features, or by their inner products K alone. For the latter
H K H = U diag(s^2) U^T, with H = I - 1 1^T / n, are the inner products about the rows' mean, and
Z = U diag(s) has them in as many coordinates as the rows span dimensions: Z a, for a direction a,
is (K - 1 m^T) U diag(1 / s) a, with m the mean of the rows of K, and so it is for new rows of K.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_integer, check_real, check_rows
from labelfold.exceptions import FewNeighborsWarning, InputError, warn_user
from labelfold.graph.class_neighbors import Search, kernel_search, marginal_graphs, row_search
from labelfold.graph.neighbor_index import ExactIndex
from labelfold.graph.point_space import PointSpace
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen.graph_ratio import smallest_ratios
from labelfold.threads import limit_threads

__all__ = ["MarginalFisherAnalysis"]

Array = NDArray[np.float64]

LEAST_RIDGE, LARGEST_RIDGE = 1e-12, 1e12  # below, rounding decides between flat directions
NOT_PSD = 1e-5  # a negative eigenvalue above this share of the largest is not from rounding
LARGEST_KERNEL = 1e304
ASYMMETRY = 1e-8  # of a kernel, relative to its largest entry


@declare(
    Declaration(
        "mfa",
        "marginal Fisher analysis, a linear or kernel projection",
        labels="needs",
        produces="embedding",
        uses_graph=False,
        only_in_fit=("between_graph_", "within_graph_"),
        examples=({}, {"kernel": "linear"}),
    )
)
class MarginalFisherAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Marginal Fisher analysis: directions in which classes are compact and apart at their margins.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, not limited by the number of classes.
    n_neighbors_within : int, default=5
        Neighbors of its own class that a row is drawn to.
    n_neighbors_between : int, default=20
        Neighbors of any other class that a row is pushed from.
    kernel : {"linear", "rbf", "poly", "cosine", "precomputed"}, str or callable, default=None
        None projects the features themselves. A kernel of scikit-learn, or a function of two rows,
        projects its feature space; "precomputed" takes kernel matrices for X.
    gamma : float, default=None
        Coefficient of "rbf", "poly" and the like; None is 1 / n_features.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant term of "poly" and "sigmoid".
    ridge : float, default=1e-3
        Ridge added to the compactness, relative to its trace. It makes directions unique if
        features outnumber rows, or are collinear.
    graph_weight : float, default=0.0
        Weight of a graph of all rows, labeled or not, that should be compact as well. With 0
        unlabeled rows have no effect.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions; with ``kernel=None`` only.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows in ``support_``, whose coordinates are 0; with ``kernel=None`` only.
    dual_coef_ : ndarray of shape (n_support, n_components)
        Weights of the kernel with each row in ``support_``; with a kernel only.
    X_fit_ : {ndarray, csr_array} of shape (n_support, n_features)
        These rows; with a kernel that is not precomputed.
    support_ : ndarray of shape (n_support,)
        Numbers of the rows that were used: the labeled ones, or all if ``graph_weight`` is
        positive.
    kernel_ : str, callable or None
        The kernel of the fit.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of compactness, with graph_weight and ridge, to separability in each direction,
        ascending.
    within_graph_ : csr_array of shape (n_samples, n_samples)
        1 where rows of one class are neighbors (CCDR-MC eq. 9).
    between_graph_ : csr_array of shape (n_samples, n_samples)
        1 where rows of different classes are neighbors (CCDR-MC eq. 11).
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    certificate_ : EigenCertificate
        How good the solve is; residuals are relative to the largest ratio of separability to
        compactness.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    CCDR : An embedding that is not linear, of labeled and unlabeled rows.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Compares means of classes.

    Notes
    -----
    With W_w and W_b the two graphs, L = D - W their Laplacians and X the rows, the directions a
    solve ::

        X^T L_w X a = lambda X^T L_b X a

    with the smallest lambda, the ratio of compactness ``sum_ij w_ij |y_i - y_j|^2`` over W_w
    (CCDR-MC eq. 8) to separability, the same over W_b (eq. 10). The left side also has
    ``graph_weight X^T L X``, with L of the graph that connects every row with its
    ``n_neighbors_within`` nearest of any class or none, and ``ridge`` times the trace of all that,
    times I. The ridge decides if no within-class edge has a length, as in spaces of more
    dimensions than there are rows: of such directions it prefers those of much separability. A
    direction without separability has an infinite ratio and is never taken. Components are scaled
    such that the mean of ``(y_i - y_j)^2`` over the edges of W_b is 1 in every coordinate, and
    the products of different coordinates average to 0.

    This is not linear discriminant analysis, and does not tend to it: neighbors replace means and
    covariances, so classes need be neither Gaussian nor connected. For Gaussian classes whose
    features are correlated, the direction is by design not that of Bayes' rule, and stays degrees
    away from it with tens of thousands of rows. Features should have comparable units, since
    neighbors and ridge depend on them.

    With a kernel, inner products in its feature space replace those of rows, for neighbors, ridge
    and projection alike, so ``kernel="linear"`` gives the embedding of ``kernel=None``.

    The cost is O(n^2 d) for the neighbors, O(n k d + n d^2) for the matrices and O(d^3) for the
    solve, and the largest dense matrix made of sparse rows is d x d; with a kernel, or for more
    features than rows, the cost is O(n^3 + n^2 d) and the matrices are n x n.

    Deviation: CCDR-MC presents two classes; here there may be more, and a row's neighbors outside
    its class come from all the others together (eq. 11). Yan et al. take the nearest pairs between
    each class and its outside instead, a fixed number for every class, so rows far from a margin
    have no edge there. Neither paper has the ridge; Yan et al. reduce the rows by principal
    components first.

    References
    ----------
    S. Yan, D. Xu, B. Zhang, H.-J. Zhang, Q. Yang and S. Lin, "Graph embedding and extensions: a
    general framework for dimensionality reduction", IEEE TPAMI 29(1), 2007.

    R. Raich, S. B. Damelin, J. A. Costa and A. O. Hero III, "Classification constraint
    dimensionality reduction".

    Examples
    --------
    >>> from labelfold import MarginalFisherAnalysis
    >>> from labelfold.datasets import make_concentric_circles
    >>> X, y, _ = make_concentric_circles(300, random_state=0)
    >>> circles = MarginalFisherAnalysis(1, kernel="rbf").fit(X, y)
    >>> inner, outer = circles.transform([[0.0, 1.0], [0.0, 2.0]]).ravel()
    >>> bool(abs(inner - outer) > 0.9)
    True
    """

    components_: Array
    mean_: Array
    dual_coef_: Array
    X_fit_: Any
    eigenvalues_: Array
    certificate_: EigenCertificate

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors_within: int = 5,
        n_neighbors_between: int = 20,
        kernel: Any = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        ridge: float = 1e-3,
        graph_weight: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors_within = n_neighbors_within
        self.n_neighbors_between = n_neighbors_between
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.graph_weight = graph_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; a kernel matrix of shape (n_samples, n_samples) for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of two classes or more; -1, None, NaN and pandas.NA are unlabeled.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = check_rows(self, X, reset=True)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(
                f"kernel='precomputed' needs a square matrix for fit, got shape {X.shape}: pass "
                "the kernel of all rows with all rows."
            )
        labels = self._check_labels(y, X.shape[0])
        self._check_parameters()
        self._warn_of_few_neighbors(labels)
        for name in ("components_", "mean_", "dual_coef_", "X_fit_"):
            self.__dict__.pop(name, None)  # an earlier fit may have had a kernel, or none
        self.classes_, self.kernel_ = labels.classes, self.kernel
        names = ("gamma", "degree", "coef0") if isinstance(self.kernel, str) else ()
        self._kernel_parameters = {name: getattr(self, name) for name in names}
        used = np.arange(len(labels)) if self.graph_weight > 0 else np.flatnonzero(labels.mask)
        self.support_ = used
        with limit_threads(self.n_jobs):
            if self.kernel is None:
                features = _FeatureSpace(X[used], n_jobs=self.n_jobs)
                self.mean_ = features.mean
                self.components_ = features.components(self._solve(features, labels))
            else:
                if self.kernel != "precomputed":
                    self.X_fit_ = X[used]
                products = _KernelSpace(self._kernel_with_support(X[used]))
                self._means = products.means
                self.dual_coef_ = products.dual(self._solve(products, labels))
        return self

    def transform(self, X: Any) -> Array:
        """Embed rows, without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows; their kernel with all training rows, of shape (n_new, n_samples), for
            ``kernel="precomputed"``.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Coordinates of every row.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        with limit_threads(self.n_jobs):
            if self.kernel_ is not None:
                return np.asarray((self._kernel_with_support(X) - self._means) @ self.dual_coef_)
            is_sparse, A = sp.issparse(X), self.components_.T
            return np.asarray(X @ A - self.mean_ @ A if is_sparse else (X - self.mean_) @ A)

    def _solve(self, space: _FeatureSpace | _KernelSpace, labels: PartialLabels) -> Array:
        """Set the graphs, eigenvalues and certificate, and return the directions as columns."""
        search, codes = space.search, labels.codes[self.support_]
        within, between = marginal_graphs(
            search, codes, self.n_neighbors_within, self.n_neighbors_between
        )
        compact = within
        if self.graph_weight > 0:
            of_all, _ = marginal_graphs(search, 0 * codes, self.n_neighbors_within, 0)
            compact = sp.csr_array(within + self.graph_weight * of_all)
        pairs = smallest_ratios(space.Z, compact, between, self.n_components, ridge=self.ridge)
        self.within_graph_ = _among_all(within, self.support_, len(labels))
        self.between_graph_ = _among_all(between, self.support_, len(labels))
        self.eigenvalues_ = pairs.values
        self.certificate_ = pairs.certificate
        return pairs.vectors

    def _kernel_with_support(self, X: Any) -> Array:
        """Return the kernel of rows with those in ``support_``."""
        if self.kernel_ == "precomputed":
            return _dense(X[:, self.support_])
        K = pairwise_kernels(
            X, self.X_fit_, metric=self.kernel_, filter_params=True, **self._kernel_parameters
        )
        return np.asarray(K)

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        labels = PartialLabels.from_y(y, n_samples=n_samples)
        if labels.n_classes < 2:
            given = f"one class, {labels.classes.tolist()[0]!r}" if labels.n_classes else "no label"
            raise InputError(
                f"y holds {given}, and marginal Fisher analysis compares at least two classes: "
                "without labels use LaplacianEigenmaps or sklearn.decomposition.PCA."
            )
        return labels

    def _check_parameters(self) -> None:
        for name in ("n_components", "n_neighbors_within", "n_neighbors_between"):
            check_integer(name, getattr(self, name), least=1)
        hint = ", such as 1e-3: it makes directions unique if features outnumber rows"
        check_real("ridge", self.ridge, at_least=LEAST_RIDGE, at_most=LARGEST_RIDGE, hint=hint)
        hint = ": with 0 unlabeled rows have no effect"
        check_real("graph_weight", self.graph_weight, at_least=0, hint=hint)
        kernels = ["precomputed", *sorted(PAIRWISE_KERNEL_FUNCTIONS)]
        if self.kernel is not None and not callable(self.kernel) and self.kernel not in kernels:
            raise InputError(
                f"kernel={self.kernel!r} is unknown: use None, a function of two rows, or one of "
                f"{kernels}."
            )
        if self.kernel is not None:
            check_real("degree", self.degree, at_least=1)
            check_real("coef0", self.coef0)
            if self.gamma is not None:
                check_real("gamma", self.gamma, at_least=0)

    def _warn_of_few_neighbors(self, labels: PartialLabels) -> None:
        sizes = np.bincount(labels.codes[labels.mask])
        for name, others, kind in (
            ("n_neighbors_within", sizes - 1, "other rows of its class"),
            ("n_neighbors_between", sizes.sum() - sizes, "rows of other classes"),
        ):
            k, few = getattr(self, name), int(others.argmin())
            if others[few] < k:
                warn_user(
                    f"{name}={k} is more than the {others[few]} {kind} that a row of class "
                    f"{labels.classes.tolist()[few]!r} has: all of them are its neighbors "
                    f"({np.sum(others < k)} of {len(sizes)} classes are that small).",
                    FewNeighborsWarning,
                )

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _among_all(graph: sp.csr_array, rows: NDArray[np.intp], n: int) -> sp.csr_array:
    """Return the graph of some rows as one of all n, in which the others have no edge."""
    edges = graph.tocoo()
    return sp.csr_array((edges.data, (rows[edges.row], rows[edges.col])), shape=(n, n))


class _FeatureSpace:
    """Rows by their features, with coordinates ``Z``.

    Z are the features, less their mean if dense, or coordinates in the span of the rows if features
    outnumber rows.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        self.mean: Array = np.asarray(X.mean(axis=0)).ravel()
        index = ExactIndex(X, PointSpace("euclidean"), n_jobs=n_jobs, copy=False)
        self.search = row_search(index)
        # In units in which squares neither overflow nor vanish; powers of two cost no digit.
        self._unit = float(np.ldexp(1.0, np.frexp(abs(X).max())[1]))
        is_sparse = sp.issparse(X)
        self._rows = X / self._unit if is_sparse else (X - self.mean) / self._unit
        self.Z = self._rows
        self._products: _KernelSpace | None = None
        if X.shape[1] > X.shape[0]:
            self._products = _KernelSpace(_dense(self._rows @ self._rows.T))
            self.Z = self._products.Z

    def components(self, A: Array) -> Array:
        """Return directions, given as columns in the coordinates, as rows of features."""
        if self._products is not None:
            A = np.asarray(self._rows.T @ self._products.dual(A))
        return np.ascontiguousarray(A.T / self._unit)


class _KernelSpace:
    """Rows by their inner products K, with centered coordinates ``Z`` and ``means`` of K's rows."""

    def __init__(self, K: Array) -> None:
        if not np.all(np.abs(K) <= LARGEST_KERNEL):  # NaN is not
            raise InputError(
                f"The kernel of some rows is not finite, or above {LARGEST_KERNEL:g}, where sums "
                "overflow: rescale X."
            )
        if np.abs(K - K.T).max() > ASYMMETRY * np.abs(K).max():
            raise InputError("The kernel matrix is not symmetric: k(x, y) must equal k(y, x).")
        self.means: Array = K.mean(axis=0)
        centered = K - self.means - self.means[:, None] + self.means.mean()
        squares, U = eigh((centered + centered.T) / 2, driver="evd")
        largest = np.abs(squares).max()
        if squares[0] < -NOT_PSD * largest:
            raise InputError(
                "The kernel is not positive semidefinite: the eigenvalues of its centered matrix "
                f"go from {squares[0]:.3g} to {squares[-1]:.3g}. Use another kernel or other "
                "parameters."
            )
        spanned = squares > len(K) * np.finfo(float).eps * largest
        self._U, self._s = U[:, spanned], np.sqrt(squares[spanned])
        self.Z: Array = self._U * self._s
        self._K = K

    @property
    def search(self) -> Search:
        """Search by the distances of the kernel."""
        return kernel_search((self._K + self._K.T) / 2)

    def dual(self, A: Array) -> Array:
        """Return weights of the inner products with the rows, for directions given as columns."""
        return np.asarray((self._U / self._s) @ A)


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
