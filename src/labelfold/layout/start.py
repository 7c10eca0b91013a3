"""Where descent begins: eigenvectors of the graph, or of a coarse graph of many points.

A coarse graph has a seed for every few points: no two seeds are neighbors, every point is a seed or
a neighbor of one, and belongs to the one it has the strongest edge to. Weights between the members
of two seeds are added up.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.exceptions import ConvergenceWarning

from labelfold.graph.adjacency import SparseAdjacency, keep_entries, row_numbers
from labelfold.solvers.eigen import smallest_eigenpairs
from labelfold.threads import limit_threads

__all__ = ["CoarseGraph", "orient", "spectral_start", "with_jitter"]

Array = NDArray[np.float64]

MANY_POINTS = 20_000  # of which the eigenvectors of a coarse graph are a good enough start
GRAIN = 1e-6  # of the start, in standard deviations: hides differences by rounding
JITTER = 0.01  # standard deviations by which points of one seed differ


@dataclass(frozen=True, eq=False)
class CoarseGraph:
    """A graph of seeds.

    Parameters
    ----------
    weights : csr_array of shape (n_seeds, n_seeds)
        Sums of edge weights.
    number : ndarray of shape (n_points,)
        The seed that each point belongs to.
    """

    weights: sp.csr_array
    number: NDArray[np.intp]

    @classmethod
    def of_graph(cls, weights: sp.csr_array, seed: int) -> CoarseGraph:
        """Choose seeds in random order (Luby, 1986), and merge their members."""
        n = weights.shape[0]
        is_seed = _independent(weights, np.random.default_rng(seed).permutation(n))
        to_seeds = keep_entries(weights, is_seed[weights.indices])
        rows = row_numbers(to_seeds)
        order = np.lexsort((-to_seeds.data, rows))
        members, first = np.unique(rows[order], return_index=True)
        owner = np.arange(n)
        owner[members] = to_seeds.indices[order[first]]
        owner[is_seed] = np.flatnonzero(is_seed)
        number = (np.cumsum(is_seed) - 1)[owner]
        merge = sp.csr_array((np.ones(n), (np.arange(n), number)), shape=(n, int(is_seed.sum())))
        coarse = sp.csr_array(merge.T @ weights @ merge)
        return cls(keep_entries(coarse, row_numbers(coarse) != coarse.indices), number)


def spectral_start(weights: sp.csr_array, n_components: int, seed: int) -> Array:
    """Return the first eigenvectors of L v = lambda D v, of a coarse graph of many points.

    They are computed in one thread, since descent lets the smallest difference grow. Signs make the
    third moment of every coordinate positive.
    """
    n = weights.shape[0]
    if n > MANY_POINTS:
        coarse = CoarseGraph.of_graph(weights, seed)
        return with_jitter(spectral_start(coarse.weights, n_components, seed)[coarse.number], seed)
    adjacency, order = SparseAdjacency(weights).reordered()
    n_pairs = min(n_components + 1, n)
    with limit_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be exact
        pairs = smallest_eigenpairs(adjacency, n_pairs)
    start = np.zeros((n, n_components))
    start[order, : n_pairs - 1] = pairs.vectors[:, 1:]  # the constant one comes first
    start /= start.std(axis=0).max() or 1.0
    start *= np.where(np.sum(start**3, axis=0) < 0, -1.0, 1.0)
    return with_jitter(np.rint(start / GRAIN) * GRAIN, seed)


def with_jitter(coordinates: Array, seed: int) -> Array:
    """Return coordinates of which no two are equal."""
    noise = np.random.default_rng(seed).normal(size=coordinates.shape)
    return np.asarray(coordinates + JITTER * coordinates.std(axis=0).max() * noise)


def orient(embedding: Array, start: Array) -> Array:
    """Return the embedding, rotated or mirrored to come close to its start."""
    with limit_threads(1):
        rotation, _ = orthogonal_procrustes(embedding, start - start.mean(axis=0))
        return np.asarray(embedding @ rotation)


def _independent(weights: sp.csr_array, priority: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a maximal set of points without an edge among them: highest priority first.

    Every point has an edge.
    """
    chosen = np.zeros(len(priority), dtype=bool)
    rank = priority + 1  # 0 for points that are decided
    while rank.any():
        highest = np.maximum.reduceat(rank[weights.indices], weights.indptr[:-1])
        new = rank > highest
        chosen |= new
        beside = np.maximum.reduceat(new[weights.indices], weights.indptr[:-1])
        rank = np.where(new | beside, 0, rank)
    return chosen
