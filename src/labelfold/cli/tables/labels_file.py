"""Labels in a file of their own: NPY, idx, Parquet, or text of one column, gzip of each."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from labelfold.cli.tables.arrays import labels_of_array, read_npy_array, row_title
from labelfold.cli.tables.delimited import read_single_column
from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.formats import find_format
from labelfold.cli.tables.idx import read_idx_array
from labelfold.cli.tables.labels import labels_of_texts, labels_of_values
from labelfold.cli.tables.parquet import read_parquet_column
from labelfold.cli.tables.source import Source


def read_labels(source: Source, n_rows: int) -> NDArray[Any]:
    """Read a label a row.

    Parameters
    ----------
    source : Source
        The file.

    n_rows : int
        Number of labels expected. A text file that has one line more has a header.

    Returns
    -------
    ndarray of objects of shape (n_rows,)
        The labels, None for unlabelled rows.
    """
    form = find_format(source)
    if form == "npy":
        labels = labels_of_array(read_npy_array(source), source.origin)
    elif form == "idx":
        labels = labels_of_array(read_idx_array(source), source.origin)
    elif form == "parquet":
        labels = labels_of_values(read_parquet_column(source), source.origin, row_title)
    elif form in ("csv", "tsv"):
        delimiter = "\t" if form == "tsv" else ","
        cells = read_single_column(source, n_rows, delimiter=delimiter)
        labels = labels_of_texts(cells, source.origin, row_title)
    else:
        raise TableError(
            f"{source.origin} is an {form} file: labels come as csv, tsv, npy, idx or parquet."
        )
    if len(labels) != n_rows:
        raise TableError(
            f"{source.origin} has {len(labels):,} labels for {n_rows:,} rows: give one a row, "
            "empty where there is none."
        )
    return labels
