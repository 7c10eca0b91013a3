"""MNIST: from its idx files to images as rows, and digits.

An idx file is a header of big-endian numbers, then the values in C order. Header: two zero bytes,
one byte for the type (8 is unsigned byte), one for the number of dimensions, and 4 for each size.
"""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from reproductions.data.files import DataFile

CHECKSUMS = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def _file(name: str) -> DataFile:
    origin = (
        f"Get {name}.gz of MNIST (LeCun, Cortes, Burges: the MNIST database of handwritten "
        f"digits) and put it into the folder as mnist-{name}.gz."
    )
    return DataFile(f"mnist-{name}", CHECKSUMS[name], origin)


# Images and labels of each subset.
FILES = {
    "train": (_file("train-images-idx3-ubyte"), _file("train-labels-idx1-ubyte")),
    "test": (_file("t10k-images-idx3-ubyte"), _file("t10k-labels-idx1-ubyte")),
}


def load_mnist(
    subset: Literal["train", "test"] = "train", *, data_home: str | os.PathLike[str] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Load MNIST's 60,000 training or 10,000 test images of handwritten digits.

    Returned are the 784 pixels of each image, from 0 to 255 (uint8), and the digits. The
    names of the files have "mnist-" before those of the originals.
    """
    if subset not in FILES:
        raise InputError(f"subset={subset!r} must be 'train' or 'test'.")
    images, labels = (_parse(file.read(data_home)) for file in FILES[subset])
    return images.reshape(len(images), -1), labels.astype(np.int64)


def _parse(content: bytes) -> NDArray[np.uint8]:
    """Return the array of an idx file of bytes."""
    n_dimensions = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=n_dimensions, offset=4)
    # A copy, since an array on top of `bytes` would be read-only.
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions).reshape(shape).copy()
