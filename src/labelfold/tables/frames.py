"""Tables of any library -> one ``pyarrow.Table`` of plain columns.

pandas, polars, pyarrow and arrays each hold cells, missing cells and lists in their own way. Here
every column becomes a single chunk of a plain type, and lists of numbers of one length become a
fixed-size list of floats: a column of vectors, in which NaN stands for a missing vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from labelfold.checks import input_errors
from labelfold.exceptions import InputError

__all__ = ["as_table", "get_column", "is_vector", "select", "to_array", "to_column"]

INSTALL = 'pip install "labelfold[app]"'
LONGEST_SHOWN = 40


def as_table(X: Any) -> Any:
    """Return a table of any kind as a pyarrow Table.

    Parameters
    ----------
    X : pandas or polars DataFrame, pyarrow Table or array
        The columns of an array are called "x0", "x1" and so on.

    Returns
    -------
    pyarrow.Table
        With one chunk per column. Lists of numbers are fixed-size lists of floats, NaN where a
        list is missing.

    Raises
    ------
    InputError
        If two columns have the same name, vectors have different lengths, or X is not a table.
    ImportError
        If pyarrow is not installed.
    """
    if sp.issparse(X):
        raise InputError("X is a sparse matrix, not a table: scale it with AutoScaler.")
    pa = import_pyarrow()
    library = type(X).__module__.partition(".")[0]
    columns: Iterable[Any]
    if library == "pandas" and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        series = (X.iloc[:, number] for number in range(X.shape[1]))
        columns = (
            _from_objects(one.to_numpy()) if one.dtype == object else pa.Array.from_pandas(one)
            for one in series
        )
    elif library == "polars" and hasattr(X, "columns"):
        names, columns = list(X.columns), (one.to_arrow() for one in X.get_columns())
    elif isinstance(X, pa.Table | pa.RecordBatch):
        names, columns = X.schema.names, X.columns
    else:
        with input_errors():
            matrix = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
        names = [f"x{number}" for number in range(matrix.shape[1])]
        columns = (_from_objects(column) for column in matrix.T)
    repeated = [shown(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"The table has several columns named {listed(repeated)}: give each its own name."
        )
    return pa.table([_settle(*pair) for pair in zip(names, columns, strict=True)], names=names)


def select(table: Any, names: Sequence[str]) -> Any:
    """Return the named columns of a table in that order; the error names all that are missing."""
    missing = [shown(name) for name in names if name not in table.column_names]
    if missing:
        raise InputError(
            f"The table lacks column{'s' * (len(missing) > 1)} {listed(missing)}; it has "
            f"{listed(map(shown, table.column_names))}: add or rename what is missing."
        )
    return table.select(list(names))


def get_column(table: Any, name: str) -> Any:
    """Return a column in one chunk, without a copy if it has one."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def is_vector(kind: Any) -> bool:
    """Whether a column type is lists of numbers."""
    types = import_pyarrow().types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(
        is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type))
    )


def find_vector_length(column: Any, name: str, first_row: int = 0, length: int = -1) -> int:
    """Return the length of all vectors of a column, -1 if there is none.

    `first_row` and `length` are the row at which the column begins and the length before it. A
    vector of another length is an error that names its row.
    """
    import pyarrow.compute as pc

    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), -1))
    present = lengths[lengths >= 0]
    length = int(present[0]) if length < 0 and len(present) else length
    for row in np.flatnonzero((lengths >= 0) & (lengths != length))[:1].tolist():
        raise InputError(
            f"row {first_row + row + 1:,}, column {shown(name)}: a vector of {lengths[row]} "
            f"numbers after vectors of {length}: give all vectors the same length."
        )
    return length


def to_array(column: Any) -> NDArray[Any]:
    """Return vectors of one length as rows of an array, NaN where one is missing."""
    numbers = (column.drop_null() if column.null_count else column).flatten()
    n_present = len(column) - column.null_count
    present = numbers.to_numpy(zero_copy_only=False).reshape(n_present, -1 if n_present else 0)
    present = present.astype(np.result_type(present.dtype, np.float32), copy=False)
    if not column.null_count:
        return np.asarray(present)
    result = np.full((len(column), present.shape[1]), np.nan, dtype=present.dtype)
    result[~np.asarray(column.is_null())] = present
    return result


def to_column(vectors: NDArray[Any]) -> Any:
    """Return rows of an array as a column of vectors, which shares the memory of the array."""
    pa = import_pyarrow()
    if vectors.shape[1] == 0:
        return pa.nulls(len(vectors))
    numbers = vectors.astype(np.result_type(vectors.dtype, np.float32), copy=False)
    return pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), vectors.shape[1])


def shown(text: object) -> str:
    """Return a cell or a name in quotes, on one line and not too long."""
    whole = str(text)
    return repr(whole if len(whole) <= LONGEST_SHOWN else whole[: LONGEST_SHOWN - 3] + "...")


def listed(items: Iterable[str], most: int = 6) -> str:
    """Join items with commas; those after the first few are counted."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def import_pyarrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"Tables need pyarrow: {INSTALL}") from error
    return pyarrow


def _from_objects(column: Any) -> Any:
    """Return an array as Arrow: NaN is missing, and cells of mixed types become strings."""
    pa = import_pyarrow()
    if column.dtype != object:
        return pa.array(column, from_pandas=True)
    import pandas as pd

    cells = [
        None if no else cell.tolist() if isinstance(cell, np.ndarray) else cell
        for cell, no in zip(column, pd.isna(column), strict=True)
    ]
    # Among numbers, pyarrow takes True for 1 or raises, depending on the order of the cells.
    booleans = {isinstance(cell, bool | np.bool_) for cell in cells if cell is not None}
    with suppress(pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        if len(booleans) < 2:
            return pa.array(cells)
    return pa.array([None if cell is None else str(cell) for cell in cells], type=pa.string())


def _settle(name: str, column: Any) -> Any:
    """Return a column in one chunk and of a plain type."""
    pa = import_pyarrow()
    if isinstance(column, pa.ChunkedArray):  # to combine a single chunk would copy it
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_float16(column.type):  # which pyarrow itself can hardly compute with
        numbers = column.to_numpy(zero_copy_only=False).astype(np.float32)
        return pa.array(numbers, from_pandas=True)
    if is_vector(column.type):
        find_vector_length(column, name)
        return to_column(to_array(column))
    return column
