"""How many rows each class has: calibrated probabilities, summed.

Counting predictions errs where classes are hard to tell apart, as a sum of probabilities does not.
The share of class k among n rows is (labels of k + sum over other rows of P_ik) / n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labelfold.checks import check_integer
from labelfold.evidence.arguments import check_codes, check_distributions, check_per_class
from labelfold.exceptions import InputError
from labelfold.intervals import LEVEL
from labelfold.methods import stored

__all__ = ["ClassSizes", "estimate_class_sizes"]

# How many independent labels one label stands for: probabilities that were calibrated on labels
# err less than a sample of residuals would.
WORTH = 1.5


@stored
@dataclass(frozen=True)
class ClassSizes:
    """Estimated share of every class among all rows; as text one line.

    Parameters
    ----------
    classes : tuple of dict
        "label", "share", "low", "high" of each class.
    level : float
        Probability that an interval from low to high covers the true share: 0.8.
    """

    classes: tuple[dict[str, Any], ...]
    level: float

    def __str__(self) -> str:
        return ", ".join(
            f"{one['label']} {one['share']:.1%} ({one['low']:.1%} to {one['high']:.1%})"
            for one in self.classes
        )


def estimate_class_sizes(
    distributions: NDArray[np.float64],
    codes: NDArray[np.integer],
    classes: NDArray[Any],
    n_labels: int,
) -> ClassSizes:
    """Estimate how large the classes are.

    Parameters
    ----------
    distributions : ndarray of shape (n_rows, n_classes)
        Calibrated probabilities.
    codes : ndarray of shape (n_rows,)
        Numbers of the given classes; -1 for rows without a label.
    classes : ndarray of shape (n_classes,)
        Names of the classes.
    n_labels : int
        Number of labels that the probabilities were calibrated on.

    Returns
    -------
    ClassSizes
        Shares with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.evidence import estimate_class_sizes
    >>> distributions = np.array([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.2, 0.8]])
    >>> codes, classes = np.array([0, -1, -1, 1]), np.array(["a", "b"])
    >>> print(estimate_class_sizes(distributions, codes, classes, n_labels=2))
    a 55.0% (36.9% to 73.1%), b 45.0% (26.9% to 63.1%)
    """
    distributions = check_distributions("distributions", distributions)
    codes = check_codes("codes", codes, distributions.shape, least=-1)
    classes = check_per_class("classes", classes, distributions.shape[1])
    check_integer("n_labels", n_labels, least=0)
    if not len(codes):
        raise InputError("distributions has no rows: at least one is needed.")
    unlabeled, n = distributions[codes < 0], len(codes)
    given = np.bincount(codes[codes >= 0], minlength=len(classes)) / n
    shares = given + unlabeled.sum(axis=0) / n
    # Of the mean over rows without a label, times their share of all rows.
    variances = np.sum(unlabeled * (1 - unlabeled), axis=0) * len(unlabeled) / n**2
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(variances / (WORTH * max(n_labels, 1)))
    low, high = np.maximum(shares - half, given), np.minimum(shares + half, 1.0)
    rows = zip(classes.tolist(), shares.tolist(), low.tolist(), high.tolist(), strict=True)
    names = ("label", "share", "low", "high")
    return ClassSizes(tuple(dict(zip(names, row, strict=True)) for row in rows), LEVEL)
