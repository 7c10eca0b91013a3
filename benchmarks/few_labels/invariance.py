"""How many labels another order of the rows, or a rotation of them, changes.

    LABELFOLD_DATA=... python -m benchmarks.few_labels.invariance --out few_labels_invariance.json

Searches are exact. Rotations are measured without the standardized kernels, which depend on the
columns by definition.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import ortho_group

from benchmarks.few_labels.data import DataSet, draw_labels, load
from labelfold import FewLabelClassifier, hide_labels
from labelfold.classify.row_kernels import KERNELS

SEEDS = range(100, 105)
LABELS_PER_CLASS = (2, 10)
UNSTANDARDIZED = [name for name in KERNELS if "standardized" not in name]


def measure(data: DataSet) -> dict[str, list[float]]:
    """Return for each number of labels and each change the shares of labels that it changes."""
    n_rows, n_columns = data.X.shape
    order = np.random.default_rng(0).permutation(n_rows)
    rotation = ortho_group.rvs(n_columns, random_state=0)
    given, unstandardized = _model(), _model(UNSTANDARDIZED)
    reordered, rotated = _model(), _model(UNSTANDARDIZED)
    found: dict[str, list[float]] = {}
    for per_class in LABELS_PER_CLASS:
        n_labels = per_class * data.n_classes
        for seed in SEEDS:
            y = hide_labels(data.y, keep=draw_labels(data.y, n_labels, seed))
            hidden = y == -1
            expected = _labels(given, data.X, y)
            back = np.empty_like(expected)
            back[order] = _labels(reordered, data.X[order], y[order])
            unrotated = _labels(unstandardized, data.X, y)
            turned = _labels(rotated, data.X @ rotation, y)
            for name, one, other in (("order", expected, back), ("rotation", unrotated, turned)):
                shares = found.setdefault(f"{name}, {n_labels} labels", [])
                shares.append(float(np.mean(one[hidden] != other[hidden])))
    return found


def _model(candidates: list[str] | None = None) -> FewLabelClassifier:
    return FewLabelClassifier(candidates=candidates, neighbor_search="exact")


def _labels(model: FewLabelClassifier, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    fitted = model.refit(y) if hasattr(model, "classes_") else model.fit(X, y)
    return fitted.transduction_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["digits", "mnist10k"])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = {}
    for name in arguments.sets:
        found[name] = measure(load(name))
        print(name, json.dumps(found[name], indent=1), flush=True)
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
