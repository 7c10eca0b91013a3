"""CSV and TSV, parsed by pyarrow: delimiter, decimal comma and header are found here.

Delimiter. Tab, semicolon or comma: the first of them, in this order, that cuts all of the first
records into the same number of cells, at least two. Commas come last, since they also stand in
numbers with a decimal comma and in text. If none does, the one that cuts the first record into most
cells; rows of another length are then refused by line.

Header. The first record is a header if it holds a name that the person used, if it has a word in a
column of numbers or above text where it does not occur, and its numbers, if there are any, are in
even steps (pixels, years, wavelengths), or if it counts the columns, as pandas names those without
a name. It is data if columns of numbers begin with numbers throughout. If it could be either, the
error says which options decide.
"""

from __future__ import annotations

import csv
import io
import itertools
import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from labelfold.exceptions import InputError
from labelfold.tables.choice import ID_NAMES, Loaded, Request, choose_columns, unnamed
from labelfold.tables.frames import import_pyarrow, shown
from labelfold.tables.source import Source

__all__ = ["MISSING", "NUMBER", "read_cells", "read_delimited"]

# As spreadsheets, pandas, R, SQL and the UCI repository write them. "none" in small letters is
# left to those who have a class of that name.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "-nan", "None", "null", "NULL", "?")
TRUTH = ("true", "True", "TRUE", "false", "False", "FALSE")
NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
N_SAMPLED, CELLS_SAMPLED = 100, 100_000
LEAST_BLOCK = 2**22  # bytes that are parsed at once


@dataclass(frozen=True)
class Layout:
    """How a text table is laid out, as far as its first records show."""

    delimiter: str
    names: list[str]
    has_names: bool
    decimal_point: str
    first_line: int  # of data, from 1
    longest_row: int  # in characters
    floats: list[str]  # columns whose cells are numbers with a point


def read_delimited(source: Source, request: Request, *, delimiter: str | None = None) -> Loaded:
    """Read a CSV or TSV file in UTF-8; labels and row names stay text."""
    pa = import_pyarrow()
    import pyarrow.csv

    layout = find_layout(source, request, delimiter)
    choice = choose_columns(request, layout.names, has_names=layout.has_names)
    ids = [name for name in choice.features if name.lower() in ID_NAMES]
    texts = dict.fromkeys([*ids, *choice.all()[len(choice.features) :]], pa.string())
    has_quotes = _has_quotes(source)
    if has_quotes:
        # pyarrow accepts text after a closing quote; the csv module does not.
        _refuse_faults(source, layout)
    block_size = max(LEAST_BLOCK, 8 * layout.longest_row)
    reading = pyarrow.csv.ReadOptions(
        column_names=layout.names, skip_rows=layout.first_line - 1, block_size=block_size
    )
    parsing = pyarrow.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=has_quotes)
    # A given type takes half the time and memory of one that pyarrow must find out.
    floats = dict.fromkeys(layout.floats, pa.float64())
    for types in (floats | texts, texts):
        converting = pyarrow.csv.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            decimal_point=layout.decimal_point,
            include_columns=choice.all(),
            column_types=types,
        )
        try:
            table = pyarrow.csv.read_csv(source.for_arrow(), reading, parsing, converting)
            break
        except pa.ArrowInvalid as error:
            if "conversion error" in str(error) and types is not texts:
                continue
            _refuse_faults(source, layout)
            raise InputError(
                f"not readable as a table ({' '.join(str(error).split())[:200]}): check its quotes "
                "and the number of cells in each line."
            ) from error
    if any(pa.types.is_binary(column.type) for column in table.columns):
        _refuse_faults(source, layout)

    def place(row: int) -> str:
        records = _records(source, layout.delimiter)
        return f"line {next(itertools.islice(records, row + layout.has_names, None))[0]:,}"

    note = "Numbers have decimal commas." if layout.decimal_point == "," else ""
    return Loaded(table, choice, place, layout.has_names, is_text=True, note=note)


def read_cells(source: Source, n_rows: int) -> list[str]:
    """Return the cells of a text file of one column; a blank line is an empty cell.

    If there is one line more than rows, the first is a header if it is a word that does not occur
    below, as a label would.
    """
    cells = []
    for line, row in _records(source, ",", blank_lines=True):
        if len(row) > 1:
            raise InputError(f"line {line} has {len(row)} cells: a file of labels has one column.")
        cells.append(row[0] if row else "")
    has_header = len(cells) == n_rows + 1 and cells[-1] and cells[0] not in cells[1:]
    return cells[1:] if has_header and _is_word(cells[0]) else cells


def find_layout(source: Source, request: Request, delimiter: str | None = None) -> Layout:
    """Find the layout of a text table from its first records."""
    delimiter = delimiter or _find_delimiter(source)
    reader = _records(source, delimiter)
    records = list(itertools.islice(reader, 10))
    if not records:
        raise InputError("the file holds blank lines only: expected one line per row.")
    records += itertools.islice(reader, min(N_SAMPLED, CELLS_SAMPLED // len(records[0][1])))
    lines, rows = zip(*records, strict=True)
    has_commas = delimiter != "," and any(DECIMAL_COMMA.fullmatch(c) for row in rows for c in row)
    comma = "," if has_commas else "."
    first, *below = [[cell.replace(comma, ".").strip() for cell in row] for row in rows]
    columns = list(itertools.zip_longest(*below, fillvalue=""))[: len(first)]
    numeric = [at for at, column in enumerate(columns) if _is_numeric(column)]
    has_names = _has_header(first, columns, numeric, request)
    if has_names and not below:
        raise InputError("a header and no rows: add rows, or pass --no-header if this is data.")
    names = [(has_names and one.strip()) or unnamed(at) for at, one in enumerate(rows[0])]
    return Layout(
        delimiter,
        names,
        has_names,
        decimal_point=comma,
        first_line=lines[1] if has_names else lines[0],
        longest_row=max(sum(map(len, row)) + len(row) for row in rows),
        floats=[names[at] for at in numeric if any("." in cell for cell in columns[at])],
    )


def _has_header(
    first: list[str], columns: Sequence[Sequence[str]], numeric: list[int], request: Request
) -> bool:
    """Whether the first record is a header; see the module's first lines."""
    if request.header is not None:
        return request.header
    if any(name in first for name in request.named()):
        return True
    if not columns:
        return any(map(_is_word, first)) and not any(map(NUMBER.fullmatch, first))
    if not numeric:
        return not any(map(NUMBER.fullmatch, first)) and len(set(first)) == len(first)
    words = [column for column in numeric if _is_word(first[column])]
    numbers = [float(first[column]) for column in numeric if NUMBER.fullmatch(first[column])]
    with np.errstate(all="ignore"):
        steps = np.unique(np.diff(numbers).round(9))
    in_even_steps = len(numbers) > 2 and len(steps) == 1 and steps[0] > 0
    counts_columns = in_even_steps and steps[0] == 1 and numbers[0] in (0.0, 1.0)
    of_text = set(range(len(columns))) - set(numeric)
    titles = [at for at in of_text if first[at] and first[at] not in columns[at]]
    if counts_columns or (words and not numbers) or (in_even_steps and (words or titles)):
        return True
    if words:
        raise InputError(
            f"line 1 may be a header or data (it holds {shown(first[words[0]])} and "
            f"{numbers[0]:g}): pass --header or --no-header."
        )
    return False


def _is_word(cell: str) -> bool:
    return not NUMBER.fullmatch(cell) and cell.strip() not in (*MISSING, *TRUTH)


def _is_numeric(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell not in MISSING]
    return bool(present) and not any(map(_is_word, present))


def _find_delimiter(source: Source) -> str:
    n_cells = {}
    for delimiter in DELIMITERS:
        counts = []
        try:
            for _, cells in itertools.islice(_records(source, delimiter), N_SAMPLED):
                counts.append(len(cells))
            if counts and min(counts) == max(counts) > 1:
                return delimiter
        except InputError:
            pass  # quotes that are right with one delimiter are wrong with another
        n_cells[delimiter] = counts[0] if counts else 0
    return max(reversed(DELIMITERS), key=lambda delimiter: n_cells[delimiter])


def _records(
    source: Source, delimiter: str, *, blank_lines: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each record, without blank lines by default."""
    # Bytes that are not UTF-8 become lone surrogates, which cannot be encoded again.
    with io.TextIOWrapper(source.open(), "utf-8-sig", "surrogateescape", newline="") as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                "".join(cells).encode()
                if cells or blank_lines:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"the record that begins in line {line} is broken ({error}): check its quotes; "
                'inside a quoted cell a quote is written "".'
            ) from error
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) & 0xFF
            raise InputError(
                f"line {line} is not UTF-8 (byte {byte:#04x}): save the file as UTF-8, or convert "
                "it, for instance with: iconv -f WINDOWS-1252 -t UTF-8."
            ) from error


def _refuse_faults(source: Source, layout: Layout) -> None:
    """Raise for the first record that has another number of cells, bad quotes or bad bytes."""
    for line, cells in _records(source, layout.delimiter):
        if len(cells) != len(layout.names):
            raise InputError(
                f"line {line} has {len(cells)} cell{'s' if len(cells) > 1 else ''}, and the first "
                f"has {len(layout.names)}: correct it; a cell with {DELIMITERS[layout.delimiter]} "
                "in it needs quotes."
            )


def _has_quotes(source: Source) -> bool:
    """Whether a quote occurs below the first line."""
    if source.path is None:
        return source.content.rfind(b'"') > source.content.find(b"\n")
    with source.open() as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return whole.rfind(b'"') > whole.find(b"\n")
