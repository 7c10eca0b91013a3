"""A neighbor graph as a picture: its edges on a map, and the bridges that were added to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_integer
from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.plotting.embedding_display import EmbeddingDisplay
from labelfold.plotting.map_artists import add_legend, is_space, make_axes
from labelfold.plotting.map_view import Components

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.legend import Legend

MAX_EDGES = 200_000
EDGE_COLOR = "#404040"
BRIDGE_DASHES = (0.0, (3.0, 1.5))
LEAST_OPACITY = 0.12
LARGEST_OPACITY = 0.6
RASTERIZED_FROM = 20_000  # edges that make a vector file too slow to open


class GraphDisplay:
    """Picture of a neighbor graph on a map.

    Edges are thin lines, the more opaque the more they weigh. Bridges, the edges that were added
    because the graph fell into pieces, are thick and dashed, and counted in the legend. Points are
    drawn on top as by :class:`EmbeddingDisplay`.

    It shows whether a map tears neighbors apart: long edges between groups of points are
    neighbors that the map could not keep together.

    It is recommended to use :meth:`from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the points.

    graph : NeighborGraph or sparse matrix of shape (n_samples, n_samples)
        The graph, or the weights of its edges. A matrix that is not symmetric has an edge where
        either entry is there, with the larger weight.

    labels : array-like of shape (n_samples,) or PartialLabels, default=None
        Label of each point, with -1, None or NaN where it is unknown.

    class_centers : array-like of shape (n_classes, n_components), default=None
        Coordinates of the class centers.

    classes : array-like of shape (n_classes,), default=None
        The class of each row of `class_centers`, which also fixes the order of colors. By default
        the sorted classes of `labels`.

    class_names : sequence of str, default=None
        What to write for each class, in the order of `classes`, or of the sorted classes of
        `labels` where `classes` is None. By default the classes themselves.

    components : tuple of two or three int, or "classes", default=(0, 1)
        Columns of the embedding to draw, counted from zero; three give a picture in space.
        "classes" draws the plane in which labeled classes part; see :class:`EmbeddingDisplay`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    edges_ : matplotlib LineCollection or None
        The edges without bridges, each once.

    bridges_ : matplotlib LineCollection or None
        The bridges.

    points_ : EmbeddingDisplay
        The points, with its own artists.

    legend_ : matplotlib Legend or None
        What is to be said about the edges: the number of bridges, and of edges left out.

    See Also
    --------
    EmbeddingDisplay : The map without the graph.
    NeighborGraph : The graph that this display shows.

    Notes
    -----
    Of more than 200,000 edges so many are drawn, chosen at random and always the same, and the
    legend says so; a page cannot show more, and a drawing of all takes minutes. Bridges are few,
    and always all drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from labelfold import NeighborGraph
    >>> from labelfold.plotting import GraphDisplay
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> graph = NeighborGraph.build(points, n_neighbors=1).connected()
    >>> display = GraphDisplay(points, graph, labels=["a", None, "b", None]).plot()
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['1 bridge']
    """

    def __init__(
        self,
        embedding: ArrayLike,
        graph: Any,
        *,
        labels: Any = None,
        class_centers: ArrayLike | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        class_names: Sequence[str] | None = None,
        components: Components = (0, 1),
    ) -> None:
        self._map = EmbeddingDisplay(
            embedding,
            labels=labels,
            class_centers=class_centers,
            classes=classes,
            class_names=class_names,
            components=components,
        )
        self.embedding, self.graph = self._map.embedding, graph
        self.labels, self.class_centers = self._map.labels, self._map.class_centers
        self.classes, self.class_names = self._map.classes, self._map.class_names
        self.components = self._map.components
        if self._map.view.n_dims == 1:
            raise InputError(
                f"components={tuple(self.components)} of {self.embedding.shape[1]} columns is a "
                "strip, on which edges cannot be seen: name two columns, or three."
            )
        self._edges = EdgeList.of(graph, len(self.embedding))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        y: Any = None,
        components: Components = (0, 1),
        class_names: Sequence[str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the graph of a fitted estimator on its map.

        Parameters
        ----------
        estimator : object
            Fitted estimator with `embedding_` and `graph_`, such as :class:`CCDR`. Of a
            :class:`ManifoldClassifier` the embedder's graph is drawn.

        y : array-like of shape (n_samples,) or PartialLabels, default=None
            Label of each point it was fitted on, with -1, None or NaN where it is unknown.

        components : tuple of two or three int, default=(0, 1)
            Columns of the embedding to draw, counted from zero.

        class_names : sequence of str, default=None
            What to write for each class, in the order of `estimator.classes_`.

        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.

        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : GraphDisplay
            The display, drawn.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from sklearn.datasets import load_iris
        >>> from labelfold import CCDR
        >>> from labelfold.plotting import GraphDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> ccdr = CCDR(n_neighbors=5).fit(X, y)
        >>> display = GraphDisplay.from_estimator(ccdr, y=y)
        >>> n_edges = len(display.edges_.get_segments()) + len(ccdr.graph_.bridges)
        >>> n_edges == ccdr.graph_.statistics.n_edges
        True
        """
        check_is_fitted(estimator)
        estimator = getattr(estimator, "best_estimator_", estimator)
        mapper = getattr(estimator, "embedder_", estimator)
        for name in ("embedding_", "graph_"):
            if not hasattr(mapper, name):
                raise InputError(
                    f"{type(mapper).__name__} keeps no {name}: use an embedder of labelfold, or "
                    "GraphDisplay(embedding, graph)."
                )
        return cls(
            mapper.embedding_,
            mapper.graph_,
            labels=y,
            class_centers=getattr(mapper, "class_centers_", None),
            classes=getattr(estimator, "classes_", None),
            class_names=class_names,
            components=components,
        ).plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_edges: int = MAX_EDGES,
        edge_kwargs: dict[str, Any] | None = None,
        bridge_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, with three dimensions for three columns. By default a new figure.

        max_edges : int, default=200_000
            Number of edges to draw at most; bridges do not count.

        edge_kwargs : dict, default=None
            Passed to `matplotlib.collections.LineCollection` for the edges.

        bridge_kwargs : dict, default=None
            Passed to `matplotlib.collections.LineCollection` for the bridges.

        **kwargs : dict
            Passed to :meth:`EmbeddingDisplay.plot`.

        Returns
        -------
        display : GraphDisplay
            The display itself, with `ax_`, `figure_` and the drawn artists.
        """
        from matplotlib.patheffects import withStroke

        check_integer("max_edges", max_edges, least=0)
        ax = make_axes(ax, self._map.view.n_dims)
        places = self._map.view.place(self.embedding)
        edges = self._edges.sample(max_edges)
        self.ax_, self.figure_ = ax, ax.figure
        self.points_ = self._map.plot(ax, **kwargs)
        thin = {
            "color": edges.colors(),
            "linewidth": 0.5,
            "zorder": 0.5,
            "rasterized": len(edges.pairs) > RASTERIZED_FROM,
        }
        thick = {
            "color": "black",
            "linewidth": 1.8,
            "linestyle": BRIDGE_DASHES,
            "zorder": 2.2,
            "path_effects": [withStroke(linewidth=3.4, foreground="white")],
        }
        self.edges_ = _draw_lines(ax, places[edges.pairs], thin, edge_kwargs or {})
        self.bridges_ = _draw_lines(ax, places[edges.bridges], thick, bridge_kwargs or {})
        self.legend_ = self._explain(ax, len(edges.pairs))
        return self

    def _explain(self, ax: Axes, n_drawn: int) -> Legend | None:
        """Write what the lines alone do not tell; None where there is nothing to say."""
        from matplotlib.lines import Line2D

        handles, texts = [], []
        n_edges, n_bridges = len(self._edges.pairs), len(self._edges.bridges)
        if n_bridges:
            handles.append(Line2D([], [], color="black", linewidth=1.8, linestyle=BRIDGE_DASHES))
            texts.append(f"{n_bridges:,} {'bridge' if n_bridges == 1 else 'bridges'}")
        if n_drawn < n_edges:
            handles.append(Line2D([], [], color="#808080", linewidth=0.8))
            texts.append(f"{n_drawn:,} of {n_edges:,} edges")
        if not handles:
            return None
        return add_legend(ax, handles, texts, len(self.embedding))


@dataclass(frozen=True)
class EdgeList:
    """Edges of a graph, each once, with the lower number of its two points first."""

    pairs: NDArray[np.intp]  # of shape (n_edges, 2), without bridges
    weights: NDArray[np.float64]
    bridges: NDArray[np.intp]  # of shape (n_bridges, 2)

    @classmethod
    def of(cls, graph: Any, n_points: int) -> EdgeList:
        """Read a NeighborGraph, or a sparse matrix of weights, whose edges count either way."""
        weights: Any
        if isinstance(graph, NeighborGraph):
            weights, bridges = graph.weights, np.sort(graph.bridges, axis=1)
        elif hasattr(graph, "tocsr"):
            weights, bridges = graph.tocsr(), np.empty((0, 2), dtype=np.intp)
        else:
            raise TypeError(
                f"graph is of type {type(graph).__name__}: pass a NeighborGraph, such as the "
                "graph_ of an estimator, or a sparse matrix of weights."
            )
        if weights.shape != (n_points, n_points):
            raise InputError(
                f"graph has shape {weights.shape} but the embedding has {n_points} rows: "
                "pass the graph of the same points."
            )
        if not np.isfinite(weights.data).all() or (weights.data < 0).any():
            raise InputError("graph has weights that are negative, NaN or infinite: pass others.")
        either_way = sp.coo_array(sp.triu(weights.maximum(weights.T), k=1))
        pairs = np.column_stack([either_way.row, either_way.col]).astype(np.intp)
        one_number = np.array([n_points, 1])  # for each pair, to compare pairs by
        keep = ~np.isin(pairs @ one_number, bridges @ one_number)
        return cls(pairs[keep], np.asarray(either_way.data, dtype=float)[keep], bridges)

    def sample(self, n_edges: int) -> EdgeList:
        """Return at most so many edges, drawn evenly and always the same, and every bridge."""
        if len(self.pairs) <= n_edges:
            return self
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(len(self.pairs), n_edges, replace=False))
        return EdgeList(self.pairs[rows], self.weights[rows], self.bridges)

    def colors(self) -> NDArray[np.float64]:
        """Return the color of each edge, heavy ones more opaque."""
        from matplotlib.colors import to_rgba_array

        colors = np.repeat(to_rgba_array(EDGE_COLOR), len(self.pairs), axis=0)
        share = self.weights / self.weights.max(initial=np.finfo(float).tiny)
        colors[:, 3] = LEAST_OPACITY + (LARGEST_OPACITY - LEAST_OPACITY) * share
        return colors


def _draw_lines(
    ax: Axes, segments: Any, defaults: dict[str, Any], given: Mapping[str, Any]
) -> LineCollection | None:
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.collections import LineCollection

    if len(segments) == 0:
        return None
    options = defaults | normalize_kwargs(dict(given), LineCollection)
    if is_space(ax):
        from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

        lines = Line3DCollection(segments, **options)
    else:
        lines = LineCollection(segments, **options)
    ax.add_collection(lines)
    return lines
