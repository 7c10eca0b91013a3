"""New rows that join a fitted map, against a new fit: Landsat, 4,435 rows and 2,000 new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from measure import environment, in_child, repeat, write_results

RESULTS = Path(__file__).parent / "results"
N_TRAIN = 4435
WAYS = ("fit", "transform_jointly", "transform")


def time_way(n_repeats: int, way: str) -> dict[str, Any]:
    """Return the times of one way to place the new rows, and the errors of both heads."""
    from sklearn.neighbors import KNeighborsClassifier

    from labelfold import CCDR, LeastSquaresClassifier, hide_labels
    from labelfold.datasets import load_landsat

    X, y = load_landsat("all")
    model = CCDR(14, n_neighbors=4, beta=0.5)
    fitted = CCDR(14, n_neighbors=4, beta=0.5).fit(X[:N_TRAIN], y[:N_TRAIN])
    partial = hide_labels(y, np.arange(N_TRAIN))
    found: dict[str, Any] = {}

    def work() -> None:
        if way == "fit":
            found["train"], found["new"] = np.split(model.fit(X, partial).embedding_, [N_TRAIN])
        else:
            found["train"] = fitted.embedding_
            found["new"] = getattr(fitted, way)(X[N_TRAIN:])

    for _ in range(3):
        work()  # warm-up
    measured = repeat(work, max(n_repeats, 15))  # tenths of seconds: more of them
    heads = {"linear": LeastSquaresClassifier(), "3-NN": KNeighborsClassifier(3)}
    errors = {
        name: 1 - head.fit(found["train"], y[:N_TRAIN]).score(found["new"], y[N_TRAIN:])
        for name, head in heads.items()
    }
    return {**measured, "errors": errors}


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Compare the three ways."""
    before = environment(n_threads)
    measured = {
        way: in_child("joint", "way", n_threads, n_repeats=n_repeats, way=way) for way in WAYS
    }
    write_results(RESULTS / "joint.json", {"environment": before, **measured})
    lines = [
        "## Landsat, 2,000 new rows beside 4,435: CCDR, 14 dims, 4 neighbours",
        "",
        "| | seconds (median of 15) | of a new fit | linear error | 3-NN error |",
        "| --- | --- | --- | --- | --- |",
    ]
    for way, one in measured.items():
        share = one["seconds"] / measured["fit"]["seconds"]
        errors = " | ".join(f"{error:.2%}" for error in one["errors"].values())
        lines.append(f"| {way} | {one['seconds']:.3f} | {share:.0%} | {errors} |")
    return lines


TASKS = {"way": time_way}
