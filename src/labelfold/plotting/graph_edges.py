"""The edges of a neighbour graph as lines on a map: a weight is an opacity, a bridge is dashed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.plotting.map_axes import is_space

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

EDGE_COLOR = "#404040"
BRIDGE_DASHES = (0.0, (3.0, 1.5))
LEAST_OPACITY = 0.12
LARGEST_OPACITY = 0.6
RASTERIZED_FROM = 20_000  # edges that make a vector file too slow to open


@dataclass(frozen=True)
class EdgeList:
    """Edges of a graph, each once.

    Parameters
    ----------
    pairs : ndarray of shape (n_edges, 2)
        The two points of each edge, the lower number first, without bridges.

    weights : ndarray of shape (n_edges,)
        Their weights.

    bridges : ndarray of shape (n_bridges, 2)
        Edges that were added to join components.
    """

    pairs: NDArray[np.intp]
    weights: NDArray[np.float64]
    bridges: NDArray[np.intp]

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
        _refuse_wrong(weights.data)
        either_way = sp.coo_array(sp.triu(weights.maximum(weights.T), k=1))
        pairs = np.column_stack([either_way.row, either_way.col]).astype(np.intp)
        keep = ~np.isin(_numbers(pairs, n_points), _numbers(bridges, n_points))
        return cls(pairs[keep], np.asarray(either_way.data, dtype=float)[keep], bridges)

    def sample(self, n_edges: int) -> EdgeList:
        """Return at most so many edges, drawn evenly and always the same, and every bridge."""
        if len(self.pairs) <= n_edges:
            return self
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(len(self.pairs), n_edges, replace=False))
        return EdgeList(self.pairs[rows], self.weights[rows], self.bridges)


def draw_edges(
    ax: Axes, places: NDArray[Any], edges: EdgeList, given: Mapping[str, Any]
) -> LineCollection | None:
    """Edges as thin dark lines underneath the points, heavy ones more opaque."""
    from matplotlib.colors import to_rgba_array

    if len(edges.pairs) == 0:
        return None
    colors = np.repeat(to_rgba_array(EDGE_COLOR), len(edges.pairs), axis=0)
    share = edges.weights / edges.weights.max()
    colors[:, 3] = LEAST_OPACITY + (LARGEST_OPACITY - LEAST_OPACITY) * share
    defaults = {
        "color": colors,
        "linewidth": 0.5,
        "zorder": 0.5,
        "rasterized": len(edges.pairs) > RASTERIZED_FROM,
    }
    return _add_lines(ax, places[edges.pairs], defaults, given)


def draw_bridges(
    ax: Axes, places: NDArray[Any], edges: EdgeList, given: Mapping[str, Any]
) -> LineCollection | None:
    """Bridges as thick dashed lines above the points, with a halo."""
    from matplotlib.patheffects import withStroke

    if len(edges.bridges) == 0:
        return None
    defaults = {
        "color": "black",
        "linewidth": 1.8,
        "linestyle": BRIDGE_DASHES,
        "zorder": 2.2,
        "path_effects": [withStroke(linewidth=3.4, foreground="white")],
    }
    return _add_lines(ax, places[edges.bridges], defaults, given)


def _add_lines(
    ax: Axes, segments: Any, defaults: dict[str, Any], given: Mapping[str, Any]
) -> LineCollection:
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.collections import LineCollection

    options = defaults | normalize_kwargs(dict(given), LineCollection)
    if is_space(ax):
        from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

        lines = Line3DCollection(segments, **options)
    else:
        lines = LineCollection(segments, **options)
    ax.add_collection(lines)
    return lines


def _refuse_wrong(weights: NDArray[Any]) -> None:
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("graph has weights that are negative, NaN or infinite: pass others.")


def _numbers(pairs: NDArray[np.intp], n_points: int) -> NDArray[np.int64]:
    """One number a pair, to compare pairs by."""
    return pairs[:, 0].astype(np.int64) * n_points + pairs[:, 1]
