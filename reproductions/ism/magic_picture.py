"""The picture of the MAGIC tables: cells of the paper's grid, machines, and honest choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproductions.curves import OKABE_ITO, new_figure
from reproductions.ism.magic import (
    BEST_CASE,
    HARD,
    QUANTILE,
    RAW,
    SOFT,
    STANDARDISED,
    best_case,
    rows_of,
)
from reproductions.summary import Summary, SummaryRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_scores"]

KERNELS = ("linear", "Gaussian", "polynomial")
COLORS = {HARD: OKABE_ITO[0], SOFT: OKABE_ITO[5]}
OF_FEATURES = {RAW: OKABE_ITO[0], STANDARDISED: OKABE_ITO[2], QUANTILE: OKABE_ITO[5]}


def draw_scores(summary: Summary) -> Figure:
    """Draw maps to the left and machines to the right, on one scale; the paper as diamonds."""
    figure = new_figure(2, width=7.0)
    maps, machines = figure.axes
    _draw_maps(maps, summary)
    _draw_machines(machines, summary)
    maps.set_ylabel("score on rows without a label, %")
    low = min(ax.get_ylim()[0] for ax in figure.axes)
    high = max(ax.get_ylim()[1] for ax in figure.axes)
    for ax in figure.axes:
        ax.set_ylim(low, high)
        ax.legend(frameon=False, loc="lower right", fontsize=9)
    return figure


def _draw_maps(ax: Axes, summary: Summary) -> None:
    names: list[str] = []
    for labels, color in COLORS.items():
        rows = rows_of(summary, part="grid", labels=labels)
        names = names or [f"{row.setting['neighbors']}, {row.setting['dimension']}" for row in rows]
        for place, row in enumerate(rows):
            title = f"{labels} labels, {row.setting['features']} features"
            _draw_row(ax, place, row, color, title if place == 0 else "")
    for row in rows_of(summary, part="chosen"):
        names.append("chosen")
        _draw_row(ax, len(names) - 1, row, COLORS[SOFT], "", marker="s")
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right")
    ax.set_xlabel("neighbours, dimension; chosen by cross-validation")
    ax.set_title("Separation maps; diamonds: the paper", fontsize=11)


def _draw_machines(ax: Axes, summary: Summary) -> None:
    for shift, (features, color) in enumerate(OF_FEATURES.items()):
        for place, kernel in enumerate(KERNELS):
            at = place + 0.25 * (shift - 1)
            rows = rows_of(
                summary, part="machines", features=features, kernel=kernel, choice=BEST_CASE
            )
            best = best_case(rows)
            if best is not None:
                _draw_row(ax, at, best, color, f"{features}, best case" if place == 0 else "")
            for row in rows_of(summary, part="machine chosen", features=features, kernel=kernel):
                title = f"{features}, cross-validated" if kernel == "Gaussian" else ""
                _draw_row(ax, at + 0.08, row, color, title, marker="s")
    ax.set_xticks(range(len(KERNELS)), KERNELS)
    ax.set_xlabel("kernel, best parameter")
    ax.set_title("Support vector machines", fontsize=11)


def _draw_row(
    ax: Axes, place: float, row: SummaryRow, color: str, title: str, marker: str = "o"
) -> None:
    low, high = row.estimate.low, row.estimate.high
    if low is not None and high is not None:
        ax.plot([place, place], [100 * low, 100 * high], color=color, linewidth=4, alpha=0.3)
    ax.plot(place, 100 * row.estimate.mean, marker, color=color, label=title or None)
    if row.printed is not None and row.printed.value is not None:
        ax.plot(place, 100 * row.printed.value, "kD", fillstyle="none")
