"""How fast the labeling page answers on 60,000 images, in a real Chromium.

``python -m benchmarks.page DATA.parquet LABELS.npy`` starts ``labelfold label`` on a table with a
column `image`, labels 50 rows and then 10 more by their true classes, and reports the seconds

- from the first map that the server has until the page answers to a key,
- from a label until the map has new colors,
- from a lasso until the cards of the selection are there.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
ON_SCREEN = "() => map.studio.target.rows.length === 1"
NEW_COLORS = "(event) => map.viewer.data.event >= event && map.studio.state.fit?.event >= event"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("labels", type=Path)
    given = parser.parse_args()
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
            page.mouse.move(middle[0] - 80, middle[1] - 80)
            page.mouse.down()
            for across, down in ((80, -80), (80, 80), (-80, 80)):
                page.mouse.move(middle[0] + across, middle[1] + down, steps=3)
            start = page.evaluate("() => performance.now()")
            page.mouse.up()
            page.wait_for_function(
                "() => document.querySelectorAll('[data-for=selected] .tile').length > 0 && "
                "map.studio.onScreen === map.viewer.selection[0]"
            )
            spent = page.evaluate("() => performance.now()") - start
            seconds.setdefault("selection", []).append(spent / 1000)
        seconds["selected rows"] = page.evaluate("() => map.viewer.selection.length")
    return {
        name: float(np.round(np.median(value), 3)) if isinstance(value, list) else round(value, 3)
        for name, value in seconds.items()
    }


if __name__ == "__main__":
    main()
