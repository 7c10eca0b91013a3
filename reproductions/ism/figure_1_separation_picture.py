"""The picture of ISM Fig. 1 e to h: two maps in space, by arc length and by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting import class_styles, readable_on_white
from labelfold.semidefinite import IsometricSeparationMap
from reproductions.curves import OKABE_ITO
from reproductions.ism.maps import Array, Roll
from reproductions.ism.separations import separate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_panels", "draw_shares", "scatter_by_class"]

RANK = 3
GRADIENT, MARKERS = "viridis", "ovs"
PLANE = "#8C8C8C"
NAMES = {"variance": "with the variance term", "none": "without an objective"}
COLORS = {"variance": OKABE_ITO[0], "none": OKABE_ITO[5]}
VIEWS = {"variance": (22, -66), "none": (26, -62)}  # elevation, azimuth
SQUEEZED = 0.25  # the strip's length, which would make everything else tiny


def draw_panels(roll: Roll, *, margin: float, seed: int, steps: int) -> Figure:
    """Draw both maps in space, and beside them the decision coordinate and the spectra."""
    from matplotlib.figure import Figure

    models = {
        objective: separate(
            roll, rank=RANK, margin=margin, objective=objective, seed=seed, steps=steps
        )
        for objective in NAMES
    }
    figure = Figure(figsize=(15.0, 9.0), dpi=100, layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=[9.6, 5.4])[0]
    grid = left.add_gridspec(2, 2)
    for column, (objective, model) in enumerate(models.items()):
        for row, letters in enumerate(("ef", "gh")):
            ax: Any = left.add_subplot(grid[row, column], projection="3d")
            by = "class" if row else "arc length"
            _draw_space(ax, model, roll, objective, by_class=row == 1)
            ax.set_title(f"{letters[column]}  ISM {NAMES[objective]}, by {by}", y=0.98)
    left.supxlabel(
        "The plane parts the classes. With the variance term the map is a long strip; its length "
        f"is drawn at {100 * SQUEEZED:.0f} %."
    )
    panels = right.subplots(3, 1, height_ratios=[1.0, 1.0, 1.1])
    for ax, (objective, model) in zip(panels, models.items(), strict=False):
        _draw_decision(ax, model, roll)
        ax.set_title(f"Decision coordinate, {NAMES[objective]}")
    panels[1].set_xlabel("arc length")
    spectra = {NAMES[objective]: model.spectrum_ for objective, model in models.items()}
    draw_shares(panels[2], spectra, list(COLORS.values()))
    return figure


def scatter_by_class(ax: Any, places: Array, y: NDArray[np.int64], size: float) -> None:
    """Draw points of the plane or of space in the colours and shapes of their classes."""
    n_classes = int(y.max()) + 1
    for value, style in enumerate(class_styles(n_classes)):
        of_class = places[y == value]
        ax.scatter(*of_class.T, color=style.color, marker=MARKERS[value], s=size, linewidth=0)


def draw_shares(ax: Axes, spectra: dict[str, Array], colors: list[str]) -> None:
    """Draw the eigenvalues' shares of their sums; a logarithmic scale shows the small ones."""
    for (name, values), color in zip(spectra.items(), colors, strict=True):
        shares = 100 * values / values.sum()
        ax.plot(range(1, len(shares) + 1), shares, "o-", color=color, label=name)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set(xlabel="eigenvalue", ylabel="share of their sum, %", title="Spectra")
    ax.set_xticks(range(1, max(map(len, spectra.values())) + 1))
    ax.legend(frameon=False, labelcolor=[readable_on_white(color) for color in colors])
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E4E4E4")


def _draw_space(
    ax: Any, model: IsometricSeparationMap, roll: Roll, objective: str, *, by_class: bool
) -> None:
    """Draw a map with its decision axis upright, and the plane that parts the classes."""
    places = model.gram_factor_[:, [1, 2, 0]]
    (x_low, y_low, _), (x_high, y_high, _) = places.min(axis=0), places.max(axis=0)
    corners = np.array([[x_low, x_high], [x_low, x_high]]), np.array([[y_low] * 2, [y_high] * 2])
    ax.plot_surface(*corners, np.zeros((2, 2)), color=PLANE, alpha=0.25, linewidth=0)
    if by_class:
        scatter_by_class(ax, places, roll.y, size=9)
    else:
        ax.scatter(*places.T, c=roll.coordinates[:, 0], cmap=GRADIENT, s=9, linewidth=0)
    elevation, azimuth = VIEWS[objective]
    ax.view_init(elev=elevation, azim=azimuth)
    sizes = np.ptp(places, axis=0)
    if objective == "variance":
        sizes[0] *= SQUEEZED
    ax.set_box_aspect(sizes, zoom=1.15)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])


def _draw_decision(ax: Axes, model: IsometricSeparationMap, roll: Roll) -> None:
    places = np.column_stack([roll.coordinates[:, 0], model.decision_values_])
    ax.axhline(0, color=PLANE, linewidth=1)
    scatter_by_class(ax, places, roll.y, size=7)
    # Where the roll begins the second class has no points, and where it ends the first.
    for value, (x, y, align) in enumerate(((0.99, 0.04, "right"), (0.01, 0.9, "left"))):
        color = class_styles(2)[value].text_color
        name = f"class {value + 1}"
        ax.text(x, y, name, transform=ax.transAxes, ha=align, color=color, fontweight="bold")
    ax.spines[["top", "right"]].set_visible(False)
