"""What a picture shows of an embedding: some coordinates, or the plane that separates its classes.

The first two coordinates of an eigenmap of ten classes separate two or three of them and leave the
others in a heap; only all coordinates together separate all. So an embedding can be projected:
every class has a corner of a regular polygon, and the plane is the linear image of all coordinates
in which labeled points come closest to the corners of their classes,

    minimize  sum_i |p_{c_i} - (A^T y_i + b)|^2 / n_{c_i} + alpha |A|^2

over points i with a label c_i of n_{c_i} points, with the alpha that predicts left-out points best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels

CLASSES: Literal["classes"] = "classes"
Components = tuple[int, ...] | Literal["classes"]

LEAST_CLASSES = 3  # the corners of two classes lie on a line
PENALTIES = np.logspace(-4, 4, 17)  # in units of the mean variance of a coordinate


@dataclass(frozen=True, eq=False)
class MapView:
    """A linear projection of an embedding onto the axes of a picture."""

    directions: NDArray[np.float64]  # of shape (n_components, n_dims)
    origin: NDArray[np.float64]  # where coordinates of 0 are drawn
    axis_names: tuple[str, ...]
    corners: NDArray[np.float64] | None = None  # of the classes, in the plane of the classes

    @property
    def n_dims(self) -> int:
        """1 for a strip, 2 for a map, 3 for a map in space."""
        return len(self.axis_names)

    def place(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Return where coordinates are drawn in the picture, of shape (n_samples, n_dims)."""
        return np.asarray(points @ self.directions + self.origin)

    def spoke_ends(self, places: NDArray[Any]) -> NDArray[np.float64]:
        """Return the ends of lines toward the corners, as far out as the farthest place."""
        corners = np.empty((0, self.n_dims)) if self.corners is None else self.corners
        return np.asarray(corners * np.linalg.norm(places, axis=1).max())


def view_columns(components: Sequence[int], n_columns: int) -> MapView:
    """Show some coordinates unchanged."""
    directions = np.zeros((n_columns, len(components)))
    directions[components, range(len(components))] = 1.0
    names = tuple(f"coordinate {index + 1}" for index in components)
    return MapView(directions, np.zeros(len(components)), names)


def view_classes(embedding: NDArray[Any], codes: NDArray[Any], n_classes: int) -> MapView:
    """Show the plane that separates the classes of points with a code of at least 0."""
    labeled = codes >= 0
    sizes = np.bincount(codes[labeled], minlength=n_classes)
    n_present = np.count_nonzero(sizes)
    if n_present < LEAST_CLASSES or embedding.shape[1] < 2:
        raise InputError(
            f"components={CLASSES!r} needs labels of at least {LEAST_CLASSES} classes and an "
            f"embedding of at least 2 columns, got {n_present} and {embedding.shape[1]}: draw "
            "coordinates, such as components=(0, 1)."
        )
    corners = polygon(n_classes)
    # Scaled to at most 1, so that no square overflows.
    unit = np.abs(embedding).max() or 1.0
    scaled = embedding / unit
    penalties = PENALTIES * (scaled.var(axis=0).mean() or 1.0)
    # Every class has the same weight, however many labels it has; the mean weight is 1.
    weights = np.count_nonzero(labeled) / n_present / sizes[codes[labeled]]
    fit = RidgeCV(penalties).fit(scaled[labeled], corners[codes[labeled]], sample_weight=weights)
    names = ("plane separating the labeled classes, one spoke each", "")
    return MapView(fit.coef_.T / unit, fit.intercept_, names, corners)


def telling_components(n_columns: int, labels: PartialLabels) -> Components:
    """Return what to show by default: the plane of the classes if two columns cannot show them."""
    has_more = n_columns > 2 and len(labels.classes) >= LEAST_CLASSES
    return CLASSES if has_more else (0, 1)


def polygon(n_corners: int) -> NDArray[np.float64]:
    """Return corners on the unit circle, clockwise from the top."""
    angles = 2 * np.pi * np.arange(n_corners) / n_corners
    return np.column_stack([np.sin(angles), np.cos(angles)])


def strip_rows(codes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return heights in a strip plot: one row per class, unlabeled points in the row below.

    A fixed low-discrepancy sequence spreads points within their row, so that points with equal
    coordinates do not hide each other and the same data give the same picture.
    """
    golden_ratio = (np.sqrt(5) - 1) / 2
    offset = 0.5 * (np.arange(len(codes)) * golden_ratio % 1.0 - 0.5)
    return np.asarray(np.where(codes < 0, n_classes, codes) + offset)
