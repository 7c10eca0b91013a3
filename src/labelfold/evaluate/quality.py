"""How well an embedding keeps neighborhoods and separates classes, as one number.

Trustworthiness and continuity compare neighbors in one space with ranks in the other (Venna and
Kaski, ICANN 2001); the k-nearest-neighbor error measures how well labels can be read off the
embedding. Equal distances are ordered by row number in both spaces, as in the neighbor search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import pairwise_distances_chunked
from sklearn.utils import check_array, check_random_state

from labelfold.checks import check_integer, check_single, input_errors
from labelfold.exceptions import InputError
from labelfold.graph.neighbor_index import ExactIndex, others_than
from labelfold.graph.point_space import Metric, PointSpace, Rows, middle
from labelfold.labels import PartialLabels

__all__ = ["continuity", "knn_error", "trustworthiness"]

RandomState = int | np.random.RandomState | None
IndexArray = NDArray[np.intp]

EUCLIDEAN = PointSpace("euclidean")
BLOCK_MEBIBYTES = 64  # of distances held at a time


def trustworthiness(
    X: Any,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    n_rows: int | None = None,
    random_state: RandomState = None,
) -> float:
    r"""Measure how far neighbors in the embedding are neighbors in the data.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    embedding : array-like of shape (n_samples, n_components)
        Their coordinates, where distances are Euclidean.
    n_neighbors : int, default=5
        Number k of neighbors in the embedding, less than half the number of rows.
    metric : str or callable, default="euclidean"
        Distance between rows, as in :class:`~labelfold.NeighborGraph`; not "precomputed".
    n_rows : int or None, default=None
        Number of random rows i to average over, each still ranked against all others. None takes
        all rows.
    random_state : int, RandomState instance or None, default=None
        Seed of these rows; None is a fixed seed.

    Returns
    -------
    float
        1 if every neighbor in the embedding is one of the k nearest in the data, about 0.5 for a
        random embedding, 0 at worst.

    See Also
    --------
    continuity : The same with the two spaces swapped.

    Notes
    -----
    With r(i, j) = 1, 2, ... the rank of j by distance from i in the data, N(i) the k nearest
    neighbors of i in the embedding, and m rows i out of n [1]_,

    .. math::

        T = 1 - \frac{2}{m k (2n - 3k - 1)} \sum_i \sum_{j \in N(i)} \max(0, r(i, j) - k).

    If no distances are equal this is :func:`sklearn.manifold.trustworthiness`. It takes
    O(m n (d + k)) operations for d features, and memory for a block of distances instead of all.

    References
    ----------
    .. [1] J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection methods: an
       experimental study", ICANN 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from labelfold.evaluate.quality import trustworthiness
    >>> X = load_digits().data
    >>> embedding = PCA(2).fit_transform(X)
    >>> round(trustworthiness(X, embedding), 2)
    0.83
    >>> round(trustworthiness(X, embedding, n_rows=500, random_state=0), 2)
    0.82
    """
    X, embedding = _check_pair(X, embedding, n_neighbors, metric)
    rows = _choose_rows(len(embedding), n_rows, random_state)
    near = _nearest_others(embedding, EUCLIDEAN, rows, n_neighbors)
    return _kept(near, rows, X, PointSpace(metric))


def continuity(
    X: Any,
    embedding: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    n_rows: int | None = None,
    random_state: RandomState = None,
) -> float:
    """Measure how far neighbors in the data are still neighbors in the embedding.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    embedding : array-like of shape (n_samples, n_components)
        Their coordinates, where distances are Euclidean.
    n_neighbors : int, default=5
        Number k of neighbors in the data, less than half the number of rows.
    metric : str or callable, default="euclidean"
        Distance between rows, as in :class:`~labelfold.NeighborGraph`; not "precomputed".
    n_rows : int or None, default=None
        Number of random rows to average over, each still ranked against all others. None takes
        all rows.
    random_state : int, RandomState instance or None, default=None
        Seed of these rows; None is a fixed seed.

    Returns
    -------
    float
        1 if every one of the k nearest neighbors in the data is one in the embedding, about 0.5
        for a random embedding, 0 at worst.

    See Also
    --------
    trustworthiness : The same with the two spaces swapped; its notes give formula and cost.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from labelfold.evaluate.quality import continuity
    >>> X = load_digits().data
    >>> round(continuity(X, PCA(2).fit_transform(X)), 2)
    0.96
    """
    X, embedding = _check_pair(X, embedding, n_neighbors, metric)
    rows = _choose_rows(len(embedding), n_rows, random_state)
    near = _nearest_others(X, PointSpace(metric), rows, n_neighbors)
    return _kept(near, rows, embedding, EUCLIDEAN)


def knn_error(embedding: ArrayLike, y: ArrayLike, *, n_neighbors: int = 3) -> float:
    """Leave-one-out error of the k-nearest-neighbor rule in an embedding, over the labeled rows.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the rows.
    y : array-like of shape (n_samples,)
        Labels; -1, None, NaN and pandas.NA are unlabeled, and such rows neither count nor vote.
    n_neighbors : int, default=3
        Number of labeled neighbors that vote, fewer than there are labeled rows.

    Returns
    -------
    float
        Share of labeled rows whose label is not the most frequent one among their neighbors; ties
        go to the smallest label, as in scikit-learn.

    Notes
    -----
    A row is never its own neighbor, but rows equal to it are. The embedding may itself depend on
    the labels, so this measures how well it separates the classes, not how well it predicts.

    Examples
    --------
    >>> from labelfold.evaluate.quality import knn_error
    >>> embedding = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.3], [5.4]]
    >>> knn_error(embedding, ["a", "a", "b", "b", "b", "b", None], n_neighbors=1)
    0.16666666666666666
    """
    embedding = _check_embedding(embedding)
    labels = PartialLabels.from_y(y, n_samples=len(embedding))
    check_integer("n_neighbors", n_neighbors, least=1)
    if n_neighbors >= labels.n_labeled:
        raise InputError(
            f"n_neighbors={n_neighbors} needs at least {n_neighbors + 1} labeled rows, got "
            f"{labels.n_labeled}: lower n_neighbors or label more rows."
        )
    codes = labels.codes[labels.mask]
    everyone = np.arange(len(codes))
    voters = codes[_nearest_others(embedding[labels.mask], EUCLIDEAN, everyone, n_neighbors)]
    votes = [np.count_nonzero(voters == code, axis=1) for code in range(labels.n_classes)]
    return float(np.mean(np.argmax(votes, axis=0) != codes))


def _kept(near: IndexArray, rows: IndexArray, X: Rows, space: PointSpace) -> float:
    """Return 1 minus the scaled excess of the ranks in X of ``near``, neighbors elsewhere."""
    n_samples, k = X.shape[0], near.shape[1]
    points, metric = _for_ranks(X, space)
    blocks = pairwise_distances_chunked(
        points[rows], points, metric=metric, working_memory=BLOCK_MEBIBYTES
    )
    excess, start = 0, 0
    for block in blocks:
        part = slice(start, start + len(block))
        block[np.arange(len(block)), rows[part]] = np.inf  # a row has no rank in its own list
        excess += int(np.maximum(_ranks(block, near[part]) - k, 0).sum())
        start = part.stop
    return 1.0 - excess * (2.0 / (len(rows) * k * (2.0 * n_samples - 3.0 * k - 1.0)))


def _for_ranks(X: Rows, space: PointSpace) -> tuple[Rows, Metric]:
    """Return rows and metric for which rounding separates as few equal distances as possible."""
    points = space.prepare(X)
    if space.metric == "cosine":
        return points, "cosine"  # rows without a common feature are exactly 1 apart
    if space.search_metric == "euclidean" and not sp.issparse(points):
        # |x|^2 - 2 x.y + |y|^2 loses digits far from the origin. Integers stay exact.
        points = points - middle(points)
    return points, space.search_metric


def _ranks(distances: NDArray[np.float64], columns: IndexArray) -> IndexArray:
    """Rank the given columns of each row: 1 for the nearest, equal distances by column number."""
    # Counting takes k passes over a row and no memory; sorting it whole would take longer.
    everyone = np.arange(distances.shape[1])
    ranks = np.ones(columns.shape, dtype=np.intp)
    for position, column in enumerate(columns.T):
        reach = np.take_along_axis(distances, column[:, None], axis=1)
        earlier = (distances == reach) & (everyone < column[:, None])
        ranks[:, position] += np.count_nonzero(distances < reach, axis=1)
        ranks[:, position] += np.count_nonzero(earlier, axis=1)
    return ranks


def _nearest_others(X: Rows, space: PointSpace, rows: IndexArray, k: int) -> IndexArray:
    """Return the k nearest others of each of the rows, equal distances by row number."""
    index = ExactIndex(X, space, copy=False)
    found, _ = index.search_lists(space.prepare(X)[rows], k + 1, own=None)
    return found[others_than(rows, found)].reshape(-1, k)


def _choose_rows(n_samples: int, n_rows: int | None, random_state: RandomState) -> IndexArray:
    if n_rows is not None:
        check_integer("n_rows", n_rows, least=1)
    if n_rows is None or n_rows >= n_samples:
        return np.arange(n_samples)
    rng = check_random_state(0 if random_state is None else random_state)
    return np.sort(rng.choice(n_samples, n_rows, replace=False))


def _check_pair(
    X: Any, embedding: ArrayLike, n_neighbors: int, metric: Metric
) -> tuple[Rows, NDArray[np.float64]]:
    check_single("metric", metric)
    if metric == "precomputed":
        raise InputError(
            "metric='precomputed' is not available, as ranks need the distances to all rows: "
            "pass the rows and their metric."
        )
    with input_errors():
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    embedding = _check_embedding(embedding)
    n_samples = X.shape[0]
    if len(embedding) != n_samples:
        raise InputError(
            f"embedding has {len(embedding)} rows but X has {n_samples}: give the coordinates of "
            "every row of X, in the same order."
        )
    check_integer("n_neighbors", n_neighbors, least=1)
    if n_neighbors >= n_samples / 2:
        raise InputError(
            f"n_neighbors={n_neighbors} must be less than half the number of rows, got "
            f"{n_samples} rows: lower n_neighbors or add data."
        )
    return X, embedding


def _check_embedding(embedding: ArrayLike) -> NDArray[np.float64]:
    with input_errors():
        return check_array(embedding, dtype=np.float64, input_name="embedding")
