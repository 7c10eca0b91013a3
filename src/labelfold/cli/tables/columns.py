"""Which columns of a table are features, which is the label, which names the rows.

A column is named by its name, by a pattern of names ("pixel*"), by its number from 1 (-1 is the
last), or by a range of numbers ("2-65"). Numbers are refused where column names are numbers
themselves: "3" could be either.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from labelfold.cli.tables.errors import LONGEST_SHOWN, TableError, listed, shown

NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
MOST_COLUMNS = 10**8

ColumnName = str | int


@dataclass(frozen=True)
class Request:
    """What a person asked of the columns of a table; see `read_table`."""

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
class Columns:
    """The columns of a table and the part each plays, by position from 0."""

    names: list[str] | None
    n_columns: int
    features: Sequence[int]
    label: int | None = None
    row_id: int | None = None

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the feature columns, if columns have names."""
        return None if self.names is None else [self.names[column] for column in self.features]

    @property
    def takes_all(self) -> bool:
        """Whether the features are all columns, none being asked for or left out."""
        return self.features == range(self.n_columns)

    def title(self, column: int) -> str:
        """Return how messages call a column."""
        return f"column {self.value(column) if self.names is None else shown(self.names[column])}"

    def value(self, column: int) -> str:
        """Return how a person names a column in an option: by number if the name is unwieldy."""
        name = "" if self.names is None else self.names[column]
        return name if 0 < len(name) <= LONGEST_SHOWN and name.isprintable() else str(column + 1)


def choose_columns(
    request: Request, names: list[str] | None, n_columns: int, origin: str
) -> Columns:
    """Give each column its part.

    Features are those asked for, in that order, or else all columns, without the ignored ones, the
    label and the row names. A first column without a name holds row names, as pandas and R write
    them, unless it is asked for.
    """
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{origin} has {n_columns:,} columns, more than {MOST_COLUMNS:,}: check its indices, "
            "or leave out columns."
        )
    find = _ColumnFinder(names, n_columns, origin)
    label = find.one(request.labels, "--labels")
    row_id = find.one(request.id_column, "--id-column")
    asked = find.all(request.features, "--features") if request.features is not None else None
    ignored = find.all(request.ignore, "--ignore")
    if row_id is None and label != 0 and 0 not in (asked or ()) and find.has_row_names:
        row_id = 0
    if label is not None and label == row_id:
        raise TableError(f"{origin}: --labels and --id-column name the same column: give each one.")
    if label is not None and asked and label in asked:
        raise TableError(
            f"{origin}: column {find.title(label)} is named by --features and by --labels: "
            "the label must not be a feature."
        )
    left_out = {*ignored, label, row_id}
    wanted = range(n_columns) if asked is None else asked
    # A range stays a range: a sparse matrix may have very many columns.
    features = (
        wanted if left_out == {None} else [column for column in wanted if column not in left_out]
    )
    if not features:
        raise TableError(
            f"{origin}: no column is left as a feature, of {n_columns} in all: check --features, "
            "--ignore, --labels and --id-column."
        )
    return Columns(names, n_columns, features, label, row_id)


def refuse_duplicates(names: list[str], origin: str) -> None:
    """Refuse column names that occur twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        first = repeated[0]
        places = [str(i + 1) for i, name in enumerate(names) if name == first]
        others = f" ({len(repeated)} such names)" if len(repeated) > 1 else ""
        raise TableError(
            f"{origin}: columns {listed(places)} are all named {shown(first)}{others}: give each "
            "column a name of its own."
        )


def unnamed(column: int) -> str:
    """Return the name that a column without one gets."""
    return f"column {column + 1}"


class _ColumnFinder:
    """Finds columns by what a person calls them."""

    def __init__(self, names: list[str] | None, n_columns: int, origin: str) -> None:
        self._names = names
        self._positions = {name: column for column, name in enumerate(names or ())}
        self._n_columns = n_columns
        self._origin = origin
        self._numbers_are_names = any(NUMBER.fullmatch(name) for name in names or ())

    @property
    def has_row_names(self) -> bool:
        """Whether the first column has no name, and others have."""
        if self._names is None or self._n_columns < 2:
            return False
        return self._names[0] == unnamed(0)

    def title(self, column: int) -> str:
        """Return the name or the number of a column."""
        return str(column + 1) if self._names is None else shown(self._names[column])

    def one(self, wanted: ColumnName | None, option: str) -> int | None:
        """Return the one column of that name."""
        if wanted is None:
            return None
        found = self._find(wanted, option)
        if len(found) > 1:
            raise TableError(
                f"{self._origin}: {option} {shown(wanted)} names {len(found)} columns: name one."
            )
        return found[0]

    def all(self, wanted: Sequence[ColumnName], option: str) -> list[int]:
        """Return all columns of these names, each once, in the order asked for."""
        found = [column for item in wanted for column in self._find(item, option)]
        return list(dict.fromkeys(found))

    def _find(self, wanted: ColumnName, option: str) -> list[int]:
        text = str(wanted).strip()
        if text in self._positions:
            return [self._positions[text]]
        matching = [column for name, column in self._positions.items() if fnmatchcase(name, text)]
        if matching:
            return matching
        if NUMBER.fullmatch(text) and not self._numbers_are_names:
            return [self._number(int(text), option)]
        if (bounds := RANGE.fullmatch(text)) and not self._numbers_are_names:
            first, last = (self._number(int(bound), option) for bound in bounds.groups())
            if first <= last:
                return list(range(first, last + 1))
        raise TableError(f"{self._origin}: {option} {shown(text)}: {self._unknown(text)}")

    def _number(self, number: int, option: str) -> int:
        if number == 0 or abs(number) > self._n_columns:
            raise TableError(
                f"{self._origin}: {option} {number}: there are {self._n_columns} columns, "
                "numbered from 1 (and -1 for the last)."
            )
        return number - 1 if number > 0 else self._n_columns + number

    def _unknown(self, text: str) -> str:
        if self._names is None:
            return (
                f"the columns have no names: give a number from 1 to {self._n_columns}, or pass "
                "--header if the first line holds names."
            )
        close = difflib.get_close_matches(text, self._names, n=1, cutoff=0.6)
        same = [name for name in self._names if name.lower() == text.lower()]
        if same or close:
            return f"there is no such column: did you mean {shown((same or close)[0])}?"
        return f"there is no such column: choose from {listed(map(shown, self._names), 8)}."
