"""Known class sizes: offsets of the classes' scores that make the sizes come out right.

A person often knows how many rows each class has, at least roughly, and few labels say little about
it. With offsets b_k, row i has the class with the largest s_ik + b_k. One class after the other
gets the offset that brings its number of rows into its band, until all are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from labelfold.exceptions import InputError, warn_user
from labelfold.labels import PartialLabels

__all__ = ["find_offsets", "read_class_sizes"]

Array = NDArray[np.float64]

MOST_ROUNDS = 100
DIGITS = 9  # of scores, or rounding errors would part equal rows
ROUNDING = 0.02  # of a size, by which a band is widened: sizes of rows are whole numbers


def read_class_sizes(class_sizes: Mapping[Any, Any] | str, labels: PartialLabels) -> Array:
    """Return the least and the most rows of every class, in an array of shape (n_classes, 2).

    ``class_sizes`` is "balanced", or a mapping from class to its size or to (least, most). Sizes
    are numbers of rows, or shares if none is above 1.
    """
    classes, n = labels.classes.tolist(), len(labels)
    if isinstance(class_sizes, str):
        if class_sizes != "balanced":
            raise InputError(
                f"class_sizes={class_sizes!r} is unknown: use 'balanced', or a mapping from class "
                "to share or number of rows."
            )
        return np.full((len(classes), 2), n / len(classes))
    if not isinstance(class_sizes, Mapping):
        raise InputError(
            f"class_sizes={class_sizes!r} must be 'balanced', or a mapping from class to share or "
            "number of rows."
        )
    missing = [one for one in classes if one not in class_sizes]
    unknown = [one for one in class_sizes if one not in classes]
    if missing or unknown:
        problem = f"lacks {missing}" if missing else f"has {unknown}, of which y has no label"
        raise InputError(f"class_sizes {problem}: give a size for each of the classes {classes}.")
    try:
        bands = np.array([np.broadcast_to(class_sizes[one], 2) for one in classes], dtype=float)
    except (TypeError, ValueError):
        bands = np.full((1, 2), np.nan)
    if not (np.all(np.isfinite(bands)) and np.all(bands >= 0) and np.all(bands[:, 1] > 0)):
        raise InputError(
            f"class_sizes={class_sizes!r} must map every class to a positive size or to "
            "(least, most)."
        )
    bands = bands * n if bands.max() <= 1 else bands
    if np.any(bands[:, 0] > bands[:, 1]) or not (
        bands[:, 0].sum() <= n * (1 + ROUNDING) and bands[:, 1].sum() >= n * (1 - ROUNDING)
    ):
        raise InputError(
            f"class_sizes={class_sizes!r} allows {bands[:, 0].sum():g} to {bands[:, 1].sum():g} "
            f"rows, and X has {n}: the sizes must add up to the number of rows, or to 1."
        )
    return bands


def find_offsets(scores: Array, labels: PartialLabels, bands: Array, *, warn: bool = True) -> Array:
    """Return one offset per class with which the numbers of rows are within the bands.

    Labeled rows keep their labels, and count. Warns if 100 rounds are not enough.
    """
    given = np.bincount(labels.codes[labels.mask], minlength=labels.n_classes)
    least = np.maximum(np.floor(bands[:, 0] * (1 - ROUNDING)) - given, 0).astype(int)
    most = np.maximum(np.ceil(bands[:, 1] * (1 + ROUNDING)) - given, 0).astype(int)
    free = np.round(scores[~labels.mask], DIGITS)
    offsets = np.zeros(labels.n_classes)
    for _ in range(MOST_ROUNDS if len(free) else 0):
        sizes = np.bincount((free + offsets).argmax(axis=1), minlength=len(offsets))
        wrong = np.flatnonzero((sizes < least) | (sizes > most))
        if len(wrong) == 0:
            break
        for k in wrong:
            others = np.delete(free + offsets, k, axis=1).max(axis=1)
            ahead = np.sort(free[:, k] - others)[::-1]
            goal = int(np.clip(np.sum(ahead > -offsets[k]), least[k], most[k]))
            goal = min(goal, len(free))  # of the least, other classes' labels may have taken some
            ends = np.concatenate([ahead[:1] + 1, ahead, ahead[-1:] - 1])
            offsets[k] = -(ends[goal] + ends[goal + 1]) / 2
    else:
        if len(free) and warn:
            warn_user(
                f"class_sizes: {len(wrong)} classes are outside their bands after {MOST_ROUNDS} "
                f"rounds, the worst by {np.max(np.maximum(least - sizes, sizes - most))} of "
                f"{len(scores)} rows. Equal rows cannot be parted; widen the bands to (least, "
                "most).",
                ConvergenceWarning,
            )
    return offsets - offsets.mean()
