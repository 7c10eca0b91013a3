"""Pairs of points for supervised semidefinite embedding: kept within classes, bounded between.

SSDE chooses every point's neighbors from its own class only. The graphs of the classes are then not
connected, and the printed program has no maximum: they can move apart without end. Caps on the
distances between the classes' medoids give it one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import FewNeighborsWarning, InputError, warn_user
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import pairs_above, symmetrize
from labelfold.graph.all_pairs import distances_of_means, medoid
from labelfold.graph.components import find_bridges, find_components
from labelfold.graph.precomputed import NeighborIndex
from labelfold.labels import PartialLabels

__all__ = ["ClassPairs", "Links", "find_class_pairs"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs i < j of points, of shape (n_pairs, 2), and their distances."""

    pairs: Numbers = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    lengths: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def between(cls, rows: Numbers, columns: Numbers, lengths: Array) -> Links:
        """Return the links between rows and columns."""
        return cls(np.sort(np.column_stack([rows, columns]).astype(np.intp), axis=1), lengths)

    def __len__(self) -> int:
        return len(self.pairs)

    def __add__(self, other: Links) -> Links:
        return Links(
            np.concatenate([self.pairs, other.pairs]),
            np.concatenate([self.lengths, other.lengths]),
        )

    def of_rows(self, rows: Numbers) -> Links:
        """Return the links of the points that the pairs number within ``rows``, which ascend."""
        return Links(rows[self.pairs], self.lengths)


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """Distances that supervised semidefinite embedding keeps and bounds.

    Parameters
    ----------
    edges : Links
        Distances to keep: between neighbors of one class, or of which one is unlabeled.
    bridges : Links
        More distances to keep, which connect a class, or unlabeled points with the rest.
    caps : Links
        Pairs of medoids and their distances.
    distances_of_means : ndarray of shape (n_caps,)
        Distances between the means of the two classes of each cap.
    medoids : ndarray of shape (n_classes,)
        Each class's point with the least sum of distances to the others of the class.
    """

    edges: Links
    bridges: Links
    caps: Links
    distances_of_means: Array
    medoids: Numbers


def find_class_pairs(graph: NeighborGraph, labels: PartialLabels) -> ClassPairs:
    """Choose neighbors within classes, bridges, and medoids.

    Parameters
    ----------
    graph : NeighborGraph
        The graph of all points: its edges with an unlabeled end are kept.
    labels : PartialLabels
        Classes of the points; without any the result is the graph with its bridges.

    Warns
    -----
    FewNeighborsWarning
        If a class has no more points than ``n_neighbors``: all its pairs are kept.
    """
    _warn_of_small_classes(graph, labels)
    edges = Links(*pairs_above((graph.unbridged or graph).distances))
    is_open = np.any(~labels.mask[edges.pairs], axis=1)
    edges = Links(edges.pairs[is_open], edges.lengths[is_open])
    bridges, medoids = Links(), np.empty(labels.n_classes, dtype=np.intp)
    for code in range(labels.n_classes):
        rows = np.flatnonzero(labels.codes == code)
        own = graph.index.among(rows)
        try:
            kept, joining = _link_class(own, graph.recipe.n_neighbors)
            medoids[code] = rows[medoid(own)]
        except InputError as error:
            name = labels.classes.tolist()[code]
            raise InputError(
                f"Among the {len(rows)} rows labeled {name!r} in y: {error}"
            ) from error
        edges, bridges = edges + kept.of_rows(rows), bridges + joining.of_rows(rows)
    n, pairs = len(labels), (edges + bridges).pairs.astype(np.int32)  # as csgraph wants them
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    linked = sp.csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(n, n))
    components = find_components(linked, np.where(labels.mask, 0, -1))  # caps join the classes
    if components.max() > 0:
        bridges = bridges + Links.between(*find_bridges(components, graph.index))
    return ClassPairs(edges, bridges, *_cap(graph, labels, medoids), medoids)


def _link_class(own: NeighborIndex, n_neighbors: int) -> tuple[Links, Links]:
    """Return edges and bridges of the points of a class."""
    n = own.n_points
    if n == 1:
        return Links(), Links()
    distances = symmetrize(own.neighbors(min(n_neighbors, n - 1)))
    components = find_components(distances)
    bridges = Links.between(*find_bridges(components, own)) if components.max() > 0 else Links()
    return Links(*pairs_above(distances)), bridges


def _cap(graph: NeighborGraph, labels: PartialLabels, medoids: Numbers) -> tuple[Links, Array]:
    """Return the pairs of medoids, and the distances between the means of their classes."""
    if len(medoids) < 2:
        return Links(), np.empty(0)
    pairs = np.triu_indices(len(medoids), 1)
    first, second = (medoids[ends] for ends in pairs)
    means_apart = distances_of_means(graph.index, labels.codes)[pairs]
    return Links.between(first, second, graph.index.pair_distances(first, second)), means_apart


def _warn_of_small_classes(graph: NeighborGraph, labels: PartialLabels) -> None:
    k, sizes = graph.recipe.n_neighbors, np.bincount(labels.codes[labels.mask])
    small = np.flatnonzero(sizes <= k)
    if len(small):
        least = small[sizes[small].argmin()]
        warn_user(
            f"n_neighbors={k} is more than the other rows of {len(small)} of {len(sizes)} "
            f"classes, the smallest being {labels.classes.tolist()[least]!r} with "
            f"{sizes[least]} in all: such a class keeps the distances of all its pairs.",
            FewNeighborsWarning,
        )
