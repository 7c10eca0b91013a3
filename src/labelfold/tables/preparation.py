"""A table of mixed columns -> a matrix of features: ``TablePreparation``.

Columns are encoded by scikit-learn's encoders, all numbers together, all texts together and others
one by one. A fitted encoder is one of scikit-learn's or a pipeline of them, so a model file needs
no other types.
"""

from __future__ import annotations

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
from labelfold.labels import PartialLabels
from labelfold.methods import stored
from labelfold.tables.columns import (
    DATE_PARTS,
    LEFT_OUT,
    ColumnEntry,
    ColumnReport,
    count_gaps,
    read_cells,
    recognize,
)
from labelfold.tables.frames import as_table, get_column, is_vector, listed, shown
from labelfold.tables.scaling import METHODS, SCALED, AutoScaler

__all__ = ["TablePreparation", "make_preparation"]

RICH = ("text", "vector")  # kinds that count as much as all others together
N_TOPICS = {"text": 100, "many categories": 30}  # most features of a column
SURE = 5  # labels more than classes, before agreement is more than chance

Cells = Mapping[str, NDArray[Any]]  # by column, as `read_cells` returns them


def make_preparation(
    frame: Any, *, labels: str | None = None, scale: str = "auto"
) -> TablePreparation:
    """Return a :class:`TablePreparation` of the columns of a table, to fit alone or in a pipeline.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow Table or array
        The table; its columns are those that the transformer asks for.
    labels : str, default=None
        Name of the column of labels, which is left out.
    scale : str, default="auto"
        What to do with numbers, as in :class:`AutoScaler`.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelfold.tables import make_preparation
    >>> frame = pd.DataFrame({"size": [1.5, None, 3.0], "kind": ["a", "b", "a"], "y": [0, 1, -1]})
    >>> make_preparation(frame, labels="y").fit_transform(frame).shape
    (3, 4)
    """
    names = as_table(frame).column_names
    if labels is not None and not (isinstance(labels, str) and labels in names):
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
        """Recognize the columns of a table and fit their encoders; `y` is for the report only."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Fit, and return the features of the same table; see :meth:`fit`."""
        check_choice("scale", self.scale, METHODS)
        table = as_table(X)
        columns = _select(table, table.column_names if self.columns is None else self.columns)
        self.n_features_in_ = len(columns)
        self.__dict__.pop("feature_names_in_", None)
        if _has_names(X):
            self.feature_names_in_ = np.array(list(columns), dtype=object)
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
            replace(block, weight=block.weight * weight)
            for block, weight in zip(blocks, weights, strict=True)
        ]
        copies = [] if y is None else find_label_copies(cells, y)
        entries = []
        for name, (kind, how) in kinds.items():
            mine = [block for block in blocks if name in block.names]
            done = [f"written as {how}"] * bool(how) + [block.done for block in mine]
            n_features = sum(block.n_features_of(name) for block in mine)
            gaps = count_gaps(columns[name], cells[name]) if mine else (0, 0)
            what = LEFT_OUT.get(kind, ", ".join(done))
            entries.append(ColumnEntry(name, kind, what, n_features, *gaps, name in copies))
        is_scaled = blocks[0].kind == "number"
        scaling = f"{blocks[0].done} ({blocks[0].encoder[-1].reason_})" if is_scaled else ""
        self.report_ = ColumnReport(tuple(entries), scaling)
        return _beside([weight * one for one, weight in zip(features, weights, strict=True)])

    def transform(self, X: Any) -> Any:
        """Return the features of a table with the columns of ``fit``, in any order."""
        check_is_fitted(self)
        table = as_table(X)
        if not _has_names(X) and table.num_columns != self.n_features_in_:
            raise InputError(
                f"X has {table.num_columns} features, but TablePreparation is expecting "
                f"{self.n_features_in_} features as input."
            )
        columns = _select(table, self._kinds)
        cells = {name: self._read(name, column) for name, column in columns.items()}
        return _beside([block.encode(cells) for block in self._blocks])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features, which begin with those of their columns."""
        check_is_fitted(self)
        return np.array([name for block in self._blocks for name in block.features], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _fit_blocks(self, cells: Cells) -> list[Block]:
        """Fit encoders of all numbers, of which are missing, of all texts, and of each column."""
        kinds = {name: kind for name, (kind, _) in self._kinds.items()}
        numbers, texts = ([n for n in kinds if kinds[n] == kind] for kind in ("number", "text"))
        missing = [name for name in numbers if np.isnan(cells[name]).any()]
        groups = [("number", numbers), ("missing", missing), ("text", texts)]
        groups += [(kinds[name], [name]) for name in kinds if name not in (*numbers, *texts)]
        return [_fit_block(kind, cells, names, self.scale) for kind, names in groups if names]

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

    def n_features_of(self, name: str) -> int:
        """Return how many features a column gives; those of all texts count as the first's."""
        one_each = len(self.features) == len(self.names)
        return 1 if one_each else len(self.features) * (name == self.names[0])

    def encode(self, cells: Cells) -> NDArray[Any]:
        """Return the features of cells that were read as the kind."""
        with input_errors():
            features = self.encoder.transform(_gather(self.kind, self.names, cells))
        return np.asarray(features if self.weight == 1 else self.weight * features)


def find_label_copies(cells: Cells, y: ArrayLike) -> list[str]:
    """Return names of columns that hold a single value per class, different for every class.

    Such a column may be the label under another name, or something recorded after it, and makes
    estimates of the error meaningless. Reported only if five or more labels confirm it.
    """
    try:
        labels = PartialLabels.from_y(y)
    except (TypeError, ValueError):  # what y means is for the estimator to say
        return []
    rows = np.flatnonzero(labels.codes >= 0)
    if labels.n_classes < 2 or len(rows) < labels.n_classes + SURE:
        return []
    codes = labels.codes[rows].tolist()
    copies = []
    for name, column in cells.items():
        values = column[rows, 0].tolist() if column.shape[1] == 1 else []
        is_filled = all(value == value and value != "" for value in values)
        pairs = set(zip(values, codes, strict=False))
        if is_filled and len(pairs) == len(set(values)) == labels.n_classes:
            copies.append(name)
    return copies


def _fit_block(kind: str, cells: Cells, names: Sequence[str], scale: str) -> Block:
    """Fit the encoder of a kind.

    All but numbers are brought to one size: two rows that have nothing in common in a column are
    about the root of 2 apart, as two rows are, on average, in a standardized number.
    """
    values, weight = _gather(kind, names, cells), 1.0
    parts: Sequence[Any] = ()
    if kind == "missing":
        encoder, done = MissingIndicator(features="all").fit(values), "median where missing"
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
    features = [f"{'+'.join(names)}_{part}" for part in parts]
    if kind in ("number", "missing"):
        features = [name if kind == "number" else f"{name}_missing" for name in names]
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


def _gather(kind: str, names: Sequence[str], cells: Cells) -> Any:
    """Return the cells of columns as one matrix, or as one text per row."""
    matrix = _beside([cells[name] for name in names])
    return [" ".join(row) for row in matrix] if kind in N_TOPICS else matrix


def _beside(matrices: list[NDArray[Any]]) -> NDArray[Any]:
    return matrices[0] if len(matrices) == 1 else np.hstack(matrices)


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "column_names")


def _select(table: Any, names: Any) -> dict[str, Any]:
    """Return columns by name; the error names all that are missing."""
    missing = [shown(name) for name in names if name not in table.column_names]
    if missing:
        raise InputError(
            f"The table lacks column{'s' * (len(missing) > 1)} {listed(missing)}; it has "
            f"{listed(map(shown, table.column_names))}: add or rename what is missing."
        )
    return {name: get_column(table, name) for name in names}
