"""Which columns of a file are features, which holds the labels, and which names the rows.

A person gives a column by its name, a pattern of names ("pixel*"), its number from 1 (-1 is the
last), or a range of numbers ("2-65"). Numbers are not taken for positions if columns have numbers
for names: "3" could be either.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.tables.frames import import_pyarrow, listed, shown

__all__ = ["ID_NAMES", "ColumnName", "Loaded", "Request", "name_row", "read_labels", "unnamed"]

NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
NUMBERS = re.compile(r"(-?[1-9]\d{0,8})(?:-(\d{1,9}))?", re.ASCII)  # one or a range
ID_NAMES = ("id", "row_id", "uuid")  # of a column that names rows if its values all differ
PANDAS_INDEX = "__index_level_0__"  # the name that pandas gives an index without a name
# As spreadsheets, pandas, R, SQL and the UCI repository write them. "none" in small letters is
# left to those who have a class of that name.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "-nan", "None", "null", "NULL", "?")
CODE = r"^[+-]?(0[\dx]|\d{19})"  # begins with a zero, or has more digits than a float holds

ColumnName = str | int


@dataclass(frozen=True)
class Choice:
    """The part that each column plays, by name."""

    features: list[str]
    label: str | None = None
    row_id: str | None = None

    def all(self) -> list[str]:
        """Return the names of all columns that are needed."""
        return [*self.features, *(one for one in (self.label, self.row_id) if one is not None)]


@dataclass(frozen=True)
class Request:
    """What a person asked of the columns of a file; see :func:`labelfold.tables.read`."""

    labels: ColumnName | None = None
    features: Sequence[ColumnName] | None = None
    ignore: Sequence[ColumnName] = ()
    id_column: ColumnName | None = None
    header: bool | None = None

    def named(self) -> set[str]:
        """Return everything that might be the name of a column."""
        asked = [self.labels, self.id_column, *(self.features or ()), *self.ignore]
        return {item for item in asked if isinstance(item, str) and not NUMBER.fullmatch(item)}

    def choose(self, names: Sequence[str], *, has_names: bool = True) -> Choice:
        """Give each column its part.

        Features are those asked for, in that order, or else all columns, without the ignored ones,
        the label and the row names. A first column without a name holds row names, as pandas and R
        write them, unless it is asked for.
        """
        for name, count in Counter(names).items():
            if count > 1:
                raise InputError(f"{count} columns are all named {shown(name)}: rename them.")
        label = _find_one(names, "--labels", self.labels)
        row_id = _find_one(names, "--id-column", self.id_column)
        asked = None if self.features is None else _find(names, self.features, "--features")
        if row_id is None and has_names and len(names) > 1:
            ends = {names[0]: unnamed(0), names[-1]: PANDAS_INDEX}
            taken = (label, *(asked or ()))
            row_id = next((a for a, sign in ends.items() if a == sign and a not in taken), None)
        if label is not None and label in (row_id, *(asked or ())):
            raise InputError(f"--labels {shown(label)} is a feature or row name too: choose one.")
        left_out = {*_find(names, self.ignore, "--ignore"), label, row_id}
        wanted = names if asked is None else asked
        return Choice([name for name in wanted if name not in left_out], label, row_id)


def name_row(row: int) -> str:
    """Return what messages call a row of a file without lines."""
    return f"row {row + 1:,}"


@dataclass(frozen=True, eq=False)
class Loaded:
    """The needed columns of a file as a pyarrow Table, or the whole matrix that it holds.

    Columns without a name are called "column 1" and so on. `place` turns the position of a row into
    its name for messages, such as "line 7"; `note` says what reading decided for the person;
    `labels` are those of a matrix.
    """

    table: Any
    choice: Choice | None = None  # None for a matrix
    place: Callable[[int], str] = name_row
    has_names: bool = True
    note: str = ""
    labels: NDArray[Any] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        is_matrix = self.choice is None
        width = range(self.table.shape[1])
        return list(map(unnamed, width)) if is_matrix else self.table.column_names


def unnamed(column: int) -> str:
    """Return the name that a column without one gets."""
    return f"column {column + 1}"


def read_labels(cells: Any) -> NDArray[Any]:
    """Return labels from a column or an array as int, float, bool or str, None if unlabeled.

    Unlabeled is an empty cell, NA, NaN, None, null and "?", and -1 if labels are integers. Text
    becomes numbers if it is numbers throughout, but not if some are codes such as "007". Whole
    numbers are integers.
    """
    import pyarrow.compute as pc

    pa = import_pyarrow()
    advice = "give one whole number, text or boolean per row."
    if isinstance(cells, np.ndarray):
        if cells.size != len(cells) or cells.dtype.kind not in "biufUS":
            raise InputError(f"shape {cells.shape} and dtype {cells.dtype}: {advice}")
        cells = pa.array(cells.ravel(), from_pandas=True)
    is_text = not pa.types.is_primitive(cells.type)
    if pa.types.is_nested(cells.type) or pa.types.is_temporal(cells.type):
        raise InputError(f"cells of type {cells.type}: {advice}")
    if is_text:
        cells = pc.utf8_trim_whitespace(cells.cast(pa.string()))
        cells = pc.if_else(pc.is_in(cells, pa.array(MISSING)), None, cells)
        is_text = pc.any(pc.match_substring_regex(cells, CODE)).as_py()
    if not is_text and not pa.types.is_boolean(cells.type):
        for kind in (pa.int64(), pa.float64(), pa.int64()):  # so that "1" and "1.0" are 1
            with suppress(pa.ArrowInvalid):
                cells = cells.cast(kind)
    labels = np.empty(len(cells), dtype=object)
    labels[:] = cells.to_pylist()
    return PartialLabels.from_y(labels).to_y()


def _find_one(names: Sequence[str], option: str, wanted: ColumnName | None) -> str | None:
    found = [] if wanted is None else _find(names, [wanted], option)
    if len(found) > 1:
        raise InputError(f"{option} {shown(wanted)} names {len(found)} columns: name one.")
    return found[0] if found else None


def _find(names: Sequence[str], wanted: Sequence[ColumnName], option: str) -> list[str]:
    """Return the columns that a person means by names, patterns, numbers or ranges, each once."""
    found: list[str] = []
    for text in (str(item).strip() for item in wanted):
        matching = [text] if text in names else [one for one in names if fnmatchcase(one, text)]
        bounds = NUMBERS.fullmatch(text)
        if bounds and not matching and not any(map(NUMBER.fullmatch, names)):
            ends = (int(bounds[1]), int(bounds[2] or bounds[1]))
            first, last = (end if end > 0 else len(names) + 1 + end for end in ends)
            matching = list(names[first - 1 : last]) if 1 <= first <= last <= len(names) else []
        if not matching:
            close = [name for name in names if name.lower() == text.lower()]
            close += difflib.get_close_matches(text, names, n=1)
            advice = f"choose from {listed(map(shown, names), 8)}."
            raise InputError(
                f"{option} {shown(text)}: there is no such column among {len(names)}: "
                + (f"did you mean {shown(close[0])}?" if close else advice)
            )
        found += matching
    return list(dict.fromkeys(found))
