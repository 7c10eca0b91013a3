"""The artists of a map: points by class, class centres, names with a halo.

Each function draws one layer on given axes, in the plane or in space, and returns its artists.
Layers stack in this order: spokes, unlabelled points, predicted points, labelled points, new
points, centres, names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.density import DENSITY_THRESHOLD
from labelfold.plotting.map_axes import is_space
from labelfold.plotting.name_places import part_names, shortened
from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.text import Text

    # In space there is a collection a shape.
    Points = PathCollection | list[PathCollection]

# Options of a scatter that may hold a value a point, and how many numbers each value has.
COLOR_OPTIONS = ("c", "color", "facecolor", "edgecolor")
NUMBER_OPTIONS = ("s", "linewidth", "alpha")
SPOKE_COLOR = "#E0E0E0"


def point_size(n_points: int) -> float:
    """Marker area in square points: a crowd is drawn finer than a handful."""
    return float(np.clip(20_000 / max(n_points, 1), 4.0, 36.0))


@dataclass(frozen=True)
class GroupSizes:
    """Marker areas of the groups of points, in square points of 1/72 inch."""

    labeled: float
    predicted: float
    unlabeled: float
    new: float

    @classmethod
    def of(cls, n_points: int, n_labeled: int, n_new: int, *, has_others: bool) -> GroupSizes:
        """Choose sizes: what is marked is the larger, the fewer of it there are.

        Parameters
        ----------
        n_points, n_labeled, n_new : int
            Number of all points, of labelled ones and of new ones.
        has_others : bool
            Whether points without a label wear the colours of classes too.
        """
        size = point_size(n_points)
        large = max(2.5 * size, 14.0)
        return cls(
            labeled=max(size, min(large, point_size(n_labeled))) if has_others else size,
            predicted=0.8 * size,
            unlabeled=0.6 * size,
            new=float(np.clip(9_000 / max(n_new, 1), 6.0, max(2.5 * size, 18.0))),
        )


def draw_unlabeled(
    ax: Axes, points: NDArray[Any], size: float, given: Mapping[str, Any]
) -> Points | None:
    """Unlabelled points: grey, small, underneath."""
    defaults = {"c": UNLABELED_COLOR, "s": size, "linewidth": 0, "zorder": 1.0}
    return _scatter(ax, points, None, defaults, given)


def draw_predicted(
    ax: Axes,
    points: NDArray[Any],
    codes: NDArray[Any],
    opacities: NDArray[Any],
    styles: Sequence[ClassStyle],
    size: float,
    given: Mapping[str, Any],
) -> Points | None:
    """Unlabelled points in the colour of their predicted class, as opaque as it is sure."""
    defaults = {
        "c": class_colors(codes, styles, opacities),
        "linewidth": 0,
        "s": size,
        "zorder": 1.5,
    }
    return _scatter(ax, points, [styles[code].marker for code in codes], defaults, given)


def draw_labeled(
    ax: Axes,
    points: NDArray[Any],
    codes: NDArray[Any],
    styles: Sequence[ClassStyle],
    size: float,
    has_halo: bool,
    given: Mapping[str, Any],
) -> Points | None:
    """Labelled points in one collection, so that no class covers another by being drawn later."""
    from matplotlib.colors import to_rgba_array
    from matplotlib.patheffects import withStroke

    halo = {"path_effects": [withStroke(linewidth=2.0, foreground="white")]} if has_halo else {}
    defaults = {
        **halo,
        "c": class_colors(codes, styles),
        "edgecolor": to_rgba_array([style.text_color for style in styles])[codes],
        "linewidth": 0.4,
        "s": size,
        "zorder": 2.0,
    }
    return _scatter(ax, points, [styles[code].marker for code in codes], defaults, given)


def draw_new(
    ax: Axes,
    points: NDArray[Any],
    codes: NDArray[Any],
    opacities: NDArray[Any],
    styles: Sequence[ClassStyle],
    size: float,
    given: Mapping[str, Any],
) -> Points | None:
    """New points on top, large, with a black ring that stands out without any colour."""
    from matplotlib.patheffects import withStroke

    markers = [styles[code].marker if code >= 0 else "o" for code in codes]
    defaults = {
        "c": class_colors(codes, styles, opacities),
        "edgecolor": "black",
        "linewidth": 1.2,
        "s": size,
        "zorder": 2.5,
        "path_effects": [withStroke(linewidth=2.8, foreground="white")],
    }
    return _scatter(ax, points, markers, defaults, given)


def draw_spokes(ax: Axes, ends: NDArray[Any]) -> LineCollection | None:
    """Lines from the middle to these ends, which do not widen the axes."""
    from matplotlib.collections import LineCollection

    if len(ends) == 0:
        return None
    segments = np.stack([np.zeros_like(ends), ends], axis=1)
    spokes = LineCollection(list(segments), colors=SPOKE_COLOR, linewidths=0.8, zorder=0.5)
    ax.add_collection(spokes, autolim=False)
    return spokes


def draw_centers(
    ax: Axes, centers: NDArray[Any] | None, styles: Sequence[ClassStyle], given: Mapping[str, Any]
) -> PathCollection | None:
    """Class centres: large stars in the class's colour, outlined twice to stand out anywhere."""
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


def write_names(
    ax: Axes,
    anchors: Mapping[int, NDArray[Any]],
    names: Sequence[str],
    styles: Sequence[ClassStyle],
    centers: NDArray[Any] | None,
    given: Mapping[str, Any],
) -> list[Text]:
    """The name of each class just above its anchor, with a light halo, beside the centres.

    Names are shortened, since they have to share the page.
    """
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
    """The rows of a strip: the name of each class at its height, unlabelled points last."""
    rows = [*map(shortened, names), *(["unlabelled"] if has_unlabeled else [])]
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    texts = list(ax.get_yticklabels())[: len(names)]
    for text, style in zip(texts, styles, strict=True):
        text.set(color=style.text_color, fontweight="bold")
    return texts


def class_colors(
    codes: NDArray[Any], styles: Sequence[ClassStyle], opacities: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Colour of each point, of shape (n_samples, 4): its class's, or grey for code -1."""
    from matplotlib.colors import to_rgba_array

    colors = to_rgba_array([*(style.color for style in styles), UNLABELED_COLOR])[codes]
    if opacities is not None:
        colors[:, 3] = opacities
    return colors


def _scatter(
    ax: Axes,
    points: NDArray[Any],
    markers: Sequence[str] | None,
    defaults: dict[str, Any],
    given: Mapping[str, Any],
) -> Points | None:
    """Points with a marker each; None where there is no point."""
    if len(points) == 0:
        return None
    # So many markers would make a vector file that no viewer opens.
    defaults = {"rasterized": len(points) > DENSITY_THRESHOLD, **defaults}
    options = _merge_scatter(defaults, given)
    if markers is None or "marker" in given:
        return _scatter_one(ax, points, options)
    shapes = sorted(set(markers))
    if is_space(ax) and len(shapes) > 1:
        _fix_colors(options, len(points))
        # Collections in space sort points by depth with their colours, but not their shapes.
        masks = [np.array([marker == shape for marker in markers]) for shape in shapes]
        return [
            _scatter_one(ax, points[mask], {**_rows_of(options, mask), "marker": shape})
            for shape, mask in zip(shapes, masks, strict=True)
        ]
    scatter = _scatter_one(ax, points, options)
    _set_markers(scatter, markers)
    return scatter


def _scatter_one(ax: Axes, points: NDArray[Any], options: dict[str, Any]) -> PathCollection:
    if is_space(ax):
        # Shading by depth would change the colours, by which classes are told apart.
        options = {"depthshade": False, **options}
    draw: Any = ax.scatter  # takes a third coordinate in space
    return draw(*points.T, **options)


def _fix_colors(options: dict[str, Any], n_points: int) -> None:
    """Turn values or names, one a point, into colours, on one scale for all collections."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import to_rgba_array

    colors = np.asarray(options.get("c", "none"))
    if colors.shape != (n_points,):
        return
    if colors.dtype.kind in "USO":
        options["c"] = to_rgba_array(options["c"])
        return
    scale = ScalarMappable(options.pop("norm", None), options.pop("cmap", None))
    scale.set_clim(options.pop("vmin", None), options.pop("vmax", None))
    options["c"] = scale.to_rgba(colors)


def _rows_of(options: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """The options of some points, where an option has a value a point."""
    some = dict(options)
    for names, n_dims in ((COLOR_OPTIONS, 2), (NUMBER_OPTIONS, 1)):
        for name in names:
            value = some.get(name, ())
            if np.ndim(value) == n_dims and len(value) == len(mask):
                some[name] = np.asarray(value)[mask]
    return some


def _merge_scatter(defaults: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults overridden by what was given under any of matplotlib's aliases."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.collections import PathCollection
    from matplotlib.markers import MarkerStyle

    given = normalize_kwargs(dict(given), PathCollection)
    if "marker" in given and not MarkerStyle(given["marker"]).is_filled():
        # A cross is nothing but lines, in the colour that fills other markers.
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
