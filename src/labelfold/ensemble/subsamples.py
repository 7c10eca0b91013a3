"""Which rows each member of an ensemble gets: some that all of them share, and some of its own.

Shared rows are what members are aligned by. Labels are dear and come first: every member gets all
labelled rows, or where these would crowd out the rest, the same ones of each class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelfold.labels import PartialLabels

__all__ = ["Subsamples", "draw_subsamples"]

LEAST_SHARED, MOST_SHARED = 0.1, 0.5  # of a member's rows

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
