"""The pictures of ISM Figs 2 to 4: a roll of three classes, its maps, and their spectra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labelfold.plotting import class_styles
from reproductions.ism.figure_1_separation_picture import (
    COLORS,
    NAMES,
    draw_shares,
    scatter_by_class,
)
from reproductions.ism.maps import NEIGHBORS, Array, Roll, turn_onto, unfold
from reproductions.ism.separations import OBJECTIVES, separate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_panels"]

GREY, LINE = "#6E6E6E", "#8C8C8C"


def draw_panels(roll: Roll, *, rank: int, margin: float, seed: int, steps: int) -> Figure:
    """Draw the roll, MVU's map of it, two decision axes of each ISM map, and the spectra."""
    from matplotlib.figure import Figure

    models = {
        objective: separate(
            roll, rank=rank, margin=margin, objective=objective, seed=seed, steps=steps
        )
        for objective in reversed(OBJECTIVES)
    }
    unfolded = unfold(roll.X, "MVU", NEIGHBORS, seed)
    figure = Figure(figsize=(14.0, 9.4), dpi=100, layout="constrained")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[1.0, 1.0])[:, 0]
    grid = above.add_gridspec(1, 2, width_ratios=[1.0, 1.7])
    ax: Any = above.add_subplot(grid[0], projection="3d")
    _draw_roll(ax, roll)
    ax = above.add_subplot(grid[1])
    scatter_by_class(ax, turn_onto(unfolded.embedding_, roll.coordinates), roll.y, size=10)
    ax.set(title="Unfolded by MVU")
    for value, style in enumerate(class_styles(3)):
        name, color = f"class {value + 1}", style.text_color
        ax.text(0.09 * value, 1.06, name, transform=ax.transAxes, color=color, fontweight="bold")
    ax.set(xlabel="arc length", ylabel="height", aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    panels = below.subplots(1, 3)
    for ax, (objective, model) in zip(panels, models.items(), strict=False):
        _draw_decisions(ax, model.decision_values_, roll)
        ax.set_title(f"ISM in {rank} dimensions, {NAMES[objective]}")
    spectra = {NAMES[objective]: model.spectrum_ for objective, model in models.items()}
    spectra["MVU"] = unfolded.spectrum_
    draw_shares(panels[2], spectra, [*(COLORS[name] for name in models), GREY])
    return figure


def _draw_roll(ax: Any, roll: Roll) -> None:
    scatter_by_class(ax, roll.X, roll.y, size=14)
    ax.view_init(elev=12, azim=-72)
    ax.set_box_aspect(np.ptp(roll.X, axis=0), zoom=1.2)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    ax.set_title("The roll with three classes")


def _draw_decisions(ax: Axes, values: Array, roll: Roll) -> None:
    """Draw the first two decision coordinates, and the hyperplanes as lines."""
    ax.axhline(0, color=LINE, linewidth=1)
    ax.axvline(0, color=LINE, linewidth=1)
    scatter_by_class(ax, values[:, :2], roll.y, size=9)
    ax.set(xlabel="decision coordinate of class 1", ylabel="decision coordinate of class 2")
    ax.spines[["top", "right"]].set_visible(False)
