"""Marginal Fisher analysis: linear maps that draw classes together and push their margins apart.

Two graphs say what that means: neighbours within a class should come close, and neighbours of
different classes move apart (CCDR-MC eq. 8-11). With a kernel the map is linear in the kernel's
feature space.

Rows are known by their features, or by their inner products K alone. In the latter case
H K H = U diag(s^2) U^T, with H = I - 1 1^T / n, are the inner products about the rows' mean, and
Z = U diag(s) has them in as many coordinates as the rows span dimensions: Z a, for a direction a,
is (K - 1 m^T) U diag(1 / s) a, with m the mean of the rows of K, and so it is for new rows of K.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_integer, check_real, check_rows
from labelfold.exceptions import FewNeighborsWarning, InputError
from labelfold.graph.class_neighbors import KernelSearch, RowSearch, join_nearest, marginal_graphs
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen.graph_ratio import smallest_ratios
from labelfold.threads import limit_threads

__all__ = ["MarginalFisherAnalysis"]

Array = NDArray[np.float64]

LEAST_REG, LARGEST_REG = 1e-12, 1e12  # below, rounding decides between flat directions
NOT_PSD = 1e-5  # a negative eigenvalue beyond this part of the largest is not from rounding
ASYMMETRY = 1e-8  # of a kernel, relative to its largest entry


@declare(
    Declaration(
        "mfa",
        "marginal Fisher analysis, a linear or kernel map",
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
        Dimension of the map. It is not bound by the number of classes.
    n_neighbors_within : int, default=5
        Neighbours of its own class that a point is drawn to.
    n_neighbors_between : int, default=20
        Neighbours outside its class, of whatever class, that a point is pushed from.
    kernel : {"linear", "rbf", "poly", "cosine", "precomputed"}, str or callable, default=None
        None maps the features themselves. A kernel of scikit-learn, or a function of two rows,
        maps its feature space; "precomputed" takes kernel matrices for X.
    gamma : float, default=None
        Coefficient of "rbf", "poly" and the like; None is 1 / n_features.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant term of "poly" and "sigmoid".
    reg : float, default=1e-3
        Ridge added to the compactness, relative to its trace. It settles what is left open where
        features outnumber points, or are collinear.
    smoothness : float, default=0.0
        Weight of a graph of all rows, labelled or not, that is to be compact as well. With 0
        unlabelled rows count for nothing.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions; with ``kernel=None`` only.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows that count, which is mapped to 0; with ``kernel=None`` only.
    dual_coef_ : ndarray of shape (n_support, n_components)
        Weights of the kernel with each of the rows that count; with a kernel only.
    X_fit_ : {ndarray, csr_array} of shape (n_support, n_features)
        These rows; with a kernel that is not precomputed.
    support_ : ndarray of shape (n_support,)
        Numbers of the rows that count: the labelled ones, or all where ``smoothness`` is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of compactness, with smoothness and ridge, to separability in each direction,
        ascending.
    within_graph_ : csr_array of shape (n_samples, n_samples)
        1 where rows of one class are neighbours (CCDR-MC eq. 9).
    between_graph_ : csr_array of shape (n_samples, n_samples)
        1 where rows of different classes are neighbours (CCDR-MC eq. 11).
    classes_ : ndarray of shape (n_classes,)
        Classes with a labelled point, sorted.
    certificate_ : EigenCertificate
        How good the solve is; residuals are relative to the largest ratio of separability to
        compactness.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    CCDR : A map that is not linear, of labelled and unlabelled points.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Compares means of classes.

    Notes
    -----
    With W_w and W_b the two graphs, L = D - W their Laplacians and X the rows, the directions a
    solve ::

        X^T L_w X a = lambda X^T L_b X a

    with the smallest lambda, the ratio of compactness ``sum_ij w_ij |y_i - y_j|^2`` over W_w
    (CCDR-MC eq. 8) to separability, the same over W_b (eq. 10). On the left stands in addition
    ``smoothness X^T L X``, with L of the graph in which every row is joined to its
    ``n_neighbors_within`` nearest of any class or none, and ``reg`` times the trace of all that,
    times I. The ridge decides where no within-class edge has a length, as in spaces of more
    dimensions than there are points: of such directions it prefers those of much separability. A
    direction without separability has an infinite ratio and is never taken. Components are scaled
    such that the mean of ``(y_i - y_j)^2`` over the edges of W_b is 1 in every coordinate, and
    the products of different coordinates average to 0.

    This is not linear discriminant analysis, and does not tend to it: neighbours take the place of
    means and covariances, so that classes need be neither Gaussian nor of one piece. For Gaussian
    classes whose features are correlated, the direction is by design not that of Bayes' rule, and
    stays degrees away from it with tens of thousands of points. Features should have comparable
    units, since neighbours and ridge depend on them.

    With a kernel, inner products in its feature space take the place of those of rows, for
    neighbours, ridge and map alike, so that ``kernel="linear"`` gives the map of ``kernel=None``.

    The cost is O(n^2 d) for the neighbours, O(n k d + n d^2) for the matrices and O(d^3) for the
    solve, where no more than a matrix of d x d is made dense of sparse rows; with a kernel, or
    for more features than points, the cost is O(n^3 + n^2 d) and the matrices are n x n.

    Deviation: CCDR-MC presents two classes, and here there are any number: a point's neighbours
    outside its class come from all the others together (eq. 11). Yan et al. take the nearest pairs
    between each class and its outside instead, a fixed number for every class, so that points far
    from a margin have no edge there. The ridge is no part of either; Yan et al. reduce the
    rows by principal components first.

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
        reg: float = 1e-3,
        smoothness: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors_within = n_neighbors_within
        self.n_neighbors_between = n_neighbors_between
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.reg = reg
        self.smoothness = smoothness
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; a kernel matrix of shape (n_samples, n_samples) for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of two classes or more; -1, None, NaN and pandas.NA are unlabelled.

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
        self.classes_ = labels.classes
        used = np.arange(len(labels)) if self.smoothness > 0 else np.flatnonzero(labels.mask)
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
        """Map rows, without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows; their kernel with all rows of fit, of shape (n_new, n_samples), for
            ``kernel="precomputed"``.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            The map of every row.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        with limit_threads(self.n_jobs):
            if self.kernel is not None:
                return np.asarray((self._kernel_with_support(X) - self._means) @ self.dual_coef_)
            is_sparse, A = sp.issparse(X), self.components_.T
            return np.asarray(X @ A - self.mean_ @ A if is_sparse else (X - self.mean_) @ A)

    def _solve(self, space: _FeatureSpace | _KernelSpace, labels: PartialLabels) -> Array:
        """Return the directions as columns, and keep what led to them."""
        search, codes = space.search, labels.codes[self.support_]
        within, between = marginal_graphs(
            search, codes, self.n_neighbors_within, self.n_neighbors_between
        )
        compact = within
        if self.smoothness > 0:
            everyone = join_nearest(search, len(codes), self.n_neighbors_within)
            compact = sp.csr_array(within + self.smoothness * everyone)
        pairs = smallest_ratios(space.Z, compact, between, self.n_components, reg=self.reg)
        self.within_graph_ = _among_all(within, self.support_, len(labels))
        self.between_graph_ = _among_all(between, self.support_, len(labels))
        self.eigenvalues_ = pairs.values
        self.certificate_ = pairs.certificate
        return pairs.vectors

    def _kernel_with_support(self, X: Any) -> Array:
        """Return the kernel of rows with those that count."""
        if self.kernel == "precomputed":
            return _dense(X[:, self.support_])
        named = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        named = {} if callable(self.kernel) else named
        K = pairwise_kernels(X, self.X_fit_, metric=self.kernel, filter_params=True, **named)
        return _dense(K)

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        way_out = "for a map without labels use LaplacianEigenmaps or sklearn.decomposition.PCA"
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                f"{way_out}."
            )
        labels = PartialLabels.from_y(y, n_samples=n_samples)
        if labels.n_classes < 2:
            found = f"one class, {labels.classes.tolist()[0]!r}" if labels.n_classes else "no label"
            raise InputError(
                f"y holds {found}, and marginal Fisher analysis compares at least two classes: "
                f"{way_out}."
            )
        return labels

    def _check_parameters(self) -> None:
        for name in ("n_components", "n_neighbors_within", "n_neighbors_between"):
            check_integer(name, getattr(self, name), least=1)
        hint = (
            ", such as 1e-3: without it directions are not unique where features outnumber points"
        )
        check_real("reg", self.reg, at_least=LEAST_REG, at_most=LARGEST_REG, hint=hint)
        hint = ", for unlabeled rows to count for nothing"
        check_real("smoothness", self.smoothness, at_least=0, hint=hint)
        kernels = ["precomputed", *sorted(PAIRWISE_KERNEL_FUNCTIONS)]
        if self.kernel is not None and not callable(self.kernel) and self.kernel not in kernels:
            raise InputError(
                f"kernel={self.kernel!r} is unknown: use None, a function of two rows, or one of "
                f"{kernels}."
            )

    def _warn_of_few_neighbors(self, labels: PartialLabels) -> None:
        sizes = np.bincount(labels.codes[labels.mask])
        for name, others, kind in (
            ("n_neighbors_within", sizes - 1, "other points of its class"),
            ("n_neighbors_between", sizes.sum() - sizes, "points of other classes"),
        ):
            k, few = getattr(self, name), int(others.argmin())
            if others[few] < k:
                warnings.warn(
                    f"{name}={k} is more than there are {kind} for a point of class "
                    f"{labels.classes.tolist()[few]!r}, which are {others[few]}: it is joined to "
                    f"all of them ({np.sum(others < k)} of {len(sizes)} classes are so small).",
                    FewNeighborsWarning,
                    stacklevel=3,
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
    """Rows known by their features.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Rows.
    n_jobs : int, default=None
        Bound on the number of threads of the search.

    Attributes
    ----------
    Z : {ndarray, csr_array} of shape (n, r)
        Coordinates: the features, less their mean if dense, or those that the rows span where
        features outnumber rows.
    mean : ndarray of shape (d,)
        Mean of the rows.
    search : RowSearch
        Neighbours of the rows.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        self.mean: Array = np.asarray(X.mean(axis=0)).ravel()
        self.search = RowSearch(X, n_jobs=n_jobs)
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
    """Rows known by their inner products, which a kernel gives.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Inner products: symmetric and positive semidefinite.

    Attributes
    ----------
    Z : ndarray of shape (n, r)
        Coordinates with mean 0.
    means : ndarray of shape (n,)
        Mean of the rows of K.
    """

    def __init__(self, K: Array) -> None:
        if not np.all(np.isfinite(K)):
            raise InputError("The kernel of some rows is not finite: rescale X.")
        if np.abs(K - K.T).max() > ASYMMETRY * np.abs(K).max():
            raise InputError("The kernel matrix is not symmetric: k(x, y) must equal k(y, x).")
        self.means: Array = K.mean(axis=0)
        centered = K - self.means - self.means[:, None] + self.means.mean()
        squares, U = eigh((centered + centered.T) / 2, driver="evd")
        largest = np.abs(squares).max()
        if squares[0] < -NOT_PSD * largest:
            raise InputError(
                "The kernel is not positive semidefinite: of the eigenvalues of its centred matrix "
                f"the least is {squares[0]:.3g} and the largest {squares[-1]:.3g}. Use another "
                "kernel, or other parameters of it."
            )
        spanned = squares > len(K) * np.finfo(float).eps * largest
        self._U, self._s = U[:, spanned], np.sqrt(squares[spanned])
        self.Z: Array = self._U * self._s
        self._K = K

    @property
    def search(self) -> KernelSearch:
        """Neighbours of the rows."""
        return KernelSearch((self._K + self._K.T) / 2)

    def dual(self, A: Array) -> Array:
        """Return weights of the inner products with the rows, for directions given as columns."""
        return np.asarray((self._U / self._s) @ A)


def _dense(matrix: Any) -> Array:
    """Return a matrix, sparse or not, as an array."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
