"""The page of a map in a real browser: what is drawn, how it answers, and that nothing runs."""

from __future__ import annotations

import io

import numpy as np
import pytest

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.interactive_map import WEBGL_FROM
from labelfold.plotting.palette import UNLABELED_COLOR, class_styles

PHONE = (390, 844)
TOUCHED = (
    "<img src=x onerror=\"window.touched='image'\">",
    "</script><script>window.touched='script'</script>",
    "<svg onload=\"window.touched='svg'\">",
    "javascript:window.touched='link'",
    "\"{{window.touched='template'}}'",
    "${window.touched='literal'}",
    "$x$",
    "$$x$$",
    "{safe}",
    "@label",
    "\N{LEMON} zest",
    "שלום עולם",
    "x" * 10_000,
)
# What Bokeh writes on its canvas.
RECORD_TEXT = """
    window.written = [];
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.written.push(text);
        return fill.call(this, text, ...rest);
    };
"""
# Who draws WebGL, as the page asks.
PRETEND_RENDERER = """
    const get = WebGLRenderingContext.prototype.getParameter;
    WebGLRenderingContext.prototype.getParameter = function (name) {
        const asked = [WebGLRenderingContext.RENDERER, 0x9246];
        return asked.includes(name) ? "%s" : get.call(this, name);
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


def order_of(visited):
    """Position of each row among the points that are drawn."""
    rows = visited.call("() => JSON.parse(document.getElementById('row-data').textContent).row")
    return {row: place for place, row in enumerate(rows)}


def expect_text(visited, selector, text):
    from playwright.sync_api import expect

    expect(visited.page.locator(selector)).to_have_text(text)


def expect_ring(visited, i):
    """The ring is around this point."""
    ring = visited.page.locator("#ring").bounding_box()
    middle = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    assert middle == pytest.approx(visited.place(i), abs=1)


def count_pixels(visited, color):
    """Pixels of the map in exactly this color."""
    from PIL import Image

    picture = Image.open(io.BytesIO(visited.page.locator("#plot").screenshot())).convert("RGB")
    wanted = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
    return int((np.asarray(picture) == wanted).all(axis=2).sum())


@pytest.mark.parametrize(
    ("n_points", "renderer", "backend"),
    [
        (6, "A graphics card", "canvas"),
        (WEBGL_FROM, "A graphics card", "webgl"),
        (WEBGL_FROM, "Google SwiftShader", "canvas"),
    ],
)
def test_it_opens_from_disk_and_asks_for_nothing(visit, n_points, renderer, backend):
    rng = np.random.default_rng(0)
    display = EmbeddingDisplay(
        rng.normal(size=(n_points, 2)),
        labels=rng.integers(3, size=n_points),
        images=np.zeros((n_points, 2, 2)),
    )
    visited = visit(display, script=PRETEND_RENDERER % renderer)
    assert visited.call("() => model('map').output_backend") == backend
    visited.page.mouse.move(*visited.place(n_points // 2))
    visited.page.locator("#card img").wait_for()
    asked = [url for url in visited.requests if not url.startswith("data:")]
    assert [url.rsplit("/", 1)[1] for url in asked] == ["map.html"]
    assert visited.troubles == []
    for style in class_styles(3):
        assert count_pixels(visited, style.color) > 0


def test_the_point_under_the_pointer_shows_its_details(visit, pets):
    visited = visit(pets, hover=NAMES)
    place = order_of(visited)
    visited.page.mouse.move(*visited.place(place[3]))
    label = [("row", "3"), ("label", "dog"), ("predicted", "cat (60 %)")]
    assert visited.card() == [*label, ("name", "Fido"), ("age", "1")]
    visited.page.mouse.move(*visited.place(place[1]))
    assert visited.card()[-2:] == [("name", "Kitty"), ("age", "–")]
    visited.page.mouse.move(*visited.place(place[4]))
    assert visited.card()[:2] == [("row", "4"), ("predicted", "bird (35 %)")]
    visited.page.mouse.move(*visited.place(place[5]))
    assert ("new", "yes") in visited.card()
    expect_ring(visited, place[5])


def test_a_pointer_nearby_is_enough_and_far_away_is_not(visit, pets):
    visited = visit(pets)
    across, down = visited.place(order_of(visited)[2])
    visited.page.mouse.move(across + 8, down - 6)
    assert visited.card()[0] == ("row", "2")
    visited.page.mouse.move(across + 40, down + 40)
    assert visited.card() is None
    visited.page.mouse.move(across, down)
    visited.page.mouse.move(2, 2)
    assert visited.card() is None


def test_details_stay_on_the_screen(visit, pets):
    for size in ((1280, 800), PHONE):
        visited = visit(pets, hover={"long": ["word " * 500] * 6}, size=size)
        for i in range(6):
            visited.page.mouse.move(*visited.place(i))
            box = visited.page.locator("#card").bounding_box()
            assert box["x"] >= 0
            assert box["y"] >= 0
            assert box["x"] + box["width"] <= size[0]
            assert box["y"] + box["height"] <= size[1]


def test_a_click_keeps_the_details_to_read_and_copy(visit, pets):
    long = "word " * 500 + "end"
    visited = visit(pets, hover={**NAMES, "long": [long] * 6}, size=(1280, 500))
    page, place = visited.page, order_of(visited)
    page.mouse.move(*visited.place(place[2]))
    assert dict(visited.card())["long"] == long[:400] + "…"
    page.mouse.click(*visited.place(place[2]))
    page.locator("#card.pinned").wait_for()
    page.mouse.move(*visited.place(place[4]))
    page.mouse.move(2, 2)
    assert dict(visited.card())["name"] == "Rex"
    assert dict(visited.card())["long"] == long
    box = page.locator("#card").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 60)
    page.mouse.wheel(0, 5000)
    page.wait_for_function(
        "() => { const { scrollTop, scrollHeight, clientHeight } ="
        " document.getElementById('card');"
        " return scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2; }"
    )
    page.locator("#card dd").last.dblclick(position={"x": 10, "y": 10})
    assert visited.call("() => String(getSelection()).trim()") == "word"
    page.keyboard.press("Escape")
    assert visited.card() is None


def test_details_that_were_kept_are_closed_by_a_click_elsewhere(visit, pets):
    visited = visit(pets, hover=NAMES)
    page, place = visited.page, order_of(visited)
    for close in (
        lambda: page.locator("legend").first.click(),
        lambda: page.mouse.click(*np.mean([visited.place(place[i]) for i in (0, 1)], axis=0)),
        lambda: (page.focus("#plot"), page.keyboard.press("+")),
    ):
        page.mouse.click(*visited.place(place[2]))
        page.locator("#card.pinned").wait_for()
        close()
        page.locator("#card").wait_for(state="hidden")
        page.mouse.move(2, 2)


def test_ring_and_card_follow_the_point_when_the_window_changes(visit, pets):
    visited = visit(pets, hover=NAMES)
    i = order_of(visited)[2]
    visited.page.mouse.click(*visited.place(i))
    visited.page.locator("#card.pinned").wait_for()
    before = visited.place(i)
    visited.page.set_viewport_size({"width": 900, "height": 600})
    visited.page.wait_for_function("() => Bokeh.documents[0].roots()[0].outer_width < 700")
    visited.page.wait_for_timeout(300)
    assert visited.place(i) != before
    expect_ring(visited, i)
    box = visited.page.locator("#card").bounding_box()
    assert abs(box["x"] - visited.place(i)[0]) < 40


def test_a_character_is_not_cut_in_half(visit):
    text = "x" * 399 + "\N{LEMON} zest"
    visited = visit(EmbeddingDisplay([[0.0, 0.0]]), hover={"note": [text]})
    visited.page.mouse.move(*visited.place(0))
    assert dict(visited.card())["note"] == "x" * 399 + "…"


def test_a_finger_asks_for_details(visit, pets):
    visited = visit(pets, hover=NAMES, size=PHONE, touch=True)
    place = order_of(visited)
    visited.page.touchscreen.tap(*visited.place(place[2]))
    visited.page.locator("#card dd", has_text="Rex").wait_for()
    visited.page.wait_for_timeout(300)
    assert ("name", "Rex") in visited.card()


def test_classes_are_ticked_off(visit, pets):
    visited = visit(pets)
    place = order_of(visited)
    cat = class_styles(3)[1].color
    before = count_pixels(visited, cat)
    visited.page.get_by_label("cat").click()
    assert visited.shown_rows() == sorted(place[row] for row in (2, 3, 4, 5))
    expect_text(visited, "#hits", "4 of 6 points")
    assert before > 0
    assert count_pixels(visited, cat) == 0
    visited.page.mouse.move(*visited.place(place[0]))
    assert visited.card() is None  # what is hidden does not answer
    codes, booleans = visited.call(
        "() => [Array.from(model('names').data.code), model('named').booleans]"
    )
    assert dict(zip(codes, booleans, strict=True)) == {0: True, 1: False, 2: True}


def test_all_and_none(visit, pets):
    visited = visit(pets)
    visited.page.get_by_role("button", name="None").click()
    assert visited.shown_rows() == []
    expect_text(visited, "#hits", "0 of 6 points")
    visited.page.get_by_label("bird").click()
    assert len(visited.shown_rows()) == 1
    visited.page.get_by_role("button", name="All").click()
    assert len(visited.shown_rows()) == 6
    expect_text(visited, "#hits", "6 points")


def test_kinds_are_ticked_off(visit, pets):
    visited = visit(pets)
    place = order_of(visited)
    visited.page.get_by_label("labeled").click()
    assert visited.shown_rows() == sorted(place[row] for row in (4, 5))
    visited.page.get_by_label("new").click()
    assert visited.shown_rows() == [place[4]]


LONG_NAMES = [f"The quick brown fox jumps over the lazy dog, variant {one}" for one in "ABCDEF"]


@pytest.fixture
def corners():
    """Classes with long names in all corners, and two in one place."""
    middles = np.array([[0, 0], [5, 0], [0, 5], [5, 5], [2.5, 2.5], [2.5, 2.5]])
    spread = np.random.default_rng(0).normal(size=(60, 2)) * 0.05
    return EmbeddingDisplay(
        np.repeat(middles, 10, axis=0) + spread, labels=np.repeat(LONG_NAMES, 10)
    )


@pytest.mark.parametrize("size", [(1280, 800), PHONE])
def test_names_keep_within_the_frame_and_cover_no_other(visit, size, corners):
    corners.class_names = [f"{one} of them all" for one in "ABCDEF"]
    visited = visit(corners, size=size)
    written, (left, top, right, bottom) = visited.names()
    assert len(written) >= 5
    boxes = list(written.values())
    for k, (start, high, end, low) in enumerate(boxes):
        assert left <= start < end <= right
        assert top <= high < low <= bottom
        for other in boxes[:k]:
            assert end <= other[0] or other[2] <= start or low <= other[1] or other[3] <= high


def test_a_name_without_room_appears_when_there_is_room(visit):
    across = [0.0, 0.01, 0.02, 9.0, 9.0]
    display = EmbeddingDisplay(np.column_stack([across, [0, 0, 0, 9, -9]]), labels=[*"abcde"])
    visited = visit(display)
    assert set(visited.names()[0]) == {"a", "b", "d", "e"}
    visited.call("() => model('map').x_range.setv({ start: -0.05, end: 0.05 })")
    assert set(visited.names()[0]) == {"a", "b", "c"}  # the others are out of sight


def test_names_are_switched_off(visit, pets):
    visited = visit(pets)
    assert set(visited.names()[0]) == {"bird", "cat", "dog"}
    visited.page.get_by_label("Names").click()
    assert visited.names()[0] == {}
    visited.page.get_by_label("cat").click()
    visited.page.get_by_label("Names").click()
    assert set(visited.names()[0]) == {"bird", "dog"}


@pytest.mark.parametrize("size", [(1280, 800), PHONE])
def test_long_names_are_whole_in_the_list(visit, corners, size):
    visited = visit(corners, size=size)
    for name in visited.page.locator("#classes bdi").all():
        assert name.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        assert name.evaluate("(one) => one.scrollHeight <= one.clientHeight")


def test_the_picture_is_saved_without_a_question(visit, pets):
    visited = visit(pets)
    with visited.page.expect_download() as download:
        visited.page.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename == "map.png"
    assert visited.troubles == []


@pytest.mark.parametrize("n_columns", [1, 2])
def test_all_tools_are_in_sight(visit, n_columns):
    display = EmbeddingDisplay(np.arange(8.0).reshape(4, 2)[:, :n_columns], labels=LONG_NAMES[:4])
    visited = visit(display)
    for size in ((1280, 800), PHONE, (1280, 800)):
        visited.page.set_viewport_size({"width": size[0], "height": size[1]})
        visited.page.wait_for_timeout(400)
        plot = visited.page.locator("#plot").bounding_box()
        for name in ("Pan", "Box Zoom", "Wheel Zoom", "Reset", "Save"):
            box = visited.page.get_by_role("button", name=name, exact=True).bounding_box()
            assert box["x"] + box["width"] <= plot["x"] + plot["width"]


def test_search_finds_in_labels_predictions_columns_and_rows(visit, pets):
    visited = visit(pets, hover=NAMES)
    for text, rows in {
        "kit": [1],
        "CAT": [0, 1, 3],
        "dog": [2, 3, 5],
        "30": [4],
        "fox": [],
        "4": [4],
    }.items():
        visited.page.fill("#search", text)
        visited.page.press("#search", "Enter")
        expect_text(visited, "#hits", f"{len(rows)} of 6 points found")
        found = visited.call("() => Array.from(model('found').data.x)")
        assert sorted(found) == sorted(pets.embedding[rows, 0])
        assert max(visited.call("() => Array.from(model('points').data.alpha)")) < 0.1


def test_search_takes_other_spellings_of_the_same_text(visit):
    hover = {"place": ["Café at\nthe \N{NO-BREAK SPACE}corner"]}
    visited = visit(EmbeddingDisplay([[0.0, 0.0]], labels=["a"]), hover=hover)
    spellings = ("cafe\N{COMBINING ACUTE ACCENT}", "CAFÉ", "cafe", "ｃａｆé", "the  corner")
    for text in spellings:
        visited.page.fill("#search", text)
        expect_text(visited, "#hits", "1 of 1 point found")
        visited.page.fill("#search", "another")
        expect_text(visited, "#hits", "0 of 1 point found")


def test_a_few_hits_are_large_and_lie_on_top(visit):
    """One point of none under a crowd of others."""
    display = EmbeddingDisplay([[0.0, 0.0]] * 200, labels=[None] + ["crowd"] * 199)
    visited = visit(display, hover={"name": ["needle"] + ["hay"] * 199})
    before = count_pixels(visited, UNLABELED_COLOR)
    visited.page.fill("#search", "needle")
    expect_text(visited, "#hits", "1 of 200 points found")
    assert count_pixels(visited, UNLABELED_COLOR) > before + 60
    visited.page.get_by_label("unlabeled").click()
    assert count_pixels(visited, UNLABELED_COLOR) < before + 10


def test_hits_that_a_filter_hides_are_counted(visit, pets):
    visited = visit(pets, hover=NAMES)
    visited.page.get_by_label("cat").click()
    opacities = "() => [model('writing').glyph.text_alpha.value, ...model('points').data.alpha]"
    before = visited.call(opacities)
    visited.page.fill("#search", "cat")
    expect_text(visited, "#hits", "3 of 6 points found, 2 of them hidden")
    assert max(visited.call(opacities)) < 0.5  # names and points fade
    visited.page.press("#search", "Escape")  # ends a search
    expect_text(visited, "#hits", "4 of 6 points")
    assert visited.page.input_value("#search") == ""
    assert visited.call("() => model('found').data.x.length") == 0
    assert visited.call(opacities)[1:] == before[1:]
    assert visited.call(opacities)[0] == 1


def test_enter_goes_from_hit_to_hit_and_moves_the_map(visit, pets):
    visited = visit(pets, hover=NAMES)
    visited.call("() => model('map').x_range.setv({ start: 10, end: 11 })")
    visited.page.fill("#search", "dog")
    seen = []
    for key in ("Enter", "Enter", "Enter", "Enter", "Shift+Enter"):
        visited.page.press("#search", key)
        seen.append(int(dict(visited.card())["row"]))
        (start, end), _ = visited.ends()
        assert start <= pets.embedding[seen[-1], 0] <= end
        expect_ring(visited, order_of(visited)[seen[-1]])
    assert seen == [2, 3, 5, 2, 5]


def test_enter_follows_the_rows_of_a_column_of_their_numbers(visit, pets):
    visited = visit(pets, hover={"row": [f"no. {row}" for row in range(6)]})
    visited.page.fill("#search", "no.")
    seen = []
    for _ in range(6):
        visited.page.press("#search", "Enter")
        seen.append(dict(visited.card())["row"])
    assert seen == [f"no. {row}" for row in range(6)]


def test_enter_at_once_searches_what_is_in_the_box(visit, pets):
    """Text and Enter within one turn of the page, as from a quick typist."""
    visited = visit(pets, hover=NAMES)
    for text, name, hits in (
        ("cat", "Tom", "3 of 6 points found"),
        ("polly", "Polly", "1 of 6 points found"),
        ("", None, "6 points"),
    ):
        visited.call(
            """(text) => {
                const box = document.getElementById("search");
                box.value = text;
                box.dispatchEvent(new Event("input", { bubbles: true }));
                const options = { key: "Enter", bubbles: true, cancelable: true };
                box.dispatchEvent(new KeyboardEvent("keydown", options));
            }""",
            text,
        )
        assert dict(visited.card() or []).get("name") == name
        expect_text(visited, "#hits", hits)


def test_going_to_a_hit_in_sight_paints_nothing(visit, pets):
    visited = visit(pets, hover=NAMES, script=RECORD_TEXT)
    visited.page.fill("#search", "dog")
    expect_text(visited, "#hits", "3 of 6 points found")
    visited.page.wait_for_timeout(200)
    before = visited.call("() => window.written.length")
    visited.page.press("#search", "Enter")
    visited.page.wait_for_timeout(200)
    assert visited.card() is not None
    assert visited.call("() => window.written.length") == before


@pytest.mark.parametrize("size", [(1280, 800), PHONE, (390, 500)])
def test_the_card_of_a_hit_stands_beside_it_and_in_sight(visit, size):
    """Points in all corners, and the map out of sight at first where the screen is small."""
    display = EmbeddingDisplay([[0.0, 10.0], [1.0, 9.0], [10.0, 0.0], [10.0, 10.0], [5.0, 5.0]])
    visited = visit(display, size=size, hover={"note": ["a note of some length " * 9] * 5})
    visited.page.fill("#search", "note")
    expect_text(visited, "#hits", "5 of 5 points found")
    for i in range(5):
        visited.call("() => scrollTo(0, document.documentElement.scrollHeight)")
        visited.page.press("#search", "Enter")
        visited.page.wait_for_timeout(50)
        across, down = visited.place(i)
        assert 0 <= across <= size[0]
        assert 0 <= down <= size[1]
        expect_ring(visited, i)
        box = visited.page.locator("#card").bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= size[0]
        assert 0 <= box["y"] <= box["y"] + box["height"] <= size[1]
        is_beside = not box["x"] - 8 <= across <= box["x"] + box["width"] + 8
        assert is_beside or not box["y"] - 8 <= down <= box["y"] + box["height"] + 8


def test_the_map_moves_by_keys(visit, pets):
    visited = visit(pets)
    visited.page.focus("#plot")
    (left, right), (low, high) = first = visited.ends()
    visited.page.keyboard.press("ArrowRight")
    visited.page.keyboard.press("ArrowUp")
    width, height = right - left, high - low
    moved = [[left + width / 10, right + width / 10], [low + height / 10, high + height / 10]]
    np.testing.assert_allclose(visited.ends(), moved)
    visited.page.keyboard.press("+")
    np.testing.assert_allclose(np.diff(visited.ends()), 0.8 * np.diff(moved))
    visited.page.keyboard.press("0")
    np.testing.assert_allclose(visited.ends(), first)


def test_everything_is_reached_by_the_tab_key(visit, pets):
    visited = visit(pets)
    reached = []
    for _ in range(20):
        visited.page.keyboard.press("Tab")
        reached.append(
            visited.call(
                "() => { const at = document.activeElement;"
                " return at.id || at.dataset.class || at.dataset.kind || at.tagName; }"
            )
        )
    assert {"plot", "search", "all", "none", "0", "1", "2", "3"} <= set(reached)
    visited.page.get_by_label("cat").focus()
    visited.page.keyboard.press("Space")
    assert len(visited.shown_rows()) == 4


@pytest.mark.parametrize("n_classes", [3, 64])
def test_a_phone_has_room(visit, n_classes):
    display = EmbeddingDisplay(
        np.random.default_rng(0).normal(size=(128, 2)),
        labels=np.arange(128) % n_classes,
        class_names=[f"a class with a long name, number {number}" for number in range(n_classes)],
    )
    visited = visit(display, size=PHONE, title="A rather long title for a telephone " * 3)
    assert visited.call("() => document.documentElement.scrollWidth") <= PHONE[0]
    assert visited.call("() => model('map').inner_width") > 250
    assert visited.call("() => model('map').inner_height") > 350


@pytest.mark.parametrize("n_columns", [1, 2])
def test_hostile_text_is_shown_and_never_runs(visit, n_columns):
    n = len(TOUCHED)
    display = EmbeddingDisplay(
        np.column_stack([np.arange(float(n)), np.arange(n) % 3])[:, :n_columns],
        labels=range(n),
        class_names=TOUCHED,
    )
    hover = {name: [name] * n for name in TOUCHED}
    visited = visit(display, hover=hover, title=TOUCHED[1], script=RECORD_TEXT)
    page = visited.page
    assert page.title() == page.locator("h1").text_content() == TOUCHED[1]
    assert page.locator("#classes bdi").all_text_contents() == list(TOUCHED)
    page.mouse.move(*visited.place(0))
    shown = dict(visited.card())
    assert shown["label"] == TOUCHED[0]
    for name in TOUCHED[:-1]:
        assert shown[name] == name
    assert shown["x" * 400 + "…"] == "x" * 400 + "…"
    page.fill("#search", TOUCHED[0])
    expect_text(visited, "#hits", f"{n} of {n} points found")
    page.press("#search", "Enter")
    written = visited.call("() => window.written")
    long = "x" * 31 + "…" if n_columns == 2 else "x" * 16 + "…" + "x" * 15
    assert {"$x$", "$$x$$", "{safe}", "@label", long} <= set(written)
    assert visited.call("() => window.touched") is None
    assert page.locator("#card img, h1 *, bdi *, #card dd *, #card dt *").count() == 0
    assert visited.troubles == []
    assert [url for url in visited.requests if not url.startswith(("data:", "file:"))] == []
    assert len(visited.requests) <= 2  # the page and its empty icon


def test_even_markup_that_got_in_would_not_run_or_load(visit, pets):
    visited = visit(pets)
    visited.call(
        """() => {
            const intruder = document.createElement("div");
            intruder.innerHTML = '<img src="https://example.org/a.png" onerror="window.touched=1">';
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


def test_a_strip_names_its_rows(visit):
    display = EmbeddingDisplay([[0.0], [1.0], [2.0]], labels=["cat", "dog", None])
    visited = visit(display, script=RECORD_TEXT)
    assert {"cat", "dog", "unlabeled"} <= set(visited.call("() => window.written"))
    visited.page.mouse.move(*visited.place(order_of(visited)[1]))
    assert ("label", "dog") in visited.card()
    # The first class is on top.
    heights = [visited.place(order_of(visited)[row])[1] for row in range(3)]
    assert heights == sorted(heights)


def test_a_strip_of_long_names_has_room_on_a_phone(visit):
    display = EmbeddingDisplay(np.arange(6.0)[:, None], labels=LONG_NAMES)
    visited = visit(display, size=PHONE, script=RECORD_TEXT)
    visited.page.wait_for_function("() => Bokeh.documents[0].roots()[0].inner_width > 200")
    written = set(visited.call("() => window.written"))
    assert {f"The quic…iant {one}" for one in "ABCDEF"} <= written
