"""Tables of results to CSV, TSV, Parquet, NPZ or NPY.

A column is a sequence of values, or a matrix, whose columns are then numbered from 1: "x" becomes
"x1", "x2" and so on where the format has plain columns. None and NaN are empty cells. Numbers in
text have as many digits as it takes to get the same number back.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.formats import format_of_name
from labelfold.cli.tables.pyarrow_import import import_pyarrow

OUTPUT_FORMATS = ("csv", "tsv", "parquet", "npz", "npy")
ROWS_AT_ONCE = 10_000

Column = Sequence[Any] | NDArray[Any]


def output_format(path: str | os.PathLike[str]) -> str:
    """Return the format in which a file of that name is written; asked before the work begins.

    Raises
    ------
    TableError
        If the name tells none, or pyarrow is needed and missing.
    """
    name = PurePath(path).name
    form = format_of_name(name)
    if form not in OUTPUT_FORMATS:
        endings = ", ".join("." + known for known in OUTPUT_FORMATS)
        raise TableError(f"{name}: the ending of an output is one of {endings}: choose one.")
    if form == "parquet":
        import_pyarrow()
    return form


def write_table(
    stream: IO[bytes],
    columns: Mapping[str, Column],
    *,
    name: str | os.PathLike[str] = "",
    format: str | None = None,
) -> None:
    """Write columns to a binary stream.

    Parameters
    ----------
    stream : binary stream
        Where to, such as `OutputFiles.open` gives.

    columns : mapping from str to sequence or ndarray
        Columns of equal length in their order. NPZ keeps a matrix whole; NPY holds the one matrix
        among the columns, and nothing else.

    name : str or path-like, default=""
        Name of the file, whose ending tells the format; `.gz` after it packs the file.

    format : {"csv", "tsv", "parquet", "npz", "npy"}, default=None
        The format, if the name does not tell it, as for standard output.

    Raises
    ------
    TableError
        If the format cannot hold the columns.

    Examples
    --------
    >>> import io
    >>> from labelfold.cli.tables import write_table
    >>> stream = io.BytesIO()
    >>> write_table(stream, {"x": [[0.1, 2.0]], "label": ["a"]}, name="map.csv")
    >>> print(stream.getvalue().decode())
    x1,x2,label
    0.1,2.0,a
    """
    form = format or output_format(name)
    if form not in OUTPUT_FORMATS:
        raise TableError(f"format {form} cannot be written: choose from {OUTPUT_FORMATS}.")
    arrays = {title: _as_array(column) for title, column in columns.items()}
    lengths = {title: len(array) for title, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise TableError(f"columns of a table have one length each row: got {lengths}.")
    if str(name).lower().endswith(".gz"):
        # Without the time, so that the same table gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            _write(packed, arrays, form)
    else:
        _write(stream, arrays, form)


def _write(stream: Any, arrays: dict[str, NDArray[Any]], form: str) -> None:
    if form in ("csv", "tsv"):
        _write_text(stream, _plain_columns(arrays), "," if form == "csv" else "\t")
    elif form == "parquet":
        _write_parquet(stream, _plain_columns(arrays))
    elif form == "npz":
        plain: dict[str, Any] = {title: _without_objects(a) for title, a in arrays.items()}
        archive = io.BytesIO()  # its writer goes back and forth, which not every stream can
        np.savez_compressed(archive, **plain)
        stream.write(archive.getbuffer())
    else:
        np.save(stream, _the_matrix(arrays), allow_pickle=False)


def _write_text(stream: Any, columns: dict[str, NDArray[Any]], delimiter: str) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        writer.writerows(zip(*(_values(column[block]) for column in columns.values()), strict=True))
    text.flush()
    text.detach()


def _write_parquet(stream: Any, columns: dict[str, NDArray[Any]]) -> None:
    pyarrow = import_pyarrow()
    table = pyarrow.table(
        {
            # What is NaN to pandas is a missing value.
            title: pyarrow.array(np.ascontiguousarray(column), from_pandas=True)
            if column.dtype.kind in "biuf"
            else pyarrow.array(_values(column))
            for title, column in columns.items()
        }
    )
    pyarrow.parquet.write_table(table, stream)


def _as_array(column: Column) -> NDArray[Any]:
    """Return a column as an array in which integers beside None stay integers."""
    if isinstance(column, np.ndarray):
        return column
    array = np.asarray(column) if all(v is not None for v in column) else None
    if array is not None and array.dtype.kind in "biuf":
        return array
    objects = np.empty(len(column), dtype=object)
    objects[:] = column
    return objects


def _plain_columns(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns of one dimension, those of a matrix numbered from 1."""
    plain: dict[str, NDArray[Any]] = {}
    for title, array in arrays.items():
        parts = {title: array}
        if array.ndim == 2:
            parts = {f"{title}{i + 1}": array[:, i] for i in range(array.shape[1])}
        repeated = plain.keys() & parts.keys()
        if repeated:
            raise TableError(f"two output columns are named {min(repeated)!r}: rename one.")
        plain |= parts
    return plain


def _values(column: NDArray[Any]) -> list[Any]:
    """Return a column as plain values, None where there is none."""
    if column.dtype.kind == "f" and not np.isnan(column).any():
        return column.tolist()
    return [None if isinstance(v, float) and v != v else v for v in column.tolist()]


def _the_matrix(arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    matrices = [array for array in arrays.values() if array.ndim == 2]
    if len(matrices) != 1:
        raise TableError(
            f"an NPY file holds one matrix, and here are {len(matrices)}: write .csv, .parquet or "
            ".npz instead."
        )
    return matrices[0]


def _without_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that needs no pickle: text with "" for None, or numbers with -1 or NaN."""
    if array.dtype.kind != "O":
        return array
    values = array.tolist()
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present):
        return np.array(["" if value is None else str(value) for value in values])
    if len(present) == len(values):
        return np.array(values)
    # Just -1 and 1 could be read as two classes.
    if all(isinstance(v, int) and not isinstance(v, bool) for v in present) and set(present) != {1}:
        return np.array([-1 if value is None else value for value in values], dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
