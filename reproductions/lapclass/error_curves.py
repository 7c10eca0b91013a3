"""The pictures of Figs. 2 and 3: errors against the number of labelled points, both logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproductions.curves import draw_curve, name_curves, new_figure
from reproductions.entry import Setting
from reproductions.summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Style", "draw_panels"]

LEAST = 0.1  # per cent; logarithms have no place for a curve that ends without an error
ERRORS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)
NUMBERS = (20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)


@dataclass(frozen=True)
class Style:
    """A curve: the setting of its rows, its name and its colour."""

    setting: Setting
    name: str
    color: str


def draw_panels(summary: Summary, panels: Mapping[str, Sequence[Style]]) -> Figure:
    """Draw panels side by side, by their titles, with one scale for the errors of all.

    Curves without rows are left out.
    """
    figure = new_figure(len(panels), width=7.6, height=5.6)
    errors = []
    for ax, (title, styles) in zip(figure.axes, panels.items(), strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.minorticks_off()
        ax.set_title(title, fontsize=12)
        ax.set(xlabel="labelled points", ylabel="error on unlabelled points, %")
        for style in styles:
            rows = summary.rows_with("error", **style.setting)
            rows.sort(key=lambda row: int(row.setting["labels"]))
            if rows:
                draw_curve(ax, rows, "labels", name=style.name, color=style.color)
            errors += [max(100 * row.estimate.mean, LEAST) for row in rows]
    low, high = min(errors) / 1.1, max(errors) * 1.1
    for ax in figure.axes:
        ax.set_ylim(low, high)
        shown = [error for error in ERRORS if low <= error <= high]
        ax.set_yticks(shown, [str(error) for error in shown])
        left, right = ax.get_xlim()
        shown = [number for number in NUMBERS if left <= number <= right]
        ax.set_xticks(shown, [f"{number:,}" for number in shown])
        name_curves(ax)
    return figure
