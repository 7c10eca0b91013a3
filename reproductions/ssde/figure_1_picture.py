"""The picture of SSDE Fig. 1: rolls of four classes, their maps, and what spread does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labelfold.plotting import class_styles
from reproductions.entry import Task
from reproductions.ssde.names import DEFAULT_SPREAD, SLLE, SPREADS, SSDE
from reproductions.ssde.rolls import (
    BANDS,
    N_CLASSES,
    RANDOM,
    Array,
    Classes,
    Roll,
    fit_map,
    within_share,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_panels"]

SEED = 0
SMALL_ALPHA, LARGEST_ALPHA = 0.01, 1.0
NAMES = {BANDS: "four bands", RANDOM: "classes drawn at random"}


def draw_panels(n_points: int) -> Figure:
    """Draw a row of maps for each arrangement of classes, and one for the spreads of each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.0, 13.8), dpi=100, layout="constrained")
    parts = figure.subfigures(4, 1, squeeze=False, height_ratios=[1.1, 1.0, 1.1, 1.0])[:, 0]
    for place, classes in enumerate((BANDS, RANDOM)):
        roll = Roll.draw(Task({"classes": classes, "points": n_points}, SEED))
        spreads = {value: fit_map(roll, SSDE, value, SEED).embedding_ for value in SPREADS}
        maps = {
            f"SLLE, alpha {alpha:g}": fit_map(roll, SLLE, alpha, SEED).embedding_
            for alpha in (SMALL_ALPHA, LARGEST_ALPHA)
        }
        maps[f"SSDE, spread {DEFAULT_SPREAD:g}"] = spreads[DEFAULT_SPREAD]
        above, below = parts[2 * place], parts[2 * place + 1]
        _draw_row(above, roll, maps, f"The roll: {NAMES[classes]}")
        below.suptitle(f"SSDE of the same roll: what spread does ({NAMES[classes]})", fontsize=11)
        for ax, (value, places) in zip(
            below.subplots(1, len(SPREADS)), spreads.items(), strict=True
        ):
            _draw_map(ax, places, roll.y)
            ax.set_title(f"spread {value:g}\n{_describe(places, roll.y)}", fontsize=10)
    return figure


def _draw_row(part: Any, roll: Roll, maps: dict[str, Array], title: str) -> None:
    grid = part.add_gridspec(1, 1 + len(maps))
    space = part.add_subplot(grid[0], projection="3d")
    _scatter(space, roll.X, roll.y, size=12)
    space.view_init(elev=12, azim=-72)
    space.set_box_aspect(np.ptp(roll.X, axis=0), zoom=1.25)
    space.set(xticklabels=[], yticklabels=[], zticklabels=[])
    space.set_title(title, fontsize=12)
    for column, (name, places) in enumerate(maps.items(), start=1):
        ax = part.add_subplot(grid[column])
        _draw_map(ax, places, roll.y)
        ax.set_title(f"{name}\n{_describe(places, roll.y)}", fontsize=12)


def _draw_map(ax: Axes, places: Array, y: Classes) -> None:
    size = 10.0
    if within_share(places, y) == 0:
        # Hundreds of points in one place: a marker each is enough, and can be seen.
        places, y = (np.stack([rows[y == v][0] for v in range(N_CLASSES)]) for rows in (places, y))
        size = 90.0
    _scatter(ax, places, y, size=size)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.set_adjustable("datalim")
    ax.margins(0.08)
    ax.spines[:].set_color("#BDBDBD")


def _scatter(ax: Any, places: Array, y: Classes, *, size: float) -> None:
    for value, style in enumerate(class_styles(N_CLASSES)):
        of_class = places[y == value]
        ax.scatter(*of_class.T, color=style.color, marker=style.marker, s=size, linewidth=0)


def _describe(places: Array, y: Classes) -> str:
    share = 100 * within_share(places, y)
    if share == 0:
        return "every class is one point"
    digits = ".0f" if share >= 10 else ".2g"
    return f"{share:{digits}} % of variance within classes"
