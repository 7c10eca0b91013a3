"""A column of a table -> what it is taken for, and its cells as that kind.

The kind is decided once, in ``fit``, from name and cells and never from labels. Later columns of
that name are read as the same kind, whatever their type; cells that cannot be are missing.
"""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelfold.tables.frames import import_pyarrow, is_vector, to_array

__all__ = ["LEFT_OUT", "Cells", "read_cells", "recognize"]

# Kinds that give no features, with the reason.
LEFT_OUT = {
    "id": "names the row",
    "constant": "one value in all rows",
    "empty": "no cell is filled in",
    "unknown": "neither numbers, dates, text nor vectors",
}
READABLE = 0.9  # least share of cells that can be read, for text to be numbers or dates
MOST_CATEGORIES = 40  # that get a feature each
FEWEST_WORDS = 4  # of a cell of free text, on average
ENOUGH_ROWS = 20  # to take different values in all rows for ids
NAMES_ROWS = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|index|rowid)$|[a-z]I[dD]$", re.ASCII)
CODE = re.compile(r"0\d")  # begins a postal code, say: digits that are not a number
# What people write for a missing number or date, in small letters.
NOTHING = ("", "-", "--", "?", ".", "n/a", "na", "nan", "nil", "none", "null", "missing", "unknown")


@dataclass(frozen=True)
class Cells:
    """Cells of a column, read as its kind; missing numbers and days are NaN, missing text is ""."""

    values: Any
    n_missing: int = 0
    n_unreadable: int = 0

    @property
    def are_readable(self) -> bool:
        """Whether nearly all cells that are filled in hold the kind."""
        n_filled = len(self.values) - self.n_missing
        return n_filled > 0 and n_filled - self.n_unreadable >= READABLE * n_filled


def recognize(name: str, column: Any) -> tuple[str, str]:
    """Return the kind of a column and, for dates written as text, their format.

    Kinds are "number", "yes/no", "date", "category", "many categories", "text", "vector" and the
    keys of ``LEFT_OUT``.
    """
    import pyarrow.compute as pc

    types = import_pyarrow().types
    kind = column.type
    if column.null_count == len(column):
        return "empty", ""
    if is_vector(kind):
        rows = to_array(column)
        low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
        if np.isnan(low).all():
            return "empty", ""
        return ("vector" if (low < high).any() else "constant"), ""
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return "unknown", ""
    if _is_text(kind):
        return _recognize_text(name, column)
    bare = column.cast("int64") if types.is_duration(kind) else column
    low, high = pc.min_max(bare).as_py().values()
    if low == high and not column.null_count:
        return "constant", ""
    if types.is_integer(kind) and pc.count_distinct(column, mode="all").as_py() == len(column):
        counted = low in (0, 1) and high - low + 1 == len(column) >= ENOUGH_ROWS
        is_id = not column.null_count and (counted or NAMES_ROWS.search(name))
        return ("id" if is_id else "number"), ""
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date", ""
    return ("yes/no" if types.is_boolean(kind) else "number"), ""


def read_cells(column: Any, kind: str, date_format: str = "") -> Cells:
    """Read the cells of a column as a kind that :func:`recognize` returned."""
    if kind == "vector":
        rows = to_array(column)
        gaps = ~np.isfinite(rows.sum(axis=1))  # of rows, without a second array of all numbers
        if not gaps.any():
            return Cells(rows)
        n_missing = int(np.isnan(rows[gaps]).all(axis=1).sum())
        return Cells(np.where(gaps[:, None], np.nan, rows), n_missing, int(gaps.sum()) - n_missing)
    if kind not in ("number", "date"):
        text = _to_text(column)
        return Cells(text, int((text == "").sum()))
    if _is_text(column.type):
        return _parse(_to_text(column), kind, date_format)
    values = (_to_numbers if kind == "number" else _to_days)(column)
    values = np.where(np.isfinite(values), values, np.nan)
    return Cells(values, column.null_count, int(np.isnan(values).sum()) - column.null_count)


def _recognize_text(name: str, column: Any) -> tuple[str, str]:
    cells = _to_text(column)
    filled = cells[cells != ""]
    distinct = set(filled.tolist())
    if len(distinct) < 2 and len(filled) in (0, len(cells)):
        return ("constant" if distinct else "empty"), ""
    few = "category" if len(distinct) <= MOST_CATEGORIES else "many categories"
    if import_pyarrow().types.is_dictionary(column.type):
        return few, ""
    some = filled[:1000]  # enough to see what it is not
    kinds = [] if any(map(CODE.match, some)) else [("number", "")]
    kinds += [("date", one) for one in _guess_date_formats(some[0])]
    for kind in kinds:
        if all(_parse(one, *kind).are_readable for one in (some, filled)):
            return kind
    n_words = np.mean([len(cell.split()) for cell in some])
    if len(distinct) == len(cells) and n_words == 1:
        numbered = all(any(map(str.isdigit, cell)) for cell in some) and len(cells) >= ENOUGH_ROWS
        if numbered or NAMES_ROWS.search(name):
            return "id", ""
    if n_words >= FEWEST_WORDS and len(distinct) > min(MOST_CATEGORIES, len(cells) / 2):
        return "text", ""
    return few, ""


def _guess_date_formats(cell: str) -> list[str]:
    """Return formats in which a cell is a date, those with the month before the day first."""
    from pandas.tseries.api import guess_datetime_format

    if not any(map(str.isdigit, cell)) or len(cell) > 40:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the day is first where nothing else is possible
        guesses = [guess_datetime_format(cell, dayfirst=first) for first in (False, True)]
    return list(dict.fromkeys(guess for guess in guesses if guess))


def _parse(text: Any, kind: str, date_format: str) -> Cells:
    """Read text as numbers, or as dates of a format."""
    import pandas as pd

    cells = pd.Series(text, dtype=object)
    if kind == "number":
        values = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
        values = np.where(np.isfinite(values), values, np.nan)
    else:
        how = date_format or "ISO8601"
        dates = pd.to_datetime(cells, format=how, errors="coerce", utc=True)
        values = _since_1970(dates.dt.tz_localize(None).to_numpy())
    failed = text[np.isnan(values)]
    n_missing = sum(cell.lower() in NOTHING for cell in failed)
    return Cells(values, n_missing, len(failed) - n_missing)


def _since_1970(dates: Any) -> Any:
    """Return days, NaN where a date is missing."""
    seconds = dates.astype("datetime64[s]").astype(np.int64)
    return np.where(np.isnat(dates), np.nan, seconds / 86400)


def _is_text(kind: Any) -> bool:
    types = import_pyarrow().types
    return not (types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind))


def _to_numbers(column: Any) -> Any:
    pa = import_pyarrow()
    if pa.types.is_temporal(column.type):  # times of day and durations
        column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return column.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _to_days(column: Any) -> Any:
    pa = import_pyarrow()
    if not pa.types.is_temporal(column.type):
        return np.full(len(column), np.nan)  # numbers where dates were
    return _since_1970(column.cast(pa.timestamp("s"), safe=False).to_numpy(zero_copy_only=False))


def _to_text(column: Any) -> Any:
    """Return cells as str without surrounding blanks; "" is missing."""
    import pyarrow.compute as pc

    pa = import_pyarrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        with suppress(pa.ArrowInvalid):  # whole numbers only: 3.0 beside an empty cell is 3
            column = column.cast(pa.int64())
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    return text.fill_null("").to_numpy(zero_copy_only=False)
