"""Connected components of a graph, and the few shortest bridges between them.

Bridges are the edges of a minimum spanning tree over the components, grown as in Boruvka's
algorithm: in every round each component except the largest takes its shortest edge to another, and
components that met become one.

The shortest edge is found without comparing all rows. Small components ask the index for more
neighbors than they have rows. The rows of large ones are halved into groups with a center c and a
radius r; rows of two groups a, b are at least |c_a - c_b| - r_a - r_b apart. Groups are compared,
those with the closest centers first, until the bounds rule out all others: the edge is exact. If
distances are too much alike for that, as in many dimensions, a fixed number of comparisons per row
is made, and the best pair is moved, one end at a time, to a pair that is locally closest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet

from labelfold.checks import row_blocks
from labelfold.exceptions import InputError
from labelfold.graph.adjacency import row_numbers, with_values
from labelfold.graph.neighbor_index import PointIndex
from labelfold.graph.precomputed import NeighborIndex, PrecomputedIndex

__all__ = ["Pairs", "find_bridges", "find_components"]

Numbers = NDArray[np.intp]
Pairs = tuple[Numbers, Numbers, NDArray[np.float64]]  # rows, other rows, distances between them
Pair = tuple[float, int, int]  # a distance first, so that the least pair is the closest

SMALL_COMPONENT = 20  # rows at most, each searched for one neighbor more
GROUP_SIZE = 128  # rows at most
COLUMNS_AT_ONCE = 512  # rows that a group is compared with between two looks at the bounds
ROWS_COMPARED = 200  # for every row of a large component, at most
PAIRS_COMPARED = 4_000_000  # in all, if that is more: up to 2,000 rows bridges are always exact
MOST_STEPS = 20  # of a pair toward a closer one
ROUNDING = 1e-9  # relative difference of distances that may be a tie


def find_components(adjacency: sp.csr_array, groups: Numbers | None = None) -> NDArray[np.int32]:
    """Return for every node the number of its component, of a symmetric matrix.

    Every stored entry is an edge, zeros too. Nodes with the same group number count as joined, as
    by a class node; -1 stands alone.
    """
    # Values do not matter: one number stands for all of them.
    edges = with_values(adjacency, np.broadcast_to(1.0, adjacency.nnz))
    # An undirected graph is strongly connected where it is connected, which takes less memory.
    _, components = sp.csgraph.connected_components(edges, connection="strong")
    if groups is not None and np.any(groups >= 0):
        rows = np.flatnonzero(groups >= 0)
        ends = components[rows], groups[rows]
        shape = (int(components.max()) + 1, int(groups.max()) + 1)
        joins = sp.csr_array((np.ones(len(rows)), ends), shape=shape)
        blocks: Any = [[None, joins], [joins.T, None]]
        both = sp.csr_array(sp.block_array(blocks))
        components = sp.csgraph.connected_components(both, directed=False)[1][components]
    # Numbered in the order in which they first appear.
    _, first, component = np.unique(components, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[component].astype(np.int32)


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
    found: list[Pairs] = []
    while components.max() > 0:
        if isinstance(index, PrecomputedIndex):
            rows, columns, distances = _shortest_known(index.known, components)
        else:
            rows, columns, distances = _EdgeSearch(index, components).shortest_edges()
        kept, components = _merge(components, rows, columns, distances)
        found.append((rows[kept], columns[kept], distances[kept]))
    rows, columns, distances = (np.concatenate(part) for part in zip(*found, strict=True))
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((high, low))
    return low[order], high[order], distances[order]


def _merge(
    components: NDArray[Any], rows: Numbers, columns: Numbers, distances: NDArray[np.float64]
) -> tuple[list[int], Numbers]:
    """Return the edges that join components, and the components after that.

    Two components may have chosen the same edge, and several a circle of equally long ones.
    """
    n = int(components.max()) + 1
    sets = DisjointSet(range(n))
    here, there = components[rows].tolist(), components[columns].tolist()
    by_length = np.argsort(distances, kind="stable").tolist()
    kept = [edge for edge in by_length if sets.merge(here[edge], there[edge])]
    roots = [sets[component] for component in range(n)]
    return kept, np.unique(roots, return_inverse=True)[1][components]


def _shortest_known(known: sp.csr_array, components: NDArray[Any]) -> Pairs:
    """For each component, return the shortest given distance to another."""
    rows, columns = row_numbers(known), known.indices
    if np.array_equal(components[rows], components[columns]):
        raise InputError(
            f"The precomputed distances fall into {components.max() + 1} components with no "
            "distance between them: compute them with more neighbors."
        )
    return _shortest_of_each(components, rows, columns, known.data)


def _shortest_of_each(
    components: NDArray[Any], rows: Numbers, columns: NDArray[Any], lengths: NDArray[np.float64]
) -> Pairs:
    """Return the shortest pair from every component to another, ties by row and column number."""
    crossing = components[rows] != components[columns]
    rows, columns, lengths = rows[crossing], columns[crossing], lengths[crossing]
    order = np.lexsort((columns, rows, lengths, components[rows]))
    best = order[np.unique(components[rows][order], return_index=True)[1]]
    return rows[best], columns[best], lengths[best]


class _EdgeSearch:
    """One round: the shortest edges between components of rows that can be measured.

    Lengths are those between prepared rows.
    """

    def __init__(self, index: PointIndex, components: NDArray[Any]) -> None:
        self._index, self._components = index, components
        self._sizes = np.bincount(components)
        in_order = np.argsort(components, kind="stable")
        self._members = np.split(in_order, np.cumsum(self._sizes)[:-1])  # of every component

    def shortest_edges(self) -> Pairs:
        """For each component except the largest, return its shortest edge to another."""
        is_largest = np.arange(len(self._sizes)) == self._sizes.argmax()
        is_small = self._sizes <= SMALL_COMPONENT
        pairs = []
        small, large = (np.flatnonzero(some & ~is_largest) for some in (is_small, ~is_small))
        if len(small):
            pairs.append(self._edges_of_small(np.concatenate([self._members[c] for c in small])))
        if len(large):
            groups = [group for members in self._members for group in self._halve(members)]
            self._groups = [rows for rows, _, _ in groups]
            self._centers = np.array([center for _, center, _ in groups])
            self._radii = np.array([radius for _, _, radius in groups])
        n_rows = len(self._components)
        allowance = max(ROWS_COMPARED, PAIRS_COMPARED // n_rows)
        for component in large:
            length, *ends = self._edge_of_large(component, allowance * int(self._sizes[component]))
            pairs.append((*np.array(ends)[:, None], np.array([length])))
        rows, columns, lengths = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return rows, columns, self._index.space.from_search(lengths)

    def _edges_of_small(self, rows: Numbers) -> Pairs:
        """Search more neighbors than any of the rows' components has rows."""
        index = self._index
        reach = min(SMALL_COMPONENT + 1, index.n_points)
        columns, lengths = index.search_lists(index.rows[rows], reach, own=None)
        return _shortest_of_each(
            self._components, np.repeat(rows, reach), columns.ravel(), lengths.ravel()
        )

    def _edge_of_large(self, component: np.intp, n_pairs: int) -> Pair:
        """Compare groups until their bounds decide, or for so many pairs of rows."""
        inside = self._components[self._centers] == component
        own, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        apart = self._between(self._centers[own], self._centers[others])
        bounds = apart - self._radii[own, None] - self._radii[others]
        best: Pair = (np.inf, -1, -1)
        for place in np.argsort(apart.min(axis=1), kind="stable"):
            rows = self._groups[own[place]]
            left = np.flatnonzero(bounds[place] <= best[0])
            left = left[np.argsort(apart[place, left], kind="stable")]
            while len(left):
                if n_pairs <= 0:
                    return self._step_closer(best)
                ends = np.cumsum([len(self._groups[other]) for other in others[left]])
                stop = int(np.searchsorted(ends, COLUMNS_AT_ONCE)) + 1
                columns = np.concatenate([self._groups[other] for other in others[left[:stop]]])
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

    def _closest(self, rows: Numbers, columns: Numbers) -> Pair:
        """Return the closest pair of two sets of rows, ties by row and column number."""
        between = self._between(rows, columns)
        near = np.flatnonzero(between <= between.min() * (1 + ROUNDING))
        pairs = rows[near // len(columns)], columns[near % len(columns)]
        index = self._index
        exact = index.space.measure(index.rows, index.rows, pairs, between.ravel()[near])
        best = np.lexsort((pairs[1], pairs[0], exact))[0]
        return float(exact[best]), int(pairs[0][best]), int(pairs[1][best])

    def _halve(self, members: Numbers) -> Iterator[tuple[Numbers, np.intp, np.float64]]:
        """Yield groups of rows, with the row at the center of each and their radius.

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

    def _between(self, rows: Numbers, columns: Numbers) -> NDArray[np.float64]:
        space, all_rows = self._index.space, self._index.rows
        is_sparse = sp.issparse(all_rows)
        blocks = [slice(None)] if is_sparse else row_blocks(len(columns), all_rows.shape[1])
        some = all_rows[rows]
        return np.hstack([space.between(some, all_rows[columns[block]]) for block in blocks])
