"""New rows that join a fitted embedding, against a new fit: Landsat, 4,435 rows and 2,000 new
ones."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measure import environment, in_child, write_results

RESULTS = Path(__file__).parent / "results"
N_TRAIN, N_ROUNDS = 4435, 25
WAYS = ("fit", "transform_jointly", "transform")


def time_ways(n_rounds: int) -> dict[str, Any]:
    """Return times of each way to embed the new rows, in turns, and the errors of both heads."""
    from sklearn.neighbors import KNeighborsClassifier

    from labelfold import CCDR, LeastSquaresClassifier, hide_labels
    from reproductions.data import load_landsat

    X, y = load_landsat("all")
    model = CCDR(14, n_neighbors=4, beta=0.5)
    fitted = CCDR(14, n_neighbors=4, beta=0.5).fit(X[:N_TRAIN], y[:N_TRAIN])
    partial = hide_labels(y, np.arange(N_TRAIN))

    def place(way: str) -> list[Any]:
        if way == "fit":
            return np.split(model.fit(X, partial).embedding_, [N_TRAIN])
        return [fitted.embedding_, getattr(fitted, way)(X[N_TRAIN:])]

    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(n_rounds + 3):
        for way in WAYS:  # in turns, since these are fractions of seconds
            start = time.perf_counter()
            place(way)
            if number >= 3:  # warm by then
                seconds[way].append(time.perf_counter() - start)
    errors: dict[str, list[float]] = {}
    for way in WAYS:
        train, new = place(way)
        heads = LeastSquaresClassifier(), KNeighborsClassifier(3)
        scores = [head.fit(train, y[:N_TRAIN]).score(new, y[N_TRAIN:]) for head in heads]
        errors[way] = [1 - score for score in scores]
    return {"seconds": seconds, "errors": errors}


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Compare the three ways."""
    before = environment(n_threads)
    measured = {n: in_child("joint", "ways", n, n_rounds=N_ROUNDS) for n in sorted({1, n_threads})}
    write_results(RESULTS / "joint.json", {"environment": before, "by_threads": measured})
    lines = [
        "## Landsat, 2,000 new rows beside 4,435: CCDR, 14 dims, 4 neighbors",
        "",
        f"| | threads | seconds, median of {N_ROUNDS} | of a fit | linear error | 3-NN error |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for n, one in measured.items():
        for way in WAYS:
            seconds = median(one["seconds"][way])
            share = seconds / median(one["seconds"]["fit"])
            errors = " | ".join(f"{error:.2%}" for error in one["errors"][way])
            lines.append(f"| {way} | {n} | {seconds:.3f} | {share:.0%} | {errors} |")
    return lines


TASKS = {"ways": time_ways}
