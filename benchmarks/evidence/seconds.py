"""What evidence adds to the time of a fit: MNIST, 60,000 rows, 100 labels, all threads.

    LABELFOLD_DATA=... python -m benchmarks.evidence.seconds --out FILE.json

Seconds of fits, and within them of what serves evidence alone: folds of left-out labels,
calibration, error, class sizes; then label sets, suspects, and 20 suggestions of a fitted model.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.few_labels.data import draw_labels, load
from labelfold import FewLabelClassifier, suggest_rows, suspect_labels
from labelfold.classify import kernel_average

REPEATS = 5


def measure() -> dict[str, list[float]]:
    """Return seconds of every part, the first fit left out."""
    data = load("mnist60k")
    y = np.full(len(data.y), -1)
    labeled = draw_labels(data.y, 100, 100)
    y[labeled] = data.y[labeled]
    seconds: dict[str, list[float]] = {}
    for repeat in range(REPEATS + 1):
        inside: list[float] = []
        with (
            timed(kernel_average._Design, "predict_folds", inside),
            timed(FewLabelClassifier, "_weigh_evidence", inside),
        ):
            begin = time.perf_counter()
            model = FewLabelClassifier().fit(data.X, y)
            fit = time.perf_counter() - begin
        found = {"fit": fit, "evidence in fit": sum(inside)}
        for name, act in (
            ("label sets", model.label_sets),
            ("suspects", lambda model=model: suspect_labels(model)),
            ("20 suggestions", lambda model=model: suggest_rows(model, 20)),
        ):
            begin = time.perf_counter()
            act()
            found[name] = time.perf_counter() - begin
        for name, value in found.items() if repeat else ():
            seconds.setdefault(name, []).append(round(value, 3))
    return seconds


def timed(owner: Any, name: str, into: list[float]) -> Any:
    """Return a patch that adds the seconds of every call of a method to a list."""
    original: Callable[..., Any] = getattr(owner, name)

    def call(*arguments: Any) -> Any:
        begin = time.perf_counter()
        result = original(*arguments)
        into.append(time.perf_counter() - begin)
        return result

    return mock.patch.object(owner, name, call)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    load_before = os.getloadavg()[0]
    seconds = measure()
    medians = {name: median(values) for name, values in seconds.items()}
    fit = medians["fit"]
    added = (sum(medians.values()) - fit) / (fit - medians["evidence in fit"])
    result = {"load_before": load_before, "seconds": seconds, "added": round(added, 4)}
    arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({**medians, "added": added}))


if __name__ == "__main__":
    main()
