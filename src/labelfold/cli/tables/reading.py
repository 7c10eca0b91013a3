"""From a file of any known format to a `Table`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from labelfold.cli.tables.arrays import read_npy, read_npz
from labelfold.cli.tables.columns import ColumnName, Request
from labelfold.cli.tables.delimited import read_delimited
from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.formats import find_format
from labelfold.cli.tables.idx import read_idx
from labelfold.cli.tables.labels_file import read_labels
from labelfold.cli.tables.parquet import read_parquet
from labelfold.cli.tables.source import DEFAULT_MAX_BYTES, STANDARD_INPUT, Source, open_source
from labelfold.cli.tables.svmlight import read_svmlight
from labelfold.cli.tables.table import Table


def read_table(
    source: str | os.PathLike[str],
    *,
    labels: ColumnName | None = None,
    labels_file: str | os.PathLike[str] | None = None,
    features: Sequence[ColumnName] | None = None,
    ignore: Sequence[ColumnName] = (),
    id_column: ColumnName | None = None,
    header: bool | None = None,
    format: str | None = None,
    n_features: int | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Table:
    r"""Read a person's data file.

    Parameters
    ----------
    source : str or path-like
        The file, or "-" for standard input. Gzip is recognised by content.

    labels : str or int, default=None
        Column of the labels: its name, or its number from 1 (-1 for the last). In an NPZ file also
        the name of an array; there an array `y` is taken by default. An svmlight file has labels
        of its own.

    labels_file : str or path-like, default=None
        File of labels, one a row, for data of any format.

    features : sequence of str or int, default=None
        Feature columns by name, pattern ("pixel*"), number or range ("2-65"), in this order. By
        default all but the label, the row names and the ignored ones.

    ignore : sequence of str or int, default=()
        Columns to leave out, named in the same way.

    id_column : str or int, default=None
        Column of row names. By default a first column without a name, as pandas and R write it.

    header : bool, default=None
        Whether the first line of a text table holds names; found out by default.

    format : {"csv", "tsv", "parquet", "npy", "npz", "svmlight", "idx"}, default=None
        By default the ending of the file name decides, and the content where that says nothing.

    n_features : int, default=None
        Number of columns of an svmlight file, which may not name its last ones. Other formats are
        refused if they have another number of features.

    max_bytes : int, default=8 GiB
        Size beyond which a file is not read, unpacked if it is packed.

    Returns
    -------
    Table
        Features, names, labels and row names.

    Raises
    ------
    TableError
        If anything about the file is not as it should be: one line that names the place and the
        way out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelfold.cli.tables import read_table
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "flowers.csv")
    >>> _ = path.write_text("petal,sepal,kind\n1.5,2,iris\n1.25,3,\n")
    >>> table = read_table(path, labels="kind")
    >>> table.X
    array([[1.5 , 2.  ],
           [1.25, 3.  ]])
    >>> table.feature_names
    ['petal', 'sepal']
    >>> table.labels
    array(['iris', None], dtype=object)
    >>> folder.cleanup()
    """
    if labels is not None and labels_file is not None:
        raise TableError("--labels and --labels-file contradict each other: pass one of them.")
    if labels_file is not None and os.fspath(source) == os.fspath(labels_file) == STANDARD_INPUT:
        raise TableError("data and labels cannot both come from standard input: name a file.")
    request = Request(labels, features, ignore, id_column, header)
    opened = open_source(source, max_bytes)
    try:
        table = _read(opened, request, find_format(opened, format), n_features)
        if labels_file is not None:
            given = read_labels(open_source(labels_file, max_bytes), table.n_rows)
            table = replace(table, labels=given)
    except MemoryError as error:
        raise TableError(
            f"{opened.origin} needs more memory than there is: take fewer columns with --features, "
            "fewer rows, or a sparse format (svmlight, sparse NPZ)."
        ) from error
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise TableError(f"{opened.origin} cannot be read ({reason}): try again.") from error
    if n_features is not None and table.n_features != n_features:
        raise TableError(
            f"{table.origin} has {table.n_features:,} feature columns and {n_features:,} are "
            "needed: name them with --features, or leave some out with --ignore."
        )
    return table


def _read(source: Source, request: Request, form: str, n_features: int | None) -> Table:
    if form == "csv":
        return read_delimited(source, request)
    if form == "tsv":
        return read_delimited(source, request, delimiter="\t")
    if form == "svmlight":
        return read_svmlight(source, request, n_features=n_features)
    readers = {"parquet": read_parquet, "npy": read_npy, "npz": read_npz, "idx": read_idx}
    return readers[form](source, request)
