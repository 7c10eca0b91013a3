"""Class patterns: from the coordinates of points on a rectangle to their classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelfold.exceptions import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Pattern = Literal["bands", "checkerboard", "random"] | Callable[[FloatArray], ArrayLike]


@dataclass(frozen=True)
class Grid:
    """The rectangle [0, length] x [0, height], cut into `n_bands` x `n_rows` equal cells."""

    length: float
    height: float
    n_bands: int
    n_rows: int

    def band(self, coordinates: FloatArray) -> IntArray:
        """Find each point's band along the length."""
        return _cell(coordinates[:, 0], self.length, self.n_bands)

    def row(self, coordinates: FloatArray) -> IntArray:
        """Find each point's row along the height."""
        return _cell(coordinates[:, 1], self.height, self.n_rows)


def label_points(
    coordinates: FloatArray,
    *,
    grid: Grid,
    pattern: Pattern,
    n_classes: int,
    rng: np.random.RandomState,
) -> IntArray:
    """Classes of the points; only the pattern "random" draws from `rng`."""
    if callable(pattern):
        return _checked_labels(pattern(coordinates), len(coordinates))
    if pattern == "bands":
        _check_enough_cells(pattern, grid.n_bands, f"n_bands={grid.n_bands}", n_classes)
        return grid.band(coordinates) % n_classes
    if pattern == "checkerboard":
        cells = f"n_bands={grid.n_bands} by n_rows={grid.n_rows}"
        _check_enough_cells(pattern, grid.n_bands + grid.n_rows - 1, cells, n_classes)
        return (grid.band(coordinates) + grid.row(coordinates)) % n_classes
    if pattern == "random":
        return rng.randint(n_classes, size=len(coordinates), dtype=np.int64)
    raise InputError(
        f"pattern={pattern!r} is unknown: give 'bands', 'checkerboard', 'random' or a function "
        "that takes the coordinates and returns one class a row."
    )


def _cell(values: FloatArray, extent: float, n_cells: int) -> IntArray:
    cell = np.floor(values / extent * n_cells).astype(np.int64)
    return np.clip(cell, 0, n_cells - 1)


def _check_enough_cells(pattern: str, n_reached: int, cells: str, n_classes: int) -> None:
    if n_reached < n_classes:
        raise InputError(
            f"n_classes={n_classes} is more than the {n_reached} classes that pattern={pattern!r} "
            f"can show with {cells}: raise n_bands or lower n_classes."
        )


def _checked_labels(labels: ArrayLike, n_points: int) -> IntArray:
    y = np.asarray(labels)
    if y.shape != (n_points,):
        raise InputError(
            f"pattern returned an array of shape {y.shape} for {n_points} points: it must return "
            f"one class a row, shape ({n_points},)."
        )
    if y.dtype.kind not in "biu":
        raise InputError(
            f"pattern returned values of type {y.dtype}: it must return integers or booleans, "
            "for instance by .astype(int)."
        )
    if y.min() < 0:
        raise InputError(
            f"pattern returned class {y.min()}: classes must be 0, 1, 2, ...; hide labels "
            "afterwards, since every generated point has a class."
        )
    return y.astype(np.int64)
