"""What a cell of a text table holds: a number, a truth value, nothing, or text."""

from __future__ import annotations

import re
from typing import Literal

from labelfold.exceptions import InputError

Kind = Literal["number", "infinite", "boolean", "missing", "text"]

# As spreadsheets, pandas, R, SQL and the UCI repository write them. "none" in small letters is
# left to those who have a class of that name.
MISSING = frozenset(
    ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "-nan", "None", "null", "NULL", "?")
)
TRUTH = {"true": 1.0, "false": 0.0}
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})", re.ASCII)
INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE | re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(?:[. ]?\d{3})*,\d+|[+-]?\d*,\d+", re.ASCII)
DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?|\d{1,2}:\d{2}(?::\d{2}.*)?", re.ASCII
)
BLANK_SEPARATED = re.compile(r"[-+.\deE]+(?:[ |]+[-+.\deE]+)+", re.ASCII)


def kind_of(cell: str) -> Kind:
    """Return what a cell holds, blanks around it left aside."""
    text = cell.strip()
    if NUMBER.fullmatch(text):
        return "number"
    if text in MISSING:
        return "missing"
    if text.lower() in TRUTH:
        return "boolean"
    return "infinite" if INFINITE.fullmatch(text) else "text"


def truth(cell: str) -> float:
    """Return 1 for "true" and 0 for "false"; anything else is a ValueError."""
    value = TRUTH.get(cell.strip().lower())
    if value is None:
        raise InputError(f"{cell!r} is neither true nor false")
    return value


def advice_on(cell: str) -> str:
    """Return what to do with a cell of text that should be a number."""
    text = cell.strip()
    if DATE.fullmatch(text):
        return "turn dates and times into numbers, such as days since a first day"
    return "encode it as numbers, such as a column of 0 and 1 for each value"
