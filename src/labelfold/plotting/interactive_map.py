"""A map as one HTML file that can be searched: points, classes to tick, details under the pointer.

Bokeh draws the points. The page around it holds everything it needs, and its content security
policy forbids it to load anything or to run a script other than its own. Text from the data stands
in JSON and reaches the page as text nodes: it is never parsed as HTML, as a template or as TeX.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelfold.exceptions import InputError
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles
from labelfold.plotting.point_details import (
    KINDS,
    PointDetails,
    check_hover,
    image_uris,
)
from labelfold.whole_file import replacing

if TYPE_CHECKING:
    import os

    from labelfold.plotting.embedding_display import EmbeddingDisplay

__all__ = ["interactive_page", "write_html"]

# A page of some 35 MB with two columns of details, which a browser takes seconds to open.
MAX_POINTS = 300_000
# Below, the canvas is quick enough, the page smaller, and no leave to compile code is needed.
WEBGL_FROM = 10_000
ENDINGS = (".html", ".htm")
LONGEST_FILE_NAME = 60  # characters, of up to four bytes where a system allows 255


def write_html(
    display: EmbeddingDisplay,
    path: str | os.PathLike[str],
    *,
    hover: Mapping[Any, Any] | Any = None,
    title: str | None = None,
) -> None:
    """Write a map as one HTML file with search, a filter by class and details of each point.

    The file opens from disk and loads nothing. It is written as a whole or not at all, and the same
    display gives the same bytes.

    Parameters
    ----------
    display : EmbeddingDisplay
        The map. It need not be drawn.

    path : str or path-like
        The file, whose name ends in .html.

    hover : mapping or pandas DataFrame, default=None
        Columns to show for the point under the pointer and to search in: for each name, a value for
        each point. A column called "row" takes the place of the row number, which counts from 0.

    title : str, default=None
        Heading of the page. By default the number of points.

    Raises
    ------
    ImportError
        If Bokeh is missing: ``pip install "labelfold[html]"``.

    ValueError
        If the map has more than 300,000 points or three components, or if `hover` does not have a
        value for each point.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelfold.plotting import EmbeddingDisplay
    >>> from labelfold.plotting.interactive_map import write_html
    >>> display = EmbeddingDisplay([[0.0, 0.0], [1.0, 1.0]], labels=["cat", None])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "map.html")
    ...     write_html(display, path, hover={"file": ["a.png", "b.png"]})
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
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
    """The file that `write_html` writes, in UTF-8; the parameters are the same."""
    n_points = len(display.embedding)
    _check_display(display)
    columns = check_hover(hover, n_points)
    _import_bokeh()
    from jinja2 import Environment
    from markupsafe import Markup

    from labelfold.plotting.interactive_figure import draw_points

    details = PointDetails.of(display, columns)
    count = f"{n_points:,} point{'' if n_points == 1 else 's'}"
    heading = f"Map of {count}" if title is None else str(title)
    uses_webgl = n_points >= WEBGL_FROM
    plot = draw_points(display, details, uses_webgl=uses_webgl, file_name=_as_file_name(heading))
    scripts = [*_bokeh_scripts(uses_webgl), _page_file("name_places.js"), _page_file("map.js")]
    # `<` is escaped for the HTML parser; JSON reads it back.
    data = {
        "plot-data": _as_json(_with_plain_ids(plot)),
        "row-data": _as_json(details.as_plain(image_uris(display.images, details.order))),
    }
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        _page_file("map.html")
    )
    page = template.render(
        title=heading,
        policy=_security_policy(scripts, uses_webgl),
        style=Markup(_page_file("map.css")),
        classes=_class_entries(display.class_names, details),
        kinds=_kind_entries(details),
        count=count,
        has_names=display.view.n_dims > 1 and len(display.classes) > 0,
        has_centers=display.class_centers is not None,
        data={name: Markup(text) for name, text in data.items()},
        scripts=[Markup(script) for script in scripts],
    )
    # A lone surrogate, which Python reads from a broken file name, has no UTF-8.
    return page.encode("utf-8", "replace")


def _check_display(display: EmbeddingDisplay) -> None:
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


def _import_bokeh() -> None:
    try:
        import bokeh.embed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'A page that can be searched needs bokeh: pip install "labelfold[html]", or draw a '
            "picture with EmbeddingDisplay.plot."
        ) from error


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


def _as_file_name(heading: str) -> str:
    """What the tool that saves a picture calls it: words of the heading, which any system takes."""
    words = re.findall(r"\w+(?:[.,]\w+)*", heading)
    return "-".join(words)[:LONGEST_FILE_NAME].strip("-") or "map"


def _page_file(name: str) -> str:
    source = resources.files("labelfold.plotting").joinpath("page", name)
    return _as_parsed(source.read_text(encoding="utf-8"))


def _as_parsed(text: str) -> str:
    """The text with the line ends that an HTML parser makes of it, on which hashes depend."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _security_policy(scripts: Sequence[str], uses_webgl: bool) -> str:
    """What the page may do: run these scripts and show images that it holds, load nothing."""
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
    """The lines of the class list: name, count, shape and colours."""
    counts = details.class_counts(len(names))
    entries = [
        {"name": name, "count": int(count), "shape": style.marker, "color": style.color}
        for name, count, style in zip(names, counts, class_styles(len(names)), strict=False)
    ]
    if counts[-1]:
        entries.append(
            {
                "name": details.unlabeled_name,
                "count": int(counts[-1]),
                "shape": "o",
                "color": UNLABELED_COLOR,
                "is_none": True,
            }
        )
    return entries


def _kind_entries(details: PointDetails) -> list[dict[str, Any]]:
    """The lines of the list of kinds, or none where it would say what the class list says."""
    counts = details.kind_counts()
    if not details.has_kinds or (counts > 0).sum() < 2:
        return []
    return [
        {"name": name, "count": int(count), "code": code}
        for code, (name, count) in enumerate(zip(KINDS, counts, strict=True))
        if count
    ]
