"""The artists of a map: axes, points by class, crowds as an image, class centers, names, legends.

Each function draws on given axes, in the plane or in space, and returns its artists. Layers stack
in this order: spokes, unlabeled points, predicted points, labeled points, new rows, centers,
names.

More points than markers could show are drawn as an image of cells. Each point votes for its class
with its confidence. A cell takes the color of the class with the most votes, mixed with the gray of
unlabeled points by the share of votes that class lacks: never with another class's color, which
could look like a third class. Its opacity is the share of cells that hold no more points (histogram
equalization), so that neither dense nor sparse regions use up the whole range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.map_inputs import PointGroups
from labelfold.plotting.map_layout import separate_names, shorten
from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle, opacity

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    # In space there is one collection for each shape.
    Points = PathCollection | list[PathCollection]

SPOKE_COLOR = "#E0E0E0"
FEW_POINTS = 10_000  # up to which matplotlib quickly finds the best place for a legend
DENSITY_THRESHOLD = 50_000  # points above which a crowd is an image
CELL_SIZE = 1.5  # of a cell's sides, in points of 1/72 inch
LEAST_CELL_OPACITY = 0.3  # of a cell with a single point


# ---- axes


def is_space(ax: Axes) -> bool:
    """Return whether axes have three dimensions."""
    return ax.name == "3d"


def make_axes(ax: Axes | None, n_dims: int) -> Axes:
    """Return the given axes, or new ones; raise an error if they do not have `n_dims`."""
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib import pyplot as plt

        projection = "3d" if n_dims == 3 else None
        _, ax = plt.subplots(layout="constrained", subplot_kw={"projection": projection})
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}: pass one Axes, such as axes[0].")
    if is_space(ax) != (n_dims == 3):
        raise InputError(
            f"components names {n_dims} columns, but ax has {3 if is_space(ax) else 2} dimensions: "
            'three columns need axes with projection="3d", others plain axes; or leave ax out.'
        )
    if is_space(ax):
        # Names, centers and labeled points stay on top of the crowd, as in the plane.
        in_space: Any = ax
        in_space.computed_zorder = False
    # Colors, halos and outlines are made for white, whatever the style of the figure.
    ax.set_facecolor("white")
    return ax


def add_legend(ax: Axes, handles: Sequence[Artist], texts: Sequence[str], n_points: int) -> Legend:
    """Add a small legend where it covers least, or in a corner if finding that would be slow."""
    is_quick = n_points <= FEW_POINTS and not is_space(ax)
    return ax.legend(
        list(handles),
        list(texts),
        loc="best" if is_quick else "upper right",
        handletextpad=0.5,
        borderpad=0.3,
        framealpha=0.9,
    )


def explain_new(ax: Axes, n_points: int) -> Legend:
    """Add a legend with one entry, for new rows."""
    from matplotlib.lines import Line2D

    ring = Line2D([], [], marker="o", linestyle="", markersize=7, mfc="white", mec="black", mew=1.2)
    return add_legend(ax, [ring], ["new"], n_points)


# ---- points as markers


def marker_areas(
    n_points: int, n_labeled: int, n_new: int, *, has_others: bool
) -> dict[str, float]:
    """Return the marker area of each group of points, in square points of 1/72 inch.

    Labeled and new rows are larger, the fewer there are. `has_others` says whether points without
    a label are drawn in class colors too.
    """
    size, labeled_size = (np.clip(20_000 / max(n, 1), 4.0, 36.0) for n in (n_points, n_labeled))
    larger = max(size, min(labeled_size, max(2.5 * size, 14.0)))
    return {
        "labeled": larger if has_others else size,
        "predicted": 0.8 * size,
        "unlabeled": 0.6 * size,
        "new": np.clip(9_000 / max(n_new, 1), 6.0, max(2.5 * size, 18.0)),
    }


def draw_points(
    ax: Axes,
    points: NDArray[Any],
    groups: PointGroups,
    styles: Sequence[ClassStyle],
    given: Mapping[str, Mapping[str, Any]],
    *,
    has_others: bool,
) -> dict[str, Points | None]:
    """Draw each group of points; return the artists by group, None for an empty group.

    Labeled points are one collection, so that no class covers another by being drawn later.
    Predicted points are as opaque as they are certain. New rows have a black ring. `given` are
    the user's options for each group.
    """
    from matplotlib.colors import to_rgba_array
    from matplotlib.patheffects import withStroke

    n_labeled, n_new = int(groups.labeled.sum()), int(groups.new.sum())
    areas = marker_areas(len(points), n_labeled, n_new, has_others=has_others)
    # The last entry is for code -1, no class.
    markers = np.array([*(style.marker for style in styles), "o"])[groups.codes]
    colors = to_rgba_array([*(style.color for style in styles), UNLABELED_COLOR])[groups.codes]
    colors[:, 3] = opacity(groups.certainty)
    outlines = to_rgba_array([*(style.text_color for style in styles), "black"])[groups.codes]
    looks: dict[str, dict[str, Any]] = {
        "unlabeled": {"c": UNLABELED_COLOR, "linewidth": 0, "zorder": 1.0},
        "predicted": {"c": colors, "linewidth": 0, "zorder": 1.5},
        "labeled": {"c": colors, "edgecolor": outlines, "linewidth": 0.4, "zorder": 2.0},
        "new": {"c": colors, "edgecolor": "black", "linewidth": 1.2, "zorder": 2.5},
    }
    looks["new"]["path_effects"] = [withStroke(linewidth=2.8, foreground="white")]
    if has_others:  # a ring distinguishes given labels
        looks["labeled"]["linewidth"] = 1.0
        looks["labeled"]["path_effects"] = [withStroke(linewidth=2.6, foreground="white")]
    artists = {}
    for name, look in looks.items():
        rows = getattr(groups, name)
        own = _take_rows(look, rows) | {"s": areas[name]}
        artists[name] = _scatter(ax, points[rows], markers[rows], own, given[name])
    return artists


def draw_centers(
    ax: Axes, centers: NDArray[Any] | None, styles: Sequence[ClassStyle], given: Mapping[str, Any]
) -> Points | None:
    """Draw class centers as large stars, outlined twice to stand out anywhere."""
    if centers is None:
        return None
    from matplotlib.patheffects import withStroke

    look = {
        "c": [style.color for style in styles[: len(centers)]],
        "s": 150.0,
        "edgecolor": "black",
        "linewidth": 0.9,
        "zorder": 3.0,
        "path_effects": [withStroke(linewidth=2.6, foreground="white")],
    }
    return _scatter(ax, centers, np.full(len(centers), "*"), look, given)


def draw_spokes(ax: Axes, ends: NDArray[Any]) -> LineCollection | None:
    """Draw lines from the middle to these ends, without widening the axes."""
    from matplotlib.collections import LineCollection

    if len(ends) == 0:
        return None
    segments = np.stack([np.zeros_like(ends), ends], axis=1)
    spokes = LineCollection(list(segments), colors=SPOKE_COLOR, linewidths=0.8, zorder=0.5)
    ax.add_collection(spokes, autolim=False)
    return spokes


def _scatter(
    ax: Axes,
    points: NDArray[Any],
    markers: NDArray[Any],
    look: dict[str, Any],
    given: Mapping[str, Any],
) -> Points | None:
    """Draw points, each with its own marker; return None if there are no points."""
    from matplotlib.markers import MarkerStyle

    if len(points) == 0:
        return None
    # No viewer opens a vector file with so many markers.
    options = _merge({"rasterized": len(points) > DENSITY_THRESHOLD, **look}, given)
    if is_space(ax):
        options.setdefault("depthshade", False)  # shading would change the class colors
    draw: Any = ax.scatter  # takes a third coordinate in space
    shapes = np.unique(markers).tolist()
    has_one_shape = len(shapes) == 1 or "marker" in given
    has_values = any(np.ndim(v) > 0 and len(v) == len(points) for v in given.values())
    if is_space(ax) and not (has_one_shape or has_values):
        # Collections in space sort points and colors by depth, but not shapes.
        return [
            draw(*points[markers == shape].T, marker=shape, **_take_rows(options, markers == shape))
            for shape in shapes
        ]
    options.setdefault("marker", shapes[0] if len(shapes) == 1 else "o")
    scatter: PathCollection = draw(*points.T, **options)
    if not (has_one_shape or is_space(ax)):
        paths = {}
        for shape in shapes:
            style = MarkerStyle(shape)
            paths[shape] = style.get_path().transformed(style.get_transform())
        scatter.set_paths([paths[marker] for marker in markers])
    return scatter


def _take_rows(options: Mapping[str, Any], rows: NDArray[np.bool_]) -> dict[str, Any]:
    """Return options of some points; arrays have one entry per point."""
    return {key: v[rows] if isinstance(v, np.ndarray) else v for key, v in options.items()}


def _merge(look: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a look overridden by options given under any of matplotlib's aliases."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.collections import PathCollection
    from matplotlib.markers import MarkerStyle

    given = normalize_kwargs(dict(given), PathCollection)
    if "marker" in given and not MarkerStyle(given["marker"]).is_filled():
        # A marker such as "x" has only lines, drawn in the color that fills other markers.
        look = {k: v for k, v in look.items() if k not in ("linewidth", "edgecolor")}
    merged = look | given
    if "color" in merged or "facecolor" in merged:
        merged.pop("c")
    return merged


# ---- points as an image


@dataclass(frozen=True)
class DensityGrid:
    """Points counted in the cells of a grid, as arrays of rows and columns, lowest row first."""

    counts: NDArray[np.intp]  # points in each cell
    winners: NDArray[np.intp]  # class with the most votes, -1 for no votes
    shares: NDArray[np.float64]  # its votes as a share of the cell's points
    extent: tuple[float, float, float, float]  # left, right, bottom and top


def find_crowd(groups: PointGroups, density: Any) -> NDArray[np.bool_]:
    """Return which points become part of an image: points without a label, and large groups."""
    crowd = groups.predicted | groups.unlabeled
    for group in (groups.labeled, groups.new):
        if np.count_nonzero(group) > DENSITY_THRESHOLD:
            crowd = crowd | group
    is_crowded = np.count_nonzero(crowd) > DENSITY_THRESHOLD if density == "auto" else density
    return crowd if is_crowded else np.zeros_like(crowd)


def draw_density(
    ax: Axes,
    points: NDArray[Any],
    codes: NDArray[Any],
    votes: NDArray[Any],
    styles: Sequence[ClassStyle],
) -> tuple[AxesImage, NDArray[np.intp]]:
    """Draw points as an image underneath everything else; return it and the points per cell."""
    from matplotlib.image import AxesImage

    box = ax.get_window_extent()
    per_cell = CELL_SIZE / 72 * ax.figure.dpi
    shape = (max(int(box.height / per_cell), 1), max(int(box.width / per_cell), 1))
    grid = count_in_cells(points, codes, votes, shape)
    # Not imshow, which changes margins, aspect and directions of the axes.
    image = AxesImage(ax, extent=grid.extent, origin="lower", interpolation="nearest", zorder=1.0)
    image.set_data(shade(grid, styles))
    ax.add_image(image)
    left, right, bottom, top = grid.extent
    ax.update_datalim([(left, bottom), (right, top)])
    ax.autoscale_view()
    return image, grid.counts


def count_in_cells(
    points: NDArray[Any], codes: NDArray[Any], votes: NDArray[Any], shape: tuple[int, int]
) -> DensityGrid:
    """Count points, and the votes for their classes, in a grid of (n_rows, n_columns).

    A code of -1 means no class; `votes` are from 0 to 1.
    """
    n_rows, n_columns = shape
    low, high = points.min(axis=0), points.max(axis=0)
    flat = high <= low
    low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
    scaled = (points - low) / (high - low) * (n_columns, n_rows)
    # The largest coordinates belong to the last cell, not to one after it.
    column, row = np.minimum(scaled, (n_columns - 1, n_rows - 1)).astype(np.intp).T
    cells = row * n_columns + column
    counts = np.bincount(cells, minlength=n_rows * n_columns)
    winners = np.full(counts.shape, -1)
    shares = np.zeros(counts.shape)
    has_class = (codes >= 0) & (votes > 0)
    if has_class.any():
        n_classes = int(codes.max()) + 1
        # Only pairs of cell and class that occur: with many classes, all pairs would not fit.
        pairs, which = np.unique(
            cells[has_class] * n_classes + codes[has_class], return_inverse=True
        )
        sums = np.bincount(which, weights=votes[has_class])
        cell, code = np.divmod(pairs, n_classes)
        best = np.lexsort((-code, sums))  # the last write wins: among equals, the first class
        winners[cell[best]] = code[best]
        shares[cell[best]] = sums[best]
    shares = np.minimum(shares / np.maximum(counts, 1), 1.0)
    extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    return DensityGrid(counts.reshape(shape), winners.reshape(shape), shares.reshape(shape), extent)


def shade(grid: DensityGrid, styles: Sequence[ClassStyle]) -> NDArray[np.float64]:
    """Return color and opacity of each cell, of shape (n_rows, n_columns, 4)."""
    from matplotlib.colors import to_rgba_array

    colors = to_rgba_array([*(style.color for style in styles), UNLABELED_COLOR])
    share = grid.shares[..., np.newaxis]
    shaded: NDArray[np.float64] = share * colors[grid.winners] + (1.0 - share) * colors[-1]
    is_full = grid.counts > 0
    levels, level, n_cells = np.unique(
        grid.counts[is_full], return_inverse=True, return_counts=True
    )
    up_to = np.cumsum(n_cells)
    # From 0 for the smallest count to 1 for the largest.
    rank = (up_to - up_to[0]) / (up_to[-1] - up_to[0]) if len(levels) > 1 else np.ones(1)
    shaded[..., 3] = 0.0
    shaded[is_full, 3] = LEAST_CELL_OPACITY + (1.0 - LEAST_CELL_OPACITY) * rank[level]
    return shaded


# ---- names


def write_names(
    ax: Axes,
    anchors: Mapping[int, NDArray[Any]],
    names: Sequence[str],
    styles: Sequence[ClassStyle],
    centers: NDArray[Any] | None,
    given: Mapping[str, Any],
) -> list[Text]:
    """Write the shortened name of each class just above its anchor, with a light halo."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text

    texts: list[Any] = []
    for code, anchor in anchors.items():
        style: dict[str, Any] = {
            "color": styles[code].text_color,
            "fontweight": "bold",
            "fontsize": 11,
            "horizontalalignment": "center",
            "verticalalignment": "bottom",
            "zorder": 4.0,
            "path_effects": [withStroke(linewidth=4, foreground="white", alpha=0.9)],
            # A class name is text from the user's data: "$5" is not a formula.
            "parse_math": False,
        }
        style |= normalize_kwargs(dict(given), Text)
        if is_space(ax):
            write: Any = ax.text  # takes a third coordinate
            texts.append(write(*anchor, shorten(names[code]), **style))
        else:
            style = {"xytext": (0, 6), "textcoords": "offset points", **style}
            texts.append(ax.annotate(shorten(names[code]), (anchor[0], anchor[1]), **style))
    if not is_space(ax) and "xytext" not in given:
        separate_names(ax, texts, centers)
    return texts


def name_rows(
    ax: Axes, names: Sequence[str], styles: Sequence[ClassStyle], has_unlabeled: bool
) -> list[Text]:
    """Name the rows of a strip: one per class, unlabeled points last."""
    rows = [*map(shorten, names), *(["unlabeled"] if has_unlabeled else [])]
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    texts = list(ax.get_yticklabels())[: len(names)]
    for text, style in zip(texts, styles, strict=True):
        text.set(color=style.text_color, fontweight="bold")
    return texts
