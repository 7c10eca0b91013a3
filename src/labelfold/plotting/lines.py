"""Lines of several methods or settings: a colour and a marker each, intervals, names and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from labelfold.plotting.palette import MARKERS, ClassStyle, class_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.text import Text

__all__ = [
    "NOTE_COLOR",
    "draw_errors",
    "line_styles",
    "name_ends",
    "reach_of",
    "shifts_of",
    "spread_apart",
    "write_above",
]

Array = NDArray[np.float64]

LEAST_GAP = 0.055  # between names of lines, as a share of the axes' height
NOTE_COLOR = "#595959"  # of what is said about the picture and is no data
FAINT = 0.35  # opacity of intervals, which overlap
BESIDE = 7  # points, from the axes to the markers of names and on to the names
ROW = 14  # points, of words above the axes


def line_styles(n_lines: int) -> list[ClassStyle]:
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
        styles.append(ClassStyle(style.color, marker, style.text_color))
    return styles


def shifts_of(n_lines: int, width: float) -> Array:
    """Shifts to the side, over a width in all, that part the intervals of lines at one place."""
    return np.asarray(width * (np.arange(n_lines) / max(n_lines - 1, 1) - 0.5 * (n_lines > 1)))


def reach_of(errors: Array, lows: Array, highs: Array) -> Array:
    """Return how far intervals reach below and above errors, 0 where there is none."""
    return np.nan_to_num(np.maximum([errors - lows, highs - errors], 0.0))


def draw_errors(
    ax: Axes,
    places: Array,
    errors: Array,
    reach: Array,
    style: ClassStyle,
    options: Mapping[str, Any],
    *,
    joined: bool,
) -> ErrorbarContainer:
    """Draw the errors of a line from left to right, with intervals fainter than its markers."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    order = np.argsort(places, kind="stable")
    given = {
        "color": style.color,
        "marker": style.marker,
        "markeredgecolor": style.text_color,
        "linestyle": "-" if joined else "none",
        "elinewidth": 3,
        **normalize_kwargs(dict(options), Line2D),
    }
    bars = ax.errorbar(places[order], errors[order], yerr=reach[:, order], **given)
    for interval in bars.lines[2]:
        interval.set_alpha(FAINT)
    return bars


def write_above(
    ax: Axes, place: float, words: str, *, ha: str, color: str | None = None, row: int = 0
) -> Text:
    """Write words above the axes at a place on the horizontal axis, in a row counted upwards.

    They are the label of an axis of their own on the upper edge: matplotlib puts titles above
    such labels, whenever a title is set, and would put it over a mere text.
    """
    from matplotlib.transforms import IdentityTransform, blended_transform_factory

    # The same values, by functions that can be pickled: matplotlib's own are lambdas.
    edge = ax.secondary_xaxis("top", functions=(np.positive, np.positive))
    edge.spines["top"].set_visible(False)
    edge.set_xticks([])
    edge.tick_params(which="both", top=False, labeltop=False)  # those of a scale set later too
    edge.set_xlabel(words, labelpad=1 + row * ROW, fontsize="medium")
    label = edge.xaxis.label
    label.set(ha=ha, va="bottom")
    if color is not None:
        label.set_color(color)
    # The axis sets the height, in pixels; the place is one of the picture's data.
    label.set_transform(blended_transform_factory(ax.transData, IdentityTransform()))
    label.set_x(place)
    return label


def name_ends(
    ax: Axes, heights: Sequence[float], names: Sequence[str], styles: Sequence[ClassStyle]
) -> list[Text]:
    """Write names to the right of the axes, as near to the lines' last heights as they can be.

    Each has its line's marker before it, by which it is found where colours are lost. The vertical
    scale is linear, and its limits must be set before.
    """
    from matplotlib.transforms import ScaledTranslation

    low, high = ax.get_ylim()
    # Below 0 there is room for markers only.
    lowest = max(low, min(0.0, *heights)) if len(heights) else low
    places = spread_apart(heights, LEAST_GAP * (high - low), lowest)
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


def spread_apart(heights: Sequence[float], gap: float, low: float) -> Array:
    """Return the nearest heights in the same order, from low on, that are at least a gap apart."""
    spread = np.array(heights, dtype=float)
    if len(spread):
        order = np.argsort(spread, kind="stable")
        steps = gap * np.arange(len(spread))
        spread[order] = isotonic_regression(spread[order] - steps, y_min=low) + steps
    return spread
