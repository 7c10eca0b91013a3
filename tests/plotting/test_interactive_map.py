"""What the page of a map holds: points, colors, details, and text that stays text.

Whether a browser draws it and answers is looked at in tests/browser.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import subprocess
import sys
from decimal import Decimal
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from page_data import read_page, unpack

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting import interactive_map as module
from labelfold.plotting.interactive_map import interactive_page, pack
from labelfold.plotting.map_artists import marker_areas
from labelfold.plotting.map_layout import find_anchors
from labelfold.plotting.map_view import strip_rows
from labelfold.plotting.palette import (
    DARK_GROUND,
    MARKERS,
    UNLABELED_COLOR,
    class_styles,
    readable_on_dark,
)

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"{{'}}",
    "$title ${policy} $$",
    "&lt;b&gt;",
    "x" * 10_000,
    "\N{LEMON} zest",
    "שלום עולם",
    "two\nlines\u2028end",
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
        if tag not in ("meta", "link", "input", "img", "br", "path"):
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


def data_of(display, **options):
    return read_page(interactive_page(display, **options))


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


def in_frame(data, embedding, places):
    """Places of the same coordinates as the points, in the frame of the page."""
    position = data["position"].reshape(-1, 2).astype(float)
    columns = []
    for axis in range(2):  # the frame is a scale and a shift of each axis
        design = np.column_stack([embedding[:, axis], np.ones(len(embedding))])
        factors = np.linalg.lstsq(design, position[:, axis], rcond=None)[0]
        columns.append(factors[0] * np.asarray(places)[:, axis] + factors[1])
    return np.column_stack(columns)


def test_a_block_of_bytes_is_read_back():
    arrays = {
        "a": np.arange(3, dtype=np.uint8),
        "b": np.array([], dtype=np.int16),
        "c": np.array([[1.5, -2.0]], dtype=np.float32),
        "d": np.array([-1, 70_000], dtype=">i4"),
    }
    block = pack({"text": "ü\N{LEMON}\udcff", "n": 3}, arrays)
    data = unpack(block)
    assert (data["text"], data["n"]) == ("ü\N{LEMON}?", 3)
    for name, array in arrays.items():
        np.testing.assert_array_equal(data[name], array.ravel())
    end = 4 + int.from_bytes(block[:4], "little")
    places = json.loads(block[4:end])["arrays"]
    assert [(end + start) % 8 for _, start, _ in places.values()] == [0] * 4
    assert [dtype for dtype, _, _ in places.values()] == ["uint8", "int16", "float32", "int32"]


def test_points_have_their_labels_predictions_and_kinds(display):
    data = data_of(display)
    assert [one["name"] for one in data["classes"]] == ["cat", "dog", "unlabeled"]
    assert data["label"].tolist() == [0, -1, 1, -1, -1]
    assert data["prediction"].tolist() == [0, 1, 0, 0, 1]
    assert data["confidence"].tolist() == [10_000, 5_000, 2_500, 7_500, 1_250]
    assert data["isNew"].tolist() == [0, 0, 0, 0, 1]
    assert data["details"] == {"row": ["0", "1", "2", "3", "4"]}
    areas = marker_areas(5, 2, 1, has_others=True)
    np.testing.assert_allclose(data["sizes"], [96 / 72 * a**0.5 for a in areas.values()], atol=0.01)
    assert data["hasKinds"]
    assert not data_of(EmbeddingDisplay(points(4), labels=[*"ab", None, None]))["hasKinds"]


def test_the_frame_keeps_the_shape_of_the_map(display):
    data = data_of(display)
    position = data["position"].reshape(-1, 2)
    assert np.abs(position).max() == pytest.approx(1)
    span, shown = np.ptp(display.embedding, axis=0), np.ptp(position, axis=0)
    np.testing.assert_allclose(shown / shown.max(), span / span.max(), rtol=1e-6)
    places = in_frame(data, display.embedding, display.class_centers)
    np.testing.assert_allclose([data["centers"]["0"], data["centers"]["1"]], places, atol=1e-6)
    codes = np.array([0, 1, 1, 0, 1])
    anchors = find_anchors(display.embedding, codes, display.class_centers)
    places = in_frame(data, display.embedding, [*anchors.values()])
    np.testing.assert_allclose([data["anchors"]["0"], data["anchors"]["1"]], places, atol=1e-6)


@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_columns_of_very_different_spans_fill_the_frame(factor):
    data = data_of(EmbeddingDisplay(points(50) * [1.0, factor]))
    spans = np.ptp(data["position"].reshape(-1, 2), axis=0)
    assert data["isStretched"] == (factor > 1)
    assert (spans.min() == pytest.approx(2)) == (factor > 1)


@pytest.mark.parametrize(
    "embedding", [[[1.0, 2.0]], [[0.0, 0.0]] * 3, [[1e9, 1.0], [1e9, 2.0]], [[1e150, -1e150]] * 2]
)
def test_points_in_one_place_or_far_away_have_finite_places(embedding):
    position = data_of(EmbeddingDisplay(embedding))["position"]
    assert np.isfinite(position).all()
    assert np.abs(position).max() <= 1


def test_single_precision_keeps_details_of_large_coordinates():
    embedding = 1e9 + np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0001]])
    position = data_of(EmbeddingDisplay(embedding))["position"].reshape(-1, 2)
    assert position[2, 1] - position[0, 1] == pytest.approx(0.0002, rel=0.01)


def channels(color):
    return [int(color[start : start + 2], 16) for start in (1, 3, 5)]


def luminance(rgb):
    parts = np.array(rgb) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("n_classes", [0, 3, 30])
def test_colors_are_those_of_the_palette_and_names_can_be_read_in_both_themes(n_classes):
    labels = np.arange(60) % n_classes if n_classes else None
    data = data_of(EmbeddingDisplay(points(60), labels=labels))
    styles = class_styles(n_classes)
    palette = [*(channels(style.color) for style in styles), channels(UNLABELED_COLOR)]
    assert [point for point, _ in data["colors"]["light"]] == palette
    shapes = [one["shape"] for one in data["classes"]]
    assert shapes == [*(style.marker for style in styles), "o"]
    for theme, ground in (("light", "#FFFFFF"), ("dark", DARK_GROUND)):
        for point, name in data["colors"][theme]:
            assert contrast(name, channels(ground)) > 4.4
            assert theme == "light" or contrast(point, channels(ground)) > 1.95
    pairs = list(zip(map(str, data["colors"]["dark"]), shapes, strict=True))
    assert len(set(pairs)) == n_classes + 1


def test_black_and_gray_change_sides_in_the_dark():
    assert readable_on_dark("#000000") == "#FFFFFF"
    assert luminance(channels(readable_on_dark("#EEEEEE", 2.0))) < 0.2


def test_every_marker_of_the_palette_has_an_outline_in_the_viewer():
    script = resources.files("labelfold.plotting").joinpath("page", "painter.js").read_text()
    table = script.partition("export const SHAPES = {")[2].partition("};")[0]
    keys = [line.split(":")[0].strip(' "') for line in table.strip().splitlines()]
    assert set(MARKERS) <= set(keys)


@pytest.mark.parametrize("n_classes", [1, 127, 128, 300])
def test_labels_fit_their_type(n_classes):
    labels = [*range(n_classes), None]
    data = data_of(EmbeddingDisplay(points(n_classes + 1), labels=labels))
    assert data["label"].tolist() == [*range(n_classes), -1]
    assert data["prediction"].tolist() == [-1] * (n_classes + 1)
    assert np.iinfo(data["label"].dtype).max >= n_classes  # the viewer adds points without a class


def test_a_class_called_unlabeled_is_not_that_of_points_without_a_class():
    data = data_of(EmbeddingDisplay(points(3), labels=["unlabeled", None, None]))
    assert [one["name"] for one in data["classes"]] == ["unlabeled", "unlabeled points"]


def test_one_component_is_a_strip_with_the_first_class_on_top():
    embedding = points(6, n_columns=1)
    labels = ["b", None, "a", None, "b", "a"]
    data = data_of(EmbeddingDisplay(embedding, labels=labels))
    heights = strip_rows(np.array([1, -1, 0, -1, 1, 0]), 2)
    position = data["position"].reshape(-1, 2)
    assert np.corrcoef(position[:, 1], -heights)[0, 1] == pytest.approx(1)
    assert np.corrcoef(position[:, 0], embedding[:, 0])[0, 1] == pytest.approx(1)
    assert (data["isStrip"], data["isStretched"]) == (True, True)
    rows = [data["anchors"][str(row)][1] for row in range(3)]
    assert rows == sorted(rows, reverse=True)
    assert data["caption"] == "coordinate 1"


def test_the_plane_of_the_classes_has_its_spokes():
    embedding = np.repeat(np.eye(3), 10, axis=0) + 0.1 * points(30, n_columns=3)
    display = EmbeddingDisplay(embedding, labels=np.repeat([0, 1, 2], 10), components="classes")
    data = data_of(display)
    ends = display.view.spoke_ends(display.places(np.zeros(30))[0])
    directions = np.array(data["spokes"]) - data["middle"]
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    np.testing.assert_allclose(directions / lengths, ends / np.linalg.norm(ends[0]), atol=1e-6)
    assert "spoke" in data["caption"]


@pytest.mark.parametrize("wrap", [dict, pd.DataFrame])
def test_columns_become_text_with_the_row_first(wrap):
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
    data = data_of(EmbeddingDisplay(points(3), labels=["cat", None, "dog"]), hover=hover)
    columns = data["details"]
    assert columns.pop("day")[1] is None
    assert list(columns) == ["row", "file", "age", "size", "7", "single"]
    assert columns == {
        "row": ["11", "12", "13"],
        "file": ["a.png", None, "c.png"],
        "age": ["3", "4", "5"],
        "size": ["0.5", None, "1234567"],
        "7": ["True", "False", "True"],
        "single": ["0.1", None, "16777216"],
    }


def test_a_text_is_stored_once():
    [_, column] = data_of(EmbeddingDisplay(points(500)), hover={"a": ["x", "y"] * 250})["columns"]
    assert column == {"name": "a", "texts": ["x", "y"]}


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
    data = data_of(EmbeddingDisplay(points(1)), hover={"a": [value]})
    assert data["details"]["a"] == [text]


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
        EmbeddingDisplay(points(3)).write_html(tmp_path / "map.html", hover=hover)
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
    display = EmbeddingDisplay(points(2), labels=["cat", None], images=images)
    block = read_page(interactive_page(display), "map-images")
    expected = images * {"u": 1, "f": 255}[images.dtype.kind]
    if images.ndim == 3:  # stretched from the least to the largest of all images
        expected = expected / max(images.max(), 1)
    np.testing.assert_array_equal(block["pixels"], np.round(expected).ravel())
    assert block["size"] == list(images.shape[1:3])
    assert read_page(interactive_page(EmbeddingDisplay(points(2))), "map-images") is None


def test_what_a_page_cannot_hold_raises(tmp_path, display, monkeypatch):
    for name in ("map.png", "map", "html"):
        with pytest.raises(ValueError, match=r"does not end in \.html"):
            display.write_html(tmp_path / name)
    space = EmbeddingDisplay(points(4, n_columns=3), components=(0, 1, 2))
    with pytest.raises(ValueError, match=r"components=\(0, 1, 2\).*draws two"):
        space.write_html(tmp_path / "map.html")
    monkeypatch.setattr(module, "MAX_POINTS", 4)
    with pytest.raises(ValueError, match="5 points and a page holds at most 4: draw a random part"):
        display.write_html(tmp_path / "map.html")
    monkeypatch.setattr(module, "MAX_IMAGE_BYTES", 10)
    with pytest.raises(ValueError, match=r"images take .*leave images out"):
        interactive_page(EmbeddingDisplay(points(2), images=np.zeros((2, 3, 3))))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text(text):
    display = EmbeddingDisplay(points(2), labels=["a", "b"], class_names=[text, "other"])
    page = interactive_page(display, hover={text: [text, None]}, title=text)
    plain = Page(interactive_page(EmbeddingDisplay(points(2), labels=["a", "b"])))
    # The same elements as for harmless text, so that nothing was parsed.
    assert [tag for tag, _, _ in Page(page).elements] == [tag for tag, _, _ in plain.elements]
    assert Page(page).all("title")[0][1] == text
    data = read_page(page)
    assert Page(page).all("h1")[0][1] == data["classes"][0]["name"] == text
    assert data["details"][text] == [text, None]


def test_half_a_character_does_not_stop_the_page():
    display = EmbeddingDisplay(points(1), labels=["\udcff"])
    page = interactive_page(display, hover={"\udcff": ["\udcff"]}, title="\udcff")
    assert read_page(page)["classes"][0]["name"] == Page(page).all("title")[0][1] == "?"


def test_nothing_is_loaded_and_only_the_script_and_style_of_the_viewer_are_allowed():
    page = Page(interactive_page(EmbeddingDisplay(points(3), images=np.zeros((3, 2, 2)))))
    for _, attributes, _ in page.elements:
        assert "src" not in attributes
        assert "style" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:"))
        assert not [name for name in attributes if name.startswith("on")]
    [(meta, _)] = [m for m in page.all("meta") if "http-equiv" in m[0]]
    policy = dict(rule.split(" ", 1) for rule in meta["content"].split("; "))

    def hashed(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    [(_, script)] = page.all("script", type="module")
    [(_, style)] = page.all("style")
    assert policy == {
        "default-src": "'none'",
        "script-src": hashed(script),
        "style-src": hashed(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_same_display_gives_the_same_bytes(tmp_path):
    display = EmbeddingDisplay([[0.0, 1.0], [2.0, 3.0]], labels=["a", None])
    first = interactive_page(display)
    assert interactive_page(display) == first
    script = (
        "import sys; from labelfold.plotting import EmbeddingDisplay\n"
        "EmbeddingDisplay([[0., 1.], [2., 3.]], labels=['a', None]).write_html(sys.argv[1])"
    )
    path = tmp_path / "map.html"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    assert path.read_bytes() == first


def test_the_file_is_the_page_and_the_display_as_it_was(tmp_path, display):
    before = {name: str(value) for name, value in vars(display).items()}
    path = tmp_path / "map.html"
    display.write_html(str(path), title="Pets")
    assert path.read_bytes() == interactive_page(display, title="Pets")
    assert {name: str(value) for name, value in vars(display).items()} == before


@pytest.mark.parametrize(("n_points", "count"), [(1, "1 point"), (1234, "1,234 points")])
def test_the_title_is_the_number_of_points_by_default(n_points, count):
    page = Page(interactive_page(EmbeddingDisplay(points(n_points))))
    assert page.all("title")[0][1] == f"Map of {count}"


def test_a_notebook_shows_the_same_page_in_a_sandboxed_frame(display):
    shown = display.interactive(title="<Pets>")
    [(attributes, _)] = Page(shown._repr_html_().encode()).all("iframe")
    assert attributes["srcdoc"].encode() == shown.page == interactive_page(display, title="<Pets>")
    assert attributes["sandbox"] == "allow-scripts"
    assert html.escape("<Pets>").encode() in shown.page
    assert repr(shown) == f"<InteractiveMap of {len(shown.page):,} bytes>"


def test_a_file_of_60_000_points_has_at_most_3_mb():
    n = 60_000
    rng = np.random.default_rng(0)
    codes = rng.integers(10, size=n)
    display = EmbeddingDisplay(
        rng.normal(size=(n, 2)),
        labels=np.where(rng.random(n) < 0.01, codes, -1),
        predictions=codes,
        confidence=rng.random(n),
    )
    page = interactive_page(display, hover={"id": [f"row {i}" for i in range(n)], "true": codes})
    assert len(page) < 3_000_000
