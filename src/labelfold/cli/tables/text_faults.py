"""What is wrong with a text table, by line and column.

The fast reader of numbers says little about what it could not read. This slow one looks at every
cell that matters and returns the error to raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from labelfold.cli.tables.cells import BLANK_SEPARATED, DECIMAL_COMMA, advice_on, kind_of
from labelfold.cli.tables.columns import Columns, Request
from labelfold.cli.tables.errors import TableError, as_option, listed, shown
from labelfold.cli.tables.source import Source
from labelfold.cli.tables.table import missing_error, value_error
from labelfold.cli.tables.text_layout import Layout, records
from labelfold.graph.point_space import LARGEST_ENTRY


def refuse_text_columns(layout: Layout, columns: Columns, request: Request, origin: str) -> None:
    """Refuse feature columns that hold text in the first records."""
    of_text = [column for column in columns.features if "text" in layout.kinds[column]]
    if not of_text:
        return
    column = of_text[0]
    line, cells = next(
        (line, cells)
        for line, cells in layout.sample
        if column < len(cells) and kind_of(cells[column]) == "text"
    )
    if DECIMAL_COMMA.fullmatch(cells[column].strip()):
        raise TableError(
            f"{origin}: line {line}, {columns.title(column)}: {shown(cells[column])} seems to have "
            "a decimal comma: write numbers with a decimal point, as tr , . does with every comma."
        )
    if layout.n_columns == 1 and BLANK_SEPARATED.fullmatch(cells[column].strip()):
        raise TableError(
            f"{origin}: line {line} seems to have cells separated by blanks or bars "
            f"({shown(cells[column])}): separate them by commas, semicolons or tabs."
        )
    kinds = layout.kinds[column]
    if kinds.count("text") * 2 <= len(kinds):
        raise _stray_text(origin, line, cells[column], columns, column)
    ignored = as_option("--ignore", map(columns.value, of_text))
    others = [columns.title(other) for other in of_text[1:]]
    also = f" (also text: {listed(others)})" if others else ""
    is_label = (
        f", or, if it holds the labels, pass {as_option('--labels', [columns.value(column)])}"
        if request.labels is None
        else ""
    )
    raise TableError(
        f"{origin}: {columns.title(column)} holds text, such as {shown(cells[column])} in line "
        f"{line}{also}: leave it out with {ignored}{is_label}, or {advice_on(cells[column])}."
    )


def find_fault(source: Source, layout: Layout, columns: Columns) -> TableError | None:
    """Return the error for the first cell that cannot be read.

    Missing values come last, since all of them are counted.
    """
    first_missing: tuple[int, int] | None = None
    missing: Counter[int] = Counter()
    of_truth = set(boolean_columns(layout, columns.features))
    rows = records(source, layout.delimiter)
    if layout.names is not None:
        next(rows)
    for line, cells in rows:
        if len(cells) != layout.n_columns:
            return _ragged(source.origin, line, len(cells), layout)
        if not of_truth and _are_plain_numbers([cells[column] for column in columns.features]):
            continue
        for column in columns.features:
            kind = kind_of(cells[column])
            if column in of_truth and kind not in ("boolean", "missing"):
                return _not_truth(source.origin, line, cells[column], columns, column)
            if kind == "number" and abs(float(cells[column])) <= LARGEST_ENTRY:
                continue
            if kind == "missing":
                first_missing = first_missing or (line, column)
                missing[column] += 1
            elif column not in of_truth:
                return _bad_cell(source.origin, line, cells[column], columns, column)
    if first_missing is None:
        return None
    line, column = first_missing
    return missing_error(
        source.origin,
        f"line {line}",
        columns,
        column,
        missing.total(),
        len(missing),
    )


def boolean_columns(layout: Layout, columns: Sequence[int]) -> list[int]:
    """Return the columns whose first cells are true and false."""
    return [column for column in columns if set(layout.kinds[column]) == {"boolean"}]


def _are_plain_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers that need no closer look; most rows are like that."""
    text = "".join(cells)
    if "_" in text or not text.isascii():  # what Python reads as numbers, and nobody else
        return False
    try:
        # One NaN or infinite number makes the sum so.
        return sum(abs(float(cell)) for cell in cells) <= LARGEST_ENTRY
    except ValueError:
        return False


def _bad_cell(origin: str, line: int, cell: str, columns: Columns, column: int) -> TableError:
    kind = kind_of(cell)
    if kind in ("text", "boolean"):
        return _stray_text(origin, line, cell, columns, column)
    found = f"infinite value {shown(cell)}" if kind == "infinite" else f"huge value {shown(cell)}"
    advice = "correct it" if kind == "infinite" else "rescale the column"
    return value_error(origin, f"line {line}, {columns.title(column)}", found, 1, advice)


def _stray_text(origin: str, line: int, cell: str, columns: Columns, column: int) -> TableError:
    return TableError(
        f"{origin}: line {line}, {columns.title(column)}: {shown(cell)} is not a number, as other "
        f"cells of the column are: correct it, leave out the column with "
        f"{as_option('--ignore', [columns.value(column)])}, or {advice_on(cell)}."
    )


def _not_truth(origin: str, line: int, cell: str, columns: Columns, column: int) -> TableError:
    return TableError(
        f"{origin}: line {line}, {columns.title(column)}: {shown(cell)} is neither true nor false, "
        "as the first cells of the column are: correct it, or leave out the column with "
        f"{as_option('--ignore', [columns.value(column)])}."
    )


def _ragged(origin: str, line: int, n_cells: int, layout: Layout) -> TableError:
    names = {"\t": "tabs", ";": "semicolons", ",": "commas"}
    like = "the header has" if layout.names is not None else "the first line has"
    return TableError(
        f"{origin}: line {line} has {n_cells} cells separated by {names[layout.delimiter]}, and "
        f"{like} {layout.n_columns}: correct the line; a cell that holds the separator needs "
        "quotes around it."
    )
