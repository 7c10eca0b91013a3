"""What estimators that stand on a neighbour graph share.

All of them: validation, the graph, scikit-learn's tags, and that a row equal to a training row gets
that row's values. Embedders: labels, bridges, and the contract of ``transform``, which never sees
labels and treats every row by itself.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_integer, check_rows
from labelfold.exceptions import DisconnectedGraphWarning, InputError
from labelfold.graph import GraphRecipe, NeighborGraph
from labelfold.graph.components import find_components
from labelfold.graph.neighbor_graph import build_graph, fingerprint
from labelfold.labels import PartialLabels
from labelfold.progress import Progress, show_progress
from labelfold.threads import limit_threads

__all__ = ["GraphEmbedder", "GraphEstimator"]


class GraphEstimator(BaseEstimator):
    """Base of estimators that stand on a :class:`NeighborGraph`.

    A subclass has the graph's parameters in its constructor, and ``fit`` sets ``graph_``.

    Attributes
    ----------
    graph_parameters : tuple of str
        Parameters that determine the graph: fits that agree in them can share one.
    """

    graph_parameters: ClassVar[tuple[str, ...]] = (
        "n_neighbors",
        "radius",
        "metric",
        "weights",
        "scale",
        "neighbor_search",
        "random_state",
    )

    def build_graph(self, X: Any) -> NeighborGraph:
        """Build the graph that :meth:`fit` would build, to be shared by many fits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points, as for :meth:`fit`.

        Returns
        -------
        NeighborGraph
            For ``fit(X, y, graph=...)`` of all estimators with the same graph parameters.
        """
        parameters = {name: getattr(self, name) for name in self.graph_parameters}
        return NeighborGraph.build(X, **parameters, n_jobs=self.n_jobs, verbose=self.verbose)

    def graph_key(self) -> Hashable:
        """Return a key that is equal for estimators which build the same graph of the same rows."""
        return tuple((name, fingerprint(getattr(self, name))) for name in self.graph_parameters)

    def _graph_of(self, X: Any, graph: NeighborGraph | None, progress: Progress) -> NeighborGraph:
        names = {one.name for one in fields(GraphRecipe)}.intersection(self.graph_parameters)
        recipe = GraphRecipe(**{name: getattr(self, name) for name in names})
        if graph is not None:
            if "weights" not in names:  # of no concern to a method that sees distances only
                given = graph.recipe
                recipe = replace(recipe, weights=given.weights, scale=given.scale)
            graph.check_matches(X, recipe)
            return graph
        return build_graph(
            X,
            recipe,
            neighbor_search=self.neighbor_search,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def _values_of_equal(
        self, X: Any, found: sp.csr_array, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return which rows equal a training row, and the mean of values over all that they equal.

        ``found`` has the distances of the rows to their neighbors.
        """
        equal = self.graph_.equal_rows(X, found)
        known = np.flatnonzero(equal >= 0)
        groups = self.graph_.equal_groups
        wanted, position = np.unique(groups[equal[known]], return_inverse=True)
        members = np.flatnonzero(np.isin(groups, wanted))
        of_member = np.searchsorted(wanted, groups[members])
        sums = np.zeros((len(wanted), values.shape[1]))
        np.add.at(sums, of_member, values[members])
        counts = np.bincount(of_member, minlength=len(wanted))
        return known, np.asarray((sums / counts[:, None])[position])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


class GraphEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator, ABC):
    """Base of estimators that map the points of a :class:`NeighborGraph`.

    A subclass states its objective in ``_embed``, which sets ``embedding_`` and ``graph_``, and
    carries it to new points in ``_extend``.
    """

    def fit(self, X: Any, y: Any = None, *, graph: NeighborGraph | None = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; neighbour distances of shape (n_samples, n_samples) for
            ``metric="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            Labels, for methods that use them; -1, None, NaN and pandas.NA are unlabelled.
        graph : NeighborGraph, default=None
            A graph built from the same rows with the same parameters, to spare the search.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = check_rows(self, X, reset=True)
        labels = self._check_labels(y, X.shape[0])
        self._check_parameters(labels)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            graph = self._graph_of(X, graph, progress)
            graph = self._join(graph, self._joined_by(labels))
            self._embed(X, graph, labels, progress)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, graph: NeighborGraph | None = None
    ) -> NDArray[np.float64]:
        """Embed the rows of X and return their coordinates; see :meth:`fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            ``embedding_``.
        """
        self.fit(X, y, graph=graph)
        return np.array(self.embedding_)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Map new rows, each by itself and without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows; distances to the training points, of shape (n_new, n_samples), for
            ``metric="precomputed"``.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            A row equal to a training row gets that row's coordinates, or the mean over all
            training rows equal to it; any other row goes through the extension.
        """
        check_is_fitted(self)
        return self._carry(X, self.embedding_, self._extend)

    def _carry(
        self,
        X: Any,
        values: NDArray[np.float64],
        extend: Callable[[Any, sp.csr_array], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return values of new rows, those of the equal training rows where there are any."""
        X = check_rows(self, X, reset=False)
        with limit_threads(self.n_jobs):
            found = self.graph_.distances_to(X)
            known, own = self._values_of_equal(X, found, values)
            carried = np.empty((X.shape[0], values.shape[1]))
            carried[known] = own
            others = np.setdiff1d(np.arange(X.shape[0]), known)
            if len(others):
                carried[others] = extend(X[others], found[others])
        return carried

    @abstractmethod
    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        """State the objective, solve it, and set the fitted attributes."""

    @abstractmethod
    def _extend(self, X: Any, found: sp.csr_array) -> NDArray[np.float64]:
        """Return coordinates of new rows, given with the distances to their neighbours."""

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        """Return the labels; a method that makes no use of them ignores y as scikit-learn does."""
        return PartialLabels.none(n_samples)

    def _check_parameters(self, labels: PartialLabels) -> None:
        """Refuse wrong parameters before the search begins."""
        self._check_dimension(labels)

    def _check_dimension(self, labels: PartialLabels) -> None:
        n_components: Any = self.n_components
        check_integer("n_components", n_components, least=1)
        if n_components > len(labels) + labels.n_classes - 1:
            classes = f" in {labels.n_classes} classes" if labels.n_classes else ""
            raise InputError(
                f"n_components={n_components} needs more than {n_components} points, got "
                f"{len(labels)}{classes}: lower n_components or add data."
            )

    def _joined_by(self, labels: PartialLabels) -> NDArray[np.intp] | None:
        """Return groups of points that the method itself joins, as class nodes do; -1 for none."""
        return None

    def _join(self, graph: NeighborGraph, groups: NDArray[np.intp] | None = None) -> NeighborGraph:
        """Return the graph in one component, with a warning where bridges were needed.

        A method that can do with several components overrides this to return the graph as it is.
        """
        joined = graph.connected(groups)
        if joined.unbridged is not None:
            sizes = np.bincount(find_components(joined.unbridged.weights, groups))
            n_bridges = len(joined.bridges)
            edges = "1 bridging edge" if n_bridges == 1 else f"{n_bridges} bridging edges"
            by_class = len(sizes) <= joined.unbridged.pieces.max()
            as_one = ", components with a class in common counted as one" if by_class else ""
            larger = "n_neighbors" if graph.recipe.radius is None else "radius"
            warnings.warn(
                f"The neighbor graph has {len(sizes)} separate components, the largest with "
                f"{sizes.max()} of {graph.n_points} points{as_one}. Added {edges} (see "
                f"graph_.bridges). A larger {larger} may avoid this.",
                DisconnectedGraphWarning,
                stacklevel=3,
            )
        return joined

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
