"""CSV and TSV, parsed by pyarrow, which also decides what is a number: delimiter, comma and header.

Delimiter. Tab, semicolon or comma: the first of them, in this order, that cuts all of the first
records into the same number of cells, at least two. Commas come last, since they also stand in
numbers and in text. If none does, the one that cuts the first record into most cells; rows of
another length are then refused by line. Commas are decimal if they make more columns numbers.

Header. The first record holds names if the person used one of them, if a column is numbers or
dates without it and text with it, or if it counts the columns, as pandas names those without a
name. Where all columns are text, it does if its cells all differ and none occurs again below.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from labelfold.exceptions import InputError
from labelfold.tables.frames import import_pyarrow
from labelfold.tables.source import CHUNK, Source
from labelfold.tables.table import ID_NAMES, MISSING, Request, Table, make_table, unnamed

__all__ = ["read_delimited", "read_lines"]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
N_SAMPLED = 50  # records
BLOCK = 2**24  # bytes that are parsed at once; no row may be longer


def read_delimited(source: Source, request: Request, *, delimiter: str | None = None) -> Table:
    """Read a CSV or TSV file in UTF-8; labels and row names stay text."""
    pa = import_pyarrow()
    delimiter = delimiter or _find_delimiter(source)
    records = list(itertools.islice(_records(source, delimiter), N_SAMPLED))
    if not records:
        raise InputError("the file holds blank lines only: expected one line per row.")
    rows = [cells for _, cells in records]
    first, below = rows[0], rows[1:] or rows
    point, types = ".", _find_types(below, ".", len(first))
    if delimiter != ",":
        with_commas = _find_types(below, ",", len(first))
        if with_commas.count(pa.float64()) > types.count(pa.float64()):
            point, types = ",", with_commas
    has_names = _has_header(rows, _find_types(rows, point, len(first)), types, request)
    if has_names and len(rows) == 1:
        raise InputError("a header and no rows: add rows, or pass --no-header if this is data.")
    names = [(has_names and one.strip()) or unnamed(at) for at, one in enumerate(first)]
    choice = request.choose(names, has_names=has_names)
    ids = [name for name in choice.features if name.lower() in ID_NAMES]
    texts = dict.fromkeys([*ids, *choice.all()[len(choice.features) :]], pa.string())
    # A type that is given takes half the time and memory of one that pyarrow must find out.
    floats = {name: kind for name, kind in zip(names, types, strict=True) if kind == pa.float64()}
    has_quotes = _has_quotes(source)
    if has_quotes:  # pyarrow accepts text after a closing quote; the csv module does not
        _refuse_faults(source, delimiter, len(first))
    for given in (floats | texts, texts):
        converting = {"decimal_point": point, "include_columns": choice.all()}
        try:
            table = _parse(
                source.for_arrow(),
                {"column_names": names, "skip_rows": records[has_names][0] - 1},
                {"delimiter": delimiter, "newlines_in_values": has_quotes},
                {**converting, "column_types": given},
            )
            break
        except pa.ArrowInvalid as error:
            if "conversion error" in str(error) and given is not texts:
                continue
            _refuse_faults(source, delimiter, len(first))
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"not a table ({reason}): check its quotes and lines.") from error
    if any(pa.types.is_binary(column.type) for column in table.columns):  # not UTF-8
        _refuse_faults(source, delimiter, len(first))

    def place(row: int) -> str:
        lines = (line for line, _ in _records(source, delimiter))
        return f"line {next(itertools.islice(lines, row - 1 + has_names, None)):,}"

    notes = ["Numbers have decimal commas."] if point == "," else []
    is_guess = not has_names and request.header is None
    if is_guess and pa.string() in _find_types([first], point, len(first)):
        notes.append("Line 1 was taken for data: pass --header if it names the columns.")
    return make_table(table, choice, place=place, has_names=has_names, note=" ".join(notes))


def read_lines(source: Source, n_rows: int) -> list[str]:
    """Return the cells of a text file of one column; a blank line is an empty cell.

    If there is one line more than rows, the first is a header if it is text and does not occur
    again, as a label would.
    """
    cells = []
    for line, row in _records(source, ",", blank_lines=True):
        if len(row) > 1:
            raise InputError(f"line {line} has {len(row)} cells: a file of labels has one column.")
        cells += row or [""]
    may_have_name = len(cells) == n_rows + 1 and cells[0] not in cells[1:]
    is_text = may_have_name and _find_types([cells[:1]], ".", 1) == [import_pyarrow().string()]
    return cells[1:] if is_text else cells


def _find_types(rows: Sequence[list[str]], decimal_point: str, width: int) -> list[Any]:
    """Return the types of the first columns of some rows, which may have other lengths."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t")
    writer.writerows([*row, *[""] * width][:width] for row in rows)
    table = _parse(
        import_pyarrow().BufferReader(text.getvalue().encode()),
        {"autogenerate_column_names": True, "use_threads": False},
        {"delimiter": "\t", "newlines_in_values": True},
        {"decimal_point": decimal_point},
    )
    return list(table.schema.types)


def _parse(data: Any, reading: Any, parsing: Any, converting: Any) -> Any:
    """Parse text by pyarrow with options for each of its three steps."""
    import pyarrow.csv

    return pyarrow.csv.read_csv(
        data,
        pyarrow.csv.ReadOptions(block_size=BLOCK, **reading),
        pyarrow.csv.ParseOptions(**parsing),
        pyarrow.csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True, **converting),
    )


def _has_header(
    rows: list[list[str]], types: list[Any], types_below: list[Any], request: Request
) -> bool:
    """Whether the first row is a header, given the types of all rows and of those below it."""
    if request.header is not None:
        return request.header
    first = [cell.strip() for cell in rows[0]]
    numbers = [cell for cell in first if cell.isdecimal()]
    if request.named() & set(first) or (
        len(numbers) > 2 and [*map(str, range(len(numbers)))] == numbers
    ):
        return True
    pa = import_pyarrow()
    typed = [at for at, kind in enumerate(types_below) if kind not in (pa.string(), pa.null())]
    if typed:
        return any(types[at] == pa.string() for at in typed)
    columns = zip(*rows[1:], strict=False)
    repeats = any(cell and cell in column for cell, column in zip(first, columns, strict=False))
    return len(set(first)) == len(first) and not repeats


def _find_delimiter(source: Source) -> str:
    widths: dict[str, list[int]] = {delimiter: [] for delimiter in reversed(DELIMITERS)}
    for delimiter, found in widths.items():
        try:
            for _, cells in itertools.islice(_records(source, delimiter), N_SAMPLED):
                found.append(len(cells))
        except InputError:
            found.append(0)  # quotes that are right with one delimiter are wrong with another
        if found and min(found) == max(found) > 1:
            return delimiter
    return max(DELIMITERS, key=lambda delimiter: widths[delimiter][:1])


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


def _refuse_faults(source: Source, delimiter: str, n_cells: int) -> None:
    """Raise for the first record that has another number of cells, bad quotes or bad bytes."""
    for line, cells in _records(source, delimiter):
        if len(cells) != n_cells:
            raise InputError(
                f"line {line} has {len(cells)} cell{'s' if len(cells) > 1 else ''}, and the first "
                f"has {n_cells}: correct it; a cell with {DELIMITERS[delimiter]} in it needs "
                "quotes."
            )


def _has_quotes(source: Source) -> bool:
    """Whether a quote occurs below the first line."""
    with source.open() as stream:
        stream.readline()
        return any(b'"' in chunk for chunk in iter(lambda: stream.read(CHUNK), b""))
