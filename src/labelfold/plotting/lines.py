"""Lines of errors with intervals, names at their ends, and the axes they are drawn on.

Each line belongs to a method or setting. All lines share one horizontal axis of parameter values:
numbers on a linear or logarithmic scale, other values side by side.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from labelfold.exceptions import InputError
from labelfold.plotting.map_layout import shorten
from labelfold.plotting.palette import MARKERS, NOTE_COLOR, ClassStyle, class_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

Array = NDArray[np.float64]

LEAST_GAP = 0.055  # between names of lines, as a share of the axes' height
INTERVAL_OPACITY = 0.35  # intervals overlap
NAME_OFFSET = 7  # points, from the axes to the markers of names and on to the names
LINE_HEIGHT = 14  # points, of text above the axes
MARKER_RADIUS = 8  # points, of the largest marker
MOST_ABSENT = 3  # names of lines or values without a result in the title

SIDE_BY_SIDE = "side by side"
LOG_RATIO = 100  # of largest to smallest value, from which the axis is logarithmic
CROWDED = 0.1  # of the width, in which half of the numbers would hide each other
SHARE_OF_GAP = 0.15  # of the gap between two values, taken up by the lines at one value
MOST_TICKS = 20  # values that each get a tick; for more, matplotlib picks round numbers
LETTER, SLANTED_LINE = 0.6, 1.7  # room on the axis for a letter and a slanted word, in font sizes


def get_axes(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    return ax


def check_shape(name: str, values: ArrayLike, shape: tuple[int, ...], each: str) -> Array:
    """Return values as an array of floats; raise InputError if it has another shape."""
    table = np.asarray(values, dtype=float)
    if table.shape != shape:
        raise InputError(f"{name} has shape {table.shape}, not {shape}: pass one for each {each}.")
    return table


def line_styles(n_lines: int) -> list[ClassStyle]:
    """Return a style for each line; neighbors differ in color and in marker.

    Points of a class lie together, so color alone separates up to eight classes. Lines cross, and
    may be printed in gray.
    """
    n_markers = len(MARKERS)
    return [
        replace(style, marker=MARKERS[(index + index // n_markers) % n_markers])
        for index, style in enumerate(class_styles(n_lines))
    ]


def interval_lengths(errors: Array, lows: Array, highs: Array) -> Array:
    """Return how far intervals reach below and above errors, 0 for no interval."""
    return np.nan_to_num(np.maximum([errors - lows, highs - errors], 0.0))


def draw_lines(
    ax: Axes,
    values: Sequence[Any],
    tables: tuple[Array, Array, Array],
    names: Sequence[str] | None,
    options: Mapping[str, Any],
) -> tuple[list[ErrorbarContainer | None], Array, list[Text]]:
    """Draw errors against values, one line per row, with faint intervals and names at the ends.

    ``tables`` are errors and both ends of their intervals. Returns the lines (None for a row
    without any error), the places of all errors on the horizontal axis, and the names.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    places = place_values(ax, values, len(tables[0]))
    drawn: list[ErrorbarContainer | None] = []
    for at, errors, low, high, style in zip(places, *tables, line_styles(len(places)), strict=True):
        if np.isnan(errors).all():
            drawn.append(None)
            continue
        order = np.argsort(at, kind="stable")
        look = {
            "color": style.color,
            "marker": style.marker,
            "markeredgecolor": style.text_color,
            "linestyle": "none" if choose_scale(values) == SIDE_BY_SIDE else "-",
            "elinewidth": 3,
            **normalize_kwargs(dict(options), Line2D),
        }
        lengths = interval_lengths(errors, low, high)
        bars = ax.errorbar(at[order], errors[order], yerr=lengths[:, order], **look)
        for interval in bars.lines[2]:
            interval.set_alpha(INTERVAL_OPACITY)
        drawn.append(bars)
    _set_error_axis(ax, tables)
    texts = [] if names is None else name_lines(ax, places, tables[0], names)
    ax.spines[["top", "right"]].set_visible(False)
    return drawn, places, texts


def _set_error_axis(ax: Axes, tables: tuple[Array, Array, Array]) -> None:
    """Start an axis without negative errors at 0; write shares in percent."""
    from matplotlib.ticker import PercentFormatter

    drawn = np.concatenate(tables, axis=None)
    drawn = drawn[~np.isnan(drawn)]
    if np.all(drawn >= 0):
        start_at_zero(ax, tables[0])
        if np.all(drawn <= 1):
            ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def start_at_zero(ax: Axes, errors: Array) -> None:
    """Start the vertical axis of drawn errors at 0, or just below if markers at 0 would be cut."""
    top, room = ax.get_ylim()[1], MARKER_RADIUS / _size(ax)[1]
    is_cut = np.nanmin(errors, initial=np.inf) < room * top
    ax.set_ylim(bottom=-top * room / (1 - room) if is_cut else 0)


def name_lines(ax: Axes, places: Array, errors: Array, names: Sequence[str]) -> list[Text]:
    """Write names to the right of the axes, as near to the lines' last errors as possible.

    Each follows its line's marker, by which it is found where colors are lost. Lines without an
    error have no name. The limits of the (linear) vertical axis must be set before.
    """
    from matplotlib.transforms import ScaledTranslation

    ordered = np.take_along_axis(errors, np.argsort(places, axis=1, kind="stable"), axis=1)
    lines = [
        (name, style, row[~np.isnan(row)][-1])
        for name, style, row in zip(names, line_styles(len(names)), ordered, strict=True)
        if not np.isnan(row).all()
    ]
    last = [error for _, _, error in lines]
    low, high = ax.get_ylim()
    lowest = max(low, min([0.0, *last]))  # below 0 there is room for markers only
    at_edge = ax.get_yaxis_transform()
    beside = at_edge + ScaledTranslation(NAME_OFFSET / 72, 0, ax.figure.dpi_scale_trans)
    texts: list[Text] = []
    heights = spread_apart(last, LEAST_GAP * (high - low), lowest)
    for (name, style, _), height in zip(lines, heights, strict=True):
        look: dict[str, Any] = {"color": style.color, "markeredgecolor": style.text_color}
        ax.plot([1], [height], marker=style.marker, transform=beside, clip_on=False, **look)
        text = ax.annotate(
            name,
            (1, height),
            xycoords=at_edge,
            xytext=(2 * NAME_OFFSET, 0),
            textcoords="offset points",
            va="center",
            color=style.text_color,
            annotation_clip=False,
            parse_math=False,  # a name may contain a dollar sign
        )
        texts.append(text)
    return texts


def spread_apart(heights: Sequence[float], gap: float, low: float) -> Array:
    """Return the nearest heights in the same order that are at least `gap` apart, from low on."""
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

    The words are the label of a secondary axis on the upper edge: matplotlib moves titles above
    such labels, even titles set later, but not above a plain text.
    """
    from matplotlib.transforms import IdentityTransform, blended_transform_factory

    # The identity by functions that can be pickled: matplotlib's own are lambdas.
    edge = ax.secondary_xaxis("top", functions=(np.positive, np.positive))
    edge.spines["top"].set_visible(False)
    edge.set_xticks([])
    edge.tick_params(which="both", top=False, labeltop=False)  # also those of a scale set later
    edge.set_xlabel(words, labelpad=1 + row * LINE_HEIGHT, fontsize="medium")
    label = edge.xaxis.label
    label.set(ha=ha, va="bottom")
    if color is not None:
        label.set_color(color)
    # The axis sets the height, in pixels; the place is in data coordinates.
    label.set_transform(blended_transform_factory(ax.transData, IdentityTransform()))
    label.set_x(place)
    return label


def draw_level(
    ax: Axes, height: float, words: str, *, color: str, above: bool = True
) -> tuple[Line2D, Text]:
    """Draw a dashed line across the axes with its name at the left end; return both."""
    text = ax.annotate(
        words,
        (0, height),
        xycoords=ax.get_yaxis_transform(),
        xytext=(3, 2 if above else -3),
        textcoords="offset points",
        va="bottom" if above else "top",
        color=color,
    )
    return ax.axhline(height, color=color, linestyle="--", linewidth=1, zorder=1), text


def title_absent(ax: Axes, absent: Sequence[str]) -> None:
    """Write in the title what has no result, if anything."""
    if absent:
        more = f" and {len(absent) - MOST_ABSENT} more" if len(absent) > MOST_ABSENT else ""
        title = f"No result: {'; '.join(absent[:MOST_ABSENT])}{more}"
        ax.set_title(title, color=NOTE_COLOR, fontsize="medium", parse_math=False)


def wrap_label(ax: Axes, words: str) -> str:
    """Break words into lines that are not longer than the vertical axis."""
    length = _size(ax)[1] / (LETTER * float(ax.yaxis.label.get_fontsize()))
    return fill(words, max(int(length), 1), break_long_words=False)


# ---- the axis of values


def are_numbers(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers, finite or not."""
    return all(isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in values)


def value_key(value: Any) -> Hashable:
    """Return a key that equal values share, including arrays, estimators and NaN."""
    return float(value) if are_numbers([value]) and value == value else str(value)


def format_value(value: Any) -> str:
    """Return a value as a short text."""
    if isinstance(value, Integral) or not are_numbers([value]):
        return shorten(str(value))
    number = float(value)
    return f"{number:g}" if number.is_integer() else f"{number:.4g}"


def choose_scale(values: Sequence[Any]) -> str:
    """Return how values are placed: "linear", "log" or "side by side"."""
    if not are_numbers(values):
        return SIDE_BY_SIDE
    numbers = np.array(values, dtype=float)
    if not np.isfinite(numbers).all():
        return SIDE_BY_SIDE
    low, high = float(numbers.min()), float(numbers.max())
    if low > 0:
        return "log" if high / low >= LOG_RATIO * (1 - 1e-9) else "linear"
    # A logarithmic axis has no 0, and a linear one would crowd the small values.
    is_crowded = np.median(np.unique(numbers)) - low < CROWDED * (high - low)
    return SIDE_BY_SIDE if is_crowded else "linear"


def place_values(ax: Axes, values: Sequence[Any], n_lines: int) -> Array:
    """Set the horizontal axis; return the places of values, one row per line.

    Lines are shifted a little, so that their intervals do not cover each other.
    """
    scale, words = choose_scale(values), [format_value(value) for value in values]
    shifts = SHARE_OF_GAP * (np.arange(n_lines) / max(n_lines - 1, 1) - 0.5 * (n_lines > 1))
    if scale == SIDE_BY_SIDE:
        places = np.arange(len(values), dtype=float)
        ax.set_xlim(-0.5, len(values) - 0.5)
        _set_ticks(ax, places, places / len(values), words)
        return np.asarray(places + shifts[:, None])
    centers = np.array(values, dtype=float)
    if scale == "log":
        ax.set_xscale("log")
        ax.minorticks_off()
    on_page = np.log10(centers) if scale == "log" else centers
    gaps = np.diff(np.unique(on_page))
    if len(gaps) < MOST_TICKS:
        _set_ticks(ax, centers, on_page / (1.1 * float(gaps.sum() or 1.0)), words)
    places = on_page + shifts[:, None] * (gaps.min() if len(gaps) else 1.0)
    return np.asarray(10**places if scale == "log" else places)


def _set_ticks(ax: Axes, places: Array, on_page: Array, words: Sequence[str]) -> None:
    """Write the words that have room at their ticks, slanted if that leaves room for more.

    ``on_page`` are the places as shares of the axis.
    """
    order = np.argsort(on_page, kind="stable")
    ordered = [words[index] for index in order]
    along = _size(ax)[0] / float(ax.xaxis.label.get_fontsize()) * on_page[order]
    upright = _have_room(along, [LETTER * (len(word) + 1) for word in ordered])
    slanted = _have_room(along, [SLANTED_LINE] * len(words))
    style: dict[str, Any] = {"parse_math": False}
    if is_slanted := sum(slanted) > sum(upright):
        style |= {"rotation": 45, "ha": "right", "va": "center", "rotation_mode": "anchor"}
    have_room = slanted if is_slanted else upright
    shown = [word if has_room else "" for word, has_room in zip(ordered, have_room, strict=True)]
    ax.set_xticks(places[order], shown, **style)


def _have_room(along: Array, widths: Sequence[float]) -> list[bool]:
    """Return which of ascending places are clear of the last one before that is."""
    have_room, end = [], -np.inf
    for place, width in zip(along, widths, strict=True):
        have_room.append(bool(place - width / 2 >= end))
        if have_room[-1]:
            end = place + width / 2
    return have_room


def _size(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in points."""
    box, points = ax.get_window_extent(), 72 / ax.figure.dpi
    return box.width * points, box.height * points
