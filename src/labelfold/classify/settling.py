"""Labels that settle along a graph: boundaries between classes move to where few edges cross them.

Scores from few labels are smooth, and may put a boundary beside the gap between two clusters. In
every round the classes that the scores give spread by a random walk on the graph, labeled rows
holding theirs, and every row takes the mean of what comes by and of its own scores. This is the
diffusion and thresholding of graph MBO (C. Garcia-Cardona et al., 2014), with known class sizes
the auction of M. Jacobs, E. Merkurjev and S. Esedoglu (2018).

Classes that overlap have no gap to move to, and a small class may be swallowed by a large one. So
scores stay as they are if more than one in ten left-out labels is wrong, if more than a few percent
of the edges, by weight, join different classes, or if a class grows or shrinks much although no
sizes are known.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.classify.class_sizes import find_offsets
from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import row_ranges
from labelfold.labels import PartialLabels

__all__ = ["mean_of_equal", "settle"]

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

N_STEPS = 30  # of the walk in every round
MOST_ROUNDS = 10
FEW_CHANGES = 1e-3  # share of rows that change their class in the last round
LARGEST_ERROR = 0.1  # of left-out labels; above it settled scores are too sure
LARGEST_CUT = 0.05  # clusters have up to 0.04 on the development sets, overlapping classes 0.1
LARGEST_GROWTH = 0.2  # of a class


def settle(
    scores: Array,
    left_out: Array,
    labels: PartialLabels,
    graph: NeighborGraph,
    bands: Array | None = None,
) -> Array | None:
    """Return scores that have settled, None if the classes are not clusters of the graph.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        About 1 for a row's class and 0 for others.
    left_out : ndarray of shape (n_labels, n_classes)
        Scores of the labeled rows, each by the other labels.
    labels : PartialLabels
        The given labels.
    graph : NeighborGraph
        Without bridges: what they join are different clusters.
    bands : ndarray of shape (n_classes, 2), default=None
        The least and the most rows of every class, if known.
    """
    n_wrong = np.count_nonzero(left_out.argmax(axis=1) != labels.codes[labels.mask])
    if n_wrong + 1 > LARGEST_ERROR * (labels.n_labeled + 1):  # one more: few labels prove little
        return None
    weights, codes = graph.adjacency, _classes(scores, labels)
    crossing = 0.0
    for rows, entries in row_ranges(weights):
        here = np.repeat(codes[rows], np.diff(weights.indptr[rows.start : rows.stop + 1]))
        crossing += float(weights.data[entries][here != codes[weights.indices[entries]]].sum())
    if crossing > LARGEST_CUT * weights.data.sum(dtype=np.float64):
        return None
    walk = sp.csr_array(sp.diags_array(1 / weights.sum(axis=1)) @ weights)
    sizes, settled = np.bincount(codes, minlength=labels.n_classes), scores
    for _ in range(MOST_ROUNDS):
        before, settled = codes, (_spread(codes, walk, labels) + scores) / 2
        if bands is not None:
            settled += find_offsets(settled, labels, bands, warn=False)
        codes = _classes(settled, labels)
        if np.mean(codes != before) < FEW_CHANGES:
            break
    growth = np.abs(np.bincount(codes, minlength=labels.n_classes) - sizes)
    if bands is None and np.any(growth > LARGEST_GROWTH * sizes):
        return None
    return mean_of_equal(settled, graph.equal_groups)


def _classes(scores: Array, labels: PartialLabels) -> Codes:
    return np.where(labels.mask, labels.codes, scores.argmax(axis=1))


def _spread(codes: Codes, walk: sp.csr_array, labels: PartialLabels) -> Array:
    """Return the shares of the classes at the ends of walks, which end at labeled rows too."""
    shares = np.eye(labels.n_classes, dtype=walk.dtype)[codes]
    given = shares[labels.mask]
    for _ in range(N_STEPS):
        shares = walk @ shares
        shares[labels.mask] = given
    return np.asarray(shares, dtype=np.float64)


def mean_of_equal(scores: Array, groups: NDArray[np.integer]) -> Array:
    """Give equal rows equal scores, which a label of one of them would part."""
    sizes = np.bincount(groups)
    if len(sizes) == len(groups):
        return scores
    mean = sp.csr_array((1 / sizes[groups], (groups, np.arange(len(groups)))))
    return np.asarray((mean @ scores)[groups])
