"""Where descent begins, and how the picture is turned."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.exceptions import ConvergenceWarning

from labelfold.graph.adjacency import SparseAdjacency
from labelfold.layout.merged_graph import MergedGraph
from labelfold.solvers.eigen import smallest_eigenpairs
from labelfold.threads import limit_threads

__all__ = ["orient", "spectral_start", "with_jitter"]

Array = NDArray[np.float64]

MANY_POINTS = 20_000  # of which the eigenvectors of a coarse graph are a good enough start
GRAIN = 1e-6  # of the start, in standard deviations: hides differences by rounding
JITTER = 0.01  # standard deviations by which points of one seed differ


def spectral_start(weights: sp.csr_array, n_components: int, seed: int) -> Array:
    """Return the first eigenvectors of L v = lambda D v, of a coarse graph of many points.

    Signs make the third moment of every coordinate positive.
    """
    n = weights.shape[0]
    if n > MANY_POINTS:
        coarse = MergedGraph.of_seeds(weights, seed)
        return with_jitter(spectral_start(coarse.weights, n_components, seed)[coarse.number], seed)
    adjacency, order = SparseAdjacency(weights).reordered()
    n_pairs = min(n_components + 1, n)
    # One thread: LAPACK's bits depend on their number.
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
