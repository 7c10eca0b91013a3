"""The drawing of an interactive map as models of Bokeh, in the colours of the static picture.

Names of classes are drawn by Bokeh's text glyph and as plain tick labels, which know no TeX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.plotting.class_layout import name_anchors
from labelfold.plotting.confidence import opacity
from labelfold.plotting.map_artists import SPOKE_COLOR, GroupSizes
from labelfold.plotting.name_places import shortened
from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle, class_styles
from labelfold.plotting.point_details import BARE, GIVEN, KINDS, NEW, PREDICTED, PointDetails

if TYPE_CHECKING:
    from labelfold.plotting.embedding_display import EmbeddingDisplay

# Bokeh's name for each of the palette's markers, or of the nearest that has an inside to fill.
MARKER_NAMES = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "D": "diamond",
    "P": "plus",
    "X": "square_pin",
    "v": "inverted_triangle",
    "p": "hex",
}
PIXELS_PER_POINT = 96 / 72
FONT = "system-ui, sans-serif"
TEXT_COLOR = "#333333"
GRID_COLOR = "#ECECEC"
NAME_GAP = 9.0  # pixels between an anchor and the name above it


def draw_points(
    display: EmbeddingDisplay, details: PointDetails, *, uses_webgl: bool, file_name: str
) -> dict[str, Any]:
    """Draw a map.

    Parameters
    ----------
    display : EmbeddingDisplay
        The map.
    details : PointDetails
        Its details, whose order is that of drawing.
    uses_webgl : bool
        Whether the graphics card draws the points.
    file_name : str
        What a picture is called that a person saves, without its ending.

    Returns
    -------
    item : dict
        What ``Bokeh.embed.embed_item`` takes. Its models are called "map", "points" (a column for
        each property), "shown" (their filter), "found" (a source like that of the points, for what
        a search finds), "names" and "centers" (sources with a "code" of the class), "named" and
        "centered" (their filters), "writing" (what draws the names) and "rows" (the axis of a
        strip).
    """
    from bokeh.embed import json_item

    styles = class_styles(len(display.classes))
    codes = details.codes_by_row
    points, centers = display.places(codes)
    figure = _empty_figure(points, uses_webgl=uses_webgl, file_name=file_name)
    if display.view.corners is not None:
        _add_spokes(figure, display.view.spoke_ends(points))
    columns = _point_columns(points[details.order], details, styles)
    _add_points(figure, columns)
    if centers is not None:
        _add_centers(figure, centers, styles)
    _add_found(figure, columns)
    if display.view.n_dims == 1:
        _name_rows(figure, details)
    else:
        _add_names(figure, name_anchors(points, codes, centers), details.names, styles)
    for axis, name in zip((figure.xaxis, figure.yaxis), display.view.axis_names, strict=False):
        axis.axis_label = name
    return dict(json_item(figure))


def _empty_figure(points: NDArray[Any], *, uses_webgl: bool, file_name: str) -> Any:
    from bokeh.models import Range1d, SaveTool
    from bokeh.plotting import figure

    (x_low, y_low), (x_high, y_high) = _padded(points.min(axis=0), points.max(axis=0))
    plot = figure(
        name="map",
        x_range=Range1d(start=x_low, end=x_high),
        y_range=Range1d(start=y_low, end=y_high),
        sizing_mode="stretch_both",
        min_height=200,
        min_width=200,
        tools="pan,wheel_zoom,box_zoom,reset",
        active_drag="pan",
        active_scroll="wheel_zoom",
        toolbar_location="above",
        output_backend="webgl" if uses_webgl else "canvas",
        background_fill_color="#FFFFFF",
        border_fill_color="#FFFFFF",
        outline_line_color=None,
        # Where there is no WebGL, a part of many points is drawn while they move.
        lod_threshold=20_000,
        lod_factor=20,
        lod_interval=3_000,
        lod_timeout=1_000,
    )
    plot.add_tools(SaveTool(filename=file_name))
    plot.toolbar.logo = None
    # Bokeh takes 165 pixels for five tools. Lines between them, or a bar that shrinks while the map
    # is resized, would push tools into a menu.
    plot.toolbar.stylesheets = [".bk-divider { display: none; }"]
    plot.toolbar.styles = {"min-width": "165px"}
    plot.grid.grid_line_color = GRID_COLOR
    plot.axis.axis_line_color = None
    plot.axis.major_tick_line_color = None
    plot.axis.minor_tick_line_color = None
    plot.axis.axis_label_text_font_style = "normal"
    for part in ("axis_label", "major_label"):
        setattr(plot.axis, f"{part}_text_font", FONT)
        setattr(plot.axis, f"{part}_text_font_size", "13px")
        setattr(plot.axis, f"{part}_text_color", TEXT_COLOR)
    return plot


def _padded(low: NDArray[Any], high: NDArray[Any]) -> tuple[list[float], list[float]]:
    """Ends of the axes, a little beyond the points; a single point has room around it."""
    gap = np.where(high > low, 0.05 * (high - low), np.maximum(np.abs(high), 1.0))
    return (low - gap).tolist(), (high + gap).tolist()


def _point_columns(
    points: NDArray[Any], details: PointDetails, styles: Sequence[ClassStyle]
) -> dict[str, Any]:
    """A column for each property of the points; of "marker" where there is more than one."""
    codes, kinds = details.codes, details.kinds
    # The last entries answer for code -1, a point without a class.
    fill = np.array([style.color for style in styles] + [UNLABELED_COLOR])[codes]
    outline = np.array([style.text_color for style in styles] + [UNLABELED_COLOR])[codes]
    markers = np.array([MARKER_NAMES[style.marker] for style in styles] + ["circle"])
    columns = {
        "x": points[:, 0],
        "y": points[:, 1],
        "fill": fill.tolist(),
        "line": np.select([kinds == NEW, kinds == GIVEN], ["#000000", outline], fill).tolist(),
        "size": _diameters(kinds),
        "alpha": _opacities(details),
    }
    if len(set(markers.tolist())) > 1:
        columns["marker"] = markers[codes].tolist()
    return columns


def _add_points(figure: Any, columns: dict[str, Any]) -> None:
    from bokeh.models import BooleanFilter, CDSView, ColumnDataSource

    source = ColumnDataSource(columns, name="points")
    _scatter(figure, source, view=CDSView(filter=BooleanFilter(name="shown")))


def _add_found(figure: Any, columns: dict[str, Any]) -> None:
    """What a search finds, on top of everything that would cover it; nothing at first."""
    from bokeh.models import ColumnDataSource

    _scatter(figure, ColumnDataSource({name: [] for name in columns}, name="found"))


def _scatter(figure: Any, source: Any, **options: Any) -> None:
    figure.scatter(
        "x",
        "y",
        source=source,
        size="size",
        marker={"field": "marker"} if "marker" in source.data else "circle",
        fill_color="fill",
        line_color="line",
        fill_alpha="alpha",
        line_alpha="alpha",
        line_width=1.0,
        **options,
    )


def _add_spokes(figure: Any, ends: NDArray[Any]) -> None:
    """The plane of the classes: a line to each of these ends, and no numbers along the axes."""
    figure.segment(0, 0, *ends.T, line_color=SPOKE_COLOR)
    figure.grid.visible = False
    figure.axis.major_label_text_font_size = "0px"


def _diameters(kinds: NDArray[Any]) -> NDArray[np.float32]:
    """Diameter of each point in pixels, from the areas of the static picture."""
    counts = np.bincount(kinds, minlength=len(KINDS))
    sizes = GroupSizes.of(
        len(kinds), counts[GIVEN], counts[NEW], has_others=bool(counts[PREDICTED])
    )
    areas = np.empty(len(KINDS))
    areas[[GIVEN, PREDICTED]] = sizes.labeled, sizes.predicted
    areas[[BARE, NEW]] = sizes.unlabeled, sizes.new
    return (PIXELS_PER_POINT * np.sqrt(areas))[kinds].astype(np.float32)


def _opacities(details: PointDetails) -> NDArray[np.float32]:
    """A prediction is the paler, the less sure it is; a new point has its outline to show."""
    is_predicted = details.kinds == PREDICTED
    return np.where(is_predicted, opacity(details.certainty), 1.0).astype(np.float32)


def _add_centers(figure: Any, centers: NDArray[Any], styles: Sequence[ClassStyle]) -> None:
    from bokeh.models import BooleanFilter, CDSView, ColumnDataSource

    columns = {
        "x": centers[:, 0],
        "y": centers[:, 1],
        "code": list(range(len(centers))),
        "fill": [style.color for style in styles[: len(centers)]],
    }
    source = ColumnDataSource(columns, name="centers")
    view = CDSView(filter=BooleanFilter(name="centered"))
    for color, width in (("#FFFFFF", 4.0), ("#000000", 1.2)):
        figure.scatter(
            "x",
            "y",
            source=source,
            view=view,
            marker="star",
            size=18,
            fill_color="fill",
            line_color=color,
            line_width=width,
        )


def _add_names(
    figure: Any,
    anchors: dict[int, NDArray[Any]],
    names: Sequence[str],
    styles: Sequence[ClassStyle],
) -> None:
    from bokeh.models import BooleanFilter, CDSView, ColumnDataSource

    columns = {
        "x": [float(anchor[0]) for anchor in anchors.values()],
        "y": [float(anchor[1]) for anchor in anchors.values()],
        "code": list(anchors),
        "text": [shortened(names[code]) for code in anchors],
        "color": [styles[code].text_color for code in anchors],
        # How far from its anchor each is written, which the page decides by the room there is.
        "right": [0.0] * len(anchors),
        "down": [-NAME_GAP] * len(anchors),
    }
    figure.text(
        "x",
        "y",
        name="writing",
        source=ColumnDataSource(columns, name="names"),
        view=CDSView(filter=BooleanFilter(name="named")),
        text="text",
        text_color="color",
        text_font={"value": FONT},
        text_font_size="15px",
        text_font_style="bold",
        text_align="center",
        text_baseline="bottom",
        x_offset="right",
        y_offset="down",
        background_fill_color="#FFFFFF",
        background_fill_alpha=0.75,
        padding=2,
        border_radius=4,
    )


def _name_rows(figure: Any, details: PointDetails) -> None:
    """The rows of a strip: the name of each class at its height, points of none in the last."""
    from bokeh.models import FixedTicker, PlainText

    names = [shortened(name) for name in details.names]
    if (details.codes < 0).any():
        names.append(details.unlabeled_name)
    figure.yaxis.name = "rows"
    figure.yaxis.ticker = FixedTicker(ticks=list(range(len(names))))
    figure.yaxis.major_label_overrides = {
        height: PlainText(text=name) for height, name in enumerate(names)
    }
    figure.y_range.start, figure.y_range.end = len(names) - 0.5, -0.5
    figure.ygrid.grid_line_color = None
