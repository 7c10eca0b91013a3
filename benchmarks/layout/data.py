"""Seven sets of rows, each with its metric and the number of labels that pictures get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.few_labels import data as few_labels
from benchmarks.few_labels.recorded import SEED
from reproductions.data import load_newsgroups

N_LABELS = {
    "digits": 50,
    "coil20": 100,
    "landsat": 60,
    "vectors": 200,
    "news": 200,
    "mnist10k": 100,
    "mnist60k": 100,
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their classes."""

    name: str
    X: Any
    y: NDArray[np.int64]
    metric: str

    def labeled(self, seed: int, n_labels: int | None = None) -> NDArray[np.int64]:
        """Return the rows of one draw of labels."""
        return few_labels.draw_labels(self.y, n_labels or N_LABELS[self.name], seed)

    def partial(self, labeled: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the classes of the labeled rows, and -1."""
        y = np.full(len(self.y), -1)
        y[labeled] = self.y[labeled]
        return y


def load(name: str) -> Rows:
    """Return a set: for 20 Newsgroups tf-idf of 10,000 articles by the cosine, without the 200 or
    so articles that have no word of the vocabulary."""
    if name != "news":
        data = few_labels.load(name)
        return Rows(name, data.X, data.y, "euclidean")
    texts, groups = load_newsgroups()
    rows = np.random.default_rng(SEED).choice(len(texts), 10_000, replace=False)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.3, stop_words="english")
    X = vectorizer.fit_transform([texts[row] for row in rows])
    filled = np.diff(X.indptr) > 0
    classes = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
    return Rows(name, X[filled], classes[filled], "cosine")
