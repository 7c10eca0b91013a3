"""How a text table is laid out: its delimiter, its header, and what its columns seem to hold.

Delimiter. Tab, semicolon or comma: the first of them, in this order, that cuts all of the first
records into the same number of cells, at least two. Commas come last, since they also stand in
numbers with a decimal comma and in text. If none does, the one that cuts the first record into most
cells; rows of another length are then refused by line.

Header. The first record is a header if it holds a name that the person used, or if it has a word in
a column of numbers, unless other columns of numbers begin with a number as well; three numbers or
more in even steps, as pixels and wavelengths are named, pass. It is data if columns of numbers
begin with numbers throughout. What could be either is refused with the options that decide; so are
numbers that count columns, 0, 1, 2, which is how pandas names columns that have no name.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TextIO

import numpy as np

from labelfold.cli.tables.cells import Kind, kind_of
from labelfold.cli.tables.columns import Request, refuse_duplicates, unnamed
from labelfold.cli.tables.errors import TableError, shown
from labelfold.cli.tables.source import Source

DELIMITERS = ("\t", ";", ",")
N_SAMPLED = 100
CELLS_SAMPLED = 100_000
Record = tuple[int, list[str]]


@dataclass(frozen=True)
class Layout:
    """The layout of a text table.

    Parameters
    ----------
    delimiter : str
        What separates cells.

    names : list of str or None
        Names of the columns, from the header; None without one.

    n_columns : int
        Number of cells that each record must have.

    sample : list of (int, list of str)
        First records below the header: line number and cells.
    """

    delimiter: str
    names: list[str] | None
    n_columns: int
    sample: list[Record]

    @cached_property
    def kinds(self) -> list[list[Kind]]:
        """What the sampled cells of each column hold, those that are missing left aside."""
        found: list[list[Kind]] = [[] for _ in range(self.n_columns)]
        for _, cells in self.sample:
            for kinds, cell in zip(found, cells, strict=False):  # a row may have another length
                kind = kind_of(cell)
                if kind != "missing":
                    kinds.append(kind)
        return found


def find_layout(source: Source, delimiter: str | None, request: Request) -> Layout:
    """Find the layout from the first records.

    Parameters
    ----------
    source : Source
        The text.

    delimiter : str or None
        What separates cells; None to find out.

    request : Request
        Names that the person used, and whether there is a header if that was said.
    """
    delimiter = delimiter or _find_delimiter(source)
    rows = records(source, delimiter)
    first_record = next(rows, None)
    if first_record is None:
        raise TableError(f"{source.origin} holds blank lines only: give a row of numbers a point.")
    _, first = first_record
    below = list(itertools.islice(rows, max(10, min(N_SAMPLED, CELLS_SAMPLED // len(first)))))
    data = Layout(delimiter, None, len(first), [first_record, *below])
    if not _has_header(first, Layout(delimiter, None, len(first), below), request, source.origin):
        return data
    if not below:
        raise TableError(
            f"{source.origin} has a header and no rows: add rows, or pass --no-header if its one "
            "line is data."
        )
    names = [name.strip() or unnamed(column) for column, name in enumerate(first)]
    refuse_duplicates(names, source.origin)
    return Layout(delimiter, names, len(names), below)


def records(source: Source, delimiter: str) -> Iterator[Record]:
    """Yield line number and cells of each record that is not blank."""
    with open_text(source) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise TableError(
                f"{source.origin}: the record that begins in line {line} is broken ({error}): "
                'check its quotes; inside a quoted cell a quote is written "".'
            ) from error
        except UnicodeDecodeError as error:
            raise encoding_error(source) from error


def open_text(source: Source) -> TextIO:
    """Return the text, without a byte order mark and with line ends as they are."""
    return io.TextIOWrapper(source.open(), encoding="utf-8-sig", newline="")


def encoding_error(source: Source) -> TableError:
    """Return the error for a text that is not UTF-8, with the line where that shows."""
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return TableError(
                    f"{source.origin}: line {number} is not UTF-8 (byte {line[error.start]:#04x}): "
                    "save the file as UTF-8, or convert it, for instance with: "
                    "iconv -f WINDOWS-1252 -t UTF-8."
                )
    return TableError(f"{source.origin} is not UTF-8: save the file as UTF-8.")


def _find_delimiter(source: Source) -> str:
    n_cells = {}
    for delimiter in DELIMITERS:
        counts = []
        try:
            for _, cells in itertools.islice(records(source, delimiter), N_SAMPLED):
                counts.append(len(cells))
            if counts and min(counts) == max(counts) > 1:
                return delimiter
        except TableError:
            # Quotes that are right with one delimiter are wrong with another.
            pass
        n_cells[delimiter] = counts[0] if counts else 0
    return max(reversed(DELIMITERS), key=lambda delimiter: n_cells[delimiter])


def _has_header(first: list[str], below: Layout, request: Request, origin: str) -> bool:
    """Whether the first record is a header; see the module's first lines."""
    if request.header is not None:
        return request.header
    stripped = [cell.strip() for cell in first]
    if any(name in stripped for name in request.named()):
        return True
    kinds = [kind_of(cell) for cell in stripped]
    if not below.sample:
        return all(kind in ("text", "missing") for kind in kinds) and "text" in kinds
    of_numbers = [column for column in range(len(first)) if _is_of_numbers(below.kinds[column])]
    if not of_numbers:
        # Nothing to compare with; there is no feature to be read either way.
        return all(kind in ("text", "missing") for kind in kinds)
    words = [column for column in of_numbers if kinds[column] == "text"]
    numbers = [column for column in of_numbers if kinds[column] == "number"]
    with np.errstate(all="ignore"):
        steps = np.unique(np.diff([float(stripped[column]) for column in numbers]).round(9))
    in_even_steps = len(numbers) > 2 and len(steps) == 1 and steps[0] > 0
    if words and (not numbers or in_even_steps):
        return True
    is_count = in_even_steps and steps[0] == 1 and float(stripped[numbers[0]]) in (0.0, 1.0)
    if words or is_count:
        example = stripped[words[0] if words else numbers[0]]
        raise TableError(
            f"{origin}: line 1 may be a header or data (it holds {shown(example)}): pass --header "
            "or --no-header."
        )
    return False


def _is_of_numbers(kinds: list[Kind]) -> bool:
    return bool(kinds) and all(kind != "text" for kind in kinds)
