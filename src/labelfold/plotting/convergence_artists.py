"""The artists of a solve beside its lines: levels, the kept map, and where the rank changed.

Each function draws on given axes and returns its artists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.lines import NOTE_COLOR, write_above
from labelfold.plotting.palette import OKABE_ITO, readable_on_white

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

Array = NDArray[np.float64]

KEPT_COLOR = OKABE_ITO[5]
# Room for the words about a rank, as a share of the width; the first has one word more.
FIRST_WORDS, WORDS = 0.16, 0.06


def two_axes(ax: Any) -> tuple[Axes, Axes | None]:
    """Return axes for error and objective: new ones, the one given and none, or the two given.

    Two come in any form, as the table that ``subplots(2, 1, squeeze=False)`` returns.
    """
    if ax is None:
        from matplotlib import pyplot as plt

        _, (above, below) = plt.subplots(2, 1, sharex=True, layout="constrained")
        return above, below
    if hasattr(ax, "plot"):
        return ax, None
    axes = np.array(ax, dtype=object).ravel().tolist()
    if len(axes) != 2:
        raise InputError(
            f"ax holds {len(axes)} axes: pass one for the error, or two for error and objective."
        )
    return axes[0], axes[1]


def label_axes(ax: Axes, other: Axes | None, words: str) -> None:
    """Write what the horizontal axes show, of two that stand on each other below the lower one."""
    if other is not None:
        other.set_xlabel(words)
    if other is None or not np.isclose(ax.get_position().x0, other.get_position().x0):
        ax.set_xlabel(words)


def draw_level(ax: Axes, height: float, words: str, *, above: bool) -> tuple[Line2D, Text]:
    """Draw a dashed line across, and write what it is on its left end."""
    line = ax.axhline(height, color="black", linestyle="--", linewidth=1, zorder=1)
    text = ax.annotate(
        words,
        (0, height),
        xycoords=ax.get_yaxis_transform(),
        xytext=(3, 2 if above else -3),
        textcoords="offset points",
        va="bottom" if above else "top",
    )
    return line, text


def mark_point(ax: Axes, place: float, height: float, words: str) -> tuple[Line2D, Text]:
    """Draw a diamond, with words to its right."""
    style: dict[str, Any] = {"color": KEPT_COLOR, "markeredgecolor": "black", "zorder": 4}
    (mark,) = ax.plot([place], [height], marker="D", linestyle="none", **style)
    text = ax.annotate(
        words,
        (place, height),
        xytext=(7, 0),
        textcoords="offset points",
        va="center",
        color=readable_on_white(KEPT_COLOR),
        annotation_clip=False,
    )
    return mark, text


def write_in_corner(ax: Axes, words: str) -> Text:
    """Write a note about the picture into its right upper corner."""
    place: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "top"}
    return ax.text(0.98, 0.96, words, color=NOTE_COLOR, **place)


def draw_ranks(
    ax: Axes, other: Axes | None, places: Array, rank: Array
) -> tuple[list[Line2D], list[Text]]:
    """Draw lines where the rank changed, and write the new one on top where there is room."""
    text: dict[str, Any] = {"ha": "left", "color": NOTE_COLOR}
    style: dict[str, Any] = {"color": NOTE_COLOR, "linestyle": ":", "linewidth": 1, "zorder": 0}
    first, width = float(places[0]), float(places[-1] - places[0])
    after = np.flatnonzero(np.diff(rank))
    changes = (places[after] + places[after + 1]) / 2  # between two rounds
    lines = [ax.axvline(place, **style) for place in changes]
    if other is not None:
        for place in changes:
            other.axvline(place, **style)
    opening = f"rank {rank[0]:.0f}"
    if len(changes) and changes[-1] < first + FIRST_WORDS * width:  # no room for any
        return lines, [write_above(ax, first, f"{opening} to {rank[-1]:.0f}", **text)]
    words, free_from = [write_above(ax, first, opening, **text)], first + FIRST_WORDS * width
    for place, now in zip(changes, rank[after + 1], strict=True):
        if place >= free_from:
            words.append(write_above(ax, place, f"{now:.0f}", **text))
            free_from = place + WORDS * width
    return lines, words
