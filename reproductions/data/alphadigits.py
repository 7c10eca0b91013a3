"""Binary Alphadigits: from the file of Sam Roweis' page to images as rows, and characters.

The original is a MATLAB file with the cell arrays `dat`, a row of images for each class, and
`classlabels`, their names. The NumPy file made of it holds all images as `X`, the positions of
their classes as `y`, and the names as `classes`.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from reproductions.data.files import DataFile

ORIGIN = (
    "Get binaryalphadigs.mat from Sam Roweis' data page, "
    "https://cs.nyu.edu/~roweis/data/binaryalphadigs.mat."
)
MATLAB_FILE = DataFile(
    name="binaryalphadigs.mat",
    # As published with the URL by TensorFlow Datasets, binary_alpha_digits/checksums.tsv.
    sha256="3ee9392e64e4e3bb7b35502b69bf2555a0b4197c1b31048c4189b84bc0bc6ea7",
    origin=ORIGIN,
)
NUMPY_FILE = DataFile(
    name="binaryalphadigs.npz",
    sha256="52727aed56000d71534f9c1297dd6422889f6148e513f53b4078e0ff2c356526",
    origin=f"Remove it. {ORIGIN}",
)


def load_alphadigits(
    *, data_home: str | os.PathLike[str] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """Load the Binary Alphadigits: 39 black and white images for each of 36 digits and capitals.

    Returned are the pixels, 0 or 1, in an array of shape (1404, 320) whose `reshape(-1, 20, 16)`
    gives the images, and the characters as strings (dtype object), sorted: 39 of "0" first, 39 of
    "Z" last.

    The classes "0" and "O" are the same 39 images, in the same order, so no method can separate
    them. Two images of "0" are equal, hence two of "O", and two of "7": 1,363 images differ.

    The NumPy file is taken if both files are there. It is what
    `numpy.savez_compressed("binaryalphadigs.npz", X=X, y=y, classes=classes)` writes for the images
    `X` of shape (1404, 20, 16) and the classes `y` from 0 to 35, both uint8, and the 36 names
    `classes`. Its bytes depend on the system and its compression library, and the loader knows one
    version of them: the original is the safer choice.
    """
    with suppress(FileNotFoundError):
        with np.load(io.BytesIO(NUMPY_FILE.read(data_home))) as file:
            images, labels = file["X"], file["classes"][file["y"]]
        return _rows(images, labels)
    # Any, since SciPy's stubs leave out that it reads open files.
    content: Any = io.BytesIO(MATLAB_FILE.read(data_home))
    variables = loadmat(content)
    cells = variables["dat"]
    names = [str(label.flat[0]) for label in variables["classlabels"].flat]
    return _rows(np.stack(list(cells.flat)), np.repeat(names, cells.shape[1]))


def _rows(
    images: NDArray[np.generic], labels: NDArray[np.str_]
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    # Objects, since None and -1 written into an array of one-letter strings would become classes.
    return images.reshape(len(images), -1).astype(np.float64), labels.astype(object)
