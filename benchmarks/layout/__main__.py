"""Measure pictures; every part adds lines to one file and continues where it ended.

    LABELFOLD_DATA=... python -m benchmarks.layout quality honesty steady new-rows threads
    LABELFOLD_DATA=... python -m benchmarks.layout time     # on a quiet machine

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
from collections.abc import Iterator
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

FIRST_SEED, N_DRAWS = 1000, 5
OUT = Path("benchmarks/results/layout.jsonl")
N_NEW_ROWS = 2000


def quality(names: list[str], methods: list[str], seeds: range) -> Iterator[tuple[dict[str, Any], Any]]:
    """All methods on all sets, five draws of labels each."""
    for name in names:
        rows: Any = None
        pictures: dict[str, Any] = {}
        for method in methods:
            for seed in seeds:
                rows = rows or load(name)
                labeled = rows.labeled(seed)

                def measure() -> dict[str, float]:
                    begin = time.perf_counter()
                    Z = pictures.get(method)
                    if Z is None:
                        Z = METHODS[method](rows.X, rows.metric, rows.partial(labeled))
                    if method not in USES_LABELS:
                        pictures[method] = Z
                    seconds = time.perf_counter() - begin
                    return {
                        "knn": knn_accuracy(Z, rows.y),
                        "one_nearest": one_nearest_error(Z, rows.y, labeled),
                        "trust": trustworthiness(rows.X, Z, rows.metric),
                        "seconds": seconds,
                    }

                yield {"part": "quality", "set": name, "method": method, "seed": seed}, measure


def honesty(names: list[str], methods: list[str], seeds: range) -> Iterator[tuple[dict[str, Any], Any]]:
    """What labels add to purity: permuted ones, and two true ones per class."""
    from labelfold import GraphLayout

    for name in names:
        rows: Any = None
        for kind in ("permuted", "two per class"):
            for seed in seeds:

                def measure() -> dict[str, float]:
                    nonlocal rows
                    rows = rows or load(name)
                    count = None if kind == "permuted" else 2 * (rows.y.max() + 1)
                    labeled = rows.labeled(seed, count)
                    y = rows.partial(labeled)
                    if kind == "permuted":
                        y[labeled] = np.random.default_rng(seed).permutation(y[labeled])
                    layout = GraphLayout(metric=rows.metric).fit(rows.X, y)
                    named = layout.classifier_.label_distributions_.argmax(axis=1)
                    before, after = layout.base_embedding_, layout.embedding_
                    effect = layout.certificate_.label_effect
                    return {
                        "force": effect.force,
                        "predicted_added": purity(after, named) - purity(before, named),
                        "true_added": purity(after, rows.y) - purity(before, rows.y),
                    }

                yield {"part": "honesty", "set": name, "labels": kind, "seed": seed}, measure


def steady(names: list[str], methods: list[str], seeds: range) -> Iterator[tuple[dict[str, Any], Any]]:
    """How far points move when ten more labels come."""
    from labelfold import GraphLayout

    for name in names:
        for seed in seeds:

            def measure() -> dict[str, float]:
                rows = load(name)
                more = rows.labeled(seed, N_LABELS[name] + 10)
                fewer = np.sort(np.random.default_rng(seed).permutation(more)[:-10])
                layout = GraphLayout(metric=rows.metric).fit(rows.X, rows.partial(fewer))
                before = layout.embedding_
                after = layout.refit(rows.partial(more)).embedding_
                moved = moves(before, after)
                return {"median": float(np.median(moved)), "far": float(np.mean(moved > 0.25))}

            yield {"part": "steady", "set": name, "seed": seed}, measure


def new_rows(names: list[str], methods: list[str], seeds: range) -> Iterator[tuple[dict[str, Any], Any]]:
    """Where 2,000 rows of MNIST come to lie that the layout has not seen."""
    from labelfold import GraphLayout

    for name in [one for one in names if one.startswith("mnist")]:
        for seed in seeds:

            def measure() -> dict[str, float]:
                rows = load(name)
                order = np.random.default_rng(seed).permutation(len(rows.y))
                new, old = order[:N_NEW_ROWS], np.sort(order[N_NEW_ROWS:])
                labeled = np.intersect1d(rows.labeled(seed), old)
                y = rows.partial(labeled)[old]
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

            yield {"part": "new-rows", "set": name, "seed": seed}, measure


def threads(names: list[str], methods: list[str], seeds: range) -> Iterator[tuple[dict[str, Any], Any]]:
    """Whether one thread, two threads and a fresh process give the same bits."""
    for name in names:

        def measure() -> dict[str, Any]:
            own = [fingerprint(name, n_jobs) for n_jobs in (1, 2)]
            code = f"from benchmarks.layout.__main__ import fingerprint as f; print(f({name!r}, 1))"
            done = subprocess.run(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
            )
            return {"same": len({*own, done.stdout.split()[-1]}) == 1}

        yield {"part": "threads", "set": name}, measure


def fingerprint(name: str, n_jobs: int) -> str:
    """Return a hash of the coordinates of a layout with labels."""
    from labelfold import GraphLayout

    rows = load(name)
    y = rows.partial(rows.labeled(FIRST_SEED))
    layout = GraphLayout(metric=rows.metric, n_jobs=n_jobs).fit(rows.X, y)
    return hashlib.sha256(layout.embedding_.tobytes()).hexdigest()


def times(names: list[str], methods: list[str], seeds: range) -> Iterator[tuple[dict[str, Any], Any]]:
    """Wall time of MNIST 60,000 beside UMAP with labels, both warm, and of 250,000 rows."""
    from benchmarks.measure import in_child

    for task in ("layout", "umap"):
        yield (
            {"part": "time", "set": "mnist60k", "method": task},
            lambda task=task: in_child("benchmarks.layout.timing", task, 2),
        )
    for n_rows in (250_000, 1_000_000):
        yield (
            {"part": "time", "set": f"synthetic {n_rows}", "method": "layout"},
            lambda n_rows=n_rows: in_child("benchmarks.layout.timing", "synthetic", 2, n=n_rows),
        )


PARTS = {
    "quality": quality,
    "honesty": honesty,
    "steady": steady,
    "new-rows": new_rows,
    "threads": threads,
    "time": times,
}


def main() -> None:
    """Run the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--sets", nargs="+", default=list(N_LABELS), choices=N_LABELS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + N_DRAWS)
    warnings.simplefilter("ignore")
    for part in given.parts:
        for key, measure in PARTS[part](given.sets, given.methods, seeds):
            if key in done(given.out):
                continue
            result = {**key, **measure()}
            print(json.dumps(result), flush=True)
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


def done(path: Path) -> list[dict[str, Any]]:
    """Return the keys of the lines of a file."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    names = ("part", "set", "method", "labels", "seed")
    return [{name: line[name] for name in names if name in line} for line in lines]


if __name__ == "__main__":
    main()
