"""From people's data files to a :class:`Table`: a library reads each format.

Text (see ``delimited``), Parquet, Arrow, JSON lines and Excel are tables; NPY, NPZ, svmlight and
idx, the format of MNIST, are matrices, dense or sparse, with labels or none. Nothing is unpickled.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from labelfold.exceptions import InputError
from labelfold.memory import available_memory
from labelfold.tables import frames
from labelfold.tables.delimited import read_delimited
from labelfold.tables.frames import as_table, is_vector, listed, pa, pd, shown
from labelfold.tables.source import STANDARD_INPUT, Source, naming, open_source, to_buffer
from labelfold.tables.table import ID_NAMES, UNNAMED, Request, Table, make_table, read_labels

__all__ = ["read"]

VECTORS = "vectors"  # the column that a file of vectors becomes
ROWS_AT_ONCE = 4096
JSON_BLOCK = 2**24  # bytes; no row may be longer than two of them

FileName = str | os.PathLike[str]


def read(
    path: FileName | Sequence[FileName],
    *,
    labels: str | int | None = None,
    labels_file: FileName | None = None,
    vectors: FileName | None = None,
    features: Sequence[str | int] | None = None,
    ignore: Sequence[str | int] = (),
    id_column: str | int | None = None,
    header: bool | None = None,
    format: str | None = None,
    n_features: int | None = None,
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

    Returns
    -------
    Table
        Features, labels and row names. An InputError says in one line where a file is malformed,
        and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import labelfold.tables
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("id,petal,color,kind\n7,1.5,red,iris\n8,,blue,\n")
    ...     table = labelfold.tables.read(path, labels="kind")
    >>> table.features.column_names, table.labels.tolist(), table.ids
    (['petal', 'color'], ['iris', None], ['7', '8'])
    """
    frames.require_pyarrow()
    if labels is not None and labels_file is not None:
        raise InputError("--labels and --labels-file contradict each other: pass one of them.")
    paths = _all_paths(path)
    if [*paths, labels_file, vectors].count(STANDARD_INPUT) > 1:
        raise InputError("only one file can come from standard input: name the other.")
    sources = [open_source(one, format) for one in paths]
    origin = sources[0].origin + (f" and {len(sources) - 1} more" if len(sources) > 1 else "")
    request = Request(labels, features, ignore, id_column, header)
    try:
        table = _read_all(sources, request, n_features)
    except MemoryError as error:
        raise InputError(
            f"{origin}: more than memory holds: take fewer rows, or fewer columns with --features."
        ) from error
    if vectors is not None:
        source = open_source(vectors)
        with naming(source.origin):
            table = _with_vectors(table, _read_file(source, Request()).features)
    cells, name = table.labels, origin if labels is None else f"{origin}: column {shown(labels)}"
    if labels_file is not None:
        source = open_source(labels_file)
        name = source.origin
        with naming(name):
            cells = _read_labels_file(source, table.n_rows)
    with naming(name):
        found = None if cells is None else read_labels(cells)
        if found is not None and len(found) != table.n_rows:
            title = f"{len(found):,} labels for {table.n_rows:,} rows"
            raise InputError(f"{title}: give one label per row.")
    if not table.n_features:
        raise InputError(f"{origin}: no column is left: check --features, --ignore and --labels.")
    return replace(table, labels=found, origin=origin)


def _all_paths(path: Any) -> list[str]:
    """Return the files that are meant, patterns resolved in the order of names."""
    paths: list[str] = []
    for name in map(os.fspath, [path] if isinstance(path, str | os.PathLike) else path):
        is_pattern = glob.has_magic(name) and not os.path.exists(name)
        found = sorted(glob.glob(name)) if is_pattern else [name]
        if not found:
            raise InputError(f"{name}: no file has such a name: check the pattern.")
        paths += found
    if not paths:
        raise InputError("no file is named: name one, or - for standard input.")
    return paths


def _read_all(sources: list[Source], request: Request, n_features: int | None) -> Table:
    """Read files that have the same columns, in any order, as one table."""
    tables: list[Table] = []
    for source in sources:
        with naming(source.origin):
            tables.append(_read_file(source, request, n_features))
            odd = _column_set(tables[0]) ^ _column_set(tables[-1])
            if odd:
                raise InputError(
                    f"not the columns of {sources[0].origin} ({listed(sorted(odd))}): give files "
                    "of one kind with the same columns, or leave some out with --ignore."
                )
    table = tables[0] if len(tables) == 1 else _join(tables)
    names = table.feature_names if table.ids is None and request.features is None else None
    for name in (one for one in names or () if one.lower() in ID_NAMES):
        column = table.features.column(name)
        is_list = pa.types.is_nested(column.type)
        if not is_list and len(column.unique().drop_null()) == len(column):
            others = table.features.drop_columns([name])
            notes = (*table.notes, f"Rows are named by column {shown(name)}.")
            return replace(table, features=others, ids=column.to_pylist(), notes=notes)
    return table


def _column_set(table: Table) -> set[str]:
    """Return what tables must have in common to be joined, in words."""
    names = [] if table.labels is None else ["labels"]
    if table.feature_names is None:
        return {*names, f"{table.n_features:,} columns of a {type(table.features).__name__}"}
    kinds = zip(table.feature_names, table.features.schema.types, strict=True)
    return {*names, *(shown(name) + " of vectors" * is_vector(kind) for name, kind in kinds)}


def _join(tables: list[Table]) -> Table:
    """Return the rows of several tables as one; columns are matched by name."""
    first, parts = tables[0], [table.features for table in tables]
    features: Any
    if sp.issparse(first.features):
        features = sp.csr_array(sp.vstack(parts))
    elif first.feature_names is None:
        features = np.concatenate(parts)
    else:
        columns = {name: _stack([one[name] for one in parts]) for name in first.feature_names}
        features = as_table(pa.table(columns))
    labels, ids = first.labels, first.ids
    if labels is not None:
        labels = _stack([table.labels for table in tables]).combine_chunks()
    if ids is not None:
        ids = [one for table in tables for one in table.ids or ()]
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    return replace(first, features=features, labels=labels, ids=ids, notes=notes)


def _stack(columns: list[Any]) -> Any:
    """Return columns as one; numbers here and text there are text."""
    parts = [pa.table({"": column}) for column in columns]
    try:
        return pa.concat_tables(parts, promote_options="permissive").column(0)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        text = pa.schema({"": pa.string()})
        return pa.concat_tables([part.cast(text) for part in parts]).column(0)


def _with_vectors(table: Table, vectors: Any) -> Table:
    if not isinstance(vectors, np.ndarray) or len(vectors) != table.n_rows:
        raise InputError(
            f"{vectors.shape[0]:,} rows: save a matrix with {table.n_rows:,} rows, as many as the "
            "table, with numpy.save."
        )
    if table.feature_names is None or VECTORS in table.feature_names:
        raise InputError(f"--vectors needs a table without a column {VECTORS!r}: leave one out.")
    column = frames.to_column(vectors)
    return replace(table, features=table.features.append_column(VECTORS, column))


def _read_labels_file(source: Source, n_rows: int) -> Any:
    """Return the cells of a file of labels, without a name in the first line."""
    if source.form in ("npy", "idx"):
        return _to_cells(_read_matrix(source, Request())[0])
    table = _read_file(source, Request(labels=1, header=False))
    if table.n_features:
        raise InputError(f"{table.n_features + 1} columns: a file of labels has one.")
    first, others = str(table.labels[0].as_py() or ""), table.labels[1:]
    is_name = first.strip("+-.0123456789") and first not in map(str, others)
    return others if len(others) == n_rows and is_name else table.labels


def _read_file(source: Source, request: Request, n_features: int | None = None) -> Table:
    """Read a file of any format; `n_features` is the number of columns of an svmlight file."""
    form = source.form
    if form in ("csv", "tsv"):
        return read_delimited(source, request, "\t" if form == "tsv" else None)
    if form == "excel":
        return _read_excel(source, request)
    if form == "parquet":
        return _read_parquet(source, request)
    if form in ("arrow", "jsonl"):
        table = (_read_arrow if form == "arrow" else _read_json_lines)(source)
        while any(pa.types.is_struct(kind) for kind in table.schema.types):
            table = table.flatten()
        return make_table(table, request.choose(table.column_names))
    X, labels = _read_matrix(source, request, n_features)
    if X.ndim != 2 or X.shape[0] == 0 or X.dtype.kind not in "biuf":
        raise InputError(
            f"an array of shape {X.shape} and dtype {X.dtype}: give a matrix of real numbers with "
            "one line per row, such as array.reshape(len(array), -1)."
        )
    if labels is not None:
        request = replace(request, labels=None)
    if request == Request(header=request.header):
        frames.refuse_huge(X)
        return Table(X, labels)
    table = as_table(X).rename_columns([UNNAMED.format(at + 1) for at in range(X.shape[1])])
    choice = request.choose(table.column_names, has_names=False)
    return make_table(table, choice, labels, has_names=False)


@contextmanager
def _library_errors(remedy: str = "get or make it again") -> Iterator[None]:
    """Turn whatever a library raises on damaged bytes into an InputError; not for code of ours."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"damaged or incomplete ({reason}): {remedy}.") from error


def _read_parquet(source: Source, request: Request) -> Table:
    """Read a Parquet file one column at a time, which never holds it in memory twice."""
    import pyarrow.parquet

    with _library_errors():
        file = pyarrow.parquet.ParquetFile(source.open(), pre_buffer=False)
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
            columns[name] = frames.stack_vectors(name, chunks(name), meta.num_rows)
        else:
            with _library_errors():
                columns[name] = file.read(columns=[name]).column(0)
    return make_table(pa.table(columns), choice)


def _read_arrow(source: Source) -> Any:
    with _library_errors():
        is_stream = source.open().read(4) == b"\xff\xff\xff\xff"
        table = (pa.ipc.open_stream if is_stream else pa.ipc.open_file)(source.open()).read_all()
        table.validate(full=True)
    return table


def _read_json_lines(source: Source) -> Any:
    from pyarrow.json import ReadOptions, read_json

    # Errors count rows from the start of their block: the second time, the file is one block.
    for block_size in (JSON_BLOCK, min(source.open().size() + 1, 2**31 - 1)):
        try:
            return read_json(source.open(), ReadOptions(block_size=block_size))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
            reason, _, row = " ".join(str(error).split()).partition(" in row ")
    where = f"row {int(row) + 1:,}: " if row.isdecimal() else ""
    raise InputError(
        f"{where}not JSON lines ({reason[:200]}): write one object per line, with one type per "
        "column; jq -c '.[]' makes lines of an array."
    )


def _read_excel(source: Source, request: Request) -> Table:
    """Read the first sheet of a workbook that holds anything, as if it were saved as text."""
    with _library_errors(), source.open() as stream:
        as_written = {"dtype": object, "na_filter": False}
        sheets = pd.read_excel(stream, sheet_name=None, header=None, **as_written)
    filled = [title for title, frame in sheets.items() if frame.size]
    if not filled:
        raise InputError("a workbook without cells: expected one line per row.")
    text = sheets[filled[0]].to_csv(sep="\t", header=False, index=False).encode()
    table = read_delimited(Source("", "tsv", to_buffer(text)), request, "\t")
    if len(filled) == 1:
        return table
    note = f"Of {len(filled)} sheets the first was read, {shown(filled[0])}."
    return replace(table, notes=(note, *table.notes))


def _read_matrix(source: Source, request: Request, n_features: int | None = None) -> Any:
    """Return a matrix and Arrow cells of labels, or None; images are rows of an idx file."""
    if source.form == "npz":
        return _read_npz(source, request)
    if source.form == "svmlight":  # indices count from 1, unless an index 0 occurs
        remedy = "a line of svmlight is a label and pairs with rising indices, as '1 3:0.5 7:2'"
        with _library_errors(remedy), io.BufferedReader(source.open()) as stream:
            X, y = load_svmlight_file(stream, n_features=n_features, zero_based="auto")
        return sp.csr_array(X), _to_cells(y)
    with _library_errors(), source.open() as stream:
        if source.form == "npy":
            return np.load(stream, allow_pickle=False), None
        # Two zero bytes, 8 for unsigned bytes, the number of dimensions, a big-endian integer of
        # 4 bytes for each size, then the values in C order.
        n_dimensions = stream.read(4)[3]
        shape = np.frombuffer(stream.read(4 * n_dimensions), dtype=">u4").tolist()
        values = np.frombuffer(stream.read(), dtype=np.uint8).reshape(shape)
        return values.reshape(len(values), -1), None


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
    labels = arrays.pop("y" if request.labels is None else str(request.labels), None)
    matrices = ["X"] if "X" in arrays else [key for key, one in arrays.items() if one.ndim == 2]
    if len(matrices) != 1:
        raise InputError(f"arrays {listed(arrays)}: name the matrix of rows X, and the labels y.")
    return arrays[matrices[0]], None if labels is None else _to_cells(labels)


def _to_cells(labels: Any) -> Any:
    if labels.shape[:1] != (labels.size,):
        raise InputError(f"labels of shape {labels.shape}: give one label per row.")
    with _library_errors("give one whole number, text or boolean per row"):
        return pa.array(labels.ravel(), from_pandas=True)
