"""Pairs of points for supervised semidefinite embedding: kept within classes, bounded between.

SSDE chooses every point's neighbours from its own class only. The graphs of the classes then do not
touch, so that the printed programme has no maximum: they can be moved apart without end. Caps on
the distances between the classes' medoids give it one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import FewNeighborsWarning, InputError
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import pairs_above, symmetrize
from labelfold.graph.components import find_bridges, find_components
from labelfold.graph.group_centers import distances_of_means, medoid
from labelfold.graph.neighbor_index import NeighborIndex
from labelfold.labels import PartialLabels

__all__ = ["ClassPairs", "Links", "find_class_pairs"]

Array = NDArray[np.float64]
Pairs = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs i < j of points and their distances."""

    pairs: Pairs = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    lengths: Array = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.pairs)

    @classmethod
    def of(cls, rows: NDArray[np.intp], columns: NDArray[np.intp], lengths: Array) -> Links:
        """Return the links between rows and columns."""
        return cls(np.sort(np.column_stack([rows, columns]).astype(np.intp), axis=1), lengths)

    def __add__(self, other: Links) -> Links:
        return Links(
            np.concatenate([self.pairs, other.pairs]),
            np.concatenate([self.lengths, other.lengths]),
        )

    def within(self, rows: NDArray[np.intp]) -> Links:
        """Return the same for points that are numbers into ``rows``, which ascend."""
        return Links(rows[self.pairs], self.lengths)

    def pieces(self, n_points: int, groups: NDArray[np.intp] | None = None) -> NDArray[np.int32]:
        """Return for every point the number of its piece, points of a group counting as linked."""
        ends = self.pairs.astype(np.int32)  # as csgraph wants them
        linked = sp.csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(n_points, n_points))
        return find_components(linked, groups)


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """What supervised semidefinite embedding keeps and bounds.

    Parameters
    ----------
    edges : Links
        Distances to keep: neighbours of one class, and neighbours of which one is unlabelled.
    bridges : Links
        Distances to keep that join what would be in pieces: within a class, and unlabelled points
        with the rest.
    caps : Links
        Pairs of medoids and their distances.
    means_apart : ndarray of shape (n_caps,)
        Distances between the means of the two classes of each cap.
    medoids : ndarray of shape (n_classes,)
        Each class' point with the least sum of distances to the others of the class.
    """

    edges: Links
    bridges: Links
    caps: Links
    means_apart: Array
    medoids: NDArray[np.intp]


def find_class_pairs(graph: NeighborGraph, labels: PartialLabels) -> ClassPairs:
    """Choose neighbours within classes, and medoids.

    Parameters
    ----------
    graph : NeighborGraph
        The graph of all points, whatever their class: edges with an unlabelled end are its.
    labels : PartialLabels
        Classes of the points; without any the result is the graph with its bridges.

    Warns
    -----
    FewNeighborsWarning
        Where a class has no more points than there are neighbours to be kept: all its pairs are.
    """
    _warn_of_small_classes(graph, labels)
    edges = _open_edges(graph, labels)
    bridges, medoids = Links(), []
    for code in range(labels.n_classes):
        rows = np.flatnonzero(labels.codes == code)
        own = graph.index.among(rows)
        try:
            kept, joints = _one_class(own, graph.recipe.n_neighbors)
            middle = medoid(own)
        except InputError as error:
            name = labels.classes.tolist()[code]
            raise InputError(
                f"Among the {len(rows)} points labelled {name!r} in y: {error}"
            ) from error
        edges, bridges = edges + kept.within(rows), bridges + joints.within(rows)
        medoids.append(rows[middle])
    groups = np.where(labels.mask, 0, -1)  # caps join the classes
    pieces = (edges + bridges).pieces(len(labels), groups)
    if pieces.max() > 0:
        bridges = bridges + Links.of(*find_bridges(pieces, graph.index))
    return ClassPairs(edges, bridges, *_between(graph, labels, medoids), np.array(medoids, np.intp))


def _open_edges(graph: NeighborGraph, labels: PartialLabels) -> Links:
    """Return the edges of the graph that have an unlabelled end."""
    edges = Links(*pairs_above((graph.unbridged or graph).distances))
    is_open = np.any(~labels.mask[edges.pairs], axis=1)
    return Links(edges.pairs[is_open], edges.lengths[is_open])


def _one_class(own: NeighborIndex, n_neighbors: int) -> tuple[Links, Links]:
    """Return edges and bridges of the points of a class."""
    n = own.n_points
    if n == 1:
        return Links(), Links()
    distances = symmetrize(own.neighbors(min(n_neighbors, n - 1)))
    pieces = find_components(distances)
    bridges = Links.of(*find_bridges(pieces, own)) if pieces.max() > 0 else Links()
    return Links(*pairs_above(distances)), bridges


def _between(
    graph: NeighborGraph, labels: PartialLabels, medoids: list[np.intp]
) -> tuple[Links, Array]:
    """Return the pairs of medoids, and how far apart the means of their classes are."""
    if len(medoids) < 2:
        return Links(), np.empty(0)
    pairs = np.triu_indices(len(medoids), 1)
    first, second = (np.array(medoids)[ends] for ends in pairs)
    means_apart = distances_of_means(graph.index, labels.codes)[pairs]
    return Links.of(first, second, graph.index.pair_distances(first, second)), means_apart


def _warn_of_small_classes(graph: NeighborGraph, labels: PartialLabels) -> None:
    k, sizes = graph.recipe.n_neighbors, np.bincount(labels.codes[labels.mask])
    small = np.flatnonzero(sizes <= k)
    if len(small):
        least = small[sizes[small].argmin()]
        warnings.warn(
            f"n_neighbors={k} is more than the other points of {len(small)} of {len(sizes)} "
            f"classes, the smallest being {labels.classes.tolist()[least]!r} with "
            f"{sizes[least]} in all: such a class keeps the distances of all its pairs.",
            FewNeighborsWarning,
            stacklevel=5,
        )
