"""Measure pictures; every part adds lines to one file and continues where it ended.

    LABELFOLD_DATA=... python -m benchmarks.layout quality honesty steady new-rows threads
    LABELFOLD_DATA=... python -m benchmarks.layout time     # on a quiet machine
    python -m benchmarks.layout.report                      # tables from the lines

Draws of labels have seeds from 1,000 on; development used others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
import warnings
from copy import copy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.layout.data import N_LABELS, load
from benchmarks.layout.measures import (
    knn_accuracy,
    moves,
    nearest_in_picture,
    one_nearest_error,
    purity,
    share_in_empty_space,
    trustworthiness,
    vote,
)
from benchmarks.layout.methods import METHODS, USES_LABELS
from benchmarks.measure import in_child
from labelfold import GraphLayout

FIRST_SEED, N_DRAWS = 1000, 5
OUT = Path("benchmarks/results/layout.jsonl")
N_NEW_ROWS = 2000
PERMUTED, TWO_PER_CLASS = "permuted", "two per class"

Key = dict[str, Any]
cached_load = cache(load)


def measure_quality(key: Key) -> dict[str, float]:
    """Measure the picture of one method, of labels drawn with a seed."""
    rows = cached_load(key["set"])
    labeled = rows.labeled(key["seed"])
    seed = key["seed"] if key["method"] in USES_LABELS else None
    Z, seconds = draw(key["set"], key["method"], seed)
    return {
        "knn": knn_accuracy(Z, rows.y),
        "one_nearest": one_nearest_error(Z, rows.y, labeled),
        "trust": trustworthiness(rows.X, Z, rows.metric),
        "seconds": seconds,
    }


@cache
def draw(name: str, method: str, seed: int | None) -> tuple[Any, float]:
    """Return a picture and the time it took; a method without labels draws only one."""
    rows = cached_load(name)
    y = None if seed is None else rows.partial(rows.labeled(seed))
    begin = time.perf_counter()
    Z = METHODS[method](rows.X, rows.metric, y)
    return Z, time.perf_counter() - begin


@cache
def fitted(name: str) -> GraphLayout:
    """Return a layout to refit to other labels, which gives what a fit would give."""
    rows = cached_load(name)
    return GraphLayout(metric=rows.metric).fit(rows.X, rows.partial(rows.labeled(FIRST_SEED)))


def measure_honesty(key: Key) -> dict[str, float]:
    """Measure what labels add to purity: permuted ones, or two true ones per class."""
    rows = cached_load(key["set"])
    is_permuted = key["labels"] == PERMUTED
    labeled = rows.labeled(key["seed"], None if is_permuted else 2 * (rows.y.max() + 1))
    y = rows.partial(labeled)
    if is_permuted:
        y[labeled] = np.random.default_rng(key["seed"]).permutation(y[labeled])
    layout = copy(fitted(rows.name)).refit(y)
    named = layout.classifier_.label_distributions_.argmax(axis=1)
    before, after = layout.base_embedding_, layout.embedding_
    return {
        "force": layout.certificate_.label_effect.force,
        "predicted_added": purity(after, named) - purity(before, named),
        "true_added": purity(after, rows.y) - purity(before, rows.y),
    }


def measure_steady(key: Key) -> dict[str, float]:
    """Measure how far points move when ten more labels come."""
    rows = cached_load(key["set"])
    more = rows.labeled(key["seed"], N_LABELS[rows.name] + 10)
    fewer = np.sort(np.random.default_rng(key["seed"]).permutation(more)[:-10])
    before, after = (
        copy(fitted(rows.name)).refit(rows.partial(labeled)).embedding_ for labeled in (fewer, more)
    )
    moved = moves(before, after)
    return {"median": float(np.median(moved)), "far": float(np.mean(moved > 0.25))}


def measure_new_rows(key: Key) -> dict[str, float]:
    """Measure where 2,000 rows come to lie that the layout has not seen."""
    rows = cached_load(key["set"])
    order = np.random.default_rng(key["seed"]).permutation(len(rows.y))
    new, old = order[:N_NEW_ROWS], np.sort(order[N_NEW_ROWS:])
    y = rows.partial(np.intersect1d(rows.labeled(key["seed"]), old))[old]
    layout = GraphLayout(metric=rows.metric).fit(rows.X[old], y)
    begin = time.perf_counter()
    Z = layout.transform(rows.X[new])
    seconds = time.perf_counter() - begin
    near = nearest_in_picture(layout.embedding_, Z)
    return {
        "knn_old": knn_accuracy(layout.embedding_, rows.y[old]),
        "knn_new": float(np.mean(vote(rows.y[old][near]) == rows.y[new])),
        "empty": share_in_empty_space(layout.embedding_, Z),
        "seconds": seconds,
    }


def measure_threads(key: Key) -> dict[str, Any]:
    """Compare the bits of one thread, two threads and a fresh process."""
    own = [fingerprint(key["set"], n_jobs) for n_jobs in (1, 2)]
    code = f"from benchmarks.layout.__main__ import fingerprint as f; print(f({key['set']!r}, 1))"
    found = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    return {"same": len({*own, found.stdout.split()[-1]}) == 1}


def fingerprint(name: str, n_jobs: int) -> str:
    """Return a hash of the coordinates of a layout with labels."""
    rows = cached_load(name)
    y = rows.partial(rows.labeled(FIRST_SEED))
    layout = GraphLayout(metric=rows.metric, n_jobs=n_jobs).fit(rows.X, y)
    return hashlib.sha256(layout.embedding_.tobytes()).hexdigest()


def measure_time(key: Key) -> dict[str, Any]:
    """Time a fit in a process of its own, with its memory."""
    name, method = key["set"], key["method"]
    if method in ("at once", "sampled"):
        given: Key = {"name": name, "sampled": method == "sampled"}
        return in_child("benchmarks.layout.timing", "rows", 2, **given)
    if name != "mnist60k":
        return in_child("benchmarks.layout.timing", "groups", 2, n=int(name))
    return in_child("benchmarks.layout.timing", method, 2)


# With labels, MNIST beside UMAP and synthetic groups; without labels, all rows at once or a
# subsample first, which is how more than 400,000 rows are laid out.
TIMED = (
    ("mnist60k", "layout"),
    ("mnist60k", "umap"),
    ("mnist60k", "at once"),
    ("mnist60k", "sampled"),
    ("250000", "layout"),
    ("250000", "at once"),
    ("250000", "sampled"),
    ("1000000", "sampled"),
)

PARTS = {
    "quality": measure_quality,
    "honesty": measure_honesty,
    "steady": measure_steady,
    "new-rows": measure_new_rows,
    "threads": measure_threads,
    "time": measure_time,
}


def list_keys(part: str, sets: list[str], methods: list[str], seeds: range) -> list[Key]:
    """Return what a part measures, in order."""
    columns: dict[str, Any] = {"set": sets, "seed": seeds}
    if part == "quality":
        columns = {"set": sets, "method": methods, "seed": seeds}
    elif part == "honesty":
        columns = {"set": sets, "labels": (PERMUTED, TWO_PER_CLASS), "seed": seeds}
    elif part == "new-rows":
        columns["set"] = [name for name in sets if name.startswith("mnist")]
    elif part == "threads":
        columns = {"set": sets}
    elif part == "time":
        return [{"part": part, "set": name, "method": method} for name, method in TIMED]
    return [
        {"part": part, **dict(zip(columns, one, strict=True))} for one in product(*columns.values())
    ]


def done(path: Path) -> list[Key]:
    """Return the keys of the lines of a file."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    names = ("part", "set", "method", "labels", "seed")
    return [{name: line[name] for name in names if name in line} for line in lines]


def main() -> None:
    """Run the parts that are named."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--sets", nargs="+", default=list(N_LABELS), choices=N_LABELS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + N_DRAWS)
    warnings.simplefilter("ignore")
    for part in given.parts:
        for key in list_keys(part, given.sets, given.methods, seeds):
            if key in done(given.out):
                continue
            result = {**key, **PARTS[part](key)}
            print(json.dumps(result), flush=True)
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
