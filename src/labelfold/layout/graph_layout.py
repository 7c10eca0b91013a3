"""A picture of many rows: points attract along the edges of a graph and repel each other."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_real, input_errors, seed_from
from labelfold.classify import FewLabelClassifier
from labelfold.classify.row_kernels import memory_of_kernels
from labelfold.exceptions import InputError
from labelfold.fit_memory import FitMemory
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import with_values
from labelfold.graph.neighbor_graph import QueryGraph
from labelfold.labels import PartialLabels
from labelfold.layout.affinities import DistinctPoints, agreement, to_affinities
from labelfold.layout.descent import EARLY_STEPS, MISSING, STEPS, Descent, is_available
from labelfold.layout.label_force import (
    fit_classifier,
    neighbor_purity,
    rounded,
    signal_of_labels,
)
from labelfold.layout.layout_certificate import LabelEffect, LayoutCertificate
from labelfold.layout.start import CoarseGraph, orient, spectral_start, with_jitter
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress, report_nothing, show_progress
from labelfold.threads import limit_threads, thread_limit

__all__ = ["GraphLayout"]

Array = NDArray[np.float64]

AUTO, SPECTRAL = "auto", "spectral"
MOST_DIMENSIONS = 3
MOST_TOGETHER = 400_000  # points that are laid out at once; of more, first a coarse graph
WARM_STEPS = 100  # from a fitted layout, or after a coarse graph
LABEL_STEPS = 100  # under the force of labels, and without it for comparison
MOST_COMPARED = 20_000  # rows whose neighbors in the picture are counted


@declare(
    Declaration(
        "layout",
        "picture of a graph: groups apart, neighbors together",
        labels="uses",
        produces="embedding",
        only_in_fit=("classifier_", "base_embedding_", "_fork"),
        examples=({}, {"n_components": 3, "label_weight": 0.5}) if is_available() else (),
        quick=False,  # to look at: comparisons of coordinates take it if it is named
        agreement=1e-2,
        rotates=False,
        reorders=False,
    )
)
class GraphLayout(GraphEmbedder):
    """Layout of a neighbor graph in two or three dimensions, to look at.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the picture, at most 3. Three are slow past 20,000 rows.
    label_weight : float, default=0.9
        Share of its weight that an edge between two classes loses if left-out labels are predicted
        without error; less in proportion if they are predicted worse. 0 ignores labels.
    exaggeration : "auto" or float, default="auto"
        Factor on attraction: 1 shows most detail, 4 the tightest groups. "auto" is the fourth root
        of a thousandth of the number of rows, from 1 to 4.
    init : "spectral", array-like of shape (n_samples, n_components) or GraphLayout, \
            default="spectral"
        Where descent begins: at eigenvectors of the graph, at given coordinates of any scale, or at
        a fitted layout, for rows some of which it has seen, which then stay near their places.
    n_neighbors : int, default=8
        Neighbors of every row; two rows share an edge if either is a neighbor of the other.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "precomputed" or any other metric of scikit-learn.
    weights : {"self-tuning", "shared", "heat", "binary"} or callable, default="self-tuning"
        Weights of edges; see :meth:`NeighborGraph.build`.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact while that is quick.
    random_state : int, RandomState instance or None, default=None
        Seed of the approximate search and of a small jitter of the start. None is a fixed one.
    n_jobs : int, default=None
        Bound on the number of threads; the layout is the same to the bit for any.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows; equal rows have equal ones.
    base_embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates after as many steps without the labels' force; they do not depend on labels.
    classifier_ : FewLabelClassifier or None
        The classifier whose probabilities guide the labels' force; None without labels.
    exaggeration_ : float
        Factor on attraction.
    graph_ : NeighborGraph
        The graph, with bridges if it had several connected components.
    certificate_ : LayoutCertificate
        How far descent has come, and in ``label_effect`` what the labels added.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    CCDR : Coordinates to compute with.
    EmbeddingDisplay : Draws the picture.

    Notes
    -----
    Minimizes KL(P || Q) with P multiplied by the exaggeration, over coordinates y, where
    ``q_ij ~ 1 / (1 + |y_i - y_j|^2)``, by openTSNE. P holds the edge weights, scaled so that each
    row draws its neighbors with the same total force; equal rows are one point.

    Descent has two parts. The first sees no labels. The second runs twice from there, without
    labels, which gives ``base_embedding_``, and under their force, so that the certificate does not
    count what more steps do as the labels' doing. Under their force, an edge whose ends have class
    probabilities p and q keeps ``1 - f + f (sum_c sqrt(p_c q_c))^4`` of its weight. The force f is
    ``label_weight`` times the accuracy on left-out labels, corrected for chance as in Cohen's kappa
    and taken at the lower end of its 95 % interval: labels that say nothing about the rows do not
    change the picture. Since the first part is the same for all labels, a few more labels move few
    points.

    New rows are placed at the median m of their neighbors in every coordinate, weighted by the
    edges and by the agreement of classes; then at the median with these weights over
    ``1 + |y - m|^2``, as m may lie between two groups.

    Distances between groups, and their sizes, mean little in such a picture. Time is linear in the
    number of rows past the neighbor search. Of more than 400,000 rows a coarse graph is laid out
    first, with about one point for six rows; then all rows take 100 steps from there. This keeps
    the groups, and loses some of the order within them.

    References
    ----------
    P. G. Policar, M. Strazar and B. Zupan, "openTSNE: a modular Python library for t-SNE
    dimensionality reduction and embedding", Journal of Statistical Software, 2024.

    J. N. Boehm, P. Berens and D. Kobak, "Attraction-repulsion spectrum in neighbor embeddings",
    Journal of Machine Learning Research, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from labelfold import GraphLayout, hide_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> layout = GraphLayout().fit(X, hide_labels(y, keep=range(50)))
    >>> layout.embedding_.shape, layout.certificate_.label_effect.force > 0.5
    ((1797, 2), True)
    """

    _keeps_type: ClassVar[bool] = True
    classifier_: FewLabelClassifier | None
    base_embedding_: Array
    embedding_: Array

    def __init__(
        self,
        n_components: int = 2,
        *,
        label_weight: float = 0.9,
        exaggeration: float | str = AUTO,
        init: Any = SPECTRAL,
        n_neighbors: int = 8,
        metric: Any = "euclidean",
        weights: Any = "self-tuning",
        neighbor_search: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.label_weight = label_weight
        self.exaggeration = exaggeration
        self.init = init
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.neighbor_search = neighbor_search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def refit(self, y: ArrayLike) -> Self:
        """Lay the rows of the last fit out for other labels: what ``fit`` would give, sooner.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabeled.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        classifier = getattr(self, "classifier_", None)
        if classifier is None:
            raise InputError(
                "The layout has no classifier, since it was fitted without labels or comes from a "
                "compact file: call GraphLayout(init=layout).fit(X, y, graph=layout.graph_)."
            )
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            return self.follow(copy(classifier).refit(y), progress)

    def follow(self, classifier: Any, progress: Progress = report_nothing) -> Self:
        """Lay the rows of the last fit out for a classifier that has other labels of them.

        Parameters
        ----------
        classifier : FewLabelClassifier
            Fitted to the same rows, such as a copy of ``classifier_`` after its ``refit``.
        progress : callable, default=report_nothing
            Told of every ten steps; if it raises, ``embedding_`` stays as it was.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        with limit_threads(self.n_jobs):
            self.classifier_ = classifier
            self._apply_labels(DistinctPoints.of_graph(self.graph_), progress)
        return self

    @classmethod
    def of_classifier(cls, classifier: Any, **parameters: Any) -> Self:
        """Lay out the rows of a fitted classifier, on its own graph.

        Parameters
        ----------
        classifier : object
            Fitted, with ``graph_`` or an embedder that has it. The probabilities of a
            :class:`FewLabelClassifier` guide the labels' force; of other classifiers no left-out
            labels are known, and the layout shows the graph alone.
        **parameters : dict
            Of the layout; those of the graph have no effect.

        Returns
        -------
        GraphLayout
            Fitted; new rows go through :meth:`place` instead of ``transform``.
        """
        layout = cls(**parameters)
        graph = graph_of(classifier)
        if graph is None:
            raise InputError(
                f"{type(classifier).__name__} has no graph_ to lay out: call GraphLayout().fit(X)."
            )
        given = graph.recipe
        if given.radius is None:
            n_neighbors = min(layout.n_neighbors, given.n_neighbors)
            graph = graph.reweighed(n_neighbors, layout.weights)
        layout._check_parameters(PartialLabels.none(graph.n_points))
        with limit_threads(layout.n_jobs), show_progress(layout.verbose) as progress:
            layout._set_base(None, layout._bridge(graph), progress)
            if isinstance(classifier, FewLabelClassifier) and len(classifier.classes_) > 1:
                layout.classifier_ = classifier
            layout._apply_labels(DistinctPoints.of_graph(layout.graph_), progress)
        return layout

    def place(self, distances: sp.csr_array) -> Array:
        """Return coordinates of new rows from distances to their neighbors.

        Parameters
        ----------
        distances : csr_array of shape (n_new, n_samples)
            Distances to the neighbors of every row, as ``graph_.distances_to(X)`` or a
            classifier's ``distances_to(X)`` returns them.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Medians of the neighbors' coordinates, by weight, agreement of classes, and closeness
            to the median by weight and agreement alone.
        """
        check_is_fitted(self)
        weights = self.graph_.weigh(distances, relative=True)
        if self._force > 0:
            sums = np.asarray(weights.sum(axis=1))
            of_new = np.asarray(weights @ self._distributions) / sums[:, None]
            weights = self._weaken(weights, of_new, self._distributions)
        # The median of neighbors in two groups may lie between them; the second lies in one.
        median = _weighted_medians(weights, self.embedding_)
        counts = np.diff(weights.indptr)
        away = self.embedding_[weights.indices] - np.repeat(median, counts, axis=0)
        near = weights.data / (1 + np.sum(away**2, axis=1))
        return _weighted_medians(with_values(weights, near), self.embedding_)

    def _check_parameters(self, labels: PartialLabels) -> None:
        super()._check_parameters(labels)
        if self.n_components > MOST_DIMENSIONS:
            raise InputError(
                f"n_components={self.n_components} must be at most {MOST_DIMENSIONS}: a layout is "
                "a picture. For coordinates to compute with use CCDR or LaplacianEigenmaps."
            )
        check_real("label_weight", self.label_weight, at_least=0, at_most=1)
        if self.exaggeration != AUTO:
            check_real("exaggeration", self.exaggeration, at_least=1, hint=f", or {AUTO!r}")
        if isinstance(self.init, str) and self.init != SPECTRAL:
            raise InputError(
                f"init={self.init!r} is unknown: use {SPECTRAL!r}, an array with one row per row "
                "of X, or a fitted GraphLayout."
            )
        if not is_available():
            raise ImportError(MISSING)

    def _memory(self, X: Any, labels: PartialLabels, graph: NeighborGraph | None) -> FitMemory:
        memory = super()._memory(X, labels, graph)
        memory.add_descent(self._expected_neighbors(X))
        if labels.n_classes > 1 and self.label_weight > 0:
            kernels = memory_of_kernels(X, self.metric, None, None)
            kernels.add_scores(labels.n_classes)
            memory.add(during=kernels.peak / X.shape[0])
        return memory

    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        points = self._set_base(X, graph, progress)
        if labels.n_classes > 1 and self.label_weight > 0:
            y = labels.classes.astype(object)[labels.codes]
            y[~labels.mask] = None
            seed = seed_from(self.random_state)
            # One thread: probabilities must not differ by the number of threads.
            settings = {"neighbor_search": self.neighbor_search, "random_state": seed, "n_jobs": 1}
            self.classifier_ = fit_classifier(X, graph, y, settings)
        self._apply_labels(points, progress)

    def _set_base(self, X: Any, graph: NeighborGraph, progress: Progress) -> DistinctPoints:
        """Lay out the graph without labels."""
        points = DistinctPoints.of_graph(graph)
        given: Any = self.exaggeration
        if given == AUTO:
            given = np.clip((len(points.first) / 1000) ** 0.25, 1, 4)
        self.graph_, self.exaggeration_, self.classifier_ = graph, float(given), None
        seed = seed_from(self.random_state)
        fork, n_steps, self._n_sampled = self._lay_out(X, points, seed, progress)
        base = self._descent(points.weights, progress).relax(fork, LABEL_STEPS)
        self._fork, self._n_steps = fork[points.number], n_steps + LABEL_STEPS
        self.base_embedding_ = base[points.number]
        return points

    def _lay_out(
        self, X: Any, points: DistinctPoints, seed: int, progress: Progress
    ) -> tuple[Array, int, int]:
        """Return coordinates without labels, the number of steps, and of rows laid out first."""
        if isinstance(self.init, GraphLayout):
            return self._continue(X, points, progress)
        descent = self._descent(points.weights, progress)
        if not isinstance(self.init, str):
            start = points.mean(self._check_start(len(points.number)))
            return descent.unfold(with_jitter(start, seed)), EARLY_STEPS + STEPS, 0
        if len(points.first) <= MOST_TOGETHER:
            start = spectral_start(points.weights, self.n_components, seed)
            return orient(descent.unfold(start), start), EARLY_STEPS + STEPS, 0
        coarse = CoarseGraph.of_graph(points.weights, seed)
        start = spectral_start(coarse.weights, self.n_components, seed)
        first = self._descent(coarse.weights, progress).unfold(start)
        # A picture of n points has about sqrt(n) times the radius of one.
        first *= np.sqrt(len(coarse.number) / len(first))
        base = descent.relax(with_jitter(orient(first, start)[coarse.number], seed), WARM_STEPS)
        return base, EARLY_STEPS + STEPS + WARM_STEPS, len(first)

    def _continue(
        self, X: Any, points: DistinctPoints, progress: Progress
    ) -> tuple[Array, int, int]:
        """Return coordinates near those of a fitted layout; its own if it has the same graph."""
        fitted: GraphLayout = self.init
        try:
            check_is_fitted(fitted)
        except NotFittedError as error:
            raise InputError(
                "init is a GraphLayout that is not fitted (scikit-learn's clone leaves a copy "
                "unfitted): fit it, or give its embedding_."
            ) from error
        if not hasattr(fitted, "base_embedding_"):
            raise InputError("init comes from a compact file, which leaves base_embedding_ out.")
        if fitted.base_embedding_.shape[1] != self.n_components:
            raise InputError(
                f"init has {fitted.base_embedding_.shape[1]} dimensions, and n_components="
                f"{self.n_components}: they must be the same."
            )
        if fitted.graph_ is self.graph_ and fitted.exaggeration_ == self.exaggeration_:
            return fitted._fork[points.first], 0, 0
        start = fitted._carry(X, fitted.base_embedding_, fitted._extend)
        start = points.mean(start)
        descent = self._descent(points.weights, progress)
        return descent.relax(with_jitter(start, 0), WARM_STEPS), WARM_STEPS, 0

    def _check_start(self, n_samples: int) -> Array:
        with input_errors():
            start = check_array(self.init, dtype=np.float64, input_name="init")
        if start.shape != (n_samples, self.n_components):
            raise InputError(
                f"init has shape {start.shape}, expected {(n_samples, self.n_components)}: one row "
                "per row of X and n_components columns."
            )
        return np.asarray(start)

    def _apply_labels(self, points: DistinctPoints, progress: Progress) -> None:
        """Descend further under the force of the labels, and set the fitted attributes."""
        base, weights = self.base_embedding_[points.first], points.weights
        coordinates, effect = base, None
        self._force, self._distributions = 0.0, np.ones((1, 1))
        if self.classifier_ is not None:
            signal = signal_of_labels(self.classifier_)
            self._force = self.label_weight * signal
            distributions = points.mean(rounded(self.classifier_.label_distributions_))
            if self._force > 0:
                self._distributions = distributions[points.number]
                weights = self._weaken(weights, distributions, distributions)
                fork = self._fork[points.first]
                coordinates = self._descent(weights, progress).relax(fork, LABEL_STEPS)
            codes = distributions.argmax(axis=1)
            moves = np.linalg.norm(coordinates - base, axis=1) / _radius(base)
            effect = LabelEffect(
                signal,
                self._force,
                neighbor_purity(coordinates, codes),
                neighbor_purity(base, codes),
                float(np.median(moves)),
            )
        self.embedding_ = coordinates[points.number]
        self.certificate_ = LayoutCertificate(
            *self._descent(weights, progress).evaluate(coordinates),
            _neighbors_kept(self.graph_, self.embedding_),
            self.exaggeration_,
            self._n_steps,
            self._n_sampled,
            effect,
        )

    def _descent(self, weights: sp.csr_array, progress: Progress) -> Descent:
        return Descent(to_affinities(weights), self.exaggeration_, thread_limit(), progress)

    def _weaken(self, edges: sp.csr_array, of_rows: Array, of_columns: Array) -> sp.csr_array:
        """Return edge weights, smaller where the classes of both ends differ."""
        lost = self._force * (1 - agreement(edges, of_rows, of_columns))
        return with_values(edges, edges.data * (1 - lost))

    def _extend(self, X: Any, distances: sp.csr_array) -> Array:
        return self.place(distances)


def graph_of(estimator: Any) -> NeighborGraph | None:
    """Return the graph of a fitted estimator or of the embedder within it; None without edges."""
    graph = getattr(getattr(estimator, "embedder_", estimator), "graph_", None)
    has_edges = isinstance(graph, NeighborGraph) and not isinstance(graph, QueryGraph)
    return graph if has_edges else None


def _weighted_medians(weights: sp.csr_array, values: Array) -> Array:
    """Return the weighted median of every row's neighbors, of each coordinate."""
    counts = np.diff(weights.indptr)
    is_neighbor = np.arange(counts.max(initial=0)) < counts[:, None]
    of_each = np.zeros(is_neighbor.shape)
    of_each[is_neighbor] = weights.data
    neighbors = np.full((*is_neighbor.shape, values.shape[1]), np.inf)
    neighbors[is_neighbor] = values[weights.indices]
    medians = np.empty((len(of_each), values.shape[1]))
    for column in range(values.shape[1]):
        order = np.argsort(neighbors[:, :, column], axis=1, kind="stable")
        below = np.cumsum(np.take_along_axis(of_each, order, axis=1), axis=1)
        middle = np.argmax(below >= below[:, -1:] / 2, axis=1)
        chosen = np.take_along_axis(order, middle[:, None], axis=1)
        medians[:, column] = np.take_along_axis(neighbors[:, :, column], chosen, axis=1)[:, 0]
    return medians


def _radius(coordinates: Array) -> float:
    """Return the distance from the middle within which 99 % of the points lie."""
    return float(np.quantile(np.linalg.norm(coordinates - coordinates.mean(axis=0), axis=1), 0.99))


def _neighbors_kept(graph: NeighborGraph, coordinates: Array) -> float:
    """Return the share of neighbors that are among as many nearest in the picture."""
    n = graph.n_points
    rows = np.unique(np.linspace(0, n - 1, MOST_COMPARED).astype(np.intp))
    lists = graph.nearest[rows]
    longest = int(np.diff(lists.indptr).max())
    search = NearestNeighbors(n_neighbors=min(longest + 1, n), algorithm="kd_tree").fit(coordinates)
    found = search.kneighbors(coordinates[rows], return_distance=False)
    ends = np.repeat(np.arange(len(rows)), found.shape[1]), found.ravel()
    near = sp.csr_array((np.ones(found.size), ends), shape=lists.shape)
    kept = with_values(lists, np.ones(lists.nnz)).multiply(near).sum()
    return float(kept / lists.nnz)
