"""MAGIC Gamma Telescope: from the text file of its UCI page to features and classes."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from reproductions.data.files import DataFile

FloatArray = NDArray[np.float64]
StringArray = NDArray[np.object_]

N_FEATURES = 10
CLASSES = ("g", "h")
FILE = DataFile(
    name="magic04.data.gz",
    sha256="3cfa121556434f2359d69cf5e0518a73bf82f732cf14fb1d42af2f78fefab95d",
    content_sha256="e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
    origin=(
        'By hand: get magic04.data from the UCI Machine Learning Repository, data set "MAGIC Gamma '
        'Telescope", lines of 10 numbers and g or h parted by commas, without a header, and put it '
        "into the directory that data_home names, as it is or packed with gzip to magic04.data.gz."
    ),
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/magic/magic04.data",
    blanks_matter=False,
)


def load_magic(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> tuple[FloatArray, StringArray]:
    """Load the MAGIC Gamma Telescope data: shapes of simulated showers, and what set them off.

    Each row describes the image that a shower of particles in the atmosphere leaves in the camera
    of a Cherenkov telescope [1]_, by an ellipse fitted to it.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Directory that holds the file `magic04.data`, plain or packed with gzip as
        `magic04.data.gz`. By default the one that the environment variable LABELFOLD_DATA names.

    download : bool, default=False
        Whether to fetch a missing file from the UCI Machine Learning Repository. It is kept in
        the directory, which is made if need be, and in scikit-learn's data home if none is named;
        the next call with `download=True` finds it there. Without it nothing is ever fetched.

    Returns
    -------
    X : ndarray of shape (19020, 10)
        The columns fLength, fWidth, fSize, fConc, fConc1, fAsym, fM3Long, fM3Trans, fAlpha and
        fDist, in units as in the file.

    y : ndarray of shape (19020,)
        "g" for a gamma ray, the signal, and "h" for a hadron, the background, as strings (dtype
        object).

    Raises
    ------
    FileNotFoundError
        If the directory or the file is missing; the message says how to get it.

    ConnectionError
        If a download failed; the message says how to get the file by hand.

    ValueError
        If the file is not the expected one. A wrong download is removed, any other file stays.

    Notes
    -----
    The rows are sorted by class, 12,332 of "g" before 6,688 of "h", and 115 rows occur twice. The
    standard deviations of the features lie between 0.1 and 75, so distances ask for scaling first.

    References
    ----------
    .. [1] R. K. Bock et al., "Methods for multidimensional event classification: a case study using
       images from a Cherenkov gamma-ray telescope", Nuclear Instruments and Methods in Physics
       Research A 516, 2004.

    Examples
    --------
    >>> from reproductions.data import load_magic
    >>> X, y = load_magic(data_home="data", download=True)  # doctest: +SKIP
    >>> X.shape, y[0]  # doctest: +SKIP
    ((19020, 10), 'g')
    """
    return _parse(FILE.read(data_home, download=download), FILE.name)


def _parse(content: bytes, name: str) -> tuple[FloatArray, StringArray]:
    if not content.strip():
        raise InputError(
            f"{name} is empty: expected are lines of {N_FEATURES} numbers and a class."
        )
    try:
        lines = content.decode("ascii").splitlines()
        table = np.loadtxt(lines, dtype=str, delimiter=",", comments=None, ndmin=2)
    except ValueError as error:
        raise InputError(f"{name} is no table of numbers and classes: {error}") from error
    if table.shape[1] != N_FEATURES + 1:
        raise InputError(
            f"{name} has {table.shape[1]} columns: expected are {N_FEATURES} features and a class."
        )
    unknown = np.setdiff1d(table[:, -1], CLASSES)
    if unknown.size:
        raise InputError(f"{name} has the classes {unknown.tolist()}: expected are {CLASSES}.")
    try:
        X = table[:, :-1].astype(np.float64)
    except ValueError as error:
        raise InputError(f"{name} has a feature that is no number: {error}") from error
    infinite = ~np.isfinite(X)
    if infinite.any():
        raise InputError(
            f"{name} has the feature {table[:, :-1][infinite][0]}: expected are finite numbers."
        )
    # Objects, since None and -1 written into an array of one-letter strings would become classes.
    return X, table[:, -1].astype(object)
