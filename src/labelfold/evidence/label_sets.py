"""Sets of classes that hold the right one with a given probability.

Let p_i be the probability that the other labels give the class of labeled row i. A class is in the
set of a row if its probability reaches the r-th largest p_i, r = ceil((m + 1) coverage). If rows
and labels are exchangeable and p_i were computed as for a row that was never labeled, the set would
hold the right class with at least the coverage asked (split conformal prediction). Here the labels
also fit the model, so that no theorem holds: the plain jackknife has none. What was measured stands
in the guide.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from labelfold.checks import check_real
from labelfold.evidence.arguments import check_codes, check_distributions
from labelfold.exceptions import FewLabelsWarning, warn_user

__all__ = ["choose_sets", "find_threshold"]

ROUNDING = 1e-12


def find_threshold(
    left_out: NDArray[np.float64], codes: NDArray[np.integer], coverage: float
) -> float:
    """Return the least probability with which a class belongs to a set.

    Parameters
    ----------
    left_out : ndarray of shape (n_labels, n_classes)
        Calibrated probabilities of labeled rows, each by the other labels.
    codes : ndarray of shape (n_labels,)
        Numbers of their classes.
    coverage : float
        Probability, between 0 and 1, with which a set is to hold the right class.

    Returns
    -------
    float
        From 0 to 1. 0, with a warning, if there are too few labels: every class is in every set.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.evidence import find_threshold
    >>> left_out = np.array([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.2, 0.8]])
    >>> find_threshold(left_out, np.array([0, 0, 1, 1]), 0.6)
    0.7
    """
    check_real("coverage", coverage, above=0, below=1)
    left_out = check_distributions("left_out", left_out)
    codes = check_codes("codes", codes, left_out.shape)
    n = len(codes)
    rank = math.ceil((n + 1) * coverage - ROUNDING)
    if rank > n:
        needed = math.ceil(coverage / (1 - coverage) - ROUNDING)
        warn_user(
            f"{n} labels are too few for sets with coverage {coverage:g}, so that every set holds "
            f"all classes: label {needed} rows or more, or ask for a lower coverage.",
            FewLabelsWarning,
        )
        return 0.0
    return float(np.sort(left_out[np.arange(n), codes])[::-1][rank - 1])


def choose_sets(
    distributions: NDArray[np.float64], predicted: NDArray[np.integer], threshold: float
) -> NDArray[np.bool_]:
    """Return the set of classes of every row; the predicted class is always in it.

    Parameters
    ----------
    distributions : ndarray of shape (n_rows, n_classes)
        Calibrated probabilities.
    predicted : ndarray of shape (n_rows,)
        Numbers of the predicted classes.
    threshold : float
        The least probability, from :func:`find_threshold`.

    Returns
    -------
    ndarray of bool of shape (n_rows, n_classes)
        Whether the class is in the set.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.evidence import choose_sets
    >>> choose_sets(np.array([[0.9, 0.1], [0.55, 0.45]]), np.array([0, 0]), 0.4)
    array([[ True, False],
           [ True,  True]])
    """
    distributions = check_distributions("distributions", distributions)
    predicted = check_codes("predicted", predicted, distributions.shape)
    check_real("threshold", threshold)
    sets = distributions >= threshold - ROUNDING
    sets[np.arange(len(predicted)), predicted] = True
    return sets
