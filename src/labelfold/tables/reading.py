"""From people's data files to a :class:`Table`."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelfold.exceptions import InputError
from labelfold.tables.delimited import read_lines
from labelfold.tables.formats import read_array, read_file
from labelfold.tables.frames import as_table, import_pyarrow, listed, shown, to_column
from labelfold.tables.source import DEFAULT_MAX_BYTES, STANDARD_INPUT, Source, naming, open_source
from labelfold.tables.table import ID_NAMES, ColumnName, Request, Table, read_labels, to_cells

__all__ = ["read"]

VECTORS = "vectors"  # the column that a file of vectors becomes


def read(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    labels: ColumnName | None = None,
    labels_file: str | os.PathLike[str] | None = None,
    vectors: str | os.PathLike[str] | None = None,
    features: Sequence[ColumnName] | None = None,
    ignore: Sequence[ColumnName] = (),
    id_column: ColumnName | None = None,
    header: bool | None = None,
    format: str | None = None,
    n_features: int | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Table:
    r"""Read a data file: CSV, TSV, Parquet, Arrow, JSON lines, Excel, NPY, NPZ, svmlight or idx.

    Parameters
    ----------
    path : str, path-like or sequence of them
        The file, packed with gzip or zstd or not; "-" for standard input. Several files, or a
        pattern such as ``part-*.csv``, are one table.
    labels : str or int, default=None
        Column of the labels: its name, or its number from 1 (-1 for the last). In an NPZ file also
        the name of an array; there an array `y` is taken by default. An svmlight file has labels
        of its own. Empty cells, NA, ? and -1 are unlabeled.
    labels_file : str or path-like, default=None
        File of labels, one per row.
    vectors : str or path-like, default=None
        NPY file of vectors, one per row, that belong to the table.
    features : sequence of str or int, default=None
        Columns to use by name, pattern (``pixel*``), number or range ("2-65"), in this order. By
        default all but the label, the row names and the ignored ones.
    ignore : sequence of str or int, default=()
        Columns to leave out, named in the same way.
    id_column : str or int, default=None
        Column of row names. By default a first column without a name, as pandas and R write it, or
        one called "id" whose values are all different.
    header : bool, default=None
        Whether the first line of a text table holds names; found out by default.
    format : str, default=None
        One of the keys of `labelfold.tables.source.FORMATS`. By default the ending of the file name
        decides, and the content if that says nothing.
    n_features : int, default=None
        Number of columns of an svmlight file, which may not name its last ones.
    max_bytes : int, default=8 GiB
        Size above which a file is not unpacked.

    Returns
    -------
    Table
        Features, labels and row names.

    Raises
    ------
    InputError
        If anything is wrong with the file: one line that says where, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import labelfold.tables
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "flowers.csv")
    >>> _ = path.write_text("id,petal,color,kind\n7,1.5,red,iris\n8,,blue,\n")
    >>> table = labelfold.tables.read(path, labels="kind")
    >>> table.features.column_names
    ['petal', 'color']
    >>> table.labels
    array(['iris', None], dtype=object)
    >>> table.ids
    ['7', '8']
    >>> folder.cleanup()
    """
    if labels is not None and labels_file is not None:
        raise InputError("--labels and --labels-file contradict each other: pass one of them.")
    paths = _all_paths(path)
    if [*paths, labels_file, vectors].count(STANDARD_INPUT) > 1:
        raise InputError("only one file can come from standard input: name the other.")
    sources = [open_source(one, max_bytes, format) for one in paths]
    origin = sources[0].origin + (f" and {len(sources) - 1} more" if len(sources) > 1 else "")
    request = Request(labels, features, ignore, id_column, header)
    try:
        table = _read_all(sources, request, n_features)
    except MemoryError as error:
        raise InputError(
            f"{origin}: more than memory holds: take fewer rows, or fewer columns with --features."
        ) from error
    if vectors is not None:
        table = _with_vectors(table, open_source(vectors, max_bytes))
    name = origin if labels is None else f"{origin}: column {shown(labels)}"
    if labels_file is not None:
        source = open_source(labels_file, max_bytes)
        name = source.origin
        with naming(name):
            table = replace(table, labels=_read_labels_file(source, table.n_rows))
    with naming(name):
        if table.labels is not None:
            table = replace(table, labels=read_labels(table.labels))
        if table.labels is not None and len(table.labels) != table.n_rows:
            title = f"{len(table.labels):,} labels for {table.n_rows:,} rows"
            raise InputError(f"{title}: give one label per row.")
    if not table.n_features:
        raise InputError(f"{origin}: no column is left: check --features, --ignore and --labels.")
    return replace(table, origin=origin)


def _all_paths(path: Any) -> list[str]:
    """Return the files that are meant, patterns resolved in the order of names."""
    paths: list[str] = []
    for name in map(os.fspath, [path] if isinstance(path, str | os.PathLike) else path):
        is_pattern = glob.has_magic(name) and not os.path.exists(name)
        matching = sorted(glob.glob(name)) if is_pattern else [name]
        if not matching:
            raise InputError(f"{name}: no file has such a name: check the pattern.")
        paths += matching
    if not paths:
        raise InputError("no file is named: name one, or - for standard input.")
    return paths


def _read_all(sources: list[Source], request: Request, n_features: int | None) -> Table:
    """Read files that have the same columns, in any order, as one table."""
    tables: list[Table] = []
    for source in sources:
        with naming(source.origin):
            table = read_file(source, request, n_features)
            tables.append(table)
            first = tables[0]
            odd = {*(first.feature_names or ())} ^ {*(table.feature_names or ())}
            kinds = {(type(a.features), a.n_features, a.labels is None) for a in (first, table)}
            if odd or len(kinds) > 1:
                what = listed(map(shown, sorted(odd))) or f"{table.n_features:,} of a matrix"
                raise InputError(
                    f"not the columns of {sources[0].origin} ({what}): give files of one kind with "
                    "the same columns, or leave some out with --ignore."
                )
    table = tables[0] if len(tables) == 1 else _join(tables)
    if table.ids is None and request.features is None:
        for name in table.feature_names or ():
            column = table.features.column(name)
            if name.lower() not in ID_NAMES or import_pyarrow().types.is_nested(column.type):
                continue
            if len(column.unique().drop_null()) == len(column):
                others = table.features.drop_columns([name])
                notes = (*table.notes, f"Rows are named by column {shown(name)}.")
                return replace(table, features=others, ids=column.to_pylist(), notes=notes)
    return table


def _join(tables: list[Table]) -> Table:
    """Return the rows of several tables as one; columns are matched by name."""
    pa = import_pyarrow()
    first, parts = tables[0], [table.features for table in tables]
    features: Any
    if sp.issparse(first.features):
        features = sp.csr_array(sp.vstack(parts))
    elif first.feature_names is None:
        features = np.concatenate(parts)
    else:
        names = first.feature_names
        columns = {name: _stack(name, [part[name] for part in parts]) for name in names}
        features = as_table(pa.table(columns))
    labels, ids = first.labels, first.ids
    if labels is not None:
        labels = _stack("", [pa.chunked_array([table.labels]) for table in tables]).combine_chunks()
    if ids is not None:
        ids = [one for table in tables for one in table.ids or ()]
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    return replace(first, features=features, labels=labels, ids=ids, notes=notes)


def _stack(name: str, columns: list[Any]) -> Any:
    """Return columns of one name as one; numbers here and text there are text."""
    pa = import_pyarrow()
    try:
        parts = [pa.table({name: column}) for column in columns]
        return pa.concat_tables(parts, promote_options="permissive").column(0)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        if any(pa.types.is_nested(column.type) for column in columns):
            raise InputError(f"files differ ({error}): give all files vectors.") from error
    return pa.chunked_array([one for column in columns for one in column.cast("string").chunks])


def _with_vectors(table: Table, source: Source) -> Table:
    """Return the table with one column more, the vectors of a file."""
    with naming(source.origin):
        vectors = read_file(source, Request()).features
        if not isinstance(vectors, np.ndarray) or len(vectors) != table.n_rows:
            raise InputError(
                f"{vectors.shape[0]:,} rows: save a matrix with {table.n_rows:,} rows, as many as "
                "the table, with numpy.save."
            )
    if table.feature_names is None or VECTORS in table.feature_names:
        raise InputError(f"--vectors needs a table without a column {VECTORS!r}: leave one out.")
    return replace(table, features=table.features.append_column(VECTORS, to_column(vectors)))


def _read_labels_file(source: Source, n_rows: int) -> Any:
    """Return the cells of a file of labels."""
    if source.form in ("npy", "idx"):
        return to_cells(read_array(source))
    if source.form in ("csv", "tsv"):
        return import_pyarrow().array(read_lines(source, n_rows))
    table = read_file(source, Request(labels=1))
    if table.n_features:
        raise InputError(f"{table.n_features + 1} columns: a file of labels has one.")
    return table.labels
