"""Any ``y`` becomes codes, classes and a mask of the labeled rows.

Unlabeled is ``-1``, ``None``, ``NaN`` or ``pandas.NA``, in integers, strings or mixed object
arrays. A ``y`` that could be read in two ways raises an error that says how to fix it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning

from labelfold.exceptions import InputError, warn_user
from labelfold.methods import stored

__all__ = ["PartialLabels", "hide_labels"]

UNLABELED = -1


@stored
@dataclass(frozen=True, eq=False)
class PartialLabels:
    """Labels of some rows, as integer codes into the classes that occur.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Position in ``classes``; -1 for an unlabeled row.
    classes : ndarray of shape (n_classes,)
        The labels that occur, sorted; every class has at least one row.

    Examples
    --------
    >>> from labelfold import PartialLabels
    >>> labels = PartialLabels.from_y(["cat", None, "dog", "cat"])
    >>> labels.codes
    array([ 0, -1,  1,  0])
    >>> labels.classes
    array(['cat', 'dog'], dtype=object)
    """

    codes: NDArray[np.intp]
    classes: NDArray[Any]

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False
        self.classes.flags.writeable = False

    @classmethod
    def from_y(cls, y: ArrayLike, *, n_samples: int | None = None) -> PartialLabels:
        """Read ``y``.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels; see the module's first lines for what counts as unlabeled.
        n_samples : int, default=None
            Number of rows that ``y`` must have.

        Returns
        -------
        PartialLabels
            The labels; no labeled row at all is allowed.
        """
        values = _as_vector(y)
        if n_samples is not None and len(values) != n_samples:
            raise InputError(
                f"y has {len(values)} entries but X has {n_samples} rows: give one label per row, "
                "with None or -1 for an unlabeled one."
            )
        mask = ~_is_unlabeled(values)
        codes = np.full(len(values), UNLABELED, dtype=np.intp)
        classes, codes[mask] = np.unique(_as_classes(values[mask]), return_inverse=True)
        return cls(codes, classes)

    @classmethod
    def some_from_y(cls, y: ArrayLike, *, n_samples: int | None = None) -> PartialLabels:
        """Read ``y`` as :meth:`from_y` does; raise InputError if no row is labeled."""
        labels = cls.from_y(y, n_samples=n_samples)
        if labels.n_labeled == 0:
            raise InputError(
                f"None of the {len(labels)} entries of y is a label: at least one is needed."
            )
        return labels

    @classmethod
    def from_optional_y(cls, y: ArrayLike | None, *, n_samples: int) -> PartialLabels:
        """Read ``y`` as :meth:`from_y` does; with None no row is labeled."""
        return cls.none(n_samples) if y is None else cls.from_y(y, n_samples=n_samples)

    @classmethod
    def none(cls, n_samples: int) -> PartialLabels:
        """Return labels in which no row is labeled."""
        return cls(np.full(n_samples, UNLABELED, dtype=np.intp), np.empty(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """True where a row is labeled."""
        return self.codes != UNLABELED

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(np.count_nonzero(self.mask))

    @property
    def n_classes(self) -> int:
        """Number of classes that occur."""
        return len(self.classes)

    def at(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the labels of rows that have one."""
        return np.asarray(self.classes[self.codes[rows]])

    def to_y(self) -> NDArray[np.object_]:
        """Return one label per row, None for an unlabeled one."""
        y = np.full(len(self), None, dtype=object)
        y[self.mask] = self.at(np.flatnonzero(self.mask))
        return y

    def membership(self) -> sp.csr_array:
        """Return C with c_ki = 1 if row i has class k (CCDR-MC section III.A)."""
        rows = np.flatnonzero(self.mask)
        return sp.csr_array(
            (np.ones(len(rows)), (self.codes[rows], rows)), shape=(self.n_classes, len(self))
        )


def hide_labels(y: ArrayLike, keep: ArrayLike) -> NDArray[Any]:
    """Make partial labels of any dtype: rows outside ``keep`` become unlabeled.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, complete or partial.
    keep : array-like
        The rows that keep their label: a boolean mask or row numbers.

    Returns
    -------
    ndarray of shape (n_samples,)
        A new array: integers with -1, floats with NaN, anything else as objects with None.
        Unsigned integers become signed. If integers would read as {-1, 1}, which is ambiguous,
        the result is an object array with None.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold import hide_labels
    >>> hide_labels(np.array([3, 4, 5], dtype=np.uint8), keep=[0, 2])
    array([ 3, -1,  5])
    >>> hide_labels(["a", "b", "a"], keep=[True, False, True])
    array(['a', None, 'a'], dtype=object)
    """
    values = _as_vector(y)
    kept = PartialLabels.from_y(values).mask & _as_mask(keep, len(values))
    if values.dtype.kind in "iu" and set(values[kept].tolist()) != {1}:
        hidden = values.astype(np.promote_types(values.dtype, np.int64))
        if hidden.dtype.kind == "i":
            hidden[~kept] = UNLABELED
            return hidden
    if values.dtype.kind == "f":
        return np.where(kept, values, np.nan)
    hidden = values.astype(object)
    hidden[~kept] = None
    return hidden


def _as_mask(keep: ArrayLike, n_samples: int) -> NDArray[np.bool_]:
    chosen = np.asarray(keep)
    if chosen.dtype == bool:
        if chosen.shape != (n_samples,):
            raise InputError(
                f"keep is a mask of shape {chosen.shape} for {n_samples} labels: give one entry "
                "per label."
            )
        return chosen
    mask = np.zeros(n_samples, dtype=bool)
    if chosen.size:
        if chosen.dtype.kind not in "iu":
            raise InputError(
                f"keep has dtype {chosen.dtype}: give a boolean mask or integer row numbers."
            )
        if chosen.min() < -n_samples or chosen.max() >= n_samples:
            raise InputError(
                f"keep has row numbers from {chosen.min()} to {chosen.max()}, but y has "
                f"{n_samples} entries: give numbers below that."
            )
        mask[chosen] = True
    return mask


def _as_vector(y: ArrayLike) -> NDArray[Any]:
    """Return ``y`` as a one-dimensional array in which missing entries are still visible."""
    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None: give one label per "
            "row, with None or -1 for an unlabeled one."
        )
    dtype = getattr(y, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype):
        values = np.asarray(y, dtype=object)  # a pandas extension array or categorical
    else:
        try:
            values = np.asarray(y)
        except ValueError as error:
            raise InputError(
                "y should be a 1d array of one label per row, but some of its entries are lists: "
                "give text or numbers."
            ) from error
        if dtype is None and values.dtype.kind in "US":
            # NumPy turned ["a", -1] and ["a", nan] into text.
            values = np.asarray(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected: y has shape "
            f"{values.shape} and is read as y.ravel().",
            DataConversionWarning,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise InputError(
            f"y should be a 1d array of one label per row, got an array of shape {values.shape}."
        )
    return values


def _is_unlabeled(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark unlabeled entries; raise InputError for a y that could be read in two ways."""
    kind = values.dtype.kind
    missing = minus_one = np.zeros(len(values), dtype=bool)
    if kind == "O":
        missing = np.array([_is_missing(v) for v in values], dtype=bool)
        minus_one = np.array([_is_number(v) and v == UNLABELED for v in values], dtype=bool)
    elif kind in "iuf":
        missing, minus_one = np.isnan(values), values == UNLABELED
    elif kind == "c":
        raise InputError(f"Complex data not supported: y has dtype {values.dtype}.")
    elif kind not in "bUS":
        raise InputError(
            f"Unknown label type: y has dtype {values.dtype}; use integers, strings or objects."
        )
    _check_unambiguous(values[~missing])
    return missing | minus_one


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    pandas = sys.modules.get("pandas")  # pandas.NA can only occur once pandas is loaded
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _check_unambiguous(present: NDArray[Any]) -> None:
    numbers = present
    if present.dtype.kind in "USO":
        for text in present.tolist():
            if isinstance(text, str | bytes) and text.lower() in ("-1", b"-1", "nan", b"nan"):
                raise InputError(
                    f"y holds the text {text!r}, which may be a class or an unlabeled entry "
                    "that was turned into text: use dtype=object and mark unlabeled rows "
                    "with None."
                )
        if not all(_is_number(value) for value in present):
            return
        numbers = np.array(present.tolist())
    if set(np.unique(numbers).tolist()) == {-1, 1}:
        raise InputError(
            "y holds just -1 and +1, which may be two classes or one class and unlabeled rows: "
            "recode as 0/1, or mark unlabeled rows with None."
        )


def _as_classes(labeled: NDArray[Any]) -> NDArray[Any]:
    """Return labels as one kind: objects that are all text, or an array of numbers or booleans."""
    if labeled.dtype.kind == "O":
        kinds = {_kind_of(value) for value in labeled}
        if kinds <= {"text"} or kinds <= {"bytes"}:
            return labeled
        if not (kinds <= {"number"} or kinds <= {"bool", "bool_"}):
            raise InputError(
                f"Unknown label type: y mixes or holds {sorted(kinds)}; use text throughout or "
                "numbers throughout, and None for an unlabeled row."
            )
        labeled = np.array(labeled.tolist())
    if labeled.dtype.kind == "f":
        if not np.all(np.isfinite(labeled)):
            raise InputError("y holds an infinite value: labels must be classes, or None.")
        broken = labeled[labeled != np.round(labeled)]
        if len(broken):
            raise InputError(
                f"Unknown label type: continuous. y holds values such as {broken[0]!r}, but labels "
                "must be classes: bin the target first."
            )
    return labeled


def _kind_of(value: Any) -> str:
    if isinstance(value, str | bytes):
        return "text" if isinstance(value, str) else "bytes"
    return "number" if _is_number(value) else type(value).__name__
