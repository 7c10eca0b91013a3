"""A real Chromium for tests of pages, where there is one.

`make browser-check` sets LABELFOLD_BROWSER=required, and a machine without a browser then fails.
"""

from __future__ import annotations

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
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
    for package in ("bokeh", "playwright"):
        try:
            __import__(package)
        except ImportError:
            give_up(f'{package} is missing: pip install "labelfold[html,browser]"')
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        give_up(f"no Chromium on the path: tried {', '.join(NAMES)}")
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
        if message.type == "error":
            self.troubles.append(message.text)

    def _refuse(self, dialog):
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def call(self, script, *arguments):
        """Evaluate a function of JavaScript, which may use `model`, a way to Bokeh's models."""
        return self.page.evaluate(
            "(given) => { const model = (name) => Bokeh.documents[0].get_model_by_name(name);"
            f" return ({script})(...given); }}",
            list(arguments),
        )

    def shown_rows(self):
        """Return the points that the filters leave."""
        booleans = self.call("() => model('shown').booleans")
        n_points = self.call("() => model('points').data.x.length")
        return [i for i in range(n_points) if booleans is None or booleans[i]]

    def place(self, i):
        """Return where on the screen a point is drawn."""
        across, down = self.call(
            """(i) => {
                const { frame } = [...Bokeh.index.roots][0];
                const { x, y } = model("points").data;
                return [frame.x_scale.compute(x[i]), frame.y_scale.compute(y[i])];
            }""",
            i,
        )
        box = self.page.locator("#plot").bounding_box()
        return box["x"] + across, box["y"] + down

    def names(self):
        """Return the boxes of the names that are written, by text, and the frame: four edges."""
        return self.call(
            """() => {
                const { frame } = [...Bokeh.index.roots][0];
                const { x, y, text, right, down } = model("names").data;
                const booleans = model("named").booleans ?? text.map(() => true);
                const pen = document.createElement("canvas").getContext("2d");
                pen.font = "bold 15px system-ui, sans-serif";
                const boxes = text.map((one, k) => {
                    const half = pen.measureText(one).width / 2;
                    const middle = frame.x_scale.compute(x[k]) + right[k];
                    const low = frame.y_scale.compute(y[k]) + down[k];
                    return [one, [middle - half, low - 18, middle + half, low]];
                });
                const { left, top, bottom } = frame.bbox;
                const written = Object.fromEntries(boxes.filter((_, k) => booleans[k]));
                return [written, [left, top, frame.bbox.right, bottom]];
            }"""
        )

    def ends(self):
        """Return the ends of both axes."""
        return self.call(
            "() => ['x_range', 'y_range'].map((n) => [model('map')[n].start, model('map')[n].end])"
        )

    def card(self):
        """Return the details that are shown, as pairs of texts; None while there are none."""
        if self.page.locator("#card").is_hidden():
            return None
        names = self.page.locator("#card dt").all_text_contents()
        return list(zip(names, self.page.locator("#card dd").all_text_contents(), strict=True))


@pytest.fixture
def visit(browser, tmp_path):
    """A function that writes a display as a page and opens it from disk."""
    from labelfold.plotting.interactive_map import write_html

    contexts = []

    def open_page(display, *, size=(1280, 800), touch=False, script=None, **options):
        path = tmp_path / "map.html"
        write_html(display, path, **options)
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, has_touch=touch)
        contexts.append(context)
        visited = Visit(context.new_page())
        if script is not None:
            visited.page.add_init_script(script)
        visited.page.goto(path.as_uri())
        visited.page.locator("html[data-ready]").wait_for()
        return visited

    yield open_page
    for context in contexts:
        context.close()
