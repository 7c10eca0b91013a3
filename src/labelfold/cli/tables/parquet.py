"""Parquet, through pyarrow: columns of numbers, a column of labels, a column of row names."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.cli.tables.arrays import refuse_no_rows, row_title
from labelfold.cli.tables.columns import Columns, Request, choose_columns, refuse_duplicates
from labelfold.cli.tables.errors import TableError, as_option, damage_named, shown
from labelfold.cli.tables.labels import labels_of_values
from labelfold.cli.tables.memory import in_words, refuse_beyond_memory
from labelfold.cli.tables.pyarrow_import import import_pyarrow
from labelfold.cli.tables.source import Source
from labelfold.cli.tables.table import Table, refuse_bad_values

ROWS_AT_ONCE = 65_536
# The name that pandas gives an index without a name.
PANDAS_INDEX = "__index_level_0__"


def read_parquet(source: Source, request: Request) -> Table:
    """Read a Parquet file."""
    pyarrow = import_pyarrow()
    with damage_named(source.origin), source.open_seekable() as stream:
        return _read(pyarrow, stream, source, request)


def read_parquet_column(source: Source) -> list[Any]:
    """Return the values of a Parquet file of one column."""
    pyarrow = import_pyarrow()
    with damage_named(source.origin), source.open_seekable() as stream:
        file = pyarrow.parquet.ParquetFile(stream)
        _refuse_beyond(file.metadata, source)
        if len(file.schema_arrow.names) != 1:
            raise TableError(
                f"{source.origin} has {len(file.schema_arrow.names)} columns: a file of labels has "
                "one."
            )
        return file.read().column(0).to_pylist()


def _read(pyarrow: Any, stream: IO[bytes], source: Source, request: Request) -> Table:
    origin = source.origin
    file = pyarrow.parquet.ParquetFile(stream)
    schema = file.schema_arrow
    _refuse_beyond(file.metadata, source)
    if not schema.names:
        raise TableError(f"{origin} has no columns: give a row of numbers a point.")
    refuse_duplicates(schema.names, origin)
    request = _with_index(request, schema.names)
    columns = choose_columns(request, list(schema.names), len(schema.names), origin)
    n_rows = file.metadata.num_rows
    refuse_no_rows(n_rows, origin)
    _refuse_types(pyarrow, schema, columns, request, origin)
    refuse_beyond_memory(n_rows, len(columns.features), origin)
    return _read_rows(pyarrow, file, columns, n_rows, origin)


def _read_rows(pyarrow: Any, file: Any, columns: Columns, n_rows: int, origin: str) -> Table:
    names = file.schema_arrow.names
    X = np.empty((n_rows, len(columns.features)))
    others = {c: list[Any]() for c in (columns.label, columns.row_id) if c is not None}
    wanted = [names[column] for column in [*columns.features, *others]]
    start = 0
    for batch in file.iter_batches(ROWS_AT_ONCE, columns=wanted):
        end = start + batch.num_rows
        position = {name: at for at, name in enumerate(batch.schema.names)}
        for feature, column in enumerate(columns.features):
            X[start:end, feature] = _numbers(pyarrow, batch.column(position[names[column]]))
        for column, values in others.items():
            values += batch.column(position[names[column]]).to_pylist()
        start = end
    if start != n_rows:
        raise TableError(f"{origin} has {start:,} rows and announces {n_rows:,}: make it again.")
    refuse_bad_values(X, columns, origin, row_title)
    labels = None
    if columns.label is not None:
        title = f"{origin}: {columns.title(columns.label)}"
        labels = labels_of_values(others[columns.label], title, row_title)
    row_ids = None if columns.row_id is None else others[columns.row_id]
    return Table(X, columns.feature_names, labels, row_ids, origin)


def _with_index(request: Request, names: list[str]) -> Request:
    """Take the index that pandas stored for row names, unless it is asked for."""
    if request.id_column is not None or PANDAS_INDEX not in names:
        return request
    if PANDAS_INDEX in (request.labels, *(request.features or ())):
        return request
    return replace(request, id_column=PANDAS_INDEX)


def _refuse_beyond(metadata: Any, source: Source) -> None:
    unpacked = sum(
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    )
    if unpacked > source.max_bytes:
        raise TableError(
            f"{source.origin} unpacks to {in_words(unpacked)}, beyond the limit of "
            f"{in_words(source.max_bytes)}: raise it with --max-bytes if you trust the file."
        )


def _refuse_types(
    pyarrow: Any, schema: Any, columns: Columns, request: Request, origin: str
) -> None:
    types = pyarrow.types
    for column in columns.features:
        kind = schema.types[column]
        if _is_number(types, kind):
            continue
        name = columns.value(column)
        ignored = f"leave it out with {as_option('--ignore', [name])}"
        if types.is_temporal(kind):
            advice = "turn dates and times into numbers, such as days since a first day"
        elif types.is_nested(kind):
            advice = "spread it over columns of numbers"
        else:
            if request.labels is None:
                ignored += f", pass {as_option('--labels', [name])} if it holds the labels"
            advice = "encode it as numbers, such as a column of 0 and 1 for each value"
        raise TableError(
            f"{origin}: {columns.title(column)} holds {shown(kind)[1:-1]}, not numbers: {ignored}, "
            f"or {advice}."
        )
    for part in (columns.label, columns.row_id):
        if part is not None and types.is_nested(schema.types[part]):
            raise TableError(
                f"{origin}: {columns.title(part)} holds {shown(schema.types[part])[1:-1]}: name a "
                "column of single values."
            )


def _is_number(types: Any, kind: Any) -> bool:
    return (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def _numbers(pyarrow: Any, column: Any) -> NDArray[np.float64]:
    """Return a column as floats, with NaN where there is no value."""
    kind = column.type
    if pyarrow.types.is_boolean(kind):
        column = column.cast(pyarrow.uint8())
    elif pyarrow.types.is_decimal(kind) or pyarrow.types.is_null(kind):
        column = column.cast(pyarrow.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
