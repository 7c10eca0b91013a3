"""Which rows are labelled, and which labelled rows are held out, when labels are few.

Two roles that ordinary cross-validation mixes up: an unlabelled row helps the map and is never
scored; a labelled row is either trained on or held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import check_consistent_length, check_random_state

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.methods import stored

__all__ = ["LabeledKFold", "draw_labeled"]


def draw_labeled(
    y: ArrayLike, size: int, *, balanced: bool = True, random_state: Any = None
) -> NDArray[np.intp]:
    """Draw rows that keep their label, for experiments with few labels.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels; unlabelled rows are never drawn.
    size : int
        Number of rows to draw.
    balanced : bool, default=True
        Draw the same number of every class, up to one; a class that has fewer gives all of them,
        and the others make up for it. False draws rows whatever their class, so that a rare class
        may be left without any.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same rows in every call.

    Returns
    -------
    ndarray of shape (size,)
        Row numbers, ascending, for :func:`labelfold.hide_labels`.

    Examples
    --------
    >>> from labelfold import hide_labels
    >>> from labelfold.evaluate import draw_labeled
    >>> y = ["a"] * 5 + ["b"] * 3
    >>> rows = draw_labeled(y, 4, random_state=0)
    >>> [y[row] for row in rows]
    ['a', 'a', 'b', 'b']
    >>> y_partial = hide_labels(y, keep=rows)
    """
    labels = PartialLabels.from_y(y)
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        raise TypeError(f"size={size!r} must be an integer: the number of rows to draw.")
    fewest = labels.n_classes if balanced else 1
    if not fewest <= size <= labels.n_labeled:
        raise InputError(
            f"size={size} must lie between {fewest} and {labels.n_labeled}: y has "
            f"{labels.n_labeled} labelled rows of {labels.n_classes} classes."
        )
    rng = check_random_state(random_state)
    shuffled = rng.permutation(np.flatnonzero(labels.mask))
    if not balanced:
        return np.sort(shuffled[:size])
    codes = labels.codes[shuffled]
    shares = _equal_shares(np.bincount(codes), size, rng.permutation(labels.n_classes))
    drawn = [shuffled[codes == k][:share] for k, share in enumerate(shares)]
    return np.sort(np.concatenate(drawn))


@stored
class LabeledKFold(BaseCrossValidator):
    """Folds of the labelled rows, with every unlabelled row in every training set.

    For ``GridSearchCV``, ``cross_val_score`` and the like: train = all unlabelled rows and the
    labelled rows of the other folds; test = the labelled rows of one fold. Every fold has about
    the same share of every class.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of labelled rows of the largest class.
    shuffle : bool, default=False
        Whether to shuffle the labelled rows of each class first.
    random_state : int, RandomState instance or None, default=None
        Fixes the shuffling.

    See Also
    --------
    TransductiveSearchCV : Keeps the held-out rows too, and hides their labels.

    Notes
    -----
    The held-out rows are absent from the fit, so this measures the map's extension to new points.

    Where the classes are 0 and 1, mark unlabelled rows with NaN or None and not with -1: a fold
    that holds out the last 0 would leave {-1, 1}, which is refused as ambiguous. Scorers such as
    ``scoring="accuracy"`` want NaN, as they do not take None among integers.

    Examples
    --------
    >>> from labelfold.evaluate import LabeledKFold
    >>> y = [0, 0, 1, 1, -1, -1]
    >>> for train, test in LabeledKFold(2).split(y, y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; the arguments have no effect."""
        return self.n_splits

    def split(
        self, X: Any, y: ArrayLike, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield training and test rows of every fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; only their number counts.
        y : array-like of shape (n_samples,)
            Labels, of which some may be missing.
        groups : object
            Has no effect.

        Yields
        ------
        train, test : ndarray
            Row numbers, ascending.
        """
        labels = PartialLabels.from_y(y)
        check_consistent_length(X, y)
        labeled = np.flatnonzero(labels.mask)
        codes = labels.codes[labeled]
        self._check_size(codes)
        folds = StratifiedKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state
        ).split(labeled, codes)
        for _, test in folds:
            is_test = np.zeros(len(labels), dtype=bool)
            is_test[labeled[test]] = True
            yield np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def _check_size(self, codes: NDArray[np.intp]) -> None:
        largest = int(np.bincount(codes).max(initial=0))
        if largest < self.n_splits:
            raise InputError(
                f"n_splits={self.n_splits} is more than the {largest} samples labelled in the "
                "largest class: lower n_splits or label more rows."
            )


def hold_out(cv: Any, X: Any, y: ArrayLike) -> list[NDArray[np.intp]]:
    """Return the rows of every fold whose labels are to be hidden.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test), or None
        An int is the number of folds of :class:`LabeledKFold`, None is 5.
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels, of which some may be missing.

    Returns
    -------
    list of ndarray
        Row numbers; all of them labelled.
    """
    if cv is None or isinstance(cv, Integral):
        cv = LabeledKFold(5 if cv is None else int(cv))
    splits = cv.split(X, y) if hasattr(cv, "split") else cv
    mask = PartialLabels.from_y(y).mask
    folds = [np.asarray(rows) for _, rows in splits]
    for number, rows in enumerate(folds):
        if not mask[rows].all():
            raise InputError(
                f"cv={cv!r} holds out rows without a label in fold {number}, which cannot be "
                "scored: use LabeledKFold."
            )
    return folds


def _equal_shares(
    available: NDArray[np.intp], total: int, order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Split a total into shares as equal as what is available allows.

    What does not divide evenly goes to the classes that come first in ``order``.
    """
    shares = np.zeros_like(available)
    while shares.sum() < total:
        open_classes = [k for k in order if shares[k] < available[k]]
        each, rest = divmod(int(total - shares.sum()), len(open_classes))
        for position, k in enumerate(open_classes):
            wanted = each + (position < rest)
            shares[k] += min(wanted, available[k] - shares[k])
    return shares
