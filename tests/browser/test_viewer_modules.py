"""The viewer's modules from a server, in another page that feeds and changes its data."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from importlib import resources

import numpy as np
import pytest

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.interactive_map import map_data, pack, viewer_markup

PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Modules</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="viewer.css">
<main class="viewer">$viewer</main>
<script type="module">
import { unpack } from "./binary.js";
import { Viewer } from "./viewer.js";
const root = document.querySelector(".viewer");
root.viewer = new Viewer(root, unpack(await (await fetch("map.bin")).arrayBuffer()));
window.selections = [];
root.viewer.addEventListener("select", () => window.selections.push([...root.viewer.selection]));
document.documentElement.dataset.ready = "true";
</script>
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def serve(tmp_path):
    """A function that serves the viewer with the data of a display, and returns the address."""
    with resources.as_file(resources.files("labelfold.plotting") / "page") as folder:
        shutil.copytree(folder, tmp_path / "page")
    handler = functools.partial(Quiet, directory=str(tmp_path / "page"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def start(display):
        page = PAGE.replace("$viewer", viewer_markup("Modules", ""))
        (tmp_path / "page" / "index.html").write_text(page, encoding="utf-8")
        (tmp_path / "page" / "map.bin").write_bytes(pack(*map_data(display)))
        return f"http://127.0.0.1:{server.server_port}/index.html"

    yield start
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_feeds_arrays_changes_them_and_hears_of_selections(visit, serve):
    display = EmbeddingDisplay([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], predictions=["a", "b", "a"])
    visited = visit(serve(display))
    visited.page.keyboard.press("a")
    visited.page.keyboard.press("Escape")
    assert visited.page.evaluate("window.selections") == [[0, 1, 2], []]
    before = [visited.place(row) for row in range(3)]
    counts = "() => [...document.querySelectorAll('.classes .count')].map((e) => e.textContent)"
    assert visited.call(counts) == ["2", "1"]
    # A label joins, and its point moves to another corner of the same frame.
    visited.call(
        """() => viewer.update({
            label: Int8Array.of(1, -1, -1),
            position: Float32Array.of(1, -0.5, 0, 0.5, -1, -0.5),
        })"""
    )
    assert visited.call(counts) == ["1", "2"]
    np.testing.assert_allclose(visited.place(0), before[2], atol=1e-3)
    np.testing.assert_allclose(visited.place(2), before[0], atol=1e-3)
    visited.page.mouse.move(*visited.place(0))
    assert visited.card()[0] == ["b", "given label", "predicted a"]
    visited.call("() => viewer.select([2])")
    assert visited.page.evaluate("window.selections").pop() == [2]
    assert visited.troubles == []
