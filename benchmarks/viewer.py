"""How fast the browser viewer opens, draws and selects, and how large its files are.

    python benchmarks/viewer.py [--repeats 7]

Needs Chromium on the path and the extra `test`. WebGL is drawn by software (SwiftShader), as on a
machine without a graphics card. Points are ten clusters of random numbers. Times are measured in
the page: opening counts from the start of the navigation to a drawn frame and a found point, a
frame and a lasso until a pixel of the result can be read. Raw figures go to `results/viewer.json`.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import tempfile
import threading
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measure import environment, write_results

from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.interactive_map import map_data, pack, viewer_markup

RESULTS = Path(__file__).parent / "results"
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
N_CLASSES = 10
SERVED = """<!DOCTYPE html><meta charset="utf-8"><link rel="stylesheet" href="viewer.css">
<main class="viewer">{viewer}</main>
<script type="module">
import {{ unpack }} from "./binary.js";
import {{ Viewer }} from "./viewer.js";
const root = document.querySelector(".viewer");
root.viewer = new Viewer(root, unpack(await (await fetch("map.bin")).arrayBuffer()));
document.documentElement.dataset.ready = "true";
</script>"""
WITHOUT_WEBGL = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind.startsWith("webgl") ? null : get.call(this, kind, ...rest);
};"""
MEASURE = """
() => {
    const { viewer } = document.querySelector(".viewer");
    const { scatter } = viewer;
    const wait = () => {  // until all is drawn
        const { gl, pen } = scatter.painter;
        if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        else pen.getImageData(0, 0, 1, 1);
    };
    const timed = (act) => {
        const start = performance.now();
        act();
        scatter.frame();
        wait();
        return (performance.now() - start) / 1000;
    };
    timed(() => scatter.nearest(...scatter.placeOf(0)));
    const opened = performance.now() / 1000;
    const frames = Array.from({ length: 7 }, (_, k) =>
        timed(() => scatter.camera.look(scatter.camera.zoomed(k % 2 ? 1 / 1.1 : 1.1))));
    scatter.camera.look(scatter.camera.home);
    // A circle around the first point that takes in a twelfth of all points.
    const [left, top] = scatter.placeOf(0);
    const far = Array.from({ length: viewer.n }, (_, i) => {
        const place = scatter.placeOf(i);
        return Math.hypot(place[0] - left, place[1] - top);
    });
    const radius = Float64Array.from(far).sort()[Math.round(viewer.n / 12)];
    const circle = Array.from({ length: 200 }, (_, k) => {
        const angle = (2 * Math.PI * k) / 200;
        return [left + radius * Math.cos(angle), top + radius * Math.sin(angle)];
    });
    const lassos = Array.from({ length: 5 }, () =>
        timed(() => scatter.tell("lasso", { rows: scatter.within(circle), mode: "replace" })));
    const selected = viewer.selection.length;
    viewer.select([]);
    const painter = scatter.painter.kind;
    return { opened, frames, lassos, selected, painter };
}
"""


def make_display(n_points: int) -> tuple[EmbeddingDisplay, dict[str, Any]]:
    """Return clusters with a prediction each and 200 labels, and two columns of details."""
    rng = np.random.default_rng(0)
    codes = rng.integers(N_CLASSES, size=n_points)
    middles = rng.normal(size=(N_CLASSES, 2)) * 5
    labels = np.full(n_points, -1)
    labels[:200] = codes[:200]
    display = EmbeddingDisplay(
        middles[codes] + rng.normal(size=(n_points, 2)),
        labels=labels,
        predictions=codes,
        confidence=rng.beta(5, 1.5, n_points),
    )
    return display, {"id": [f"row {row}" for row in range(n_points)], "digit": codes}


def count_lines() -> dict[str, int]:
    folder = Path(str(resources.files("labelfold.plotting"))) / "page"
    script = sum(len(path.read_text().splitlines()) for path in folder.glob("*.js"))
    style = len((folder / "viewer.css").read_text().splitlines())
    python = len((folder.parent / "interactive_map.py").read_text().splitlines())
    markup = sum(len(path.read_text().splitlines()) for path in folder.glob("*.html"))
    return {"script": script, "style": style, "python": python, "markup": markup}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def measure(browser: Any, address: str, script: str | None = None) -> dict[str, Any]:
    """Open an address in a fresh context and return what the page measures."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    if script is not None:
        page.add_init_script(script)
    load = os.getloadavg()[0]
    page.goto(address)
    page.locator("html[data-ready]").wait_for(timeout=120_000)
    found: dict[str, Any] = page.evaluate(MEASURE)
    context.close()
    return {**found, "load": load}


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Time the viewer in Chromium.")
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit(f"no Chromium on the path: tried {', '.join(NAMES)}")
    results: dict[str, Any] = {
        "environment": environment(os.cpu_count() or 1),
        "lines": count_lines(),
    }
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(folder, "page")
        shutil.copytree(Path(str(resources.files("labelfold.plotting"))) / "page", site)
        (site / "index.html").write_text(SERVED.format(viewer=viewer_markup("Served", "")))
        (site / "map.bin").write_bytes(pack(*map_data(make_display(1_000_000)[0])))
        addresses: dict[str, tuple[str, str | None]] = {}
        for n_points in (60_000, 500_000):
            display, hover = make_display(n_points)
            file = Path(folder, f"{n_points}.html")
            display.write_html(file, hover=hover)
            results[f"bytes of {n_points:,} points"] = file.stat().st_size
            addresses[f"file of {n_points:,}"] = (file.as_uri(), None)
        addresses["file of 60,000, canvas"] = (addresses["file of 60,000"][0], WITHOUT_WEBGL)
        handler = functools.partial(Quiet, directory=str(site))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        addresses["1,000,000 served"] = (f"http://127.0.0.1:{server.server_port}/", None)
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        results["browser"] = browser.version
        rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in addresses}
        for _ in range(repeats):
            for name, (address, script) in addresses.items():
                rounds[name].append(measure(browser, address, script))
        browser.close()
        server.shutdown()
    results["rounds"] = rounds
    for name, runs in rounds.items():
        frames = [seconds for run in runs for seconds in run["frames"]]
        lassos = [seconds for run in runs for seconds in run["lassos"]]
        opened = [run["opened"] for run in runs]
        print(
            f"{name}: open {median(opened):.2f} s (largest {max(opened):.2f}), "
            f"frame {1000 * median(frames):.0f} ms (largest {1000 * max(frames):.0f}), "
            f"lasso of {runs[0]['selected']:,} {1000 * median(lassos):.0f} ms "
            f"(largest {1000 * max(lassos):.0f}), load {median(run['load'] for run in runs):.1f}"
        )
    print({name: value for name, value in results.items() if name.startswith(("bytes", "lines"))})
    write_results(RESULTS / "viewer.json", results)


if __name__ == "__main__":
    main()
