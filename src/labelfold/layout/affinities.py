"""From a neighbor graph to the forces of a layout: attraction along edges, weakened by labels.

With W the edge weights and A the agreement of the classes at both ends of an edge,

    B = (W * A) / row sums,  P = (B + B^T) / 2,

so that every point is drawn to its neighbors with the same total force. Equal rows are one point
here: each distinct row has the same force, however often it occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import keep_entries, row_numbers, with_values

__all__ = ["DistinctPoints", "agreement", "to_affinities"]

Array = NDArray[np.float64]

SHARPNESS = 4  # power of the agreement: calibrated probabilities leave much in common
ENTRIES_AT_ONCE = 2**22  # of class distributions at the ends of edges


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """The graph of the distinct rows, and which of them every row is.

    Parameters
    ----------
    weights : csr_array of shape (n_distinct, n_distinct)
        Edge weights; those of equal rows are added up.
    number : ndarray of shape (n_samples,)
        The distinct row that each row equals.
    first : ndarray of shape (n_distinct,)
        The first row that equals each.
    """

    weights: sp.csr_array
    number: NDArray[np.intp]
    first: NDArray[np.intp]

    @classmethod
    def of_graph(cls, graph: NeighborGraph) -> DistinctPoints:
        """Merge the points of a connected graph that are equal rows."""
        _, first, number = np.unique(graph.equal_groups, return_index=True, return_inverse=True)
        weights = graph.adjacency
        if len(first) < len(number):
            n = len(number)
            merge = sp.csr_array((np.ones(n), (np.arange(n), number)), shape=(n, len(first)))
            weights = sp.csr_array(merge.T @ weights @ merge)
            weights = keep_entries(weights, row_numbers(weights) != weights.indices)
            weights.sort_indices()
        return cls(weights, number, first)

    def mean(self, values: Array) -> Array:
        """Return the mean of the rows' values for every distinct row."""
        if len(self.first) == len(self.number):
            return values[self.first]
        sums = np.zeros((len(self.first), values.shape[1]))
        np.add.at(sums, self.number, values)
        return np.asarray(sums / np.bincount(self.number)[:, None])


def to_affinities(weights: sp.csr_array) -> sp.csr_matrix:
    """Return P, whose sum is 1, in the precision of float32.

    Distances of rotated or scaled rows differ in their last digits, and descent would let such
    differences grow into another picture.
    """
    sums = np.asarray(weights.sum(axis=1))
    directed = with_values(weights, weights.data / sums[row_numbers(weights)])
    both = sp.csr_matrix(directed + directed.T)
    both.sort_indices()
    both.data = (both.data / (2 * weights.shape[0])).astype(np.float32).astype(np.float64)
    return both


def agreement(edges: sp.csr_array, of_rows: Array, of_columns: Array) -> Array:
    """Return how far the classes of both ends of every edge agree, from 0 to 1.

    The fourth power of the Bhattacharyya coefficient sum_c sqrt(p_c q_c) of the ends' distributions
    p and q: 1 if they are equal, however uncertain, and 0 if they have no class in common.
    """
    left, right = np.sqrt(of_rows), np.sqrt(of_columns)
    rows, columns = row_numbers(edges), edges.indices
    result = np.empty(edges.nnz)
    step = max(1, ENTRIES_AT_ONCE // left.shape[1])
    for start in range(0, edges.nnz, step):
        part = slice(start, start + step)
        result[part] = np.einsum("ij,ij->i", left[rows[part]], right[columns[part]])
    return np.minimum(result, 1.0) ** SHARPNESS
