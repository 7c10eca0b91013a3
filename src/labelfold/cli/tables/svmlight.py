"""svmlight and libsvm text: a label, then pairs index:value, a point a line; a sparse matrix."""

from __future__ import annotations

import re

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from labelfold.cli.tables.arrays import refuse_no_rows, row_title, table_of_matrix
from labelfold.cli.tables.columns import Request, choose_columns
from labelfold.cli.tables.errors import TableError, shown
from labelfold.cli.tables.labels import labels_of_values
from labelfold.cli.tables.source import Source
from labelfold.cli.tables.table import Table

VALUE = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
LINE = re.compile(
    rb"(?:%s|[+-]?nan)(?:\s+qid:\d+)?(?:\s+\d{1,9}:%s)*\s*(?:#.*)?" % (VALUE, VALUE), re.DOTALL
)
BLANK = re.compile(rb"\s*(?:#.*)?", re.DOTALL)


def read_svmlight(source: Source, request: Request, *, n_features: int | None = None) -> Table:
    """Read an svmlight file, its labels included.

    Parameters
    ----------
    source : Source
        The text.

    request : Request
        Which columns are wanted, by number.

    n_features : int, default=None
        Number of columns; by default the largest index that occurs.

    Notes
    -----
    Indices count from 1, unless an index 0 occurs in the file.
    """
    if request.labels is not None or request.id_column is not None:
        raise TableError(
            f"{source.origin} is in svmlight format, where each line begins with its label: leave "
            "out --labels and --id-column."
        )
    _refuse_bad_lines(source)
    try:
        with source.open() as stream:
            points, values = load_svmlight_file(stream, n_features=n_features, zero_based="auto")
    except TableError:
        raise
    except (ValueError, OverflowError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise TableError(
            f"{source.origin} cannot be read as svmlight ({reason}): a line is a label and pairs "
            "index:value, indices rising."
        ) from error
    refuse_no_rows(points.shape[0], source.origin)
    if points.nnz == 0:
        raise TableError(
            f"{source.origin} has labels and no values: a line is a label and pairs index:value."
        )
    X = sp.csr_array(points, dtype=np.float64)
    columns = choose_columns(request, None, X.shape[1], source.origin)
    if not columns.takes_all:
        X = X[:, columns.features]
    are_whole = not np.any(values[np.isfinite(values)] % 1)
    items = [int(value) if are_whole and np.isfinite(value) else value for value in values.tolist()]
    labels = labels_of_values(items, f"{source.origin}: its labels", row_title)
    return table_of_matrix(X, columns, labels, source.origin)


def _refuse_bad_lines(source: Source) -> None:
    """Refuse what is not svmlight, by line: the parser behind trusts its input."""
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            if not (LINE.fullmatch(line) or BLANK.fullmatch(line)):
                raise TableError(
                    f"{source.origin}: line {number} is not svmlight ("
                    f"{shown(line.decode('utf-8', 'replace').strip())}): a line is a label and "
                    "pairs index:value, such as '1 3:0.5 7:2'; labels are numbers."
                )
