"""How fast the labeling page answers on 60,000 images, in a real Chromium.

``python -m benchmarks.page DATA.parquet LABELS.npy`` starts ``labelfold label`` on a table with a
column `image`, labels 50 rows and then 10 more by their true classes, and reports median seconds

- from the first map that the server has until the page answers to a key,
- from a label until the map has new colors,
- from a lasso until the cards of the selection are there.

``python -m benchmarks.page --make DATA.parquet LABELS.npy`` writes both files, from MNIST in the
folder that LABELFOLD_DATA names.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from playwright.sync_api import sync_playwright

OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
ON_SCREEN = "() => map.studio.target.rows.length === 1"
NEW_COLORS = (
    "(event) => map.studio.state.fit?.event >= event && map.viewer.data.event >= event"
    " && map.viewer.data.map === map.studio.state.map"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--make", action="store_true", help="write the files instead")
    given = parser.parse_args()
    if given.make:
        make_files(given.data, given.labels)
        return
    for old in given.data.parent.glob(f"{given.data.name}.labels.sqlite*"):
        old.unlink()
    command = [sys.executable, "-m", "labelfold.cli", "label", given.data, "--image", "image"]
    server = subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http\S+", server.stdout.readline())[0]
        print(json.dumps(measure(url, np.load(given.labels)), indent=2))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def make_files(data: Path, labels: Path) -> None:
    """Write MNIST's images as a table of PNG files and vectors of pixels, and its labels."""
    folder = Path(os.environ["LABELFOLD_DATA"])
    files = [folder / f"mnist-train-{name}-ubyte.gz" for name in ("images-idx3", "labels-idx1")]
    rows, classes = (gzip.decompress(file.read_bytes()) for file in files)
    pixels = np.frombuffer(rows, np.uint8, offset=16).reshape(-1, 784)
    np.save(labels, np.frombuffer(classes, np.uint8, offset=8))
    images = [as_png(row.reshape(28, 28)) for row in pixels]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(pixels.ravel().astype(np.float32)), 784)
    pq.write_table(pa.table({"image": images, "pixels": vectors}), data)


def as_png(pixels: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def measure(url: str, labels: np.ndarray) -> dict[str, float]:
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))))
    seconds = {}
    start = time.perf_counter()
    while not json.load(urllib.request.urlopen(f"{url}api/state"))["hasMap"]:
        time.sleep(0.1)
    seconds["first map"] = time.perf_counter() - start
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=path, args=list(OPTIONS)).new_page()
        start = time.perf_counter()
        page.goto(url)
        page.locator("html[data-ready]").wait_for()
        page.keyboard.press("g")
        page.locator('.studio[data-tab="progress"]').wait_for()
        seconds["interactive"] = time.perf_counter() - start
        page.keyboard.press("q")
        for number in range(60):
            page.wait_for_function(ON_SCREEN, timeout=300_000)
            row = page.evaluate("() => map.studio.target.rows[0]")
            event = page.evaluate("() => map.studio.state.event")
            is_watched = number >= 50
            if number == 50:
                page.wait_for_function("() => map.studio.state.status === ''", timeout=300_000)
            start = time.perf_counter()
            page.evaluate("(name) => { map.studio.label(name); }", str(labels[row]))
            page.wait_for_function("(event) => map.studio.state.event > event", arg=event)
            seconds.setdefault("saved", []).append(time.perf_counter() - start)
            if is_watched:
                page.wait_for_function(NEW_COLORS, arg=event + 1, timeout=300_000)
                seconds.setdefault("new colors", []).append(time.perf_counter() - start)
        box = page.locator(".stage").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.keyboard.press("l")
        for _ in range(5):
            page.evaluate("() => map.viewer.select([])")
            page.wait_for_function("() => !document.querySelector('[data-for=selected] .tile')")
            page.mouse.move(middle[0] - 80, middle[1] - 80)
            page.mouse.down()
            for across, down in ((80, -80), (80, 80), (-80, 80)):
                page.mouse.move(middle[0] + across, middle[1] + down, steps=3)
            start = page.evaluate("() => performance.now()")
            page.mouse.up()
            page.wait_for_function(
                "() => document.querySelector('[data-for=selected] .tile')?.dataset.row"
                " === String(map.viewer.selection[0])"
            )
            spent = page.evaluate("() => performance.now()") - start
            seconds.setdefault("selection", []).append(spent / 1000)
        seconds["selected rows"] = page.evaluate("() => map.viewer.selection.length")
    found = {}
    for name, value in seconds.items():
        found[name] = round(float(np.median(value)), 3)
        if isinstance(value, list):
            found[f"{name}, longest"] = round(max(value), 3)
    return {**found, "load of the machine": round(os.getloadavg()[0], 1)}


if __name__ == "__main__":
    main()
