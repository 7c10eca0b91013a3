"""Rows become the points of one immutable weighted graph, built once and passed to many fits.

There is an edge i - j if either is among the other's k nearest, or if both lie within a radius; its
weight is a function of its length (CCDR-2005 section 2, CCDR-MC section II.B.3 and appendices II,
III).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import skew

from labelfold.checkpoint_folder import once, task
from labelfold.checks import (
    check_graph_rows,
    check_integer,
    check_real,
    check_single,
    seed_from,
)
from labelfold.exceptions import FewNeighborsWarning, GraphMismatchError, InputError, warn_user
from labelfold.graph.adjacency import (
    ReadOnly,
    add_edges,
    coincident,
    keep_nearest,
    listed_by_both,
    row_numbers,
    row_ranges,
    symmetrize,
    with_values,
)
from labelfold.graph.components import find_bridges, find_components
from labelfold.graph.diffusion import HeatDiffusion
from labelfold.graph.neighbor_index import SearchReport
from labelfold.graph.point_space import Metric
from labelfold.graph.precomputed import NeighborIndex, PrecomputedIndex
from labelfold.graph.search import make_index
from labelfold.graph.statistics import GraphStatistics, warn_of_hub
from labelfold.graph.weights import (
    Scale,
    WeightFunction,
    automatic_scale,
    check_scale,
    edge_weights,
    is_self_tuning,
    list_scales,
    relative_heat,
    shared_neighbors,
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
    one_sided: float | None = None
    most_ties: int = 0  # neighbors beyond n_neighbors that a list keeps, as near as its last one

    @property
    def one_sided_factor(self) -> float:
        """Factor on the weight of edges that only one end lists."""
        if self.one_sided is None:
            return 0.5 if is_self_tuning(self.weights) else 1.0
        return self.one_sided

    def difference(self, other: GraphRecipe) -> str:
        """Name the first parameter in which two recipes differ, with both values; "" if none.

        Estimators do not have ``one_sided`` and ``most_ties``, and take a graph with any.
        """
        for name in ("radius", "metric", "weights", "scale", "n_neighbors"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "n_neighbors" and self.radius is not None:
                continue
            if not np.array_equal(mine, theirs) and fingerprint(mine) != fingerprint(theirs):
                return f"{name}={mine!r} here and {name}={theirs!r} there"
        return ""


def fingerprint(value: Any) -> Hashable:
    """Return a key that is equal for equal parameters: numbers, arrays, callables.

    Cloning an estimator copies its parameters: identity would not do, nor would equality for
    arrays and callable objects. What cannot be pickled equals only itself.
    """
    if isinstance(value, list | tuple):
        return tuple(fingerprint(one) for one in value)
    try:
        return str(joblib.hash(value))
    except Exception:  # joblib raises what pickle does, which is anything
        return id(value)


@stored
@dataclass(frozen=True, eq=False)
class NeighborGraph(ReadOnly):
    """A symmetric weighted neighbor graph that also finds the neighbors of new rows.

    Build it with :meth:`build`; the fields are read-only.

    Parameters
    ----------
    distances : csr_array of shape (n_samples, n_samples)
        Length of every edge, symmetric; an explicit zero joins equal points.
    adjacency : csr_array of shape (n_samples, n_samples)
        Weight of every edge, in the same places, positive.
    scale : float or ndarray of shape (n_samples,)
        The scale c of the weights.
    recipe : GraphRecipe
        The parameters it was built with.
    index : NeighborIndex
        The neighbor search, for new rows.
    occurrences : ndarray of shape (n_samples,)
        Number of points that count each one among their nearest, or have it within the radius.
    bridges : ndarray of shape (n_bridges, 2)
        Edges that were added to join components.
    unbridged : NeighborGraph or None
        The graph without them; None if there are none.

    Examples
    --------
    >>> from labelfold import CCDR, NeighborGraph
    >>> from labelfold.datasets import make_swiss_roll
    >>> X, y, _ = make_swiss_roll(300, random_state=0)
    >>> graph = NeighborGraph.build(X, n_neighbors=10)
    >>> models = [CCDR(beta=b, n_neighbors=10).fit(X, y, graph=graph) for b in (0.1, 1.0, 10.0)]
    """

    distances: sp.csr_array
    adjacency: sp.csr_array
    scale: Scale
    recipe: GraphRecipe
    index: NeighborIndex = field(repr=False)
    occurrences: NDArray[np.intp] = field(repr=False)
    bridges: NDArray[np.intp] = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    # A factory, since a class attribute would be there in a QueryGraph as well.
    unbridged: NeighborGraph | None = field(default_factory=lambda: None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # Plain arrays, places once, and nothing that is computed on first use.
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        distances = state.pop("distances")
        state["places"] = (distances.indices, distances.indptr)
        return {**state, "lengths": distances.data, "adjacency": self.adjacency.data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        indices, starts = state.pop("places")
        shape = (len(starts) - 1, len(starts) - 1)
        distances = sp.csr_array((state.pop("lengths"), indices, starts), shape=shape)
        adjacency = with_values(distances, state["adjacency"])
        super().__setstate__({**state, "distances": distances, "adjacency": adjacency})

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
        one_sided: float | None = None,
        neighbor_search: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> NeighborGraph:
        """Search neighbors and weigh the edges.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; distances of shape (n_samples, n_samples) for ``metric="precomputed"``. Dense
            float32, float16 and int8 rows stay what they are, and distances are measured in
            float64. The graph keeps a copy of the rows, for new ones; of more than 256 MB it
            keeps a reference: do not write into them while the graph is in use.
        n_neighbors : int, default=12
            Neighbors of every point; an edge joins two points if either counts the other. A
            number above n_samples - 1 is lowered to it, with a warning.
        radius : float, default=None
            Join all points up to this distance instead, and ignore ``n_neighbors``.
        metric : str or callable, default="euclidean"
            "euclidean", "cosine", "precomputed" or any other metric of scikit-learn.
        weights : {"heat", "binary", "self-tuning", "shared"} or callable, default="heat"
            exp(-d^2 / scale), 1, heat with a scale per point from its neighbor list, this times
            the share of neighbors that both ends have, or ``weights(distances, scales)``: two
            arrays of one shape in, one weight per edge out.
        scale : "auto", float or array-like of shape (n_samples,), default="auto"
            Scale of the weights. "auto" is ten times the mean squared distance to the nearest
            distinct point (CCDR-2005 section 4). With one scale per point, an edge takes the
            geometric mean of its two.
        one_sided : float, default=None
            Factor on the weight of edges of which only one end counts the other among its
            neighbors: 1 is the rule "or", 0.5 the mean of both directions, and near 0 hardly more
            than mutual neighbors remain. None is 0.5 for self-tuning and shared weights, and 1 for
            all others.
        neighbor_search : {"auto", "exact", "approximate"}, default="auto"
            "auto" is exact while that is quick.
        random_state : int, RandomState instance or None, default=None
            Seed of the approximate search; None is a fixed one.
        n_jobs : int, default=None
            Number of threads; None leaves it to the libraries.
        verbose : int, default=0
            1 shows progress on stderr.

        Returns
        -------
        NeighborGraph
            The graph, without bridges if it has several components.
        """
        recipe = GraphRecipe(n_neighbors, radius, metric, weights, scale, one_sided)
        check_single("metric", metric)
        X = check_graph_rows(X, keep_type=metric != "precomputed")
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
        return self.index.n_points

    @property
    def search(self) -> SearchReport:
        """How neighbors were searched, with the recall of an approximate search."""
        return self.index.report

    @cached_property
    def connected_components(self) -> NDArray[np.int32]:
        """For every point the number of its connected component."""
        return find_components(self.adjacency)

    @cached_property
    def diffusion(self) -> HeatDiffusion:
        """Heat on the graph: values of rows spread along its edges."""
        return HeatDiffusion(self.adjacency)

    @cached_property
    def statistics(self) -> GraphStatistics:
        """Components, hubs and duplicates in figures."""
        counts = np.diff(self.adjacency.indptr)
        groups = np.bincount(self.equal_groups)
        return GraphStatistics(
            n_points=self.n_points,
            n_edges=self.adjacency.nnz // 2,
            n_connected_components=int(self.connected_components.max()) + 1,
            n_bridges=len(self.bridges),
            n_duplicates=int(groups[groups > 1].sum()),
            largest_neighborhood=int(counts.max()),
            mean_neighborhood=float(counts.mean()),
            largest_occurrence=int(self.occurrences.max()),
            occurrence_skewness=float(skew(self.occurrences)) if np.ptp(self.occurrences) else 0.0,
            share_of_antihubs=float(np.mean(self.occurrences == 0)),
        )

    @cached_property
    def nearest(self) -> sp.csr_array:
        """Neighbor list of every point: distances to its nearest others, or within the radius."""
        distances = self.distances if self.unbridged is None else self.unbridged.distances
        if self.recipe.radius is not None:
            return distances
        # A row of the graph holds the point's own list and the points that count it.
        return keep_nearest(distances, self.recipe.n_neighbors, ties=self.recipe.most_ties > 0)

    @cached_property
    def equal_groups(self) -> NDArray[np.int32]:
        """For every point the number of the group of rows equal to it."""
        rows, columns = coincident(self.distances)
        same = self.index.are_equal(None, rows, columns)
        ends = rows[same], columns[same]
        return find_components(
            sp.csr_array((np.ones(same.sum()), ends), shape=self.adjacency.shape)
        )

    def reweighed(
        self, n_neighbors: int, weights: str | WeightFunction, *, one_sided: float | None = None
    ) -> NeighborGraph:
        """Return the graph of fewer neighbors, or of other weights, without another search.

        Parameters
        ----------
        n_neighbors : int
            At most as many as the graph has.
        weights, one_sided : str or callable, float
            As for :meth:`build`; the scale is automatic.
        """
        own = self.recipe
        recipe = GraphRecipe(
            n_neighbors, None, own.metric, weights, one_sided=one_sided, most_ties=own.most_ties
        )
        lists = keep_nearest(self.nearest, n_neighbors, ties=own.most_ties > 0)
        return graph_of_lists(lists, None, recipe, self.index)

    def for_new_rows(self) -> QueryGraph:
        """Return what new rows need: the graph without its edges."""
        index = self.index
        if isinstance(index, PrecomputedIndex):
            # New rows bring their distances along; those of the points are edges.
            index = PrecomputedIndex(sp.csr_array((self.n_points, self.n_points)))
        state = {name: getattr(self, name) for name in QueryGraph.KEPT}
        if self.recipe.weights == "shared":
            state["nearest"] = self.nearest
        query_graph = QueryGraph.__new__(QueryGraph)
        query_graph.__setstate__({**state, "index": index})
        return query_graph

    def bridged(self, groups: NDArray[np.intp] | None = None) -> NeighborGraph:
        """Return the graph in one component, with the shortest bridges that this takes.

        Parameters
        ----------
        groups : ndarray of shape (n_samples,), default=None
            Points with the same number count as joined already (by CCDR's class nodes);
            -1 stands alone.

        Returns
        -------
        NeighborGraph
            This graph if it has one component; otherwise one with one ``bridges`` fewer than
            components. A bridge weighs at least the median of its end points' other edges, since
            heat over a long gap would vanish.
        """
        if self.unbridged is not None:
            return self.unbridged.bridged(groups)  # other groups may need other bridges
        components = find_components(self.adjacency, groups)
        if components.max() == 0:
            return self
        rows, columns, lengths = find_bridges(components, self.index)
        weights = self._median_weights(rows, columns)
        if self.recipe.weights != "shared":  # the ends of a bridge share hardly any neighbor
            pair_scale = _pair_scale(self.scale, rows, columns)
            direct = edge_weights(lengths, pair_scale, self.recipe.weights)
            weights = np.maximum(weights, direct)
        ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        return replace(
            self,
            distances=add_edges(self.distances, *ends, np.tile(lengths, 2)),
            adjacency=add_edges(self.adjacency, *ends, np.tile(weights, 2)),
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
                "(graph first). Set the same parameters, or rebuild the graph."
            )
        if not self.index.same_as(X):
            raise GraphMismatchError(
                f"The graph was built from other rows than X of shape {X.shape}: build it from "
                "the same X, in the same order."
            )

    def distances_to(self, X: Any) -> sp.csr_array:
        """Return distances of new rows to their neighbors among the graph's points.

        A row without a neighbor within the radius gets its nearest point.
        """
        if self.recipe.radius is None:
            return self.index.query(X, self.recipe.n_neighbors)
        distances = self.index.within(self.recipe.radius, X)
        alone = np.flatnonzero(np.diff(distances.indptr) == 0)
        if len(alone):
            nearest = self.index.query(X[alone], 1)
            distances = add_edges(distances, alone, nearest.indices, nearest.data)
        return distances

    def weigh(self, distances: sp.csr_array, *, relative: bool) -> sp.csr_array:
        """Return weights of new rows' edges, from :meth:`distances_to`.

        Parameters
        ----------
        distances : csr_array of shape (n_new, n_samples)
            Distances.
        relative : bool
            Allow every row a factor of its own, which keeps heat weights of a far row from
            vanishing; for formulas in which only ratios matter.
        """
        scale, weights = self.scale, self.recipe.weights
        both: NDArray[np.bool_] | bool = True
        if np.ndim(scale):
            own = None
            if is_self_tuning(weights):
                own = list_scales(distances)
                # A point would list the new row if it were nearer than the last one on its list.
                both = distances.data <= np.sqrt(np.asarray(scale))[distances.indices]
            scale = _scale_to_new(distances, np.asarray(scale), own)
        if relative and weights != "binary" and not callable(weights):
            values = relative_heat(distances, scale)
        else:
            values = edge_weights(distances.data, scale, weights)
        values = values * np.where(both, 1.0, self.recipe.one_sided_factor)
        if weights == "shared":
            values = values * shared_neighbors(distances, distances, _closed(self.nearest))
        return with_values(distances, values)

    def equal_rows(self, X: Any, distances: sp.csr_array) -> NDArray[np.intp]:
        """Return for every new row the number of a point equal to it, or -1."""
        rows, columns = coincident(distances)
        same = self.index.are_equal(X, rows, columns)
        equal = np.full(distances.shape[0], -1, dtype=np.intp)
        equal[rows[same]] = columns[same]
        return equal

    def values_of_equal(
        self, X: Any, distances: sp.csr_array, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return which new rows equal points, and the mean of the values of those they equal.

        ``distances`` are those of the rows to their neighbors, ``values`` has one row per point.
        """
        equal = self.equal_rows(X, distances)
        rows = np.flatnonzero(equal >= 0)
        groups = self.equal_groups
        wanted, position = np.unique(groups[equal[rows]], return_inverse=True)
        members = np.flatnonzero(np.isin(groups, wanted))
        of_member = np.searchsorted(wanted, groups[members])
        sums = np.zeros((len(wanted), values.shape[1]))
        np.add.at(sums, of_member, values[members])
        counts = np.bincount(of_member, minlength=len(wanted))
        return rows, np.asarray((sums / counts[:, None])[position])

    def _median_weights(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return for every pair the median weight of the edges at either end."""
        if self.adjacency.nnz == 0:
            raise InputError(
                f"radius={self.recipe.radius} joins no two points: raise it, or use n_neighbors."
            )
        data, starts = self.adjacency.data, self.adjacency.indptr
        everywhere = np.median(data)
        medians = np.empty(len(rows))
        for e, ends in enumerate(zip(rows, columns, strict=True)):
            near = np.concatenate([data[starts[i] : starts[i + 1]] for i in ends])
            medians[e] = np.median(near) if len(near) else everywhere
        return medians


@stored
class QueryGraph(NeighborGraph):
    """A graph without its edges, as a file saved with ``compact=True`` has it.

    New rows find their neighbors and weights as on the graph itself. Whatever needs the edges
    raises an AttributeError that says so.
    """

    KEPT: ClassVar = ("scale", "recipe", "index", "equal_groups")

    def for_new_rows(self) -> QueryGraph:
        """Return this graph."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    __setstate__ = ReadOnly.__setstate__

    def __getattr__(self, name: str) -> Any:
        if not hasattr(NeighborGraph, name) and name not in NeighborGraph.__dataclass_fields__:
            raise AttributeError(f"QueryGraph has no attribute {name!r}")
        raise AttributeError(
            f"{name} of the graph was left out of the compact file that it comes from: save the "
            "estimator with compact=False, or fit it again."
        )

    def __repr__(self) -> str:
        return f"QueryGraph(n_points={self.n_points}, recipe={self.recipe!r})"


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

    :meth:`NeighborGraph.build` validates rows and explains the parameters.
    """
    scale = check_scale(recipe.scale, X.shape[0])
    if scale is not None and is_self_tuning(recipe.weights):
        raise InputError(
            f"weights={recipe.weights!r} finds the scale of every point itself, got a scale: leave "
            "scale='auto', or use weights='heat'."
        )
    if recipe.one_sided is not None:
        check_real("one_sided", recipe.one_sided, above=0, at_most=1, hint=", or None")
    n_neighbors = _check_neighborhood(recipe, X.shape[0])
    edge_weights(np.ones(1), 1.0, recipe.weights)  # raises for a wrong name before the search
    n_searched = min(n_neighbors + recipe.most_ties, X.shape[0] - 1)
    progress("neighbors", 0, 1)
    radius = recipe.radius
    search = neighbor_search if radius is None else "exact"
    seed = seed_from(random_state)
    determinants = (X, recipe.metric, radius, n_searched, search, seed)
    # Twice the lists: in blocks, and together.
    with task("graph", *determinants, n_bytes=32 * X.shape[0] * n_searched):
        index = make_index(
            X,
            recipe.metric,
            n_neighbors=n_searched,
            neighbor_search=search,
            seed=seed,
            n_jobs=n_jobs,
        )
        lists = _search(index, n_searched, radius)
    if recipe.most_ties:
        lists = keep_nearest(lists, n_neighbors, ties=True)
    progress("neighbors", 1, 1, note=index.report.backend)
    graph = graph_of_lists(lists, scale, replace(recipe, n_neighbors=n_neighbors), index)
    if recipe.radius is None:
        warn_of_hub(graph.occurrences, n_neighbors, recipe.metric)
    return graph


def _search(index: NeighborIndex, n_neighbors: int, radius: float | None) -> sp.csr_array:
    """Return the neighbor list of every row: so many, or all within the radius."""

    def search() -> tuple[NDArray[Any], ...]:
        lists = index.neighbors(n_neighbors) if radius is None else index.within(radius)
        return lists.data, lists.indices, lists.indptr

    return sp.csr_array(once("lists", search), shape=(index.n_points, index.n_points))


def graph_of_lists(
    lists: sp.csr_array, scale: Scale | None, recipe: GraphRecipe, index: NeighborIndex
) -> NeighborGraph:
    """Return the graph that joins every point to those in its list; scale None is "auto"."""
    distances = symmetrize(lists)
    n = distances.shape[0]
    if distances.nnz and not distances.data.any() and find_components(distances).max() == 0:
        raise InputError(f"All {n} rows of X are equal: there is no geometry to embed.")
    if is_self_tuning(recipe.weights):
        scale = list_scales(lists)
    elif scale is None:
        scale = automatic_scale(distances)
    values = _weigh_edges(distances, scale, recipe.weights)
    if recipe.one_sided_factor != 1:
        values[~listed_by_both(lists)] *= recipe.one_sided_factor
    if recipe.weights == "shared":
        closed = _closed(lists)
        values *= shared_neighbors(distances, closed, closed)
    adjacency = with_values(distances, values)
    occurrences = np.bincount(lists.indices, minlength=n)
    return NeighborGraph(distances, adjacency, scale, recipe, index, occurrences)


def _check_neighborhood(recipe: GraphRecipe, n_samples: int) -> int:
    """Return the number of neighbors that each point can have."""
    if recipe.radius is not None:
        check_real("radius", recipe.radius, above=0, hint=", or None")
    check_integer("n_neighbors", recipe.n_neighbors, least=1)
    if recipe.n_neighbors >= n_samples and recipe.radius is None:
        warn_user(
            f"n_neighbors={recipe.n_neighbors} is more than the {n_samples - 1} other rows of X: "
            f"n_neighbors={n_samples - 1} is used.",
            FewNeighborsWarning,
        )
    return int(min(recipe.n_neighbors, n_samples - 1))


def _weigh_edges(
    distances: sp.csr_array, scale: Scale, weights: str | WeightFunction
) -> NDArray[np.float64]:
    """Return the weight of every edge; a callable sees all edges together."""
    if callable(weights):
        pair_scale = _pair_scale(scale, row_numbers(distances), distances.indices)
        lengths = distances.data.astype(np.float64, copy=False)
        return edge_weights(lengths, pair_scale, weights)
    values = np.empty(distances.nnz, dtype=distances.dtype)
    least = np.finfo(values.dtype).tiny  # a weight of 0 would be no edge
    for rows, entries in row_ranges(distances):
        counts = np.diff(distances.indptr[rows.start : rows.stop + 1])
        ends = np.repeat(np.arange(rows.start, rows.stop), counts), distances.indices[entries]
        lengths = distances.data[entries].astype(np.float64, copy=False)
        found = edge_weights(lengths, _pair_scale(scale, *ends), weights)
        values[entries] = np.maximum(found, least)
    return values


def _pair_scale(scale: Scale, rows: NDArray[np.intp], columns: NDArray[Any]) -> Scale:
    """Return the scale of edges: one for all, or the geometric mean of the ends' scales."""
    if np.ndim(scale) == 0:
        return scale
    scale = np.asarray(scale)
    return np.asarray(np.sqrt(scale[rows]) * np.sqrt(scale[columns]))  # a product might overflow


def _closed(lists: sp.csr_array) -> sp.csr_array:
    """Return which points are on neighbor lists, with the point itself on each."""
    ones = with_values(lists, np.ones(lists.nnz, dtype=np.int8))
    return sp.csr_array(ones + sp.eye_array(lists.shape[0], dtype=np.int8, format="csr"))


def _scale_to_new(
    distances: sp.csr_array, scale: NDArray[np.float64], own: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the scale of new rows' edges, given the points' and perhaps the new rows' own.

    Without its own, a new row has the scale of its nearest point.
    """
    starts, counts = distances.indptr[:-1], np.diff(distances.indptr)
    of_each = scale[distances.indices]
    if own is not None:
        return np.asarray(np.repeat(np.sqrt(own), counts) * np.sqrt(of_each))
    nearest = np.repeat(np.minimum.reduceat(distances.data, starts), counts)
    of_nearest = np.maximum.reduceat(np.where(distances.data == nearest, of_each, 0), starts)
    return np.asarray(np.repeat(np.sqrt(of_nearest), counts) * np.sqrt(of_each))
