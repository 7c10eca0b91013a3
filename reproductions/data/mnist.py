"""MNIST: from its idx files to images as rows, and digits.

An idx file is a header of big-endian numbers, then the values in C order. Header: two zero bytes,
one byte for the type (8 is unsigned byte), one for the number of dimensions, and 4 for each size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from reproductions.data.files import DataFile

PixelArray = NDArray[np.uint8]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class ImageFiles:
    """The two files of a subset."""

    images: DataFile
    labels: DataFile


def _origin(name: str) -> str:
    return (
        f"Get {name}.gz of MNIST (LeCun, Cortes, Burges: the MNIST database of handwritten "
        f"digits) and put it into the directory as mnist-{name}.gz."
    )


def _file(name: str, sha256: str, content_sha256: str) -> DataFile:
    return DataFile(f"mnist-{name}.gz", sha256, content_sha256, _origin(name))


FILES = {
    "train": ImageFiles(
        images=_file(
            "train-images-idx3-ubyte",
            sha256="71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
            content_sha256="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        labels=_file(
            "train-labels-idx1-ubyte",
            sha256="fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e",
            content_sha256="65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
    ),
    "test": ImageFiles(
        images=_file(
            "t10k-images-idx3-ubyte",
            sha256="5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341",
            content_sha256="0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        labels=_file(
            "t10k-labels-idx1-ubyte",
            sha256="ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6",
            content_sha256="ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
}


def load_mnist(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: str | os.PathLike[str] | None = None,
) -> tuple[PixelArray, IntArray]:
    """Load MNIST's images of handwritten digits.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The 60,000 training images or the 10,000 test images.

    data_home : str or path-like, default=None
        Directory that holds the gzip idx files, named `mnist-train-images-idx3-ubyte.gz`,
        `mnist-train-labels-idx1-ubyte.gz`, and the same with `t10k` for `train`. By default the
        one that the environment variable LABELFOLD_DATA names.

    Returns
    -------
    X : ndarray of shape (n_samples, 784)
        Pixels from 0 to 255 (uint8), an image a row.

    y : ndarray of shape (n_samples,)
        The digits.

    Raises
    ------
    FileNotFoundError
        If the directory or a file is missing; the message says how to get it.

    ValueError
        If a file is not the expected one.

    Examples
    --------
    >>> from reproductions.data import load_mnist
    >>> X, y = load_mnist("test", data_home="data")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 784)
    """
    if subset not in FILES:
        raise InputError(f"subset={subset!r} is unknown: give 'train' or 'test'.")
    files = FILES[subset]
    images = _parse(files.images.read(data_home), 3)
    labels = _parse(files.labels.read(data_home), 1)
    return images.reshape(len(images), -1), labels.astype(np.int64)


def _parse(content: bytes, n_dimensions: int) -> PixelArray:
    """Return the array of an idx file, of which the checksum was right."""
    shape = np.frombuffer(content, dtype=">u4", count=n_dimensions, offset=4)
    # A copy, since an array on top of `bytes` would be read-only.
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions).reshape(shape).copy()
