"""Axes for a picture of a map: made or checked, and named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from labelfold.plotting.map_view import MapView

FEW_POINTS = 10_000  # among which matplotlib finds the best place for a legend at once


def is_space(ax: Axes) -> bool:
    """Whether axes have three dimensions."""
    return ax.name == "3d"


def make_axes(ax: Axes | None, n_dims: int) -> Axes:
    """Return axes for so many dimensions: those given, if they suit, or those of a new figure."""
    from matplotlib.axes import Axes

    projection = "3d" if n_dims == 3 else None
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}: pass one Axes, such as axes[0].")
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(layout="constrained", subplot_kw={"projection": projection})
    elif n_dims == 3 and not is_space(ax):
        raise InputError(
            "components names three columns, but ax has two dimensions: "
            'make it with projection="3d", or leave ax out.'
        )
    elif n_dims != 3 and is_space(ax):
        raise InputError(
            f"ax has three dimensions, but components names {n_dims} of the columns: "
            "pass plain axes, or components=(0, 1, 2)."
        )
    if is_space(ax):
        # Names, centres and labelled points stay on top of the crowd, as in the plane.
        in_space: Any = ax
        in_space.computed_zorder = False
    # Colours, halos and outlines are chosen for white, whatever style the page has.
    ax.set_facecolor("white")
    return ax


def name_axes(ax: Axes, view: MapView) -> None:
    """Write along each axis what it shows; numbers say nothing in the plane of the classes."""
    for axis, name in zip("xyz", view.axis_names, strict=False):
        ax.set(**{f"{axis}label": name})
    if view.corners is not None:
        ax.set(xticks=[], yticks=[])


def add_legend(ax: Axes, handles: Sequence[Artist], texts: Sequence[str], n_points: int) -> Legend:
    """A small legend where it covers the least; in a corner, where a search would take long."""
    is_quick = n_points <= FEW_POINTS and not is_space(ax)
    return ax.legend(
        list(handles),
        list(texts),
        loc="best" if is_quick else "upper right",
        handletextpad=0.5,
        borderpad=0.3,
        framealpha=0.9,
    )
