"""FewLabelClassifier at scale: time, memory, new rows, and MAGIC beside an SVM.

    LABELFOLD_DATA=... python -m benchmarks.few_labels.scale --out few_labels_scale.json

`--parts memory` measures one part again, and leaves the others of the file as they are. Each part
is measured on seeds from 100 on, which development did not use.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.few_labels.data import draw_labels, load
from labelfold import FewLabelClassifier, hide_labels
from reproductions.data import load_mnist

SEEDS = range(100, 105)
N_MAGIC_LABELS = 12080


def measure_new_rows() -> dict[str, Any]:
    """Measure errors and speed on the 10,000 test images, from a fit with 1,000 labels."""
    (images, classes), (new_images, new_classes) = load_mnist("train"), load_mnist("test")
    pca = PCA(100, svd_solver="covariance_eigh").fit(images)
    X, new = pca.transform(images), pca.transform(new_images)
    model, found = FewLabelClassifier(), []
    for seed in SEEDS:
        labeled = draw_labels(classes, 1000, seed)
        y = hide_labels(classes, keep=labeled)
        (model.fit(X, y) if seed == SEEDS[0] else model.refit(y))
        hidden = np.delete(np.arange(len(X)), labeled)
        start = time.perf_counter()
        predicted = model.predict(new)
        found.append(
            {
                "transductive": float(np.mean(model.transduction_[hidden] != classes[hidden])),
                "new": float(np.mean(predicted != new_classes)),
                "rows_per_second": len(new) / (time.perf_counter() - start),
            }
        )
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def measure_times() -> dict[str, float]:
    """Measure fits and refits of the 60,000 images with 100 to 20,000 labels."""
    data = load("mnist60k")
    found = {}
    for n_labels in (100, 500, 20000):
        y = hide_labels(data.y, keep=draw_labels(data.y, n_labels, SEEDS[0]))
        start = time.perf_counter()
        model = FewLabelClassifier().fit(data.X, y)
        found[f"fit with {n_labels} labels, s"] = time.perf_counter() - start
        start = time.perf_counter()
        model.refit(y)
        found[f"refit with {n_labels} labels, s"] = time.perf_counter() - start
        hidden = y == -1
        found[f"error with {n_labels} labels"] = float(
            np.mean(model.transduction_[hidden] != data.y[hidden])
        )
    return found


def measure_memory() -> dict[str, float]:
    """Measure the peak memory of a fit of the 60,000 images, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_memory_of_fit).result()


def _memory_of_fit() -> dict[str, float]:
    data = load("mnist60k")
    y = hide_labels(data.y, keep=draw_labels(data.y, 100, SEEDS[0]))
    some = np.concatenate([np.flatnonzero(y != -1), np.arange(500)])
    FewLabelClassifier().fit(data.X[some], y[some])  # loads what a fit imports
    before = psutil.Process().memory_info().rss
    model = FewLabelClassifier().fit(data.X, y)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    kept = psutil.Process().memory_info().rss
    n_rows = len(model.transduction_)
    return {
        "peak beside the rows, kB per row": (peak - before) / n_rows / 1000,
        "kept by the model, kB per row": (kept - before) / n_rows / 1000,
    }


def measure_magic() -> dict[str, float]:
    """Measure the error on MAGIC with 12,080 labels, beside an SVM tuned on them."""
    data = load("magic")
    labeled = draw_labels(data.y, N_MAGIC_LABELS, SEEDS[0])
    hidden = np.delete(np.arange(len(data.y)), labeled)
    start = time.perf_counter()
    model = FewLabelClassifier().fit(data.X, hide_labels(data.y, keep=labeled))
    seconds = time.perf_counter() - start
    grid = {"svc__C": [1, 10, 100], "svc__gamma": [0.03, 0.1, 0.3]}
    svm = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3)
    svm.fit(data.X[labeled], data.y[labeled])
    return {
        "few-label": float(np.mean(model.transduction_[hidden] != data.y[hidden])),
        "few-label, s": seconds,
        "svm": float(np.mean(svm.predict(data.X[hidden]) != data.y[hidden])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {
        "new rows": measure_new_rows,
        "times": measure_times,
        "memory": measure_memory,
        "magic": measure_magic,
    }
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    out = arguments.out
    found = json.loads(out.read_text()) if out.exists() else {}
    for name in arguments.parts:
        found[name] = parts[name]()
        print(name, json.dumps(found[name], indent=1), flush=True)
        out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
