"""The points of a map in layers, each group in its way: as markers, or a crowd as an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.class_layout import PointGroups
from labelfold.plotting.confidence import opacity
from labelfold.plotting.density import DENSITY_THRESHOLD, draw_density
from labelfold.plotting.map_artists import (
    GroupSizes,
    draw_labeled,
    draw_new,
    draw_predicted,
    draw_unlabeled,
)
from labelfold.plotting.map_axes import add_legend
from labelfold.plotting.palette import ClassStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.legend import Legend

    from labelfold.plotting.map_artists import Points


@dataclass(frozen=True)
class PointOptions:
    """What the user asks of matplotlib for each group of points."""

    labeled: Mapping[str, Any]
    predicted: Mapping[str, Any]
    unlabeled: Mapping[str, Any]
    new: Mapping[str, Any]


@dataclass(frozen=True)
class PointArtists:
    """What was drawn, None for what was not."""

    scatter: Points | None
    predicted: Points | None
    unlabeled: Points | None
    new: Points | None
    density: AxesImage | None
    density_counts: NDArray[np.intp] | None
    legend: Legend | None


def draw_points(
    ax: Axes,
    points: NDArray[Any],
    groups: PointGroups,
    styles: Sequence[ClassStyle],
    density: Any,
    options: PointOptions,
) -> PointArtists:
    """Draw all points, the crowd as an image where `density` says so."""
    image, counts = None, None
    crowd = crowd_of(groups, density)
    if crowd.any():
        codes, votes = groups.codes[crowd], groups.certainty[crowd]
        image, counts = draw_density(ax, points[crowd], codes, votes, styles)
        groups = without(groups, crowd)
    labeled, predicted, new = groups.labeled, groups.predicted, groups.new
    codes, opacities = groups.codes, opacity(groups.certainty)
    among_others = image is not None or bool(predicted.any())
    sizes = GroupSizes.of(
        len(points),
        int(np.count_nonzero(labeled)),
        int(np.count_nonzero(new)),
        has_others=among_others,
    )
    return PointArtists(
        unlabeled=draw_unlabeled(ax, points[groups.unlabeled], sizes.unlabeled, options.unlabeled),
        predicted=draw_predicted(
            ax,
            points[predicted],
            codes[predicted],
            opacities[predicted],
            styles,
            sizes.predicted,
            options.predicted,
        ),
        scatter=draw_labeled(
            ax,
            points[labeled],
            codes[labeled],
            styles,
            sizes.labeled,
            among_others,
            options.labeled,
        ),
        new=draw_new(ax, points[new], codes[new], opacities[new], styles, sizes.new, options.new),
        density=image,
        density_counts=counts,
        legend=explain_new(ax, len(points)) if new.any() else None,
    )


def crowd_of(groups: PointGroups, density: Any) -> NDArray[np.bool_]:
    """Points that are drawn as an image: none, or those without a label and other large groups."""
    crowd = groups.predicted | groups.unlabeled
    for group in (groups.labeled, groups.new):
        if np.count_nonzero(group) > DENSITY_THRESHOLD:
            crowd = crowd | group
    is_crowded = np.count_nonzero(crowd) > DENSITY_THRESHOLD if density == "auto" else density
    return crowd if is_crowded else np.zeros_like(crowd)


def without(groups: PointGroups, crowd: NDArray[np.bool_]) -> PointGroups:
    """The groups less the points that were drawn already."""
    return replace(
        groups,
        labeled=groups.labeled & ~crowd,
        predicted=groups.predicted & ~crowd,
        unlabeled=groups.unlabeled & ~crowd,
        new=groups.new & ~crowd,
    )


def explain_new(ax: Axes, n_points: int) -> Legend:
    """A legend with one entry, for new points."""
    from matplotlib.lines import Line2D

    ring = Line2D([], [], marker="o", linestyle="", markersize=7, mfc="white", mec="black", mew=1.2)
    return add_legend(ax, [ring], ["new"], n_points)
