"""The page of a map in a real browser: what is drawn, how it answers, and that nothing runs."""

from __future__ import annotations

import base64
import io
import itertools

import numpy as np
import pytest

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.palette import DARK_GROUND, UNLABELED_COLOR, class_styles

PHONE = (390, 844)
TOUCHED = (
    "<img src=x onerror=\"window.touched='image'\">",
    "</script><script>window.touched='script'</script>",
    "<svg onload=\"window.touched='svg'\">",
    "javascript:window.touched='link'",
    "\"{{window.touched='template'}}'",
    "${window.touched='literal'}",
    "$x$",
    "\N{LEMON} zest",
    "שלום עולם",
    "x" * 10_000,
)
WITHOUT_WEBGL = """
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind.startsWith("webgl") ? null : get.call(this, kind, ...rest);
    };
"""


@pytest.fixture
def pets():
    """Six points far apart: two cats, two dogs, a bird by prediction only, and a new dog."""
    return EmbeddingDisplay(
        [[0.0, 0.0], [1.0, 2.0], [2.0, 0.5], [3.0, 1.5], [4.0, 0.0], [5.0, 2.0]],
        labels=["cat", "cat", "dog", "dog", None, None],
        predictions=["cat", "cat", "dog", "cat", "bird", "dog"],
        confidence=[1.0, 1.0, 0.9, 0.6, 0.35, 0.8],
        is_new=[False] * 5 + [True],
    )


NAMES = {"name": ["Tom", "Kitty", "Rex", "Fido", "Polly", "Spot"], "age": [3, None, 5, 1, 30, 2]}


def crowd(n, n_classes=3, seed=0, **options):
    rng = np.random.default_rng(seed)
    return EmbeddingDisplay(
        rng.normal(size=(n, 2)), labels=rng.permutation(np.arange(n) % n_classes), **options
    )


def expect_status(visited, text):
    from playwright.sync_api import expect

    expect(visited.page.locator("output")).to_have_text(text)


def pixels(visited):
    """Colors of the map, points and names; a screenshot might be older than the last change."""
    from PIL import Image

    visited.settle()
    address = visited.call(
        """() => {
            scatter.frame();
            const copy = document.createElement("canvas");
            Object.assign(copy, { width: scatter.canvas.width, height: scatter.canvas.height });
            const pen = copy.getContext("2d");
            for (const layer of [scatter.canvas, scatter.overlay]) pen.drawImage(layer, 0, 0);
            return copy.toDataURL();
        }"""
    )
    picture = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))
    return np.asarray(picture.convert("RGB")).astype(int)


def channels(color):
    return np.array([int(color[start : start + 2], 16) for start in (1, 3, 5)])


def count_pixels(visited, color, slack=3):
    """Pixels of the map in this color, up to rounding."""
    return int((np.abs(pixels(visited) - channels(color)).max(axis=2) <= slack).sum())


# ---- opening and drawing


@pytest.mark.parametrize(("script", "kind"), [(None, "webgl"), (WITHOUT_WEBGL, "canvas")])
@pytest.mark.parametrize("n_points", [6, 20_000])
def test_it_opens_from_disk_and_asks_for_nothing(visit, script, kind, n_points):
    display = crowd(n_points, images=np.arange(n_points * 4.0).reshape(-1, 2, 2))
    visited = visit(display, script=script)
    assert visited.call("() => scatter.painter.kind") == kind
    visited.page.wait_for_function("() => document.querySelector('.viewer').viewer.data.image")
    visited.page.mouse.move(*visited.place(n_points // 2))
    visited.page.locator(".card canvas").wait_for()
    asked = [url for url in visited.requests if not url.startswith("data:")]
    assert [url.rsplit("/", 1)[1] for url in asked] == ["map.html"]
    assert visited.troubles == []
    for style in class_styles(3):
        assert count_pixels(visited, style.color) > 0


@pytest.mark.parametrize("script", [None, WITHOUT_WEBGL])
def test_a_point_is_drawn_at_its_place_in_its_color_and_shape(visit, script):
    """Eleven classes: the last differs by its shape from the others."""
    display = EmbeddingDisplay(
        np.column_stack([np.arange(12.0), np.arange(12) % 3]), labels=[*range(11), None]
    )
    visited = visit(display, script=script)
    visited.page.keyboard.press("t")  # without names
    picture = pixels(visited)
    box = visited.page.locator(".stage").bounding_box()
    styles = class_styles(11)
    for row in range(12):
        color = styles[row].color if row < 11 else UNLABELED_COLOR
        left, top = visited.place(row)
        at = picture[round(top - box["y"]), round(left - box["x"])]
        assert np.abs(at - channels(color)).max() <= 3
    assert (styles[0].marker, styles[10].marker) == ("o", "s")
    shares = []  # width at three quarters of the radius, over the width in the middle
    for row in (0, 10):
        visited.call("(row) => scatter.fit([row])", row)
        visited.settle()
        radius = visited.call("() => (viewer.data.sizes[0] * scatter.camera.grow) / 2")
        left, top = np.round(np.subtract(visited.place(row), (box["x"], box["y"]))).astype(int)
        near = pixels(visited)[:, left - 15 : left + 16].sum(axis=2) < 600
        shares.append(near[top - round(0.75 * radius)].sum() / near[top].sum())
    assert shares[0] < 0.85 < shares[1]


@pytest.mark.parametrize("script", [None, WITHOUT_WEBGL])
def test_a_given_label_has_a_ring_and_confidence_is_opacity(visit, script):
    display = EmbeddingDisplay(
        [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0]],
        labels=["a", None, None, None],
        predictions=["a", "a", "a", "b"],
        confidence=[1.0, 1.0, 0.0, 1.0],
    )
    visited = visit(display, script=script)
    visited.page.keyboard.press("t")
    box = visited.page.locator(".stage").bounding_box()

    def at(row, *shifts):
        left, top = visited.place(row)
        picture = pixels(visited)
        found = [picture[round(top - box["y"]), round(left + one - box["x"])] for one in shifts]
        return np.array(found)

    blue = channels(class_styles(2)[0].color)
    np.testing.assert_allclose(at(1, 0), [blue], atol=3)
    np.testing.assert_allclose(at(2, 0), [255 - 0.15 * (255 - blue)], atol=3)
    # From the middle to the right: the point, a lighter gap, its ring; without a ring only lighter.
    lights = {row: at(row, *range(10)).sum(axis=1) for row in (0, 1)}
    assert np.diff(lights[1]).min() > -60
    assert np.diff(lights[0]).min() < -60
    visited.page.keyboard.press("c")
    np.testing.assert_allclose(at(2, 0), [blue], atol=3)


def test_names_stars_and_rings_are_where_points_are(visit, pets):
    pets.class_centers = np.array([[0.5, 1.0], [2.5, 1.0], [4.5, 1.0]])
    visited = visit(pets)
    assert set(visited.names()) == {"bird", "cat", "dog"}
    box = visited.page.locator(".stage").bounding_box()
    for code, color in enumerate(style.color for style in class_styles(3)):
        place = visited.call("(code) => scatter.camera.place(...viewer.data.centers[code])", code)
        left, top = np.round(place).astype(int)
        found = pixels(visited)[top, left]
        assert np.abs(found - channels(color)).max() <= 3, (code, box)


def test_a_lost_graphics_context_is_restored(visit):
    visited = visit(crowd(100))
    before = count_pixels(visited, class_styles(3)[0].color)
    visited.call(
        """() => new Promise((done) => {
            const lose = scatter.painter.gl.getExtension("WEBGL_lose_context");
            scatter.canvas.addEventListener("webglcontextrestored", done);
            lose.loseContext();
            setTimeout(() => lose.restoreContext(), 50);
        })"""
    )
    assert count_pixels(visited, class_styles(3)[0].color) == before > 0


def test_dark_and_light_follow_the_system_and_a_key(visit):
    visited = visit(crowd(300, 8), dark=True)
    dark = count_pixels(visited, DARK_GROUND, slack=0)
    assert dark > 0.9 * 1000 * 800
    assert count_pixels(visited, "#FFFFFF", slack=0) > 0  # black points are white
    assert count_pixels(visited, "#000000", slack=0) == 0
    visited.page.keyboard.press("d")
    assert count_pixels(visited, "#FFFFFF", slack=0) > 0.9 * 1000 * 800
    visited.page.emulate_media(color_scheme="light")
    visited.settle()  # Chromium reports a change to the page once a frame
    visited.page.emulate_media(color_scheme="dark")
    visited.settle()
    assert count_pixels(visited, DARK_GROUND, slack=0) == dark
    assert visited.troubles == []


# ---- details


def test_the_point_under_the_pointer_shows_its_details(visit, pets):
    visited = visit(pets, hover=NAMES)
    visited.page.mouse.move(*visited.place(3))
    head = ["dog", "given label", "predicted cat 60 %"]
    assert visited.card() == (head, {"row": "3", "name": "Fido", "age": "1"})
    visited.page.mouse.move(*visited.place(1))
    assert visited.card()[1] == {"row": "1", "name": "Kitty", "age": "–"}
    visited.page.mouse.move(*visited.place(4))
    assert visited.card()[0] == ["bird", "predicted 35 %"]
    visited.page.mouse.move(*visited.place(5))
    assert visited.card()[0] == ["dog", "predicted 80 %", "new"]
    assert visited.call("() => scatter.focus") == 5


def test_a_pointer_nearby_is_enough_and_far_away_is_not(visit, pets):
    visited = visit(pets)
    across, down = visited.place(2)
    visited.page.mouse.move(across + 8, down - 6)
    assert visited.card()[1]["row"] == "2"
    visited.page.mouse.move(across + 40, down + 40)
    assert visited.card() is None
    visited.page.mouse.move(across, down)
    visited.page.mouse.move(1270, 790)
    assert visited.card() is None


def test_the_nearest_point_is_that_of_a_full_search(visit):
    display = crowd(5000)
    visited = visit(display)
    visited.page.keyboard.press("+")
    asked = np.random.default_rng(1).uniform([100, 100], [900, 700], size=(200, 2))
    found = visited.call("(places) => places.map((one) => scatter.nearest(...one))", asked.tolist())
    places = np.array(
        visited.call("() => Array.from(viewer.visible, (_, i) => scatter.placeOf(i))")
    )
    for place, row in zip(asked, found, strict=True):
        distances = np.hypot(*(places - place).T)
        assert row == (int(distances.argmin()) if distances.min() < 14 else None)
    assert None in found


@pytest.mark.parametrize("size", [(1280, 800), PHONE])
def test_cards_stay_inside_the_map(visit, pets, size):
    visited = visit(pets, hover={"long": ["word " * 500] * 6}, size=size)
    stage = visited.page.locator(".stage").bounding_box()
    for row in range(6):
        visited.page.mouse.move(*visited.place(row))
        box = visited.page.locator(".card").bounding_box()
        assert box["x"] >= stage["x"]
        assert box["y"] >= stage["y"]
        assert box["x"] + box["width"] <= stage["x"] + stage["width"]
        assert box["y"] + box["height"] <= stage["y"] + stage["height"]


def test_a_click_keeps_the_details_to_read_and_copy(visit, pets):
    long = "word " * 500 + "end"
    visited = visit(pets, hover={**NAMES, "long": [long] * 6}, size=(1280, 500))
    page = visited.page
    page.mouse.move(*visited.place(2))
    assert visited.card()[1]["long"] == long[:400] + "…"
    page.mouse.click(*visited.place(2))
    page.locator(".card.pinned").wait_for()
    page.mouse.move(*visited.place(4))
    page.mouse.move(2, 2)
    assert visited.card()[1]["name"] == "Rex"
    assert visited.card()[1]["long"] == long
    box = page.locator(".card").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 60)
    page.mouse.wheel(0, 5000)
    page.wait_for_function(
        "() => { const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.card');"
        " return scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2; }"
    )
    page.locator(".card dd").last.dblclick(position={"x": 10, "y": 10})
    assert visited.call("() => String(getSelection()).trim()") == "word"
    page.keyboard.press("Escape")
    assert visited.card() is None


def test_a_pinned_card_follows_its_point(visit, pets):
    visited = visit(pets, hover=NAMES)
    visited.page.mouse.click(*visited.place(2))
    for act in (
        lambda: visited.page.keyboard.press("ArrowLeft"),
        lambda: visited.page.set_viewport_size({"width": 900, "height": 600}),
    ):
        before = visited.place(2)
        act()
        visited.settle()
        assert visited.place(2) != before
        box = visited.page.locator(".card").bounding_box()
        gaps = box["x"] - visited.place(2)[0], visited.place(2)[0] - box["x"] - box["width"]
        assert 0 < max(gaps) < 40
    visited.page.mouse.click(*np.mean([visited.place(0), visited.place(1)], axis=0))
    assert visited.card() is None


def test_a_character_is_not_cut_in_half(visit):
    text = "x" * 399 + "\N{LEMON} zest"
    visited = visit(EmbeddingDisplay([[0.0, 0.0]]), hover={"note": [text]})
    visited.page.mouse.move(*visited.place(0))
    assert visited.card()[1]["note"] == "x" * 399 + "…"


def test_a_card_shows_the_image_of_its_point(visit):
    images = np.zeros((2, 3, 2, 3), dtype=np.uint8)
    images[1, 2, 1] = [10, 200, 30]
    visited = visit(EmbeddingDisplay([[0.0, 0.0], [1.0, 1.0]], images=images))
    visited.page.wait_for_function("() => document.querySelector('.viewer').viewer.data.image")
    visited.page.mouse.move(*visited.place(1))
    shown = visited.call(
        "() => { const one = document.querySelector('.card canvas');"
        " const data = one.getContext('2d').getImageData(0, 0, one.width, one.height).data;"
        " return [one.width, one.height, Array.from(data.slice(-4))]; }"
    )
    assert shown == [2, 3, [10, 200, 30, 255]]


# ---- filters and names


def test_classes_are_ticked_off(visit, pets):
    visited = visit(pets)
    cat = class_styles(3)[1].color
    assert count_pixels(visited, cat) > 0
    visited.page.get_by_label("cat").click()
    assert visited.shown_rows() == [2, 3, 4, 5]
    expect_status(visited, "4 of 6 points")
    assert count_pixels(visited, cat) == 0
    assert set(visited.names()) == {"bird", "dog"}
    visited.page.mouse.move(*visited.place(0))
    assert visited.card() is None  # what is hidden does not answer
    visited.page.get_by_role("button", name="None").click()
    assert visited.shown_rows() == []
    visited.page.get_by_role("button", name="All", exact=True).click()
    expect_status(visited, "6 points")


def test_kinds_are_ticked_off(visit, pets):
    visited = visit(pets)
    visited.page.get_by_label("labeled").click()
    assert visited.shown_rows() == [4, 5]
    visited.page.get_by_label("new").click()
    assert visited.shown_rows() == [4]


LONG_NAMES = [f"The quick brown fox jumps over the lazy dog, variant {one}" for one in "ABCDEF"]


@pytest.fixture
def corners():
    """Classes with long names in all corners, and two in one place."""
    middles = np.array([[0, 0], [5, 0], [0, 5], [5, 5], [2.5, 2.5], [2.5, 2.5]])
    spread = np.random.default_rng(0).normal(size=(60, 2)) * 0.05
    return EmbeddingDisplay(
        np.repeat(middles, 10, axis=0) + spread, labels=np.repeat(LONG_NAMES, 10)
    )


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), PHONE])
def test_names_keep_within_the_map_and_cover_no_other(visit, size, corners):
    visited = visit(corners, size=size)
    boxes = list(visited.names().values())
    stage = visited.page.locator(".stage").bounding_box()
    assert len(boxes) >= 4
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= stage["width"]
        assert 0 <= top < bottom <= stage["height"]
        for other in boxes[:k]:
            is_beside = right <= other[0] or other[2] <= left
            assert is_beside or bottom <= other[1] or other[3] <= top


def test_a_name_without_room_appears_when_there_is_room(visit):
    across = np.concatenate([np.linspace(0, 0.02, 12), [9.0, 9.0]])
    display = EmbeddingDisplay(np.column_stack([across, [0] * 12 + [9, -9]]), labels=range(14))
    visited = visit(display)
    assert len(visited.names()) < 14
    visited.call("() => scatter.fit([0, 11])")
    for _ in range(9):
        visited.page.keyboard.press("+")
    assert set(visited.names()) <= {str(name) for name in range(12)}  # others are out of sight


def test_names_are_switched_off(visit, pets):
    visited = visit(pets)
    visited.page.get_by_label("Class names").click()
    assert visited.names() == {}
    visited.page.keyboard.press("t")
    assert set(visited.names()) == {"bird", "cat", "dog"}
    assert visited.page.get_by_label("Class names").is_checked()


def test_a_strip_names_its_rows_on_the_left(visit):
    display = EmbeddingDisplay([[0.0], [1.0], [2.0]], labels=["cat", "dog", None])
    visited = visit(display)
    names = visited.names()
    assert list(names) == ["cat", "dog", "unlabeled"]
    assert all(box[0] < 20 for box in names.values())
    heights = [visited.place(row)[1] for row in range(3)]
    assert heights == sorted(heights)  # the first class is on top


# ---- search


def look_for(visited, text):
    visited.page.fill(".query", text)
    visited.page.wait_for_function(
        "(text) => document.querySelector('.viewer').viewer.searched === text", arg=text
    )


def test_search_finds_in_labels_predictions_columns_and_rows(visit, pets):
    visited = visit(pets, hover=NAMES)
    expected = {"kit": [1], "CAT": [0, 1, 3], "dog": [2, 3, 5], "30": [4], "fox": [], "4": [4]}
    for text, rows in expected.items():
        look_for(visited, text)
        assert visited.hits() == rows
        expect_status(visited, f"{len(rows)} hit{'' if len(rows) == 1 else 's'}")
    visited.page.press(".query", "Escape")
    expect_status(visited, "6 points")
    assert visited.page.input_value(".query") == ""


def test_search_takes_other_spellings_of_the_same_text(visit):
    hover = {"place": ["Café at\nthe \N{NO-BREAK SPACE}corner"]}
    visited = visit(EmbeddingDisplay([[0.0, 0.0]], labels=["a"]), hover=hover)
    spellings = ("cafe\N{COMBINING ACUTE ACCENT}", "CAFÉ", "cafe", "ｃａｆé", "the  corner")
    for text in spellings:
        look_for(visited, text)
        assert visited.hits() == [0]
        look_for(visited, "another")
        assert visited.hits() == []


def test_a_few_hits_are_large_and_lie_on_top(visit):
    """One point of none under a crowd of others, which turn gray."""
    display = EmbeddingDisplay([[0.0, 0.0]] * 200, labels=[None] + ["crowd"] * 199)
    visited = visit(display, hover={"name": ["needle"] + ["hay"] * 199})
    visited.page.keyboard.press("t")
    blue = class_styles(1)[0].color
    assert count_pixels(visited, blue) > 0
    look_for(visited, "needle")
    assert count_pixels(visited, UNLABELED_COLOR, slack=12) > 30
    assert count_pixels(visited, blue) == 0
    visited.page.get_by_label("unlabeled").click()
    expect_status(visited, "0 hits, 1 hidden")


def test_enter_goes_from_hit_to_hit_and_moves_the_map(visit, pets):
    visited = visit(pets, hover=NAMES)
    for _ in range(10):
        visited.page.keyboard.press("ArrowRight")
    visited.page.fill(".query", "dog")
    seen = []
    stage = visited.page.locator(".stage").bounding_box()
    for key in ("Enter", "Enter", "Enter", "Enter", "Shift+Enter"):
        visited.page.press(".query", key)
        seen.append(int(visited.card()[1]["row"]))
        assert 0 < visited.place(seen[-1])[0] < stage["width"]
    assert seen == [2, 3, 5, 2, 5]
    expect_status(visited, "3 of 3 hits")
    visited.page.get_by_role("button", name="Previous").click()
    assert visited.card()[1]["row"] == "3"


def test_enter_at_once_searches_what_is_in_the_box(visit, pets):
    """Text and Enter within one turn of the page, as from a quick typist."""
    visited = visit(pets, hover=NAMES)
    for text, name in (("cat", "Tom"), ("polly", "Polly"), ("", None)):
        visited.call(
            """(text) => {
                const box = document.querySelector(".query");
                box.value = text;
                box.dispatchEvent(new Event("input", { bubbles: true }));
                const options = { key: "Enter", bubbles: true, cancelable: true };
                box.dispatchEvent(new KeyboardEvent("keydown", options));
            }""",
            text,
        )
        assert (visited.card() or [None, {}])[1].get("name") == name


# ---- selection


def around(visited, rows, gap=25):
    """Corners of a box around points on the screen."""
    places = np.array([visited.place(row) for row in rows])
    (left, top), (right, bottom) = places.min(axis=0) - gap, places.max(axis=0) + gap
    return [(left, top), (right, top), (right, bottom), (left, bottom), (left, top + 1)]


def test_lasso_and_rectangle_select_add_and_remove(visit, pets):
    visited = visit(pets, hover=NAMES)
    page = visited.page
    visited.drag(*around(visited, [0, 1]), keys=["Shift"])
    assert visited.selection() == [0, 1]
    assert page.locator(".selection h2").text_content() == "2 points selected"
    page.keyboard.press("r")
    visited.drag(around(visited, [2, 3])[0], around(visited, [2, 3])[2])
    assert visited.selection() == [2, 3]
    page.keyboard.press("l")
    visited.drag(*around(visited, [4]), keys=["Shift"])
    assert visited.selection() == [2, 3, 4]
    visited.drag(*around(visited, [3]), keys=["Alt"])
    assert visited.selection() == [2, 4]
    lines = page.locator(".selection li").all_text_contents()
    assert sorted(lines) == ["bird1", "dog1"]
    page.mouse.move(2, 2)
    page.keyboard.press("Escape")
    assert visited.selection() == []
    assert page.locator(".selection").is_hidden()
    page.keyboard.press("v")
    before = visited.place(0)
    visited.drag((500, 400), (520, 430))
    np.testing.assert_allclose(visited.place(0), np.add(before, (20, 30)), atol=0.5)


def test_a_lasso_takes_what_is_inside_and_visible(visit):
    display = crowd(2000)
    visited = visit(display)
    visited.page.get_by_label("1").first.click()
    visited.page.keyboard.press("l")
    # A star, whose sides cross: inside by the even-odd rule.
    angles = np.pi / 2 + np.arange(6) * 4 * np.pi / 5
    star = np.column_stack([500 + 260 * np.cos(angles), 400 + 260 * np.sin(angles)])
    visited.drag(*star.tolist())
    rows = range(0, 2000, 7)
    places = np.array([visited.place(row) for row in rows])
    chosen = set(visited.selection())
    codes = display.labels.codes
    assert chosen
    assert not [row for row in chosen if codes[row] == 1]
    for row, is_in in zip(rows, even_odd(star, places), strict=True):
        assert (row in chosen) == (is_in and codes[row] != 1)


def even_odd(polygon, places):
    """Whether a ray to the right crosses the sides of the polygon an odd number of times."""
    count = np.zeros(len(places), dtype=int)
    for (x1, y1), (x2, y2) in itertools.pairwise(polygon):
        meets = (y1 > places[:, 1]) != (y2 > places[:, 1])
        with np.errstate(divide="ignore"):
            at = x1 + (places[:, 1] - y1) * (x2 - x1) / (y2 - y1)
        count += meets & (places[:, 0] < at)
    return count % 2 == 1


def test_in_a_search_only_hits_are_selected(visit, pets):
    visited = visit(pets, hover=NAMES)
    look_for(visited, "dog")
    visited.page.focus(".stage")
    visited.page.keyboard.press("a")
    assert visited.selection() == [2, 3, 5]


def test_rows_are_copied(visit, pets):
    visited = visit(pets, hover={"row": [f"no. {row}" for row in range(6)]})
    visited.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visited.page.keyboard.press("a")
    visited.page.get_by_role("button", name="Copy").click()
    copied = visited.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == "\n".join(f"no. {row}" for row in range(6))


# ---- moving


def test_the_map_moves_by_keys(visit, pets):
    visited = visit(pets)
    first = np.array([visited.place(row) for row in range(6)])
    width, height = visited.call("() => [scatter.camera.width, scatter.camera.height]")
    for key, step in {
        "ArrowLeft": (0.12 * width, 0),
        "ArrowRight": (-0.12 * width, 0),
        "ArrowUp": (0, 0.12 * height),
        "ArrowDown": (0, -0.12 * height),
    }.items():
        before = visited.place(0)
        visited.page.keyboard.press(key)
        np.testing.assert_allclose(visited.place(0), np.add(before, step), atol=1e-6)
    visited.page.keyboard.press("+")
    now = np.array([visited.place(row) for row in range(6)])
    np.testing.assert_allclose(np.ptp(now, axis=0), 1.5 * np.ptp(first, axis=0))
    visited.page.keyboard.press("-")
    visited.page.keyboard.press("ArrowLeft")
    visited.page.keyboard.press("0")
    np.testing.assert_allclose([visited.place(row) for row in range(6)], first, atol=1e-6)


def test_the_wheel_zooms_around_the_pointer(visit, pets):
    visited = visit(pets)
    before, other = visited.place(2), visited.place(4)
    visited.page.mouse.move(*before)
    visited.page.mouse.wheel(0, -400)
    visited.page.wait_for_function(
        "() => document.querySelector('.viewer').viewer.scatter.camera.zoom > 1.5"
    )
    np.testing.assert_allclose(visited.place(2), before, atol=1)
    assert visited.place(4)[0] - before[0] > 1.5 * (other[0] - before[0])


def test_a_map_glides_where_motion_is_welcome(visit, pets):
    visited = visit(pets, motion=True)
    visited.page.keyboard.press("+")
    visited.page.wait_for_timeout(400)
    assert visited.call("() => scatter.camera.zoom") == pytest.approx(1.5)


def test_fingers_pan_pinch_and_ask_for_details(visit, pets):
    visited = visit(pets, hover=NAMES, size=PHONE, touch=True)
    visited.page.touchscreen.tap(*visited.place(2))
    assert visited.card()[1]["name"] == "Rex"
    before = visited.place(0)
    visited.call(
        """() => {
            const at = (type, id, x, y) => {
                const place = { pointerId: id, pointerType: "touch", clientX: x, clientY: y };
                const event = new PointerEvent(type, { ...place, button: 0, bubbles: true });
                scatter.overlay.dispatchEvent(event);
            };
            scatter.overlay.setPointerCapture = () => {};
            at("pointerdown", 1, 100, 300);
            at("pointerdown", 2, 200, 300);
            at("pointermove", 2, 300, 300);
            at("pointerup", 1, 100, 300);
            at("pointermove", 2, 310, 300);
            at("pointerup", 2, 310, 300);
        }"""
    )
    assert visited.call("() => scatter.camera.zoom") == pytest.approx(2)
    assert visited.place(0) != before
    assert visited.selection() == []


def test_every_key_in_the_list_works_and_every_key_is_in_the_list(visit, pets):
    visited = visit(pets)
    visited.page.keyboard.press("?")
    assert visited.page.locator("dialog").is_visible()
    listed = visited.call(
        "() => [...document.querySelectorAll('[data-for]')].map((e) => e.dataset.for)"
    )
    assert {*listed, "="} == set(visited.call("() => Object.keys(viewer.keys)"))
    assert visited.page.locator("[data-for] kbd").count() == len(listed)
    visited.page.keyboard.press("d")  # the dialog takes the keys
    assert visited.call("() => viewer.root.dataset.theme") == "light"
    visited.page.keyboard.press("Escape")
    assert visited.page.locator("dialog").is_hidden()
    for key in [*listed, "f"]:
        visited.page.keyboard.press(key)
        if key == "?":
            visited.page.keyboard.press("Escape")
        visited.page.evaluate("() => document.activeElement.blur()")
    assert visited.troubles == []


def test_everything_is_reached_by_the_tab_key(visit, pets):
    visited = visit(pets)
    reached = set()
    for _ in range(30):
        visited.page.keyboard.press("Tab")
        reached.add(
            visited.call(
                "() => { const at = document.activeElement; return at.dataset.key ??"
                " (at.className || at.parentElement.querySelector('.name')?.textContent); }"
            )
        )
    wanted = {"stage", "query", "link all", "link none", "cat", "dog", "bird", "new", "Class names"}
    assert wanted | {"v", "l", "r", "+", "-", "0", "d", "?"} <= reached
    visited.page.get_by_label("cat").focus()
    visited.page.keyboard.press("Space")
    assert len(visited.shown_rows()) == 4


def test_points_are_walked_by_keys(visit, pets):
    visited = visit(pets, hover=NAMES)
    rows = []
    for key in ("n", "n", "p", "p"):
        visited.page.keyboard.press(key)
        rows.append(visited.card()[1]["row"])
    assert rows == ["0", "1", "0", "5"]


# ---- sizes of screens


@pytest.mark.parametrize("size", [PHONE, (800, 600), (1280, 800), (1920, 1080)])
@pytest.mark.parametrize("n_classes", [3, 64])
def test_every_screen_has_room(visit, n_classes, size):
    display = crowd(
        128,
        n_classes,
        class_names=[f"a class with a long name, number {number}" for number in range(n_classes)],
    )
    visited = visit(display, size=size, title="A rather long title for a telephone " * 3)
    assert visited.call("() => document.documentElement.scrollWidth") <= size[0]
    stage = visited.page.locator(".stage").bounding_box()
    assert stage["width"] > 250
    assert stage["height"] > 350
    for button in visited.page.locator(".tools button").all():
        box = button.bounding_box()
        assert box["x"] + box["width"] <= stage["width"]
    for name in visited.page.locator(".classes bdi").all():
        assert name.evaluate("(one) => one.scrollWidth <= one.clientWidth")


# ---- hostile text


@pytest.mark.parametrize("n_columns", [1, 2])
def test_hostile_text_is_shown_and_never_runs(visit, n_columns):
    n = len(TOUCHED)
    display = EmbeddingDisplay(
        np.column_stack([np.arange(float(n)), np.arange(n) % 3])[:, :n_columns],
        labels=range(n),
        class_names=TOUCHED,
    )
    hover = {name: [name] * n for name in TOUCHED}
    visited = visit(display, hover=hover, title=TOUCHED[1])
    page = visited.page
    assert page.title() == page.locator("h1").text_content() == TOUCHED[1]
    assert page.locator(".classes bdi").all_text_contents() == list(TOUCHED)
    page.mouse.move(*visited.place(0))
    head, shown = visited.card()
    assert head[0] == TOUCHED[0]
    for name in TOUCHED[:-1]:
        assert shown[name] == name
    assert shown["x" * 400 + "…"] == "x" * 400 + "…"
    page.mouse.click(*visited.place(0))
    assert visited.card()[1][TOUCHED[-1]] == TOUCHED[-1]
    look_for(visited, TOUCHED[0])
    assert len(visited.hits()) == n
    visited.page.focus(".stage")
    page.keyboard.press("a")
    assert visited.call("() => window.touched") is None
    assert page.locator("h1 *, bdi *, .card img, .card dd *, .card dt *").count() == 0
    assert visited.troubles == []
    assert [url for url in visited.requests if not url.startswith(("data:", "file:"))] == []


def test_even_markup_that_got_in_would_not_run_or_load(visit, pets):
    visited = visit(pets)
    visited.call(
        """() => {
            const intruder = document.createElement("div");
            intruder.innerHTML = '<img src="https://example.org/a.png" onerror="window.touched=1">'
                + '<i style="background: url(https://example.org/b.png)"></i>';
            document.body.append(intruder);
            const script = document.createElement("script");
            script.textContent = "window.touched = 2";
            document.body.append(script);
        }"""
    )
    visited.page.wait_for_timeout(200)
    assert visited.call("() => window.touched") is None
    # The security policy of the page, not the network, refused it.
    assert visited.refused == {"https://example.org/a.png": "csp"}
    visited.call("() => { setTimeout('window.touched = 3'); }")
    visited.page.wait_for_timeout(200)
    assert visited.call("() => window.touched") is None
    assert any("unsafe-eval" in trouble for trouble in visited.troubles)


def test_in_a_notebook_the_page_works_inside_its_frame(visit, pets, tmp_path):
    page = tmp_path / "notebook.html"
    frame = pets.interactive(hover=NAMES)._repr_html_()
    page.write_text(
        f"<!DOCTYPE html><html data-ready><meta charset=utf-8><body>{frame}", encoding="utf-8"
    )
    visited = visit(page.as_uri())
    inner = visited.page.frame_locator("iframe")
    inner.locator("html[data-ready]").wait_for()
    inner.locator(".stage").focus()
    visited.page.keyboard.press("n")
    assert inner.locator(".card dd").all_text_contents() == ["0", "Tom", "3"]
    assert visited.troubles == []
