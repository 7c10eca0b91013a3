"""Axes for a parameter's values and their errors, and the star of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.lines import NOTE_COLOR, shifts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

WIDE = 100  # ratio of largest to least from which on numbers stand on a logarithmic axis
SHARE_OF_GAP = 0.15  # between two values, that the intervals of one take up
LEAST_APART = 0.05  # of the width, between two values for each to have its tick
MOST_NAMED = 3  # that have no result


def are_numbers(values: Sequence[Any]) -> bool:
    """Tell whether all values have a place on a number axis."""
    return all(isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in values)


def place_values(ax: Axes, values: Sequence[Any], n_lines: int) -> NDArray[np.float64]:
    """Set the horizontal axis; return the places of values, a row a line.

    Lines stand side by side, so that their intervals can be told apart.
    """
    if not are_numbers(values):
        ax.set_xticks(range(len(values)), [str(value) for value in values], parse_math=False)
        ax.set_xlim(-0.5, len(values) - 0.5)
        return np.asarray(np.arange(len(values)) + shifts_of(n_lines, SHARE_OF_GAP)[:, None])
    centers = np.array(values, dtype=float)
    is_log = bool(centers.min() > 0 and centers.max() > WIDE * centers.min())
    on_page = np.log10(centers) if is_log else centers
    gaps = np.diff(np.unique(on_page))
    gap = float(np.min(gaps, initial=np.inf)) if len(gaps) else 1.0
    if is_log:
        ax.set_xscale("log")
        ax.minorticks_off()
    if gap >= LEAST_APART * float(np.ptp(on_page)):
        ax.set_xticks(centers, [f"{value:g}" for value in centers])
    places = on_page + shifts_of(n_lines, SHARE_OF_GAP * gap)[:, None]
    return np.asarray(10**places if is_log else places)


def set_errors(ax: Axes, drawn: NDArray[np.float64]) -> None:
    """Set the vertical axis for errors and ends of intervals: from 0 on, shares in per cent."""
    from matplotlib.ticker import PercentFormatter

    known = drawn[~np.isnan(drawn)]
    if np.all(known >= 0):
        ax.set_ylim(bottom=0)
        if np.all(known <= 1):
            ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def draw_star(
    ax: Axes, point: tuple[float, float], color: str, words: str
) -> tuple[Line2D, Line2D, Text]:
    """Draw a star, and a line to words above the axes, where they hide nothing."""
    style: dict[str, Any] = {"color": color, "markeredgecolor": "black", "zorder": 5}
    (star,) = ax.plot(*point, marker="*", linestyle="none", markersize=15, **style)
    line = ax.axvline(point[0], color=NOTE_COLOR, linestyle=":", linewidth=1, zorder=0)
    on_top = ax.get_xaxis_transform()
    return star, line, ax.text(point[0], 1.01, words, transform=on_top, ha="center")


def name_absent(
    values: Sequence[Any], errors: NDArray[np.float64], names: Sequence[str] | None
) -> str:
    """Name what has no result: lines, or values, or values of lines; "" where all have one."""
    absent = []
    for line, row in enumerate(np.isnan(errors)):
        if names is not None and row.all():
            absent.append(names[line])
            continue
        of_line = "" if names is None else f" ({names[line]})"
        absent += [f"{values[place]}{of_line}" for place in np.flatnonzero(row).tolist()]
    more = f" and {len(absent) - MOST_NAMED} more" if len(absent) > MOST_NAMED else ""
    return f"No result: {'; '.join(absent[:MOST_NAMED])}{more}" if absent else ""
