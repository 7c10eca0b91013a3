"""How many labels are wrong: estimated from calibrated probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.evidence.arguments import check_codes, check_distributions, check_per_class
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL, wilson_interval
from labelfold.methods import stored

__all__ = ["ErrorEstimate", "estimate_error"]

# What a label is worth in the interval of Wilson, which is for independent trials: left-out labels
# are predicted by each other, and calibrated the probabilities that are averaged here.
WORTH = 0.75
ENOUGH = 5  # labels per class; below, probabilities are off by 15 points on average


@stored
@dataclass(frozen=True)
class ErrorEstimate:
    """Estimated share of wrong labels among rows without a given label; as text one sentence.

    Parameters
    ----------
    error : float
        Share of the rows whose label is wrong.
    low, high : float
        Interval that covers the true share with probability ``level``.
    level : float
        0.8.
    n_labels : int
        Number of left-out labels behind it.
    classes : tuple of dict
        The same for the rows of each predicted class: "label", "n_rows", "error", "low", "high".
    """

    error: float
    low: float
    high: float
    level: float
    n_labels: int
    classes: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        text = (
            f"{self.error:.1%} of the labels are estimated to be wrong, {self.level:.0%} interval "
            f"{self.low:.1%} to {self.high:.1%}, from {self.n_labels} left-out labels."
        )
        if self.n_labels < ENOUGH * len(self.classes):
            text += f" With fewer than {ENOUGH} labels per class this is a rough guess."
        return text


def estimate_error(
    distributions: NDArray[np.float64],
    predicted: NDArray[np.integer],
    n_labels: NDArray[np.integer],
    classes: NDArray[Any],
) -> ErrorEstimate:
    """Estimate the share of rows whose predicted class is wrong.

    Parameters
    ----------
    distributions : ndarray of shape (n_rows, n_classes)
        Calibrated probabilities of rows whose label is not known.
    predicted : ndarray of shape (n_rows,)
        Numbers of their predicted classes.
    n_labels : ndarray of shape (n_classes,)
        Number of labels of each class that the probabilities were calibrated on.
    classes : ndarray of shape (n_classes,)
        Names of the classes.

    Returns
    -------
    ErrorEstimate
        Of all rows, and of the rows of each predicted class.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.evidence import estimate_error
    >>> distributions = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
    >>> n_labels, classes = np.array([9, 7]), np.array(["a", "b"])
    >>> round(estimate_error(distributions, np.array([0, 0, 1]), n_labels, classes).error, 2)
    0.2
    """
    distributions = check_distributions("distributions", distributions)
    predicted = check_codes("predicted", predicted, distributions.shape)
    if not len(predicted):
        raise InputError("distributions has no rows: at least one is needed.")
    classes = check_per_class("classes", classes, distributions.shape[1])
    n_labels = check_per_class("n_labels", n_labels, distributions.shape[1])
    if n_labels.dtype.kind not in "iu" or np.any(n_labels < 0):
        raise InputError(f"n_labels={n_labels!r} must be numbers of labels, 0 or more.")
    doubt = 1 - distributions[np.arange(len(predicted)), predicted]
    parts = []
    for code, (label, count) in enumerate(zip(classes.tolist(), n_labels, strict=True)):
        rows = predicted == code
        if rows.any():
            part = dict(zip(("error", "low", "high"), _interval(doubt[rows], count), strict=True))
            parts.append({"label": label, "n_rows": int(rows.sum()), **part})
    total = int(n_labels.sum())
    return ErrorEstimate(*_interval(doubt, total), LEVEL, total, tuple(parts))


def _interval(doubt: NDArray[np.float64], n_labels: int) -> tuple[float, float, float]:
    error = float(doubt.mean())
    low, high = wilson_interval(error, WORTH * max(n_labels, 1))
    return error, float(low), float(high)
