"""Supervised locally linear embedding (alpha-SLLE): neighbours are sought in the own class first.

Distances between classes are enlarged before neighbours are chosen; then every point is rebuilt
from its neighbours, by weights that sum to 1, and the map is the one that the same weights rebuild
best.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_choice, check_real
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.extend.local_average import LocalAverage
from labelfold.extend.new_points import NewPoints
from labelfold.extend.regression import KernelRegression
from labelfold.graph import NeighborGraph
from labelfold.graph.class_neighbors import nearest_by_class
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.eigen.null_space import SOLVERS, bottom_eigenpairs, closed_pieces

__all__ = ["SupervisedLLE"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

LEAST_REG, LARGEST_REG = 1e-12, 1e12  # below, rounding leaves the weights undetermined
ENTRIES_AT_ONCE = 2**21  # of differences between points and their neighbours: 16 MB


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
    """Supervised locally linear embedding: points are rebuilt from neighbours of their own class.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    n_neighbors : int, default=12
        Neighbours that a point is rebuilt from.
    alpha : float, default=1.0
        How far classes are moved apart before neighbours are chosen, as a part of the largest
        distance, from 0 to 1. With 0 labels count for nothing, and the map is that of locally
        linear embedding; with 1 neighbours are of the own class or unlabelled, and of other
        classes only where these are too few. As the largest distance is far larger than those
        between neighbours, 0.1 is often as much as 1.
    reg : float, default=1e-3
        Ridge that makes the weights unique, relative to the trace of each point's Gram matrix.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` tells the recall. Neighbours that
        have to be sought within a class are always exact.
    eigen_solver : {"auto", "dense", "arpack"}, default="auto"
        "auto" is dense up to 1,500 points; beyond, ARPACK on a sparse factorisation.
    random_state : int, RandomState instance or None, default=None
        Fixes the approximate search and the landmarks of the map for new points; nothing else is
        random.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map; its columns have length 1 and mean 0.
    eigenvalues_ : ndarray of shape (n_components,)
        Squared error with which the weights rebuild each coordinate, ascending.
    neighbors_ : ndarray of shape (n_samples, n_neighbors)
        Rows that each point is rebuilt from, nearest first in enlarged distances.
    weights_ : csr_array of shape (n_samples, n_samples)
        The weights they are given, W; every row sums to 1.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labelled point, sorted.
    graph_ : NeighborGraph
        The graph of all points in plain distances, which knows no labels.
    certificate_ : EigenCertificate
        How good the solve is; residuals are relative to the size of the matrix.
    extension_ : KernelRegression
        The map for new points, with its error on left-out rows.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    CCDR : Labels as nodes of a graph whose eigenvectors are the map.
    sklearn.manifold.LocallyLinearEmbedding : The same without labels.

    Notes
    -----
    Neighbours are the k nearest in ``D' = D + alpha max(D) Lambda``, where Lambda_ij is 1 if i and
    j are labelled differently, and 0 if their classes are equal or either has none; of equally
    distant points those of the own class come first, then the lowest row. The weights W minimise
    ``sum_i |x_i - sum_j w_ij x_j|^2`` over weights of neighbours that sum to 1, the map Y
    ``sum_i |y_i - sum_j w_ij y_j|^2`` with ``Y^T Y = I`` and ``Y^T 1 = 0``: its columns are the
    bottom eigenvectors of ``(I - W)^T (I - W)``. Without labels, or with a single class, this is
    locally linear embedding whatever alpha.

    Where points have neighbours in their class only, as with alpha=1 and all points labelled, each
    of L classes can be placed anywhere without any error. The first L - 1 coordinates then have
    eigenvalue 0 and are constant within every class; each of those after them shows one class from
    inside. The equation leaves open which basis of these L - 1 dimensions to take: here they are
    ordered as principal components are, by what they tell of the variance of X. Should X have
    fewer dimensions, the basis of the remaining ones is arbitrary, and fixed for a given order of
    the rows. A class that has too few points borrows neighbours from others, and lies where these
    place it. A warning tells where points of one class, or unlabelled ones, fall into several
    pieces, which the first coordinates then tell apart as well; nothing is added to join them.

    New points are mapped by kernel regression of the map on the rows, without labels.

    The cost is that of the neighbour search, of one more among points of each class that have
    neighbours in others, and of the largest distance if 0 < alpha < 1, O(n^2 d) at worst; O(n k^2
    (d + k)) for the weights; O(n^3) for the dense solver. ARPACK's factorisation stays sparse if
    points lie near a surface of few dimensions, and fills up to n^2 numbers if they do not.

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

    graph_parameters: ClassVar[tuple[str, ...]] = ("n_neighbors", "neighbor_search", "random_state")
    metric = "euclidean"  # weights need coordinates

    embedding_: Array
    eigenvalues_: Array
    certificate_: EigenCertificate

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 12,
        alpha: float = 1.0,
        reg: float = 1e-3,
        neighbor_search: str = "auto",
        eigen_solver: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.reg = reg
        self.neighbor_search = neighbor_search
        self.eigen_solver = eigen_solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def extension_(self) -> KernelRegression | LocalAverage:
        """The map for new points, with its error on left-out rows; made when first asked for."""
        check_is_fitted(self)
        return self._new_points.extension

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        return PartialLabels.from_optional_y(y, n_samples=n_samples)

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(PartialLabels.none(len(labels)))  # classes add no dimension
        check_choice("eigen_solver", self.eigen_solver, SOLVERS)
        hint = ": 0 for neighbors of any class, 1 for neighbors of the own class"
        check_real("alpha", self.alpha, at_least=0, at_most=1, hint=hint)
        hint = ", such as 1e-3: without it weights of many neighbors are not unique"
        check_real("reg", self.reg, at_least=LEAST_REG, at_most=LARGEST_REG, hint=hint)

    def _join(self, graph: NeighborGraph, groups: NDArray[np.intp] | None = None) -> NeighborGraph:
        return graph  # components are what the first coordinates tell apart

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        codes = labels.codes if self.alpha > 0 else PartialLabels.none(len(labels)).codes
        neighbors = nearest_by_class(X, graph, codes, float(self.alpha))
        W = _to_matrix(neighbors, _weigh(X, neighbors, float(self.reg), progress))
        pieces = closed_pieces(W)
        _warn_of_split_classes(pieces, codes, labels.classes)
        progress("eigenpairs", 0, self.n_components)
        pairs = bottom_eigenpairs(
            W, self.n_components, X=X, pieces=pieces, solver=self.eigen_solver
        )
        progress("eigenpairs", self.n_components, self.n_components)
        self.graph_ = graph
        self.classes_ = labels.classes
        self.neighbors_ = neighbors
        self.weights_ = W
        self.embedding_ = pairs.vectors
        self.eigenvalues_ = pairs.values
        self.certificate_ = pairs.certificate
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        # Copied, as the caller may write into X before the map is asked for.
        self._new_points = NewPoints(X.copy(), graph, self.embedding_, seed)

    def _extend(self, X: Any, found: sp.csr_array) -> Array:
        return self._new_points.predict(X, found)


def _weigh(X: Any, neighbors: Rows, reg: float, progress: Progress) -> Array:
    """Return the weights by which the neighbours of every point rebuild it.

    With C the neighbours' differences from the point and G = C C^T, they are the solution of
    (G + reg tr(G) I) w = 1, at sum 1; equal weights where all neighbours equal the point.
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
        G[:, np.arange(k), np.arange(k)] += reg * np.where(trace > 0, trace, 1.0)[:, None]
        w = np.linalg.solve(G, np.ones((len(rows), k, 1)))[:, :, 0]
        weights[rows] = w / w.sum(axis=1, keepdims=True)
    progress("weights", n, n)
    return weights


def _to_matrix(neighbors: Rows, weights: Array) -> sp.csr_array:
    n, k = neighbors.shape
    starts = np.arange(0, n * k + 1, k)
    W = sp.csr_array((weights.ravel(), neighbors.ravel(), starts), shape=(n, n), copy=True)
    W.sort_indices()
    return W


def _warn_of_split_classes(pieces: Rows, codes: Rows, classes: NDArray[Any]) -> None:
    """Warn where points of one class, or unlabelled ones, lie in several closed pieces."""
    inside = np.unique(np.column_stack([codes, pieces])[pieces >= 0], axis=0)
    split, counts = np.unique(inside[:, 0], return_counts=True)
    split, counts = split[counts > 1], counts[counts > 1]
    if len(split) == 0:
        return
    n_pieces = int(pieces.max()) + 1
    name = "unlabelled points"
    if split[0] >= 0:
        name = f"points of class {classes.tolist()[split[0]]!r}"
    more = f" (so it is with {len(split)} classes)" if len(split) > 1 else ""
    warnings.warn(
        f"The neighbourhoods fall into {n_pieces} pieces that have no neighbour outside, and "
        f"{name} lie in {counts[0]} of them{more}: the first {n_pieces - 1} dimensions tell "
        "nothing but pieces apart. More neighbours may join them.",
        DisconnectedGraphWarning,
        stacklevel=4,
    )
