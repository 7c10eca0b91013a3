"""Lines of several methods or settings: a colour and a marker each, and names at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from labelfold.plotting.palette import MARKERS, class_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.text import Text

__all__ = ["NOTE_COLOR", "LineStyle", "fade_intervals", "line_styles", "name_ends", "shifts_of"]

LEAST_GAP = 0.055  # between names of lines, as a share of the axes' height
NOTE_COLOR = "#595959"  # of what is said about the picture and is no data
FAINT = 0.35  # opacity of intervals, which overlap
BESIDE = 7  # points, from the axes to the markers of names and on to the names


@dataclass(frozen=True)
class LineStyle:
    """How one line is drawn: its colour, marker shape, and the colour of its name."""

    color: str
    marker: str
    text_color: str


def line_styles(n_lines: int) -> list[LineStyle]:
    """One style a line; lines next to each other differ in colour and in shape.

    Points of a class lie together and differ by colour alone, up to eight classes. Lines cross,
    and prints are often grey.

    Examples
    --------
    >>> from labelfold.plotting.lines import line_styles
    >>> [style.marker for style in line_styles(3)]
    ['o', 's', '^']
    """
    styles = []
    for index, style in enumerate(class_styles(n_lines)):
        lap, place = divmod(index, len(MARKERS))
        marker = MARKERS[(place + lap) % len(MARKERS)]
        styles.append(LineStyle(style.color, marker, style.text_color))
    return styles


def shifts_of(n_lines: int, width: float) -> NDArray[np.float64]:
    """Shifts to the side, over a width in all, that part the intervals of lines at one place."""
    return np.asarray(width * (np.arange(n_lines) / max(n_lines - 1, 1) - 0.5 * (n_lines > 1)))


def fade_intervals(bars: ErrorbarContainer) -> None:
    """Make the strokes of intervals fainter than lines and markers."""
    for interval in bars.lines[2]:
        interval.set_alpha(FAINT)


def name_ends(
    ax: Axes, heights: Sequence[float], names: Sequence[str], styles: Sequence[LineStyle]
) -> list[Text]:
    """Write names to the right of the axes, as near to the lines' last heights as they can be.

    Each has its line's marker before it, by which it is found where colours are lost. The vertical
    scale is linear, and its limits must be set before.
    """
    from matplotlib.transforms import ScaledTranslation

    low, high = ax.get_ylim()
    places = _spread(heights, LEAST_GAP * (high - low), low)
    at_edge = ax.get_yaxis_transform()
    beside = at_edge + ScaledTranslation(BESIDE / 72, 0, ax.figure.dpi_scale_trans)
    texts: list[Text] = []
    for height, name, style in zip(places, names, styles, strict=True):
        look: dict[str, Any] = {"color": style.color, "markeredgecolor": style.text_color}
        ax.plot([1], [height], marker=style.marker, transform=beside, clip_on=False, **look)
        texts.append(
            ax.annotate(
                name,
                (1, height),
                xycoords=at_edge,
                xytext=(2 * BESIDE, 0),
                textcoords="offset points",
                va="center",
                color=style.text_color,
                annotation_clip=False,
                parse_math=False,  # a name may hold a dollar
            )
        )
    return texts


def _spread(heights: Sequence[float], gap: float, low: float) -> NDArray[np.float64]:
    """Return the nearest heights in the same order, from low on, that are at least a gap apart."""
    spread = np.array(heights, dtype=float)
    if len(spread):
        order = np.argsort(spread, kind="stable")
        steps = gap * np.arange(len(spread))
        spread[order] = isotonic_regression(spread[order] - steps, y_min=low) + steps
    return spread
