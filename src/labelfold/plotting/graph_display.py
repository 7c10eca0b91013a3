"""A neighbor graph as a picture: its edges and bridges on a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from labelfold.checks import check_integer
from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.plotting.embedding_display import EmbeddingDisplay
from labelfold.plotting.map_artists import add_legend, is_space, make_axes
from labelfold.plotting.map_inputs import find_embedder
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
RASTERIZED_FROM = 20_000  # edges; so many make a vector file too slow to open


class GraphDisplay:
    """Picture of a neighbor graph on a map.

    Edges are thin lines, more opaque the larger their weight. Bridges, the edges added to connect
    components, are thick and dashed, and counted in the legend. Points are drawn on top, as by
    :class:`EmbeddingDisplay`.

    Long edges between groups of points are neighbors that the embedding could not keep together.

    Use :meth:`from_estimator` for a fitted estimator. All parameters are stored as attributes.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the points.

    graph : NeighborGraph or sparse matrix of shape (n_samples, n_samples)
        The graph, or the weights of its edges. In a matrix that is not symmetric, either entry
        makes an edge, and the larger weight counts.

    labels, class_centers, classes, class_names : default=None
        Labels of the points and more about the classes; see :class:`EmbeddingDisplay`.

    components : tuple of two or three int, or "classes", default=(0, 1)
        Columns of the embedding to draw, counted from 0; three give a map in space. "classes"
        draws the plane that separates labeled classes; see :class:`EmbeddingDisplay`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.

    figure_ : matplotlib Figure
        Figure that holds it.

    edges_ : matplotlib LineCollection or None
        The edges without bridges.

    bridges_ : matplotlib LineCollection or None
        The bridges.

    points_ : EmbeddingDisplay
        The display of the points.

    legend_ : matplotlib Legend or None
        The number of bridges, and of drawn edges if some are left out.

    See Also
    --------
    EmbeddingDisplay : The map without the graph.
    NeighborGraph : The graph that this display shows.

    Notes
    -----
    Of more than 200,000 edges a fixed random sample of that size is drawn, and the legend says so:
    a page cannot show more, and drawing all takes minutes. All bridges are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold import NeighborGraph
    >>> from labelfold.plotting import GraphDisplay
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> graph = NeighborGraph.build(points, n_neighbors=1).bridged()
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
        self._edges = EdgeList.from_graph(graph, len(self.embedding))

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
        """Draw the graph of a fitted estimator on its embedding.

        Parameters
        ----------
        estimator : object
            Fitted estimator with `embedding_` and `graph_`, such as :class:`CCDR`, or a
            :class:`ManifoldClassifier` with such an embedder.

        y : array-like of shape (n_samples,) or PartialLabels, default=None
            Label of each row of the fit: -1, None or NaN for unlabeled rows.

        components : tuple of two or three int, or "classes", default=(0, 1)
            Columns of the embedding to draw, counted from 0.

        class_names : sequence of str, or mapping, default=None
            Name of each class, in the order of `estimator.classes_`, or by class.

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
        estimator, embedder = find_embedder(estimator)
        for name in ("embedding_", "graph_"):
            if not hasattr(embedder, name):
                raise InputError(
                    f"{type(embedder).__name__} keeps no {name}: use an embedder of labelfold, or "
                    "GraphDisplay(embedding, graph)."
                )
        return cls(
            embedder.embedding_,
            embedder.graph_,
            labels=y,
            class_centers=getattr(embedder, "class_centers_", None),
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
            Largest number of edges to draw; bridges do not count.

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
        """Add a legend of bridges and of edges left out; None if there are neither."""
        from matplotlib.lines import Line2D

        lines = {}
        n_edges, n_bridges = len(self._edges.pairs), len(self._edges.bridges)
        if n_bridges:
            words = f"{n_bridges:,} {'bridge' if n_bridges == 1 else 'bridges'}"
            lines[words] = Line2D([], [], color="black", linewidth=1.8, linestyle=BRIDGE_DASHES)
        if n_drawn < n_edges:
            words = f"{n_drawn:,} of {n_edges:,} edges"
            lines[words] = Line2D([], [], color="#808080", linewidth=0.8)
        return add_legend(ax, [*lines.values()], [*lines], len(self.embedding)) if lines else None


@dataclass(frozen=True)
class EdgeList:
    """Edges of a graph, each once, as pairs of rows in ascending order."""

    pairs: NDArray[np.intp]  # of shape (n_edges, 2), without bridges
    weights: NDArray[np.float64]
    bridges: NDArray[np.intp]  # of shape (n_bridges, 2)

    @classmethod
    def from_graph(cls, graph: Any, n_points: int) -> EdgeList:
        """Read a NeighborGraph, or a sparse matrix of weights that need not be symmetric."""
        weights: Any
        if isinstance(graph, NeighborGraph):
            weights, bridges = graph.adjacency, np.sort(graph.bridges, axis=1)
        elif hasattr(graph, "tocsr"):
            weights, bridges = graph.tocsr(), np.empty((0, 2), dtype=np.intp)
        else:
            raise TypeError(
                f"graph is a {type(graph).__name__}: pass a NeighborGraph, such as the graph_ of "
                "an estimator, or a sparse matrix of weights."
            )
        if weights.shape != (n_points, n_points):
            raise InputError(
                f"graph has shape {weights.shape} but the embedding has {n_points} rows: "
                "pass the graph of the same rows."
            )
        if not np.isfinite(weights.data).all() or (weights.data < 0).any():
            raise InputError(
                "graph has weights that are negative, NaN or infinite: pass finite weights of at "
                "least 0."
            )
        upper = sp.coo_array(sp.triu(weights.maximum(weights.T), k=1))
        pairs = np.column_stack([upper.row, upper.col]).astype(np.intp)
        one_number = np.array([n_points, 1])  # per pair, to compare pairs by
        keep = ~np.isin(pairs @ one_number, bridges @ one_number)
        return cls(pairs[keep], np.asarray(upper.data, dtype=float)[keep], bridges)

    def sample(self, n_edges: int) -> EdgeList:
        """Return a fixed random sample of at most `n_edges` edges, and every bridge."""
        if len(self.pairs) <= n_edges:
            return self
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(len(self.pairs), n_edges, replace=False))
        return EdgeList(self.pairs[rows], self.weights[rows], self.bridges)

    def colors(self) -> NDArray[np.float64]:
        """Return the color of each edge, more opaque for a larger weight."""
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
