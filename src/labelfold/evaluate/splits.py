"""Which rows are labeled, and which labeled rows are held out, when labels are few.

Ordinary cross-validation mixes up two roles: an unlabeled row helps the embedding and is never
scored; a labeled row is either trained on or held out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import check_consistent_length, check_random_state

from labelfold.checks import check_integer
from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels, hide_labels
from labelfold.methods import stored

__all__ = ["LabeledKFold", "draw_labeled"]


def draw_labeled(
    y: ArrayLike, size: int, *, balanced: bool = True, random_state: Any = None
) -> NDArray[np.intp]:
    """Draw rows that keep their label, for experiments with few labels.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels; unlabeled rows are never drawn.
    size : int
        Number of rows to draw.
    balanced : bool, default=True
        Draw numbers of each class that differ by at most one; a class that has fewer gives all of
        them, and the others make up for it. False ignores the classes, so that a rare one may get
        none.
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
    fewest = labels.n_classes if balanced else 1
    check_integer("size", size, least=fewest, hint=f": y has {labels.n_classes} classes")
    if size > labels.n_labeled:
        raise InputError(
            f"size={size} is more than the {labels.n_labeled} labeled rows of y: lower it."
        )
    rng = check_random_state(random_state)
    shuffled = rng.permutation(np.flatnonzero(labels.mask))
    if not balanced:
        return np.sort(shuffled[:size])
    codes = labels.codes[shuffled]
    shares = _equal_shares(np.bincount(codes), size, rng.permutation(labels.n_classes))
    drawn = [shuffled[codes == k][:share] for k, share in enumerate(shares)]
    return np.sort(np.concatenate([*drawn, np.empty(0, dtype=np.intp)]))


@stored
class LabeledKFold(BaseCrossValidator):
    """Folds of the labeled rows, with every unlabeled row in every training set.

    For ``GridSearchCV``, ``cross_val_score`` and the like: train = all unlabeled rows and the
    labeled rows of the other folds; test = the labeled rows of one fold. Every fold has about
    the same share of every class.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of labeled rows of the largest class.
    shuffle : bool, default=False
        Whether to shuffle the labeled rows of each class first.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same shuffling in every call.

    See Also
    --------
    TransductiveSearchCV : Keeps the held-out rows too, and hides their labels.

    Notes
    -----
    The held-out rows are absent from the fit, so this measures the extension to new rows.

    If the classes are 0 and 1, mark unlabeled rows with NaN or None and not with -1: a fold that
    holds out the last 0 would leave {-1, 1}, which is ambiguous and raises an error. Scorers such
    as ``scoring="accuracy"`` need NaN, as they do not take None among integers.

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
            Rows; only their number matters.
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
        check_integer("n_splits", self.n_splits, least=2)
        largest = int(np.bincount(codes).max(initial=0))
        if largest < self.n_splits:
            raise InputError(
                f"n_splits={self.n_splits} is more than the {largest} samples labeled in the "
                "largest class: lower n_splits or label more rows."
            )
        folds = StratifiedKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state
        ).split(labeled, codes)
        for _, test in folds:
            yield np.setdiff1d(np.arange(len(labels)), labeled[test]), labeled[test]


def as_splits(cv: Any, *, shuffle: bool = False, random_state: Any = None) -> Any:
    """Return cv itself, or :class:`LabeledKFold` for a number of folds; None is 5."""
    if cv is None or isinstance(cv, Integral):
        return LabeledKFold(
            5 if cv is None else int(cv), shuffle=shuffle, random_state=random_state
        )
    return cv


def hold_out(cv: Any, X: Any, y: ArrayLike) -> list[NDArray[np.intp]]:
    """Return the labeled rows of every fold, whose labels are to be hidden."""
    cv = as_splits(cv)
    mask = PartialLabels.from_y(y).mask
    is_splitter = hasattr(cv, "split") and not isinstance(cv, str | bytes | type)
    splits = list(cv.split(X, y)) if is_splitter else cv
    if not isinstance(splits, Iterable) or isinstance(splits, str | bytes | Mapping):
        splits = [None]
    splits = list(splits)
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in splits):
        raise InputError(
            f"cv={cv!r} must be a number of folds, a splitter such as LabeledKFold, or pairs of "
            "training and test rows."
        )
    folds = [np.asarray(rows) for _, rows in splits]
    for number, rows in enumerate(folds):
        if not mask[rows].all():
            raise InputError(
                f"cv={cv!r} holds out rows without a label in fold {number}, which cannot be "
                "scored: use LabeledKFold."
            )
    return folds


def hide_rows(y: ArrayLike, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return y with the labels of some rows hidden."""
    n_samples = len(PartialLabels.from_y(y))
    return hide_labels(y, np.setdiff1d(np.arange(n_samples), rows))


def _equal_shares(
    available: NDArray[np.intp], total: int, order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Split a total into shares as equal as possible; a remainder goes to the first in order."""
    shares = np.zeros_like(available)
    while shares.sum() < total:
        open_classes = [k for k in order if shares[k] < available[k]]
        each, rest = divmod(int(total - shares.sum()), len(open_classes))
        for position, k in enumerate(open_classes):
            wanted = each + (position < rest)
            shares[k] += min(wanted, available[k] - shares[k])
    return shares
