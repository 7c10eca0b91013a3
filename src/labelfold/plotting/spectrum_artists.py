"""The artists of a spectrum: stems and markers, residuals, doubtful ones, the map's and the gap.

Each function draws one layer on given axes and returns its artists. Limits come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.lines import NOTE_COLOR, write_above
from labelfold.plotting.palette import OKABE_ITO, readable_on_white

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

Array = NDArray[np.float64]

MANY = 60  # values, from which on stems would be a solid area
VISIBLE = 1 / 200  # of the picture's height
USED_COLOR, BAND_COLOR = OKABE_ITO[0], "#EFEFEF"
FEW_DECADES = 2  # up to which a logarithmic axis of shares names more than powers of ten


@dataclass(frozen=True)
class Mark:
    """A mark on some values: what it means, its colour, how far above it the words are."""

    words: str
    color: str
    above: float
    style: dict[str, Any] = field(default_factory=dict)


FRAGILE = Mark(
    "extends badly", OKABE_ITO[5], 8, {"marker": "X", "markersize": 8, "markeredgecolor": "white"}
)
UNCONVERGED = Mark(
    "not converged",
    "#000000",
    20,
    {"marker": "s", "markersize": 11, "markerfacecolor": "none"},
)


def set_scale(ax: Axes, heights: Array, reach: Array, least_shown: float | None) -> float:
    """Set limits and ticks; return the height at which stems begin.

    ``reach`` is what the picture has to reach up to, beside the heights. With ``least_shown``, a
    share of the largest height, the scale is logarithmic down to there.
    """
    from matplotlib.ticker import MaxNLocator

    n, top = len(heights), float(heights.max())
    beside = max(0.7, 0.02 * n)
    ax.set_xlim(1 - beside, n + beside)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if least_shown is None:
        low, high = 1.05 * min(0.0, float(heights.min())), 1.05 * max(0.0, float(reach.max()))
        ax.set_ylim(low, high if high > low else 1.0)
        return 0.0
    if top <= 0:
        raise InputError("No value is positive, and none has a place on a logarithmic scale.")
    floor = float(heights[heights > least_shown * top].min()) / 3
    ax.set_yscale("log")
    ax.set_ylim(floor, 2 * top)
    return floor


def name_shares(ax: Axes) -> None:
    """Write the heights, which are shares, in per cent."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.yaxis.set_major_formatter(_per_cent)
    if ax.get_yscale() == "log":
        low, high = ax.get_ylim()
        is_short = high < 10**FEW_DECADES * low
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if is_short else (1,)))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _per_cent(share: float, _: float | None) -> str:
    # As a function with a name, the display can be pickled. There is room above 1, and no share.
    return f"{100 * share:.6g}%" if share <= 1 else ""


def draw_values(
    ax: Axes,
    heights: Array,
    n_used: int,
    floor: float,
    given: Mapping[str, Any],
    given_rest: Mapping[str, Any],
) -> tuple[Line2D, Line2D | None, LineCollection | None, Line2D | None]:
    """Draw filled markers, hollow ones for the rest, stems, and triangles for what is too low."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    n = len(heights)
    numbers = np.arange(1, n + 1)
    is_used = numbers <= n_used
    shown = heights > floor if ax.get_yscale() == "log" else np.ones(n, dtype=bool)
    common: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "markersize": float(np.clip(250 / n, 2.5, 7.0)),
        "zorder": 3.0,
    }
    filled = common | {"color": USED_COLOR} | normalize_kwargs(dict(given), Line2D)
    hollow = common | {"color": NOTE_COLOR, "markerfacecolor": "white"}
    hollow |= normalize_kwargs(dict(given_rest), Line2D)
    stems, rest, tiny = None, None, None
    if n <= MANY:
        colors = [filled["color"] if used else hollow["color"] for used in is_used[shown]]
        stems = ax.vlines(numbers[shown], floor, heights[shown], colors=colors, linewidth=1.2)
    (used,) = ax.plot(numbers[is_used & shown], heights[is_used & shown], **filled)
    if not is_used.all():
        (rest,) = ax.plot(numbers[~is_used & shown], heights[~is_used & shown], **hollow)
    if not shown.all():
        low = np.full(np.count_nonzero(~shown), floor)
        style = common | {"color": NOTE_COLOR, "marker": "v"}
        (tiny,) = ax.plot(numbers[~shown], low, clip_on=False, **style)
    return used, rest, stems, tiny


def draw_residuals(ax: Axes, heights: Array, residuals: Array | None) -> ErrorbarContainer | None:
    """Draw bars at the values whose residuals can be seen."""
    low, high = ax.get_ylim()
    if residuals is None or ax.get_yscale() == "log":
        return None
    seen = np.flatnonzero(residuals > VISIBLE * (high - low))
    if not len(seen):
        return None
    style: dict[str, Any] = {"fmt": "none", "ecolor": "black", "elinewidth": 1, "capsize": 4}
    return ax.errorbar(seen + 1, heights[seen], yerr=residuals[seen], zorder=4, **style)


def mark_values(
    ax: Axes, heights: Array, places: Sequence[int], mark: Mark
) -> tuple[Line2D | None, list[Text]]:
    """Mark values, and write what the mark means beside the first of them."""
    if not places:
        return None, []
    style: dict[str, Any] = {"linestyle": "none", "color": mark.color, "zorder": 5, **mark.style}
    if len(heights) > MANY:
        style |= {"markersize": style["markersize"] / 2, "markeredgewidth": 0.5}
    (marks,) = ax.plot(np.array(places) + 1, heights[places], **style)
    first = places[0]
    words = ax.annotate(
        mark.words,
        (first + 1, heights[first]),
        xytext=(-4 if first else 4, mark.above),
        textcoords="offset points",
        ha="right" if first else "left",
        color=readable_on_white(mark.color),
    )
    return marks, [words]


def draw_band(
    ax: Axes, words: str, n_used: int, n_values: int
) -> tuple[Rectangle | None, list[Text]]:
    """Draw the ground of the first values, unless that is all of them."""
    if n_used >= n_values:
        return None, []
    left = ax.get_xlim()[0]
    band: Any = ax.axvspan(left, n_used + 0.5, color=BAND_COLOR, zorder=0)
    return band, [write_above(ax, left, words, ha="left", color=USED_COLOR)]


def draw_gap(
    ax: Axes, gap: int | None, n_values: int, row: int
) -> tuple[Line2D | None, list[Text]]:
    """Draw a line in the widest gap, with words above it in a row that is free."""
    if gap is None:
        return None, []
    line = ax.axvline(gap + 0.5, color="black", linestyle=":", linewidth=1.2, zorder=1)
    side = "left" if gap < n_values / 2 else "right"
    return line, [write_above(ax, gap + 0.5, f"widest gap, after {gap}", ha=side, row=row)]
