"""From the labels in a file to values for the library, with None for an unlabeled row.

Unlabeled is an empty cell, NA, NaN, None, null and "?", and -1 if labels are integers. Text whose
every entry is an integer becomes integers, other numbers become floats, and anything else stays
text just as it was written: "007" and "True" are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.tables.delimited import MISSING, NUMBER

__all__ = ["read_label_array", "read_label_texts", "read_label_values"]

INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})", re.ASCII)
# Leading zeros, and more digits than a float holds.
CODE = re.compile(r"[+-]?(?:0\d.*|\d{19,})", re.ASCII)


def read_label_texts(texts: Sequence[str | None]) -> NDArray[Any]:
    """Read labels from cells of text."""
    cells = {text: text.strip() for text in dict.fromkeys(texts) if text is not None}
    present = {text: cell for text, cell in cells.items() if cell not in MISSING}
    kind: Callable[[str], Any] = str
    if all(map(INTEGER.fullmatch, present.values())):
        kind = int
    elif all(NUMBER.fullmatch(cell) and not CODE.fullmatch(cell) for cell in present.values()):
        kind = float
    values: dict[str | None, Any] = {text: kind(cell) for text, cell in present.items()}
    return read_label_values([values.get(text) for text in texts])


def read_label_array(array: NDArray[Any]) -> NDArray[Any]:
    """Read labels from an array of integers, whole floats, booleans or text."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1 or array.dtype.kind not in "biufUS":
        title = f"labels of shape {array.shape} and dtype {array.dtype}"
        raise InputError(f"{title}: give one integer, text or boolean per row.")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    values = array.tolist()
    if array.dtype.kind == "f" and not np.any(array[np.isfinite(array)] % 1):
        values = [int(value) if np.isfinite(value) else value for value in values]
    return read_label_values(values)


def read_label_values(values: Sequence[Any]) -> NDArray[Any]:
    """Read labels that are integers, floats, booleans, text or None already."""
    labels = np.empty(len(values), dtype=object)
    labels[:] = [None if str(value).strip() in MISSING else value for value in values]
    others = {type(one).__name__ for one in labels} - {"str", "int", "float", "bool", "NoneType"}
    if others:
        raise InputError(f"values of type {min(others)}: use text, whole numbers or booleans.")
    return PartialLabels.from_y(labels).to_y()
