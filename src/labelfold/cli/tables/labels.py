"""From the labels in a file to values for the library, with None for an unlabelled row.

Unlabelled is an empty cell, NA, NaN, None, null and "?", and -1 where labels are integers. Text
whose every entry is an integer becomes integers, numbers that are whole become floats, and anything
else stays text just as it was written: "007" and "True" are text. Labels that the library could
read in two ways are refused here, where the place in the file is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.cli.tables.cells import INTEGER, MISSING, NUMBER
from labelfold.cli.tables.errors import TableError

UNLABELED = -1
Place = Callable[[int], str]


def labels_of_texts(texts: Sequence[str], title: str, place: Place) -> NDArray[Any]:
    """Read labels from cells of text.

    Parameters
    ----------
    texts : sequence of str
        A cell a row.

    title : str
        What messages call the labels, file and column.

    place : callable
        Turns the position of a row into its name for messages.

    Returns
    -------
    ndarray of objects
        Integers, floats or text, and None for unlabelled rows.
    """
    cells = {text: text.strip() for text in dict.fromkeys(texts)}
    present = [cell for cell in cells.values() if cell not in MISSING]
    if all(INTEGER.fullmatch(cell) for cell in present):
        values: dict[str, Any] = {t: int(c) for t, c in cells.items() if c not in MISSING}
    elif all(NUMBER.fullmatch(cell) and _is_plain(cell) for cell in present):
        values = {t: float(c) for t, c in cells.items() if c not in MISSING}
    else:
        values = {t: c for t, c in cells.items() if c not in MISSING}
    return labels_of_values([values.get(text) for text in texts], title, place)


def labels_of_values(values: Sequence[Any], title: str, place: Place) -> NDArray[Any]:
    """Read labels that are integers, floats, truth values, text or None already."""
    labels = np.empty(len(values), dtype=object)
    labels[:] = [None if _is_missing(value) else value for value in values]
    kinds = {_kind(value) for value in labels if value is not None}
    strange = sorted(kinds - {"number", "truth value", "text"})
    if strange:
        raise TableError(
            f"{title} holds values of type {strange[0]}: labels are text, whole numbers or truth "
            "values."
        )
    if len(kinds) > 1:
        raise TableError(
            f"{title} mixes {' and '.join(sorted(kinds))}: use one kind for all labels."
        )
    if "text" in kinds:
        _refuse_text_for_unlabeled(labels, title, place)
    if "number" in kinds:
        _refuse_ambiguous(labels, title)
        _refuse_measurements(labels, title, place)
        labels[[_kind(label) == "number" and label == UNLABELED for label in labels]] = None
    return labels


def _is_plain(cell: str) -> bool:
    """Whether a number is no code: without leading zeros, and not longer than floats are exact."""
    digits = cell.lstrip("+-")
    has_leading_zero = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    return not has_leading_zero and not (digits.isdigit() and not INTEGER.fullmatch(digits))


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() in MISSING
    return value is None or (isinstance(value, float) and np.isnan(value))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _refuse_text_for_unlabeled(labels: NDArray[Any], title: str, place: Place) -> None:
    for row in np.flatnonzero(labels == str(UNLABELED)).tolist():
        raise TableError(
            f"{title} holds -1 among labels of text ({place(row)}), which may be a class or an "
            "unlabelled row: leave the cells of unlabelled rows empty, or rename the class."
        )


def _refuse_ambiguous(labels: NDArray[Any], title: str) -> None:
    if {label for label in labels if label is not None} == {-1, 1}:
        raise TableError(
            f"{title} holds just -1 and 1, which may be two classes or one class and unlabelled "
            "rows: recode classes as 0 and 1, and leave the cells of unlabelled rows empty."
        )


def _refuse_measurements(labels: NDArray[Any], title: str, place: Place) -> None:
    for row, label in enumerate(labels):
        if isinstance(label, float) and not label.is_integer():
            raise TableError(
                f"{title} holds {label!r} ({place(row)}), and labels are classes: name another "
                "column with --labels, or sort the numbers into bins first."
            )
