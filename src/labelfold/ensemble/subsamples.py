"""Maps of subsamples: which rows each has, how they are turned onto each other, and their mean.

Rows. Every member of an ensemble has some rows that all share, by which maps are aligned, and some
of its own. Labels are dear and come first: every member gets all labeled rows, or where these would
crowd out the rest, the same ones of each class.

Alignment (generalized Procrustes analysis). An eigenmap is determined up to the signs of its
coordinates, and up to a rotation among those with nearly equal eigenvalues; its size depends on the
number of its points. So maps are compared after the best rotation, reflection, scale and shift.

Mean. Every subsample offers its nearest points to x, near ones in one subsample and far ones in
another. CCDR-MC eq. 19 summed over the points of all subsamples is a mean of their maps f_s(x),
each weighted by the points that it has among the nearest of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from labelfold.graph.adjacency import row_numbers
from labelfold.labels import PartialLabels
from labelfold.methods import stored

__all__ = ["Motion", "Subsamples", "align", "draw_subsamples", "mean_and_spread", "nearest_of_all"]

LEAST_SHARED, MOST_SHARED = 0.1, 0.5  # of a member's rows
MOST_ROUNDS = 50  # of the alignment
SETTLED = 1e-10  # relative change of the mean map

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Subsamples:
    """Rows of all members.

    Parameters
    ----------
    shared : ndarray of shape (n_shared,)
        Rows that every member has.
    rows : list of ndarray of shape (subsample_size,)
        Rows of each member, the shared ones first.
    """

    shared: Numbers
    rows: list[Numbers]


def draw_subsamples(
    labels: PartialLabels, n_subsamples: int, size: int, rng: np.random.RandomState
) -> Subsamples:
    """Draw the rows of every member.

    Members' own rows differ as long as there are enough: together they see as many rows as they
    can.

    Parameters
    ----------
    labels : PartialLabels
        Labels of all rows.
    n_subsamples : int
        Number of members.
    size : int
        Rows of each, fewer than there are in all.
    rng : RandomState
        Draws.
    """
    n_shared = int(np.clip(labels.n_labeled, LEAST_SHARED * size, MOST_SHARED * size))
    n_shared = max(n_shared, min(labels.n_classes, size))
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
    return Subsamples(shared, rows)


def _draw_shared(labels: PartialLabels, n_shared: int, rng: np.random.RandomState) -> Numbers:
    """Return labelled rows as far as they go, of every class its share, then others."""
    labeled = rng.permutation(np.flatnonzero(labels.mask))
    # By rank within the class over the class's size: any beginning has every class's share of it.
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
class Motion:
    """x -> scale (x - origin) rotation + target.

    Parameters
    ----------
    origin, target : ndarray of shape (n_components,)
        A point of the map, and where it goes.
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
    def onto(cls, source: Array, goal: Array) -> Motion:
        """Return the motion that takes the points of a map nearest to the goal, in squares."""
        origin, target = source.mean(axis=0), goal.mean(axis=0)
        centered = source - origin
        rotation, overlap = orthogonal_procrustes(centered, goal - target)
        size = float(np.sum(centered**2))
        return cls(origin, target, rotation, overlap / size if size > 0 else 1.0)

    def __call__(self, points: Array) -> Array:
        """Return the points where the motion takes them."""
        return np.asarray(self.scale * (points - self.origin) @ self.rotation + self.target)


def align(maps: list[Array]) -> tuple[list[Motion], Array]:
    """Return the motions that bring maps of the same points together, and what is left apart.

    Parameters
    ----------
    maps : list of ndarray of shape (n_shared, n_components)
        The same points in every map; row by row.

    Returns
    -------
    motions : list of Motion
        One a map. The mean of the moved maps has the first one's size and is turned onto it.
    errors : ndarray of shape (n_maps,)
        Distance of each moved map from the mean, relative to the mean's size.
    """
    size = float(np.linalg.norm(maps[0] - maps[0].mean(axis=0)))
    mean = maps[0]
    for _ in range(MOST_ROUNDS):
        before = mean
        mean = np.mean([Motion.onto(one, mean)(one) for one in maps], axis=0)
        # Scales that fit a mean shrink it round by round.
        centered = mean - mean.mean(axis=0)
        length = float(np.linalg.norm(centered))
        mean = maps[0].mean(axis=0) + centered * (size / length if length > 0 else 1.0)
        if np.linalg.norm(mean - before) <= SETTLED * size:
            break
    if len(maps) > 1:  # one map is its own mean, to the last digit
        turned = Motion.onto(mean, maps[0])
        mean = (mean - turned.origin) @ turned.rotation + turned.target
    motions = [Motion.onto(one, mean) for one in maps]
    left = [np.linalg.norm(move(one) - mean) for move, one in zip(motions, maps, strict=True)]
    return motions, np.array(left) / (size or 1.0)


def nearest_of_all(lists: list[sp.csr_array], n_nearest: int) -> list[sp.csr_array]:
    """Keep of every row's lists the entries that are among the nearest in all lists together.

    Parameters
    ----------
    lists : list of csr_array of shape (n_rows, n_points)
        Distances of the same rows to some points, in each list other ones; no row is empty.
    n_nearest : int
        How many to keep for every row, and those at the same distance as the last.
    """
    rows = np.concatenate([row_numbers(one) for one in lists])
    distances = np.concatenate([one.data for one in lists])
    order = np.lexsort((distances, rows))
    counts = np.bincount(rows, minlength=lists[0].shape[0])
    starts = np.cumsum(counts) - counts
    last = distances[order[starts + np.minimum(counts, n_nearest) - 1]]
    return [_up_to(one, last) for one in lists]


def mean_and_spread(maps: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weighted mean of maps, and how far maps are from it.

    The spread is the root of the weighted mean squared distance over 1 - sum_s w_s^2, for shares w
    (n - 1 instead of n where they are equal), so that it does not depend on the number of maps. A
    single map has none.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n_rows, n_components)
        Coordinates; of no account where the weight is 0.
    weights : ndarray of shape (n_maps, n_rows)
        Nonnegative, for no row all zero.
    """
    shares = weights / weights.sum(axis=0)
    mean = np.einsum("sn,snk->nk", shares, maps)
    squares = np.sum(shares * np.sum((maps - mean) ** 2, axis=2), axis=0)
    freedom = 1 - np.sum(shares**2, axis=0)
    return mean, np.sqrt(squares / np.where(freedom > 1e-9, freedom, np.inf))


def _up_to(found: sp.csr_array, reach: Array) -> sp.csr_array:
    keep = found.data <= reach[row_numbers(found)]
    counts = np.bincount(row_numbers(found)[keep], minlength=found.shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((found.data[keep], found.indices[keep], starts), shape=found.shape)
