"""The picture of CCDR-MC Table I: bars for what was found, diamonds for what the paper printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labelfold.plotting import readable_on_white
from reproductions.ccdr_mc.names import CLASSIFIERS, FEATURES
from reproductions.ccdr_mc.searches import BEST_CASE, CROSS_VALIDATED
from reproductions.curves import OKABE_ITO, new_figure
from reproductions.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_table_1"]

COLORS = dict(zip(FEATURES, OKABE_ITO, strict=False))
WIDTH = 0.14  # of a bar, where classifiers are 1 apart
TOP = 33  # per cent


def draw_table_1(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the table as bars, the paper's figures as diamonds, but for its 83 %."""
    figure = new_figure(2, width=7.5, height=5.5)
    for ax, choice in zip(figure.axes, (BEST_CASE, CROSS_VALIDATED), strict=True):
        ax.set_axisbelow(True)
        for place, classifier in enumerate(CLASSIFIERS):
            _draw_bars(ax, summary, place, classifier, choice)
        for features, color in COLORS.items():
            ax.bar(0, 0, color=color, label=features)
        ax.legend(frameon=False, ncols=2, loc="upper left")
        ax.set_xticks(range(len(CLASSIFIERS)), CLASSIFIERS)
        ax.set(ylim=(0, TOP), ylabel="error on test rows, %")
        is_best = choice == BEST_CASE
        ax.set_title(choice + "; diamonds: the paper (raw network: 83 %)" * is_best, fontsize=11)
    return figure


def _draw_bars(ax: Axes, summary: Summary, place: int, classifier: str, choice: str) -> None:
    for number, features in enumerate(FEATURES):
        for row in summary.rows_with(choice=choice, classifier=classifier, features=features):
            x, height = place + WIDTH * (number - (len(FEATURES) - 1) / 2), 100 * row.estimate.mean
            ax.bar(x, height, 0.9 * WIDTH, color=COLORS[features])
            # Above the bar, or above the diamond where the paper has a larger figure.
            top = height
            if row.printed is not None and row.printed.value is not None:
                printed = 100 * row.printed.value
                if printed < TOP:
                    ax.plot(x, printed, "kD", fillstyle="none", markersize=5)
                    top = max(top, printed + 0.4)
            ax.annotate(
                f"{height:.2f}",
                (x, top + 0.3),
                ha="center",
                va="bottom",
                rotation=90,
                fontsize=8,
                color=readable_on_white(COLORS[features]),
            )
