"""Tables of any library -> one ``pyarrow.Table`` of plain columns.

Every column becomes a single chunk of a plain type, and lists of numbers of one length become a
fixed-size list of floats: a column of vectors, in which NaN stands for a missing vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from labelfold.checks import input_errors
from labelfold.exceptions import InputError
from labelfold.graph.point_space import LARGEST_ENTRY

try:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute  # noqa: F401
except ImportError:  # neither is needed for AutoScaler and model files
    pa = pd = None

__all__ = ["as_table", "get_column", "is_vector", "pa", "pd", "to_array"]

LONGEST_SHOWN = 40


def as_table(X: Any) -> Any:
    """Return a table of any kind as a pyarrow Table, with one chunk per column.

    Parameters
    ----------
    X : pandas or polars DataFrame, pyarrow Table or array
        The columns of an array are called "x0", "x1" and so on.

    Returns
    -------
    pyarrow.Table
        Lists of numbers are fixed-size lists of floats, NaN where a list is missing.
    """
    require_pyarrow()
    if sp.issparse(X):
        raise InputError("a sparse matrix has no columns to choose: use AutoScaler, or all of it.")
    if hasattr(X, "to_arrow"):  # polars
        X = X.to_arrow()
    if not isinstance(X, pa.Table | pa.RecordBatch):
        if not hasattr(X, "iloc") or X.ndim != 2:
            with input_errors():
                X = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
            X = pd.DataFrame(X).add_prefix("x")
        columns = [_to_arrow(X.iloc[:, number]) for number in range(X.shape[1])]
        X = pa.table(columns, names=[str(name) for name in X.columns])
    names = X.schema.names
    check_names(names)
    return pa.table([_settle(*pair) for pair in zip(names, X.columns, strict=True)], names=names)


def require_pyarrow() -> None:
    """Raise ImportError, with what to install, if pyarrow is not."""
    if pa is None:
        raise ImportError('Tables need pyarrow: pip install "labelfold[app]"')


def check_names(names: Sequence[str]) -> None:
    """Raise InputError if two columns have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{count} columns are all named {shown(name)}: rename them.")


def get_column(table: Any, name: str) -> Any:
    """Return a column in one chunk; to combine a single chunk would copy it."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def is_vector(kind: Any) -> bool:
    """Whether a column type is lists of numbers."""
    types = pa.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type))


def stack_vectors(name: str, chunks: Iterable[Any], n_rows: int) -> Any:
    """Return a column of vectors in one chunk from chunks, which are read one after the other."""
    rows, start, length = np.empty((n_rows, 0), dtype=np.float32), 0, -1
    for chunk in chunks:
        lengths = np.asarray(pa.compute.fill_null(pa.compute.list_value_length(chunk), -1))
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
    is_list = pa.types.is_fixed_size_list(column.type)
    numbers = (column.flatten() if is_list else column).to_numpy(zero_copy_only=False)
    return np.asarray(numbers).reshape(len(column), column.type.list_size if is_list else 1)


def to_column(rows: NDArray[Any]) -> Any:
    """Return rows of numbers as a column of vectors, which shares the memory of floats."""
    if rows.shape[1] == 0:
        return pa.nulls(len(rows))
    rows = rows.astype(np.result_type(rows.dtype, np.float32), copy=False)
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def refuse_huge(
    values: Any, place: Callable[[int], str] = "row {:,}".format, column: str = ""
) -> None:
    """Raise for the first number that is infinite or whose square overflows."""
    entries = values.data if hasattr(values, "tocsr") else values
    if entries.dtype.kind != "f" or not entries.size:
        return
    limit = min(LARGEST_ENTRY, float(np.finfo(entries.dtype).max))
    # Extremes take no memory, as a mask would; NaN, if all are missing, is not larger.
    low, high = (extreme.reduce(entries, axis=None) for extreme in (np.fmin, np.fmax))
    if max(-low, high) > limit:
        row, number = (int(found[0]) for found in (abs(values) > limit).nonzero())
        value = values[row, number]
        what, remedy = ("huge", "rescale it") if np.isfinite(value) else ("infinite", "correct it")
        raise InputError(
            f"{place(row + 1)}, column {column or number + 1}: {what} value {value:.3g}: {remedy}, "
            "or leave the row out."
        )


def shown(text: object) -> str:
    """Return a cell or a name in quotes, on one line and not too long."""
    whole = str(text)
    return repr(whole if len(whole) <= LONGEST_SHOWN else whole[: LONGEST_SHOWN - 3] + "...")


def listed(items: Iterable[str], most: int = 6) -> str:
    """Join items with commas; those after the first few are counted."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _to_arrow(cells: Any) -> Any:
    """Return a pandas series as Arrow; cells of mixed types become strings."""
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array(cells.where(cells.isna(), cells.map(str)), pa.string(), from_pandas=True)


def _settle(name: str, column: Any) -> Any:
    """Return a column in one chunk and of a plain type."""
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
