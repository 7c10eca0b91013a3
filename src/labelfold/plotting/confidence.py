"""How sure a prediction is, and how opaque its point therefore is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_OPACITY = 0.15  # a point without any confidence can still be seen on white paper


def opacity(confidence: NDArray[Any]) -> NDArray[np.float64]:
    """Opacity of points, rising from the least to 1 with their confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.plotting.confidence import opacity
    >>> opacity(np.array([0.0, 0.5, 1.0])).round(3).tolist()
    [0.15, 0.575, 1.0]
    """
    return np.asarray(LEAST_OPACITY + (1.0 - LEAST_OPACITY) * confidence)


def confidence_in(
    predictions: NDArray[Any], distributions: NDArray[Any], classes: Sequence[Any] | NDArray[Any]
) -> NDArray[np.float64]:
    """The share of each row's distribution that its predicted class has.

    Not the largest share: a given label may disagree with the distribution, and then the picture
    must not be sure of it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelfold.plotting.confidence import confidence_in
    >>> distributions = np.array([[0.75, 0.25], [0.75, 0.25]])
    >>> confidence_in(np.array(["a", "b"]), distributions, ["a", "b"]).tolist()
    [0.75, 0.25]
    """
    place = {value: index for index, value in enumerate(classes)}
    columns = np.array([place[value] for value in predictions], dtype=np.intp)
    shares = distributions[np.arange(len(columns)), columns]
    return np.asarray(np.clip(shares, 0.0, 1.0), dtype=np.float64)  # rounding may go beyond
