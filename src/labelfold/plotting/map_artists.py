"""The artists of a map: points by class, class centres, names with a halo.

Each function draws one layer on given axes and returns its artists. Layers stack in this order:
unlabelled points, labelled points, centres, names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.text import Text


def point_size(n_points: int) -> float:
    """Marker area in square points: a crowd is drawn finer than a handful."""
    return float(np.clip(20_000 / max(n_points, 1), 4.0, 36.0))


def draw_unlabeled(
    ax: Axes, points: NDArray[Any], size: float, given: Mapping[str, Any]
) -> PathCollection | None:
    """Unlabelled points: grey, small, underneath."""
    if len(points) == 0:
        return None
    defaults = {"c": UNLABELED_COLOR, "s": 0.6 * size, "linewidth": 0, "zorder": 1.0}
    return ax.scatter(points[:, 0], points[:, 1], **_merge_scatter(defaults, given))


def draw_labeled(
    ax: Axes,
    points: NDArray[Any],
    codes: NDArray[Any],
    styles: Sequence[ClassStyle],
    size: float,
    given: Mapping[str, Any],
) -> PathCollection | None:
    """Labelled points in one collection, so that no class covers another by being drawn later."""
    if len(points) == 0:
        return None
    defaults = {
        "c": [styles[code].color for code in codes],
        "edgecolor": [styles[code].text_color for code in codes],
        "linewidth": 0.4,
        "s": size,
        "zorder": 2.0,
    }
    scatter = ax.scatter(points[:, 0], points[:, 1], **_merge_scatter(defaults, given))
    if "marker" not in given:
        _set_markers(scatter, [styles[code].marker for code in codes])
    return scatter


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
    return ax.scatter(centers[:, 0], centers[:, 1], **_merge_scatter(defaults, given))


def write_names(
    ax: Axes,
    anchors: Mapping[int, NDArray[Any]],
    names: Sequence[str],
    styles: Sequence[ClassStyle],
    given: Mapping[str, Any],
) -> list[Text]:
    """The name of each class just above its anchor, with a light halo over the points."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text

    texts: list[Text] = []
    for code, anchor in anchors.items():
        style: dict[str, Any] = {
            "color": styles[code].text_color,
            "fontweight": "bold",
            "fontsize": 11,
            "horizontalalignment": "center",
            "verticalalignment": "bottom",
            "xytext": (0, 6),
            "textcoords": "offset points",
            "zorder": 4.0,
            "path_effects": [withStroke(linewidth=3, foreground="white", alpha=0.9)],
            # A class name is text from the user's data: "$5" is not a formula.
            "parse_math": False,
        }
        style |= normalize_kwargs(dict(given), Text)
        texts.append(ax.annotate(names[code], (anchor[0], anchor[1]), **style))
    return texts


def name_rows(
    ax: Axes, names: Sequence[str], styles: Sequence[ClassStyle], has_unlabeled: bool
) -> list[Text]:
    """The rows of a strip: the name of each class at its height, unlabelled points last."""
    rows = [*names, "unlabelled"] if has_unlabeled else list(names)
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    texts = list(ax.get_yticklabels())[: len(names)]
    for text, style in zip(texts, styles, strict=True):
        text.set(color=style.text_color, fontweight="bold")
    return texts


def _merge_scatter(defaults: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults overridden by what was given under any of matplotlib's aliases."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.collections import PathCollection

    merged = defaults | normalize_kwargs(dict(given), PathCollection)
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
