"""Classification constrained dimensionality reduction (CCDR-2005, CCDR-MC).

Every class becomes a node with an edge to each of its labeled points, and the whole graph is
embedded by Laplacian eigenmaps: points of a class draw together, the rest follow their neighbors.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_real
from labelfold.exceptions import FewNeighborsWarning, InputError
from labelfold.extend.nystrom import extend_by_degree, extend_unnormalized
from labelfold.graph import IntrinsicDimension, NeighborGraph
from labelfold.graph.adjacency import SparseAdjacency, with_class_nodes
from labelfold.labels import PartialLabels
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress
from labelfold.solvers.eigen import Eigenpairs
from labelfold.spectral.eigenmap import EigenmapEmbedder
from labelfold.threads import limit_threads

__all__ = ["CCDR"]

AUTO = "auto"
LEAST_BETA, LARGEST_BETA = 1e-100, 1e100  # products with any weight stay in float64's range


@declare(
    Declaration(
        "ccdr",
        "class constrained eigenmaps",
        labels="uses",
        produces="embedding",
        agreement=1e-7,  # an iterative solve to 1e-8
        examples=(
            {},
            {"n_components": 3, "beta": 0.5},
            {"n_components": 1, "beta": 0.1, "eigen_solver": "arpack"},
        ),
    )
)
class CCDR(EigenmapEmbedder):
    """Classification constrained dimensionality reduction: an embedding that respects labels.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the embedding. "auto" is the largest intrinsic dimension of a class, or that
        of all rows if no class has enough labels, plus one (CCDR-MC section V.D). See
        :class:`IntrinsicDimension`.
    beta : float, default=1.0
        Weight of the geometry against the labels. With a small beta, classes collapse into their
        centers; with a large one the embedding tends to :class:`LaplacianEigenmaps`.
    n_neighbors : int, default=12
        Neighbors of every point; two points share an edge if either is a neighbor of the other.
    radius : float, default=None
        Connect all points within this distance instead of the nearest ones.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (a sparse matrix of neighbor distances as
        ``KNeighborsTransformer(mode="distance")`` returns it), or any metric of scikit-learn.
    weights : {"heat", "binary", "self-tuning", "shared"} or callable, default="heat"
        Weight of an edge of length d: exp(-d^2 / scale), 1, heat with a scale per point, this times
        the share of neighbors that both ends have, or ``weights(distances, scales)``.
    scale : "auto", float or array-like of shape (n_samples,), default="auto"
        Scale of the weights, one for all edges or one per point. "auto" is ten times the mean
        squared distance to the nearest distinct point.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` reports the recall.
    eigen_solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense up to 1,000 points; above, ARPACK for few dimensions and
        Chebyshev-filtered subspace iteration for many.
    random_state : int, RandomState instance or None, default=None
        Seed of the approximate search and of the samples for ``n_components="auto"``; None is a
        fixed seed.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows.
    class_centers_ : ndarray of shape (n_classes, n_components)
        Coordinates of the class nodes.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    n_components_ : int
        Dimension of the embedding, given or estimated.
    beta_ : float
        The beta of the fit.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the coordinates, ascending, without the trivial zero.
    graph_ : NeighborGraph
        The graph of the rows, with bridges where neither neighbors nor class nodes connect it.
    certificate_ : EigenCertificate
        How good the solve is, and which coordinates extend badly to new rows.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    LaplacianEigenmaps : The same without labels.

    Notes
    -----
    Minimizes ::

        sum_ki c_ki |z_k - y_i|^2 + (beta / 2) sum_ij w_ij |y_i - y_j|^2

    (CCDR-MC eq. 12) over class centers z_k and points y_i, with ``Z D Z^T = I`` and ``Z D 1 = 0``,
    by the generalized eigenvectors of ``G = [[0, C], [C^T, beta W]]`` (eq. 13-14). New rows are
    embedded by eq. 19.

    The cost is that of the neighbor search plus O(nnz(W) + n_labeled) for each product.

    Deviation: for beta > 1 the problem is solved with G / beta, which scales the embedding by
    sqrt(beta) and gives it a limit; without labels beta has no effect. Class nodes have no edge to
    themselves, as in CCDR-MC (CCDR-2005 prints an identity block). beta = 0, which the papers
    allow, raises an error, since it leaves unlabeled points without any edge.

    References
    ----------
    J. A. Costa and A. O. Hero III, "Classification constrained dimensionality reduction",
    ICASSP 2005.

    R. Raich, S. B. Damelin, J. A. Costa and A. O. Hero III, "Classification constraint
    dimensionality reduction".

    Examples
    --------
    >>> from labelfold import CCDR, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(500, random_state=0)
    >>> model = CCDR(n_components=2).fit(X, hide_labels(y, keep=range(100)))
    >>> model.embedding_.shape, model.class_centers_.shape
    ((500, 2), (2, 2))
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        beta: float = 1.0,
        n_neighbors: int = 12,
        radius: float | None = None,
        metric: Any = "euclidean",
        weights: Any = "heat",
        scale: Any = "auto",
        neighbor_search: str = "auto",
        eigen_solver: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.weights = weights
        self.scale = scale
        self.neighbor_search = neighbor_search
        self.eigen_solver = eigen_solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform_labeled(self, X: Any, y: ArrayLike) -> NDArray[np.float64]:
        """Embed new rows that have labels (CCDR-MC eq. 19, the second scenario of section V).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows, as for :meth:`transform`.
        y : array-like of shape (n_new,)
            Their labels, of the classes seen in fit; an unlabeled row is embedded with c = 0.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Every row goes through the formula, training rows too.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        codes = self._codes_in_fit(PartialLabels.from_y(y, n_samples=X.shape[0]))
        with limit_threads(self.n_jobs):
            distances = self.graph_.distances_to(X)
        return self.embed_from_neighbors(X, distances, codes)

    def embed_from_neighbors(
        self, X: Any, distances: sp.csr_array, codes: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """Embed new rows by the given neighbors, and by their classes if codes are given.

        See :meth:`EigenmapEmbedder.embed_from_neighbors` for parameters and result.
        """
        coordinates = super().embed_from_neighbors(X, distances, codes)
        if codes is None:
            return coordinates
        labeled = np.flatnonzero(codes >= 0)
        class_weight, edge_weight = self._class_and_edge_weight()
        coordinates[labeled] = extend_by_degree(
            edge_weight * self.graph_.weigh(distances, relative=False)[labeled],
            self.embedding_,
            self.eigenvalues_,
            anchors=self.class_centers_[codes[labeled]],
            anchor_weights=np.full(len(labeled), class_weight),
        )
        return coordinates

    def coordinates_without_label(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return where training rows would lie without their own label, eq. 19 with c = 0.

        Parameters
        ----------
        rows : ndarray of shape (n_rows,)
            Row numbers.

        Returns
        -------
        coordinates : ndarray of shape (n_rows, n_components)
            Given by neighbors in the graph; for an unlabeled row those of ``embedding_``, unless
            an eigenvalue is near 1.
        """
        coordinates, weights = self.embedding_[rows], self.graph_.adjacency[rows]
        linked = np.flatnonzero(np.diff(weights.indptr))  # a class node may be the only neighbor
        coordinates[linked] = extend_unnormalized(
            weights[linked], np.ones(len(linked)), self.embedding_, self.eigenvalues_
        )
        return coordinates

    def _check_dimension(self, labels: PartialLabels) -> None:
        if self.n_components != AUTO:
            super()._check_dimension(labels)

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        hint = (
            ": small to follow the labels (0.01), large to follow the geometry (100); for no "
            "influence of labels use LaplacianEigenmaps"
        )
        check_real("beta", self.beta, at_least=LEAST_BETA, at_most=LARGEST_BETA, hint=hint)

    def _groups(self, labels: PartialLabels) -> NDArray[np.intp]:
        return labels.codes

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        self.beta_, self.classes_, self._labels = self.beta, labels.classes, labels
        n_components: Any = self.n_components
        if n_components == AUTO:
            n_components = self._estimate_dimension(X, labels)
        self._solve(graph, n_components, progress)

    def _adjacency(self, graph: NeighborGraph) -> SparseAdjacency:
        if len(self.classes_) == 0:
            return SparseAdjacency(graph.adjacency)
        class_weight, edge_weight = self._class_and_edge_weight()
        return with_class_nodes(
            graph.adjacency,
            self._padded_labels(graph.n_points).membership(),
            class_weight=class_weight,
            edge_weight=edge_weight,
        )

    def _class_and_edge_weight(self) -> tuple[float, float]:
        """Return the weights of class edges and of neighbor edges, the larger one 1."""
        return 1 / max(self.beta_, 1.0), min(self.beta_, 1.0)

    def _set_embedding(self, graph: NeighborGraph, pairs: Eigenpairs) -> None:
        super()._set_embedding(graph, pairs)
        self.class_centers_ = pairs.vectors[: len(self.classes_)]
        self.n_components_ = len(pairs.values)

    def _truncate(self, n_components: int) -> None:
        super()._truncate(n_components)
        self.class_centers_ = self.class_centers_[:, :n_components]
        self.n_components_ = n_components

    def _vectors(self) -> NDArray[np.float64]:
        return np.vstack([self.class_centers_, self.embedding_])

    def _padded_labels(self, n_points: int) -> PartialLabels:
        n_new = n_points - len(self._labels)
        codes = np.pad(self._labels.codes, (0, n_new), constant_values=-1)
        return PartialLabels(codes, self._labels.classes)

    def _estimate_dimension(self, X: Any, labels: PartialLabels) -> int:
        """Return the largest dimension of a class plus one, as far as the rows allow."""
        seed = 0 if self.random_state is None else self.random_state
        model = IntrinsicDimension(metric=self.metric, random_state=seed, verbose=self.verbose)
        with warnings.catch_warnings():
            # Classes with too few labels are left out.
            warnings.simplefilter("ignore", FewNeighborsWarning)
            try:
                model.fit(X, labels.codes)
            except ValueError as error:
                raise InputError(
                    f"n_components='auto' can't be estimated, give a number instead: {error}"
                ) from error
        of_classes = model.class_dimensions_[~np.isnan(model.class_dimensions_)]
        largest = float(of_classes.max()) if len(of_classes) else model.dimension_
        if np.isinf(largest):
            raise InputError(
                "n_components='auto' can't be estimated, since the dimension seems to be infinite: "
                "give a number instead."
            )
        return min(max(1, round(largest)) + 1, len(labels) + labels.n_classes - 1)

    def _extend(self, X: Any, distances: sp.csr_array) -> NDArray[np.float64]:
        relative = self.graph_.weigh(distances, relative=True)
        return extend_by_degree(relative, self.embedding_, self.eigenvalues_)

    def _codes_in_fit(self, labels: PartialLabels) -> NDArray[np.intp]:
        """Return positions in ``classes_``, -1 for unlabeled rows."""
        position = {value: k for k, value in enumerate(self.classes_.tolist())}
        classes = labels.classes.tolist()
        unknown = [value for value in classes if value not in position]
        if unknown:
            raise InputError(
                f"y holds classes that fit has not seen: {unknown}. It has seen "
                f"{self.classes_.tolist()}; mark rows of other classes as unlabeled with None."
            )
        in_fit = np.array([*(position[value] for value in classes), -1], dtype=np.intp)
        return in_fit[labels.codes]
