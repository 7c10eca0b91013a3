"""CSV and TSV: from text to a matrix, with NumPy's parser.

A first pass counts lines, to know the memory needed before any is taken; a second one parses block
by block into the matrix. Every column is parsed, so that a row of another length is an error in
whatever column it differs. If something cannot be parsed, a third and slow pass finds out what.
"""

from __future__ import annotations

import csv
import itertools
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from labelfold.cli.tables.cells import kind_of, truth
from labelfold.cli.tables.columns import Columns, Request, choose_columns
from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.labels import labels_of_texts
from labelfold.cli.tables.memory import refuse_beyond_memory
from labelfold.cli.tables.source import PIECE, Source
from labelfold.cli.tables.table import Table, has_bad_values
from labelfold.cli.tables.text_faults import boolean_columns, find_fault, refuse_text_columns
from labelfold.cli.tables.text_layout import Layout, encoding_error, find_layout, open_text, records
from labelfold.exceptions import InputError

ROWS_AT_ONCE = 2000
CELLS_AT_ONCE = 2**22
Converters = dict[int | str, Callable[[str], Any]]


def read_delimited(source: Source, request: Request, *, delimiter: str | None = None) -> Table:
    """Read a CSV or TSV file.

    Parameters
    ----------
    source : Source
        The text, in UTF-8.

    request : Request
        Which columns are wanted.

    delimiter : str, default=None
        What separates cells; found out by default.
    """
    survey = _survey(source)
    layout = find_layout(source, delimiter, request)
    columns = choose_columns(request, layout.names, layout.n_columns, source.origin)
    refuse_text_columns(layout, columns, request, source.origin)
    refuse_beyond_memory(survey.n_lines, len(columns.features), source.origin)
    if survey.has_quotes:
        # NumPy's parser lets broken quotes pass; the csv module does not.
        deque(records(source, layout.delimiter), maxlen=0)
    texts = {column: _Texts() for column in (columns.label, columns.row_id) if column is not None}
    try:
        X = _parse(source, layout, columns, survey.n_lines, texts)
        if has_bad_values(X):
            raise InputError("a value is missing, infinite or huge")
    except UnicodeDecodeError as error:
        raise encoding_error(source) from error
    except TableError:
        raise
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise find_fault(source, layout, columns) or TableError(
            f"{source.origin} cannot be read as a table ({reason}): check its quotes and blanks."
        ) from error
    return Table(
        X,
        columns.feature_names,
        _labels(source, layout, columns, texts),
        None if columns.row_id is None else texts[columns.row_id].in_order(),
        source.origin,
    )


def read_single_column(source: Source, n_rows: int, *, delimiter: str) -> list[str]:
    """Return the cells of a text file of one column; a blank line is an empty cell.

    One line more than rows are expected is a header, if it is a word that does not occur below: a
    label would. A blank line at the end then leaves open which line is too many.
    """
    with open_text(source) as text:
        try:
            n_lines = sum(1 for _ in text)
        except UnicodeDecodeError as error:
            raise encoding_error(source) from error
    found = dict(records(source, delimiter))
    wide = next((line for line, cells in found.items() if len(cells) > 1), None)
    if wide is not None:
        raise TableError(
            f"{source.origin}: line {wide} has {len(found[wide])} cells: a file of labels has one "
            "column."
        )
    cells = [found.get(line, [""])[0] for line in range(1, n_lines + 1)]
    if len(cells) != n_rows + 1:
        return cells
    if n_lines not in found:
        raise TableError(
            f"{source.origin} has {n_rows:,} lines and a blank one for {n_rows:,} rows: take out "
            "the blank line, or write NA into it and take out the header."
        )
    return cells[1:] if kind_of(cells[0]) == "text" and cells[0] not in cells[1:] else cells


@dataclass(frozen=True)
class _Survey:
    """What the first pass finds: how many lines at most, and whether quotes occur."""

    n_lines: int
    has_quotes: bool


def _survey(source: Source) -> _Survey:
    n_ends = 0
    has_quotes = False
    with source.open() as stream:
        while piece := stream.read(PIECE):
            if b"\0" in piece:
                raise TableError(
                    f"{source.origin} holds binary data: save it as text in UTF-8, or pass the "
                    "--format that it has."
                )
            # A pair cut by the end of a piece counts twice, which does no harm.
            n_ends += piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")
            has_quotes = has_quotes or b'"' in piece
    return _Survey(n_ends + 1, has_quotes)


class _Texts:
    """The cells of a column as codes, which the parser can store among numbers."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[NDArray[np.float64]] = []

    def code(self, cell: str) -> int:
        """Return the code of a cell."""
        return self._codes.setdefault(cell, len(self._codes))

    def store(self, codes: NDArray[np.float64]) -> None:
        """Keep the codes of further rows."""
        self._blocks.append(codes.copy())

    def in_order(self) -> list[str]:
        """Return the cells, a row each."""
        distinct = list(self._codes)
        return [distinct[int(code)] for block in self._blocks for code in block]


def _parse(
    source: Source, layout: Layout, columns: Columns, n_lines: int, texts: dict[int, _Texts]
) -> NDArray[np.float64]:
    """Return the feature columns, and store the cells of other columns in `texts`."""
    converters: Converters = dict.fromkeys(
        set(range(layout.n_columns)) - set(columns.features), _nothing
    )
    converters |= {column: cells.code for column, cells in texts.items()}
    converters |= dict.fromkeys(boolean_columns(layout, columns.features), truth)
    X = np.empty((n_lines, len(columns.features)))
    n_rows = 0
    with open_text(source) as text:
        for block in _blocks(text, layout, converters):
            end = n_rows + len(block)
            X[n_rows:end] = block[:, columns.features]
            for column, cells in texts.items():
                cells.store(block[:, column])
            n_rows = end
    return X[:n_rows]


def _blocks(text: TextIO, layout: Layout, converters: Converters) -> Iterator[NDArray[np.float64]]:
    """Yield some rows of all columns at a time."""
    if layout.names is not None:
        next(filter(None, csv.reader(text, delimiter=layout.delimiter)))
    n_rows = n_at_once = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // layout.n_columns))
    while n_rows == n_at_once:
        with warnings.catch_warnings():
            # Blank lines are skipped, and the last block may be empty.
            warnings.simplefilter("ignore", UserWarning)
            block = np.loadtxt(
                text,
                delimiter=layout.delimiter,
                comments=None,
                quotechar='"',
                converters=converters,
                encoding="utf-8",
                ndmin=2,
                max_rows=n_at_once,
            )
        n_rows = len(block) if block.size else 0
        if n_rows:
            if block.shape[1] != layout.n_columns:
                raise InputError("the number of cells changes")
            yield block


def _nothing(cell: str) -> float:
    return 0.0


def _labels(
    source: Source, layout: Layout, columns: Columns, texts: dict[int, _Texts]
) -> NDArray[np.object_] | None:
    if columns.label is None:
        return None

    def place(row: int) -> str:
        skipped = row + (layout.names is not None)
        line, _ = next(itertools.islice(records(source, layout.delimiter), skipped, None))
        return f"line {line}"

    title = f"{source.origin}: {columns.title(columns.label)}"
    return labels_of_texts(texts[columns.label].in_order(), title, place)
