"""Which columns of a table are features, which holds the labels, which names the rows.

A person gives a column by its name, a pattern of names ("pixel*"), its number from 1 (-1 is the
last), or a range of numbers ("2-65"). Numbers are not taken for positions if columns have numbers
for names: "3" could be either.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from labelfold.exceptions import InputError
from labelfold.tables.frames import listed, shown

__all__ = ["ID_NAMES", "Choice", "ColumnName", "Loaded", "Request", "choose_columns", "unnamed"]

NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
NUMBERS = re.compile(r"(-?[1-9]\d{0,8})(?:-(\d{1,9}))?", re.ASCII)  # one or a range
ID_NAMES = ("id", "row_id", "uuid")  # of a column that names rows if its values all differ
PANDAS_INDEX = "__index_level_0__"  # the name that pandas gives an index without a name

ColumnName = str | int


@dataclass(frozen=True)
class Request:
    """What a person asked of the columns of a table; see `read`."""

    labels: ColumnName | None = None
    features: Sequence[ColumnName] | None = None
    ignore: Sequence[ColumnName] = ()
    id_column: ColumnName | None = None
    header: bool | None = None

    def named(self) -> list[str]:
        """Return everything that might be the name of a column."""
        asked = [self.labels, self.id_column, *(self.features or ()), *self.ignore]
        return [item for item in asked if isinstance(item, str) and not NUMBER.fullmatch(item)]


@dataclass(frozen=True)
class Choice:
    """The part that each column plays, by name."""

    features: list[str]
    label: str | None = None
    row_id: str | None = None

    def all(self) -> list[str]:
        """Return the names of all columns that are needed."""
        return [*self.features, *(one for one in (self.label, self.row_id) if one is not None)]


@dataclass(frozen=True, eq=False)
class Loaded:
    """The columns of a file that are needed; those without a name are called "column 1" and so on.

    `place` turns the position of a row into its name for messages, such as "line 7". `is_text` says
    that labels are cells of text, which may stand for numbers. `note` is for the person.
    """

    table: Any
    choice: Choice
    place: Callable[[int], str]
    has_names: bool = True
    is_text: bool = False
    note: str = ""


def choose_columns(request: Request, names: Sequence[str], *, has_names: bool = True) -> Choice:
    """Give each column its part.

    Features are those asked for, in that order, or else all columns, without the ignored ones, the
    label and the row names. A first column without a name holds row names, as pandas and R write
    them, unless it is asked for.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        places = [str(at + 1) for at, name in enumerate(names) if name == repeated[0]]
        title = f"columns {listed(places)} are all named {shown(repeated[0])}"
        raise InputError(f"{title}: give each its own name.")
    label = _find_one(names, request.labels, "--labels")
    row_id = _find_one(names, request.id_column, "--id-column")
    asked = None if request.features is None else _find(names, request.features, "--features")
    ignored = _find(names, request.ignore, "--ignore")
    if row_id is None and has_names and len(names) > 1:
        taken = (label, *(asked or ()))
        ends = {names[0]: unnamed(0), names[-1]: PANDAS_INDEX}
        row_id = next((a for a, sign in ends.items() if a == sign and a not in taken), None)
    if label is not None and label == row_id:
        raise InputError("--labels and --id-column name the same column: give each its own.")
    if label is not None and asked and label in asked:
        raise InputError(f"--features names {shown(label)}: the label must not be a feature.")
    left_out = {*ignored, label, row_id}
    wanted = names if asked is None else asked
    return Choice([name for name in wanted if name not in left_out], label, row_id)


def unnamed(column: int) -> str:
    """Return the name that a column without one gets."""
    return f"column {column + 1}"


def _find_one(names: Sequence[str], wanted: ColumnName | None, option: str) -> str | None:
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
