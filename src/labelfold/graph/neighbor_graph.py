"""Points become one immutable weighted graph, built once and passed to many fits.

Edge i - j if either is among the other's k nearest, or if both lie within a radius; its weight is
a function of its length (CCDR-2005 section 2, CCDR-MC section II.B.3 and appendices II, III).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from labelfold.checks import check_integer, check_real, input_errors
from labelfold.exceptions import FewNeighborsWarning, GraphMismatchError, InputError
from labelfold.graph.adjacency import add_edges, coincident, keep_nearest, row_numbers, symmetrize
from labelfold.graph.components import find_bridges, find_components
from labelfold.graph.neighbor_index import NeighborIndex, SearchReport
from labelfold.graph.point_space import Metric
from labelfold.graph.precomputed import PrecomputedIndex
from labelfold.graph.search import make_index
from labelfold.graph.statistics import GraphStatistics, skewness, warn_of_hub
from labelfold.graph.weights import (
    Scale,
    WeightFunction,
    automatic_scale,
    check_scale,
    edge_weights,
    relative_heat,
)
from labelfold.methods import stored
from labelfold.progress import Progress, report_nothing, show_progress

__all__ = ["GraphRecipe", "GraphStatistics", "NeighborGraph", "QueryGraph", "fingerprint"]


@stored
@dataclass(frozen=True, eq=False)
class GraphRecipe:
    """The parameters that determine a graph; see :meth:`NeighborGraph.build`."""

    n_neighbors: int = 12
    radius: float | None = None
    metric: Metric = "euclidean"
    weights: str | WeightFunction = "heat"
    scale: Any = "auto"

    def difference(self, other: GraphRecipe) -> str:
        """Name the first parameter in which two recipes differ, with both values; "" if none."""
        for name in ("radius", "metric", "weights", "scale", "n_neighbors"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "n_neighbors" and self.radius is not None:
                continue
            if not np.array_equal(mine, theirs) and fingerprint(mine) != fingerprint(theirs):
                return f"{name}={mine!r} here and {name}={theirs!r} there"
        return ""


def fingerprint(value: Any) -> Hashable:
    """Return a key that is equal for equal parameters: numbers, arrays, callables.

    Cloning an estimator copies its parameters, so that neither identity nor, for arrays and
    callable objects, equality would do. What cannot be pickled equals only itself.
    """
    if isinstance(value, list | tuple):
        return tuple(fingerprint(one) for one in value)
    try:
        return str(joblib.hash(value))
    except Exception:  # joblib raises what pickle does, which is anything
        return id(value)


@stored
@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """A symmetric weighted neighbor graph that can also place new points among its own.

    Make it with :meth:`build`; the fields are read-only.

    Parameters
    ----------
    distances : csr_array of shape (n_samples, n_samples)
        Length of every edge, symmetric; an explicit zero joins equal points.
    weights : csr_array of shape (n_samples, n_samples)
        Weight of every edge, in the same places, positive.
    scale : float or ndarray of shape (n_samples,)
        The scale c of the weights.
    recipe : GraphRecipe
        The parameters it was built with.
    index : NeighborIndex
        The neighbor search, for new points.
    occurrences : ndarray of shape (n_samples,)
        Number of points that count each one among their nearest, or have it within the radius.
    bridges : ndarray of shape (n_bridges, 2)
        Edges that were added to join components.
    unbridged : NeighborGraph or None
        The graph without them; None where there are none.

    Examples
    --------
    >>> from labelfold import CCDR, NeighborGraph
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(300, random_state=0)
    >>> graph = NeighborGraph.build(X, n_neighbors=10)
    >>> maps = [CCDR(beta=b, n_neighbors=10).fit(X, y, graph=graph) for b in (0.1, 1.0, 10.0)]
    """

    distances: sp.csr_array
    weights: sp.csr_array
    scale: Scale
    recipe: GraphRecipe
    index: NeighborIndex = field(repr=False)
    occurrences: NDArray[np.intp] = field(repr=False)
    bridges: NDArray[np.intp] = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    unbridged: NeighborGraph | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        arrays = [self.bridges, self.occurrences, np.asarray(self.scale)]
        for matrix in (self.distances, self.weights):
            arrays += [matrix.data, matrix.indices, matrix.indptr]
        for array in arrays:
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        # Plain arrays, places once, and nothing that is computed when first asked for.
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        distances = state.pop("distances")
        state["places"] = (distances.indices, distances.indptr)
        return {**state, "lengths": distances.data, "weights": self.weights.data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        indices, starts = state.pop("places")
        shape = (len(starts) - 1, len(starts) - 1)
        state["distances"] = sp.csr_array((state.pop("lengths"), indices, starts), shape=shape)
        state["weights"] = sp.csr_array((state["weights"], indices, starts), shape=shape)
        self.__dict__.update(state)
        self.__post_init__()

    @classmethod
    def build(
        cls,
        X: Any,
        *,
        n_neighbors: int = 12,
        radius: float | None = None,
        metric: Metric = "euclidean",
        weights: str | WeightFunction = "heat",
        scale: Any = "auto",
        neighbor_search: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> NeighborGraph:
        """Search neighbors and weigh the edges.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; distances of shape (n_samples, n_samples) for ``metric="precomputed"``.
        n_neighbors : int, default=12
            Neighbours of every point; an edge stands where either end counts the other. A
            number above n_samples - 1 is lowered to it, with a warning.
        radius : float, default=None
            Join all points up to this distance instead, and ignore ``n_neighbors``.
        metric : str or callable, default="euclidean"
            "euclidean", "cosine", "precomputed" or any other metric of scikit-learn.
        weights : {"heat", "binary"} or callable, default="heat"
            exp(-d^2 / scale), 1, or ``weights(distances, scales)``: two arrays of one shape in,
            one weight per edge out.
        scale : "auto", float or array-like of shape (n_samples,), default="auto"
            Scale of the weights. "auto" is ten times the mean squared distance to the nearest
            distinct point (CCDR-2005 section 4). With one scale per point, an edge takes the
            geometric mean of its two.
        neighbor_search : {"auto", "exact", "approximate"}, default="auto"
            "auto" is exact while that is quick.
        random_state : int, RandomState instance or None, default=None
            Fixes the approximate search.
        n_jobs : int, default=None
            Number of threads; None leaves it to the libraries.
        verbose : int, default=0
            1 shows progress on stderr.

        Returns
        -------
        NeighborGraph
            The graph, not yet joined where it has several components.
        """
        recipe = GraphRecipe(n_neighbors, radius, metric, weights, scale)
        with input_errors():
            X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        with show_progress(verbose) as progress:
            return build_graph(
                X,
                recipe,
                neighbor_search=neighbor_search,
                random_state=random_state,
                n_jobs=n_jobs,
                progress=progress,
            )

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.weights.shape[0])

    @property
    def search(self) -> SearchReport:
        """How the neighbors were found, with the recall of an approximate search."""
        return self.index.report

    @cached_property
    def pieces(self) -> NDArray[np.int32]:
        """For every point the number of its connected component."""
        return find_components(self.weights)

    @cached_property
    def statistics(self) -> GraphStatistics:
        """Components, hubs and duplicates in figures."""
        counts = np.diff(self.weights.indptr)
        groups = np.bincount(self.equal_groups)
        return GraphStatistics(
            n_points=self.n_points,
            n_edges=self.weights.nnz // 2,
            n_pieces=int(self.pieces.max()) + 1,
            n_bridges=len(self.bridges),
            n_duplicates=int(groups[groups > 1].sum()),
            largest_neighborhood=int(counts.max()),
            mean_neighborhood=float(counts.mean()),
            largest_occurrence=int(self.occurrences.max()),
            occurrence_skewness=skewness(self.occurrences),
            share_of_antihubs=float(np.mean(self.occurrences == 0)),
        )

    @cached_property
    def nearest(self) -> sp.csr_array:
        """Distances of every point to its nearest others, as many as there are neighbors."""
        # A row of the graph holds the point's own list and those points that count it.
        return keep_nearest(self.distances, self.recipe.n_neighbors)

    @cached_property
    def equal_groups(self) -> NDArray[np.int32]:
        """For every point the number of the group of rows equal to it."""
        rows, columns = coincident(self.distances)
        upper = rows < columns
        rows, columns = rows[upper], columns[upper]
        same = self.index.are_equal(None, rows, columns)
        edges = sp.csr_array(
            (np.ones(same.sum()), (rows[same], columns[same])), shape=self.weights.shape
        )
        return find_components(edges)

    def for_new_rows(self) -> NeighborGraph:
        """Return the graph without its edges, which still places new rows."""
        return QueryGraph.of(self)

    def connected(self, groups: NDArray[np.intp] | None = None) -> NeighborGraph:
        """Return the graph in one component, joined by the shortest bridges where it was not.

        Parameters
        ----------
        groups : ndarray of shape (n_samples,), default=None
            Points with the same number count as joined already (CCDR's class nodes do that);
            -1 stands alone.

        Returns
        -------
        NeighborGraph
            This graph where nothing was to be joined; otherwise one with as many ``bridges`` as
            there were components, less one. A bridge weighs at least the median of its end points'
            other edges, since heat over a long gap would be nothing.
        """
        if self.unbridged is not None:
            return self.unbridged.connected(groups)  # other groups may need other bridges
        components = self.pieces if groups is None else find_components(self.weights, groups)
        if components.max() == 0:
            return self
        rows, columns, lengths = find_bridges(components, self.index)
        weights = np.maximum(
            edge_weights(lengths, _pair_scale(self.scale, rows, columns), self.recipe.weights),
            self._median_weights(rows, columns),
        )
        ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        return replace(
            self,
            distances=add_edges(self.distances, *ends, np.tile(lengths, 2)),
            weights=add_edges(self.weights, *ends, np.tile(weights, 2)),
            bridges=np.column_stack([rows, columns]),
            unbridged=self,
        )

    def check_matches(self, X: Any, recipe: GraphRecipe) -> None:
        """Raise :class:`GraphMismatchError` unless built from ``X`` with these parameters."""
        n_neighbors = min(recipe.n_neighbors, self.n_points - 1)
        difference = self.recipe.difference(replace(recipe, n_neighbors=n_neighbors))
        if difference:
            raise GraphMismatchError(
                f"The graph was built with other parameters than the estimator has: {difference} "
                "(graph first): set the same parameters, or rebuild the graph."
            )
        if not self.index.same_as(X):
            raise GraphMismatchError(
                f"The graph was built from other rows than X of shape {X.shape}: build it from "
                "the same X, in the same order."
            )

    def distances_to(self, X: Any) -> sp.csr_array:
        """Return distances of new rows to their neighbors among the graph's points.

        A row without any neighbor within the radius gets its nearest point.
        """
        if self.recipe.radius is None:
            k = min(self.recipe.n_neighbors, self.n_points)
            return self.index.query(X, k)
        found = self.index.within(self.recipe.radius, X)
        alone = np.flatnonzero(np.diff(found.indptr) == 0)
        if len(alone):
            nearest = self.index.query(X[alone], 1)
            found = add_edges(found, alone, nearest.indices, nearest.data)
        return found

    def weigh(self, found: sp.csr_array, *, relative: bool) -> sp.csr_array:
        """Return weights of new rows' edges, from :meth:`distances_to`.

        Parameters
        ----------
        found : csr_array of shape (n_new, n_samples)
            Distances.
        relative : bool
            Allow every row a factor of its own, which keeps heat weights of a far row from
            vanishing; for formulas in which only ratios matter.
        """
        scale = self.scale
        if np.ndim(scale):
            scale = _scale_to_new(found, np.asarray(scale))
        if relative and self.recipe.weights == "heat":
            data = relative_heat(found, scale)
        else:
            data = edge_weights(found.data, scale, self.recipe.weights)
        return sp.csr_array((data, found.indices, found.indptr), shape=found.shape)

    def equal_rows(self, X: Any, found: sp.csr_array) -> NDArray[np.intp]:
        """Return for every new row the number of a point equal to it, or -1."""
        rows, columns = coincident(found)
        same = self.index.are_equal(X, rows, columns)
        equal = np.full(found.shape[0], -1, dtype=np.intp)
        equal[rows[same]] = columns[same]
        return equal

    def _median_weights(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return for every pair the median weight of the edges at either end."""
        if self.weights.nnz == 0:
            raise InputError(
                f"radius={self.recipe.radius} joins no two points: raise it, or use n_neighbors."
            )
        data, starts = self.weights.data, self.weights.indptr
        everywhere = np.median(data)
        medians = np.empty(len(rows))
        for e, ends in enumerate(zip(rows, columns, strict=True)):
            near = np.concatenate([data[starts[i] : starts[i + 1]] for i in ends])
            medians[e] = np.median(near) if len(near) else everywhere
        return medians


@stored
class QueryGraph(NeighborGraph):
    """A graph without its edges, as a file saved with ``compact=True`` has it.

    New points find their neighbors and weights as on the graph itself. Whatever needs the edges
    raises an AttributeError that says so.
    """

    @classmethod
    def of(cls, graph: NeighborGraph) -> QueryGraph:
        """Return the graph without its edges."""
        if isinstance(graph, cls):
            return graph
        index = graph.index
        if isinstance(index, PrecomputedIndex):
            # New rows bring their distances along; those of the points are edges.
            index = PrecomputedIndex(sp.csr_array((graph.n_points, graph.n_points)))
        small = cls.__new__(cls)
        small.__dict__.update(
            scale=graph.scale, recipe=graph.recipe, index=index, equal_groups=graph.equal_groups
        )
        return small

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.index.n_points

    def __post_init__(self) -> None:
        np.asarray(self.scale).flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in KEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __getattribute__(self, name: str) -> Any:
        # A field with a default would give that, and a property fail at the field it reads.
        if name in LEFT_OUT:
            raise AttributeError(
                f"{name} of the graph was left out of the compact file that it comes from: save "
                "the estimator with compact=False, or fit it again."
            )
        return super().__getattribute__(name)

    def __repr__(self) -> str:
        return f"QueryGraph(n_points={self.n_points}, recipe={self.recipe!r})"


KEPT = ("scale", "recipe", "index", "equal_groups")
LEFT_OUT = frozenset([*(one.name for one in fields(NeighborGraph)), "pieces", "statistics"])
LEFT_OUT -= frozenset(KEPT)


def build_graph(
    X: Any,
    recipe: GraphRecipe,
    *,
    neighbor_search: str,
    random_state: Any,
    n_jobs: int | None,
    progress: Progress = report_nothing,
) -> NeighborGraph:
    """Build a graph from validated rows: check, index, search, weigh.

    See :meth:`NeighborGraph.build`, which validates the rows, for the parameters.
    """
    scale = check_scale(recipe.scale, X.shape[0])
    n_neighbors = _check_neighborhood(recipe, X.shape[0])
    edge_weights(np.ones(1), 1.0, recipe.weights)  # a wrong name is found before the search
    progress("neighbors", 0, 1)
    index = make_index(
        X,
        recipe.metric,
        n_neighbors=n_neighbors,
        neighbor_search=neighbor_search if recipe.radius is None else "exact",
        seed=int(check_random_state(random_state).randint(2**31 - 1)),
        n_jobs=n_jobs,
    )
    radius = recipe.radius
    lists = index.neighbors(n_neighbors) if radius is None else index.within(radius)
    progress("neighbors", 1, 1, note=index.report.backend)
    graph = graph_of_lists(lists, scale, replace(recipe, n_neighbors=n_neighbors), index)
    if recipe.radius is None:
        warn_of_hub(graph.occurrences, n_neighbors, recipe.metric, stacklevel=3)
    return graph


def graph_of_lists(
    lists: sp.csr_array, scale: Scale | None, recipe: GraphRecipe, index: NeighborIndex
) -> NeighborGraph:
    """Return the graph that joins every point to those in its list; None for the "auto" scale."""
    distances = symmetrize(lists)
    n = distances.shape[0]
    if distances.nnz and not distances.data.any() and find_components(distances).max() == 0:
        raise InputError(f"All {n} rows of X are equal: there is no geometry to embed.")
    if scale is None:
        scale = automatic_scale(distances)
    pair_scale = _pair_scale(scale, row_numbers(distances), distances.indices)
    data = edge_weights(distances.data, pair_scale, recipe.weights)
    weights = sp.csr_array((data, distances.indices, distances.indptr), shape=(n, n))
    occurrences = np.bincount(lists.indices, minlength=n)
    return NeighborGraph(distances, weights, scale, recipe, index, occurrences)


def _check_neighborhood(recipe: GraphRecipe, n_samples: int) -> int:
    """Return the number of neighbors that each point can have."""
    if recipe.radius is not None:
        check_real("radius", recipe.radius, above=0, hint=", or None")
    check_integer("n_neighbors", recipe.n_neighbors, least=1)
    if recipe.n_neighbors >= n_samples and recipe.radius is None:
        warnings.warn(
            f"n_neighbors={recipe.n_neighbors} is more than the {n_samples - 1} other rows of X: "
            f"n_neighbors={n_samples - 1} is used.",
            FewNeighborsWarning,
            stacklevel=4,
        )
    return int(min(recipe.n_neighbors, n_samples - 1))


def _pair_scale(scale: Scale, rows: NDArray[np.intp], columns: NDArray[Any]) -> Scale:
    """Return the scale of edges: one for all, or the geometric mean of the ends' scales."""
    if np.ndim(scale) == 0:
        return scale
    values = np.asarray(scale)
    return np.sqrt(values[rows] * values[columns])


def _scale_to_new(found: sp.csr_array, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scale of new rows' edges: a new point has the scale of its nearest one."""
    starts, counts = found.indptr[:-1], np.diff(found.indptr)
    of_each = scale[found.indices]
    nearest = np.repeat(np.minimum.reduceat(found.data, starts), counts)
    of_nearest = np.maximum.reduceat(np.where(found.data == nearest, of_each, 0), starts)
    return np.sqrt(np.repeat(of_nearest, counts) * of_each)
