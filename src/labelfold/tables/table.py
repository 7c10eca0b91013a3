"""From people's data files to a :class:`Table`: features, labels and row names."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.point_space import LARGEST_ENTRY
from labelfold.tables import frames
from labelfold.tables.columns import ID_NAMES, ColumnName, Loaded, Request, read_labels
from labelfold.tables.delimited import read_lines
from labelfold.tables.formats import read_array, read_file
from labelfold.tables.frames import get_column, import_pyarrow, listed, shown
from labelfold.tables.source import DEFAULT_MAX_BYTES, STANDARD_INPUT, Source, naming, open_source

__all__ = ["Table", "read"]

VECTORS = "vectors"  # the column that a file of vectors becomes


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds, as :func:`read` returns it.

    Parameters
    ----------
    features : pyarrow.Table, ndarray or csr_array
        The columns that describe the rows; a matrix if the file is one. Cells may be missing:
        :func:`labelfold.tables.make_preparation` makes numbers of them.
    labels : ndarray of objects of shape (n_rows,) or None
        Labels as the person wrote them (int, float, bool or str), None for an unlabeled row. None
        if the file has no labels at all.
    ids : list or None
        Names of the rows; None if the file has none.
    origin : str
        What messages call the file.
    has_names : bool
        Whether the columns have names in the file.
    notes : tuple of str
        What reading decided that a person should know, in sentences.
    """

    features: Any
    labels: NDArray[Any] | None
    ids: list[Any] | None
    origin: str
    has_names: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns that describe the rows."""
        return int(self.features.shape[1])

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns; None for a matrix."""
        return getattr(self.features, "column_names", None)

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        """True where a row has a label."""
        labels = [None] * self.n_rows if self.labels is None else self.labels
        return np.array([label is not None for label in labels], dtype=bool)

    @property
    def n_labeled(self) -> int:
        """Number of rows that have a label."""
        return int(np.count_nonzero(self.is_labeled))

    @property
    def class_counts(self) -> dict[Any, int]:
        """Number of rows of each class, classes in order."""
        if self.labels is None:
            return {}
        classes, counts = np.unique(self.labels[self.is_labeled], return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))


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
    request = Request(labels, features, ignore, id_column, header)
    sources = [open_source(one, max_bytes, format) for one in paths]
    origin = sources[0].origin + (f" and {len(sources) - 1} more" if len(sources) > 1 else "")
    try:
        parts = _read_parts(sources, request, n_features)
        with naming(origin):
            table = _join(parts, request, origin)
    except MemoryError as error:
        raise InputError(
            f"{origin}: more than memory holds: take fewer rows, or fewer columns with --features."
        ) from error
    if vectors is not None:
        table = _with_vectors(table, open_source(vectors, max_bytes))
    if labels_file is not None:
        source = open_source(labels_file, max_bytes)
        with naming(source.origin):
            table = replace(table, labels=_read_labels_file(source, table.n_rows))
    if table.labels is not None and len(table.labels) != table.n_rows:
        raise InputError(
            f"{labels_file or origin}: {len(table.labels):,} labels for {table.n_rows:,} rows: "
            "give one label per row."
        )
    if not table.n_features:
        raise InputError(f"{origin}: no column is left: check --features, --ignore and --labels.")
    return table


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


def _read_parts(sources: list[Source], request: Request, n_features: int | None) -> list[Loaded]:
    """Read files that have the same columns, in any order."""
    parts: list[Loaded] = []
    for source in sources:
        with naming(source.origin):
            part = read_file(source, request, n_features)
            if part.choice is not None:
                part = replace(part, table=frames.as_table(part.table))
            if not part.table.shape[0]:
                raise InputError("the table has no rows: expected at least one.")
            _refuse_huge(part)
            parts.append(part)
            odd = sorted({*parts[0].names} ^ {*part.names})
            one_kind = {(type(one.table), one.labels is None) for one in (parts[0], part)}
            if odd or len(one_kind) > 1:
                raise InputError(
                    f"not the columns of {sources[0].origin} ({listed(map(shown, odd))}): give "
                    "files of one kind with the same columns, or leave some out with --ignore."
                )
    return parts


def _join(parts: list[Loaded], request: Request, origin: str) -> Table:
    """Return the rows of all files as one table."""
    first, tables = parts[0], [part.table for part in parts]
    labels = None if first.labels is None else np.concatenate([part.labels for part in parts])
    if first.choice is None:
        X = tables[0]
        if len(tables) > 1:
            X = sp.csr_array(sp.vstack(tables)) if sp.issparse(X) else np.concatenate(tables)
        return Table(X, labels, None, origin)
    table = tables[0] if len(tables) == 1 else _concatenate(tables)
    notes = list(dict.fromkeys(part.note for part in parts if part.note))
    features, row_id = first.choice.features, first.choice.row_id
    if row_id is None and request.features is None:
        row_id = next((name for name in features if _names_rows(table, name)), None)
        notes += [] if row_id is None else [f"Rows are named by column {shown(row_id)}."]
    if first.choice.label is not None:
        with naming(f"column {shown(first.choice.label)}"):
            labels = read_labels(get_column(table, first.choice.label))
    ids = None if row_id is None else table.column(row_id).to_pylist()
    table = table.select([name for name in features if name != row_id])
    return Table(table, labels, ids, origin, first.has_names, tuple(notes))


def _concatenate(tables: list[Any]) -> Any:
    """Return the rows of several tables as one; columns are matched by name."""
    pa = import_pyarrow()
    columns = {}
    for name in tables[0].column_names:
        parts = [table.select([name]) for table in tables]
        kinds = {pa.types.is_nested(part.schema.types[0]) for part in parts}
        if len(kinds) > 1:
            raise InputError(f"column {shown(name)} holds lists in some files only: correct it.")
        try:
            joined = pa.concat_tables(parts, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers here and text there: all is text
            text = pa.schema([(name, pa.string())])
            joined = pa.concat_tables([part.cast(text) for part in parts])
        columns[name] = joined.column(0)
    return frames.as_table(pa.table(columns))


def _names_rows(table: Any, name: str) -> bool:
    """Whether a column is called an id, and its values are all different."""
    column = table.column(name)
    if name.strip().lower() not in ID_NAMES or import_pyarrow().types.is_nested(column.type):
        return False
    return not column.null_count and len(column.unique()) == len(column)


def _refuse_huge(part: Loaded) -> None:
    """Raise for the first number that is infinite or whose square overflows."""
    for name in [None] if part.choice is None else part.choice.features:
        values: Any = part.table if name is None else get_column(part.table, name)
        if name is not None:
            is_float = import_pyarrow().types.is_floating(values.type)
            values = frames.to_array(values) if is_float or frames.is_vector(values.type) else None
        entries = values.data if hasattr(values, "tocsr") else values
        if entries is None or entries.dtype.kind != "f" or not entries.size:
            continue
        limit = min(LARGEST_ENTRY, float(np.finfo(entries.dtype).max))
        # Extremes take no memory, as a mask would; NaN, if all are missing, is not larger.
        low, high = (reduce(entries, axis=None) for reduce in (np.fmin.reduce, np.fmax.reduce))
        if not max(-low, high) > limit:
            continue
        row, column = (int(found[0]) for found in (abs(values) > limit).nonzero())
        value, title = values[row, column], column + 1 if name is None else shown(name)
        is_huge = np.isfinite(value)
        what, remedy = ("huge", "rescale the column") if is_huge else ("infinite", "correct it")
        raise InputError(
            f"{part.place(row)}, column {title}: {what} value {value:.3g}: {remedy}, or leave the "
            "row out."
        )


def _with_vectors(table: Table, source: Source) -> Table:
    """Return the table with one column more, the vectors of a file."""
    with naming(source.origin):
        part = read_file(source, Request())
        if not isinstance(part.table, np.ndarray) or len(part.table) != table.n_rows:
            raise InputError(
                f"{part.table.shape[0]:,} rows: save a matrix with {table.n_rows:,} rows, as many "
                "as the table, with numpy.save."
            )
        _refuse_huge(part)
    if table.feature_names is None or VECTORS in table.feature_names:
        raise InputError(f"--vectors needs a table without a column {VECTORS!r}: leave one out.")
    column = frames.to_column(part.table)
    return replace(table, features=table.features.append_column(VECTORS, column))


def _read_labels_file(source: Source, n_rows: int) -> NDArray[Any]:
    """Read one label per row from a file of labels."""
    if source.form in ("npy", "idx"):
        return read_labels(read_array(source))
    if source.form in ("csv", "tsv"):
        return read_labels(np.array(read_lines(source, n_rows)))
    table = read_file(source, Request()).table
    if table.shape[1] != 1:
        raise InputError(f"{table.shape[1]} columns: a file of labels has one.")
    return read_labels(get_column(table, table.column_names[0]))
