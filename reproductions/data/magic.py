"""MAGIC Gamma Telescope: from the text file of its UCI page to features and classes."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from reproductions.data.files import DataFile

FILE = DataFile(
    name="magic04.data",
    sha256="e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
    origin=(
        'Get it from the UCI data set "MAGIC Gamma Telescope", '
        "https://archive.ics.uci.edu/ml/machine-learning-databases/magic/magic04.data."
    ),
    has_free_blanks=True,
)


def load_magic(
    *, data_home: str | os.PathLike[str] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """Load the MAGIC Gamma Telescope data: shapes of simulated showers, and their cause.

    Each row describes the image that a shower of particles in the atmosphere leaves in the camera
    of a Cherenkov telescope, by an ellipse fitted to it: R. K. Bock et al., "Methods for
    multidimensional event classification: a case study using images from a Cherenkov gamma-ray
    telescope", Nuclear Instruments and Methods in Physics Research A 516, 2004.

    Returned are the columns fLength, fWidth, fSize, fConc, fConc1, fAsym, fM3Long, fM3Trans, fAlpha
    and fDist, in units as in the file, and the classes as strings (dtype object): 12,332 rows of
    "g", a gamma ray, the signal, before 6,688 of "h", a hadron, the background; 115 rows occur
    twice. The standard deviations of the features lie between 0.1 and 75, so distances ask for
    scaling first.
    """
    lines = FILE.read(data_home).decode("ascii").splitlines()
    table = np.loadtxt(lines, dtype=str, delimiter=",", ndmin=2)
    # Objects, since None and -1 written into an array of one-letter strings would become classes.
    return table[:, :-1].astype(np.float64), table[:, -1].astype(object)
