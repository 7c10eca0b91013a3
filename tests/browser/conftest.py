"""A real Chromium for tests of pages, where there is one.

`make browser-check` sets LABELFOLD_BROWSER=required, and a machine without a browser then fails.
"""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
OPTIONS = (
    "--no-sandbox",
    # WebGL without a graphics card.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def give_up(reason):
    if os.environ.get("LABELFOLD_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up('playwright is missing: pip install "labelfold[test]"')
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        give_up(f"no Chromium on the path: install one, such as Debian's chromium (tried {NAMES})")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield chromium
        chromium.close()


class Visit:
    """A page that is open, and all that happened on it."""

    def __init__(self, page):
        self.page = page
        self.requests: list[str] = []
        self.refused: dict[str, str] = {}
        self.troubles: list[str] = []
        page.on("requestfailed", lambda one: self.refused.update({one.url: one.failure}))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", self._refuse)

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def _refuse(self, dialog):
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def call(self, script, *arguments):
        """Evaluate a function of JavaScript, which may use `viewer` and its `scatter`."""
        return self.page.evaluate(
            "(given) => { const viewer = document.querySelector('.viewer').viewer;"
            f" const scatter = viewer?.scatter; return ({script})(...given); }}",
            list(arguments),
        )

    def shown_rows(self):
        """Return the rows that the filters leave."""
        return np.flatnonzero(self.call("() => Array.from(viewer.visible)")).tolist()

    def selection(self):
        return self.call("() => Array.from(viewer.selection)")

    def hits(self):
        found = self.call("() => viewer.stops && Array.from(viewer.stops)")
        return found

    def place(self, row):
        """Return where on the screen a point is drawn."""
        left, top = self.call("(row) => scatter.placeOf(row)", row)
        box = self.page.locator(".stage").bounding_box()
        return box["x"] + left, box["y"] + top

    def names(self):
        """Return the boxes of the names that are written, by text: left, top, right, bottom."""
        self.settle()
        pairs = self.call(
            "() => scatter.marks.names.map(({ text }, k) => [text, scatter.written[k]])"
        )
        return {text: box for text, box in pairs if box is not None}

    def settle(self):
        """Wait until the next frame is drawn."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def card(self):
        """Return the head and the details that are shown; None while there are none."""
        if self.page.locator(".card").is_hidden():
            return None
        head = self.page.locator(".card header > :not(svg)").all_text_contents()
        names = self.page.locator(".card dt").all_text_contents()
        values = self.page.locator(".card dd").all_text_contents()
        return head, dict(zip(names, values, strict=True))

    def drag(self, *places, keys=()):
        """Draw from place to place with the button down."""
        for key in keys:
            self.page.keyboard.down(key)
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=3)
        self.page.mouse.up()
        for key in keys:
            self.page.keyboard.up(key)


@pytest.fixture
def visit(browser, tmp_path):
    """A function that writes a display as a page and opens it from disk, or opens an address."""
    contexts = []

    def open_page(
        display, *, size=(1280, 800), touch=False, script=None, dark=False, motion=False, **options
    ):
        if isinstance(display, str):
            address = display
        else:
            path = tmp_path / "map.html"
            display.write_html(path, **options)
            address = path.as_uri()
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            has_touch=touch,
            color_scheme="dark" if dark else "light",
            reduced_motion="no-preference" if motion else "reduce",
        )
        contexts.append(context)
        visited = Visit(context.new_page())
        if script is not None:
            visited.page.add_init_script(script)
        visited.page.goto(address)
        visited.page.locator("html[data-ready]").wait_for()
        visited.settle()
        return visited

    yield open_page
    for context in contexts:
        context.close()
