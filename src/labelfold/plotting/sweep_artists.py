"""The artists of a sweep beside its lines: the star of the chosen one, and what has no result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.lines import NOTE_COLOR, write_above
from labelfold.plotting.value_axis import short_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MOST_NAMED = 3  # that have no result


def draw_star(
    ax: Axes, point: tuple[float, float], color: str, words: str
) -> tuple[Line2D, Line2D, Text]:
    """Draw a star, and a line to words above the axes, where they hide nothing."""
    style: dict[str, Any] = {"color": color, "markeredgecolor": "black", "zorder": 5}
    (star,) = ax.plot(*point, marker="*", linestyle="none", markersize=15, **style)
    line = ax.axvline(point[0], color=NOTE_COLOR, linestyle=":", linewidth=1, zorder=0)
    return star, line, write_above(ax, point[0], words, ha="center")


def name_absent(
    values: Sequence[Any], is_absent: NDArray[np.bool_], names: Sequence[str] | None
) -> str:
    """Name what has no result: lines, or values, or values of lines; "" where all have one."""
    absent, words = [], short_words(values)
    for line, row in enumerate(is_absent):
        if names is not None and row.all():
            absent.append(names[line])
            continue
        of_line = "" if names is None else f" ({names[line]})"
        absent += [f"{words[place]}{of_line}" for place in np.flatnonzero(row).tolist()]
    more = f" and {len(absent) - MOST_NAMED} more" if len(absent) > MOST_NAMED else ""
    return f"No result: {'; '.join(absent[:MOST_NAMED])}{more}" if absent else ""
