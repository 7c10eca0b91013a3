"""Graphs of merged points: one point per distinct row, or per seed of a coarse graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.graph import NeighborGraph
from labelfold.graph.adjacency import keep_entries, row_numbers

__all__ = ["MergedGraph"]

Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MergedGraph:
    """A graph, some of whose points are one.

    Parameters
    ----------
    weights : csr_array of shape (n_merged, n_merged)
        Sums of the edge weights between the members of two merged points.
    number : ndarray of shape (n_points,)
        The merged point that each point belongs to.
    """

    weights: sp.csr_array
    number: Numbers

    @classmethod
    def of_equal_rows(cls, graph: NeighborGraph) -> MergedGraph:
        """Merge equal rows, so that one that occurs often attracts no more than others."""
        number = np.unique(graph.equal_groups, return_inverse=True)[1]
        weights = graph.adjacency
        return cls(_merge(weights, number) if number.max() < len(number) - 1 else weights, number)

    @classmethod
    def of_seeds(cls, weights: sp.csr_array, seed: int) -> MergedGraph:
        """Merge every point with a seed beside it: that of its strongest edge to any.

        Seeds are a maximal set of points without an edge among them (Luby, 1986), so that they
        cover the graph: every point is a seed, or has an edge to one. Every point has an edge.
        """
        is_seed = _independent(weights, np.random.default_rng(seed).permutation(weights.shape[0]))
        to_seeds = keep_entries(weights, is_seed[weights.indices])
        rows = row_numbers(to_seeds)
        order = np.lexsort((-to_seeds.data, rows))
        members, first = np.unique(rows[order], return_index=True)
        owner = np.arange(len(is_seed))  # a seed has no edge to another
        owner[members] = to_seeds.indices[order[first]]
        number = (np.cumsum(is_seed) - 1)[owner]
        return cls(_merge(weights, number), number)

    @property
    def first(self) -> Numbers:
        """The first member of every merged point."""
        return np.unique(self.number, return_index=True)[1]

    def mean(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the mean of the members' values for every merged point."""
        if self.weights.shape[0] == len(self.number):
            return values[self.first]
        means = (_members(self.number) @ values) / np.bincount(self.number)[:, None]
        return np.asarray(means, dtype=values.dtype)


def _members(number: Numbers) -> sp.csr_array:
    n = len(number)
    return sp.csr_array((np.ones(n), (number, np.arange(n))))


def _merge(weights: sp.csr_array, number: Numbers) -> sp.csr_array:
    members = _members(number)
    merged = sp.csr_array(members @ weights @ members.T)
    merged = keep_entries(merged, row_numbers(merged) != merged.indices)
    merged.sort_indices()
    return merged


def _independent(weights: sp.csr_array, priority: Numbers) -> NDArray[np.bool_]:
    """Return a maximal set of points without an edge among them: highest priority first."""
    chosen = np.zeros(len(priority), dtype=bool)
    rank = priority + 1  # 0 for points that are decided
    while rank.any():
        highest = np.maximum.reduceat(rank[weights.indices], weights.indptr[:-1])
        new = rank > highest
        chosen |= new
        beside = np.maximum.reduceat(new[weights.indices], weights.indptr[:-1])
        rank = np.where(new | beside, 0, rank)
    return chosen
