"""The artists of a map: its axes, points by class, class centers, names with a halo, legends.

Each function draws on given axes, in the plane or in space, and returns its artists. Layers stack
in this order: spokes, unlabeled points, predicted points, labeled points, new points, centers,
names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.density import DENSITY_THRESHOLD
from labelfold.plotting.map_inputs import PointGroups
from labelfold.plotting.map_layout import part_names, shortened
from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle, opacity

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    # In space there is a collection for each shape.
    Points = PathCollection | list[PathCollection]

SPOKE_COLOR = "#E0E0E0"
FEW_POINTS = 10_000  # among which matplotlib finds the best place for a legend at once


# ---- axes


def is_space(ax: Axes) -> bool:
    """Return whether axes have three dimensions."""
    return ax.name == "3d"


def make_axes(ax: Axes | None, n_dims: int) -> Axes:
    """Return axes for so many dimensions: those given, if they suit, or those of a new figure."""
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
    # Colors, halos and outlines are chosen for white, whatever style the page has.
    ax.set_facecolor("white")
    return ax


def add_legend(ax: Axes, handles: Sequence[Artist], texts: Sequence[str], n_points: int) -> Legend:
    """Add a small legend where it covers the least; in a corner, where a search would take long."""
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
    """Add a legend with one entry, for new points."""
    from matplotlib.lines import Line2D

    ring = Line2D([], [], marker="o", linestyle="", markersize=7, mfc="white", mec="black", mew=1.2)
    return add_legend(ax, [ring], ["new"], n_points)


# ---- points


@dataclass(frozen=True)
class GroupSizes:
    """Marker areas of the groups of points, in square points of 1/72 inch."""

    labeled: float
    predicted: float
    unlabeled: float
    new: float

    @classmethod
    def of(cls, n_points: int, n_labeled: int, n_new: int, *, has_others: bool) -> GroupSizes:
        """Choose sizes: what is marked is larger, the fewer of it there are.

        `has_others` says that points without a label are drawn in the colors of classes too.
        """
        size = _point_size(n_points)
        large = max(2.5 * size, 14.0)
        return cls(
            labeled=max(size, min(large, _point_size(n_labeled))) if has_others else size,
            predicted=0.8 * size,
            unlabeled=0.6 * size,
            new=float(np.clip(9_000 / max(n_new, 1), 6.0, max(2.5 * size, 18.0))),
        )


def _point_size(n_points: int) -> float:
    """Return a marker's area: a crowd is drawn finer than a handful."""
    return float(np.clip(20_000 / max(n_points, 1), 4.0, 36.0))


def crowd_of(groups: PointGroups, density: Any) -> NDArray[np.bool_]:
    """Return which points become an image: none, or those without a label and large groups."""
    crowd = groups.predicted | groups.unlabeled
    for group in (groups.labeled, groups.new):
        if np.count_nonzero(group) > DENSITY_THRESHOLD:
            crowd = crowd | group
    is_crowded = np.count_nonzero(crowd) > DENSITY_THRESHOLD if density == "auto" else density
    return crowd if is_crowded else np.zeros_like(crowd)


def draw_points(
    ax: Axes,
    points: NDArray[Any],
    groups: PointGroups,
    styles: Sequence[ClassStyle],
    given: Mapping[str, Mapping[str, Any]],
    *,
    has_others: bool,
) -> dict[str, Points | None]:
    """Draw each group of points in its way; return the artists by group, None for no point.

    Labeled points are in one collection, so that no class covers another by being drawn later.
    Predicted ones are as opaque as they are sure. New ones have a black ring, which stands out
    without any color. `given` are the user's options for each group.
    """
    from matplotlib.colors import to_rgba_array
    from matplotlib.patheffects import withStroke

    n_labeled, n_new = int(groups.labeled.sum()), int(groups.new.sum())
    sizes = GroupSizes.of(len(points), n_labeled, n_new, has_others=has_others)
    # The last entries answer for code -1, a point without a class.
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
    if has_others:
        looks["labeled"]["path_effects"] = [withStroke(linewidth=2.0, foreground="white")]
    artists = {}
    for name, look in looks.items():
        look["s"] = getattr(sizes, name)
        rows = getattr(groups, name)
        own = {key: v[rows] if isinstance(v, np.ndarray) else v for key, v in look.items()}
        artists[name] = _scatter(ax, points[rows], markers[rows], own, given[name])
    return artists


def draw_centers(
    ax: Axes, centers: NDArray[Any] | None, styles: Sequence[ClassStyle], given: Mapping[str, Any]
) -> PathCollection | None:
    """Draw class centers as large stars, outlined twice to stand out anywhere."""
    if centers is None:
        return None
    from matplotlib.patheffects import withStroke

    defaults = {
        "c": [style.color for style in styles[: len(centers)]],
        "marker": "*",
        "s": 150.0,
        "edgecolor": "black",
        "linewidth": 0.9,
        "zorder": 3.0,
        "path_effects": [withStroke(linewidth=2.6, foreground="white")],
    }
    return _scatter_one(ax, centers, _merge_scatter(defaults, given))


def draw_spokes(ax: Axes, ends: NDArray[Any]) -> LineCollection | None:
    """Draw lines from the middle to these ends, which do not widen the axes."""
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
    defaults: dict[str, Any],
    given: Mapping[str, Any],
) -> Points | None:
    """Draw points with a marker each; None where there is no point."""
    if len(points) == 0:
        return None
    # So many markers would make a vector file that no viewer opens.
    defaults = {"rasterized": len(points) > DENSITY_THRESHOLD, **defaults}
    options = _merge_scatter(defaults, given)
    shapes = np.unique(markers).tolist()
    if "marker" in given or (is_space(ax) and _has_values(given, len(points))):
        return _scatter_one(ax, points, options)
    if is_space(ax) and len(shapes) > 1:
        # Collections in space sort points by depth with their colors, but not their shapes.
        collections = []
        for shape in shapes:
            rows = markers == shape
            own = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in options.items()}
            collections.append(_scatter_one(ax, points[rows], {**own, "marker": shape}))
        return collections
    scatter = _scatter_one(ax, points, options)
    _set_markers(scatter, markers.tolist())
    return scatter


def _has_values(given: Mapping[str, Any], n_points: int) -> bool:
    """Return whether the user gave a value for each point, such as colors or sizes."""
    return any(np.ndim(value) > 0 and len(value) == n_points for value in given.values())


def _scatter_one(ax: Axes, points: NDArray[Any], options: dict[str, Any]) -> PathCollection:
    if is_space(ax):
        # Shading by depth would change the colors, by which classes are told apart.
        options = {"depthshade": False, **options}
    draw: Any = ax.scatter  # takes a third coordinate in space
    return draw(*points.T, **options)


def _merge_scatter(defaults: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults overridden by what was given under any of matplotlib's aliases."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.collections import PathCollection
    from matplotlib.markers import MarkerStyle

    given = normalize_kwargs(dict(given), PathCollection)
    if "marker" in given and not MarkerStyle(given["marker"]).is_filled():
        # A cross is nothing but lines, in the color that fills other markers.
        defaults = {k: v for k, v in defaults.items() if k not in ("linewidth", "edgecolor")}
    merged = defaults | given
    if "color" in merged or "facecolor" in merged:
        merged.pop("c")
    return merged


def _set_markers(scatter: PathCollection, markers: Sequence[str]) -> None:
    """Give each point its own marker: `Axes.scatter` takes one for all."""
    from matplotlib.markers import MarkerStyle

    paths = {}
    for marker in set(markers):
        shape = MarkerStyle(marker)
        paths[marker] = shape.get_path().transformed(shape.get_transform())
    # One path for all takes matplotlib's fast way through markers.
    scatter.set_paths(
        list(paths.values()) if len(paths) == 1 else [paths[marker] for marker in markers]
    )


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
            texts.append(write(*anchor, shortened(names[code]), **style))
        else:
            style = {"xytext": (0, 6), "textcoords": "offset points", **style}
            texts.append(ax.annotate(shortened(names[code]), (anchor[0], anchor[1]), **style))
    if not is_space(ax) and "xytext" not in given:
        part_names(ax, texts, centers)
    return texts


def name_rows(
    ax: Axes, names: Sequence[str], styles: Sequence[ClassStyle], has_unlabeled: bool
) -> list[Text]:
    """Name the rows of a strip: each class at its height, unlabeled points last."""
    rows = [*map(shortened, names), *(["unlabeled"] if has_unlabeled else [])]
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    texts = list(ax.get_yticklabels())[: len(names)]
    for text, style in zip(texts, styles, strict=True):
        text.set(color=style.text_color, fontweight="bold")
    return texts
