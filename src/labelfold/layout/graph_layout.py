"""A picture of many rows: points attract along the edges of a graph and repel each other."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.base import GraphEmbedder
from labelfold.checks import check_real, input_errors, seed_from
from labelfold.classify import FewLabelClassifier
from labelfold.classify.row_kernels import memory_of_kernels
from labelfold.exceptions import InputError
from labelfold.fit_memory import FitMemory
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import row_numbers, with_values
from labelfold.graph.neighbor_graph import QueryGraph
from labelfold.labels import PartialLabels
from labelfold.layout.descent import EARLY_STEPS, MISSING, STEPS, Descent, is_available
from labelfold.layout.label_force import fit_classifier, rounded, signal_of_labels, weaken
from labelfold.layout.layout_certificate import (
    LabelEffect,
    LayoutCertificate,
    neighbor_purity,
    neighbors_kept,
)
from labelfold.layout.merged_graph import MergedGraph
from labelfold.layout.start import orient, spectral_start, with_jitter
from labelfold.methods import Declaration, declare
from labelfold.progress import Progress, report_nothing, show_progress
from labelfold.threads import limit_threads

__all__ = ["GraphLayout"]

Array = NDArray[np.float64]

AUTO, SPECTRAL = "auto", "spectral"
MOST_DIMENSIONS = 3
MOST_TOGETHER = 400_000  # points that are laid out at once; of more, first a subsample
WARM_STEPS = 100  # from a fitted layout, or after a subsample
LABEL_STEPS = 100  # under the force of labels, and without it for comparison
# Rows up to which the classifier has one thread, for exactly equal bits; on a busy machine more
# would mainly wait for each other. Of more rows, its probabilities are rounded to the same.
IN_ONE_THREAD = 100_000
LARGEST_MOVE = 0.12  # of the radius, by labels: two sets of labels differ by a quarter at most


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
    count what more steps do as the labels' doing. Under their force f, an edge whose ends have
    class probabilities p and q keeps ``1 - f + f (sum_c sqrt(p_c q_c))^4`` of its weight; f is
    ``label_weight`` times the accuracy on left-out labels, corrected for chance as in Cohen's kappa
    and taken at the lower end of its 95 % interval. So labels that say nothing about the rows do
    not change the picture, and a few more labels move few points. They move none by more than 12 %
    of the radius from its place in ``base_embedding_``.

    New rows are placed at the median m of their neighbors in every coordinate, weighted by the
    edges and by the agreement of classes; then at the median with these weights over
    ``1 + |y - m|^2``, as m may lie between two groups.

    Distances between groups, and their sizes, mean little in such a picture. Time is linear in the
    number of rows past the neighbor search. Of more than 400,000 rows a subsample is laid out
    first, about one row in six, beside which lie all the others in the graph. They join it there,
    and all take 100 steps. This keeps the groups, and loses some of the order within them.

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
            Told of every ten steps; if it raises, the layout stays as it was.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        with limit_threads(self.n_jobs):
            self._apply_labels(classifier, progress)
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
        guides = isinstance(classifier, FewLabelClassifier) and len(classifier.classes_) > 1
        with limit_threads(layout.n_jobs), show_progress(layout.verbose) as progress:
            layout._set_base(None, layout._bridge(graph), progress)
            layout._apply_labels(classifier if guides else None, progress)
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
            of_new = (weights @ self._distributions) / weights.sum(axis=1)[:, None]
            weights = weaken(weights, of_new, self._distributions, self._force)
        # The median of neighbors in two groups may lie between them; the second lies in one.
        median = _weighted_medians(weights, self.embedding_)
        away = self.embedding_[weights.indices] - median[row_numbers(weights)]
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
        self._set_base(X, graph, progress)
        classifier = None
        if labels.n_classes > 1 and self.label_weight > 0:
            y = labels.classes.astype(object)[labels.codes]
            y[~labels.mask] = None
            settings = {
                "neighbor_search": self.neighbor_search,
                "random_state": seed_from(self.random_state),
                "n_jobs": self.n_jobs if len(labels) > IN_ONE_THREAD else 1,
            }
            classifier = fit_classifier(X, graph, y, settings)
        self._apply_labels(classifier, progress)

    def _set_base(self, X: Any, graph: NeighborGraph, progress: Progress) -> None:
        """Lay out the graph without labels."""
        points = MergedGraph.of_equal_rows(graph)
        given: Any = self.exaggeration
        if given == AUTO:
            given = np.clip((points.weights.shape[0] / 1000) ** 0.25, 1, 4)
        self.graph_, self.exaggeration_ = graph, float(given)
        descent = Descent(points.weights, self.exaggeration_, progress)
        seed, self._n_sampled, n_steps = seed_from(self.random_state), 0, EARLY_STEPS + STEPS
        if isinstance(self.init, GraphLayout):
            fork, n_steps = self._continue(X, points, descent)
        elif not isinstance(self.init, str):
            fork = descent.unfold(with_jitter(points.mean(self._given_start()), seed))
        elif points.weights.shape[0] <= MOST_TOGETHER:
            start = spectral_start(points.weights, self.n_components, seed)
            fork = orient(descent.unfold(start), start)
        else:
            coarse = MergedGraph.of_seeds(points.weights, seed)
            start = spectral_start(coarse.weights, self.n_components, seed)
            sample = Descent(coarse.weights, self.exaggeration_, progress).unfold(start)
            # A picture of n points has about sqrt(n) times the radius of one.
            sample = orient(sample, start) * np.sqrt(len(coarse.number) / len(start))
            fork = descent.relax(with_jitter(sample[coarse.number], seed), WARM_STEPS)
            self._n_sampled, n_steps = len(start), n_steps + WARM_STEPS
        self._fork, self._n_steps = fork[points.number], n_steps + LABEL_STEPS
        self.base_embedding_ = descent.relax(fork, LABEL_STEPS)[points.number]

    def _continue(self, X: Any, points: MergedGraph, descent: Descent) -> tuple[Array, int]:
        """Return coordinates near a fitted layout's, its own on its graph; and the steps taken."""
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
            return fitted._fork[points.first], 0
        start = points.mean(fitted._carry(X, fitted.base_embedding_, fitted._extend))
        return descent.relax(with_jitter(start, 0), WARM_STEPS), WARM_STEPS

    def _given_start(self) -> Array:
        with input_errors():
            start = check_array(self.init, dtype=np.float64, input_name="init")
        expected = (self.graph_.n_points, self.n_components)
        if start.shape != expected:
            raise InputError(
                f"init has shape {start.shape}, expected {expected}: one row per row of X and "
                "n_components columns."
            )
        return np.asarray(start)

    def _apply_labels(self, classifier: FewLabelClassifier | None, progress: Progress) -> None:
        """Descend further under the force of the labels, and set the fitted attributes."""
        points = MergedGraph.of_equal_rows(self.graph_)
        base, weights = self.base_embedding_[points.first], points.weights
        coordinates, effect = base, None
        force, distributions = 0.0, np.ones((len(base), 1), dtype=np.float32)
        if classifier is not None:
            signal = signal_of_labels(classifier)
            force = self.label_weight * signal
            distributions = points.mean(rounded(classifier.label_distributions_))
            radius = _radius(base)
            if force > 0:
                weights = weaken(weights, distributions, distributions, force)
                descent = Descent(weights, self.exaggeration_, progress)
                coordinates = descent.relax(self._fork[points.first], LABEL_STEPS)
                coordinates = _near(base, coordinates, LARGEST_MOVE * radius)
            codes = distributions.argmax(axis=1)
            effect = LabelEffect(
                signal,
                force,
                neighbor_purity(coordinates, codes),
                neighbor_purity(base, codes),
                float(np.median(np.linalg.norm(coordinates - base, axis=1)) / radius),
            )
        self.classifier_, self._force = classifier, force
        self._distributions = distributions[points.number]
        self.embedding_ = coordinates[points.number]
        self.certificate_ = LayoutCertificate(
            *Descent(weights, self.exaggeration_, progress).evaluate(coordinates),
            neighbors_kept(self.graph_, self.embedding_),
            self.exaggeration_,
            self._n_steps,
            self._n_sampled,
            effect,
        )

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
    medians = np.empty((len(counts), values.shape[1]))
    for column in range(values.shape[1]):
        near = np.full(is_neighbor.shape, np.inf)
        near[is_neighbor] = values[weights.indices, column]
        order = np.argsort(near, axis=1, kind="stable")
        below = np.cumsum(np.take_along_axis(of_each, order, axis=1), axis=1)
        middle = np.argmax(below >= below[:, -1:] / 2, axis=1)
        rows = np.arange(len(counts))
        medians[:, column] = near[rows, order[rows, middle]]
    return medians


def _radius(coordinates: Array) -> float:
    """Return the distance from the middle within which 99 % of the points lie."""
    return float(np.quantile(np.linalg.norm(coordinates - coordinates.mean(axis=0), axis=1), 0.99))


def _near(base: Array, coordinates: Array, distance: float) -> Array:
    """Return coordinates, those farther than a distance from their base moved back to it."""
    moves = coordinates - base
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    return np.asarray(base + moves * (distance / np.maximum(lengths, distance)))
