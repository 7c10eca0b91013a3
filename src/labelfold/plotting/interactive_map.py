"""A map as one HTML file that can be searched: points, classes to tick, details under the pointer.

Bokeh draws the points, in the colors of the static picture. The page around it holds everything it
needs, and its content security policy forbids it to load anything or to run a script other than its
own. Text from the data stands in JSON and reaches the page as text nodes: it is never parsed as
HTML, as a template or as TeX.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.map_artists import SPOKE_COLOR, GroupSizes
from labelfold.plotting.map_layout import middle_points, shortened
from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle, class_styles, opacity
from labelfold.plotting.point_details import (
    GIVEN,
    KINDS,
    NEW,
    PREDICTED,
    PointDetails,
    check_hover,
    image_uris,
)
from labelfold.whole_file import replacing

if TYPE_CHECKING:
    import os

    from labelfold.plotting.embedding_display import EmbeddingDisplay

# A page of some 35 MB with two columns of details, which a browser takes seconds to open.
MAX_POINTS = 300_000
# Below, the canvas is quick enough, the page smaller, and no leave to compile code is needed.
WEBGL_FROM = 10_000
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
TEXT_COLOR, GRID_COLOR = "#333333", "#ECECEC"
NAME_GAP = 9.0  # pixels between an anchor and the name above it


def write_html(
    display: EmbeddingDisplay,
    path: str | os.PathLike[str],
    *,
    hover: Mapping[Any, Any] | Any = None,
    title: str | None = None,
) -> None:
    """Write a map as one HTML file; see :meth:`EmbeddingDisplay.write_html`.

    The file is written as a whole or not at all, and the same display gives the same bytes.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"path={str(path)!r} does not end in .html, which the page is: rename it.")
    page = interactive_page(display, hover=hover, title=title)
    with replacing(target) as stream:
        stream.write(page)


def interactive_page(
    display: EmbeddingDisplay,
    *,
    hover: Mapping[Any, Any] | Any = None,
    title: str | None = None,
) -> bytes:
    """Return the file that `write_html` writes, in UTF-8; the parameters are the same."""
    n_points = len(display.embedding)
    if n_points > MAX_POINTS:
        raise InputError(
            f"the map has {n_points:,} points and a page holds {MAX_POINTS:,}: draw a random "
            "part of the rows, or a picture with EmbeddingDisplay.plot."
        )
    if display.view.n_dims > 2:
        raise InputError(
            f"components={tuple(display.components)} names {len(display.components)} columns and "
            "the page draws two: name two, such as components=(0, 1)."
        )
    columns = check_hover(hover, n_points)
    try:
        from bokeh.embed import json_item
    except ImportError as error:
        raise ImportError(
            'A page that can be searched needs bokeh: pip install "labelfold[html]", or draw a '
            "picture with EmbeddingDisplay.plot."
        ) from error
    from jinja2 import Environment
    from markupsafe import Markup

    details = PointDetails.of(display, columns)
    count = f"{n_points:,} point{'' if n_points == 1 else 's'}"
    heading = f"Map of {count}" if title is None else str(title)
    uses_webgl = n_points >= WEBGL_FROM
    plot = json_item(_draw(display, details, uses_webgl))
    scripts = [*_bokeh_scripts(uses_webgl), _page_file("name_places.js"), _page_file("map.js")]
    # `<` is escaped for the HTML parser; JSON reads it back.
    data = {
        "plot-data": _as_json(_with_plain_ids(plot)),
        "row-data": _as_json(details.as_plain(image_uris(display.images, details.order))),
    }
    has_labels_only = display.predictions is None and display.is_new is None
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        _page_file("map.html")
    )
    page = template.render(
        title=heading,
        policy=_security_policy(scripts, uses_webgl),
        style=Markup(_page_file("map.css")),
        classes=_class_entries(display.class_names, details),
        # Where there are labels only, kinds would say what the classes say.
        kinds=[] if has_labels_only else _kind_entries(details),
        count=count,
        has_names=display.view.n_dims > 1 and len(display.classes) > 0,
        has_centers=display.class_centers is not None,
        data={name: Markup(text) for name, text in data.items()},
        scripts=[Markup(script) for script in scripts],
    )
    # A lone surrogate, which Python reads from a broken file name, has no UTF-8.
    return page.encode("utf-8", "replace")


def _bokeh_scripts(uses_webgl: bool) -> list[str]:
    from bokeh.resources import Resources

    # All that the environment (BOKEH_RESOURCES and others) could change is said here.
    inline = Resources(
        mode="inline",
        components=["bokeh", "bokeh-gl"] if uses_webgl else ["bokeh"],
        minified=True,
        log_level="error",
    )
    return [_as_parsed(script) for script in inline.js_raw]


def _page_file(name: str) -> str:
    source = resources.files("labelfold.plotting").joinpath("page", name)
    return _as_parsed(source.read_text(encoding="utf-8"))


def _as_parsed(text: str) -> str:
    """Return text with the line ends that an HTML parser makes of it, on which hashes depend."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _security_policy(scripts: Sequence[str], uses_webgl: bool) -> str:
    """Return what the page may do: run these scripts, show images that it holds, load nothing."""
    allowed = []
    for script in scripts:
        digest = hashlib.sha256(script.encode("utf-8")).digest()
        allowed.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    if uses_webgl:
        allowed.append("'unsafe-eval'")  # the WebGL library compiles its draw calls
    return (
        f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _as_json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _with_plain_ids(item: Any) -> Any:
    """Number Bokeh's models from 1 on, whatever else the process has drawn."""
    numbers: dict[str, str] = {}

    def renamed(value: Any, key: str | None = None) -> Any:
        if isinstance(value, dict):
            return {name: renamed(entry, name) for name, entry in value.items()}
        if isinstance(value, list):
            return [renamed(entry) for entry in value]
        if key in ("id", "root_id") and value is not None:
            return numbers.setdefault(value, f"p{len(numbers) + 1}")
        return value

    return renamed(item)


def _class_entries(names: Sequence[str], details: PointDetails) -> list[dict[str, Any]]:
    """Return the lines of the class list: name, count, shape and color."""
    # Code -1 counts for the last.
    counts = np.bincount(details.codes % (len(names) + 1), minlength=len(names) + 1).tolist()
    entries: list[dict[str, Any]] = [
        {"name": name, "count": count, "shape": style.marker, "color": style.color}
        for name, count, style in zip(names, counts, class_styles(len(names)), strict=False)
    ]
    if counts[-1]:
        none = {"name": details.unlabeled_name, "shape": "o", "color": UNLABELED_COLOR}
        entries.append({**none, "count": counts[-1], "is_none": True})
    return entries


def _kind_entries(details: PointDetails) -> list[dict[str, Any]]:
    """Return the lines of the list of kinds, where there is more than one."""
    counts = np.bincount(details.kinds, minlength=len(KINDS)).tolist()
    entries = [
        {"name": name, "count": count, "code": code}
        for code, (name, count) in enumerate(zip(KINDS, counts, strict=True))
        if count
    ]
    return entries if len(entries) > 1 else []


# ---- the drawing


def _draw(display: EmbeddingDisplay, details: PointDetails, uses_webgl: bool) -> Any:
    """Draw a map as a figure of Bokeh, whose models the page finds by name.

    "map" is the figure; "points" have a column for each property, "shown" is their filter and
    "found" a source like theirs for what a search finds; "names" and "centers" are sources with a
    "code" of the class, "named" and "centered" their filters; "writing" draws the names, and "rows"
    is the axis of a strip.
    """
    from bokeh.models import ColumnDataSource

    styles = class_styles(len(display.classes))
    codes = np.empty_like(details.codes)
    codes[details.order] = details.codes
    points, centers = display.places(codes)
    figure = _empty_figure(points, uses_webgl)
    if display.view.corners is not None:  # numbers along the axes would say nothing
        figure.segment(0, 0, *display.view.spoke_ends(points).T, line_color=SPOKE_COLOR)
        figure.grid.visible = False
        figure.axis.major_label_text_font_size = "0px"
    columns = _point_columns(points[details.order], details, styles)
    _scatter(figure, ColumnDataSource(columns, name="points"), view=_filtered("shown"))
    if centers is not None:
        _add_centers(figure, centers, styles)
    # What a search finds lies on top of everything that would cover it.
    _scatter(figure, ColumnDataSource({name: [] for name in columns}, name="found"))
    if display.view.n_dims == 1:
        _name_rows(figure, details)
    else:
        _add_names(figure, middle_points(points, codes, centers), details.names, styles)
    for axis, name in zip((figure.xaxis, figure.yaxis), display.view.axis_names, strict=False):
        axis.axis_label = name
    return figure


def _filtered(name: str) -> Any:
    from bokeh.models import BooleanFilter, CDSView

    return CDSView(filter=BooleanFilter(name=name))


def _empty_figure(points: NDArray[Any], uses_webgl: bool) -> Any:
    from bokeh.models import Range1d
    from bokeh.plotting import figure

    # Axes end a little beyond the points; a single point has room around it.
    low, high = points.min(axis=0), points.max(axis=0)
    gap = np.where(high > low, 0.05 * (high - low), np.maximum(np.abs(high), 1.0))
    (x_low, y_low), (x_high, y_high) = (low - gap).tolist(), (high + gap).tolist()
    plot = figure(
        name="map",
        x_range=Range1d(start=x_low, end=x_high),
        y_range=Range1d(start=y_low, end=y_high),
        sizing_mode="stretch_both",
        min_height=200,
        min_width=200,
        tools="pan,wheel_zoom,box_zoom,reset,save",
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
    plot.toolbar.logo = None
    # Bokeh takes 165 pixels for five tools. Lines between them, or a bar that shrinks while the map
    # is resized, would push tools into a menu.
    plot.toolbar.stylesheets = [".bk-divider { display: none; }"]
    plot.toolbar.styles = {"min-width": "165px"}
    plot.grid.grid_line_color = GRID_COLOR
    for part in ("axis", "major_tick", "minor_tick"):
        setattr(plot.axis, f"{part}_line_color", None)
    plot.axis.axis_label_text_font_style = "normal"
    for part in ("axis_label", "major_label"):
        setattr(plot.axis, f"{part}_text_font", FONT)
        setattr(plot.axis, f"{part}_text_font_size", "13px")
        setattr(plot.axis, f"{part}_text_color", TEXT_COLOR)
    return plot


def _point_columns(
    points: NDArray[Any], details: PointDetails, styles: Sequence[ClassStyle]
) -> dict[str, Any]:
    """Return a column for each property of the points; of "marker" if there is more than one."""
    codes, kinds = details.codes, details.kinds
    # The last entries answer for code -1, a point without a class.
    fill = np.array([style.color for style in styles] + [UNLABELED_COLOR])[codes]
    outline = np.array([style.text_color for style in styles] + [UNLABELED_COLOR])[codes]
    markers = np.array([MARKER_NAMES[style.marker] for style in styles] + ["circle"])
    counts = np.bincount(kinds, minlength=len(KINDS))
    sizes = GroupSizes.of(
        len(kinds), counts[GIVEN], counts[NEW], has_others=bool(counts[PREDICTED])
    )
    areas = np.array([sizes.labeled, sizes.predicted, sizes.unlabeled, sizes.new])  # as in KINDS
    # A prediction is paler, the less sure it is; a new point has its outline to show.
    alpha = np.where(kinds == PREDICTED, opacity(details.certainty), 1.0)
    columns = {
        "x": points[:, 0],
        "y": points[:, 1],
        "fill": fill.tolist(),
        "line": np.select([kinds == NEW, kinds == GIVEN], ["#000000", outline], fill).tolist(),
        "size": (PIXELS_PER_POINT * np.sqrt(areas))[kinds].astype(np.float32),
        "alpha": alpha.astype(np.float32),
    }
    if len(set(markers.tolist())) > 1:
        columns["marker"] = markers[codes].tolist()
    return columns


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


def _add_centers(figure: Any, centers: NDArray[Any], styles: Sequence[ClassStyle]) -> None:
    from bokeh.models import ColumnDataSource

    columns = {
        "x": centers[:, 0],
        "y": centers[:, 1],
        "code": list(range(len(centers))),
        "fill": [style.color for style in styles[: len(centers)]],
    }
    look = {
        "source": ColumnDataSource(columns, name="centers"),
        "view": _filtered("centered"),
        "marker": "star",
        "size": 18,
        "fill_color": "fill",
    }
    for color, width in (("#FFFFFF", 4.0), ("#000000", 1.2)):
        figure.scatter("x", "y", line_color=color, line_width=width, **look)


def _add_names(
    figure: Any,
    anchors: dict[int, NDArray[Any]],
    names: Sequence[str],
    styles: Sequence[ClassStyle],
) -> None:
    from bokeh.models import ColumnDataSource

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
        view=_filtered("named"),
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
    """Name the rows of a strip, in plain text, which knows no TeX; points of no class are last."""
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
