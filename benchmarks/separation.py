"""Isometric separation maps: MAGIC beside a Gaussian support vector machine, and the Swiss roll.

The machine is compared in the time from features to classes; it sees the 12,080 labeled rows, the
map all 18,420.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from measure import environment, in_child, repeat, write_results

RESULTS = Path(__file__).parent / "results"
N_LABELED, N_SCORED = 12_080, 6_340
SOFT = {
    "margin": 0.6,
    "label_weight": 0.03,
    "objective": "none",
    "init": "ridge",
    "tol": 0.01,
    "n_neighbors": 12,
    "random_state": 0,
}


def time_map(n_repeats: int, rank: int, max_iter: int) -> dict[str, Any]:
    """From quantile features to a class for every row."""
    import warnings

    from labelfold import IsometricSeparationMap, hide_labels

    X, y = _prepare()
    partial = hide_labels(y, keep=np.arange(N_LABELED))
    model = IsometricSeparationMap(**SOFT, rank=rank, max_iter=max_iter)
    warnings.simplefilter("ignore")  # the errors are in the table
    model.fit(X[::20], y[::20])  # warm-up

    def work() -> dict[str, Any]:
        model.fit(X, partial)
        return {
            "score": float(np.mean((model.transduction_ == y)[N_LABELED:])),
            "distance_error": model.certificate_.errors.rms_squared,
            "stopped_by": model.certificate_.stopped_by,
            "n_iter": model.n_iter_,
        }

    return repeat(work, n_repeats)


def time_machine(n_repeats: int) -> dict[str, Any]:
    """scikit-learn's SVC with its own scale, fit and prediction."""
    from sklearn.svm import SVC

    X, y = _prepare()

    def work() -> dict[str, Any]:
        machine = SVC().fit(X[:N_LABELED], y[:N_LABELED])
        return {"score": float(machine.score(X[N_LABELED:], y[N_LABELED:]))}

    return repeat(work, n_repeats)


def time_roll(n_repeats: int, objective: str) -> dict[str, Any]:
    """ISM Fig. 1: two classes on 1,500 points of a roll, all labeled, rank 3, margin 0.001."""
    from labelfold import IsometricSeparationMap
    from labelfold.datasets import make_swiss_roll

    X, y, _ = make_swiss_roll(1500, n_classes=2, n_bands=6, random_state=0)
    model = IsometricSeparationMap.as_published(
        rank=3, margin=0.001, objective=objective, tol=1e-4, random_state=0
    )
    model.fit(X[:100], y[:100])  # warm-up

    def work() -> dict[str, Any]:
        certificate = model.fit(X, y).certificate_
        return {
            "score": 1 - certificate.separation_error,
            "distance_error": certificate.errors.rms_squared,
            "stopped_by": certificate.stopped_by,
            "n_iter": model.n_iter_,
        }

    return repeat(work, n_repeats)


def _prepare() -> tuple[Any, Any]:
    from sklearn.preprocessing import QuantileTransformer

    from reproductions.data import load_magic

    X, y = load_magic()
    rows = np.random.default_rng(0).permutation(len(y))[: N_LABELED + N_SCORED]
    return QuantileTransformer().fit_transform(X[rows]), y[rows]


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Measure maps of MAGIC, a support vector machine for comparison, and the roll."""
    before = environment(n_threads)
    jobs: dict[str, tuple[str, dict[str, Any]]] = {
        "MAGIC, map of rank 12, 90 steps": ("map", {"rank": 12, "max_iter": 90}),
        "MAGIC, map of rank 30, 90 steps": ("map", {"rank": 30, "max_iter": 90}),
        "MAGIC, map of rank 12, to 1 %": ("map", {"rank": 12, "max_iter": 1000}),
        "MAGIC, Gaussian support vector machine": ("machine", {}),
        "roll, without variance": ("roll", {"objective": "none"}),
        "roll, with variance": ("roll", {"objective": "variance"}),
    }
    measured = {}
    for title, (task, arguments) in jobs.items():
        measured[title] = in_child("separation", task, n_threads, n_repeats=n_repeats, **arguments)
        write_results(RESULTS / "separation.json", {"environment": before, **measured})
    machine = measured["MAGIC, Gaussian support vector machine"]["seconds"]
    lines = [
        "## Isometric separation maps: MAGIC, 12,080 labeled and 6,340 scored; a roll of 1,500",
        "",
        "| | seconds (median) | times the machine | score | squared distances kept to | steps |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for title, m in measured.items():
        ratio = f"{m['seconds'] / machine:.1f}" if title.startswith("MAGIC") else ""
        error = f"{m['distance_error']:.2%}" if "distance_error" in m else ""
        steps = m.get("n_iter", "")
        score = f"{m['score']:.2%}"
        lines.append(f"| {title} | {m['seconds']:.1f} | {ratio} | {score} | {error} | {steps} |")
    return lines


TASKS = {"map": time_map, "machine": time_machine, "roll": time_roll}
