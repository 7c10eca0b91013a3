"""A map as one interactive HTML file: search, class filters, details under the pointer.

Bokeh draws the points, in the colors of the static picture. The page contains all it needs, and its
content security policy forbids it to load anything or to run other scripts. Text from the data is
passed as JSON and becomes text nodes: it is never parsed as HTML, as a template or as TeX.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.map_artists import SPOKE_COLOR, marker_areas
from labelfold.plotting.map_inputs import PointGroups, codes_in
from labelfold.plotting.map_layout import find_anchors, shorten
from labelfold.plotting.palette import UNLABELED_COLOR, ClassStyle, class_styles, opacity
from labelfold.whole_file import replacing

if TYPE_CHECKING:
    import os

    from labelfold.plotting.embedding_display import EmbeddingDisplay

# A page of about 35 MB with two columns of details, which a browser takes seconds to open.
MAX_POINTS = 300_000
# With fewer points the canvas is fast enough, the page smaller, and the policy stricter.
WEBGL_FROM = 10_000
# Bokeh's name for each of the palette's markers, or for the most similar one that can be filled.
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
KINDS = ("labeled", "predicted", "unlabeled", "new")
GIVEN, PREDICTED, BARE, NEW = range(len(KINDS))
HEIGHTS = np.array([2, 1, 0, 3])  # of the kinds' layers, as in the static picture
MAX_IMAGE_BYTES = 60_000_000
LARGEST_IN_FULL = 1e21  # floats from here on are written with an exponent


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
        raise InputError(f"path={str(path)!r} does not end in .html: rename the file.")
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
            f"the map has {n_points:,} points and a page holds at most {MAX_POINTS:,}: draw a "
            "random part of the rows, or a picture with EmbeddingDisplay.plot."
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
            'An HTML page needs bokeh: pip install "labelfold[html]", or draw a picture with '
            "EmbeddingDisplay.plot."
        ) from error
    from jinja2 import Environment
    from markupsafe import Markup

    details = PointDetails.from_display(display, columns)
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
        # With labels only, the list of kinds would repeat the list of classes.
        kinds=[] if has_labels_only else _kind_entries(details),
        count=count,
        has_names=display.view.n_dims > 1 and len(display.classes) > 0,
        has_centers=display.class_centers is not None,
        data={name: Markup(text) for name, text in data.items()},
        scripts=[Markup(script) for script in scripts],
    )
    # A lone surrogate, as in a broken file name, cannot be encoded.
    return page.encode("utf-8", "replace")


def _bokeh_scripts(uses_webgl: bool) -> list[str]:
    from bokeh.resources import Resources

    # Explicit, so that BOKEH_RESOURCES and other variables change nothing.
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
    """Return text with the line ends of the HTML parser, on which hashes depend."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _security_policy(scripts: Sequence[str], uses_webgl: bool) -> str:
    """Return a policy that lets the page run these scripts and load nothing."""
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
    """Number Bokeh's models from 1, whatever else the process has drawn."""
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
    # Code -1 is counted last.
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
    """Return the lines of the list of kinds, if there is more than one."""
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
    "found" is a like source for the hits of a search; "names" and "centers" are sources with a
    "code" of the class, "named" and "centered" their filters; "writing" draws the names, and "rows"
    is the axis of a strip.
    """
    from bokeh.models import ColumnDataSource

    styles = class_styles(len(display.classes))
    codes = np.empty_like(details.codes)
    codes[details.order] = details.codes
    points, centers = display.places(codes)
    figure = _empty_figure(points, uses_webgl)
    if display.view.corners is not None:  # numbers along the axes mean nothing
        figure.segment(0, 0, *display.view.spoke_ends(points).T, line_color=SPOKE_COLOR)
        figure.grid.visible = False
        figure.axis.major_label_text_font_size = "0px"
    columns = _point_columns(points[details.order], details, styles)
    _scatter(figure, ColumnDataSource(columns, name="points"), view=_filtered("shown"))
    if centers is not None:
        _add_centers(figure, centers, styles)
    # Hits of a search are on top.
    _scatter(figure, ColumnDataSource({name: [] for name in columns}, name="found"))
    if display.view.n_dims == 1:
        _name_rows(figure, details)
    else:
        _add_names(figure, find_anchors(points, codes, centers), details.names, styles)
    for axis, name in zip((figure.xaxis, figure.yaxis), display.view.axis_names, strict=False):
        axis.axis_label = name
    return figure


def _filtered(name: str) -> Any:
    from bokeh.models import BooleanFilter, CDSView

    return CDSView(filter=BooleanFilter(name=name))


def _empty_figure(points: NDArray[Any], uses_webgl: bool) -> Any:
    from bokeh.models import Range1d, SaveTool
    from bokeh.plotting import figure

    # Axes end a little past the points; a single point has room around it.
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
        tools="pan,wheel_zoom,box_zoom,reset",
        active_drag="pan",
        active_scroll="wheel_zoom",
        toolbar_location="above",
        output_backend="webgl" if uses_webgl else "canvas",
        background_fill_color="#FFFFFF",
        border_fill_color="#FFFFFF",
        outline_line_color=None,
        # Without WebGL, only some of many points are drawn while they move.
        lod_threshold=20_000,
        lod_factor=20,
        lod_interval=3_000,
        lod_timeout=1_000,
    )
    plot.add_tools(SaveTool(filename="map"))  # without a name, the browser would ask for one
    plot.toolbar.logo = None
    # Bokeh takes 165 pixels for five tools. Lines between them, or a toolbar that shrinks while the
    # map is resized, would push tools into a menu.
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
    """Return a column for each property of the points; "marker" only if there are several."""
    codes, kinds = details.codes, details.kinds
    # The last entry is for code -1, no class.
    fill = np.array([style.color for style in styles] + [UNLABELED_COLOR])[codes]
    outline = np.array([style.text_color for style in styles] + [UNLABELED_COLOR])[codes]
    markers = np.array([MARKER_NAMES[style.marker] for style in styles] + ["circle"])
    counts = np.bincount(kinds, minlength=len(KINDS))
    has_others = bool(counts[PREDICTED])
    area_of = marker_areas(len(kinds), counts[GIVEN], counts[NEW], has_others=has_others)
    areas = np.array([*area_of.values()])  # in the order of KINDS
    # A prediction is paler the lower its confidence; a new row has an outline instead.
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
        "text": [shorten(names[code]) for code in anchors],
        "color": [styles[code].text_color for code in anchors],
        # Offsets from the anchor, which the page changes by the room there is.
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
    """Name the rows of a strip in plain text, without TeX; points of no class are last."""
    from bokeh.models import FixedTicker, PlainText

    names = [shorten(name) for name in details.names]
    if (details.codes < 0).any():
        names.append(details.unlabeled_name)
    figure.yaxis.name = "rows"
    figure.yaxis.ticker = FixedTicker(ticks=list(range(len(names))))
    figure.yaxis.major_label_overrides = {
        height: PlainText(text=name) for height, name in enumerate(names)
    }
    figure.y_range.start, figure.y_range.end = len(names) - 0.5, -0.5
    figure.ygrid.grid_line_color = None


# ---- details of the points, as texts and small integers in the order of drawing


@dataclass(frozen=True, eq=False)
class PointDetails:
    """Details of the points of a map, in the order of drawing; a class code of -1 means none."""

    order: NDArray[np.intp]  # row of each point
    labels: NDArray[Any]  # codes of given classes
    predictions: NDArray[Any]  # codes of predicted classes
    codes: NDArray[Any]  # codes of shown classes
    kinds: NDArray[Any]  # indices in `KINDS`
    certainty: NDArray[np.float64]  # 1 for a given label, otherwise the prediction's confidence
    names: list[str]  # of the classes
    confidence: NDArray[np.float64] | None  # of the predictions
    columns: list[tuple[str, list[str | None]]]  # user's columns, a text or None for each point

    @classmethod
    def from_display(
        cls, display: EmbeddingDisplay, columns: Sequence[tuple[str, list[str | None]]]
    ) -> Self:
        """Collect the details of a display and the user's columns."""
        n_points = len(display.embedding)
        groups = PointGroups.from_display(display)
        kinds = np.select(
            [groups.labeled, groups.predicted, groups.unlabeled], [GIVEN, PREDICTED, BARE], NEW
        )
        order = np.argsort(HEIGHTS[kinds], kind="stable")
        return cls(
            order=order,
            labels=codes_in(display.labels, display.classes, n_points)[order],
            predictions=codes_in(display.predictions, display.classes, n_points)[order],
            codes=groups.codes[order],
            kinds=kinds[order],
            certainty=groups.certainty[order],
            names=list(display.class_names),
            confidence=None if display.confidence is None else display.confidence[order],
            columns=[(name, [values[row] for row in order]) for name, values in columns],
        )

    @property
    def unlabeled_name(self) -> str:
        """Name of points without a class, which no class has."""
        name = "unlabeled"
        while name in self.names:
            name += " points"
        return name

    def as_plain(self, images: list[str] | None) -> dict[str, Any]:
        """Return values that JSON can hold."""
        confidence = None if self.confidence is None else np.round(self.confidence, 4).tolist()
        return {
            "classes": self.names,
            "labels": self.labels.tolist(),
            "predictions": self.predictions.tolist(),
            "codes": self.codes.tolist(),
            "confidence": confidence,
            "kinds": self.kinds.tolist(),
            "row": self.order.tolist(),
            "columns": [{"name": name, "values": values} for name, values in self.columns],
            "images": images,
        }


def check_hover(hover: Any, n_points: int) -> list[tuple[str, list[str | None]]]:
    """Return columns as text, from a mapping or a DataFrame."""
    if hover is None:
        return []
    is_frame = hasattr(hover, "columns") and hasattr(hover, "items")
    if not (isinstance(hover, Mapping) or is_frame):
        raise InputError(
            f"hover is a {type(hover).__name__}: pass a mapping from names to columns, or a "
            "pandas DataFrame."
        )
    return [(str(name), _check_column(name, column, n_points)) for name, column in hover.items()]


def _check_column(name: Any, column: Any, n_points: int) -> list[str | None]:
    is_sequence = hasattr(column, "__len__") and not isinstance(column, str | Mapping)
    if not is_sequence or getattr(column, "ndim", 1) != 1:
        raise InputError(f"hover[{name!r}] is not a sequence: pass one value per point.")
    if len(column) != n_points:
        raise InputError(
            f"hover[{name!r}] has {len(column)} values but the map has {n_points} points: "
            "pass one value per point."
        )
    # A Series would yield Python floats, which show the rounding of single precision.
    is_float = getattr(getattr(column, "dtype", None), "kind", None) == "f"
    values = list(np.asanyarray(column) if is_float else column)
    return [_as_text(value) for value in values]


def _as_text(value: Any) -> str | None:
    """Return the value as a person would write it, with all digits; None if it is missing."""
    # pandas.NA has no truth value, and pandas may be missing; NaN and NaT do not equal themselves.
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return None
    if value != value:
        return None
    is_float = isinstance(value, float | np.floating)
    is_whole = is_float and float(value).is_integer() and abs(value) < LARGEST_IN_FULL
    return str(int(value)) if is_whole else str(value)


def image_uris(images: NDArray[Any] | None, order: NDArray[np.intp]) -> list[str] | None:
    """Return images as data URIs of PNG files, in the order of drawing."""
    if images is None:
        return None
    from PIL import Image

    pixels = _as_bytes(images)
    uris = []
    for row in order:
        stream = io.BytesIO()
        Image.fromarray(pixels[row]).save(stream, "PNG")
        text = base64.b64encode(stream.getvalue()).decode("ascii")
        uris.append(f"data:image/png;base64,{text}")
    n_bytes = sum(map(len, uris))
    if n_bytes > MAX_IMAGE_BYTES:
        raise InputError(
            f"images take {n_bytes / 1e6:.0f} MB and a page holds at most "
            f"{MAX_IMAGE_BYTES / 1e6:.0f} MB: shrink them, draw fewer rows, or leave images out."
        )
    return uris


def _as_bytes(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Return pixels from 0 to 255: colors unchanged, gray stretched from black to white."""
    if images.ndim == 4:
        scale = 255.0 if images.dtype.kind == "f" else 1.0
        return np.round(images * scale).astype(np.uint8)
    values = images.astype(np.float64)
    low, high = values.min(), values.max()
    return np.round((values - low) * (255.0 / (high - low or 1.0))).astype(np.uint8)
