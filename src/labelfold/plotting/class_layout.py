"""Which classes a picture shows, in which order, and where each stands on the page.

Turns labels, predictions, class centres and names, each of which may know other classes or none,
into one order of classes and each point into one group, by what is known of it; then coordinates
into places on the page, for two or three coordinates or, as a strip, for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels


def order_classes(
    labels: PartialLabels | None,
    predictions: PartialLabels | None,
    classes: Sequence[Any] | None,
    n_centers: int | None,
) -> list[Any]:
    """All classes to show: those of the centres first, in their order, then others that occur.

    The centres' order leads, because colours then stay the same whichever labels are drawn.
    """
    found = _classes_that_occur(labels, predictions)
    if classes is None:
        if n_centers is not None and labels is None and predictions is None:
            return list(range(n_centers))
        if n_centers is not None and n_centers != len(found):
            raise InputError(
                f"class_centers has {n_centers} rows but labels hold {len(found)} classes: "
                "pass classes, one for each row of class_centers."
            )
        return found
    known = list(classes)
    if n_centers is not None and n_centers != len(known):
        raise InputError(
            f"class_centers has {n_centers} rows but classes has {len(known)} entries: "
            "pass one class for each row."
        )
    return known + [value for value in found if value not in set(known)]


@dataclass(frozen=True)
class PointGroups:
    """Each point in one of four groups, drawn in different ways.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Position of each point's class among those shown: by its label, else by its prediction; -1
        where it has neither.

    certainty : ndarray of shape (n_samples,)
        Confidence of each prediction; 1 for a point with a label, or with neither.

    labeled, predicted, unlabeled, new : ndarray of bool of shape (n_samples,)
        New points; of the others those with a label, with a prediction only, with neither.
    """

    codes: NDArray[Any]
    certainty: NDArray[np.float64]
    labeled: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    unlabeled: NDArray[np.bool_]
    new: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        labels: PartialLabels | None,
        predictions: PartialLabels | None,
        confidence: NDArray[np.float64] | None,
        is_new: NDArray[np.bool_] | None,
        classes: Sequence[Any],
        n_points: int,
    ) -> PointGroups:
        """Group points by what is known of them."""
        given = codes_in(labels, classes, n_points)
        codes = np.where(given >= 0, given, codes_in(predictions, classes, n_points))
        new = np.zeros(n_points, dtype=bool) if is_new is None else is_new
        is_guess = (given < 0) & (codes >= 0)
        certainty = np.where(is_guess, 1.0 if confidence is None else confidence, 1.0)
        return cls(
            codes,
            certainty,
            labeled=(given >= 0) & ~new,
            predicted=is_guess & ~new,
            unlabeled=(codes < 0) & ~new,
            new=new,
        )


def _classes_that_occur(
    labels: PartialLabels | None, predictions: PartialLabels | None
) -> list[Any]:
    """The classes of labels and predictions, sorted."""
    found = [] if labels is None else list(labels.classes)
    predicted = [] if predictions is None else list(predictions.classes)
    # A float equals its integer: labels with NaN among them meet predictions without.
    unseen = [value for value in predicted if value not in set(found)]
    try:
        return sorted(found + unseen)
    except TypeError:
        raise InputError(
            f"labels hold classes such as {found[0]!r} but predictions such as {unseen[0]!r}: "
            "pass both as numbers or both as text."
        ) from None


def codes_in(labels: PartialLabels | None, classes: Sequence[Any], n_points: int) -> NDArray[Any]:
    """Position of each point's class in `classes`, -1 where it has no label."""
    if labels is None:
        return np.full(n_points, -1)
    place = {value: index for index, value in enumerate(classes)}
    # The last entry answers for code -1, unlabelled.
    lookup = np.array([place[value] for value in labels.classes] + [-1])
    return np.asarray(lookup[labels.codes])


def name_anchors(
    points: NDArray[Any], codes: NDArray[Any], centers: NDArray[Any] | None
) -> dict[int, NDArray[Any]]:
    """Where to write each class's name: amid its points, else at its centre."""
    anchors = {} if centers is None else dict(enumerate(centers))
    spread = points.std(axis=0)
    for code in np.unique(codes[codes >= 0]):
        anchors[int(code)] = _middle_point(points[codes == code], spread)
    return dict(sorted(anchors.items()))


def _middle_point(points: NDArray[Any], spread: NDArray[Any]) -> NDArray[Any]:
    """The point nearest to the median of `points`, with the axes measured in units of `spread`.

    A class in two clusters has its mean, and often its median, between them, where none of its
    points lie; the point nearest to the median is in the class, and outliers do not move it.
    """
    gap = (points - np.median(points, axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(points[np.argmin((gap**2).sum(axis=1))])


def strip_rows(codes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Height of each point in a strip plot: one row a class, unlabelled points in the row below.

    Points are spread within their row by a fixed low-discrepancy sequence, so that equal
    coordinates stay apart and the same data give the same picture.
    """
    golden_ratio = (np.sqrt(5) - 1) / 2
    offset = 0.5 * (np.arange(len(codes)) * golden_ratio % 1.0 - 0.5)
    return np.asarray(np.where(codes < 0, n_classes, codes) + offset)
