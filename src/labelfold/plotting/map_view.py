"""What a picture shows of a map: some of its coordinates, or the plane in which its classes part.

The first two coordinates of an eigenmap of ten classes set two or three of them apart and leave the
others in a heap; the classes part in all coordinates together. So a map can be laid flat: every
class has a corner of a regular polygon, and the plane is the linear image of all coordinates in
which labeled points come closest to the corners of their classes,

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
    """A linear map from the coordinates to what is drawn.

    Parameters
    ----------
    directions : ndarray of shape (n_components, n_dims)
        What each coordinate contributes to each axis of the picture.

    origin : ndarray of shape (n_dims,)
        Where the coordinates' zero stands.

    axis_names : tuple of str
        What to write along each axis.

    corners : ndarray of shape (n_classes, 2) or None
        Where each class is drawn to, in the plane of the classes; None for coordinates as they are.
    """

    directions: NDArray[np.float64]
    origin: NDArray[np.float64]
    axis_names: tuple[str, ...]
    corners: NDArray[np.float64] | None = None

    @property
    def n_dims(self) -> int:
        """1 for a strip, 2 for a map, 3 for a map in space."""
        return len(self.axis_names)

    def place(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Return where points of the map stand in the picture, of shape (n_samples, n_dims)."""
        return np.asarray(points @ self.directions + self.origin)

    def spoke_ends(self, places: NDArray[Any]) -> NDArray[np.float64]:
        """Return where lines towards the corners end, as far out as any of the places is."""
        corners = np.empty((0, self.n_dims)) if self.corners is None else self.corners
        return np.asarray(corners * np.linalg.norm(places, axis=1).max())


def view_columns(components: Sequence[int], n_columns: int) -> MapView:
    """Show some coordinates as they are."""
    directions = np.zeros((n_columns, len(components)))
    directions[components, range(len(components))] = 1.0
    names = tuple(f"coordinate {index + 1}" for index in components)
    return MapView(directions, np.zeros(len(components)), names)


def view_classes(embedding: NDArray[Any], codes: NDArray[Any], n_classes: int) -> MapView:
    """Show the plane in which the classes part, as the points with a code from 0 on tell."""
    known = codes >= 0
    sizes = np.bincount(codes[known], minlength=n_classes)
    n_found = np.count_nonzero(sizes)
    if n_found < LEAST_CLASSES or embedding.shape[1] < 2:
        raise InputError(
            f"components={CLASSES!r} needs labels of {LEAST_CLASSES} classes and a map of two "
            f"columns, or more, and there are {n_found} and {embedding.shape[1]}: draw "
            "coordinates, such as components=(0, 1)."
        )
    corners = polygon(n_classes)
    # Measured in the map's own unit, so that no square overflows.
    unit = np.abs(embedding).max() or 1.0
    scaled = embedding / unit
    penalties = PENALTIES * (scaled.var(axis=0).mean() or 1.0)
    # Every class counts the same, however many labels it has; on average a point counts once.
    weights = np.count_nonzero(known) / n_found / sizes[codes[known]]
    fit = RidgeCV(penalties).fit(scaled[known], corners[codes[known]], sample_weight=weights)
    names = ("plane separating the labeled classes, one spoke each", "")
    return MapView(fit.coef_.T / unit, fit.intercept_, names, corners)


def telling_components(n_columns: int, labels: PartialLabels) -> Components:
    """Return what to show where nobody was asked: the classes, if two columns cannot show them."""
    has_more = n_columns > 2 and len(labels.classes) >= LEAST_CLASSES
    return CLASSES if has_more else (0, 1)


def polygon(n_corners: int) -> NDArray[np.float64]:
    """Return corners on the unit circle, clockwise from the top."""
    angles = 2 * np.pi * np.arange(n_corners) / n_corners
    return np.column_stack([np.sin(angles), np.cos(angles)])


def strip_rows(codes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return heights in a strip plot: one row per class, unlabeled points in the row below.

    Points are spread within their row by a fixed low-discrepancy sequence, so that equal
    coordinates stay apart and the same data give the same picture.
    """
    golden_ratio = (np.sqrt(5) - 1) / 2
    offset = 0.5 * (np.arange(len(codes)) * golden_ratio % 1.0 - 0.5)
    return np.asarray(np.where(codes < 0, n_classes, codes) + offset)
