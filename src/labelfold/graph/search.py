"""The front door to neighbour searches: exact while that is quick, else an inverted file."""

from __future__ import annotations

import warnings
from typing import Any

import scipy.sparse as sp

from labelfold.exceptions import ApproximateSearchWarning, InputError
from labelfold.graph.inverted_file import (
    InvertedFileIndex,
    RecallNotReachedError,
    faiss_is_installed,
)
from labelfold.graph.neighbors import KD_TREE_DIMENSIONS, ExactIndex, NeighborIndex
from labelfold.graph.point_space import Metric, PointSpace
from labelfold.graph.precomputed import PrecomputedIndex

__all__ = ["make_index"]

SEARCHES = ("auto", "exact", "approximate")
VERY_SLOW = 1e12  # minutes
QUICK = 2e10  # n^2 d up to which an exact search takes about a second on two cores


def make_index(
    X: Any,
    metric: Metric,
    *,
    n_neighbors: int,
    neighbor_search: str,
    seed: int,
    n_jobs: int | None,
) -> NeighborIndex:
    """Return the index for these rows; see :meth:`NeighborGraph.build` for the parameters."""
    if neighbor_search not in SEARCHES:
        raise InputError(f"neighbor_search={neighbor_search!r} is unknown: use one of {SEARCHES}.")
    if metric == "precomputed":
        return PrecomputedIndex(X)
    space = PointSpace(metric)
    if neighbor_search == "approximate" or (neighbor_search == "auto" and _is_slow(X)):
        obstacle = _obstacle(X, space)
        if not obstacle:
            try:
                return InvertedFileIndex(
                    X, space, n_neighbors=n_neighbors, seed=seed, n_jobs=n_jobs
                )
            except RecallNotReachedError as error:
                obstacle = f"it reaches only {error}"
        if neighbor_search == "approximate" or _cost(X) > VERY_SLOW:
            warnings.warn(
                f"The approximate search is not used here, since {obstacle}; the search is exact, "
                "which takes long on many rows.",
                ApproximateSearchWarning,
                stacklevel=2,
            )
    return ExactIndex(X, space, n_jobs=n_jobs)


def _cost(X: Any) -> float:
    return float(X.shape[0]) ** 2 * X.shape[1]


def _is_slow(X: Any) -> bool:
    return X.shape[1] > KD_TREE_DIMENSIONS and _cost(X) > QUICK


def _obstacle(X: Any, space: PointSpace) -> str:
    """Say why an inverted file can't serve; "" if it can."""
    if sp.issparse(X):
        return "X is sparse"
    if space.search_metric != "euclidean":
        return f"metric={space.metric!r} is neither 'euclidean' nor 'cosine'"
    if not faiss_is_installed():
        return "faiss is not installed"
    return ""
