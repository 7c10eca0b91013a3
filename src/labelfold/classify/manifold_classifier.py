"""An embedder and a head in one classifier (CCDR-2005 section 4, CCDR-MC sections IV.A and V).

Labeled and unlabeled rows are embedded together. The head is fitted on the coordinates of labeled
rows and classifies all others; new rows go through the embedder's extension.

There are three kinds of embedders. Some declare that they take partial labels, and get them. Some
need a complete y, as scikit-learn's supervised transformers do: they would take an unlabeled row
for one of class -1, so they are fitted on the labeled rows alone. All others see no labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_array, check_consistent_length, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelfold.classify.heads import make_head
from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.graph.neighbor_graph import fingerprint
from labelfold.labels import PartialLabels
from labelfold.labels.score_classifier import ScoreClassifierMixin
from labelfold.methods import (
    Declaration,
    PublishedMixin,
    declare,
    is_blind_to_labels,
    takes_partial_labels,
)
from labelfold.spectral import CCDR, LaplacianEigenmaps
from labelfold.spectral.eigenmap import EigenmapEmbedder

__all__ = ["ManifoldClassifier", "as_array", "embed"]

# Of the default embedder, before the head "ridge": benchmarks/results/classifier_defaults.md.
GRAPH: dict[str, Any] = {"beta": 10.0, "n_neighbors": 15, "weights": "shared"}
PER_CLASS = 3
LEAST_EIGENVALUE = 1e-10  # below it an eigenvalue is rounding


def _embedder_extends(classifier: ManifoldClassifier) -> bool:
    embedder = getattr(classifier, "embedder_", classifier.embedder)
    return embedder is None or hasattr(embedder, "transform")


def _embedder_takes_graph(classifier: ManifoldClassifier) -> bool:
    return classifier.embedder is None or hasattr(classifier.embedder, "build_graph")


def _gives_distributions(classifier: ManifoldClassifier) -> bool:
    head = getattr(classifier, "head_", classifier.head)
    has_distributions = isinstance(head, str) or hasattr(head, "predict_proba")
    return has_distributions and _embedder_extends(classifier)


def _gives_scores(classifier: ManifoldClassifier) -> bool:
    head = getattr(classifier, "head_", classifier.head)
    has_scores = hasattr(head, "decision_function") or (isinstance(head, str) and head != "knn")
    return has_scores and _embedder_extends(classifier)


@declare(
    Declaration(
        "",
        "an embedding of all rows and a head fitted on the labeled ones",
        labels="needs",
        produces="both",
        only_in_fit=("embedding_", "transduction_"),
        examples=({}, {"embedder": LaplacianEigenmaps(3), "head": "knn"}),
    )
)
class ManifoldClassifier(PublishedMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Embed all rows, fit a head on the labeled ones, label the rest.

    Parameters
    ----------
    embedder : transformer, default=None
        An embedder of this library or any transformer of scikit-learn, also a pipeline. None is
        :class:`CCDR`, for the head "ridge" with three dimensions per class, ``beta=10`` and shared
        weights of 15 neighbors; for others with its defaults and two dimensions per class, or
        fewer if labels are too few for that.
    head : {"ridge", "linear", "knn"} or classifier, default="ridge"
        "linear" is :class:`LeastSquaresClassifier`, "ridge" the same with an automatic penalty,
        "knn" the 3 nearest labeled rows; or any classifier of scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes with a labeled row, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A class for every row: the given label, or the head's prediction for an unlabeled row.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The head's distribution for every row, labeled ones too: a given label that disagrees with
        it is worth a look. Computed whenever it is read; absent if the head has no
        ``predict_proba``.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of all rows.
    embedder_ : transformer
        The fitted embedder.
    head_ : classifier
        The fitted head.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    See Also
    --------
    labelfold.evaluate.LabeledKFold : Folds for scikit-learn's searches.
    labelfold.evaluate.TransductiveSearchCV : A search that keeps every row.

    Notes
    -----
    ``predict`` is for new rows, each treated by itself; it exists if the embedder has
    ``transform``. For the rows of fit use ``transduction_``, which always exists.

    Embedders that declare that they take partial labels get them (:mod:`labelfold.methods`): those
    of this library, and any of your own. Transformers that need a complete y (such as
    ``LinearDiscriminantAnalysis``) are fitted on the labeled rows and applied to all. All others
    see no labels. In a pipeline this holds for every step.

    "linear" is the papers' head, and that of ``ManifoldClassifier.as_published()``; with few labels
    it fits chance. "ridge" penalizes eigenvectors by their squared eigenvalues. CCDR pulls labeled
    rows to their class, so "ridge" is fitted to where they would lie without their own label
    (:meth:`CCDR.coordinates_without_label`), and left-out labels choose its penalty.

    The error on the labeled rows says nothing, since CCDR's coordinates depend on their labels.
    Estimate it on hidden labels, with the tools of :mod:`labelfold.evaluate`.

    Examples
    --------
    >>> from labelfold import ManifoldClassifier, hide_labels
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(1000, random_state=0)
    >>> model = ManifoldClassifier().fit(X[:900], hide_labels(y[:900], keep=range(300)))
    >>> wrong_in_fit = (model.transduction_ != y[:900]).sum()
    >>> model.score(X[900:], y[900:]) > 0.9
    True
    """

    _published: ClassVar = {"head": "linear"}

    def __init__(self, embedder: Any = None, *, head: Any = "ridge") -> None:
        self.embedder = embedder
        self.head = head

    def fit(self, X: Any, y: ArrayLike, *, graph: NeighborGraph | None = None) -> Self:
        """Embed all rows and fit the head on the labeled ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels; -1, None, NaN and pandas.NA are unlabeled.
        graph : NeighborGraph, default=None
            A graph built from the same rows with the embedder's parameters, to save the search.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        labels = PartialLabels.some_from_y(y)
        check_consistent_length(X, y)
        make_head(self.head, labels.n_labeled)  # raises for a wrong one before the work begins
        embedder = self.make_embedder(labels)
        embedding = as_array(embed(embedder, X, y, labels, graph))
        return self._finish(embedder, embedding, labels)

    def fit_head(self, embedder: Any, embedding: Any, y: ArrayLike) -> Self:
        """Fit the head alone, on an embedding computed before.

        Parameters
        ----------
        embedder : transformer
            Fitted; shared, not copied.
        embedding : array-like of shape (n_samples, n_components)
            Its coordinates of all rows.
        y : array-like of shape (n_samples,)
            Labels, as for :meth:`fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_consistent_length(embedding, y)
        embedding = check_array(embedding, accept_sparse="csr")
        return self._finish(embedder, embedding, PartialLabels.some_from_y(y))

    def make_embedder(self, labels: PartialLabels) -> Any:
        """Return the embedder that :meth:`fit` would fit.

        Parameters
        ----------
        labels : PartialLabels
            Their numbers give the dimension for ``embedder=None``.

        Returns
        -------
        transformer
            Unfitted.
        """
        if self.embedder is None:
            n_components = _default_dimension(labels, is_ridge=self._is_ridge)
            return self._embedder_or_default().set_params(n_components=n_components)
        if not hasattr(self.embedder, "fit_transform"):
            raise InputError(
                f"embedder={self.embedder!r} is not a transformer: give an estimator with "
                "fit_transform, such as CCDR(n_components=5), or None."
            )
        return clone(self.embedder)

    @available_if(_embedder_takes_graph)
    def build_graph(self, X: Any) -> NeighborGraph:
        """Build the graph that :meth:`fit` would build, to be shared by many fits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for :meth:`fit`.

        Returns
        -------
        NeighborGraph
            For ``fit(X, y, graph=...)``.
        """
        return self._embedder_or_default().build_graph(X)

    @available_if(_embedder_takes_graph)
    def graph_key(self) -> Hashable:
        """Return a key that is equal for estimators that build the same graph of the same rows."""
        return self._embedder_or_default().graph_key()

    def sharing_key(self) -> Hashable:
        """Return a key that is equal for classifiers that :meth:`fit_many` can fit together.

        They differ in the head, or in ``n_components`` of an embedder with ``truncated``.
        """
        if self.embedder is None:
            return self._is_ridge
        parameters = self.embedder.get_params()
        if hasattr(self.embedder, "truncated") and isinstance(self.embedder.n_components, Integral):
            del parameters["n_components"]
        return type(self.embedder), *((k, fingerprint(v)) for k, v in sorted(parameters.items()))

    def shares_folds(self) -> bool:
        """Return whether the embedding does not depend on labels, so that one serves any y."""
        return is_blind_to_labels(self.embedder)

    def fit_many(
        self,
        models: Sequence[ManifoldClassifier],
        X: Any,
        ys: Sequence[ArrayLike],
        graph: NeighborGraph | None = None,
    ) -> Iterator[tuple[int, int, ManifoldClassifier]]:
        """Fit classifiers that share an embedding, for every y.

        Parameters
        ----------
        models : sequence of ManifoldClassifier
            All with the :meth:`sharing_key` of this one; not changed.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        ys : sequence of array-like of shape (n_samples,)
            Labels; one embedding for all if :meth:`shares_folds`, otherwise one for each.
        graph : NeighborGraph, default=None
            As for :meth:`fit`.

        Yields
        ------
        model, y, fitted : int, int, ManifoldClassifier
            Positions in ``models`` and ``ys``, and the model fitted for that y.
        """
        embedder, embedding = None, None
        for fold, y in enumerate(ys):
            labels = PartialLabels.from_y(y)
            embedders = [model.make_embedder(labels) for model in models]
            if embedder is None or not self.shares_folds():
                embedder = _widest(embedders)
                embedding = as_array(embed(embedder, X, y, labels, graph))
            for number, model in enumerate(models):
                own, coordinates = _cut_to(embedders[number], embedder, embedding)
                yield number, fold, clone(model).fit_head(own, coordinates, y)

    @available_if(_embedder_extends)
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classes of new rows, each treated by itself.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_new,)
            Classes.
        """
        coordinates = self._coordinates(X)
        return np.asarray(self.head_.predict(coordinates))

    @available_if(_gives_distributions)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the head's distributions over the classes for new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            One column per class, in the order of ``classes_``.
        """
        coordinates = self._coordinates(X)
        return np.asarray(self.head_.predict_proba(coordinates))

    @available_if(_gives_scores)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the head's scores for new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_new,) or (n_new, n_classes)
            Scores, in the form of the head's ``decision_function``.
        """
        coordinates = self._coordinates(X)
        return np.asarray(self.head_.decision_function(coordinates))

    score = available_if(_embedder_extends)(ScoreClassifierMixin.score)

    def _finish(self, embedder: Any, embedding: Any, labels: PartialLabels) -> Self:
        """Fit the head, classify the unlabeled rows with it, and set the fitted attributes."""
        labeled, others = np.flatnonzero(labels.mask), np.flatnonzero(~labels.mask)
        given, coordinates, roughness = labels.at(labeled), embedding[labeled], None
        last = embedder[-1] if isinstance(embedder, Pipeline) else embedder
        is_eigenmap = isinstance(last, EigenmapEmbedder)
        if self._is_ridge and is_eigenmap and np.array_equal(embedding, last.embedding_):
            roughness = np.maximum(last.eigenvalues_, LEAST_EIGENVALUE) ** 2
            if isinstance(last, CCDR):
                coordinates = last.coordinates_without_label(labeled)
        self.head_ = make_head(self.head, labels.n_labeled, roughness).fit(coordinates, given)
        self.embedder_, self.embedding_ = embedder, embedding
        self.classes_ = labels.classes
        self.transduction_ = np.empty(len(labels), dtype=labels.classes.dtype)
        self.transduction_[labeled] = given
        if len(others):
            self.transduction_[others] = self.head_.predict(embedding[others])
        return self

    @property
    def label_distributions_(self) -> NDArray[np.float64]:
        """The head's distribution over the classes for every row of fit."""
        # For some heads it costs as much as the fit, and most candidates of a search never need it.
        return np.asarray(self.head_.predict_proba(self.embedding_))

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in fit."""
        return int(self.embedder_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if X has string names."""
        return np.asarray(self.embedder_.feature_names_in_)

    def _coordinates(self, X: Any) -> Any:
        check_is_fitted(self)
        return as_array(self.embedder_.transform(X))

    def _embedder_or_default(self) -> Any:
        # Not "embedder or CCDR()": ensembles have a length, and none before they are fitted.
        if self.embedder is not None:
            return self.embedder
        return CCDR(**GRAPH) if self._is_ridge else CCDR()

    @property
    def _is_ridge(self) -> bool:
        return isinstance(self.head, str) and self.head == "ridge"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        embedder = self._embedder_or_default()
        if hasattr(embedder, "fit_transform") and not isinstance(embedder, type):
            tags.input_tags = get_tags(embedder).input_tags
        return tags


def _default_dimension(labels: PartialLabels, *, is_ridge: bool) -> int:
    """Return three dimensions per class for a ridge head, else two, or fewer if labels are few.

    Plain least squares in nearly as many dimensions as there are labels fits them by chance: on
    digits, pen digits, Landsat and COIL-20 with up to five labels per class, one dimension more
    than there are classes was best or nearly so, and two per class were far worse.
    """
    n_classes = labels.n_classes
    wanted = min(2 * n_classes, max(n_classes + 1, labels.n_labeled // 5))
    wanted = PER_CLASS * n_classes if is_ridge else wanted
    return int(np.clip(wanted, 1, max(len(labels) + n_classes - 2, 1)))


def _widest(embedders: list[Any]) -> Any:
    """Return the embedder whose first coordinates are those of all others."""
    if not hasattr(embedders[0], "truncated"):
        return embedders[0]
    for one in embedders:
        if not isinstance(one.n_components, Integral) or one.n_components < 1:
            return one  # whose fit says what is wrong
    return max(embedders, key=lambda one: one.n_components)


def _cut_to(wanted: Any, fitted: Any, embedding: Any) -> tuple[Any, Any]:
    """Return the fitted embedder and its embedding with as many coordinates as wanted."""
    if not hasattr(fitted, "truncated") or wanted.n_components == fitted.n_components:
        return fitted, embedding
    cut = fitted.truncated(wanted.n_components)
    return cut, cut.embedding_


def embed(
    embedder: Any, X: Any, y: ArrayLike, labels: PartialLabels, graph: NeighborGraph | None = None
) -> Any:
    """Fit an embedder, or each step of a pipeline, in place; return the coordinates of all rows.

    ``labels`` are those of y, which is passed on as the user gave it.
    """
    if isinstance(embedder, Pipeline):
        last = len(embedder.steps) - 1
        for number, (_, step) in enumerate(embedder.steps):
            if step is not None and step != "passthrough":
                X = embed(step, X, y, labels, graph if number == last else None)
        return X
    given: dict[str, Any] = {}
    if graph is not None:
        if not hasattr(embedder, "build_graph"):
            raise InputError(
                f"graph was given, but {type(embedder).__name__} takes none: leave it out, or use "
                "an embedder that uses a graph, such as CCDR()."
            )
        given["graph"] = graph
    if takes_partial_labels(embedder):
        return embedder.fit_transform(X, y, **given)
    if get_tags(embedder).target_tags.required:
        return _embed_by_labeled(embedder, X, labels)
    try:
        return embedder.fit_transform(X, **given)
    except ValueError as error:
        # Feature selectors need y but have no tag for it, only scikit-learn's usual message.
        if "requires y" not in str(error):
            raise
        return _embed_by_labeled(embedder, X, labels)


def as_array(coordinates: Any) -> Any:
    """Return the values of a data frame, and anything else as it is."""
    return coordinates.to_numpy() if hasattr(coordinates, "to_numpy") else coordinates


def _embed_by_labeled(embedder: Any, X: Any, labels: PartialLabels) -> Any:
    rows = np.flatnonzero(labels.mask)
    embedder.fit(_safe_indexing(X, rows), labels.at(rows))
    return embedder.transform(X)
