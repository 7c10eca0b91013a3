"""A table of mixed columns -> a matrix of features: ``TablePreparation``.

Columns are encoded by scikit-learn's encoders, all numbers together, all texts together and others
one by one. A fitted encoder is one of scikit-learn's or a pipeline of them, so a model file needs
no other types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from labelfold.checks import check_choice, input_errors
from labelfold.exceptions import InputError
from labelfold.methods import stored
from labelfold.tables.column_kinds import DATE_PARTS, LEFT_OUT, count_gaps, read_cells, recognize
from labelfold.tables.column_report import ColumnEntry, ColumnReport, find_label_copies
from labelfold.tables.frames import as_table, get_column, is_vector, listed, select
from labelfold.tables.scaling import METHODS, SCALED, AutoScaler

__all__ = ["TablePreparation", "make_preparation"]

RICH = ("text", "vector")  # kinds that count as much as all others together
N_TOPICS = {"text": 100, "many categories": 30}  # most features of a column


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
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Fit, and return the features of the same table; see :meth:`fit`."""
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
        blocks = self._fit_blocks(cells)
        features = [block.encode(cells) for block in blocks]
        weights = _find_weights(blocks, features)
        self._blocks = [
            replace(b, weight=b.weight * w) for b, w in zip(blocks, weights, strict=True)
        ]
        copies = [] if y is None else find_label_copies(cells, y)
        gaps = {name: count_gaps(columns[name], cells[name]) for name in cells}
        self.report_ = self._report(kinds, gaps, copies)
        return _beside([w * one for one, w in zip(features, weights, strict=True)])

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
        table = as_table(X)
        if not _has_names(X) and table.num_columns != self.n_features_in_:
            raise InputError(
                f"X has {table.num_columns} features, but TablePreparation is expecting "
                f"{self.n_features_in_} features as input."
            )
        table = select(table, list(self._kinds))
        cells = {name: self._read(name, get_column(table, name)) for name in self._kinds}
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

    def _fit_blocks(self, cells: Mapping[str, NDArray[Any]]) -> list[Block]:
        """Fit encoders of all numbers, of which are missing, of all texts, and of each column."""
        names: dict[Any, list[str]] = {"number": [], "missing": [], "text": []}
        for name, (kind, _) in self._kinds.items():
            names.setdefault(kind if kind in names else (kind, name), []).append(name)
        names["missing"] = [name for name in names["number"] if np.isnan(cells[name]).any()]
        return [
            _fit_block(key if isinstance(key, str) else key[0], cells, some, self.scale)
            for key, some in names.items()
            if some
        ]

    def _read(self, name: str, column: Any) -> NDArray[Any]:
        """Return the cells of a new column as the kind that they were in fit."""
        kind, how = self._kinds[name]
        if kind == "vector" and column.null_count == len(column):
            block = next(one for one in self._blocks if one.names == (name,))
            return np.full((len(column), len(block.features)), np.nan)
        if is_vector(column.type) != (kind == "vector"):
            raise InputError(
                f"Column {name!r} holds {column.type}, and was a {kind} in fit: give it as it was."
            )
        return read_cells(column, kind, how)

    def _report(
        self,
        kinds: Mapping[str, tuple[str, str]],
        gaps: Mapping[str, tuple[int, int]],
        copies: list[str],
    ) -> ColumnReport:
        done = {name: [f"written as {how}"] if how else [] for name, (_, how) in kinds.items()}
        n_features: Counter[str] = Counter()
        for block in self._blocks:
            one_each = len(block.features) == len(block.names)  # or features of all together
            n_features.update(block.names if one_each else block.names[:1] * len(block.features))
            for name in block.names:
                done[name].append(block.done)
        entries = []
        for name, (kind, _) in kinds.items():
            what = LEFT_OUT.get(kind, ", ".join(done[name]))
            counts = (n_features[name], *gaps.get(name, (0, 0)))
            entries.append(ColumnEntry(name, kind, what, *counts, name in copies))
        first = self._blocks[0]
        scaling = f"{first.done} ({first.encoder[-1].reason_})" if first.kind == "number" else ""
        return ColumnReport(tuple(entries), scaling)


@stored
@dataclass(frozen=True, eq=False)
class Block:
    """Features of one column, or of all columns of numbers or of text together.

    `kind` is what the columns were taken for, or "missing" for marks of missing numbers; `done`
    says in a few words what the fitted encoder does; `weight` is a factor of the features.
    """

    kind: str
    names: tuple[str, ...]
    features: tuple[str, ...]
    encoder: Any
    done: str
    weight: float = 1.0

    def encode(self, cells: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the features of cells, by column, that were read as the kind."""
        with input_errors():
            features = self.encoder.transform(_gather(self.kind, self.names, cells))
        return np.asarray(features if self.weight == 1 else self.weight * features)


def _gather(kind: str, names: Sequence[str], cells: Mapping[str, NDArray[Any]]) -> Any:
    """Return the cells of columns as one matrix, or as one text per row."""
    matrix = _beside([cells[name] for name in names])
    return [" ".join(row) for row in matrix] if kind in N_TOPICS else matrix


def _fit_block(
    kind: str, cells: Mapping[str, NDArray[Any]], names: Sequence[str], scale: str
) -> Block:
    """Fit the encoder of a kind.

    All but numbers are brought to one size: two rows that have nothing in common in a column are
    about the root of 2 apart, as two rows are, on average, in a standardized number.
    """
    values, weight = _gather(kind, names, cells), 1.0
    parts: Sequence[Any]
    if kind == "missing":
        encoder, parts = MissingIndicator(features="all").fit(values), names
        done = "median where missing"
    elif kind in ("number", "vector"):
        fill = SimpleImputer(strategy="median" if kind == "number" else "mean")
        encoder = make_pipeline(fill, AutoScaler(scale)).fit(values)
        parts, done = range(values.shape[1]), SCALED[encoder[-1].method_]
    elif kind == "date":
        encoder = make_pipeline(SimpleImputer(), VarianceThreshold(), StandardScaler()).fit(values)
        parts = [DATE_PARTS[number] for number in encoder[1].get_support(indices=True)]
        done, weight = "day and place in year and week", 1 / np.sqrt(len(parts))
    elif kind in N_TOPICS:
        encoder = _fit_text(kind, values)
        terms, parts = encoder[0], range(encoder[1].n_components)
        what = "words" if terms.analyzer == "word" else "letter groups"
        done = f"tf-idf of {len(terms.vocabulary_):,} {what}, {len(parts)} topics"
    else:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        encoder.fit(values[values[:, 0] != ""])  # a missing category then counts as unknown
        parts = encoder.categories_[0]
        done = f"one-hot, {len(parts)} values"
    if kind in ("number", "missing"):
        features = [name if kind == "number" else f"{name}_missing" for name in names]
    else:
        features = [f"{'+'.join(names)}_{part}" for part in parts]
    return Block(kind, tuple(names), tuple(features), encoder, done, weight)


def _fit_text(kind: str, texts: list[str]) -> Any:
    """Fit tf-idf and a truncated SVD: on words, or on groups of letters for categories."""
    # Words that are neither rare nor common, if that leaves enough; then any words; then letters.
    tried = [
        (TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.3), 100),
        (TfidfVectorizer(sublinear_tf=True), 2),
        (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), 0),
    ]
    for terms, fewest in tried if kind == "text" else tried[2:]:
        with suppress(ValueError):  # no word is left
            weights = terms.fit_transform(texts)
            if weights.shape[1] >= fewest:
                break
    n_topics = max(1, min(N_TOPICS[kind], *(size - 1 for size in weights.shape)))
    return make_pipeline(terms, TruncatedSVD(n_topics, random_state=0).fit(weights), Normalizer())


def _find_weights(blocks: list[Block], features: list[NDArray[Any]]) -> list[float]:
    """Return factors that make columns count as the notes of TablePreparation say."""
    if len(blocks) == 1:
        return [1.0]
    sizes = [float(one.var(axis=0, dtype=np.float64).sum()) or 1.0 for one in features]
    weights = [1.0] * len(blocks)
    scaler = blocks[0].encoder[-1] if blocks[0].kind == "number" else None
    if scaler is not None and (scaler.method, scaler.method_) == ("auto", "none"):
        n_numbers = float(len(blocks[0].names))
        weights[0], sizes[0] = float(np.sqrt(n_numbers / sizes[0])), n_numbers
    plain = sum(size for block, size in zip(blocks, sizes, strict=True) if block.kind not in RICH)
    for number, block in enumerate(blocks):
        if block.kind in RICH:
            weights[number] = float(np.sqrt((plain or 1.0) / sizes[number]))
    return weights


def _beside(matrices: list[NDArray[Any]]) -> NDArray[Any]:
    return matrices[0] if len(matrices) == 1 else np.hstack(matrices)


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "column_names")
