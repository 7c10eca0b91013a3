"""Binary Alphadigits: from the file of Sam Roweis' page to images as rows, and characters.

The original is a MATLAB file with the cell arrays `dat`, a row of images for each class, and
`classlabels`, their names. The NumPy file made of it holds all images as `X`, the positions of
their classes as `y`, and the names as `classes`.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from labelfold.exceptions import InputError
from reproductions.data.files import DataFile

FloatArray = NDArray[np.float64]
StringArray = NDArray[np.object_]

IMAGE_SHAPE = (20, 16)
CLASSES = tuple("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
MATLAB_ERRORS = (MatReadError, ValueError, TypeError, NotImplementedError, OSError, zlib.error)
BY_HAND = (
    "get binaryalphadigs.mat from Sam Roweis' data page, https://cs.nyu.edu/~roweis/data.html, "
    'data set "Binary Alphadigits", and put it into the directory that data_home names, as it is '
    "or packed with gzip to binaryalphadigs.mat.gz."
)
MATLAB_FILE = DataFile(
    name="binaryalphadigs.mat.gz",
    sha256=None,
    # As published with the URL by TensorFlow Datasets, binary_alpha_digits/checksums.tsv.
    content_sha256="3ee9392e64e4e3bb7b35502b69bf2555a0b4197c1b31048c4189b84bc0bc6ea7",
    origin=f"By hand: {BY_HAND} The file binaryalphadigs.npz made of it will do as well.",
    url="https://cs.nyu.edu/~roweis/data/binaryalphadigs.mat",
)
NUMPY_FILE = DataFile(
    name="binaryalphadigs.npz.gz",
    sha256=None,
    content_sha256="52727aed56000d71534f9c1297dd6422889f6148e513f53b4078e0ff2c356526",
    origin=f"Remove it and take the original: {BY_HAND}",
)


def load_alphadigits(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> tuple[FloatArray, StringArray]:
    """Load the Binary Alphadigits: small black and white images of digits and capital letters.

    There are 39 images of 20 x 16 pixels for each of 36 classes.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Directory that holds `binaryalphadigs.mat`, the original, or `binaryalphadigs.npz`, made
        of it (see Notes), plain or packed with gzip with `.gz` added to the name. By default the
        one that the environment variable LABELFOLD_DATA names.

    download : bool, default=False
        Whether to fetch the original from Sam Roweis' data page if both files are missing. It is
        kept in the directory, which is made if need be, and in scikit-learn's data home if none
        is named; the next call with `download=True` finds it there. Without it nothing is ever
        fetched.

    Returns
    -------
    X : ndarray of shape (1404, 320)
        Pixels, 0 or 1, an image a row: the 16 pixels of its top line first. `X.reshape(-1, 20, 16)`
        gives the images.

    y : ndarray of shape (1404,)
        The characters "0" to "9" and "A" to "Z", as strings (dtype object).

    Raises
    ------
    FileNotFoundError
        If the directory or the files are missing; the message says how to get one.

    ConnectionError
        If a download failed; the message says how to get the file by hand.

    ValueError
        If the file is not the expected one. A wrong download is removed, any other file stays.

    Notes
    -----
    The rows are sorted by class, 39 of "0" first and 39 of "Z" last.

    The classes "0" and "O" are one and the same 39 images, in the same order, so no method can tell
    them apart from the pixels. Two images of "0" are equal, hence two of "O", and two of "7": 1,363
    images differ.

    The NumPy file is taken if both files are there. It is what
    `numpy.savez_compressed("binaryalphadigs.npz", X=X, y=y, classes=classes)` writes for the images
    `X` of shape (1404, 20, 16) and the classes `y` from 0 to 35, both uint8, and the 36 names
    `classes`. Its bytes depend on the system and its compression library, and the loader knows one
    version of them, so that a copy of your own may be refused: the original is the safer choice.

    Examples
    --------
    >>> from reproductions.data import load_alphadigits
    >>> X, y = load_alphadigits(data_home="data", download=True)  # doctest: +SKIP
    >>> X.shape, y[-1]  # doctest: +SKIP
    ((1404, 320), 'Z')
    """
    with suppress(FileNotFoundError):
        return _parse_npz(NUMPY_FILE.read(data_home), NUMPY_FILE.plain_name)
    return _parse_mat(MATLAB_FILE.read(data_home, download=download), MATLAB_FILE.plain_name)


def _parse_npz(content: bytes, name: str) -> tuple[FloatArray, StringArray]:
    if not content.startswith(b"PK"):
        raise InputError(
            f"{name} begins with the bytes {content[:2].hex()}: an npz file begins with 504b."
        )
    try:
        # Never with pickle, which would run code from the file.
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{name} is no npz file of arrays without objects: {error}") from error
    images, codes, classes = _entries(arrays, ("X", "y", "classes"), name)
    if classes.ndim != 1 or classes.dtype.kind != "U":
        raise InputError(
            f"{name} has classes of shape {classes.shape} and type {classes.dtype}: expected is "
            "one row of strings."
        )
    if codes.shape != images.shape[:1] or codes.dtype.kind not in "iu":
        raise InputError(
            f"{name} has y of shape {codes.shape} and type {codes.dtype}, X of shape "
            f"{images.shape}: expected is one integer for each image."
        )
    outside = np.setdiff1d(codes, np.arange(len(classes)))
    if outside.size:
        raise InputError(
            f"{name} has the numbers {outside.tolist()} in y: expected are positions in classes, "
            f"which has {len(classes)}."
        )
    return _rows(images, classes[codes].tolist(), name)


def _parse_mat(content: bytes, name: str) -> tuple[FloatArray, StringArray]:
    # Any, since SciPy's stubs leave out that it reads open files.
    file: Any = io.BytesIO(content)
    try:
        variables = loadmat(file)
    except MATLAB_ERRORS as error:
        raise InputError(f"{name} is no MATLAB file that SciPy reads: {error}") from error
    images, classes = _entries(variables, ("dat", "classlabels"), name)
    if images.ndim != 2 or images.dtype != object or images.size == 0:
        raise InputError(
            f"{name} has dat of shape {images.shape} and type {images.dtype}: expected is a cell "
            "array with a row of images for each class."
        )
    if classes.dtype != object or classes.size != len(images):
        raise InputError(
            f"{name} has classlabels of shape {classes.shape} and type {classes.dtype}: expected "
            f"is a cell array of {len(images)} names, as dat has {len(images)} rows."
        )
    shapes = {image.shape for image in images.flat}
    if len(shapes) > 1:
        raise InputError(
            f"{name} has images of the shapes {sorted(shapes)}: expected is {IMAGE_SHAPE}."
        )
    # MATLAB's strings are arrays of one string, or of none if they are empty.
    names = ["".join(map(str, label.flat)) for label in classes.flat]
    return _rows(np.stack(list(images.flat)), np.repeat(names, images.shape[1]).tolist(), name)


def _entries(
    found: Mapping[str, Any], expected: tuple[str, ...], name: str
) -> list[NDArray[np.generic]]:
    """Arrays of the expected names, in their order."""
    missing = [key for key in expected if not isinstance(found.get(key), np.ndarray)]
    if missing:
        # Those with underscores are what SciPy tells of the MATLAB file itself.
        others = sorted(key for key in found if not key.startswith("__"))
        raise InputError(
            f"{name} has no array {' nor '.join(missing)}: expected are {', '.join(expected)}, "
            f"found {', '.join(others) or 'none'}."
        )
    return [found[key] for key in expected]


def _rows(
    images: NDArray[np.generic], labels: list[str], name: str
) -> tuple[FloatArray, StringArray]:
    if images.shape[1:] != IMAGE_SHAPE:
        raise InputError(
            f"{name} has images of shape {images.shape[1:]}: expected is {IMAGE_SHAPE}."
        )
    if images.dtype.kind not in "buif":
        raise InputError(f"{name} has pixels of type {images.dtype}: expected are numbers.")
    other = np.setdiff1d(images, [0, 1])
    if other.size:
        raise InputError(f"{name} has the pixel {other[0]}: expected are 0 and 1.")
    # Objects, since None and -1 written into an array of one-letter strings would become classes.
    y = np.array(labels, dtype=object)
    unknown = sorted(set(y) - set(CLASSES))
    if unknown:
        raise InputError(
            f"{name} has the classes {unknown}: expected are 0 to 9 and A to Z, in capitals."
        )
    return images.reshape(len(images), -1).astype(np.float64), y
