"""What a file holds: a :class:`Table` of features, labels and row names; and which column is what.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.tables import frames
from labelfold.tables.frames import check_names, get_column, listed, pa, shown

__all__ = ["Request", "Table", "make_table", "read_labels"]

NUMBERS = re.compile(r"(-?\d{1,9})(?:-(\d{1,9}))?", re.ASCII)  # one or a range
ID_NAMES = ("id", "row_id", "uuid")  # of a column that names rows if its values all differ
UNNAMED = "column {}"  # by its number from 1
PANDAS_INDEX = "__index_level_0__"  # the name that pandas gives an index without a name
# As spreadsheets, pandas, R, SQL and the UCI repository write them. "none" in small letters is
# left to those who have a class of that name.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "-nan", "None", "null", "NULL", "?")
CODE = r"^[+-]?(0[\dx]|\d{19})"  # begins with a zero, or has more digits than a float holds


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds, as :func:`read` returns it.

    Parameters
    ----------
    features : pyarrow.Table, ndarray or csr_array
        The columns that describe the rows; a matrix if the file is one. Cells may be missing:
        :func:`labelfold.tables.make_preparation` makes numbers of them.
    labels : ndarray of objects of shape (n_rows,) or None
        Labels as the person wrote them (int, float, bool or str), None for an unlabeled row. None
        if the file has no labels at all.
    ids : list or None
        Names of the rows; None if the file has none.
    origin : str
        What messages call the file.
    has_names : bool
        Whether the columns have names in the file.
    notes : tuple of str
        What reading decided that a person should know, in sentences.
    """

    features: Any
    labels: Any = None
    ids: list[Any] | None = None
    origin: str = ""
    has_names: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns that describe the rows."""
        return int(self.features.shape[1])

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns; None for a matrix."""
        return getattr(self.features, "column_names", None)

    @property
    def class_counts(self) -> dict[Any, int]:
        """Number of labeled rows of each class, classes in order."""
        labels = () if self.labels is None else self.labels
        return dict(sorted(Counter(label for label in labels if label is not None).items()))

    def to_matrix(self) -> Any:
        """Return the features as one matrix; raise InputError for text and missing numbers."""
        if self.feature_names is None:
            return self.features
        return np.hstack([self._to_numbers(name) for name in self.feature_names])

    def _to_numbers(self, name: str) -> NDArray[Any]:
        """Return a column of numbers, or of vectors, as a matrix."""
        where = f"{self.origin}: " if self.origin else ""
        column = get_column(self.features, name)
        kind, types = column.type, pa.types
        if frames.is_vector(kind) or types.is_floating(kind):
            numbers = frames.to_array(column)
        elif types.is_integer(kind) or kind == pa.bool_():
            numbers = frames.to_array(column.cast(pa.float64()))
        else:
            raise InputError(
                f"{where}column {name!r} holds {kind}, but the model needs numbers: "
                "fit it on the table with 'labelfold embed' or 'labelfold classify'."
            )
        for row in np.flatnonzero(np.isnan(numbers).any(axis=1))[:1].tolist():
            raise InputError(
                f"{where}row {row + 1}, column {name!r}: a missing value, but the model "
                "needs numbers: fill it in, or leave out the row."
            )
        return numbers


class Choice(NamedTuple):
    """The part that each column plays, by name."""

    features: list[str]
    label: str | None
    row_id: str | None

    def all(self) -> list[str]:
        """Return the names of all columns that are needed."""
        return [*self.features, *(one for one in self[1:] if one is not None)]


@dataclass(frozen=True)
class Request:
    """What a person asked of the columns of a file; see :func:`labelfold.tables.read`."""

    labels: str | int | None = None
    features: Sequence[str | int] | None = None
    ignore: Sequence[str | int] = ()
    id_column: str | int | None = None
    header: bool | None = None

    def names(self) -> set[str]:
        """Return everything asked for that can only be the name of a column."""
        asked = {self.labels, self.id_column, *(self.features or ()), *self.ignore}
        return {one for one in asked if isinstance(one, str) and not NUMBERS.fullmatch(one)}

    def choose(self, names: Sequence[str], *, has_names: bool = True) -> Choice:
        """Give each column its part; features are in the order asked for.

        A first column without a name holds row names, as pandas and R write them.
        """
        check_names(names)
        label = _find_one(names, "--labels", self.labels)
        row_id = _find_one(names, "--id-column", self.id_column)
        asked = _find(names, "--features", self.features or ())
        if row_id is None and has_names and len(names) > 1:
            indices = {UNNAMED.format(1), PANDAS_INDEX}.intersection(names).difference(
                [label, *asked]
            )
            row_id = next(iter(indices), None)
        if label is not None and label in (row_id, *asked):
            raise InputError(f"--labels {shown(label)} is a feature or row name too: choose one.")
        left_out = {*_find(names, "--ignore", self.ignore), label, row_id}
        return Choice([one for one in asked or names if one not in left_out], label, row_id)


def make_table(
    table: Any,
    choice: Choice,
    labels: Any = None,
    *,
    place: Callable[[int], str] = "row {:,}".format,
    has_names: bool = True,
    notes: Sequence[str] = (),
) -> Table:
    """Check the columns of a file; labels stay Arrow cells, read with those of other files.

    `place` turns the number of a row into its name for messages.
    """
    if not table.num_rows:
        raise InputError("the table has no rows: expected at least one.")
    table = frames.as_table(table.select(choice.all()))
    for name in choice.features:
        column = get_column(table, name)
        if frames.is_vector(column.type) or pa.types.is_floating(column.type):
            frames.refuse_huge(frames.to_array(column), place, shown(name))
    if choice.label is not None:
        labels = get_column(table, choice.label)
    ids = None if choice.row_id is None else table.column(choice.row_id).to_pylist()
    return Table(table.select(choice.features), labels, ids, "", has_names, tuple(notes))


def read_labels(cells: Any) -> NDArray[Any]:
    """Return labels from Arrow cells as int, float, bool or str, None if unlabeled.

    Text becomes numbers if it is numbers throughout, but not if some are codes such as "007".
    """
    pc, types = pa.compute, pa.types
    if types.is_nested(cells.type) or types.is_temporal(cells.type):
        raise InputError(
            f"labels of type {cells.type}: give one whole number, text or boolean per row."
        )
    is_number = types.is_primitive(cells.type) and not types.is_boolean(cells.type)
    if not types.is_primitive(cells.type):
        cells = pc.utf8_trim_whitespace(cells.cast(pa.string()))
        cells = pc.if_else(pc.is_in(cells, pa.array(MISSING)), None, cells)
        is_number = not pc.any(pc.match_substring_regex(cells, CODE)).as_py()
    if is_number:
        for kind in (pa.int64(), pa.float64(), pa.int64()):  # so that "1" and "1.0" are 1
            with suppress(pa.ArrowInvalid):
                cells = cells.cast(kind)
    labels = np.empty(len(cells), dtype=object)
    labels[:] = cells.to_pylist()
    return PartialLabels.from_y(labels).to_y()


def _find_one(names: Sequence[str], option: str, wanted: str | int | None) -> str | None:
    found = [] if wanted is None else _find(names, option, [wanted])
    if len(found) > 1:
        raise InputError(f"{option} {shown(wanted)} names {len(found)} columns: name one.")
    return found[0] if found else None


def _find(names: Sequence[str], option: str, wanted: Sequence[str | int]) -> list[str]:
    """Return the columns that a person means, each once."""
    found: list[str] = []
    for text in (str(item).strip() for item in wanted):
        matching = [text] if text in names else [one for one in names if fnmatchcase(one, text)]
        bounds = NUMBERS.fullmatch(text)
        if bounds and not matching and not any(map(NUMBERS.fullmatch, names)):
            ends = (int(bounds[1]), int(bounds[2] or bounds[1]))
            first, last = (end if end > 0 else len(names) + 1 + end for end in ends)
            matching = list(names[first - 1 : last]) if 1 <= first <= last <= len(names) else []
        if not matching:
            lowered = {name.lower(): name for name in names}
            close = difflib.get_close_matches(text.lower(), lowered, n=1)
            advice = f"choose from {listed(map(shown, names), 8)}."
            if close:
                advice = f"did you mean {shown(lowered[close[0]])}?"
            title = f"{option} {shown(text)}: there is no such column among {len(names)}"
            raise InputError(f"{title}: {advice}")
        found += matching
    return list(dict.fromkeys(found))
