"""A column of a table -> what it is taken for, its cells as that kind, and a report of all columns.

The kind is decided once, in ``fit``, from name and cells and never from labels. Later columns of
that name are read as the same kind, whatever their type; cells that cannot be are missing.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.methods import stored
from labelfold.tables.frames import is_vector, listed, pa, pd, to_array

__all__ = ["LEFT_OUT", "ColumnEntry", "ColumnReport", "count_gaps", "read_cells", "recognize"]

# Kinds that give no features, with the reason.
LEFT_OUT = {
    "id": "names the row",
    "constant": "one value in all rows",
    "empty": "no cell is filled in",
    "unknown": "neither numbers, dates, text nor vectors",
}
PLURALS = {"category": "categories", "many categories": "columns of many categories"}
PLURALS["yes/no"] = "yes/no"
READABLE = 0.9  # least share of cells that can be read, for text to be numbers or dates
MOST_CATEGORIES = 40  # that get a feature each
LONGEST_DATE = 40  # letters
FEWEST_WORDS = 4  # of a cell of free text, on average
ENOUGH_ROWS = 20  # to take different values in all rows for ids
NAMES_ROWS = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|index|rowid)$|[a-z]I[dD]$", re.ASCII)
CODE = re.compile(r"0\d")  # begins a postal code, say: digits that are not a number
# What people write for a missing number or date, in small letters.
NOTHING = ("", "-", "--", "?", ".", "n/a", "na", "nan", "nil", "none", "null", "missing", "unknown")
DAYS = {"year": 365.2425, "week": 7.0, "day": 1.0}  # that a cycle takes
DATE_PARTS = ("days", *(f"{cycle}_{way}" for cycle in DAYS for way in ("cos", "sin")), "missing")


@stored
@dataclass(frozen=True)
class ColumnEntry:
    """What became of one column."""

    name: str
    taken_for: str  # one of the kinds that `recognize` returns
    done: str  # in a few words
    n_features: int = 0
    n_missing: int = 0  # empty cells
    n_unreadable: int = 0  # cells that hold something else than the kind
    copies_labels: bool = False  # it gives away the class of every labeled row


@stored
@dataclass(frozen=True)
class ColumnReport:
    """What was done to the columns of a table; as a string, the line to read first.

    Parameters
    ----------
    entries : tuple of ColumnEntry
        One per column, in order: its name, what it was taken for, what was done, and the numbers
        of features, missing and unreadable cells.
    scaling : str
        What was done to the numbers together, and why; "" without numbers.
    """

    entries: tuple[ColumnEntry, ...]
    scaling: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        columns = [asdict(entry) for entry in self.entries]
        return {"summary": str(self), "scaling": self.scaling, "columns": columns}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per column."""
        return pd.DataFrame([asdict(entry) for entry in self.entries])

    def __str__(self) -> str:
        used = [entry for entry in self.entries if entry.taken_for not in LEFT_OUT]
        counts = [
            f"{n} {kind if n == 1 else PLURALS.get(kind, f'{kind}s')}"
            for kind, n in Counter(entry.taken_for for entry in used).items()
        ]
        n_features = sum(entry.n_features for entry in used)
        parts = [f"{', '.join(counts) or 'no usable column'}: {n_features:,} features"]
        if self.scaling:
            parts.append(f"numbers {self.scaling}")
        others = [f"{e.name} ({e.taken_for})" for e in self.entries if e.taken_for in LEFT_OUT]
        if others:
            parts.append(f"left out {listed(others, 4)}")
        for what in ("missing", "unreadable"):
            n_cells = sum(getattr(entry, f"n_{what}") for entry in used)
            if n_cells:
                parts.append(f"{n_cells:,} {what} cell{'s' * (n_cells > 1)}")
        copies = [entry.name for entry in self.entries if entry.copies_labels]
        if copies:
            parts.append(
                f"{listed(copies, 4)} {'gives' if len(copies) == 1 else 'give'} away the class of "
                "every labeled row, as a copy of the labels would"
            )
        return "; ".join(parts) + "."


def recognize(name: str, column: Any) -> tuple[str, str]:
    """Return the kind of a column and, for dates written as text, their format.

    Kinds are "number", "yes/no", "date", "category", "many categories", "text", "vector" and the
    keys of ``LEFT_OUT``.
    """
    types = pa.types
    if column.null_count == len(column):
        return "empty", ""
    if is_vector(column.type):
        low, high = (one.reduce(to_array(column), axis=0) for one in (np.fmin, np.fmax))
        is_empty, varies = np.isnan(low).all(), (low < high).any()
        return "empty" if is_empty else "vector" if varies else "constant", ""
    if types.is_nested(column.type) or types.is_binary(column.type):
        return "unknown", ""
    if _is_text(column.type):
        return _recognize_text(name, column)
    is_date = types.is_date(column.type) or types.is_timestamp(column.type)
    numbers = read_cells(column, "date" if is_date else "number")[:, 0]
    low, high = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
    if low == high and not column.null_count:
        return "constant", ""
    if types.is_integer(column.type) and not column.null_count:
        counted = low in (0, 1) and high - low + 1 == len(column) >= ENOUGH_ROWS
        if (counted or NAMES_ROWS.search(name)) and len(np.unique(numbers)) == len(numbers):
            return "id", ""
    return "date" if is_date else "yes/no" if types.is_boolean(column.type) else "number", ""


def read_cells(column: Any, kind: str, date_format: str = "") -> NDArray[Any]:
    """Read the cells of a column as a kind that :func:`recognize` returned, a row for each.

    Missing numbers are NaN, missing text is "". A date becomes the day and the places within year,
    week and day on circles.
    """
    if kind == "vector":
        rows = to_array(column)
        gaps = ~np.isfinite(rows.sum(axis=1))  # without a second array of all numbers
        return np.where(gaps[:, None], np.nan, rows) if gaps.any() else rows
    if kind == "number":
        if _is_text(column.type):
            numbers = pd.to_numeric(pd.Series(_to_text(column)), errors="coerce")
            column = pa.array(numbers.astype(np.float64), from_pandas=True)
        elif pa.types.is_temporal(column.type) or pa.types.is_boolean(column.type):
            column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return np.where(np.isfinite(numbers), numbers, np.nan)[:, None]
    if kind == "date":
        if _is_text(column.type):
            texts, how = pd.Series(_to_text(column)), date_format or "ISO8601"
            dates = pd.to_datetime(texts, format=how, errors="coerce", utc=True)
            column = pa.array(dates, from_pandas=True)
        elif not pa.types.is_temporal(column.type):
            column = pa.nulls(len(column))
        seconds = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()).cast(pa.float64())
        days = seconds.to_numpy(zero_copy_only=False) / 86400  # since 1970
        angles = [2 * np.pi * np.mod(days / length, 1) for length in DAYS.values()]
        circles = [part for angle in angles for part in (np.cos(angle), np.sin(angle))]
        return np.column_stack([days, *circles, np.isnan(days)])
    return _to_text(column)[:, None]


def count_gaps(column: Any, cells: NDArray[Any]) -> tuple[int, int]:
    """Return how many cells of a column are missing, and how many are not of the kind read."""
    if cells.dtype == object:
        return int((cells == "").sum()), 0
    gaps = np.isnan(cells).any(axis=1)
    n_missing = column.null_count
    if is_vector(column.type):
        n_missing = int(gaps.sum())
    elif _is_text(column.type):
        n_missing = sum(cell.lower() in NOTHING for cell in _to_text(column)[gaps])
    return n_missing, int(gaps.sum()) - n_missing


def _recognize_text(name: str, column: Any) -> tuple[str, str]:
    from pandas.tseries.api import guess_datetime_format

    cells = _to_text(column)
    filled = cells[cells != ""]
    distinct = set(filled.tolist())
    if len(distinct) < 2 and len(filled) in (0, len(cells)):
        return "constant" if distinct else "empty", ""
    some = filled[:1000]  # enough to see what it is not
    kinds = [] if any(map(CODE.match, some)) else [("number", "")]
    if any(map(str.isdigit, some[0])) and len(some[0]) <= LONGEST_DATE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the day is first where nothing else is possible
            guesses = [guess_datetime_format(some[0], dayfirst=first) for first in (False, True)]
        kinds += [("date", guess) for guess in dict.fromkeys(guesses) if guess]
    for kind in kinds if not pa.types.is_dictionary(column.type) else ():
        if all(_is_readable(pa.array(one), *kind) for one in (some, filled)):
            return kind
    n_words = np.mean([len(cell.split()) for cell in some])
    if len(distinct) == len(cells) and n_words == 1:
        numbered = all(any(map(str.isdigit, cell)) for cell in some) and len(cells) >= ENOUGH_ROWS
        if numbered or NAMES_ROWS.search(name):
            return "id", ""
    if n_words >= FEWEST_WORDS and len(distinct) > min(MOST_CATEGORIES, len(cells) / 2):
        return "text", ""
    return "category" if len(distinct) <= MOST_CATEGORIES else "many categories", ""


def _is_readable(column: Any, kind: str, date_format: str) -> bool:
    """Whether nearly all cells that are filled in hold the kind."""
    n_missing, n_unreadable = count_gaps(column, read_cells(column, kind, date_format))
    n_filled = len(column) - n_missing
    return n_filled > 0 and n_filled - n_unreadable >= READABLE * n_filled


def _is_text(kind: Any) -> bool:
    types = pa.types
    return not (types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind))


def _to_text(column: Any) -> NDArray[Any]:
    """Return cells as str without surrounding blanks; "" is missing."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        with suppress(pa.ArrowInvalid):  # whole numbers only: 3.0 beside an empty cell is 3
            column = column.cast(pa.int64())
    text = pa.compute.utf8_trim_whitespace(column.cast(pa.large_string()))
    return np.asarray(text.fill_null("").to_numpy(zero_copy_only=False))
