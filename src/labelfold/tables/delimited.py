"""CSV and TSV, parsed by pyarrow, which also decides what is a number: delimiter, comma and header.

Delimiter. Tab, semicolon or comma: the first of them, in this order, that cuts all of the first
records into the same number of cells, at least two. Commas come last, since they also stand in
numbers and in text. If none does, a space, as NumPy writes it, if there are numbers only, or else
the one that cuts the first record into most cells; rows of another length are refused by line.
Commas are decimal if they make more columns numbers.

Header. The first record holds names if the person used one of them, if a column is numbers or
dates without it and text with it, or if it counts the columns, as pandas names those without a
name. Where all columns are text, it does if its cells all differ and none occurs again below.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from labelfold.exceptions import InputError
from labelfold.tables.frames import pa
from labelfold.tables.source import CHUNK, Source, to_buffer
from labelfold.tables.table import ID_NAMES, MISSING, UNNAMED, Request, Table, make_table

__all__ = ["read_delimited"]

DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "spaces"}
DIGITS = "+-.0123456789Ee"
N_SAMPLED = 50  # records
BLOCK = 2**24  # bytes that are parsed at once; no row may be longer


def read_delimited(source: Source, request: Request, delimiter: str | None = None) -> Table:
    """Read a CSV or TSV file in UTF-8; labels and row names stay text."""
    delimiter = delimiter or _find_delimiter(source)
    records = list(islice(_records(source, delimiter), N_SAMPLED))
    if not records:
        raise InputError("the file holds blank lines only: expected one line per row.")
    rows = [cells for _, cells in records]
    width = len(rows[0])
    points = "." if delimiter == "," else ".,"
    all_types = {point: _find_types(rows[1:] or rows, point, width) for point in points}
    point = max(points, key=lambda one: all_types[one].count(pa.float64()))
    types = all_types[point]
    has_names = _has_header(rows, _find_types(rows, point, width), types, request)
    if has_names and len(rows) == 1:
        raise InputError("a header and no rows: add rows, or pass --no-header if this is data.")
    names = [(has_names and one.strip()) or UNNAMED.format(at) for at, one in enumerate(rows[0], 1)]
    choice = request.choose(names, has_names=has_names)
    are_text = [name for name in names if name in choice[1:] or name.lower() in ID_NAMES]
    texts = dict.fromkeys(are_text, pa.string())
    # A type that is given takes half the time and memory of one that pyarrow must find out.
    floats = {name: kind for name, kind in zip(names, types, strict=True) if kind == pa.float64()}
    has_quotes = _has_quotes(source)
    if has_quotes:  # pyarrow accepts text after a closing quote; the csv module does not
        _refuse_faults(source, delimiter, width)
    reading = {"column_names": names, "skip_rows": records[1][0] - 1 if has_names else 0}
    # A blank line is an unlabeled row where labels are all there is.
    parsing = {"newlines_in_values": has_quotes, "ignore_empty_lines": bool(choice.features)}
    converting: dict[str, Any] = {"decimal_point": point, "include_columns": choice.all()}
    for given in (floats | texts, texts):
        converting["column_types"] = given
        try:
            table = _parse(source.open(), delimiter, reading, parsing, converting)
            break
        except pa.ArrowInvalid as error:
            if "conversion error" in str(error) and given is not texts:
                continue
            _refuse_faults(source, delimiter, width)
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"not a table ({reason}): check its quotes and lines.") from error
    if any(pa.types.is_binary(column.type) for column in table.columns):  # not UTF-8
        _refuse_faults(source, delimiter, width)

    def place(row: int) -> str:
        lines = (line for line, _ in _records(source, delimiter))
        return f"line {next(islice(lines, row - 1 + has_names, None)):,}"

    notes = ["Numbers have decimal commas."] if point == "," else []
    is_guess = not has_names and request.header is None
    if is_guess and pa.string() in _find_types(rows[:1], point, width):
        notes.append("Line 1 was taken for data: pass --header if it names the columns.")
    return make_table(table, choice, place=place, has_names=has_names, notes=notes)


def _find_delimiter(source: Source) -> str:
    widths: dict[str, list[int]] = {delimiter: [] for delimiter in DELIMITERS}
    for delimiter, found in widths.items():
        try:
            for _, cells in islice(_records(source, delimiter), N_SAMPLED):
                found.append(len(cells))
        except InputError:
            found.append(0)  # quotes that are right with one delimiter are wrong with another
        if len({*found}) == 1 < found[0] and not (
            delimiter == " " and "".join(cells).strip(DIGITS)
        ):
            return delimiter
    return max(",;\t", key=lambda delimiter: widths[delimiter][:1])


def _find_types(rows: Sequence[list[str]], decimal_point: str, width: int) -> list[Any]:
    """Return the types of the first columns of some rows, which may have other lengths."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t").writerows([*row, *[""] * width][:width] for row in rows)
    data = pa.BufferReader(to_buffer(text.getvalue().encode()))
    reading = {"autogenerate_column_names": True, "use_threads": False}
    parsing = {"newlines_in_values": True}
    return _parse(data, "\t", reading, parsing, {"decimal_point": decimal_point}).schema.types


def _parse(data: Any, delimiter: str, reading: Any, parsing: Any, converting: Any) -> Any:
    """Parse text by pyarrow with options for each of its three steps."""
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    return read_csv(
        data,
        ReadOptions(block_size=BLOCK, **reading),
        ParseOptions(delimiter=delimiter, **parsing),
        ConvertOptions(null_values=MISSING, strings_can_be_null=True, **converting),
    )


def _has_header(
    rows: list[list[str]], types: list[Any], types_below: list[Any], request: Request
) -> bool:
    """Whether the first row is a header, given the types of all rows and of those below it."""
    if request.header is not None:
        return request.header
    first = [cell.strip() for cell in rows[0]]
    numbers = [cell for cell in first if cell.isdecimal()]
    is_count = len(numbers) > 2 and [*map(str, range(len(numbers)))] == numbers
    if is_count or request.names() & set(first):
        return True
    typed = [at for at, kind in enumerate(types_below) if kind not in (pa.string(), pa.null())]
    if typed:
        return any(types[at] == pa.string() for at in typed)
    columns = zip(first, *rows[1:], strict=False)
    repeats = any(cell and cell in others for cell, *others in columns)
    return len(set(first)) == len(first) and not repeats


def _has_quotes(source: Source) -> bool:
    """Whether a quote occurs below the first line."""
    with io.BufferedReader(source.open()) as stream:
        stream.readline()
        return any(b'"' in chunk for chunk in iter(lambda: stream.read(CHUNK), b""))


def _records(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each record, without blank lines."""
    # Bytes that are not UTF-8 become lone surrogates, which cannot be encoded again.
    with io.TextIOWrapper(source.open(), "utf-8-sig", "surrogateescape", newline="") as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                "".join(cells).encode()
                if cells:
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
                f"line {line} has {len(cells)} cell{'s' * (len(cells) > 1)} instead of {n_cells}: "
                f"correct it; a cell with {DELIMITERS[delimiter]} in it needs quotes."
            )
