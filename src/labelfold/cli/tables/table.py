"""A table as the library takes it, and the check of its values that all formats share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.cli.tables.columns import Columns
from labelfold.cli.tables.errors import TableError, as_option
from labelfold.graph.point_space import LARGEST_ENTRY

Matrix = NDArray[np.float64] | sp.csr_array
ROWS_AT_ONCE = 4096  # a block fits the cache, and no mask of the whole matrix is made


@dataclass(frozen=True, eq=False)
class Table:
    """Points, what they are called, and their labels.

    Parameters
    ----------
    X : ndarray of float64 or csr_array of shape (n_rows, n_features)
        The features; every entry is finite.

    feature_names : list of str or None
        Names of the columns of `X`; None where the file has none.

    labels : ndarray of objects of shape (n_rows,) or None
        Labels as the person wrote them (int, float, bool or str), None for an unlabelled row. None
        if the table has no labels at all.

    row_ids : list or None
        Names of the rows; None where the file has none.

    origin : str
        What messages call the file.
    """

    X: Matrix
    feature_names: list[str] | None
    labels: NDArray[Any] | None
    row_ids: list[Any] | None
    origin: str

    @property
    def n_rows(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.X.shape[1])

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        """True where a row has a label."""
        if self.labels is None:
            return np.zeros(self.n_rows, dtype=bool)
        return np.array([label is not None for label in self.labels], dtype=bool)

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


def refuse_bad_values(
    X: Matrix, columns: Columns, origin: str, row_title: Callable[[int], str]
) -> None:
    """Refuse missing, infinite and huge entries of a matrix, by row and column."""
    if not has_bad_values(X):
        return
    rows, features, values = _bad_entries(X)
    for is_bad, name, advice in (
        (np.isnan(values), "missing value", None),
        (np.isinf(values), "infinite value", "correct it"),
        (np.abs(values) > LARGEST_ENTRY, "huge value", "rescale the column"),
    ):
        count = int(np.count_nonzero(is_bad))
        if count:
            first = int(np.flatnonzero(is_bad)[0])
            column = columns.features[int(features[first])]
            row = row_title(int(rows[first]))
            if advice is None:
                n_columns = len(np.unique(features[is_bad]))
                raise missing_error(origin, row, columns, column, count, n_columns)
            place = f"{row}, {columns.title(column)}"
            raise value_error(origin, place, f"{name} {values[first]:.3g}", count, advice)


def has_bad_values(X: Matrix) -> bool:
    """Whether an entry is missing, infinite or so large that its square overflows."""
    entries = X.data.reshape(1, -1) if sp.issparse(X) else X
    # NaN fails every comparison.
    return not all(
        np.all(np.abs(entries[start : start + ROWS_AT_ONCE]) <= LARGEST_ENTRY)
        for start in range(0, len(entries), ROWS_AT_ONCE)
    )


def missing_error(
    origin: str, row: str, columns: Columns, column: int, count: int, n_columns: int
) -> TableError:
    """Return the error for missing values, of which the first is in that row and column."""
    found = (
        "a missing value"
        if count == 1
        else f"the first of {count:,} missing values, in {n_columns:,} column"
        + ("s" if n_columns > 1 else "")
    )
    name = columns.value(column)
    is_label = ""
    if columns.label is None and columns.names is not None and n_columns == 1:
        is_label = f", or pass {as_option('--labels', [name])} if it holds the labels"
    return TableError(
        f"{origin}: {row}, {columns.title(column)}: {found}: fill them in, leave out these rows, "
        f"or leave out the column with {as_option('--ignore', [name])}{is_label}."
    )


def value_error(origin: str, place: str, found: str, count: int, advice: str) -> TableError:
    """Return the error for values that are no good, of which the first is at `place`."""
    more = f" (the first of {count:,})" if count > 1 else ""
    return TableError(f"{origin}: {place}: {found}{more}: {advice}, or leave the row out.")


def _bad_entries(X: Matrix) -> tuple[Any, Any, Any]:
    """Rows, columns and values of the bad entries only: a list of all would take too much."""
    if sp.issparse(X):
        entries = X.tocoo()
        is_bad = ~(np.abs(entries.data) <= LARGEST_ENTRY)
        return entries.row[is_bad], entries.col[is_bad], entries.data[is_bad]
    rows, features = np.nonzero(~(np.abs(X) <= LARGEST_ENTRY))
    return rows, features, X[rows, features]
