"""Supervised locally linear embedding (alpha-SLLE): neighbors come from the own class first.

Distances between classes are enlarged before neighbors are chosen. Every row is then reconstructed
from its neighbors by weights that sum to 1, and the embedding is the one that the same weights
reconstruct best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_choice, check_real, seed_from
from labelfold.exceptions import DisconnectedGraphWarning, warn_user
from labelfold.extend.lazy_extension import LazyExtension
from labelfold.extend.local_average import LocalAverage
from labelfold.extend.regression import KernelRegression
from labelfold.graph import NeighborGraph
from labelfold.graph.class_neighbors import nearest_by_class
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen.null_space import SOLVERS, bottom_eigenpairs, closed_components

__all__ = ["SupervisedLLE"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

LEAST_RIDGE, LARGEST_RIDGE = 1e-12, 1e12  # below, rounding leaves the weights undetermined
ENTRIES_AT_ONCE = 2**21  # of differences between points and their neighbors: 16 MB


@declare(
    Declaration(
        "lle",
        "supervised locally linear embedding",
        labels="uses",
        produces="embedding",
        only_in_fit=("neighbors_", "weights_"),
        examples=({}, {"n_components": 1, "alpha": 0.2, "eigen_solver": "arpack"}),
    )
)
class SupervisedLLE(GraphEmbedder):
    """Supervised locally linear embedding: rows are reconstructed from neighbors of their class.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding.
    alpha : float, default=1.0
        How far classes are moved apart before neighbors are chosen, as a share of the largest
        distance, from 0 to 1. With 0 labels have no effect, and this is locally linear embedding;
        with 1 neighbors are of the own class or unlabeled, and of other classes only if these are
        too few. As the largest distance is far larger than those between neighbors, 0.1 often
        works like 1.
    ridge : float, default=1e-3
        Ridge that makes the weights unique, relative to the trace of each row's Gram matrix.
    n_neighbors : int, default=12
        Neighbors that a row is reconstructed from.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` reports the recall. A search within
        a class is always exact.
    eigen_solver : {"auto", "dense", "arpack"}, default="auto"
        "auto" is dense up to 1,500 points; above, ARPACK on a sparse factorization.
    random_state : int, RandomState instance or None, default=None
        Seed of the approximate search and of the extension's landmarks; None is a fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows; columns have length 1 and mean 0.
    eigenvalues_ : ndarray of shape (n_components,)
        Squared error with which the weights reconstruct each coordinate, ascending.
    neighbors_ : ndarray of shape (n_samples, n_neighbors)
        Rows that each row is reconstructed from, nearest first in enlarged distances.
    weights_ : csr_array of shape (n_samples, n_samples)
        Their weights W; every row sums to 1.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    graph_ : NeighborGraph
        The graph of all rows in plain distances, without labels.
    certificate_ : EigenCertificate
        How good the solve is; residuals are relative to the size of the matrix.
    extension_ : KernelRegression
        The extension to new rows, with its error on left-out rows; fitted on first use.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    CCDR : Labels as nodes of a graph whose eigenvectors are the embedding.
    sklearn.manifold.LocallyLinearEmbedding : The same without labels.

    Notes
    -----
    Neighbors are the k nearest in ``D' = D + alpha max(D) Lambda``, where Lambda_ij is 1 if i and
    j are labeled differently, and 0 if their classes are equal or either has none; of equally
    distant rows those of the own class come first, then the lowest row number. The weights W
    minimize ``sum_i |x_i - sum_j w_ij x_j|^2`` over weights of neighbors that sum to 1, the
    embedding Y ``sum_i |y_i - sum_j w_ij y_j|^2`` with ``Y^T Y = I`` and ``Y^T 1 = 0``: its columns
    are the bottom eigenvectors of ``(I - W)^T (I - W)``. Without labels, or with a single class,
    this is locally linear embedding for any alpha.

    If rows have neighbors in their class only, as with alpha=1 and all rows labeled, each of L
    classes can be moved anywhere without error. The first L - 1 coordinates then have eigenvalue 0
    and are constant within every class; each later one shows the inside of one class. The equation
    leaves the basis of these L - 1 dimensions open: here they are ordered like principal
    components, by the variance of X that they explain. If X has fewer dimensions, the basis of the
    remaining ones is arbitrary, and fixed for a given order of the rows. A class with too few rows
    borrows neighbors from others, which then determine its coordinates. A warning reports rows of
    one class, or unlabeled ones, in several components: the first coordinates separate those as
    well, and no bridges are added.

    New rows are embedded by kernel regression of the coordinates on the rows, without labels.

    The cost is that of the neighbor search, of one more among rows of each class that have
    neighbors in others, and of the largest distance if 0 < alpha < 1, O(n^2 d) at worst; O(n k^2
    (d + k)) for the weights; O(n^3) for the dense solver. ARPACK's factorization stays sparse if
    points lie near a surface of few dimensions; otherwise it fills up to n^2 numbers.

    References
    ----------
    D. de Ridder, O. Kouropteva, O. Okun, M. Pietikainen and R. P. W. Duin, "Supervised locally
    linear embedding", ICANN/ICONIP 2003.

    Examples
    --------
    >>> from labelfold import SupervisedLLE, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(500, random_state=0)
    >>> model = SupervisedLLE(alpha=0.3).fit(X, hide_labels(y, keep=range(100)))
    >>> model.embedding_.shape, model.neighbors_.shape
    ((500, 2), (500, 12))
    """

    embedding_: Array
    eigenvalues_: Array
    certificate_: EigenCertificate

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 1.0,
        ridge: float = 1e-3,
        n_neighbors: int = 12,
        neighbor_search: str = "auto",
        eigen_solver: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.neighbor_search = neighbor_search
        self.eigen_solver = eigen_solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def extension_(self) -> KernelRegression | LocalAverage:
        """The extension to new rows, with its error on left-out rows; fitted on first use."""
        check_is_fitted(self)
        return self._extension.extension

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(PartialLabels.none(len(labels)))  # classes add no dimension
        check_choice("eigen_solver", self.eigen_solver, SOLVERS)
        hint = ": 0 for neighbors of any class, 1 for neighbors of the own class"
        check_real("alpha", self.alpha, at_least=0, at_most=1, hint=hint)
        hint = ", such as 1e-3: without it weights of many neighbors are not unique"
        check_real("ridge", self.ridge, at_least=LEAST_RIDGE, at_most=LARGEST_RIDGE, hint=hint)

    def _bridge(
        self, graph: NeighborGraph, groups: NDArray[np.intp] | None = None
    ) -> NeighborGraph:
        return graph  # components are what the first coordinates separate

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        codes = labels.codes if self.alpha > 0 else PartialLabels.none(len(labels)).codes
        neighbors = nearest_by_class(graph, codes, float(self.alpha))
        W = _reconstruct(X, neighbors, float(self.ridge), progress)
        components = closed_components(W)
        _warn_of_split_classes(components, codes, labels.classes)
        progress("eigenpairs", 0, self.n_components)
        pairs = bottom_eigenpairs(
            W, self.n_components, X=X, components=components, solver=self.eigen_solver
        )
        progress("eigenpairs", self.n_components, self.n_components)
        self.graph_ = graph
        self.classes_ = labels.classes
        self.neighbors_ = neighbors
        self.weights_ = W
        self.embedding_ = pairs.vectors
        self.eigenvalues_ = pairs.values
        self.certificate_ = pairs.certificate
        # Copied, since the caller may write into X before the extension is fitted.
        seed = seed_from(self.random_state)
        self._extension = LazyExtension(X.copy(), graph, self.embedding_, seed)

    def _extend(self, X: Any, distances: sp.csr_array) -> Array:
        return self._extension.predict(X, distances)


def _reconstruct(X: Any, neighbors: Rows, ridge: float, progress: Progress) -> sp.csr_array:
    """Return the weights W by which the neighbors of every row reconstruct it.

    With C the neighbors' differences from the row and G = C C^T, they are the solution of
    (G + ridge tr(G) I) w = 1, scaled to sum 1; equal weights if all neighbors equal the row.
    """
    n, k = neighbors.shape
    weights = np.empty((n, k))
    step = max(1, ENTRIES_AT_ONCE // (k * X.shape[1]))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        progress("weights", start, n)
        at, around = X[rows], X[neighbors[rows].ravel()]
        if sp.issparse(X):
            at, around = at.toarray(), around.toarray()
        C = around.reshape(len(rows), k, -1) - at[:, None, :]
        # In units in which squares neither overflow nor vanish; powers of two cost no digit.
        _, exponents = np.frexp(np.abs(C).max(axis=(1, 2), keepdims=True))
        C = np.ldexp(C, -exponents)
        G = C @ C.transpose(0, 2, 1)
        trace = np.trace(G, axis1=1, axis2=2)
        G[:, np.arange(k), np.arange(k)] += ridge * np.where(trace > 0, trace, 1.0)[:, None]
        w = np.linalg.solve(G, np.ones((len(rows), k, 1)))[:, :, 0]
        weights[rows] = w / w.sum(axis=1, keepdims=True)
    progress("weights", n, n)
    starts = np.arange(0, n * k + 1, k)
    W = sp.csr_array((weights.ravel(), neighbors.ravel(), starts), shape=(n, n), copy=True)
    W.sort_indices()
    return W


def _warn_of_split_classes(components: Rows, codes: Rows, classes: NDArray[Any]) -> None:
    """Warn if rows of one class, or unlabeled ones, lie in several closed components."""
    inside = np.unique(np.column_stack([codes, components])[components >= 0], axis=0)
    split, counts = np.unique(inside[:, 0], return_counts=True)
    split, counts = split[counts > 1], counts[counts > 1]
    if len(split) == 0:
        return
    n_components = int(components.max()) + 1
    name = f"rows of class {classes.tolist()[split[0]]!r}" if split[0] >= 0 else "unlabeled rows"
    more = f" ({len(split)} classes are split)" if len(split) > 1 else ""
    warn_user(
        f"The neighborhoods form {n_components} components without neighbors outside, and {name} "
        f"lie in {counts[0]} of them{more}: the first {n_components - 1} dimensions only separate "
        "components. A larger n_neighbors may avoid this.",
        DisconnectedGraphWarning,
    )
