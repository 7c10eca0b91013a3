"""A color, a marker and a text color for each class, told apart by color-blind readers too.

The eight colors are those of Okabe and Ito (2008). Past eight classes the colors come round again
with the next marker shape, so that the pair stays unique for up to 64 classes; no larger set of
colors stays distinct under the common color vision deficiencies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

OKABE_ITO = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#56B4E9",  # sky blue
    "#D55E00",  # vermillion
    "#F0E442",  # yellow
    "#000000",  # black, last: it competes with text and outlines
)
MARKERS = ("o", "s", "^", "D", "P", "X", "v", "p")
UNLABELED_COLOR = "#BDBDBD"
NOTE_COLOR = "#595959"  # of what is said about a picture and is no data
LEAST_OPACITY = 0.15  # a point without any confidence can still be seen on white paper

# The luminance that gives text on white a contrast of 4.5 to 1, WCAG's bound for body text.
_TEXT_LUMINANCE = 1.05 / 4.5 - 0.05


@dataclass(frozen=True)
class ClassStyle:
    """How one class is drawn: fill color, marker shape, and the color of its name."""

    color: str
    marker: str
    text_color: str


def class_styles(n_classes: int) -> list[ClassStyle]:
    """Return a style for each class, in the order of the classes.

    Examples
    --------
    >>> from labelfold.plotting.palette import class_styles
    >>> [style.marker for style in class_styles(9)][-2:]
    ['o', 's']
    """
    styles = []
    for index in range(n_classes):
        lap, place = divmod(index, len(OKABE_ITO))
        color = OKABE_ITO[place]
        styles.append(ClassStyle(color, MARKERS[lap % len(MARKERS)], readable_on_white(color)))
    return styles


def readable_on_white(color: str) -> str:
    """Return the same hue, darkened until text in it reads on white.

    Examples
    --------
    >>> from labelfold.plotting.palette import readable_on_white
    >>> readable_on_white("#0072B2"), readable_on_white("#F0E442")
    ('#0072B2', '#7F781E')
    """
    linear = [_to_linear(int(color[start : start + 2], 16) / 255) for start in (1, 3, 5)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    factor = min(1.0, _TEXT_LUMINANCE / luminance) if luminance > 0 else 1.0
    channels = [int(255 * _from_linear(factor * value) + 1e-6) for value in linear]
    return "#" + "".join(f"{channel:02X}" for channel in channels)


def opacity(confidence: NDArray[Any]) -> NDArray[np.float64]:
    """Return the opacity of points, rising from the least to 1 with their confidence."""
    return np.asarray(LEAST_OPACITY + (1.0 - LEAST_OPACITY) * confidence)


def _to_linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _from_linear(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else float(1.055 * value ** (1 / 2.4) - 0.055)
