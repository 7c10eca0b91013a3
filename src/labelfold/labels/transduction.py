"""From scores of classes to distributions over them, one row a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest_distributions"]


def nearest_distributions(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every row the distribution nearest to it: its projection onto the simplex.

    Scores fitted to class indicators estimate class probabilities but may leave [0, 1]. The
    projection keeps their order and their largest entry, and changes no row that is a distribution
    already; a common shift of a row's scores has no effect.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        One score a class.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Nonnegative rows that sum to 1.

    Notes
    -----
    The projection is max(s_k - t, 0) with the t that makes the sum 1: with scores in descending
    order, t = (s_1 + ... + s_m - 1) / m for the largest m for which s_m > t.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.labels.transduction import nearest_distributions
    >>> nearest_distributions(np.array([[0.75, 0.25, 0.0], [1.25, 0.75, -1.0]]))
    array([[0.75, 0.25, 0.  ],
           [0.75, 0.25, 0.  ]])
    """
    # The shift keeps rows of huge scores in range.
    scores = scores - scores.max(axis=1, keepdims=True)
    descending = -np.sort(-scores, axis=1)
    thresholds = (np.cumsum(descending, axis=1) - 1) / np.arange(1, scores.shape[1] + 1)
    n_positive = np.count_nonzero(descending > thresholds, axis=1)
    t = np.take_along_axis(thresholds, n_positive[:, None] - 1, axis=1)
    clipped = np.maximum(scores - t, 0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))
