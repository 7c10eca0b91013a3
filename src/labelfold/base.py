"""What estimators on a neighbor graph share.

All of them: validation, the graph, scikit-learn's tags, and that a row equal to a training row gets
that row's values. Embedders: labels, bridges, and the contract of ``transform``, which never sees
labels and treats every row by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_integer, check_rows
from labelfold.exceptions import DisconnectedGraphWarning, InputError, warn_user
from labelfold.fit_memory import FitMemory
from labelfold.graph import GraphRecipe, NeighborGraph
from labelfold.graph.components import find_components
from labelfold.graph.neighbor_graph import build_graph, fingerprint
from labelfold.labels import PartialLabels
from labelfold.memory import require_memory
from labelfold.methods import declaration_of, takes_partial_labels
from labelfold.progress import Progress, show_progress
from labelfold.threads import limit_threads

__all__ = ["GraphEmbedder", "GraphEstimator"]

# Parameters of estimators that determine the graph: fits that agree in them can share one.
GRAPH_PARAMETERS = (
    "n_neighbors",
    "radius",
    "metric",
    "weights",
    "scale",
    "neighbor_search",
    "random_state",
)


class GraphEstimator(BaseEstimator):
    """Base of estimators on a :class:`NeighborGraph`.

    A subclass takes those of :data:`GRAPH_PARAMETERS` that it leaves to the user in its
    constructor, and its ``fit`` sets ``graph_``.
    """

    def build_graph(self, X: Any) -> NeighborGraph:
        """Build the graph that :meth:`fit` would build, to share it among many fits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for :meth:`fit`.

        Returns
        -------
        NeighborGraph
            For ``fit(X, y, graph=...)`` of all estimators with the same graph parameters.
        """
        settings = self._graph_settings()
        return NeighborGraph.build(X, **settings, n_jobs=self.n_jobs, verbose=self.verbose)

    def graph_key(self) -> Hashable:
        """Return a key; estimators with equal keys build the same graph of the same rows."""
        return tuple((name, fingerprint(value)) for name, value in self._graph_settings().items())

    def _graph_settings(self) -> dict[str, Any]:
        """Return the parameters that determine the graph, by name."""
        own = self.get_params(deep=False)
        return {name: own[name] for name in GRAPH_PARAMETERS if name in own}

    def _graph_memory(self, X: Any, graph: NeighborGraph | None) -> FitMemory:
        """Return what the graph takes; nothing if it is given."""
        memory, n_neighbors = FitMemory(X.shape[0]), self._expected_neighbors(X)
        if graph is None:
            is_sparse = sp.issparse(X)
            n_bytes = X.data.nbytes if is_sparse else X.nbytes
            n_listed = 0 if is_sparse else X.shape[1]  # inverted lists are of dense rows
            memory.add_search(n_bytes / X.shape[0], n_listed, n_neighbors)
            memory.add_edges(n_neighbors)
        return memory

    def _expected_neighbors(self, X: Any) -> int:
        """Return the number of neighbors of a row; for a radius, which leaves it open, a usual one.

        A wrong number raises when the graph is built.
        """
        settings = self._graph_settings()
        given = settings.get("n_neighbors")
        if not isinstance(given, Integral) or settings.get("radius") is not None:
            given = GraphRecipe.n_neighbors
        return min(int(given), X.shape[0] - 1)

    def _make_graph(self, X: Any, graph: NeighborGraph | None, progress: Progress) -> NeighborGraph:
        settings = self._graph_settings()
        search = settings.pop("neighbor_search", "auto")
        random_state = settings.pop("random_state", None)
        recipe = GraphRecipe(**settings)
        if graph is not None:
            if "weights" not in settings:  # this method sees distances only
                given = graph.recipe
                recipe = replace(recipe, weights=given.weights, scale=given.scale)
            graph.check_matches(X, recipe)
            return graph
        return build_graph(
            X,
            recipe,
            neighbor_search=search,
            random_state=random_state,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self, "metric", None) == "precomputed"
        return tags


class GraphEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator, ABC):
    """Base of estimators that embed the points of a :class:`NeighborGraph`.

    A subclass states its objective in ``_embed``, which sets ``embedding_`` and ``graph_``, and
    extends the embedding to new rows in ``_extend``.
    """

    # Whether dense float32, float16 and int8 rows reach ``_embed`` and ``_extend`` as they are.
    _keeps_type: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None, *, graph: NeighborGraph | None = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; neighbor distances of shape (n_samples, n_samples) for
            ``metric="precomputed"``. ``graph_`` keeps a copy of them; of more than 256 MB it
            keeps a reference, which is not to be written into.
        y : array-like of shape (n_samples,), default=None
            Labels, for methods that use them; -1, None, NaN and pandas.NA are unlabeled.
        graph : NeighborGraph, default=None
            A graph built from the same rows with the same parameters, which saves the search.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._check_rows(X, reset=True)
        labels = self._check_labels(y, X.shape[0])
        self._check_parameters(labels)
        require_memory(self._memory(X, labels, graph).needed, verbose=self.verbose)
        with limit_threads(self.n_jobs), show_progress(self.verbose) as progress:
            graph = self._make_graph(X, graph, progress)
            graph = self._bridge(graph, self._groups(labels))
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
        """Return coordinates of new rows, each by itself and without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)
            Rows; distances to the training rows, of shape (n_new, n_samples), for
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
        """Return values of new rows: those of equal training rows, or else extended ones."""
        X = self._check_rows(X, reset=False)
        with limit_threads(self.n_jobs):
            distances = self.graph_.distances_to(X)
            rows, own = self.graph_.values_of_equal(X, distances, values)
            carried = np.empty((X.shape[0], values.shape[1]))
            carried[rows] = own
            others = np.setdiff1d(np.arange(X.shape[0]), rows)
            if len(others):
                carried[others] = extend(X[others], distances[others])
        return carried

    def _memory(self, X: Any, labels: PartialLabels, graph: NeighborGraph | None) -> FitMemory:
        """Return how much memory a fit takes; a subclass adds its own stages."""
        return self._graph_memory(X, graph)

    @abstractmethod
    def _embed(
        self, X: Any, graph: NeighborGraph, labels: PartialLabels, progress: Progress
    ) -> None:
        """State the objective, solve it, and set the fitted attributes."""

    @abstractmethod
    def _extend(self, X: Any, distances: sp.csr_array) -> NDArray[np.float64]:
        """Return coordinates of new rows, given with the distances to their neighbors."""

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        keep_type = self._keeps_type and getattr(self, "metric", None) != "precomputed"
        return check_rows(self, X, reset=reset, keep_type=keep_type)

    def _check_labels(self, y: Any, n_samples: int) -> PartialLabels:
        """Read y as the declaration says: at least one label, any number, or none."""
        declaration = declaration_of(self)
        if declaration is not None and declaration.labels == "needs":
            return PartialLabels.some_from_y(y, n_samples=n_samples)
        used = y if takes_partial_labels(self) else None
        return PartialLabels.from_optional_y(used, n_samples=n_samples)

    def _check_parameters(self, labels: PartialLabels) -> None:
        """Raise InputError for a wrong parameter, before the search begins."""
        self._check_dimension(labels)

    def _check_dimension(self, labels: PartialLabels) -> None:
        n_components: Any = self.n_components
        check_integer("n_components", n_components, least=1)
        if n_components > len(labels) + labels.n_classes - 1:
            classes = f" in {labels.n_classes} classes" if labels.n_classes else ""
            raise InputError(
                f"n_components={n_components} needs more than {n_components} rows, got "
                f"{len(labels)}{classes}: lower n_components or add data."
            )

    def _groups(self, labels: PartialLabels) -> NDArray[np.intp] | None:
        """Return groups of points that the method itself connects, as class nodes do; -1 alone."""
        return None

    def _bridge(
        self, graph: NeighborGraph, groups: NDArray[np.intp] | None = None
    ) -> NeighborGraph:
        """Return the graph in one component, with a warning if bridges were needed.

        A method that does not need one component overrides this to return the graph as it is.
        """
        bridged = graph.bridged(groups)
        if bridged.unbridged is not None:
            sizes = np.bincount(find_components(bridged.unbridged.adjacency, groups))
            n_bridges = len(bridged.bridges)
            edges = "1 bridging edge" if n_bridges == 1 else f"{n_bridges} bridging edges"
            by_class = len(sizes) <= bridged.unbridged.connected_components.max()
            as_one = ", components with a class in common counted as one" if by_class else ""
            larger = "n_neighbors" if graph.recipe.radius is None else "radius"
            warn_user(
                f"The neighbor graph has {len(sizes)} separate components, the largest with "
                f"{sizes.max()} of {graph.n_points} points{as_one}. Added {edges} (see "
                f"graph_.bridges). A larger {larger} may avoid this.",
                DisconnectedGraphWarning,
            )
        return bridged

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
