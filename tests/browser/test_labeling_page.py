"""The labeling page in a real browser: from the first look to the export."""

from __future__ import annotations

import csv
import io
import os
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from labelfold.studio.journal import Journal, Mark, NotSavedError, read_events
from labelfold.studio.labeling import FILE
from labelfold.studio.learner import Task
from labelfold.studio.server import Server
from labelfold.studio.session import Session
from labelfold.studio.shown_rows import Images, ShownRows
from labelfold.tables import AutoScaler

PIXELS, DIGITS = load_digits(n_class=4, return_X_y=True)
PIXELS, DIGITS = PIXELS[:300], DIGITS[:300]
SHOTS = os.environ.get("LABELFOLD_SCREENSHOTS")  # a folder, to look at them
HOSTILE = "<img src=x onerror=\"window.touched='image'\">"


def as_png(row):
    stream = io.BytesIO()
    Image.fromarray((15 * row.reshape(8, 8)).astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


@contextmanager
def serving(folder, *, form="image", n_given=0):
    """Yield the server of a labeling page on digits from 0 to 3, some with a label in the file."""
    ids = [str(number) for number in range(1, len(PIXELS) + 1)]
    texts = [f"{HOSTILE} digit {digit}" for digit in DIGITS]
    images = Images([as_png(row) for row in PIXELS], folder) if form == "image" else None
    rows = ShownRows(ids, [("note", texts)], images, form)
    task = Task(PIXELS, AutoScaler().fit(PIXELS), None, folder / "cache", {"path": "digits.csv"})
    with Journal(folder / "digits.csv.labels.sqlite") as journal:
        given = {ids[row]: Mark(str(DIGITS[row]), FILE) for row in range(n_given)}
        server = Server(Session(rows, given, journal, task, "digits.csv"))
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while server.session.coordinates is None:
                assert not server.session.status.is_error, server.session.status.text
                time.sleep(0.05)
            yield server
        finally:
            server.stop()
            thread.join()


class Page:
    """A labeling page that is open."""

    def __init__(self, visited):
        self.visited, self.page = visited, visited.page

    def state(self):
        return self.page.evaluate("() => map.studio.state")

    def wait(self, condition, **more):
        self.page.wait_for_function(f"() => {condition}", timeout=90_000, **more)

    def act(self, *keys):
        """Press keys, and wait until what they do is saved."""
        event = self.state()["event"]
        for key in keys:
            self.page.keyboard.press(key)
        self.wait(f"map.studio.state.event > {event}")

    def row(self):
        """Return the row of the queue, once its card is there."""
        self.wait("map.studio.target.rows.length === 1")
        return self.page.evaluate("() => map.studio.target.rows[0]")

    def answer(self):
        """Label the row of the queue with its true class."""
        name = str(DIGITS[self.row()])
        is_known = name in [one["name"] for one in self.state()["classes"]]
        self.act(*([name] if is_known else ["Enter", name, "Enter"]))

    def fitted(self):
        """Wait until the newest labels are fitted and on the map."""
        self.wait(
            "map.studio.state.fit?.event === map.studio.state.event"
            " && map.studio.state.proposals === map.studio.state.event"
            " && map.studio.state.status === '' && !map.studio.isRenewing"
        )

    def shoot(self, name):
        if SHOTS is not None:
            self.visited.settle()
            self.page.screenshot(path=f"{SHOTS}/{name}.png")

    def check(self, server):
        """No console error, no request to anyone else, and nothing of the data was run."""
        assert self.visited.troubles == []
        assert all(one.startswith(server.url) for one in self.visited.requests)
        assert self.page.evaluate("() => window.touched") is None


def test_open_label_by_queue_and_lasso_undo_reload_export(visit, tmp_path):
    with serving(tmp_path) as server:
        page = Page(visit(server.url))
        page.row()
        assert "Uncovered" in page.page.locator(".reason").inner_text()
        page.shoot("first")
        page.answer()
        page.page.keyboard.press("g")
        assert "one class only" in page.page.locator(".figures").inner_text()
        page.page.keyboard.press("q")
        for _ in range(5):
            page.answer()
        page.fitted()
        page.shoot("queue")

        name = page.state()["classes"][0]["name"]
        row = int(np.flatnonzero(int(name) == DIGITS)[0])
        page.page.keyboard.press("l")
        left, top = page.visited.place(row)
        around = [(left + 18 * a, top + 18 * b) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        page.visited.drag(*around, around[0])
        selected = page.visited.selection()
        assert row in selected
        n_shown = min(60, len(selected))
        page.wait(f"document.querySelectorAll('[data-for=selected] .tile').length >= {n_shown}")
        page.shoot("selection")
        n_before = page.state()["nLabels"]
        page.act(name)
        assert page.state()["nLabels"] >= n_before + len(selected) - 6
        page.fitted()
        page.page.keyboard.press("g")
        assert "%" in page.page.locator(".figures").inner_text()
        assert page.page.locator(".curve .line").count() == 1
        page.shoot("progress")

        before = page.state()
        page.act("z")
        page.act("Control+z")
        assert page.state()["nLabels"] < before["nLabels"] - 1
        page.act("Shift+Z")
        state = page.state()
        page.page.reload()
        page.page.locator("html[data-ready]").wait_for(timeout=60_000)
        again = page.state()
        assert [again[key] for key in ("event", "nLabels", "undo", "redo")] == [
            state[key] for key in ("event", "nLabels", "undo", "redo")
        ]
        page.page.keyboard.press("o")
        page.shoot("export")
        with page.page.expect_download() as download:
            page.page.get_by_role("link", name="labels.csv").click()
        rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
        assert sum(one["given"] != "" for one in rows) == again["nLabels"]
        page.check(server)
    actions = [one.action for one in read_events(tmp_path / "digits.csv.labels.sqlite")]
    assert actions[-3:] == ["undo", "undo", "redo"]


def test_two_pages_see_each_other_dark_and_narrow(visit, tmp_path):
    with serving(tmp_path, n_given=12) as server:
        first, second = Page(visit(server.url, dark=True)), Page(visit(server.url, size=(800, 600)))
        first.answer()
        event = first.state()["event"]
        second.wait(f"map.studio.state.event >= {event} && map.viewer.data.event >= {event}")
        assert first.page.locator(".viewer").get_attribute("data-theme") == "dark"
        for key, tab in (("w", "selected"), ("e", "suspects"), ("g", "progress"), ("m", "legend")):
            second.page.keyboard.press(key)
            assert second.page.locator(".viewer").get_attribute("data-tab") == tab
            second.visited.settle()
            wide = second.page.evaluate("() => document.documentElement.scrollWidth")
            assert wide == 800
            second.shoot(f"narrow-{tab}")
        second.page.keyboard.press("q")
        second.row()
        rightmost = second.page.evaluate(
            "() => Math.max(...[...document.querySelectorAll('.answers button, .tabs button')]"
            ".map((one) => one.getBoundingClientRect().right))"
        )
        assert rightmost <= 800
        first.shoot("dark")
        first.page.keyboard.press("x")
        second.wait("map.studio.state.isFrozen")
        for page in (first, second):
            page.check(server)


def test_skip_back_set_aside_accept_and_search(visit, tmp_path):
    with serving(tmp_path, n_given=12) as server:
        page = Page(visit(server.url))
        first = page.row()
        page.page.keyboard.press(" ")
        page.wait(f"map.studio.onScreen !== {first}")
        assert page.row() != first
        page.page.keyboard.press("b")
        page.wait(f"map.studio.onScreen === {first}")
        n_aside = page.state()["nAside"]
        page.row()
        page.act("s")
        assert page.state()["nAside"] == n_aside + 1
        page.act("z")
        page.page.keyboard.press("/")
        page.page.keyboard.type("DIGIT 3")
        n_wanted = int(np.sum(DIGITS == 3))
        page.wait(f"map.viewer.stops?.length === {n_wanted}")
        assert set(page.visited.hits()) == set(np.flatnonzero(DIGITS == 3).tolist())
        page.page.keyboard.press("Escape")
        page.page.locator(".stage").focus()
        page.page.keyboard.press("q")
        page.row()
        page.wait("map.studio.guess !== undefined")
        guess = page.page.evaluate("() => map.studio.guess")
        page.act("y")
        *_, last = read_events(tmp_path / "digits.csv.labels.sqlite")
        assert last.label == guess
        page.check(server)


def test_no_key_is_lost_while_rows_and_fits_come_in(visit, tmp_path):
    with serving(tmp_path, n_given=12) as server:
        page = Page(visit(server.url))
        page.row()
        event = page.state()["event"]
        for _ in range(5):  # faster than labels are saved and fitted
            page.page.keyboard.press("1")
        page.wait(f"map.studio.state.event === {event} + 5")
        row = page.row()
        page.page.keyboard.press("Enter")
        page.page.keyboard.type("ca")
        server.session.act("label", [200, 201], "1")  # as another page would
        page.wait(f"map.studio.state.event === {event} + 6")
        page.fitted()
        assert page.row() == row
        page.page.keyboard.type("t")
        page.act("Enter")
        *_, last = read_events(tmp_path / "digits.csv.labels.sqlite")
        assert (last.rows, last.label) == ((str(row + 1),), "cat")
        # A button that has the focus keeps it, and a row that is undone is shown again.
        page.page.locator(".classes-bar button[title=cat]").focus()
        page.act("z")
        page.wait(f"map.studio.onScreen === {row}")
        page.fitted()
        assert page.page.evaluate("() => document.activeElement.title") == "cat"
        page.act("Shift+Z")
        page.wait(f"map.studio.onScreen !== {row}")
        page.check(server)


def test_full_disk_and_lost_server_are_told(visit, tmp_path, monkeypatch):
    with serving(tmp_path, n_given=12) as server:
        page = Page(visit(server.url))
        page.row()
        journal = server.session.journal

        def fail(*arguments, **more):
            raise NotSavedError("Not saved: the disk is full.")

        with monkeypatch.context() as patch:
            patch.setattr(journal, "append", fail)
            page.page.keyboard.press("0")
            page.page.locator(".banner:visible").wait_for()
            assert "disk is full" in page.page.locator(".banner").inner_text()
            assert page.page.locator(".classes-bar button:enabled").count() == 0
            page.shoot("full-disk")
        page.page.get_by_role("button", name="Try again").click()
        page.wait("map.studio.state.notSaved === ''")
        page.page.locator(".banner").wait_for(state="hidden")
    page.page.locator(".banner:visible").wait_for()
    assert "does not answer" in page.page.locator(".banner").inner_text()


@pytest.mark.parametrize("form", ["text", "table"])
def test_hostile_texts_are_texts(visit, tmp_path, form):
    with serving(tmp_path, form=form) as server:
        page = Page(visit(server.url))
        page.row()
        assert HOSTILE in page.page.locator(".cards.one").first.inner_text()
        page.act("Enter", *"<b>", "Enter")
        page.wait("document.querySelector('.classes-bar').innerText.includes('<b>')")
        page.shoot(form)
        page.check(server)
