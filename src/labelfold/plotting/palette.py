"""A color, a marker and a text color for each class, safe for color-blind readers.

The first eight colors are those of Okabe and Ito (2008). The others were added one by one, each as
far as possible from those before (Glasbey et al., 2007) by distance in OKLab, for normal sight and
for the three deficiencies as Machado et al. (2009) simulate them. No so large set stays distinct
under these, so every ten classes have a shape of their own: no two colors with the same shape are
closer, to any eye, than the closest two of Okabe and Ito. Pairs are unique for 240 classes.
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
COLORS = (
    *OKABE_ITO,
    "#660022",
    "#111188",
    "#225500",
    "#992288",
    "#22DD77",
    "#8877FF",
    "#6644CC",
    "#886655",
    "#FF88EE",
    "#550066",
    "#999944",
    "#11FFCC",
    "#AA0000",
    "#444466",
    "#DDAAAA",
    "#BB55CC",
    "#66DDEE",
    "#0044BB",
    "#FF6666",
    "#CC3355",
    "#776699",
    "#AACC11",
)
N_PER_SHAPE = 10
MARKERS = ("o", "s", "^", "D", "P", "X", "v", "p")
UNLABELED_COLOR = "#BDBDBD"
NOTE_COLOR = "#595959"  # for notes about a picture
LEAST_OPACITY = 0.15  # keeps a point of confidence 0 visible on white paper

# The luminance that gives text on white a contrast of 4.5 to 1, WCAG's bound for body text.
TEXT_LUMINANCE = 1.05 / 4.5 - 0.05
DARK_GROUND = "#13161B"
LEAST_COLORED = 0.02  # largest minus smallest channel, in linear light, below which a color is gray


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
    >>> [style.marker for style in class_styles(11)][-2:]
    ['o', 's']
    """
    styles = []
    for index in range(n_classes):
        color = COLORS[index % len(COLORS)]
        marker = MARKERS[index // N_PER_SHAPE % len(MARKERS)]
        styles.append(ClassStyle(color, marker, readable_on_white(color)))
    return styles


def readable_on_white(color: str) -> str:
    """Return the same hue, darkened until text in it is readable on white.

    Examples
    --------
    >>> from labelfold.plotting.palette import readable_on_white
    >>> readable_on_white("#0072B2"), readable_on_white("#F0E442")
    ('#0072B2', '#7F781E')
    """
    linear, luminance = _in_linear_light(color)
    return _as_hex(linear * (TEXT_LUMINANCE / max(luminance, TEXT_LUMINANCE)))


def readable_on_dark(color: str, contrast: float = 4.5) -> str:
    """Return the same hue, mixed with white until it has this contrast with DARK_GROUND.

    Black and gray first change sides: black becomes white.

    Examples
    --------
    >>> from labelfold.plotting.palette import readable_on_dark
    >>> readable_on_dark("#F0E442"), readable_on_dark("#000000"), readable_on_dark("#0072B2")
    ('#F0E442', '#FFFFFF', '#4A82B8')
    """
    linear, luminance = _in_linear_light(color)
    if np.ptp(linear) < LEAST_COLORED:
        linear, luminance = 1.0 - linear, 1.0 - luminance
    wanted = contrast * (_in_linear_light(DARK_GROUND)[1] + 0.05) - 0.05
    white = max(0.0, (wanted - luminance) / (1.0 - luminance)) if luminance < 1.0 else 0.0
    return _as_hex(linear + white * (1.0 - linear))


def _in_linear_light(color: str) -> tuple[NDArray[np.float64], float]:
    """Return the channels of an sRGB color in proportion to light, and their luminance."""
    from matplotlib.colors import to_rgb

    channels = np.array(to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear, float(linear @ [0.2126, 0.7152, 0.0722])


def _as_hex(linear: NDArray[np.float64]) -> str:
    channels = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{int(255 * channel + 1e-6):02X}" for channel in channels)


def opacity(confidence: NDArray[Any]) -> NDArray[np.float64]:
    """Return the opacity of points, which rises linearly with their confidence to 1."""
    return np.asarray(LEAST_OPACITY + (1.0 - LEAST_OPACITY) * confidence)
