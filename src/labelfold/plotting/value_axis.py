"""Axes for the values of a parameter and for their errors: scales, places and names of values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Real
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.lines import shifts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "SIDE_BY_SIDE",
    "are_numbers",
    "key_of",
    "place_values",
    "scale_of",
    "short_words",
    "start_at_zero",
    "wrap_label",
]

Array = NDArray[np.float64]

SIDE_BY_SIDE = "side by side"
WIDE = 100  # ratio of largest to least from which on numbers stand on a logarithmic axis
CROWDED = 0.1  # of the width, where half of the numbers would hide each other
SHARE_OF_GAP = 0.15  # between two values, that the intervals of one take up
MOST_TICKS = 20  # numbers that are named each; of more, matplotlib names round ones
FEW_DIGITS, ALL_DIGITS = 4, 17  # that numbers are written with
WHOLE_DIGITS = 6  # of whole numbers, which are names as often as sizes
LETTERS_A_DIGIT = 6  # texts have as much room as numbers, in which each digit counts
LETTER, SLANTED_LINE = 0.6, 1.7  # room on the axis for a letter and a slanted word, in font sizes
HALF_A_STAR = 8  # points


def are_numbers(values: Sequence[Any]) -> bool:
    """Tell whether all values are numbers, infinite ones among them."""
    return all(isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in values)


def key_of(value: Any) -> Hashable:
    """Return what equal values have in common, arrays, estimators and NaN too."""
    return float(value) if are_numbers([value]) and value == value else str(value)


def scale_of(values: Sequence[Any]) -> str:
    """Return how values are placed: "linear", "log" or "side by side".

    Examples
    --------
    >>> from labelfold.plotting.value_axis import scale_of
    >>> scale_of([1, 2, 3]), scale_of([0.1, 1, 10]), scale_of([0, 0.1, 1, 10])
    ('linear', 'log', 'side by side')
    """
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
    """Set the horizontal axis; return the places of values, a row a line.

    Lines stand side by side, so that their intervals can be told apart.
    """
    scale, words = scale_of(values), short_words(values)
    if scale == SIDE_BY_SIDE:
        places = np.arange(len(values), dtype=float)
        ax.set_xlim(-0.5, len(values) - 0.5)
        _name_places(ax, places, places / len(values), words)
        return np.asarray(places + shifts_of(n_lines, SHARE_OF_GAP)[:, None])
    centers = np.array(values, dtype=float)
    if scale == "log":
        ax.set_xscale("log")
        ax.minorticks_off()
    on_page = np.log10(centers) if scale == "log" else centers
    gaps = np.diff(np.unique(on_page))
    if len(gaps) < MOST_TICKS:
        _name_places(ax, centers, on_page / (1.1 * float(gaps.sum() or 1.0)), words)
    gap = float(gaps.min()) if len(gaps) else 1.0
    places = on_page + shifts_of(n_lines, SHARE_OF_GAP * gap)[:, None]
    return np.asarray(10**places if scale == "log" else places)


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


def short_words(values: Sequence[Any]) -> list[str]:
    """Write values in few digits or letters, in as many more as tell all of them apart.

    Examples
    --------
    >>> from labelfold.plotting.value_axis import short_words
    >>> short_words([0.46415888336127775, 10.0, "auto"])
    ['0.4642', '10', 'auto']
    >>> short_words([1000001, 1000002])
    ['1000001', '1000002']
    """
    n_different = len({key_of(value) for value in values})
    for n_digits in range(FEW_DIGITS, ALL_DIGITS + 1):
        n_letters = LETTERS_A_DIGIT * n_digits
        # Estimators often differ early, and pipelines at their ends.
        for n_last in (0, n_letters // 2):
            words = [_short(value, n_digits, n_letters - 1 - n_last, n_last) for value in values]
            if len(set(words)) == n_different:
                return words
    return [str(value) for value in values]


def _short(value: Any, n_digits: int, n_first: int, n_last: int) -> str:
    """Write a number in some digits, or the first and last letters of a text."""
    if are_numbers([value]):
        number = float(value)
        return f"{number:.{max(n_digits, WHOLE_DIGITS) if number.is_integer() else n_digits}g}"
    text = " ".join(str(value).split())
    if len(text) <= n_first + 1 + n_last:
        return text
    return f"{text[:n_first]}…{text[len(text) - n_last :]}"


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
    """Tell which of ascending places keep clear of the last one before that does."""
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
