"""Embeddings of subsamples: which rows each has, how they are aligned, and their mean.

Rows. Every member of an ensemble has some rows that all share, which align the embeddings, and some
of its own. Labels are costly and come first: every member gets all labeled rows or, if these would
take too much room, the same ones of each class.

Alignment (generalized Procrustes analysis). An eigenmap is determined up to the signs of its
coordinates, and up to a rotation among those with nearly equal eigenvalues; its size depends on the
number of its rows. So embeddings are compared after the best rotation, reflection, scale and shift.

Mean. Each subsample has its own points nearest to x, some near and some far. CCDR-MC eq. 19 summed
over the points of all subsamples is a mean of their f_s(x), each weighted by the number of points
it has among the nearest of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from labelfold.graph.adjacency import keep_entries, row_numbers
from labelfold.labels import PartialLabels
from labelfold.methods import stored

__all__ = [
    "SimilarityTransform",
    "align",
    "draw_subsamples",
    "mean_and_std",
    "nearest_of_all",
]

LEAST_SHARED, MOST_SHARED = 0.1, 0.5  # of a member's rows
MOST_ROUNDS = 50  # of the alignment
SETTLED = 1e-10  # relative change of the mean

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


def draw_subsamples(
    labels: PartialLabels, n_subsamples: int, size: int, rng: np.random.RandomState
) -> tuple[Numbers, list[Numbers]]:
    """Return the rows that all members share, and the rows of each, the shared ones first.

    Members' own rows differ as long as there are enough: together they see as many rows as
    possible. ``size`` is less than the number of all rows.
    """
    n_shared = int(np.clip(labels.n_labeled, LEAST_SHARED * size, MOST_SHARED * size))
    n_shared = max(n_shared, min(max(labels.n_classes, 2), size))  # two rows have a distance
    shared = _draw_shared(labels, n_shared, rng)
    others = np.setdiff1d(np.arange(len(labels)), shared)
    n_own = size - len(shared)
    queue = np.empty(0, dtype=np.intp)
    rows = []
    for _ in range(n_subsamples):
        if len(queue) < n_own:
            fresh = rng.permutation(np.setdiff1d(others, queue))
            queue = np.concatenate([queue, fresh])
        rows.append(np.concatenate([shared, queue[:n_own]]))
        queue = queue[n_own:]
    return shared, rows


def _draw_shared(labels: PartialLabels, n_shared: int, rng: np.random.RandomState) -> Numbers:
    """Return labeled rows, every class in proportion, then others if these are too few."""
    labeled = rng.permutation(np.flatnonzero(labels.mask))
    # By rank within the class over the class's size, so that any beginning is in proportion.
    codes = labels.codes[labeled]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=labels.n_classes)
    rank = np.empty(len(labeled))
    rank[order] = np.arange(len(labeled)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = labeled[np.argsort(rank / sizes[codes], kind="stable")][:n_shared]
    others = rng.permutation(np.flatnonzero(~labels.mask))[: n_shared - len(first)]
    return np.concatenate([first, others]).astype(np.intp)


@stored
@dataclass(frozen=True, eq=False)
class SimilarityTransform:
    """x -> scale (x - origin) rotation + target.

    Parameters
    ----------
    origin, target : ndarray of shape (n_components,)
        A point, and where it goes.
    rotation : ndarray of shape (n_components, n_components)
        Orthogonal; may reflect.
    scale : float
        Positive.
    """

    origin: Array
    target: Array
    rotation: Array
    scale: float

    @classmethod
    def onto(cls, source: Array, goal: Array) -> SimilarityTransform:
        """Return the transform of the points with the least squared distance to the goal."""
        origin, target = source.mean(axis=0), goal.mean(axis=0)
        centered = source - origin
        rotation, overlap = orthogonal_procrustes(centered, goal - target)
        size = float(np.sum(centered**2))
        return cls(origin, target, rotation, overlap / size if size > 0 else 1.0)

    def __call__(self, points: Array) -> Array:
        """Return the transformed points."""
        return np.asarray(self.scale * (points - self.origin) @ self.rotation + self.target)


def align(embeddings: list[Array]) -> tuple[list[SimilarityTransform], Array]:
    """Return the transforms that align embeddings of the same rows, and the differences left.

    Parameters
    ----------
    embeddings : list of ndarray of shape (n_shared, n_components)
        The same rows in each, in the same order.

    Returns
    -------
    transforms : list of SimilarityTransform
        One per embedding. The mean of the transformed ones has the first one's size and is rotated
        onto it.
    errors : ndarray of shape (n_embeddings,)
        Distance of each transformed embedding from the mean, relative to the mean's size.
    """
    first = embeddings[0]
    size = float(np.linalg.norm(first - first.mean(axis=0)))
    mean = first
    for _ in range(MOST_ROUNDS):
        before = mean
        mean = np.mean([SimilarityTransform.onto(one, mean)(one) for one in embeddings], axis=0)
        # Scales that fit a mean shrink it round by round.
        centered = mean - mean.mean(axis=0)
        length = float(np.linalg.norm(centered))
        mean = first.mean(axis=0) + centered * (size / length if length > 0 else 1.0)
        if np.linalg.norm(mean - before) <= SETTLED * size:
            break
    if len(embeddings) > 1:  # a single one is its own mean, to the last digit
        turned = SimilarityTransform.onto(mean, first)
        mean = (mean - turned.origin) @ turned.rotation + turned.target
    transforms = [SimilarityTransform.onto(one, mean) for one in embeddings]
    pairs = zip(transforms, embeddings, strict=True)
    errors = [np.linalg.norm(transform(one) - mean) for transform, one in pairs]
    return transforms, np.array(errors) / (size or 1.0)


def nearest_of_all(lists: list[sp.csr_array], n_nearest: int) -> list[sp.csr_array]:
    """Keep in every row's lists the entries that are among the nearest in all lists together.

    Each list has distances of the same rows to other points; no row is empty. Entries as far as the
    last of the nearest are kept too.
    """
    rows = np.concatenate([row_numbers(one) for one in lists])
    distances = np.concatenate([one.data for one in lists])
    order = np.lexsort((distances, rows))
    counts = np.bincount(rows, minlength=lists[0].shape[0])
    starts = np.cumsum(counts) - counts
    last = distances[order[starts + np.minimum(counts, n_nearest) - 1]]
    return [keep_entries(one, one.data <= last[row_numbers(one)]) for one in lists]


def mean_and_std(embeddings: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weighted mean of embeddings, and their standard deviation about it.

    That is the root of the weighted mean squared distance over 1 - sum_s w_s^2, for shares w (n - 1
    instead of n if they are equal), so that it does not depend on the number of embeddings; 0 for a
    single one.

    Parameters
    ----------
    embeddings : ndarray of shape (n_embeddings, n_rows, n_components)
        Coordinates; no effect if the weight is 0.
    weights : ndarray of shape (n_embeddings, n_rows)
        Nonnegative, for no row all zero.
    """
    shares = weights / weights.sum(axis=0)
    mean = np.einsum("sn,snk->nk", shares, embeddings)
    squares = np.sum(shares * np.sum((embeddings - mean) ** 2, axis=2), axis=0)
    freedom = 1 - np.sum(shares**2, axis=0)
    return mean, np.sqrt(squares / np.where(freedom > 1e-9, freedom, np.inf))
