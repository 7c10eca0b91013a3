"""Checks of the arrays that the functions of this package take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from labelfold.checks import input_errors
from labelfold.exceptions import InputError

ROUNDING = 1e-6  # of probabilities, some of which are computed in single precision


def check_scores(name: str, values: Any) -> NDArray[np.float64]:
    """Return finite numbers, one row per row and one column per class."""
    with input_errors():
        return check_array(values, dtype=np.float64, input_name=name, ensure_min_samples=0)


def check_distributions(name: str, values: Any) -> NDArray[np.float64]:
    """Return probabilities, one row per row and one column per class."""
    found = check_scores(name, values)
    low, high = found.min(initial=0.0), found.max(initial=0.0)
    if low < -ROUNDING or high > 1 + ROUNDING:
        raise InputError(
            f"{name} must hold probabilities, from 0 to 1; got {low:.4g} to {high:.4g}."
        )
    return found


def check_codes(
    name: str, values: Any, shape: tuple[int, int], *, least: int = 0
) -> NDArray[np.integer]:
    """Return the numbers of classes of so many rows, of so many classes; -1 if `least` is."""
    n_rows, n_classes = shape
    try:
        codes = np.asarray(values)
    except ValueError:
        codes = np.array(None)
    if codes.shape != (n_rows,) or codes.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be {n_rows} numbers of classes, one per row: it has shape {codes.shape} "
            f"and values of type {codes.dtype}."
        )
    if len(codes) and not (codes.min() >= least and codes.max() < n_classes):
        raise InputError(
            f"{name} must be numbers of classes, from {least} to {n_classes - 1}; got "
            f"{codes.min()} to {codes.max()}."
        )
    return codes


def check_per_class(name: str, values: Any, n_classes: int) -> NDArray[Any]:
    """Return one value per class."""
    found = np.asarray(values)
    if found.shape != (n_classes,):
        raise InputError(
            f"{name} must have one value for each of the {n_classes} classes: it has shape "
            f"{found.shape}."
        )
    return found
