"""The picture of ISM Fig. 1 a to d: the roll, its unfoldings, and their spectra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import PCA

from labelfold.plotting import class_styles, readable_on_white
from reproductions.curves import OKABE_ITO
from reproductions.ism.maps import (
    KEPT,
    RANK,
    UNFOLDINGS,
    Array,
    Roll,
    correlate,
    turn_onto,
    unfold,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_panels"]

GRADIENT = "viridis"
MARKERS = "ov"
GREY, LIGHT_GREY = "#6E6E6E", "#BDBDBD"
SPECTRUM_COLORS = (OKABE_ITO[0], OKABE_ITO[5], GREY)
SHARES = (100, 10, 1, 0.1, 0.01)


def draw_panels(roll: Roll, *, seed: int) -> Figure:
    """Draw the roll and the spectra above, and below the maps of both unfoldings side by side."""
    from matplotlib.figure import Figure

    # A row for each of KEPT, the paper's programme first.
    models = [[unfold(roll.X, name, kept, seed) for name in UNFOLDINGS] for kept in KEPT]
    figure = Figure(figsize=(14.0, 10.6), dpi=100, layout="constrained")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[5.0, 6.0])[:, 0]
    grid = above.add_gridspec(1, 3, width_ratios=[1.0, 1.0, 0.8])
    for place, title in enumerate(("a  The roll, by arc length", "b  The roll with two classes")):
        ax = above.add_subplot(grid[place], projection="3d")
        _draw_roll(ax, roll, by_class=place == 1)
        ax.set_title(title)
    spectra = dict(zip(UNFOLDINGS, (model.spectrum_ for model in models[0]), strict=True))
    spectra["PCA"] = PCA().fit(roll.X).explained_variance_
    _draw_spectra(above.add_subplot(grid[2]), spectra)
    panels = below.subplots(3, len(UNFOLDINGS), sharex=True, sharey=True)
    for column, name, plain, angular in zip(panels.T, UNFOLDINGS, *models, strict=True):
        for ax, model, by_class, title in (
            (column[0], plain, False, f"c  {name}, by arc length"),
            (column[1], plain, True, f"d  {name}, by class"),
            (column[2], angular, False, f"{name} with angles kept too (our addition)"),
        ):
            places = turn_onto(model.embedding_, roll.coordinates)
            _draw_map(ax, places, roll, by_class=by_class)
            length, height = correlate(places, roll.coordinates)
            ax.set_title(title + ("" if by_class else f": r = {length:.3f} and {height:.3f}"))
    below.supxlabel(
        "arc length. Maps are turned, not scaled, onto the flat roll (grey outline); "
        "r: correlations with arc length and height."
    )
    below.supylabel("height")
    return figure


def _draw_roll(ax: Any, roll: Roll, *, by_class: bool) -> None:
    _scatter(ax, roll.X, roll, by_class=by_class, size=14)
    ax.view_init(elev=12, azim=-72)
    ax.set_box_aspect(np.ptp(roll.X, axis=0), zoom=1.2)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    if by_class:
        for value, style in enumerate(class_styles(2)):
            x, y = 0.04, 0.94 - 0.06 * value
            ax.text2D(x, y, _class_name(value), transform=ax.transAxes, **_text(style.text_color))


def _draw_map(ax: Axes, places: Array, roll: Roll, *, by_class: bool) -> None:
    """Draw a map that was turned onto the flat roll, whose outline lies behind it."""
    from matplotlib.patches import Rectangle

    length, height = roll.coordinates.max(axis=0)
    ax.add_patch(Rectangle((0, 0), length, height, fill=False, color=LIGHT_GREY, zorder=0))
    _scatter(ax, places, roll, by_class=by_class, size=9)
    if by_class:
        for value, style in enumerate(class_styles(2)):
            # The classes take turns along the roll: the first point of each is in its first band.
            start = roll.coordinates[roll.y == value, 0].min()
            ax.text(start, height + 1, _class_name(value), **_text(style.text_color))
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)


def _scatter(ax: Any, places: Array, roll: Roll, *, by_class: bool, size: float) -> None:
    """Draw points of the plane or of space, by class or by arc length."""
    if not by_class:
        ax.scatter(*places.T, c=roll.coordinates[:, 0], cmap=GRADIENT, s=size, linewidth=0)
        return
    for value, (style, marker) in enumerate(zip(class_styles(2), MARKERS, strict=True)):
        of_class = places[roll.y == value]
        ax.scatter(*of_class.T, color=style.color, marker=marker, s=size, linewidth=0)


def _draw_spectra(ax: Axes, spectra: dict[str, Array]) -> None:
    """Draw the eigenvalues' shares; on a logarithmic scale those that ought to be zero show."""
    for (name, values), color in zip(spectra.items(), SPECTRUM_COLORS, strict=True):
        shares = 100 * values / values.sum()
        ax.plot(range(1, len(shares) + 1), shares, "o-", color=color)
        ax.annotate(
            name,
            (len(shares), shares[-1]),
            (9, 0),
            textcoords="offset points",
            va="center",
            **_text(readable_on_white(color)),
        )
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_yticks(SHARES, [f"{share:g}" for share in SHARES])
    ax.set_xlim(0.8, RANK + 0.8)
    ax.set_xticks(range(1, RANK + 1))
    ax.set(xlabel="eigenvalue", ylabel="share of their sum, %")
    ax.set_title("Spectra of c and d, and of PCA")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E4E4E4")


def _class_name(value: int) -> str:
    return f"class {value + 1}"


def _text(color: str) -> dict[str, Any]:
    return {"color": color, "fontweight": "bold"}
