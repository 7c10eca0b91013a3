"""A table of mixed columns -> a matrix of features: ``TablePreparation``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.methods import stored
from labelfold.tables.column_encoders import Block, fit_block
from labelfold.tables.column_kinds import LEFT_OUT, Cells, read_cells, recognize
from labelfold.tables.column_report import ColumnEntry, ColumnReport, find_label_copies
from labelfold.tables.frames import as_table, get_column, is_vector, listed, select
from labelfold.tables.scaling import METHODS

__all__ = ["TablePreparation", "make_preparation"]

RICH = ("text", "vector")  # kinds that count as much as all others together


def make_preparation(
    frame: Any, *, labels: str | None = None, scale: str = "auto"
) -> TablePreparation:
    """Return the transformer that makes features of a table.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow Table or array
        The table; its columns are those that the transformer asks for.
    labels : str, default=None
        Name of the column of labels, which is left out.
    scale : str, default="auto"
        What to do with numbers, as in :class:`AutoScaler`.

    Returns
    -------
    TablePreparation
        Unfitted, for ``fit_transform`` or as the first step of a pipeline.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelfold.tables import make_preparation
    >>> frame = pd.DataFrame({"size": [1.5, None, 3.0], "kind": ["a", "b", "a"], "y": [0, 1, -1]})
    >>> make_preparation(frame, labels="y").fit_transform(frame).shape
    (3, 4)
    """
    names = as_table(frame).column_names
    if labels is not None and labels not in names:
        raise InputError(f"labels={labels!r} is not a column: choose from {listed(names)}.")
    return TablePreparation([name for name in names if name != labels], scale=scale)


@stored
class TablePreparation(TransformerMixin, BaseEstimator):
    """Make features of a table with columns of mixed kinds and missing cells.

    Parameters
    ----------
    columns : sequence of str, default=None
        Columns to use; None takes all.
    scale : str, default="auto"
        What to do with numbers, as in :class:`AutoScaler`.

    Attributes
    ----------
    report_ : ColumnReport
        For every column what it was taken for, what was done, and how many cells were missing or
        unreadable. If ``fit`` got labels, also which columns copy them.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names.

    See Also
    --------
    make_preparation : Make one for a table.
    AutoScaler : What is done to numbers; enough for a matrix of them.

    Notes
    -----
    - Numbers are filled in with the median where missing, with one more feature that marks the
      row, and scaled together, as are vectors. Text that reads as numbers is numbers.
    - Up to 40 categories, and yes or no, get one feature each. A missing or new one has none.
    - More categories are compared by their letters, and free text, of all its columns together,
      by its words: tf-idf, a truncated SVD to at most 30 and 100 features, rows of length 1.
    - Dates become the day and the place within year, week and day on a circle.
    - Row ids, constant and empty columns are left out.

    Every number, category and date counts about the same: rows with nothing in common differ by
    about the root of 2. Free text, and each column of vectors, counts as much as all these
    together. Numbers that share a unit stay as they are if they are the only columns, and are
    divided by one common factor otherwise.

    Nothing depends on labels. New tables may have their columns in any order and others besides; a
    column that is missing is an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelfold.tables import TablePreparation
    >>> frame = pd.DataFrame({"size": [1.5, None, 3.0], "kind": ["a", "b", "a"]})
    >>> preparation = TablePreparation().fit(frame)
    >>> print(preparation.report_)
    1 number, 1 category: 4 features; numbers as they are (columns share a unit); 1 missing cell.
    >>> list(preparation.get_feature_names_out())
    ['size', 'size_missing', 'kind_a', 'kind_b']
    """

    def __init__(self, columns: Sequence[str] | None = None, *, scale: str = "auto") -> None:
        self.columns = columns
        self.scale = scale

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Recognize the columns and fit their encoders.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table or array
            The table.
        y : array-like of shape (n_rows,), default=None
            Labels, only to report columns that copy them.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Fit, and return the features of the same table; see :meth:`fit`."""
        return self._fit(X, y)

    def transform(self, X: Any) -> Any:
        """Return the features of a table.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table or array
            A table with the columns of ``fit``, in any order.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            The features.
        """
        check_is_fitted(self)
        cells = self._read(X)
        return _beside([block.encode(cells) for block in self._blocks])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features, which begin with those of their columns.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.
        """
        check_is_fitted(self)
        return np.array([name for block in self._blocks for name in block.features], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _fit(self, X: Any, y: ArrayLike | None) -> Any:
        check_choice("scale", self.scale, METHODS)
        table = as_table(X)
        if self.columns is not None:
            table = select(table, self.columns)
        self.n_features_in_ = table.num_columns
        self.__dict__.pop("feature_names_in_", None)
        if _has_names(X):
            self.feature_names_in_ = np.array(table.column_names, dtype=object)
        columns = {name: get_column(table, name) for name in table.column_names}
        kinds = {name: recognize(name, column) for name, column in columns.items()}
        self._kinds = {name: kind for name, kind in kinds.items() if kind[0] not in LEFT_OUT}
        if not self._kinds:
            some = listed([f"{name!r} is {kind}" for name, (kind, _) in kinds.items()], 4)
            raise InputError(
                f"The table of n_samples={table.num_rows} rows has no column to use: "
                f"{some or 'it has none'}: add columns that differ between rows."
            )
        cells = {name: read_cells(columns[name], *kind) for name, kind in self._kinds.items()}
        values = {name: one.values for name, one in cells.items()}
        blocks = self._fit_blocks(values)
        features = [block.encode(values) for block in blocks]
        weights = _weights(blocks, features)
        self._blocks = [
            replace(b, weight=w * b.weight) for b, w in zip(blocks, weights, strict=True)
        ]
        copies = [] if y is None else find_label_copies(values, y)
        self.report_ = _report(kinds, cells, self._blocks, copies)
        return _beside([a if w == 1 else w * a for a, w in zip(features, weights, strict=True)])

    def _fit_blocks(self, values: Mapping[str, Any]) -> list[Block]:
        """Fit blocks for all numbers, for marks of missing ones, for all text, and per column."""
        groups: dict[Any, dict[str, Any]] = {"number": {}, "missing": {}, "text": {}}
        for name, cells in values.items():
            kind = self._kinds[name][0]
            groups.setdefault(kind if kind in groups else (kind, name), {})[name] = cells
            if kind == "number" and np.isnan(cells).any():
                groups["missing"][name] = cells
        kinds = [key if isinstance(key, str) else key[0] for key in groups]
        pairs = zip(kinds, groups.values(), strict=True)
        return [fit_block(kind, cells, self.scale) for kind, cells in pairs if cells]

    def _read(self, X: Any) -> dict[str, Any]:
        """Return the cells of a new table, by column, as the kinds that they were in fit."""
        table = as_table(X)
        if not _has_names(X) and table.num_columns != self.n_features_in_:
            raise InputError(
                f"X has {table.num_columns} features, but TablePreparation is expecting "
                f"{self.n_features_in_} features as input."
            )
        table = select(table, list(self._kinds))
        lengths = {one.names[0]: len(one.features) for one in self._blocks if one.kind == "vector"}
        cells = {}
        for name, kind in self._kinds.items():
            column, before = get_column(table, name), lengths.get(name, 0)
            now = column.type.list_size if is_vector(column.type) else 0
            if before and column.null_count == len(column):
                cells[name] = np.full((len(column), before), np.nan)
            elif now == before:
                cells[name] = read_cells(column, *kind).values
            else:
                held = [f"{one} numbers" if one else "a single value" for one in (now, before)]
                raise InputError(
                    f"Column {name!r} holds {held[0]} per row, and held {held[1]} in fit: give it "
                    "as it was."
                )
        return cells


def _weights(blocks: list[Block], features: list[Any]) -> list[float]:
    """Return factors that make columns count as the notes of TablePreparation say."""
    if len(blocks) == 1:
        return [1.0]
    sizes = [float(one.var(axis=0, dtype=np.float64).sum()) or 1.0 for one in features]
    weights = [1.0] * len(blocks)
    for number, block in enumerate(blocks):
        scaler = block.encoder[-1] if block.kind == "number" else None
        if scaler is not None and (scaler.method, scaler.method_) == ("auto", "none"):
            weights[number] = float(np.sqrt(len(block.names) / sizes[number]))
            sizes[number] = float(len(block.names))
    plain = sum(size for block, size in zip(blocks, sizes, strict=True) if block.kind not in RICH)
    for number, block in enumerate(blocks):
        if block.kind in RICH:
            weights[number] = float(np.sqrt((plain or 1.0) / sizes[number]))
    return weights


def _report(
    kinds: Mapping[str, tuple[str, str]],
    cells: Mapping[str, Cells],
    blocks: list[Block],
    copies: list[str],
) -> ColumnReport:
    done = {name: [f"written as {how}"] if how else [] for name, (_, how) in kinds.items()}
    n_features: Counter[str] = Counter()
    for block in blocks:
        for name in block.names:
            done[name].append(block.done)
        one_each = len(block.features) == len(block.names)  # otherwise features of all together
        n_features.update(block.names if one_each else [block.names[0]] * len(block.features))
    entries = []
    for name, (kind, _) in kinds.items():
        what, read = LEFT_OUT.get(kind, ", ".join(done[name])), cells.get(name, Cells(()))
        counts = (n_features[name], read.n_missing, read.n_unreadable)
        entries.append(ColumnEntry(name, kind, what, *counts, name in copies))
    first = blocks[0]
    scaling = f"{first.done} ({first.encoder[-1].reason_})" if first.kind == "number" else ""
    return ColumnReport(tuple(entries), scaling)


def _beside(features: list[Any]) -> Any:
    return features[0] if len(features) == 1 else np.hstack(features)


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "column_names")
