"""Tables of results to CSV, TSV, Parquet or NPZ.

A column is a sequence of values, or a matrix, whose columns are then numbered from 1: "x" becomes
"x1", "x2" and so on, except in NPZ. None and NaN are empty cells. Numbers in text have as many
digits as it takes to read the same number back.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.tables.source import format_of_name

OUTPUT_FORMATS = ("csv", "tsv", "parquet", "npz")

Column = Sequence[Any] | NDArray[Any]


def output_format(path: str | os.PathLike[str]) -> str:
    """Return the format of an output file by its ending, or raise InputError."""
    name = PurePath(path).name
    form = format_of_name(name)
    if form not in OUTPUT_FORMATS or name.lower().endswith(".zst"):
        endings = ", ".join("." + known for known in OUTPUT_FORMATS)
        raise InputError(f"{name} must end with one of {endings}, optionally followed by .gz.")
    return form


def write_table(
    stream: IO[bytes], columns: Mapping[str, Column], *, name: str | os.PathLike[str] = "table.csv"
) -> None:
    """Write columns to a binary stream, in the format that the ending of `name` says.

    Examples
    --------
    >>> import io
    >>> from labelfold.tables.writing import write_table
    >>> stream = io.BytesIO()
    >>> write_table(stream, {"x": np.array([[0.1, 2.0]]), "label": ["a"]}, name="map.csv")
    >>> print(stream.getvalue().decode())
    x1,x2,label
    0.1,2.0,a
    """
    form = output_format(name)
    if str(name).lower().endswith(".gz"):
        # Without the time: the same table gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            _write(packed, columns, form)
    else:
        _write(stream, columns, form)


def _write(stream: Any, columns: Mapping[str, Column], form: str) -> None:
    if form == "npz":
        archive = io.BytesIO()  # the writer of NPZ seeks, which not every stream can
        plain: dict[str, Any] = {title: _without_objects(one) for title, one in columns.items()}
        np.savez_compressed(archive, **plain)
        stream.write(archive.getbuffer())
        return
    import pandas as pd

    # Columns of objects keep an integer beside a missing value an integer.
    frame = pd.DataFrame(
        {
            title: column
            if isinstance(column, np.ndarray) and column.dtype.kind != "O"
            else pd.Series(list(column), dtype=object)
            for title, column in _plain_columns(columns).items()
        }
    )
    if form == "parquet":
        frame.to_parquet(stream, index=False)
    else:
        frame.to_csv(stream, sep="," if form == "csv" else "\t", index=False, lineterminator="\n")


def _plain_columns(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Return columns of one dimension, those of a matrix numbered from 1."""
    plain: dict[str, Column] = {}
    for title, column in columns.items():
        if isinstance(column, np.ndarray) and column.ndim == 2:
            plain |= {f"{title}{i + 1}": column[:, i] for i in range(column.shape[1])}
        else:
            plain[title] = column
    return plain


def _without_objects(column: Column) -> NDArray[Any]:
    """Return an array that needs no pickle: text with "" for None, or numbers with -1 or NaN."""
    array = np.asarray(column)
    if array.dtype.kind != "O":
        return array
    values = array.tolist()
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present):
        return np.array(["" if value is None else str(value) for value in values])
    if len(present) == len(values):
        return np.array(values)
    # With -1 for unlabeled, labels that are all 1 would read as two classes, -1 and 1.
    if all(isinstance(v, int) and not isinstance(v, bool) for v in present) and set(present) != {1}:
        return np.array([-1 if value is None else value for value in values], dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
