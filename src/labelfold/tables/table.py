"""From people's data files to a :class:`Table`: features, labels and row names."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.graph.point_space import LARGEST_ENTRY
from labelfold.tables import frames
from labelfold.tables.choice import ID_NAMES, ColumnName, Loaded, Request
from labelfold.tables.class_labels import read_label_array, read_label_texts, read_label_values
from labelfold.tables.delimited import read_cells
from labelfold.tables.formats import Matrix, name_row, read_array, read_matrix, read_table
from labelfold.tables.frames import get_column, import_pyarrow, listed, shown
from labelfold.tables.source import DEFAULT_MAX_BYTES, STANDARD_INPUT, Source, naming, open_source

__all__ = ["Table", "read"]

MATRICES = ("npy", "npz", "svmlight", "idx")
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
    beside = [os.fspath(one) for one in (*paths, labels_file, vectors) if one is not None]
    if beside.count(STANDARD_INPUT) > 1:
        raise InputError("only one file can come from standard input: name the other.")
    request = Request(labels, features, ignore, id_column, header)
    sources = [open_source(one, max_bytes, format) for one in paths]
    origin = sources[0].origin + (f" and {len(sources) - 1} more" if len(sources) > 1 else "")
    try:
        if all(source.form in MATRICES for source in sources):
            table = _read_matrices(sources, request, n_features, origin)
        else:
            table = _read_tables(sources, request, origin)
    except MemoryError as error:
        raise InputError(
            f"{origin}: more than memory holds: take fewer rows, or fewer columns with --features."
        ) from error
    if vectors is not None:
        table = _with_vectors(table, open_source(vectors, max_bytes))
    if labels_file is not None:
        given = _read_labels(open_source(labels_file, max_bytes), table.n_rows)
        table = replace(table, labels=given)
    if not table.n_features:
        raise InputError(f"{origin}: no column is left: check --features, --ignore and --labels.")
    return table


def _all_paths(path: Any) -> list[Any]:
    """Return the files that are meant, patterns resolved in the order of names."""
    paths: list[Any] = []
    for one in [path] if isinstance(path, str | os.PathLike) else path:
        text = os.fspath(one)
        is_pattern = any(sign in text for sign in "*?[") and not os.path.exists(text)
        matching = sorted(glob.glob(text)) if is_pattern else [one]
        if not matching:
            raise InputError(f"{text}: no file has such a name: check the pattern.")
        paths += matching
    if not paths:
        raise InputError("no file is named: name one, or - for standard input.")
    return paths


def _read_tables(sources: list[Source], request: Request, origin: str) -> Table:
    parts = []
    for source in sources:
        with naming(source.origin):
            part = read_table(source, request)
            parts.append(replace(part, table=frames.as_table(part.table)))
            if not part.table.num_rows:
                raise InputError("the table has no rows: expected at least one.")
            names = [set(one.table.column_names) for one in (parts[0], parts[-1])]
            if odd := sorted(names[0] ^ names[1]):
                raise InputError(
                    f"not the columns of {sources[0].origin} ({listed(map(shown, odd))}): give "
                    "files with the same columns, or leave some out with --ignore."
                )
    origins = [source.origin for source in sources]
    loaded = parts[0] if len(parts) == 1 else _join(parts, origins)
    with naming(origin):
        return _to_table(loaded, request, origin)


def _join(parts: list[Loaded], origins: list[str]) -> Loaded:
    """Return the rows of several files as those of one; columns are matched by name."""
    pa = import_pyarrow()
    tables = [part.table.select(parts[0].table.column_names) for part in parts]
    columns = {}
    for name in tables[0].column_names:
        column = [table.select([name]) for table in tables]
        try:
            joined = pa.concat_tables(column, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers here and text there: all is text
            if any(pa.types.is_nested(one.schema.types[0]) for one in column):
                title = f"{', '.join(origins)}: column {shown(name)}"
                raise InputError(f"{title} holds lists in some files only: correct it.") from None
            text = pa.schema([(name, pa.string())])
            joined = pa.concat_tables([one.cast(text) for one in column])
        columns[name] = joined.column(0)
    ends = np.cumsum([table.num_rows for table in tables])

    def place(row: int) -> str:
        number = int(np.searchsorted(ends, row, side="right"))
        before = 0 if number == 0 else int(ends[number - 1])
        return f"{origins[number]}, {parts[number].place(row - before)}"

    is_text = any(part.is_text for part in parts)
    note = " ".join(dict.fromkeys(part.note for part in parts if part.note))
    return replace(parts[0], table=pa.table(columns), place=place, is_text=is_text, note=note)


def _to_table(loaded: Loaded, request: Request, origin: str) -> Table:
    """Make labels, row names and features of the columns of a file."""
    choice, table = loaded.choice, frames.as_table(loaded.table)
    notes = [loaded.note] if loaded.note else []
    labels = ids = None
    if choice.label is not None:
        with naming(f"column {shown(choice.label)}"):
            cells = _single_values(table, choice.label)
            labels = (read_label_texts if loaded.is_text else read_label_values)(cells)
    features, row_id = list(choice.features), choice.row_id
    if row_id is None and request.features is None:
        row_id = next((name for name in features if _names_rows(table, name)), None)
        if row_id is not None:
            features.remove(row_id)
            notes.append(f"Rows are named by column {shown(row_id)}.")
    if row_id is not None:
        with naming(f"column {shown(row_id)}"):
            ids = _single_values(table, row_id)
    table = table.select(features)
    for name in features:
        column = get_column(table, name)
        with naming(f"column {shown(name)}"):
            if frames.is_vector(column.type):
                _refuse_huge(frames.to_array(column), loaded.place)
            elif import_pyarrow().types.is_floating(column.type):
                _refuse_huge(np.asarray(column), loaded.place)
    return Table(table, labels, ids, origin, loaded.has_names, tuple(notes))


def _single_values(table: Any, name: str) -> list[Any]:
    column = get_column(table, name)
    if import_pyarrow().types.is_nested(column.type):
        raise InputError("its cells are lists: name a column of single values.")
    return list(column.to_pylist())


def _names_rows(table: Any, name: str) -> bool:
    """Whether a column is called an id, and its values are all different."""
    column = get_column(table, name)
    if name.strip().lower() not in ID_NAMES or import_pyarrow().types.is_nested(column.type):
        return False
    return not column.null_count and len(column.unique()) == len(column)


def _read_matrices(
    sources: list[Source], request: Request, n_features: int | None, origin: str
) -> Table:
    matrices: list[Any] = []
    given = []
    for source in sources:
        with naming(source.origin):
            X, labels = read_matrix(source, request, n_features)
            _refuse_huge(X)
            matrices.append(X)
            given += [] if labels is None else [labels]
            if X.shape[1] != matrices[0].shape[1] or len(given) not in (0, len(matrices)):
                raise InputError(
                    f"{X.shape[1]:,} columns, and {sources[0].origin} has "
                    f"{matrices[0].shape[1]:,}, or only one has labels: give files of one kind."
                )
    if len(matrices) > 1:
        is_sparse = any(map(sp.issparse, matrices))
        X = sp.csr_array(sp.vstack(matrices)) if is_sparse else np.concatenate(matrices)
    return Table(X, np.concatenate(given) if given else None, None, origin)


def _refuse_huge(values: Matrix, place: Callable[[int], str] = name_row) -> None:
    """Raise for the first number that is infinite or whose square overflows."""
    entries: Any = values.data if sp.issparse(values) else values
    if entries.dtype.kind != "f" or not entries.size:
        return
    limit = min(LARGEST_ENTRY, float(np.finfo(entries.dtype).max))
    # Extremes take no memory, as a mask would; NaN, where all numbers are missing, is not larger.
    extremes = [abs(reduce(entries, axis=None)) for reduce in (np.fmin.reduce, np.fmax.reduce)]
    if not max(extremes) > limit:
        return
    row, *column = np.argwhere(np.abs(entries) > limit)[0].tolist()
    value = entries[(row, *column)]
    if sp.issparse(values):
        coo: Any = values.tocoo()
        row, column = int(coo.row[row]), [int(coo.col[row])]
    where = f"{place(row)}, column {column[0] + 1}" if column else place(row)
    what, remedy = (
        ("huge", "rescale the column") if np.isfinite(value) else ("infinite", "correct it")
    )
    raise InputError(f"{where}: {what} value {value:.3g}: {remedy}, or leave the row out.")


def _with_vectors(table: Table, source: Source) -> Table:
    """Return the table with one column more, the vectors of an NPY file."""
    with naming(source.origin):
        array = read_array(source) if source.form == "npy" else np.empty(0)
        if array.ndim != 2 or array.dtype.kind not in "biuf" or len(array) != table.n_rows:
            raise InputError(
                f"{source.form} of shape {array.shape} and dtype {array.dtype}: save a matrix of "
                f"real numbers with {table.n_rows:,} rows, as many as the table, with numpy.save."
            )
        _refuse_huge(array)
    if table.feature_names is None or VECTORS in table.feature_names:
        raise InputError(f"--vectors needs a table without a column {VECTORS!r}: leave one out.")
    column = frames.to_column(array)
    return replace(table, features=table.features.append_column(VECTORS, column))


def _read_labels(source: Source, n_rows: int) -> NDArray[Any]:
    """Read one label per row from a file of labels."""
    with naming(source.origin):
        if source.form in ("npy", "idx"):
            labels = read_label_array(read_array(source))
        elif source.form in ("csv", "tsv"):
            labels = read_label_texts(read_cells(source, n_rows))
        else:
            loaded = read_table(source, Request())
            if len(loaded.table.column_names) != 1:
                raise InputError(f"{loaded.table.num_columns} columns: a file of labels has one.")
            cells = _single_values(loaded.table, loaded.table.column_names[0])
            labels = (read_label_texts if loaded.is_text else read_label_values)(cells)
        if len(labels) != n_rows:
            raise InputError(f"{len(labels):,} labels for {n_rows:,} rows: give one per row.")
    return labels
