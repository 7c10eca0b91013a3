"""Statlog (Landsat Satellite): from the text files of its UCI page to features and classes."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from reproductions.data.files import DataFile

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

N_FEATURES = 36
CLASSES = (1, 2, 3, 4, 5, 7)
SOURCE = "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/satimage"


def _file(name: str, *, sha256: str, content_sha256: str) -> DataFile:
    return DataFile(
        name=f"{name}.gz",
        sha256=sha256,
        content_sha256=content_sha256,
        origin=(
            f'By hand: get {name} from the UCI Machine Learning Repository, data set "Statlog '
            f'(Landsat Satellite)", lines of 37 integers without a header, and put it into the '
            f"directory that data_home names, as it is or packed with gzip to {name}.gz."
        ),
        url=f"{SOURCE}/{name}",
        blanks_matter=False,
    )


FILES = {
    "train": _file(
        "sat.trn",
        sha256="ab91668c20f0881abd30e48a3bb783f212b177ed389d82b5526ccdd92409e90b",
        content_sha256="e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613",
    ),
    "test": _file(
        "sat.tst",
        sha256="b7cb333e9eb31cca2c9f30e24ea81d6cb24f558ea07cc31800ce99411441b126",
        content_sha256="4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479",
    ),
}
PARTS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}


def load_landsat(
    subset: Literal["all", "train", "test"] = "all",
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> tuple[FloatArray, IntArray]:
    """Load the Landsat Satellite data: 3 x 3 pixels in 4 spectral bands, and the kind of soil.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        The 4,435 training rows, the 2,000 test rows, or the former followed by the latter.

    data_home : str or path-like, default=None
        Directory that holds the files `sat.trn` and `sat.tst`, plain or packed with gzip as
        `sat.trn.gz` and `sat.tst.gz`. By default the one that the environment variable
        LABELFOLD_DATA names.

    download : bool, default=False
        Whether to fetch a missing file from the UCI Machine Learning Repository. It is kept in
        the directory, which is made if need be, and in scikit-learn's data home if none is named;
        the next call with `download=True` finds it there. Without it nothing is ever fetched.

    Returns
    -------
    X : ndarray of shape (n_samples, 36)
        Pixel values from 0 to 255, as floats.

    y : ndarray of shape (n_samples,)
        Classes as in the file, 1 to 5 and 7; the data set has no class 6.

    Raises
    ------
    FileNotFoundError
        If the directory or a file is missing; the message says how to get it.

    ConnectionError
        If a download failed; the message says how to get the file by hand.

    ValueError
        If a file is not the expected one. A wrong download is removed, any other file stays.

    Examples
    --------
    >>> from reproductions.data import load_landsat
    >>> X, y = load_landsat("train", data_home="data", download=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (4435, 36)
    """
    if subset not in PARTS:
        raise InputError(f"subset={subset!r} is unknown: give 'all', 'train' or 'test'.")
    files = [FILES[part] for part in PARTS[subset]]
    tables = [_parse(file.read(data_home, download=download), file.name) for file in files]
    table = np.concatenate(tables)
    return table[:, :-1].astype(np.float64), table[:, -1]


def _parse(content: bytes, name: str) -> IntArray:
    if not content.strip():
        raise InputError(f"{name} is empty: expected are lines of {N_FEATURES + 1} integers.")
    try:
        table = np.loadtxt(content.decode("ascii").splitlines(), dtype=np.int64, ndmin=2)
    except ValueError as error:
        raise InputError(f"{name} is no table of integers: {error}") from error
    if table.shape[1] != N_FEATURES + 1:
        raise InputError(
            f"{name} has {table.shape[1]} columns: expected are {N_FEATURES} features and a class."
        )
    unknown = np.setdiff1d(table[:, -1], CLASSES)
    if unknown.size:
        raise InputError(f"{name} has the classes {unknown.tolist()}: expected are {CLASSES}.")
    return table
