"""Lines of errors: a style each, intervals, names at their ends, and the axes they stand on.

Lines belong to methods or settings and stand over the values of a parameter, which share one
horizontal axis: numbers on a linear or logarithmic scale, other values side by side.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral, Real
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from labelfold.exceptions import InputError
from labelfold.plotting.map_layout import shortened
from labelfold.plotting.palette import MARKERS, ClassStyle, class_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.text import Text

Array = NDArray[np.float64]

LEAST_GAP = 0.055  # between names of lines, as a share of the axes' height
FAINT = 0.35  # opacity of intervals, which overlap
BESIDE = 7  # points, from the axes to the markers of names and on to the names
ROW = 14  # points, of words above the axes
HALF_A_STAR = 8  # points

SIDE_BY_SIDE = "side by side"
WIDE = 100  # ratio of largest to least from which on numbers stand on a logarithmic axis
CROWDED = 0.1  # of the width, where half of the numbers would hide each other
SHARE_OF_GAP = 0.15  # between two values, that the intervals of one take up
MOST_TICKS = 20  # numbers that are named each; of more, matplotlib names round ones
LETTER, SLANTED_LINE = 0.6, 1.7  # room on the axis for a letter and a slanted word, in font sizes


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    return ax


def check_shape(name: str, values: ArrayLike, shape: tuple[int, ...], each: str) -> Array:
    """Return numbers, one for each of what the display shows, as an array of this shape."""
    table = np.asarray(values, dtype=float)
    if table.shape != shape:
        raise InputError(f"{name} has shape {table.shape}, not {shape}: pass one for each {each}.")
    return table


def line_styles(n_lines: int) -> list[ClassStyle]:
    """Return a style for each line; lines next to each other differ in color and in shape.

    Points of a class lie together and differ by color alone, up to eight classes. Lines cross, and
    prints are often grey.
    """
    styles = []
    for index, style in enumerate(class_styles(n_lines)):
        lap, place = divmod(index, len(MARKERS))
        marker = MARKERS[(place + lap) % len(MARKERS)]
        styles.append(ClassStyle(style.color, marker, style.text_color))
    return styles


def reach_of(errors: Array, lows: Array, highs: Array) -> Array:
    """Return how far intervals reach below and above errors, 0 where there is none."""
    return np.nan_to_num(np.maximum([errors - lows, highs - errors], 0.0))


def draw_lines(
    ax: Axes,
    values: Sequence[Any],
    tables: tuple[Array, Array, Array],
    options: Mapping[str, Any],
) -> tuple[list[ErrorbarContainer | None], Array]:
    """Draw errors over values, one line per row, with intervals fainter than the markers.

    ``tables`` are errors and both ends of their intervals. Returns the lines, None for a row
    without any error, and the places of all errors on the horizontal axis.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    places = place_values(ax, values, len(tables[0]))
    styles = line_styles(len(places))
    drawn: list[ErrorbarContainer | None] = []
    for at, errors, low, high, style in zip(places, *tables, styles, strict=True):
        if np.isnan(errors).all():
            drawn.append(None)
            continue
        order = np.argsort(at, kind="stable")
        given = {
            "color": style.color,
            "marker": style.marker,
            "markeredgecolor": style.text_color,
            "linestyle": "none" if scale_of(values) == SIDE_BY_SIDE else "-",
            "elinewidth": 3,
            **normalize_kwargs(dict(options), Line2D),
        }
        reach = reach_of(errors, low, high)
        bars = ax.errorbar(at[order], errors[order], yerr=reach[:, order], **given)
        for interval in bars.lines[2]:
            interval.set_alpha(FAINT)
        drawn.append(bars)
    return drawn, places


def name_lines(ax: Axes, values: Sequence[Any], errors: Array, names: Sequence[str]) -> list[Text]:
    """Write names to the right of the axes, as near to the lines' last heights as they can be.

    Each has its line's marker before it, by which it is found where colors are lost. Lines without
    an error have no name. The vertical scale is linear, and its limits must be set before.
    """
    from matplotlib.transforms import ScaledTranslation

    is_drawn = [not np.isnan(row).all() for row in errors]
    # The line's last point: values may come in any order.
    order = np.arange(len(values)) if scale_of(values) == SIDE_BY_SIDE else np.argsort(values)
    heights = [float(row[~np.isnan(row)][-1]) for row in errors[is_drawn][:, order]]
    low, high = ax.get_ylim()
    # Below 0 there is room for markers only.
    lowest = max(low, min(0.0, *heights)) if heights else low
    places = iter(spread_apart(heights, LEAST_GAP * (high - low), lowest))
    at_edge = ax.get_yaxis_transform()
    beside = at_edge + ScaledTranslation(BESIDE / 72, 0, ax.figure.dpi_scale_trans)
    texts: list[Text] = []
    for name, style, has_name in zip(names, line_styles(len(names)), is_drawn, strict=True):
        if not has_name:
            continue
        height = next(places)
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


# ---- the axis of errors


def start_at_zero(ax: Axes, errors: Array) -> None:
    """Let the vertical axis begin at 0, or lower by as much as markers on 0 need not to be cut.

    The errors must be drawn before.
    """
    top, room = ax.get_ylim()[1], HALF_A_STAR / _size(ax)[1]
    is_cut = np.nanmin(errors, initial=np.inf) < room * top
    ax.set_ylim(bottom=-top * room / (1 - room) if is_cut else 0)


def wrap_label(ax: Axes, words: str) -> str:
    """Break words into lines that are not longer than the vertical axis."""
    length = _size(ax)[1] / (LETTER * float(ax.yaxis.label.get_fontsize()))
    return fill(words, max(int(length), 1), break_long_words=False)


# ---- the axis of values


def are_numbers(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers, infinite ones among them."""
    return all(isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in values)


def key_of(value: Any) -> Hashable:
    """Return what equal values have in common, arrays, estimators and NaN too."""
    return float(value) if are_numbers([value]) and value == value else str(value)


def words_of(value: Any) -> str:
    """Return a value as a short text."""
    if isinstance(value, Integral) or not are_numbers([value]):
        return shortened(str(value))
    number = float(value)
    return f"{number:g}" if number.is_integer() else f"{number:.4g}"


def scale_of(values: Sequence[Any]) -> str:
    """Return how values are placed: "linear", "log" or "side by side"."""
    if not are_numbers(values):
        return SIDE_BY_SIDE
    numbers = np.array(values, dtype=float)
    if not np.isfinite(numbers).all():
        return SIDE_BY_SIDE
    low, high = float(numbers.min()), float(numbers.max())
    if low > 0:
        return "log" if high / low >= WIDE * (1 - 1e-9) else "linear"
    # 0 has no place on a logarithmic axis, and leaves none for the others on a linear one.
    is_crowded = np.median(np.unique(numbers)) - low < CROWDED * (high - low)
    return SIDE_BY_SIDE if is_crowded else "linear"


def place_values(ax: Axes, values: Sequence[Any], n_lines: int) -> Array:
    """Set the horizontal axis; return the places of values, one row per line.

    Lines stand side by side, so that their intervals can be told apart.
    """
    scale, words = scale_of(values), [words_of(value) for value in values]
    shifts = SHARE_OF_GAP * (np.arange(n_lines) / max(n_lines - 1, 1) - 0.5 * (n_lines > 1))
    if scale == SIDE_BY_SIDE:
        places = np.arange(len(values), dtype=float)
        ax.set_xlim(-0.5, len(values) - 0.5)
        _name_places(ax, places, places / len(values), words)
        return np.asarray(places + shifts[:, None])
    centers = np.array(values, dtype=float)
    if scale == "log":
        ax.set_xscale("log")
        ax.minorticks_off()
    on_page = np.log10(centers) if scale == "log" else centers
    gaps = np.diff(np.unique(on_page))
    if len(gaps) < MOST_TICKS:
        _name_places(ax, centers, on_page / (1.1 * float(gaps.sum() or 1.0)), words)
    places = on_page + shifts[:, None] * (gaps.min() if len(gaps) else 1.0)
    return np.asarray(10**places if scale == "log" else places)


def _name_places(ax: Axes, places: Array, on_page: Array, words: Sequence[str]) -> None:
    """Write words at places, those that have room, slanted where that leaves room for more.

    ``on_page`` are the places as shares of the axis.
    """
    order = np.argsort(on_page, kind="stable")
    along = _size(ax)[0] / float(ax.xaxis.label.get_fontsize()) * on_page[order]
    widths = LETTER * np.array([len(words[place]) + 1 for place in order])
    upright = _have_room(along, widths)
    slanted = _have_room(along, np.full(len(words), SLANTED_LINE))
    is_slanted = slanted.sum() > upright.sum()
    written = np.empty(len(words), dtype=bool)
    written[order] = slanted if is_slanted else upright
    style: dict[str, Any] = {"parse_math": False}
    if is_slanted:
        style |= {"rotation": 45, "ha": "right", "va": "center", "rotation_mode": "anchor"}
    shown = [word if has_room else "" for word, has_room in zip(words, written, strict=True)]
    ax.set_xticks(places, shown, **style)


def _have_room(along: Array, widths: Array) -> NDArray[np.bool_]:
    """Return which of ascending places keep clear of the last one before that does."""
    have_room = np.zeros(len(along), dtype=bool)
    end = -np.inf
    for index, (place, width) in enumerate(zip(along, widths, strict=True)):
        if place - width / 2 >= end:
            have_room[index], end = True, place + width / 2
    return have_room


def _size(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in points."""
    box, points = ax.get_window_extent(), 72 / ax.figure.dpi
    return box.width * points, box.height * points
