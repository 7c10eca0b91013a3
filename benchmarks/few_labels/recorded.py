"""Recorded sets: from the files of the data folder to rows and classes.

The environment variable LABELFOLD_DATA names the folder; its files are those of the reproductions
and four more, `FILES` below. Every function returns rows (float64) and classes (int64).
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from reproductions.data import (
    load_alphadigits,
    load_landsat,
    load_magic,
    load_mnist,
    load_newsgroups,
)
from reproductions.data.files import DataFile

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
SEED = 0
FILES = {
    "coil20": DataFile(
        "coil20_32x32.npz",
        "fe9d4f9ac3caebd288ed0190c7ea5b15c03512c6667386534aeb2cbf50d6443f",
        "COIL-20 as 32 x 32 images: X (uint16, gray level times 4080) and y (1 to 20).",
    ),
    "optdigits": DataFile(
        "optdigits.npz",
        "77d143916fb061afc1c2b4929bc1da3f906bbb2ff7fe1a4b4110c5728bc2efa8",
        'The UCI data set "Optical Recognition of Handwritten Digits": X_train, y_train, ...',
    ),
    "pendigits": DataFile(
        "pendigits.npz",
        "8d82b1be944fc7c20572db62c56e26a5778dc77fa9ffe673767501ca49ab3876",
        'The UCI data set "Pen-Based Recognition of Handwritten Digits": X_train, y_train, ...',
    ),
    "vectors": DataFile(
        "newsgroups8k-vectors.parquet",
        "8ea9f2d472afeaa9aa0215f5b0c05bffce6d796eda3d71bb4d0a002cc97b2946",
        "8,000 articles of 20 Newsgroups with their sentence vectors of 512 numbers.",
    ),
}


def read_digits() -> Rows:
    """Return scikit-learn's 1,797 digits of 8 x 8 pixels."""
    X, y = load_digits(return_X_y=True)
    return X, _codes(y)


def read_optdigits() -> Rows:
    """Return the training rows of Optdigits."""
    arrays = _arrays("optdigits")
    return arrays["X_train"].astype(np.float64), _codes(arrays["y_train"])


def read_pendigits() -> Rows:
    """Return the training rows of Pendigits."""
    arrays = _arrays("pendigits")
    return arrays["X_train"].astype(np.float64), _codes(arrays["y_train"])


def read_coil20() -> Rows:
    """Return 72 views of 20 objects as gray levels of 32 x 32 pixels."""
    arrays = _arrays("coil20")
    images = arrays["X"].reshape(len(arrays["X"]), -1)
    return images / 4080, _codes(arrays["y"])


def read_landsat() -> Rows:
    """Return the training and the test rows of Landsat."""
    X, y = load_landsat("all")
    return X, _codes(y)


def read_magic() -> Rows:
    """Return MAGIC, whose columns have different units."""
    X, y = load_magic()
    return X, _codes(y)


def read_alphadigits() -> Rows:
    """Return black and white images of 36 characters; "0" and "O" are the same images."""
    X, y = load_alphadigits()
    return X, _codes(y)


def read_mnist60k() -> Rows:
    """Return 100 principal components of MNIST's 60,000 training images."""
    X, y = load_mnist("train")
    return _components(X, 100), y


def read_mnist10k() -> Rows:
    """Return 100 principal components of a random 10,000 of MNIST's training images."""
    X, y = load_mnist("train")
    rows = np.random.default_rng(SEED).choice(len(y), 10_000, replace=False)
    return _components(X[rows], 100), y[rows]


def read_unb49() -> Rows:
    """Return 50 principal components of 3,600 fours and 400 nines of MNIST."""
    X, y = load_mnist("train")
    rng = np.random.default_rng(SEED)
    fours = rng.choice(np.flatnonzero(y == 4), 3600, replace=False)
    nines = rng.choice(np.flatnonzero(y == 9), 400, replace=False)
    rows = np.concatenate([fours, nines])
    return _components(X[rows], 50), _codes(y[rows])


def read_news() -> Rows:
    """Return 10,000 articles of 20 Newsgroups as unit vectors of 100 singular dimensions.

    Articles without a word of the vocabulary are zero rows.
    """
    texts, groups = load_newsgroups()
    rows = np.random.default_rng(SEED).choice(len(texts), 10_000, replace=False)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.3, stop_words="english")
    frequencies = vectorizer.fit_transform([texts[row] for row in rows])
    X = TruncatedSVD(100, random_state=SEED).fit_transform(frequencies)
    return normalize(X), _codes(groups[rows])


def read_vectors() -> Rows:
    """Return the sentence vectors of 8,000 articles of 20 Newsgroups, 400 of each group."""
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(FILES["vectors"].read()))
    X = np.array(table["embedding"].to_pylist(), dtype=np.float64)
    return X, _codes(table["group"].to_pylist())


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    with np.load(io.BytesIO(FILES[name].read()), allow_pickle=False) as file:
        return dict(file)


def _codes(y: Any) -> NDArray[np.int64]:
    """Return classes as 0, 1, ... in sorted order."""
    return np.unique(y, return_inverse=True)[1].astype(np.int64)


def _components(X: NDArray[np.uint8], n_components: int) -> NDArray[np.float64]:
    return PCA(n_components, random_state=SEED).fit_transform(X.astype(np.float64))
