"""Cells of one kind -> features, by scikit-learn's encoders.

A fitted encoder is one of scikit-learn's, or a pipeline of them, so a model file needs no
other types. Every kind but numbers is brought to one size: two rows that have nothing in common in
a column are about the root of 2 apart, as two rows are, on average, in a standardized number.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

from labelfold.methods import stored
from labelfold.tables.scaling import SCALED, AutoScaler

__all__ = ["Block", "fit_block"]

N_TOPICS = {"text": 100, "many categories": 30}  # most features of a column
DAYS = {"year": 365.2425, "week": 7.0, "day": 1.0}  # that a cycle takes
DATE_PARTS = ("days", *(f"{cycle}_{way}" for cycle in DAYS for way in ("cos", "sin")), "missing")


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

    def encode(self, cells: Mapping[str, Any]) -> Any:
        """Return the features of cells, by column, that were read as the kind."""
        features = self.encoder.transform(_stack(self.kind, [cells[name] for name in self.names]))
        return features if self.weight == 1 else self.weight * features


def fit_block(kind: str, cells: Mapping[str, Any], scale: str) -> Block:
    """Fit the encoder of all columns of numbers or text, or of one column of another kind.

    `cells` are from :func:`labelfold.tables.column_kinds.read_cells`; `scale` is the method of
    :class:`AutoScaler` for numbers and vectors.
    """
    names = tuple(cells)
    values = _stack(kind, list(cells.values()))
    if kind == "missing":
        features = tuple(f"{name}_missing" for name in names)
        return Block(kind, names, features, AutoScaler("none").fit(values), "median where missing")
    weight = 1.0
    if kind in ("number", "vector"):
        fill = SimpleImputer(strategy="median" if kind == "number" else "mean")
        encoder = make_pipeline(fill, AutoScaler(scale)).fit(values)
        parts, done = list(map(str, range(values.shape[1]))), SCALED[encoder[-1].method_]
    elif kind == "date":
        encoder = make_pipeline(SimpleImputer(), VarianceThreshold(), StandardScaler()).fit(values)
        parts = [DATE_PARTS[number] for number in encoder[1].get_support(indices=True)]
        done, weight = "day and place in year and week", 1 / np.sqrt(len(parts))
    elif kind in N_TOPICS:
        encoder, done = _fit_text(kind, values)
        parts = list(map(str, range(encoder[1].n_components)))
    else:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        encoder.fit(values[values[:, 0] != ""])  # a missing category then counts as unknown
        parts = list(encoder.categories_[0])
        done = f"one-hot, {len(parts)} values"
    whole = "+".join(names)
    features = names if kind == "number" else tuple(f"{whole}_{part}" for part in parts)
    return Block(kind, names, features, encoder, done, weight)


def _stack(kind: str, cells: list[Any]) -> Any:
    """Return the cells of columns as the encoder of their kind takes them."""
    if kind in ("number", "missing"):
        numbers = np.column_stack(cells)
        return numbers if kind == "number" else np.isnan(numbers).astype(np.float64)
    if kind == "date":
        days = cells[0]
        angles = [2 * np.pi * np.mod(days / length, 1) for length in DAYS.values()]
        circles = [part for angle in angles for part in (np.cos(angle), np.sin(angle))]
        return np.column_stack([days, *circles, np.isnan(days)])
    if len(cells) > 1:
        return np.array([" ".join(texts) for texts in zip(*cells, strict=True)], dtype=object)
    return cells[0][:, None] if kind in ("yes/no", "category") else cells[0]


def _fit_text(kind: str, values: Any) -> tuple[Any, str]:
    """Fit tf-idf and a truncated SVD: on words, or on groups of letters for categories."""
    # Words that are neither rare nor common, if that leaves enough; then any words; then letters.
    tried = [
        (TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.3), 100),
        (TfidfVectorizer(sublinear_tf=True), 2),
        (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), 0),
    ]
    for terms, fewest in tried if kind == "text" else tried[2:]:
        with suppress(ValueError):  # no word is left
            weights = terms.fit_transform(values)
            if weights.shape[1] >= fewest:
                break
    what = "words" if terms.analyzer == "word" else "letter groups"
    n_topics = max(1, min(N_TOPICS[kind], *(size - 1 for size in weights.shape)))
    topics = TruncatedSVD(n_topics, random_state=0).fit(weights)
    done = f"tf-idf of {weights.shape[1]:,} {what}, {n_topics} topics"
    return make_pipeline(terms, topics, Normalizer()), done
