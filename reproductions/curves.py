"""Curves of a summary: a measure against one name of the setting, with intervals and names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from labelfold.plotting import class_styles, readable_on_white
from reproductions.summary import SummaryRow

OKABE_ITO = tuple(style.color for style in class_styles(8))
LEAST_GAP = 0.05  # between names of curves, as a share of the axes' height


def new_figure(n_panels: int = 1, *, width: float = 7.0, height: float = 5.0) -> Figure:
    """Return a figure with panels side by side, each of that width and height in inches."""
    # Not pyplot, which may need a graphical backend.
    figure = Figure(figsize=(width * n_panels, height), dpi=100, layout="constrained")
    for panel in figure.subplots(1, n_panels, squeeze=False)[0]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#E4E4E4")
    return figure


def draw_curve(
    ax: Axes, rows: Sequence[SummaryRow], x: str, *, name: str, color: str, shift: float = 0.0
) -> None:
    """Draw means against the setting `x`, with intervals, shifted by `shift`."""
    places = [float(row.setting[x]) + shift for row in rows]
    factors = [100.0 if row.unit == "share" else 1.0 for row in rows]
    means = [factor * row.estimate.mean for factor, row in zip(factors, rows, strict=True)]
    ax.plot(places, means, "o-", color=color, markersize=5, label=name)
    for place, factor, row in zip(places, factors, rows, strict=True):
        if row.estimate.low is not None and row.estimate.high is not None:
            low, high = factor * row.estimate.low, factor * row.estimate.high
            ax.plot([place, place], [low, high], color=color, linewidth=4, alpha=0.3)


def draw_printed(
    ax: Axes, rows: Sequence[SummaryRow], x: str, *, color: str, shift: float = 0.0
) -> None:
    """Mark the numbers that the paper printed for the rows."""
    for row in rows:
        if row.printed is not None and row.printed.value is not None:
            place, factor = float(row.setting[x]) + shift, 100.0 if row.unit == "share" else 1.0
            ax.plot(place, factor * row.printed.value, "D", color=color, fillstyle="none")


def name_curves(ax: Axes) -> None:
    """Write each curve's name at the right; names that would overlap move apart.

    A dotted line leads to the name of a curve that ends before others. Limits and scales of the
    axes must be set before.
    """
    named = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    x = max(_end(line)[0] for line in named)
    to_share = ax.transData + ax.transAxes.inverted()
    ends = [float(to_share.transform(_end(line))[1]) for line in named]
    heights = _spread_apart(ends)
    for line, height in zip(named, heights, strict=True):
        color = str(line.get_color())
        lead = {"arrowstyle": "-", "linestyle": ":", "color": color, "relpos": (0, 0.5)}
        ax.annotate(
            f"  {line.get_label()}",
            _end(line),
            (x, height),
            textcoords=("data", "axes fraction"),
            color=readable_on_white(color),
            va="center",
            annotation_clip=False,
            arrowprops=lead if _end(line)[0] < x else None,
        )


def _spread_apart(heights: Sequence[float]) -> NDArray[np.float64]:
    """Return the nearest heights in the same order that are at least LEAST_GAP apart."""
    spread = np.array(heights)
    order = np.argsort(spread, kind="stable")
    steps = LEAST_GAP * np.arange(len(spread))
    spread[order] = isotonic_regression(spread[order] - steps, y_min=LEAST_GAP) + steps
    return spread


def _end(line: Line2D) -> tuple[float, float]:
    return float(np.asarray(line.get_xdata())[-1]), float(np.asarray(line.get_ydata())[-1])
