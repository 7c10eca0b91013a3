"""Components of a graph, and the few shortest bridges that join them.

The bridges are the edges of a minimum spanning tree over the components, grown as Boruvka does:
every component except the largest takes its shortest edge to another, components that met become
one, and so on.

The shortest edge is found without comparing all rows. Small components ask the index for more
neighbors than they have rows. The rows of large ones are halved into groups with a center c and a
radius r; rows of two groups a, b are at least |c_a - c_b| - r_a - r_b apart. Groups are compared,
those with the closest centers first, until the bounds rule out all others: the edge is exact. Where
distances are too much alike for that, as in many dimensions, a fixed number of comparisons per row
is made, and the best pair found is moved, one end at a time, to a pair that is locally closest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.neighbor_index import NeighborIndex, PointIndex
from labelfold.graph.precomputed import PrecomputedIndex

__all__ = ["Pairs", "find_bridges", "find_components"]

# Rows, other rows, and the distances between them.
Pairs = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]
Pair = tuple[float, int, int]  # a distance first, so that the least pair is the closest

SMALL_COMPONENTS = (5, 20)  # rows; such a component is left by widening its rows' searches
GROUP_SIZE = 128  # rows at most
COLUMNS_AT_ONCE = 512  # rows that a group is compared with before bounds are looked at again
ROWS_COMPARED = 200  # for every row of a large component, at most
PAIRS_COMPARED = 4_000_000  # in all, if that is more: up to 2,000 rows bridges are always exact
MOST_STEPS = 20  # of a pair towards a closer one
ROUNDING = 1e-9  # relative difference of distances that may be a tie


def find_components(
    adjacency: sp.csr_array, groups: NDArray[np.intp] | None = None
) -> NDArray[np.int32]:
    """Return for every node the number of its component.

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
        Every stored entry is an edge, zeros too.
    groups : ndarray of shape (n,), default=None
        Nodes with the same number count as joined, as by a class node; -1 stands alone.
    """
    n = adjacency.shape[0]
    edges = sp.csr_array(
        (np.ones(adjacency.nnz, dtype=np.int8), adjacency.indices, adjacency.indptr), shape=(n, n)
    )
    if groups is not None and np.any(groups >= 0):
        rows = np.flatnonzero(groups >= 0)
        shape = (n, int(groups.max()) + 1)
        joins = sp.csr_array((np.ones(len(rows), dtype=np.int8), (rows, groups[rows])), shape=shape)
        blocks: Any = [[edges, joins], [joins.T, None]]
        edges = sp.csr_array(sp.block_array(blocks))
    _, components = sp.csgraph.connected_components(edges, directed=False)
    _, renumbered = np.unique(components[:n], return_inverse=True)  # groups may have had no member
    return renumbered.astype(np.int32)


def find_bridges(components: NDArray[Any], index: NeighborIndex) -> Pairs:
    """Return the edges that join all components, one fewer than there are components.

    Parameters
    ----------
    components : ndarray of shape (n,)
        For every indexed row the number of its component, from 0.
    index : NeighborIndex
        The rows.

    Returns
    -------
    rows, columns : ndarray of shape (n_bridges,)
        Row numbers, ``rows < columns``, in ascending order.
    distances : ndarray of shape (n_bridges,)
        Distances in the metric.
    """
    if isinstance(index, PrecomputedIndex):
        shortest_exits: Callable[[NDArray[Any]], Pairs] = partial(_shortest_known, index.known)
    else:
        assert isinstance(index, PointIndex)
        shortest_exits = _Exits(index)
    found: list[Pairs] = []
    while components.max() > 0:
        rows, columns, distances = shortest_exits(components)
        kept, components = _merge(components, rows, columns, distances)
        found.append((rows[kept], columns[kept], distances[kept]))
    rows, columns, distances = (np.concatenate(part) for part in zip(*found, strict=True))
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((high, low))
    return low[order], high[order], distances[order]


def _merge(
    components: NDArray[Any],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    distances: NDArray[np.float64],
) -> tuple[list[int], NDArray[np.intp]]:
    """Return the edges that join components, and the components that they make.

    Two components may have chosen the same edge, and several a circle of equally long ones.
    """
    parent = list(range(int(components.max()) + 1))

    def root(component: int) -> int:
        while parent[component] != component:
            parent[component] = component = parent[parent[component]]
        return component

    kept = []
    for edge in np.argsort(distances, kind="stable").tolist():
        here, there = root(components[rows[edge]]), root(components[columns[edge]])
        if here != there:
            parent[here] = there
            kept.append(edge)
    roots = [root(component) for component in range(len(parent))]
    return kept, np.unique(roots, return_inverse=True)[1][components]


def _shortest_known(known: sp.csr_array, components: NDArray[Any]) -> Pairs:
    """For each component, return the shortest given distance to another."""
    entries = known.tocoo()
    crossing = components[entries.row] != components[entries.col]
    rows, columns, distances = (part[crossing] for part in (entries.row, entries.col, entries.data))
    if len(distances) == 0:
        raise InputError(
            f"The precomputed distances fall into {components.max() + 1} components with no "
            "distance between them: compute them with more neighbors."
        )
    return _shortest_of_each(components[rows], rows, columns, distances)


def _shortest_of_each(
    groups: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], lengths: NDArray[np.float64]
) -> Pairs:
    """Return the shortest pair of every group, ties by row and column number."""
    order = np.lexsort((columns, rows, lengths, groups))
    _, first = np.unique(groups[order], return_index=True)
    best = order[first]
    return rows[best], columns[best], lengths[best]


class _Exits:
    """Search for the shortest edges out of components, among rows that can be measured.

    Lengths are those between prepared rows. As components only grow together, groups of close rows
    stay within one; where most are tiny components of before, they are made again.
    """

    def __init__(self, index: PointIndex) -> None:
        self._index = index
        self._components: NDArray[Any] = np.empty(0, dtype=np.intp)
        self._members: list[NDArray[np.intp]] = []
        self._groups: _Groups | None = None

    def __call__(self, components: NDArray[Any]) -> Pairs:
        """For each component except the largest, return its shortest edge to another."""
        self._components, self._members = components, _split(components)
        sizes = np.bincount(components)
        leaving = np.flatnonzero(np.arange(len(sizes)) != sizes.argmax())
        pairs, below = [], 0
        for size in SMALL_COMPONENTS:
            small = leaving[(sizes[leaving] > below) & (sizes[leaving] <= size)]
            if len(small):
                pairs.append(self._from_small(small, size))
            below = size
        allowance = max(ROWS_COMPARED, PAIRS_COMPARED // len(components))
        large = leaving[sizes[leaving] > below]
        most = 4 * (len(sizes) + len(components) // GROUP_SIZE)
        if len(large) and (self._groups is None or len(self._groups.sizes) > most):
            self._groups = self._make_groups()
        for component in large:
            length, *ends = self._from_large(component, allowance * int(sizes[component]))
            pairs.append((*np.array(ends)[:, None], np.array([length])))
        rows, columns, lengths = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return rows, columns, self._index.space.from_search(lengths)

    def _from_small(self, small: NDArray[np.intp], largest: int) -> Pairs:
        """Search more neighbors than any of the components has rows, all in one go."""
        index, components = self._index, self._components
        rows = np.concatenate([self._members[component] for component in small])
        reach = min(largest + 1, index.n_points)
        columns, lengths = index.search_lists(index.rows[rows], reach, own=None)
        rows, columns, lengths = np.repeat(rows, reach), columns.ravel(), lengths.ravel()
        leaves = components[rows] != components[columns]
        rows, columns, lengths = rows[leaves], columns[leaves], lengths[leaves]
        return _shortest_of_each(components[rows], rows, columns, lengths)

    def _from_large(self, component: np.intp, n_pairs: int) -> Pair:
        """Compare groups, and stop where their bounds decide or after so many pairs of rows."""
        groups = self._groups
        assert groups is not None
        inside = self._components[groups.centers] == component
        own, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        apart = self._between(groups.centers[own], groups.centers[others])
        bounds = apart - groups.radii[own, None] - groups.radii[others]
        best: Pair = (np.inf, -1, -1)
        for place in np.argsort(apart.min(axis=1), kind="stable"):
            left = np.flatnonzero(bounds[place] <= best[0])
            left = left[np.argsort(apart[place, left], kind="stable")]
            while len(left):
                if n_pairs <= 0:
                    return self._step_closer(best)
                ends = np.cumsum(groups.sizes[others[left]])
                stop = int(np.searchsorted(ends, COLUMNS_AT_ONCE)) + 1
                rows = groups.rows[own[place]]
                columns = np.concatenate([groups.rows[other] for other in others[left[:stop]]])
                best = min(best, self._closest(rows, columns))
                n_pairs -= len(rows) * len(columns)
                left = left[stop:]
                left = left[bounds[place, left] <= best[0]]
        return best

    def _step_closer(self, pair: Pair) -> Pair:
        """Move one end of a pair at a time to the closest row of its component."""
        for _ in range(MOST_STEPS):
            length, row, column = pair
            there = self._members[self._components[column]]
            pair = min(pair, self._closest(np.array([row]), there))
            here = self._members[self._components[row]]
            pair = min(pair, self._closest(here, np.array([pair[2]])))
            if pair[0] == length:
                break
        return pair

    def _closest(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Pair:
        """Return the closest pair of two sets of rows, ties by row and column number."""
        between = self._between(rows, columns)
        near = np.flatnonzero(between <= between.min() * (1 + ROUNDING))
        pairs = rows[near // len(columns)], columns[near % len(columns)]
        index = self._index
        exact = index.space.measure(index.rows, index.rows, pairs, between.ravel()[near])
        best = np.lexsort((pairs[1], pairs[0], exact))[0]
        return float(exact[best]), int(pairs[0][best]), int(pairs[1][best])

    def _make_groups(self) -> _Groups:
        found = [group for members in self._members for group in self._halve(members)]
        rows, centers, radii = zip(*found, strict=True)
        sizes = np.array([len(group) for group in rows])
        return _Groups(rows, np.array(centers), np.array(radii), sizes)

    def _halve(
        self, members: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], np.intp, np.float64]]:
        """Yield groups of rows with a row at their center, and their radius.

        Rows are halved by their distance to one that is far from the others: any metric will do.
        """
        pending = [members]
        while pending:
            group = pending.pop()
            end = self._between(group[:1], group).argmax()
            along = self._between(group[[end]], group)[0]
            if len(group) > GROUP_SIZE:
                half = len(group) // 2
                order = np.argpartition(along, half)
                pending += [group[order[:half]], group[order[half:]]]
                continue
            back = self._between(group[[along.argmax()]], group)[0]
            center = group[np.maximum(along, back).argmin()]  # half-way between the two ends
            yield group, center, self._between(np.array([center]), group).max()

    def _between(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        return self._index.space.between(self._index.rows[rows], self._index.rows[columns])


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of close rows: their numbers, the row at the center, the radius around it."""

    rows: tuple[NDArray[np.intp], ...]
    centers: NDArray[np.intp]
    radii: NDArray[np.float64]
    sizes: NDArray[np.intp]


def _split(components: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the rows of every component."""
    order = np.argsort(components, kind="stable")
    return np.split(order, np.cumsum(np.bincount(components))[:-1])
