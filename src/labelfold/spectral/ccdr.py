"""Classification constrained dimensionality reduction (CCDR-2005, CCDR-MC).

Every class becomes a node joined to its labelled points, and the whole graph is embedded as
Laplacian eigenmaps would: the classes draw together, the rest follows its neighbours.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_rows
from labelfold.exceptions import FewNeighborsWarning, InputError
from labelfold.extend.nystrom import extend_by_degree
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
        agreement=1e-6,
        examples=(
            {},
            {"n_components": 3, "beta": 0.5},
            {"n_components": 1, "beta": 0.1, "eigen_solver": "arpack"},
        ),
    )
)
class CCDR(EigenmapEmbedder):
    """Classification constrained dimensionality reduction: a map that respects labels.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the map. "auto" is the largest intrinsic dimension of a class, plus one
        (CCDR-MC section V.D); that of all points where no class has labels enough to tell. See
        :class:`IntrinsicDimension`.
    beta : float, default=1.0
        Weight of the geometry against the labels. Small: classes collapse into their centres;
        large: labels count for nothing, and the map tends to :class:`LaplacianEigenmaps`.
    n_neighbors : int, default=12
        Neighbours of every point; an edge stands where either end counts the other.
    radius : float, default=None
        Join all points up to this distance instead of the nearest ones.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" (a sparse matrix of neighbour distances as
        ``KNeighborsTransformer(mode="distance")`` makes it), or any metric of scikit-learn.
    weights : {"heat", "binary"} or callable, default="heat"
        Weight of an edge of length d: exp(-d^2 / scale), 1, or ``weights(distances, scales)``.
    scale : "auto", float or array-like of shape (n_samples,), default="auto"
        Scale of the weights, for all edges or for every point. "auto" is ten times the mean
        squared distance to the nearest distinct point.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick; ``graph_.search`` tells the recall.
    eigen_solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense up to 1,000 points; beyond, ARPACK for few dimensions and
        Chebyshev-filtered subspace iteration for many.
    random_state : int, RandomState instance or None, default=None
        Fixes the approximate search and the samples for ``n_components="auto"``; nothing else is
        random.
    n_jobs : int, default=None
        Bound on the number of threads; None leaves it to the libraries.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    class_centers_ : ndarray of shape (n_classes, n_components)
        Where the class nodes came to lie.
    classes_ : ndarray of shape (n_classes,)
        Classes with a labelled point, sorted.
    n_components_ : int
        Dimension of the map, also where it was estimated.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the map, ascending, without the trivial zero.
    graph_ : NeighborGraph
        The graph of the points, with bridges where neither neighbours nor class nodes connect it.
    certificate_ : EigenCertificate
        How good the solve is, and which coordinates extend badly to new points.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    LaplacianEigenmaps : The same without labels.

    Notes
    -----
    Minimises ::

        sum_ki c_ki |z_k - y_i|^2 + (beta / 2) sum_ij w_ij |y_i - y_j|^2

    (CCDR-MC eq. 12) over class centres z_k and points y_i, with ``Z D Z^T = I`` and ``Z D 1 = 0``,
    by the generalised eigenvectors of ``G = [[0, C], [C^T, beta W]]`` (eq. 13-14). A new point
    goes where eq. 19 puts it.

    The cost is that of the neighbour search plus O(nnz(W) + n_labeled) for each product.

    Deviation: for beta > 1 the problem is solved with G / beta, which scales the map by
    sqrt(beta), so that it has a limit; without labels beta has no influence. Class nodes have no
    edge to themselves, as in CCDR-MC (CCDR-2005 prints an identity block). beta = 0, which the
    papers admit, is refused, since it leaves unlabelled points without any edge.

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
        """Map new rows whose labels are known (CCDR-MC eq. 19, the second scenario of section V).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows, as for :meth:`transform`.
        y : array-like of shape (n_new,)
            Their labels, of the classes seen in fit; an unlabelled row is mapped with c = 0.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Every row goes through the formula, training rows too.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        labels = PartialLabels.from_y(y, n_samples=X.shape[0])
        codes = self._codes_in_fit(labels)
        with limit_threads(self.n_jobs):
            found = self.graph_.distances_to(X)
        return self.place(X, found, codes)

    def place(
        self, X: Any, found: sp.csr_array, codes: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """Return where some neighbors place new rows, with their classes where these are given.

        Parameters and result are those of :meth:`EigenmapEmbedder.place`.
        """
        coordinates = self._extend(X, found)
        if codes is None:
            return coordinates
        labeled = np.flatnonzero(codes >= 0)
        class_weight, edge_weight = self._balance()
        coordinates[labeled] = extend_by_degree(
            edge_weight * self.graph_.weigh(found, relative=False)[labeled],
            self.embedding_,
            self.eigenvalues_,
            anchors=self.class_centers_[codes[labeled]],
            anchor_weights=np.full(len(labeled), class_weight),
        )
        return coordinates

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        return PartialLabels.from_optional_y(y, n_samples=n_samples)

    def _check_dimension(self, labels: PartialLabels) -> None:
        if self.n_components != AUTO:
            super()._check_dimension(labels)

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        beta: Any = self.beta
        if not isinstance(beta, int | float | np.number) or not LEAST_BETA <= beta <= LARGEST_BETA:
            raise InputError(
                f"beta={beta!r} must be a number from {LEAST_BETA} to {LARGEST_BETA}: small to "
                "follow the labels (0.01), large to follow the geometry (100). With beta=0 "
                "unlabelled points would have no edge; for no influence of labels use "
                "LaplacianEigenmaps."
            )

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        n_components: Any = self.n_components
        if n_components == AUTO:
            n_components = self._estimate_dimension(X, labels)
        self.classes_, self._codes = labels.classes, labels.codes
        self._solve(graph, self._adjacency(graph), n_components, progress)

    def _joined_by(self, labels: PartialLabels) -> NDArray[np.intp]:
        return labels.codes

    def _groups(self, n_points: int) -> NDArray[np.intp]:
        """Return the class of every point that has one; those beyond the fit's have none."""
        return np.pad(self._codes, (0, n_points - len(self._codes)), constant_values=-1)

    def _adjacency(self, graph: NeighborGraph) -> SparseAdjacency:
        if len(self.classes_) == 0:
            return SparseAdjacency(graph.weights)
        class_weight, edge_weight = self._balance()
        return with_class_nodes(
            graph.weights,
            PartialLabels(self._groups(graph.n_points), self.classes_).membership(),
            class_weight=class_weight,
            edge_weight=edge_weight,
        )

    def _set_map(self, graph: NeighborGraph, pairs: Eigenpairs) -> None:
        super()._set_map(graph, pairs)
        self.class_centers_ = pairs.vectors[: len(self.classes_)]
        self.n_components_ = len(pairs.values)

    def _vectors(self) -> NDArray[np.float64]:
        return np.vstack([self.class_centers_, self.embedding_])

    def _keep(self, n_components: int) -> None:
        super()._keep(n_components)
        self.class_centers_ = self.class_centers_[:, :n_components]
        self.n_components_ = n_components

    def _estimate_dimension(self, X: Any, labels: PartialLabels) -> int:
        """Return the largest dimension of a class plus one, as far as the points allow."""
        seed = 0 if self.random_state is None else self.random_state
        model = IntrinsicDimension(metric=self.metric, random_state=seed, verbose=self.verbose)
        with warnings.catch_warnings():
            # Classes with too few labels to tell are left out.
            warnings.simplefilter("ignore", FewNeighborsWarning)
            try:
                model.fit(X, labels.codes)
            except ValueError as error:
                raise InputError(
                    f"n_components='auto' can't be estimated, give a number instead: {error}"
                ) from error
        known = model.class_dimensions_[~np.isnan(model.class_dimensions_)]
        largest = float(np.max(known, initial=0)) if len(known) else model.dimension_
        if np.isinf(largest):
            raise InputError(
                "n_components='auto' can't be estimated, since the dimension seems to be infinite: "
                "give a number instead."
            )
        return min(max(1, round(largest)) + 1, len(labels) + labels.n_classes - 1)

    def _extend(self, X: Any, found: sp.csr_array) -> NDArray[np.float64]:
        relative = self.graph_.weigh(found, relative=True)
        return extend_by_degree(relative, self.embedding_, self.eigenvalues_)

    def _balance(self) -> tuple[float, float]:
        """Return the weights of class edges and of neighbour edges, the larger one 1."""
        return 1 / max(self.beta, 1.0), min(self.beta, 1.0)

    def _codes_in_fit(self, labels: PartialLabels) -> NDArray[np.intp]:
        """Return positions in ``classes_``, -1 for unlabelled rows."""
        position = {value: k for k, value in enumerate(self.classes_.tolist())}
        unknown = [value for value in labels.classes.tolist() if value not in position]
        if unknown:
            raise InputError(
                f"y holds classes that fit has not seen: {unknown}. Known are "
                f"{self.classes_.tolist()}; mark rows of other classes as unlabelled with None."
            )
        known = np.array([position[value] for value in labels.classes.tolist()], dtype=np.intp)
        return np.append(known, -1)[labels.codes]
