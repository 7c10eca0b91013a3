"""A map as one interactive HTML file: search, class filters, selection, details under the pointer.

The file holds the viewer (plain JavaScript of labelfold/plotting/page, without dependencies) and
the data of the map as compressed binary. Its content security policy allows these scripts by their
hash and forbids it to load anything. Except for the title, text is never part of the markup: it is
inside the binary, and the viewer shows it as text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.map_artists import marker_areas
from labelfold.plotting.map_inputs import PointGroups, codes_in
from labelfold.plotting.map_layout import find_anchors
from labelfold.plotting.palette import (
    UNLABELED_COLOR,
    class_styles,
    readable_on_dark,
    readable_on_white,
)
from labelfold.whole_file import replacing

if TYPE_CHECKING:
    import os

    from labelfold.plotting.embedding_display import EmbeddingDisplay

# A file of about 10 MB with two columns of details, which a browser opens in seconds.
MAX_POINTS = 500_000
MAX_IMAGE_BYTES = 60_000_000
PIXELS_PER_POINT = 96 / 72
STRETCHED_FROM = 4.0  # times as wide as high, or the reverse, from which on a map fills its frame
POINT_CONTRAST = 2.0  # to 1, of points with the dark ground
CONFIDENCE_UNIT = 10_000
LARGEST_IN_FULL = 1e21  # floats from here on are written with an exponent


@dataclass(frozen=True)
class InteractiveMap:
    """A map as an HTML page, from :meth:`EmbeddingDisplay.interactive`.

    In a notebook it shows itself in a frame that has no access to the notebook.

    Attributes
    ----------
    page : bytes
        The page, in UTF-8.
    """

    page: bytes

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file ending in .html, as a whole or not at all."""
        target = Path(path)
        if target.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"path={str(path)!r} does not end in .html: rename the file.")
        with replacing(target) as stream:
            stream.write(self.page)

    def _repr_html_(self) -> str:
        content = html.escape(self.page.decode("utf-8"))
        return (
            '<iframe sandbox="allow-scripts" width="100%" height="620" '
            f'style="border: 0" srcdoc="{content}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<InteractiveMap of {len(self.page):,} bytes>"


def interactive_page(
    display: EmbeddingDisplay,
    *,
    hover: Mapping[Any, Any] | Any = None,
    title: str | None = None,
) -> bytes:
    """Return a map as one HTML file in UTF-8; see :meth:`EmbeddingDisplay.write_html`.

    The same display gives the same bytes.
    """
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
    count = f"{n_points:,} point{'' if n_points == 1 else 's'}"
    heading = f"Map of {count}" if title is None else str(title)
    header, arrays = map_data(display, hover)
    style, script = page_file("viewer.css"), _join_scripts()
    page = Template(page_file("map.html")).substitute(
        title=html.escape(heading),
        policy=html.escape(_security_policy(style, script)),
        style=style,
        viewer=viewer_markup(heading, header["caption"]),
        data=_compress(pack(header, arrays)),
        images=_image_block(display.images),
        script=script,
    )
    # A lone surrogate, as in a broken file name, cannot be encoded.
    return page.encode("utf-8", "replace")


def page_file(name: str) -> str:
    """Return a file of the viewer with the line ends of the HTML parser, for equal hashes."""
    source = resources.files("labelfold.plotting").joinpath("page", name)
    return source.read_text(encoding="utf-8").replace("\r\n", "\n")


def viewer_markup(title: str, caption: str) -> str:
    """Return what the element around the viewer holds."""
    texts = {"title": html.escape(title), "caption": html.escape(caption)}
    return Template(page_file("viewer.html")).substitute(texts)


def _join_scripts() -> str:
    """Return the modules of the viewer as one: a file opened from disk cannot import others.

    Each becomes a function that returns what the module exports, after those that it imports.
    """
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        text = page_file(f"{name}.js")
        for imported in re.findall(r'^import .* from "\./(\w+)\.js";$', text, re.MULTILINE):
            if imported not in joined:
                add(imported)
        exported = re.findall(r"^export (?:const|function|class) (\w+)", text, re.MULTILINE)
        text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        text = re.sub(
            r"^import (.*) from .*/(\w+)\.js.*$", r"const \1 = modules.\2;", text, flags=re.M
        )
        joined[name] = f"async () => {{\n{text}return {{ {', '.join(exported)} }};\n}}"

    add("map")
    calls = [f"modules.{name} = await ({text})();\n" for name, text in joined.items()]
    return "".join(["const modules = {};\n", *calls])


def _security_policy(style: str, script: str) -> str:
    """Return a policy that lets the page use this style and script, and load nothing."""

    def hashed(text: str) -> str:
        digest = hashlib.sha256(text.encode("utf-8")).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


# ---- data for the viewer


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a header and arrays as one block of bytes, which binary.js reads.

    Four bytes with the length of the header, the header as JSON with type, start and length of
    each array, then the arrays, each at a multiple of 8 bytes. Numbers are little-endian, and
    starts count from the end of the header.
    """
    places: dict[str, tuple[str, int, int]] = {}
    parts = []
    start = 0
    for name, array in arrays.items():
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        parts.append(data.ljust(-(-len(data) // 8) * 8, b"\0"))
        places[name] = (array.dtype.name, start, array.size)
        start += len(parts[-1])
    text = json.dumps({**header, "arrays": places}, ensure_ascii=False, allow_nan=False)
    head = text.encode("utf-8", "replace")
    head = head.ljust(-(-(4 + len(head)) // 8) * 8 - 4)
    return b"".join([len(head).to_bytes(4, "little"), head, *parts])


def map_data(
    display: EmbeddingDisplay, hover: Mapping[Any, Any] | Any = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what the viewer shows of a display, as a header and arrays with one entry per row.

    The arrays are `position` (x and y in turn, in a frame from -1 to 1), `label` and `prediction`
    (a class or -1), `isNew`, `confidence` (in ten thousandths, if there is any), and for each
    column of details `column0`, `column1`... (the index of its text, or one past the last text).
    The header has

    - `classes` with name and shape, and `colors`, see :func:`class_colors`; the last are for points
      without a class,
    - `columns` with name and texts, the row's number or name first,
    - `sizes` in pixels of labeled, predicted, unlabeled and new rows, and `hasKinds`, whether to
      list them,
    - `anchors` and `centers` of the classes by their number, `spokes` and their `middle`,
    - `isStrip`, `isStretched` for axes with different units, and a `caption`.
    """
    n_points, n_classes = len(display.embedding), len(display.classes)
    columns = check_hover(hover, n_points)
    if all(name != "row" for name, _ in columns):
        columns.insert(0, ("row", [str(row) for row in range(n_points)]))
    columns.sort(key=lambda column: column[0] != "row")
    groups = PointGroups.from_display(display)
    points, centers = display.places(groups.codes)
    is_strip = display.view.n_dims == 1
    to_frame = _Frame.around(points, is_strip)
    n_labeled, n_predicted, n_new = (
        int(group.sum()) for group in (groups.labeled, groups.predicted, groups.new)
    )
    areas = marker_areas(n_points, n_labeled, n_new, has_others=n_predicted > 0)
    if is_strip:  # a name in each row, with points without a class last
        rows = np.arange(n_classes + int((groups.codes < 0).any()))
        heights = np.clip(rows, points[:, 1].min(), points[:, 1].max())
        anchors = dict(enumerate(np.column_stack([np.zeros(len(rows)), heights])))
    else:
        anchors = find_anchors(points, groups.codes, centers)
    names = [*display.class_names, _unused_name("unlabeled", display.class_names)]
    markers = [*(style.marker for style in class_styles(n_classes)), "o"]
    header: dict[str, Any] = {
        "classes": [
            {"name": name, "shape": shape} for name, shape in zip(names, markers, strict=True)
        ],
        "colors": class_colors(n_classes),
        "columns": [],
        "sizes": [round(float(PIXELS_PER_POINT * np.sqrt(area)), 2) for area in areas.values()],
        # With labels only, a list of kinds would repeat the list of classes.
        "hasKinds": display.predictions is not None or display.is_new is not None,
        "anchors": to_frame.by_code(anchors),
        "centers": to_frame.by_code(dict(enumerate([] if centers is None else centers))),
        "spokes": to_frame(display.view.spoke_ends(points)).tolist(),
        "middle": to_frame(np.zeros(2)).tolist(),
        "isStrip": is_strip,
        "isStretched": to_frame.is_stretched,
        "caption": " × ".join(filter(None, display.view.axis_names)),
    }
    is_new = np.zeros(n_points) if display.is_new is None else display.is_new
    arrays: dict[str, NDArray[Any]] = {
        "position": to_frame(points).astype(np.float32),
        "label": _narrow(codes_in(display.labels, display.classes, n_points), -n_classes - 1),
        "prediction": _narrow(
            codes_in(display.predictions, display.classes, n_points), -n_classes - 1
        ),
        "isNew": is_new.astype(np.uint8),
    }
    if display.confidence is not None:
        arrays["confidence"] = np.round(CONFIDENCE_UNIT * display.confidence).astype(np.uint16)
    for number, (name, values) in enumerate(columns):
        known = dict.fromkeys(text for text in values if text is not None)
        index_of = {text: index for index, text in enumerate(known)}
        header["columns"].append({"name": name, "texts": list(known)})
        codes = np.array([len(known) if text is None else index_of[text] for text in values])
        arrays[f"column{number}"] = _narrow(codes, len(known))
    return header, arrays


def _unused_name(name: str, used: Sequence[str]) -> str:
    return name if name not in used else _unused_name(f"{name} points", used)


def class_colors(n_classes: int) -> dict[str, list[list[list[int]]]]:
    """Return colors of points and of names, as [red, green, blue], in both themes.

    Points without a class come last.
    """
    from matplotlib.colors import to_rgb

    def channels(color: str) -> list[int]:
        return [round(255 * part) for part in to_rgb(color)]

    colors = [*(style.color for style in class_styles(n_classes)), UNLABELED_COLOR]
    light = [(color, readable_on_white(color)) for color in colors]
    dark = [(readable_on_dark(color, POINT_CONTRAST), readable_on_dark(color)) for color in colors]
    return {
        theme: [[channels(point), channels(name)] for point, name in pairs]
        for theme, pairs in (("light", light), ("dark", dark))
    }


@dataclass(frozen=True)
class _Frame:
    """From coordinates to a frame from -1 to 1, in which single precision keeps all details."""

    middle: NDArray[np.float64]
    unit: NDArray[np.float64]
    is_stretched: bool  # whether the axes have different units

    @classmethod
    def around(cls, points: NDArray[Any], is_strip: bool) -> _Frame:
        low, high = points.min(axis=0), points.max(axis=0)
        half = high / 2 - low / 2
        is_stretched = bool(is_strip or half.max() > STRETCHED_FROM * half.min() > 0)
        unit = np.where(half > 0, half, 1.0) if is_stretched else np.full(2, half.max() or 1.0)
        # The rows of a strip are counted from the top.
        return cls(low / 2 + high / 2, unit * (1.0, -1.0 if is_strip else 1.0), is_stretched)

    def __call__(self, points: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray((points - self.middle) / self.unit)

    def by_code(self, places: Mapping[int, Any]) -> dict[int, list[float]]:
        return {code: self(np.asarray(place)).tolist() for code, place in places.items()}


def _narrow(codes: NDArray[Any], bound: int) -> NDArray[Any]:
    """Return codes as the smallest integers that hold this bound, with a sign if it has one."""
    return codes.astype(np.min_scalar_type(bound))


def _compress(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _image_block(images: NDArray[Any] | None) -> str:
    if images is None:
        return ""
    pixels = as_bytes(images)
    text = _compress(pack({"size": pixels.shape[1:3]}, {"pixels": pixels}))
    if len(text) > MAX_IMAGE_BYTES:
        raise InputError(
            f"images take {len(text) / 1e6:.0f} MB and a page holds at most "
            f"{MAX_IMAGE_BYTES / 1e6:.0f} MB: shrink them, draw fewer rows, or leave images out."
        )
    return text


def as_bytes(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Return pixels from 0 to 255: colors unchanged, gray stretched from black to white."""
    if images.ndim == 4:
        scale = 255.0 if images.dtype.kind == "f" else 1.0
        return np.round(images * scale).astype(np.uint8)
    values = images.astype(np.float64)
    low, high = values.min(), values.max()
    return np.round((values - low) * (255.0 / (high - low or 1.0))).astype(np.uint8)


# ---- columns of details, as texts


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
