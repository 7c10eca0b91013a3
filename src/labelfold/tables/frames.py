"""Tables of any library -> one ``pyarrow.Table`` of plain columns.

Every column becomes a single chunk of a plain type, and lists of numbers of one length become a
fixed-size list of floats: a column of vectors, in which NaN stands for a missing vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from labelfold.checks import input_errors
from labelfold.exceptions import InputError

__all__ = ["as_table", "get_column", "is_vector", "select", "stack_vectors", "to_array"]

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
        raise InputError("a sparse matrix has no columns to choose: use AutoScaler, or all of it.")
    pa = import_pyarrow()
    columns: Iterable[Any]
    if hasattr(X, "to_arrow"):  # polars
        X = X.to_arrow()
    if isinstance(X, pa.Table | pa.RecordBatch):
        names, columns = X.schema.names, X.columns
    elif hasattr(X, "iloc"):  # pandas
        names = [str(name) for name in X.columns]
        columns = (_to_arrow(X.iloc[:, number]) for number in range(X.shape[1]))
    else:
        with input_errors():
            matrix = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
        names = [f"x{number}" for number in range(matrix.shape[1])]
        columns = (_to_arrow(column) for column in matrix.T)
    repeated = [shown(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"several columns are named {listed(repeated)}: give each its own name.")
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
    """Return a column in one chunk; to combine a single chunk would copy it."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def is_vector(kind: Any) -> bool:
    """Whether a column type is lists of numbers."""
    types = import_pyarrow().types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(
        is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type))
    )


def stack_vectors(name: str, chunks: Iterable[Any], n_rows: int) -> Any:
    """Return a column of vectors in one chunk from chunks, which are read one after the other."""
    import pyarrow.compute as pc

    rows, start, length = np.empty((n_rows, 0), dtype=np.float32), 0, -1
    for chunk in chunks:
        lengths = np.asarray(pc.fill_null(pc.list_value_length(chunk), -1))
        is_given = lengths >= 0
        given = chunk.drop_null() if chunk.null_count else chunk
        numbers = given.flatten().to_numpy(zero_copy_only=False)
        if length < 0 and is_given.any():
            length, dtype = int(lengths[is_given][0]), np.result_type(numbers.dtype, np.float32)
            rows = np.full((n_rows, length), np.nan, dtype=dtype)
        for row in np.flatnonzero(is_given & (lengths != length))[:1].tolist():
            raise InputError(
                f"row {start + row + 1:,}, column {shown(name)}: a vector of {lengths[row]} "
                f"numbers after vectors of {length}: give all vectors the same length."
            )
        where = is_given if chunk.null_count else slice(None)
        rows[start : start + len(chunk)][where] = numbers.reshape(len(given), rows.shape[1])
        start += len(chunk)
    return to_column(rows)


def to_array(column: Any) -> NDArray[Any]:
    """Return a column of vectors, or of numbers, as rows of an array that shares its memory."""
    is_list = import_pyarrow().types.is_fixed_size_list(column.type)
    numbers = (column.flatten() if is_list else column).to_numpy(zero_copy_only=False)
    return np.asarray(numbers).reshape(len(column), column.type.list_size if is_list else 1)


def to_column(rows: NDArray[Any]) -> Any:
    """Return rows of numbers as a column of vectors, which shares the memory of floats."""
    pa = import_pyarrow()
    if rows.shape[1] == 0:
        return pa.nulls(len(rows))
    rows = rows.astype(np.result_type(rows.dtype, np.float32), copy=False)
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


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
        raise ImportError('Tables need pyarrow: pip install "labelfold[app]"') from error
    return pyarrow


def _to_arrow(cells: Any) -> Any:
    """Return a pandas series or an array as Arrow; cells of mixed types become strings."""
    pa = import_pyarrow()
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        import pandas as pd

        texts = [None if no else str(one) for one, no in zip(cells, pd.isna(cells), strict=True)]
        return pa.array(texts, type=pa.string())


def _settle(name: str, column: Any) -> Any:
    """Return a column in one chunk and of a plain type."""
    pa = import_pyarrow()
    column = get_column(pa.table({name: column}), name)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_float16(column.type):  # which pyarrow itself can hardly compute with
        return pa.array(column.to_numpy(zero_copy_only=False).astype(np.float32), from_pandas=True)
    is_plain = pa.types.is_fixed_size_list(column.type) and not column.null_count
    if is_vector(column.type) and not (
        is_plain and column.type.value_type in (pa.float32(), pa.float64())
    ):
        return stack_vectors(name, [column], len(column))
    return column
