"""Formats that a library reads whole: Parquet, Arrow, JSON lines, Excel, NPY, NPZ, svmlight, idx.

The first four are tables; the others are matrices of numbers, dense or sparse, with labels beside
them or none. Nothing is unpickled. idx is the format of MNIST, which no common library reads.
"""

from __future__ import annotations

import csv
import io
import json
import math
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
from labelfold.tables import frames
from labelfold.tables.choice import Loaded, Request, choose_columns, unnamed
from labelfold.tables.class_labels import read_label_array
from labelfold.tables.delimited import read_delimited
from labelfold.tables.frames import import_pyarrow, listed, shown
from labelfold.tables.source import SVMLIGHT_LINE, Source, naming

__all__ = ["Matrix", "name_row", "read_array", "read_matrix", "read_table"]

Matrix = NDArray[Any] | sp.csr_array
ROWS_AT_ONCE = 4096
JSON_BLOCK = 2**24  # bytes; no row may be longer than two of them
JSON_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text"}
JSON_KINDS |= {list: "a list", dict: "an object"}


def name_row(row: int) -> str:
    """Return what messages call a row of a file without lines."""
    return f"row {row + 1:,}"


def read_table(source: Source, request: Request) -> Loaded:
    """Read a file of any format that holds a table."""
    form = source.form
    if form in ("csv", "tsv"):
        return read_delimited(source, request, delimiter="\t" if form == "tsv" else None)
    if form == "excel":
        return _read_excel(source, request)
    if form == "parquet":
        return _read_parquet(source, request)
    if form not in ("arrow", "jsonl"):
        raise InputError("the file is a matrix, and others are tables: give files of one kind.")
    table = (_read_arrow if form == "arrow" else _read_json_lines)(source)
    while any(import_pyarrow().types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    choice = choose_columns(request, table.column_names)
    return Loaded(table.select(choice.all()), choice, name_row)


def read_matrix(
    source: Source, request: Request, n_features: int | None = None
) -> tuple[Matrix, NDArray[Any] | None]:
    """Read a matrix and the labels that its file holds.

    The request names columns by number; in an NPZ file `labels` may name an array. `n_features` is
    the number of columns of an svmlight file, by default the largest index that occurs.
    """
    if request.id_column is not None:
        raise InputError("a matrix has no column of row names: leave out --id-column.")
    labels, form = None, source.form
    if form == "npz":
        X, labels = _read_npz(source, request)
    elif form == "svmlight":
        X, labels = _read_svmlight(source, n_features)
    else:
        X = read_array(source)
        X = X.reshape(len(X), -1) if form == "idx" and X.ndim > 1 else X
    if X.ndim != 2 or X.shape[0] == 0 or X.dtype.kind not in "biuf":
        raise InputError(
            f"an array of shape {X.shape} and dtype {X.dtype}: give a matrix of real numbers with "
            "one line per row, such as array.reshape(len(array), -1)."
        )
    if form == "npz" and labels is not None:
        request = replace(request, labels=None)
    if request.labels is not None and (form in ("svmlight", "idx") or sp.issparse(X)):
        raise InputError(f"--labels names no column of a {form} file: use --labels-file instead.")
    if request == Request(header=request.header):
        return X, labels
    positions = {unnamed(column): column for column in range(X.shape[1])}
    choice = choose_columns(request, list(positions), has_names=False)
    if choice.label is not None:
        with naming(choice.label):
            labels = read_label_array(np.asarray(X[:, positions[choice.label]]))
    return X[:, [positions[name] for name in choice.features]], labels


def read_array(source: Source) -> NDArray[Any]:
    """Return the array of an NPY or idx file of any shape."""
    if source.form == "idx":
        return _read_idx(source)
    with _library_errors(), source.open() as stream:
        array = np.load(stream, allow_pickle=False)
    return np.asarray(array)


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


def _read_parquet(source: Source, request: Request) -> Loaded:
    """Read a Parquet file one column at a time, which never holds it in memory twice."""
    pa = import_pyarrow()
    import pyarrow.parquet

    with _library_errors():
        file = pyarrow.parquet.ParquetFile(source.for_arrow(), pre_buffer=False)
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    needed, available = sum(group.total_byte_size for group in groups), available_memory()
    if needed > available:
        raise InputError(f"{needed:,} bytes unpacked, but {available:,} are free: take fewer rows.")
    choice = choose_columns(request, schema.names)
    columns = {}
    for name in choice.all():
        if frames.is_vector(schema.field(name).type):
            columns[name] = frames.to_column(_read_vectors(file, name, n_rows))
            continue
        with _library_errors():
            columns[name] = file.read(columns=[name]).column(0).combine_chunks()
    return Loaded(pa.table(columns), choice, name_row)


def _read_vectors(file: Any, name: str, n_rows: int) -> NDArray[Any]:
    """Return a column of vectors as an array, read batch by batch; NaN if a row has none."""
    result, start, length = np.empty((n_rows, 0), dtype=np.float32), 0, -1
    batches = file.iter_batches(ROWS_AT_ONCE, columns=[name])
    while start < n_rows:
        with _library_errors():
            batch = next(batches)
        length = frames.find_vector_length(batch.column(0), name, start, length)
        rows = frames.to_array(batch.column(0))
        if rows.shape[1] > result.shape[1]:
            result = np.full((n_rows, length), np.nan, dtype=rows.dtype)
        if rows.shape[1]:
            result[start : start + len(rows)] = rows
        start += batch.num_rows
    return result


def _read_arrow(source: Source) -> Any:
    """Read an Arrow or Feather file, or an Arrow stream."""
    pa = import_pyarrow()
    import pyarrow.feather

    with _library_errors():
        with source.open() as stream:
            is_stream = stream.read(4) == b"\xff\xff\xff\xff"
        if is_stream:
            with pa.ipc.open_stream(source.for_arrow()) as batches:
                table = batches.read_all()
        else:
            table = pyarrow.feather.read_table(source.for_arrow())
        table.validate(full=True)
    return table


def _read_json_lines(source: Source) -> Any:
    """Read a file with one JSON object per line."""
    pa = import_pyarrow()
    import pyarrow.json

    try:
        return pyarrow.json.read_json(
            source.for_arrow(), read_options=pyarrow.json.ReadOptions(block_size=JSON_BLOCK)
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
        _refuse_json_faults(source)
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"not JSON lines ({reason}): write one object per line.") from error


def _refuse_json_faults(source: Source) -> None:
    """Raise for the first line that is not a JSON object, or has a value of another type."""
    kinds: dict[str, tuple[str, int]] = {}
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line) if line.strip() else {}
                if not isinstance(row, dict):
                    raise ValueError(f"it holds {shown(row)}")
            except ValueError as error:
                raise InputError(
                    f"line {number:,} is not a JSON object ({' '.join(str(error).split())}): "
                    "write one object per line in UTF-8; jq -c '.[]' does so with an array."
                ) from error
            for key, value in row.items():
                kind = JSON_KINDS.get(type(value), "")
                before, first = kinds.setdefault(key, (kind, number)) if kind else ("", 0)
                if kind != before:
                    raise InputError(
                        f"line {number:,}, column {shown(key)}: {shown(value)} is {kind}, and line "
                        f"{first:,} has {before}: use one type for the column."
                    )


def _read_excel(source: Source, request: Request) -> Loaded:
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
    loaded = read_delimited(saved, request, delimiter="\t")
    if len(filled) == 1:
        return loaded
    note = f"Of {len(filled)} sheets the first was read, {shown(filled[0])}."
    return replace(loaded, note=f"{loaded.note} {note}".strip())


def _read_npz(source: Source, request: Request) -> tuple[Matrix, NDArray[Any] | None]:
    """Read arrays X and y, a single two-dimensional array, or a sparse matrix."""
    with _library_errors(), source.open() as stream:
        archive = np.load(stream, allow_pickle=False)
        if {"format", "shape", "data"}.issubset(archive.files):
            stream.seek(0)
            return _load_sparse(stream), None
        arrays = {name: archive[name] for name in archive.files}
    name = "y" if request.labels is None else str(request.labels)
    given = arrays.pop(name, None)
    matrices = ["X"] if "X" in arrays else [key for key, one in arrays.items() if one.ndim == 2]
    if len(matrices) != 1:
        raise InputError(f"arrays {listed(arrays)}: name the matrix of rows X, and the labels y.")
    X = arrays[matrices[0]]
    if given is None:
        return X, None
    with naming(f"array {name}"):
        labels = read_label_array(given)
    if len(labels) != len(X):
        raise InputError(f"{len(X):,} rows and {len(labels):,} labels: give one label per row.")
    return X, labels


def _load_sparse(stream: Any) -> sp.csr_array:
    matrix: Any = sp.load_npz(stream)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    elif matrix.format == "coo" and matrix.nnz and min(matrix.row.min(), matrix.col.min()) < 0:
        raise InputError("a negative index in a sparse matrix: get or make the file again.")
    X = sp.csr_array(matrix)
    X.sum_duplicates()
    return X


def _read_svmlight(source: Source, n_features: int | None) -> tuple[Matrix, NDArray[Any]]:
    """Read an svmlight file; indices count from 1, unless an index 0 occurs."""
    advice = "a line is a label and pairs index:value with rising indices, such as '1 3:0.5 7:2'."
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            if not SVMLIGHT_LINE.fullmatch(line):  # the library's parser trusts its input
                cell = shown(line.decode("utf-8", "replace").strip())
                raise InputError(f"line {number} is not svmlight ({cell}): {advice}")
    try:
        with source.open() as stream:
            X, values = load_svmlight_file(stream, n_features=n_features, zero_based="auto")
    except (ValueError, OverflowError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"not readable as svmlight ({reason}): {advice}") from error
    if X.nnz == 0:
        raise InputError(f"the file has no values: {advice}")
    return sp.csr_array(X), read_label_array(values)


def _read_idx(source: Source) -> NDArray[np.uint8]:
    """Return the array of an idx file of unsigned bytes.

    Two zero bytes, 8 for unsigned bytes, the number of dimensions, a big-endian integer of 4 bytes
    for each size, then the values in C order.
    """
    with source.open() as stream:
        start = stream.read(4)
        sizes = stream.read(4 * start[-1])
        if len(start) < 4 or not sizes or len(sizes) < 4 * start[-1]:
            raise InputError("the file ends within its header: get or make it again.")
        values = np.frombuffer(stream.read(), dtype=np.uint8)
    shape = np.frombuffer(sizes, dtype=">u4").tolist()
    if len(values) != math.prod(shape):
        raise InputError(
            f"{len(values)} values, but the header announces shape {shape}: get or make it again."
        )
    return values.reshape(shape)
