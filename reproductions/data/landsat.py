"""Statlog (Landsat Satellite): from the text files of its UCI page to features and classes."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from reproductions.data.files import DataFile

SOURCE = "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/satimage"


def _file(name: str, sha256: str) -> DataFile:
    origin = f'Get it from the UCI data set "Statlog (Landsat Satellite)", {SOURCE}/{name}.'
    return DataFile(name, sha256, origin, has_free_blanks=True)


FILES = {
    "train": _file("sat.trn", "e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613"),
    "test": _file("sat.tst", "4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479"),
}


def load_landsat(
    subset: Literal["all", "train", "test"] = "all",
    *,
    data_home: str | os.PathLike[str] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load the Landsat Satellite data: 3 x 3 pixels in 4 spectral bands, and the kind of soil.

    There are 4,435 training rows and 2,000 test rows; "all" is the former followed by the latter.
    Returned are 36 pixel values from 0 to 255 per row, as floats, and the classes as in the file, 1
    to 5 and 7; the data set has no class 6.
    """
    if subset not in ("all", *FILES):
        raise InputError(f"subset={subset!r} must be 'all', 'train' or 'test'.")
    files = FILES.values() if subset == "all" else [FILES[subset]]
    lines = [line for file in files for line in file.read(data_home).decode("ascii").splitlines()]
    table = np.loadtxt(lines, dtype=np.int64, ndmin=2)
    return table[:, :-1].astype(np.float64), table[:, -1]
