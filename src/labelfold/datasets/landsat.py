"""Statlog (Landsat Satellite): from the text files of its UCI page to features and classes."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelfold.datasets.files import DataFile

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

N_FEATURES = 36
CLASSES = (1, 2, 3, 4, 5, 7)


def _origin(name: str) -> str:
    return (
        f'Get {name} from the UCI Machine Learning Repository, data set "Statlog (Landsat '
        f'Satellite)": lines of 37 integers with one space between, no header; pack it with gzip '
        f"to {name}.gz and put it into the directory."
    )


FILES = {
    "train": DataFile(
        name="sat.trn.gz",
        sha256="ab91668c20f0881abd30e48a3bb783f212b177ed389d82b5526ccdd92409e90b",
        content_sha256="e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613",
        origin=_origin("sat.trn"),
    ),
    "test": DataFile(
        name="sat.tst.gz",
        sha256="b7cb333e9eb31cca2c9f30e24ea81d6cb24f558ea07cc31800ce99411441b126",
        content_sha256="4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479",
        origin=_origin("sat.tst"),
    ),
}
PARTS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}


def load_landsat(
    subset: Literal["all", "train", "test"] = "all",
    *,
    data_home: str | os.PathLike[str] | None = None,
) -> tuple[FloatArray, IntArray]:
    """Load the Landsat Satellite data: 3 x 3 pixels in 4 spectral bands, and the kind of soil.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        The 4,435 training rows, the 2,000 test rows, or the former followed by the latter.

    data_home : str or path-like, default=None
        Directory that holds `sat.trn.gz` and `sat.tst.gz`. By default the one that the environment
        variable LABELFOLD_DATA names.

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

    ValueError
        If a file is not the expected one.

    Examples
    --------
    >>> from labelfold.datasets import load_landsat
    >>> X, y = load_landsat("train", data_home="data")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (4435, 36)
    """
    if subset not in PARTS:
        raise ValueError(f"subset={subset!r} is unknown: give 'all', 'train' or 'test'.")
    tables = [_parse(FILES[part].read(data_home), FILES[part].name) for part in PARTS[subset]]
    table = np.concatenate(tables)
    return table[:, :-1].astype(np.float64), table[:, -1]


def _parse(content: bytes, name: str) -> IntArray:
    if not content.strip():
        raise ValueError(f"{name} is empty: expected are lines of {N_FEATURES + 1} integers.")
    try:
        table = np.loadtxt(content.decode("ascii").splitlines(), dtype=np.int64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{name} is no table of integers: {error}") from error
    if table.shape[1] != N_FEATURES + 1:
        raise ValueError(
            f"{name} has {table.shape[1]} columns: expected are {N_FEATURES} features and a class."
        )
    unknown = np.setdiff1d(table[:, -1], CLASSES)
    if unknown.size:
        raise ValueError(f"{name} has the classes {unknown.tolist()}: expected are {CLASSES}.")
    return table
