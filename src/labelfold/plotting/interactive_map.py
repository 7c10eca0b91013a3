"""A map as one interactive HTML file: search, class filters, selection, details under the pointer.

The file holds the viewer (plain JavaScript of labelfold/plotting/page, without dependencies) and
the data of the map as compressed binary. Its content security policy allows these scripts by their
hash and forbids it to load anything. Text from the data is never part of the markup: it is inside
the binary, and the viewer shows it as text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Mapping
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
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles
from labelfold.whole_file import replacing

if TYPE_CHECKING:
    import os

    from labelfold.plotting.embedding_display import EmbeddingDisplay

# A file of about 10 MB with two columns of details, which a browser opens in seconds.
MAX_POINTS = 500_000
MAX_IMAGE_BYTES = 60_000_000
# Each script imports only from those before it, so that joined they are one script.
SCRIPTS = (
    "binary painter theme elements grid names scatter card search viewer map".split()
)
PIXELS_PER_POINT = 96 / 72
STRETCHED_FROM = 4.0  # times as wide as high, or the reverse, from which on a map fills its frame
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
            '<iframe sandbox="allow-scripts allow-downloads" width="100%" height="620" '
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
        data=_compress(pack({"title": heading, **header}, arrays)),
        images=_image_block(display.images),
        script=script,
    )
    # A lone surrogate, as in a broken file name, cannot be encoded.
    return page.encode("utf-8", "replace")


def page_file(name: str) -> str:
    """Return a file of the viewer with the line ends of the HTML parser, for equal hashes."""
    source = resources.files("labelfold.plotting").joinpath("page", name)
    return source.read_text(encoding="utf-8").replace("\r\n", "\n")


def _join_scripts() -> str:
    """Return the modules of the viewer as one: a file opened from disk cannot import others.

    Each becomes a function that returns what the module exports.
    """
    joined = ["const modules = {};\n"]
    for name in SCRIPTS:
        text = page_file(f"{name}.js")
        exported = ", ".join(re.findall(r"^export (?:const|function|class) (\w+)", text, re.MULTILINE))
        text = re.sub(r'^import (.*) from "\./(.*)\.js";$', r"const \1 = modules.\2;", text, flags=re.MULTILINE)
        text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        joined.append(f"modules.{name} = await (async () => {{\n{text}return {{ {exported} }};\n}})();\n")
    return "".join(joined)


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
    each array, then the arrays, each at a multiple of 8 bytes. Numbers are little-endian.
    """
    starts, end = {}, 0
    for name, array in arrays.items():
        starts[name] = end
        end += -(-array.nbytes // 8) * 8

    def described(shift: int) -> bytes:
        places = {
            name: [str(array.dtype), shift + starts[name], array.size]
            for name, array in arrays.items()
        }
        text = json.dumps({**header, "arrays": places}, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "replace")

    # Starts count from the beginning of the block, so their digits change the header's length.
    room = -(-(len(described(10**10)) + 4) // 8) * 8
    text = described(room).ljust(room - 4)
    parts = [len(text).to_bytes(4, "little"), text]
    for array in arrays.values():
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        parts.append(data.ljust(-(-len(data) // 8) * 8, b"\0"))
    return b"".join(parts)


def map_data(
    display: EmbeddingDisplay, hover: Mapping[Any, Any] | Any = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what the viewer needs to show a display: a header, and arrays by row."""
    n_points, n_classes = len(display.embedding), len(display.classes)
    columns = check_hover(hover, n_points)
    groups = PointGroups.from_display(display)
    points, centers = display.places(groups.codes)
    is_strip = display.view.n_dims == 1
    to_frame = _Frame.around(points, is_strip)
    counts = {name: int(getattr(groups, name).sum()) for name in ("labeled", "predicted", "new")}
    areas = marker_areas(
        n_points, counts["labeled"], counts["new"], has_others=counts["predicted"] > 0
    )
    header: dict[str, Any] = {
        "classes": [
            {"name": name, "color": style.color, "shape": style.marker}
            for name, style in zip(display.class_names, class_styles(n_classes), strict=True)
        ],
        "unlabeledColor": UNLABELED_COLOR,
        "sizes": [round(float(PIXELS_PER_POINT * np.sqrt(area)), 2) for area in areas.values()],
        "isStretched": to_frame.is_stretched,
        "isStrip": is_strip,
        "caption": " × ".join(filter(None, display.view.axis_names)),
        "columns": [],
    }
    arrays: dict[str, NDArray[Any]] = {"position": to_frame(points).astype(np.float32)}
    for name, labels in (("label", display.labels), ("prediction", display.predictions)):
        if labels is not None:
            arrays[name] = _narrow(codes_in(labels, display.classes, n_points), signed=True)
    if display.confidence is not None:
        arrays["confidence"] = np.round(CONFIDENCE_UNIT * display.confidence).astype(np.uint16)
    if display.is_new is not None:
        arrays["isNew"] = display.is_new.astype(np.uint8)
    if centers is not None:
        header["centers"] = to_frame(centers).tolist()
    if is_strip:
        rows = np.column_stack([np.zeros(n_classes + 1), np.arange(n_classes + 1)])
        header["rowHeights"] = to_frame(rows)[:, 1].tolist()
    if display.view.corners is not None:
        header["middle"] = to_frame(np.zeros((1, 2)))[0].tolist()
        header["spokes"] = to_frame(display.view.spoke_ends(points)).tolist()
    for number, (name, values) in enumerate(columns):
        known = dict.fromkeys(text for text in values if text is not None)
        texts = {text: code for code, text in enumerate(known)}
        header["columns"].append({"name": name, "texts": list(texts)})
        codes = np.array([0 if text is None else texts[text] + 1 for text in values])
        arrays[f"column{number}"] = _narrow(codes)
    return header, arrays


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


def _narrow(codes: NDArray[Any], *, signed: bool = False) -> NDArray[Any]:
    """Return codes as the smallest integers that hold them."""
    largest = int(codes.max(initial=0))
    return codes.astype(np.min_scalar_type(-largest - 1 if signed else largest))


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
