"""The picture of SSDE Fig. 2: precision against dimension, and the images on the map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting import class_styles, readable_on_white
from reproductions.curves import OKABE_ITO, draw_curve, name_curves, new_figure
from reproductions.entry import Setting
from reproductions.ssde.images import (
    ARGMAX,
    CONTROL,
    PRECISION,
    PRINCIPAL,
    RAW,
    SHAPE,
    Array,
    Images,
    Mapped,
    Names,
    Split,
    load_images,
    make_map,
)
from reproductions.ssde.names import (
    BEST_CASE,
    CROSS_VALIDATED,
    DEFAULT_SPREAD,
    PLAIN_SLLE,
    SDE,
    SLLE,
    SSDE,
)
from reproductions.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_panels", "place_thumbnails"]

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, _, BLACK = OKABE_ITO
GREY = "#8C8C8C"
CURVES: dict[str, tuple[Setting, str]] = {
    f"SSDE, spread {DEFAULT_SPREAD:g}": ({"method": SSDE, "spread": DEFAULT_SPREAD}, BLUE),
    f"SLLE, alpha {CROSS_VALIDATED}": ({"method": SLLE, "choice": CROSS_VALIDATED}, VERMILLION),
    f"{PLAIN_SLLE}, {BEST_CASE}": ({"method": PLAIN_SLLE, "choice": BEST_CASE}, ORANGE),
    "PCA": ({"method": PRINCIPAL}, GREEN),
    f"SDE, {BEST_CASE}": ({"method": SDE, "choice": BEST_CASE}, PURPLE),
}
# With the place of the name along the line, and whether it stands above.
LEVELS: dict[str, tuple[Setting, str, float, bool]] = {
    "one-hot control": ({"method": CONTROL, "rule": ARGMAX}, BLACK, 0.5, True),
    "raw pixels, 3-NN": ({"method": RAW}, GREY, 22.0, False),
}
CANVAS = 1700  # pixels a side
ZOOM = 2
MOST = 250
ROOM = 2  # per cent above the curves, for their names
GAP = 0.9  # per cent between a line and its name
SEED = 0  # of the split whose training images are shown


def draw_panels(summary: Summary, data_home: Path | None) -> Figure:
    """Draw the curves, and to the right the images, where a folder holds them."""
    images = None if data_home is None else load_images(data_home)
    figure = new_figure(1 if images is None else 2, width=9.0, height=8.0)
    _draw_curves(figure.axes[0], summary)
    if images is not None:
        n_characters = max(int(value) for value in summary.values_of("characters"))
        _draw_images(figure.axes[1], images.of_first(n_characters))
    return figure


def _draw_curves(ax: Axes, summary: Summary) -> None:
    for name, (setting, color) in CURVES.items():
        rows = summary.rows_with(PRECISION, **setting)
        rows.sort(key=lambda row: int(row.setting["dimension"]))
        if rows:
            draw_curve(ax, rows, "dimension", name=name, color=color)
    last = max(int(value) for value in summary.values_of("dimension"))
    for name, (setting, color, place, is_above) in LEVELS.items():
        for row in summary.rows_with(PRECISION, **setting):
            level = 100 * row.estimate.mean
            ax.plot([0, last], [level, level], "--", color=color, linewidth=1.5)
            at, align = (level + GAP, "bottom") if is_above else (level - GAP, "top")
            ax.text(place, at, name, color=readable_on_white(color), va=align)
            if row.estimate.low is not None and row.estimate.high is not None:
                ends = 100 * row.estimate.low, 100 * row.estimate.high
                ax.fill_between([0, last], *ends, color=color, alpha=0.12, linewidth=0)
    ax.set(xlabel="dimension of the map", ylabel="precision of 3-NN on test images, %")
    ax.set_title("Mean of the splits; bars and bands: 80 % intervals", fontsize=12)
    ax.set(xlim=(0, last + 1), ylim=(ax.get_ylim()[0], ax.get_ylim()[1] + ROOM))
    name_curves(ax)


def _draw_images(ax: Axes, images: Images) -> None:
    """Draw training images at their places on a map of two dimensions, none over another."""
    split = Split.draw(images, SEED)
    places = Mapped.of(make_map(SSDE, 2, SEED, spread=DEFAULT_SPREAD), split).places
    chosen, corners = place_thumbnails(places)
    ax.imshow(paint(split.X[chosen], split.y[chosen], corners, np.unique(split.y)))
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_title(
        f"{len(chosen)} of {len(split.y):,} training images on the 2-dimensional SSDE map "
        "(8 colours in turns)",
        fontsize=12,
    )


def place_thumbnails(places: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Choose images that do not overlap, in random order; return them and their upper left corners.

    The map fills the canvas but for a margin, both axes on one scale.
    """
    height, width = (ZOOM * side for side in SHAPE)
    low, extent = places.min(axis=0), float(np.ptp(places, axis=0).max())
    room = CANVAS - max(height, width)
    middle = (room - room * np.ptp(places, axis=0) / extent) / 2
    x, y = (room * (places - low) / extent + middle).T
    corners = np.column_stack([room - y, x]).round().astype(np.intp)
    chosen: list[int] = []
    for row in np.random.default_rng(SEED).permutation(len(places)):
        apart = np.abs(corners[chosen] - corners[row])
        if len(chosen) < MOST and np.all((apart[:, 0] >= height) | (apart[:, 1] >= width)):
            chosen.append(int(row))
    picked = np.array(chosen)
    return picked, corners[picked]


def paint(X: Array, y: Names, corners: NDArray[np.intp], classes: Names) -> NDArray[np.uint8]:
    """Return the canvas with the images in the colours of their classes."""
    canvas = np.full((CANVAS, CANVAS, 3), 255, dtype=np.uint8)
    styles = dict(zip(classes, class_styles(len(classes)), strict=True))
    for pixels, name, (top, left) in zip(X, y, corners, strict=True):
        ink = np.kron(pixels.reshape(SHAPE), np.ones((ZOOM, ZOOM))) > 0
        color = styles[name].text_color
        rgb = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
        canvas[top : top + ink.shape[0], left : left + ink.shape[1]][ink] = rgb
    return canvas
