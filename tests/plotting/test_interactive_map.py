"""What the page of a map holds: columns, colors, details, and text that stays text.

Whether a browser draws it and answers is looked at in tests/browser.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from decimal import Decimal
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting import interactive_map as module
from labelfold.plotting.interactive_map import interactive_page, write_html
from labelfold.plotting.map_layout import LONGEST_NAME, find_anchors
from labelfold.plotting.map_view import strip_rows
from labelfold.plotting.palette import MARKERS, UNLABELED_COLOR, class_styles, opacity

pytest.importorskip("bokeh")

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"{{'}}",
    "{% raw %}",
    "$x$",
    "$$x$$",
    "{safe}",
    "@label",
    "&lt;b&gt;",
    "x" * 10_000,
    "\N{LEMON} zest",
    "שלום עולם",
    "two\nlines\u2028end",
    "'; --",
)


class Page(HTMLParser):
    """A page as a parser sees it: elements with their attributes, and the text in each."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(data.decode("utf-8"))

    def handle_starttag(self, tag, attributes):
        element = (tag, dict(attributes), [])
        self.elements.append(element)
        if tag not in ("meta", "link", "input", "img", "br"):
            self._open.append(element)

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if self._open:
            self._open[-1][2].append(data)

    def all(self, tag, **wanted):
        """Attributes and text of the elements of one kind."""
        return [
            (attributes, "".join(text))
            for name, attributes, text in self.elements
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]

    def json(self, name):
        return json.loads(self.all("script", id=name)[0][1])

    @property
    def rows(self):
        return self.json("row-data")

    @property
    def classes(self):
        names = [text for _, text in self.all("bdi")]
        counts = [text for _, text in self.all("span", **{"class": "count"})]
        return dict(zip(names, counts, strict=False))

    @property
    def kinds(self):
        """Names of the kinds of points that can be ticked."""
        return [text for _, text in self.all("span", **{"class": "name"})]

    def source(self, name):
        """A column data source of Bokeh's, as arrays and lists."""
        return {key: decoded(value) for key, value in self.model(name)["data"]["entries"]}

    def model(self, name):
        [found] = [model for model in self.models() if model.get("name") == name]
        return found

    def models(self, kind=None):
        """Attributes of Bokeh's models, those of one kind or all."""
        found = models_in(self.json("plot-data"))
        return [attributes for name, attributes in found if kind in (None, name)]


def models_in(value):
    if isinstance(value, dict):
        if "name" in value and "id" in value:
            yield value["name"], value.get("attributes", {})
        for entry in value.values():
            yield from models_in(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from models_in(entry)


def decoded(value):
    if isinstance(value, dict) and value.get("type") == "ndarray":
        data = base64.b64decode(value["array"]["data"])
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        return np.frombuffer(data, value["dtype"]).reshape(value["shape"])
    return value


def page_of(display, **options):
    return Page(interactive_page(display, **options))


def points(n, seed=0, n_columns=2):
    return np.random.default_rng(seed).normal(size=(n, n_columns))


@pytest.fixture
def display():
    """Five rows: two with a label, two with a prediction only, one new."""
    return EmbeddingDisplay(
        points(5),
        labels=["cat", None, "dog", None, None],
        predictions=["cat", "dog", "cat", "cat", "dog"],
        confidence=[1.0, 0.5, 0.25, 0.75, 0.125],
        is_new=[False, False, False, False, True],
        class_centers=[[0.0, 1.0], [2.0, 3.0]],
    )


def test_points_stand_where_the_map_has_them_and_labels_are_drawn_last(display):
    page = page_of(display)
    rows, drawn = page.rows, page.source("points")
    assert rows["row"] == [1, 3, 0, 2, 4]  # predicted, labeled, new
    np.testing.assert_array_equal(drawn["x"], display.embedding[rows["row"], 0])
    np.testing.assert_array_equal(drawn["y"], display.embedding[rows["row"], 1])
    assert rows["classes"] == ["cat", "dog"]
    assert rows["labels"] == [-1, -1, 0, 1, -1]
    assert rows["predictions"] == [1, 0, 0, 0, 1]
    assert rows["codes"] == [1, 0, 0, 1, 1]
    assert rows["confidence"] == [0.5, 0.75, 1.0, 0.25, 0.125]
    assert rows["kinds"] == [1, 1, 0, 0, 3]


def test_colors_are_those_of_the_static_picture(display):
    cat, dog = class_styles(2)
    drawn = page_of(display).source("points")
    assert drawn["fill"] == [dog.color, cat.color, cat.color, dog.color, dog.color]
    # A given label is outlined in its own hue, a new row in black, a prediction not at all.
    outlines = [dog.color, cat.color, cat.text_color, dog.text_color, "#000000"]
    assert drawn["line"] == outlines
    np.testing.assert_allclose(drawn["alpha"][:2], opacity(np.array([0.5, 0.75])), rtol=1e-6)
    np.testing.assert_array_equal(drawn["alpha"][2:], 1.0)
    predicted, labeled, new = drawn["size"][[0, 2, 4]]
    assert predicted < labeled < new


def test_unlabeled_points_are_gray_small_and_underneath():
    page = page_of(EmbeddingDisplay(points(4), labels=["cat", None, "dog", None]))
    drawn = page.source("points")
    assert page.rows["row"] == [1, 3, 0, 2]
    assert drawn["fill"][:2] == drawn["line"][:2] == [UNLABELED_COLOR] * 2
    assert drawn["size"][0] == pytest.approx(drawn["size"][2] * np.sqrt(0.6))
    assert page.classes == {"cat": "1", "dog": "1", "unlabeled": "2"}
    assert page.kinds == []  # they would say what the classes say


def test_filters_count_what_they_hide(display):
    page = page_of(display)
    assert page.classes == {"cat": "2", "dog": "3"}
    assert page.kinds == ["labeled", "predicted", "new"]
    boxes = page.all("input", type="checkbox")
    ticked = [box.get("data-class", box.get("data-kind", box.get("id"))) for box, _ in boxes]
    assert ticked == ["naming", *"01013"]


@pytest.mark.parametrize("n_columns", [1, 2])
def test_a_class_called_unlabeled_is_not_that_of_points_without_a_class(n_columns):
    embedding = points(3, n_columns=n_columns)
    page = page_of(EmbeddingDisplay(embedding, labels=["unlabeled", None, None]))
    assert page.classes == {"unlabeled": "1", "unlabeled points": "2"}
    if n_columns == 1:
        rows = [model["text"] for model in page.models("PlainText")]
        assert rows == ["unlabeled", "unlabeled points"]
    bare = page_of(EmbeddingDisplay(embedding))
    assert bare.classes == {"unlabeled": "3"}
    assert bare.all("input", id="naming") == []  # there are no names to write
    assert "★" not in str(bare.all("p"))


def test_names_and_centers_stand_where_the_static_picture_has_them(display):
    page = page_of(display)
    centers, names = page.source("centers"), page.source("names")
    np.testing.assert_array_equal([centers["x"], centers["y"]], display.class_centers.T)
    assert centers["code"] == [0, 1]
    assert centers["fill"] == [style.color for style in class_styles(2)]
    assert "★ class center" in str(page.all("p"))
    codes = np.array([0, 1, 1, 0, 1])
    anchors = find_anchors(display.embedding, codes, display.class_centers)
    np.testing.assert_array_equal(np.column_stack([names["x"], names["y"]]), [*anchors.values()])
    assert names["text"] == ["cat", "dog"]
    assert names["color"] == [style.text_color for style in class_styles(2)]


def test_past_eight_classes_shapes_tell_them_apart():
    page = page_of(EmbeddingDisplay(points(64), labels=np.arange(64)))
    drawn = page.source("points")
    assert len(set(zip(drawn["fill"], drawn["marker"], strict=True))) == 64
    shapes = {attributes["id"] for attributes, _ in page.all("symbol")}
    assert shapes == {f"shape-{marker}" for marker in MARKERS}
    used = [attributes["href"] for attributes, _ in page.all("use")]
    assert used == [f"#shape-{style.marker}" for style in class_styles(64)]
    assert "marker" not in page_of(EmbeddingDisplay(points(8), labels=range(8))).source("points")


def test_one_component_is_a_strip_with_the_heights_of_the_static_picture():
    embedding = points(6, n_columns=1)
    names = ["$$x$$", "$y$"]  # which Bokeh would parse in a string
    labels = ["b", None, "a", None, "b", "a"]
    page = page_of(EmbeddingDisplay(embedding, labels=labels, class_names=names))
    drawn, order = page.source("points"), page.rows["row"]
    heights = strip_rows(np.array([1, -1, 0, -1, 1, 0]), 2)
    np.testing.assert_array_equal(drawn["y"], heights[order])
    np.testing.assert_array_equal(drawn["x"], embedding[order, 0])
    assert [model["text"] for model in page.models("PlainText")] == [*names, "unlabeled"]


@pytest.mark.parametrize("embedding", [[[1.0, 2.0]], [[0.0, 0.0]] * 3, [[1e9, 1.0], [1e9, 2.0]]])
def test_axes_have_room_around_points_in_one_place(embedding):
    page = page_of(EmbeddingDisplay(embedding))
    for axis, column in zip(page.models("Range1d"), np.array(embedding).T, strict=True):
        assert axis.get("start", 0) < column.min() <= column.max() < axis.get("end", 1)


@pytest.mark.parametrize("wrap", [dict, pd.DataFrame])
def test_columns_become_text_in_the_order_of_drawing(wrap):
    hover = wrap(
        {
            "file": ["a.png", None, "c.png"],
            "age": [3, 4, 5],
            "size": [0.5, np.nan, 1234567.0],
            7: [True, False, True],
            "single": np.array([0.1, np.nan, 16777216], dtype=np.float32),
            "day": np.array(["2024-02-29", "NaT", "2024-03-01"], dtype="datetime64[D]"),
            "row": [11, 12, 13],
        }
    )
    page = page_of(EmbeddingDisplay(points(3), labels=["cat", None, "dog"]), hover=hover)
    assert page.rows["row"] == [1, 0, 2]
    columns = {column["name"]: column["values"] for column in page.rows["columns"]}
    assert columns.pop("day")[0] is None
    assert columns == {
        "file": [None, "a.png", "c.png"],
        "age": ["4", "3", "5"],
        "size": [None, "0.5", "1234567"],
        "7": ["False", "True", "True"],
        "single": [None, "0.1", "16777216"],
        "row": ["12", "11", "13"],
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (20230101123456.0, "20230101123456"),
        (np.float64(9007199254740993), "9007199254740992"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (Decimal("1.10"), "1.10"),
        ("nan", "nan"),
        (None, None),
        (pd.NA, None),
        (pd.NaT, None),
        (Decimal("NaN"), None),
        (np.ma.masked, None),
    ],
)
def test_values_have_all_their_digits(value, text):
    [column] = page_of(EmbeddingDisplay(points(1)), hover={"a": [value]}).rows["columns"]
    assert column["values"] == [text]


@pytest.mark.parametrize(
    ("hover", "words"),
    [
        ({"a": [1, 2]}, r"hover\['a'\] has 2 values but the map has 3 points"),
        ({"a": "abc"}, r"hover\['a'\] is not a sequence"),
        ({"a": 5}, r"hover\['a'\] is not a sequence"),
        ({"a": np.ones((3, 2))}, r"hover\['a'\] is not a sequence"),
        ([1, 2, 3], "hover is a list"),
        (pd.Series([1, 2, 3]), "hover is a Series"),
        ({"a": {"x": 1, "y": 2, "z": 3}}, r"hover\['a'\] is not a sequence"),
    ],
)
def test_columns_of_other_sizes_raise(tmp_path, hover, words):
    with pytest.raises(ValueError, match=words):
        write_html(EmbeddingDisplay(points(3)), tmp_path / "map.html", hover=hover)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "images",
    [
        np.arange(24.0).reshape(2, 3, 4),
        np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3) * 10,
        np.linspace(0, 1, 32).reshape(2, 2, 2, 4),
        np.zeros((2, 3, 3)),
    ],
)
def test_images_are_the_pixels_given(images):
    from PIL import Image

    display = EmbeddingDisplay(points(2), labels=["cat", None], images=images)
    page = page_of(display)
    for uri, row in zip(page.rows["images"], page.rows["row"], strict=True):
        head, data = uri.split(",")
        assert head == "data:image/png;base64"
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
        expected = images[row] * {"u": 1, "f": 255}[images.dtype.kind]
        if images.ndim == 3:  # stretched from the least to the largest of all images
            expected = expected / max(images.max(), 1)
        np.testing.assert_array_equal(pixels, np.round(expected))


def test_what_a_page_cannot_hold_raises(tmp_path, display, monkeypatch):
    for name in ("map.png", "map", "html"):
        with pytest.raises(ValueError, match=r"does not end in \.html"):
            write_html(display, tmp_path / name)
    space = EmbeddingDisplay(points(4, n_columns=3), components=(0, 1, 2))
    with pytest.raises(ValueError, match=r"components=\(0, 1, 2\).*draws two"):
        write_html(space, tmp_path / "map.html")
    monkeypatch.setattr(module, "MAX_POINTS", 4)
    with pytest.raises(ValueError, match="5 points and a page holds at most 4: draw a random part"):
        write_html(display, tmp_path / "map.html")
    monkeypatch.setattr(module, "MAX_IMAGE_BYTES", 100)
    with pytest.raises(ValueError, match=r"images take .*leave images out"):
        interactive_page(EmbeddingDisplay(points(2), images=np.zeros((2, 3, 3))))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text(text):
    display = EmbeddingDisplay(points(2), labels=["a", "b"], class_names=[text, "other"])
    page = page_of(display, hover={text: [text, None]}, title=text)
    plain = page_of(EmbeddingDisplay(points(2), labels=["a", "b"]), hover={"c": ["d", None]})
    # The same elements as for harmless text, so that nothing was parsed.
    assert [tag for tag, _, _ in page.elements] == [tag for tag, _, _ in plain.elements]
    assert page.all("title")[0][1] == page.all("h1")[0][1] == text
    assert page.all("bdi")[0][1] == text
    assert page.rows["classes"] == [text, "other"]
    assert page.rows["columns"] == [{"name": text, "values": [text, None]}]
    assert len(page.all("script")) == 6


def test_half_a_character_does_not_stop_the_page():
    page = page_of(EmbeddingDisplay(points(1), labels=["\udcff"]), hover={"\udcff": ["\udcff"]})
    assert list(page.classes) == ["?"]


def test_long_names_are_cut_on_the_map_and_whole_in_the_list():
    name = "a name\nthat goes on " + "and on" * 99
    page = page_of(EmbeddingDisplay(points(2), labels=["a", "b"], class_names=[name, "b"]))
    shown = page.source("names")["text"][0]
    assert len(shown) == LONGEST_NAME
    assert shown.startswith("a name that goes on and on")
    assert page.all("bdi")[0][1] == name


@pytest.mark.parametrize("n_points", [3, module.WEBGL_FROM])
def test_nothing_is_loaded_and_only_known_scripts_run(n_points):
    page = page_of(EmbeddingDisplay(np.arange(2.0 * n_points).reshape(-1, 2)))
    for _, attributes, _ in page.elements:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:"))
        assert not [name for name in attributes if name.startswith("on")]
    [(meta, _)] = [m for m in page.all("meta") if "http-equiv" in m[0]]
    policy = dict(rule.split(" ", 1) for rule in meta["content"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    scripts = [text for attributes, text in page.all("script") if "type" not in attributes]
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = [f"'sha256-{value}'" for value in hashes]
    uses_webgl = n_points >= module.WEBGL_FROM
    assert policy["script-src"].split() == allowed + ["'unsafe-eval'"] * uses_webgl
    assert len(scripts) == 4 + uses_webgl


def test_the_same_display_gives_the_same_bytes(tmp_path):
    from bokeh.plotting import figure

    display = EmbeddingDisplay([[0.0, 1.0], [2.0, 3.0]], labels=["a", None])
    first = interactive_page(display)
    figure()  # takes numbers that models would have
    assert interactive_page(display) == first
    script = (
        "import sys; from labelfold.plotting import EmbeddingDisplay\n"
        "from labelfold.plotting.interactive_map import write_html\n"
        "write_html(EmbeddingDisplay([[0., 1.], [2., 3.]], labels=['a', None]), sys.argv[1])"
    )
    path = tmp_path / "map.html"
    settings = {"BOKEH_SIMPLE_IDS": "no", "BOKEH_RESOURCES": "cdn", "BOKEH_MINIFIED": "no"}
    environment = {**os.environ, **settings}
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, env=environment)
    assert path.read_bytes() == first


def test_the_file_is_the_page_and_the_display_as_it_was(tmp_path, display):
    before = {name: str(value) for name, value in vars(display).items()}
    path = tmp_path / "map.html"
    display.write_html(str(path), title="Pets")
    assert path.read_bytes() == interactive_page(display, title="Pets")
    assert Page(path.read_bytes()).all("h1")[0][1] == "Pets"
    assert {name: str(value) for name, value in vars(display).items()} == before


@pytest.mark.parametrize(("n_points", "count"), [(1, "1 point"), (1234, "1,234 points")])
def test_the_title_is_the_number_of_points_by_default(n_points, count):
    page = page_of(EmbeddingDisplay(points(n_points)))
    assert page.all("h1")[0][1] == f"Map of {count}"
    assert page.all("output")[0][1] == count
    assert page.all("div", id="plot")[0][0]["aria-label"].startswith(f"Map of {count}.")


def test_without_bokeh_the_extra_is_named(monkeypatch, display):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    monkeypatch.setitem(sys.modules, "bokeh.embed", None)
    with pytest.raises(ImportError, match=r'pip install "labelfold\[html\]"'):
        interactive_page(display)


def test_importing_plotting_does_not_import_bokeh():
    script = (
        "import sys, labelfold.plotting.interactive_map\n"
        "print('bokeh' in sys.modules, 'jinja2' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True
    )
    assert result.stdout == "False False\n"
