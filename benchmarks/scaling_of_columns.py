"""Scaling by AutoScaler's rule beside none, standard and quantile scaling: error with few labels.

5 labels per class, at most 3,000 rows of each data set; LaplacianClassifier with an automatic
penalty and a nearest-neighbor rule. The rule was chosen on draws 0 to 9 with the small data sets in
the order of their files, and confirmed once, on draws 100 to 119 of rows in random order.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measure import environment, in_child, write_results

RESULTS = Path(__file__).parent / "results"
MOST_ROWS, PER_CLASS = 3000, 5
CHOICE, CONFIRMATION = (0, 10), (100, 120)  # first and last draw
SCALINGS = ("none", "standard", "quantile", "auto")
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
NAMES = (
    *BUNDLED,
    "optdigits",
    "pendigits",
    "coil20",
    "landsat",
    "magic",
    "alphadigits",
    "mnist",
    "newsgroups, words",
    "newsgroups, vectors",
)


def load(name: str) -> tuple[Any, Any]:
    """Return rows and classes of a data set."""
    from sklearn import datasets

    from reproductions import data

    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    folder = Path(os.environ["LABELFOLD_DATA"])
    if name in ("optdigits", "pendigits"):
        with np.load(folder / f"{name}.npz") as file:
            return file["X_train"], file["y_train"]
    if name == "coil20":
        with np.load(folder / "coil20_32x32.npz") as file:
            return file["X"].reshape(len(file["y"]), -1), file["y"]
    if name == "newsgroups, words":
        return data.load_newsgroups_vectorized()[:2]
    if name == "newsgroups, vectors":
        from labelfold.tables import read
        from labelfold.tables.frames import get_column, to_array

        table = read(folder / "newsgroups8k-vectors.parquet", labels="group")
        vectors = to_array(get_column(table.features, "embedding"))
        return vectors, np.asarray(table.labels, dtype=object)
    return getattr(data, f"load_{name}")()[:2]


def measure_errors(name: str, draws: tuple[int, int]) -> dict[str, Any]:
    """Return the errors of both classifiers on unlabeled rows, for every scaling and draw."""
    from sklearn.neighbors import KNeighborsClassifier

    from labelfold import LaplacianClassifier, draw_labeled, hide_labels
    from labelfold.tables import AutoScaler

    warnings.simplefilter("ignore")  # of rows that no label reaches: their errors count
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X[rows].astype(np.float64), np.asarray(y)[rows]
    errors: dict[str, Any] = {}
    for scaling in SCALINGS:
        scaler = AutoScaler(scaling)
        scaled = scaler.fit_transform(X)
        model = LaplacianClassifier.as_published(penalty="auto", random_state=0)
        basis = None
        found: dict[str, list[float]] = {"laplacian": [], "nearest": []}
        for draw in range(*draws):
            keep = draw_labeled(y, PER_CLASS * len(np.unique(y)), random_state=draw)
            hidden = np.setdiff1d(np.arange(len(y)), keep)
            model.fit(scaled, hide_labels(y, keep), basis=basis)
            basis = model.basis_
            nearest = KNeighborsClassifier(1).fit(scaled[keep], y[keep]).predict(scaled[hidden])
            found["laplacian"].append(float(np.mean(model.transduction_[hidden] != y[hidden])))
            found["nearest"].append(float(np.mean(nearest != y[hidden])))
        errors[scaling] = found
    return {
        "n_rows": len(y),
        "n_features": int(X.shape[1]),
        "method": scaler.method_,
        "reason": scaler.reason_,
        "errors": errors,
    }


def judge(errors: dict[str, dict[str, list[float]]], classifier: str) -> tuple[str, float, float]:
    """Return the best of the three, by how much auto errs more, and what is allowed, in points."""
    mean = {scaling: np.mean(errors[scaling][classifier]) for scaling in SCALINGS}
    best = min(SCALINGS[:3], key=lambda scaling: mean[scaling])
    more = 100 * (np.array(errors["auto"][classifier]) - errors[best][classifier])
    allowed = max(1.0, 2 * float(more.std(ddof=1)) / np.sqrt(len(more)))
    return best, float(more.mean()), float(allowed)


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Measure all data sets on the draws of the choice and on those of the confirmation."""
    results: dict[str, Any] = {"environment": environment(n_threads)}
    lines = ["## Scaling of columns: error in % on unlabeled rows, 5 labels per class", ""]
    for title, draws in (("confirmation", CONFIRMATION), ("like the choice", CHOICE)):
        lines += [
            f"Draws {draws[0]} to {draws[1] - 1} ({title}). Allowed is the larger of one point and "
            "two paired standard errors.",
            "",
            "| data | auto chose | classifier | none | standard | quantile | auto | more than the "
            "best of the three | allowed |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        results[title] = {}
        failed = []
        for name in NAMES:
            figures = in_child("scaling_of_columns", "errors", n_threads, name=name, draws=draws)
            results[title][name] = figures
            write_results(RESULTS / "scaling_of_columns.json", results)
            for classifier in ("laplacian", "nearest"):
                means = [100 * np.mean(figures["errors"][one][classifier]) for one in SCALINGS]
                best, more, allowed = judge(figures["errors"], classifier)
                failed += [name] if more > allowed and name not in failed else []
                lines.append(
                    f"| {name} | {figures['method']} | {classifier} | "
                    + " | ".join(f"{mean:.1f}" for mean in means)
                    + f" | {more:+.1f} ({best}) | {allowed:.1f} |"
                )
        within = len(NAMES) - len(failed)
        outside = f", not on {', '.join(failed)}" if failed else ""
        lines += ["", f"Within what is allowed on {within} of {len(NAMES)} data sets{outside}.", ""]
    return lines


TASKS = {"errors": measure_errors}
