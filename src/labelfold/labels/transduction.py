"""From scores of classes to a class and a distribution for every row.

Rows that no label can reach get the class prior: the frequencies of the given labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import UnreachedPointsWarning, warn_user
from labelfold.labels.partial_labels import PartialLabels

__all__ = [
    "class_frequencies",
    "find_unreached",
    "nearest_distributions",
    "transduce",
    "warn_of_unreached",
]


def nearest_distributions(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every row the distribution nearest to it: its projection onto the simplex.

    Scores fitted to class indicators estimate class probabilities but may leave [0, 1]. The
    projection keeps their order and their largest entry, and changes no row that is a distribution
    already; a common shift of a row's scores has no effect.

    It is max(s_k - t, 0) with the t that makes the sum 1: with scores in descending order,
    t = (s_1 + ... + s_m - 1) / m for the largest m for which s_m > t.

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


def transduce(labels: PartialLabels, scores: NDArray[np.float64]) -> NDArray[np.generic]:
    """Return a class for every row: the given label, or the first class with the largest score."""
    codes = np.where(labels.mask, labels.codes, scores.argmax(axis=1))
    return np.asarray(labels.classes[codes])


def class_frequencies(labels: PartialLabels) -> NDArray[np.float64]:
    """Return the class prior: the share of every class among the given labels."""
    counts = np.bincount(labels.codes[labels.mask], minlength=labels.n_classes)
    return np.asarray(counts / counts.sum())


def find_unreached(labels: PartialLabels, groups: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the numbers of the rows whose group, such as a component, has no labeled row.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold import PartialLabels
    >>> from labelfold.labels.transduction import find_unreached
    >>> labels = PartialLabels.from_y(["cat", None, None, "dog"])
    >>> find_unreached(labels, np.array([0, 0, 1, 2]))
    array([2])
    """
    return np.flatnonzero(~np.isin(groups, groups[labels.mask]))


def warn_of_unreached(
    labels: PartialLabels, groups: NDArray[np.integer], unreached: NDArray[np.intp]
) -> None:
    """Warn if :func:`find_unreached` found rows, with their number."""
    if len(unreached) == 0:
        return
    sizes = np.unique(groups[unreached], return_counts=True)[1]
    where = f"{len(sizes)} connected components" if len(sizes) > 1 else "a connected component"
    most_frequent = labels.classes.tolist()[class_frequencies(labels).argmax()]
    warn_user(
        f"{len(unreached)} of {len(labels)} rows lie in {where} of the graph without a label, "
        f"the largest with {sizes.max()} rows: they get the frequencies of the given labels as "
        f"distribution and the most frequent class, {most_frequent!r} (unreached_ lists them). "
        "Label a row in each, use more neighbors, or join the components with "
        "fit(X, y, graph=graph.bridged()).",
        UnreachedPointsWarning,
    )
