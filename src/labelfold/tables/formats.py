"""Formats that a library reads whole: Parquet, Arrow, JSON lines, Excel, NPY, NPZ, svmlight, idx.

The first four are tables; the others are matrices of numbers, dense or sparse, with labels beside
them or none. Nothing is unpickled. idx is the format of MNIST, which no common library reads.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from labelfold.exceptions import InputError
from labelfold.memory import available_memory
from labelfold.tables.delimited import read_delimited
from labelfold.tables.frames import (
    as_table,
    import_pyarrow,
    is_vector,
    listed,
    shown,
    stack_vectors,
)
from labelfold.tables.source import Source, naming
from labelfold.tables.table import Request, Table, make_table, to_cells, unnamed

__all__ = ["read_array", "read_file"]

ROWS_AT_ONCE = 4096
JSON_BLOCK = 2**24  # bytes; no row may be longer than two of them


def read_file(source: Source, request: Request, n_features: int | None = None) -> Table:
    """Read a file of any format.

    In an NPZ file `request.labels` may name an array. `n_features` is the number of columns of an
    svmlight file, by default the largest index that occurs.
    """
    form, labels = source.form, None
    if form in ("csv", "tsv"):
        return read_delimited(source, request, delimiter="\t" if form == "tsv" else None)
    if form == "excel":
        return _read_excel(source, request)
    if form == "parquet":
        return _read_parquet(source, request)
    if form in ("arrow", "jsonl"):
        table = (_read_arrow if form == "arrow" else _read_json_lines)(source)
        while any(import_pyarrow().types.is_struct(kind) for kind in table.schema.types):
            table = table.flatten()
        choice = request.choose(table.column_names)
        return make_table(table.select(choice.all()), choice)
    if form == "npz":
        X, labels = _read_npz(source, request)
    elif form == "svmlight":
        X, labels = _read_svmlight(source, n_features)
    else:
        X = read_array(source)
    if X.ndim != 2 or X.shape[0] == 0 or X.dtype.kind not in "biuf":
        raise InputError(
            f"an array of shape {X.shape} and dtype {X.dtype}: give a matrix of real numbers with "
            "one line per row, such as array.reshape(len(array), -1)."
        )
    if labels is not None:
        request = replace(request, labels=None)
    if request == Request(header=request.header):
        return make_table(X, labels=labels)
    table = as_table(X).rename_columns([unnamed(column) for column in range(X.shape[1])])
    choice = request.choose(table.column_names, has_names=False)
    return make_table(table.select(choice.all()), choice, labels, has_names=False)


def read_array(source: Source) -> NDArray[Any]:
    """Return the array of an NPY file, or the images of an idx file as rows."""
    with _library_errors(), source.open() as stream:
        if source.form == "npy":
            return np.asarray(np.load(stream, allow_pickle=False))
        # Two zero bytes, 8 for unsigned bytes, the number of dimensions, a big-endian integer of
        # 4 bytes for each size, then the values in C order.
        n_dimensions = stream.read(4)[3]
        shape = np.frombuffer(stream.read(4 * n_dimensions), dtype=">u4").tolist()
        values = np.frombuffer(stream.read(), dtype=np.uint8)
        values = values.reshape(shape)
        return values.reshape(len(values), -1) if values.ndim > 1 else values


@contextmanager
def _library_errors() -> Iterator[None]:
    """Turn whatever a reading library raises on damaged bytes into an InputError.

    Only around calls of such libraries: their errors are not documented, and ours are not damage.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"damaged or incomplete ({reason}): get or make it again.") from error


def _read_parquet(source: Source, request: Request) -> Table:
    """Read a Parquet file one column at a time, which never holds it in memory twice."""
    pa = import_pyarrow()
    import pyarrow.parquet

    with _library_errors():
        file = pyarrow.parquet.ParquetFile(source.for_arrow(), pre_buffer=False)
        meta, schema = file.metadata, file.schema_arrow
        needed = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
    if needed > available_memory():
        raise InputError(f"{needed:,} bytes unpacked, more than are free: take fewer rows.")

    def chunks(name: str) -> Iterator[Any]:
        batches = file.iter_batches(ROWS_AT_ONCE, columns=[name])
        for _ in range(0, meta.num_rows, ROWS_AT_ONCE):
            with _library_errors():
                batch = next(batches)
            yield batch.column(0)

    choice, columns = request.choose(schema.names), {}
    for name in choice.all():
        if is_vector(schema.field(name).type):
            columns[name] = stack_vectors(name, chunks(name), meta.num_rows)
        else:
            with _library_errors():
                columns[name] = file.read(columns=[name]).column(0).combine_chunks()
    return make_table(pa.table(columns), choice)


def _read_arrow(source: Source) -> Any:
    """Read an Arrow or Feather file, or an Arrow stream."""
    pa = import_pyarrow()
    import pyarrow.feather

    with _library_errors():
        with source.open() as stream:
            is_stream = stream.read(4) == b"\xff\xff\xff\xff"
        read = pa.ipc.open_stream if is_stream else pyarrow.feather.read_table
        table = read(source.for_arrow())
        table = table.read_all() if is_stream else table
        table.validate(full=True)
    return table


def _read_json_lines(source: Source) -> Any:
    """Read a file with one JSON object per line."""
    pa = import_pyarrow()
    import pyarrow.json

    size = os.path.getsize(source.path) if source.path else len(source.content)
    # Errors count rows from the start of their block: the second time, the file is one block.
    for block_size in (JSON_BLOCK, min(size + 1, 2**31 - 1)):
        try:
            options = pyarrow.json.ReadOptions(block_size=block_size)
            return pyarrow.json.read_json(source.for_arrow(), options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
            reason, _, row = " ".join(str(error).split()).partition(" in row ")
    where = f"row {int(row) + 1:,}: " if row.isdecimal() else ""
    raise InputError(
        f"{where}not JSON lines ({reason[:200]}): write one object per line, with one type per "
        "column; jq -c '.[]' makes lines of an array."
    )


def _read_excel(source: Source, request: Request) -> Table:
    """Read the first sheet of a workbook that holds anything, as if it were saved as text."""
    import openpyxl

    with _library_errors(), source.open() as stream:
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        sheets = {one.title: list(one.iter_rows(values_only=True)) for one in book.worksheets}
    filled = [title for title, rows in sheets.items() if any(map(any, rows))]
    if not filled:
        raise InputError("a workbook without cells: expected one line per row.")
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t").writerows(sheets[filled[0]])
    saved = Source(source.origin, "tsv", None, text.getvalue().encode())
    table = read_delimited(saved, request, delimiter="\t")
    if len(filled) == 1:
        return table
    note = f"Of {len(filled)} sheets the first was read, {shown(filled[0])}."
    return replace(table, notes=(note, *table.notes))


def _read_npz(source: Source, request: Request) -> tuple[Any, Any]:
    """Read arrays X and y, a single two-dimensional array, or a sparse matrix."""
    with _library_errors(), source.open() as stream:
        archive = np.load(stream, allow_pickle=False)
        if "format" in archive.files:
            stream.seek(0)
            matrix: Any = sp.load_npz(stream)
            if hasattr(matrix, "check_format"):  # coordinates are checked by the constructor
                matrix.check_format(full_check=True)
            return sp.csr_array(matrix), None
        arrays = {name: archive[name] for name in archive.files}
    name = "y" if request.labels is None else str(request.labels)
    given = arrays.pop(name, None)
    matrices = ["X"] if "X" in arrays else [key for key, one in arrays.items() if one.ndim == 2]
    if len(matrices) != 1:
        raise InputError(f"arrays {listed(arrays)}: name the matrix of rows X, and the labels y.")
    with naming(f"array {name}"):
        labels = None if given is None else to_cells(given)
    return arrays[matrices[0]], labels


def _read_svmlight(source: Source, n_features: int | None) -> tuple[Any, Any]:
    """Read an svmlight file; indices count from 1, unless an index 0 occurs."""
    try:
        with source.open() as stream:
            X, values = load_svmlight_file(stream, n_features=n_features, zero_based="auto")
    except (ValueError, OverflowError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"not readable as svmlight ({reason}): a line is a label and pairs index:value with "
            "rising indices, such as '1 3:0.5 7:2'."
        ) from error
    return sp.csr_array(X), to_cells(values)
