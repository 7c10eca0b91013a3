"""Up to ten million rows on one machine, from a memory-mapped file.

    python benchmarks/many_rows.py fit --rows 10000000 --folder DIR

writes the rows to DIR (2 GB for ten million), fits `CCDR(10)` and then `FewLabelClassifier()` on
the same graph in a process of its own, prints its log, and adds the figures to
`benchmarks/results/many_rows.jsonl`. Other tasks: `wide` (384 columns in float16), `types` (float32
against float64) and `clusters` (clean clusters against none).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from measure import THREAD_VARIABLES, environment
from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results" / "many_rows.jsonl"
N_FEATURES, N_NEIGHBORS, N_COMPONENTS, N_LABELS = 50, 10, 10, 1000
N_SHEETS, N_CLUSTERS, N_CLASSES, N_PARAMETERS = 5, 8, 10, 4
N_SUBSAMPLE = 100_000
AT_ONCE = 250_000
GB = 1e9


def write_sheets(folder: Path, n: int, seed: int = 0) -> tuple[Path, NDArray[np.int8]]:
    """Write rows in clusters on curved sheets, and return the file and the classes.

    A sheet maps four parameters to sines of them in 50 features, plus noise. Eight clusters on each
    of five sheets touch each other; neighbors on a sheet are of different classes.
    """
    path = folder / f"sheets-{n}-{seed}.npy"
    labels = folder / f"sheets-{n}-{seed}-classes.npy"
    if path.exists() and labels.exists():
        return path, np.load(labels)
    rng = np.random.default_rng(seed)
    frequencies = 1.5 * rng.normal(size=(N_SHEETS, N_PARAMETERS, N_FEATURES))
    phases = rng.uniform(0, 2 * np.pi, size=(N_SHEETS, N_FEATURES))
    centers = rng.uniform(size=(N_SHEETS, N_CLUSTERS, N_PARAMETERS))
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, N_FEATURES))
    y = np.empty(n, dtype=np.int8)
    for start in range(0, n, AT_ONCE):
        size = min(AT_ONCE, n - start)
        rng = np.random.default_rng([seed, start])
        sheet, cluster = rng.integers(N_SHEETS, size=size), rng.integers(N_CLUSTERS, size=size)
        place = centers[sheet, cluster] + 0.12 * rng.normal(size=(size, N_PARAMETERS))
        rows = 0.1 * rng.normal(size=(size, N_FEATURES))
        for one in range(N_SHEETS):
            own = sheet == one
            rows[own] += np.sin(place[own] @ frequencies[one] + phases[one])
        X[start : start + size] = rows
        y[start : start + size] = (sheet * N_CLUSTERS + cluster) % N_CLASSES
    X.flush()
    np.save(labels, y)
    return path, y


def partial_labels(y: NDArray[Any], n_labels: int = N_LABELS) -> NDArray[Any]:
    """Return labels of rows drawn at random, -1 for the others."""
    drawn = np.random.default_rng(1).choice(len(y), n_labels, replace=False)
    partial = np.full(len(y), -1, dtype=np.int16)
    partial[drawn] = y[drawn]
    return partial


class Log:
    """Times, processor times and peaks of memory of the steps of one process.

    ``peak`` counts what the kernel calls resident, pages of mapped files included; ``private`` is
    without those, which the kernel can drop, and sampled five times a second.
    """

    def __init__(self) -> None:
        self.steps: dict[str, dict[str, float]] = {}
        self._private = 0
        threading.Thread(target=self._sample, daemon=True).start()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start, work = time.perf_counter(), time.process_time()
        self._private = 0
        yield
        self.steps[name] = {
            "seconds": time.perf_counter() - start,
            "processor_seconds": time.process_time() - work,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "private": self._private,
        }
        print(name, {key: round(value, 1) for key, value in self.steps[name].items()}, flush=True)

    def _sample(self) -> None:
        process = psutil.Process()
        while True:
            memory = process.memory_info()
            self._private = max(self._private, memory.rss - memory.shared)
            time.sleep(0.2)


def fit(folder: Path, n: int) -> dict[str, Any]:
    """CCDR and FewLabelClassifier on one graph; the error beside that of a subsample."""
    from labelfold import CCDR, FewLabelClassifier, NeighborGraph

    path, y = write_sheets(folder, n)
    X, partial = np.load(path, mmap_mode="r"), partial_labels(y)
    unlabeled = partial < 0
    log = Log()
    with log.step("graph"):
        graph = NeighborGraph.build(X, n_neighbors=N_NEIGHBORS)
    with log.step("CCDR"):
        ccdr = CCDR(N_COMPONENTS, n_neighbors=N_NEIGHBORS).fit(X, partial, graph=graph)
    figures = {"search": str(graph.search), "ccdr": str(ccdr.certificate_)}
    del ccdr
    with log.step("FewLabelClassifier"):
        model = FewLabelClassifier().fit(X, partial, graph=graph)
    figures["few_label"] = str(model.certificate_)
    figures["error"] = float(np.mean(model.transduction_[unlabeled] != y[unlabeled]))
    figures["estimated"] = str(model.error_estimate_)
    del model, graph
    if n > N_SUBSAMPLE:
        drawn = np.random.default_rng(2).choice(np.flatnonzero(unlabeled), N_SUBSAMPLE - N_LABELS)
        some = np.union1d(drawn, np.flatnonzero(~unlabeled))
        with log.step("subsample"):
            model = FewLabelClassifier().fit(X[some], partial[some])
        rest = unlabeled[some]
        figures["error_of_subsample"] = float(np.mean(model.transduction_[rest] != y[some][rest]))
    return {"steps": log.steps, **figures}


def wide(folder: Path, n: int) -> dict[str, Any]:
    """CCDR of rows of 384 columns in float16, from a memory map."""
    from labelfold import CCDR, FewLabelClassifier

    path, y = write_sheets(folder, n)
    wide_path = folder / f"wide-{n}.npy"
    if not wide_path.exists():
        narrow = np.load(path, mmap_mode="r")
        projection = np.random.default_rng(3).normal(size=(N_FEATURES, 384)) / np.sqrt(N_FEATURES)
        out = np.lib.format.open_memmap(wide_path, mode="w+", dtype=np.float16, shape=(n, 384))
        for start in range(0, n, AT_ONCE):
            out[start : start + AT_ONCE] = narrow[start : start + AT_ONCE] @ projection
        out.flush()
    X, partial = np.load(wide_path, mmap_mode="r"), partial_labels(y)
    log = Log()
    with log.step("CCDR"):
        ccdr = CCDR(N_COMPONENTS, n_neighbors=N_NEIGHBORS).fit(X, partial)
    figures = {"search": str(ccdr.graph_.search), "ccdr": str(ccdr.certificate_)}
    del ccdr
    with log.step("FewLabelClassifier"):
        model = FewLabelClassifier().fit(X, partial)
    unlabeled = partial < 0
    figures["error"] = float(np.mean(model.transduction_[unlabeled] != y[unlabeled]))
    return {"input": X.nbytes, "steps": log.steps, **figures}


def types(folder: Path, n: int) -> dict[str, Any]:
    """Labels and eigenspaces of float32 and float64 rows."""
    from scipy.linalg import subspace_angles

    from labelfold import CCDR, FewLabelClassifier

    path, y = write_sheets(folder, n)
    X, partial = np.load(path, mmap_mode="r"), partial_labels(y)
    embeddings, labels = [], []
    for rows in (X, X.astype(np.float64)):
        embeddings.append(CCDR(N_COMPONENTS, n_neighbors=N_NEIGHBORS).fit_transform(rows, partial))
        labels.append(FewLabelClassifier().fit(rows, partial).transduction_)
    return {
        "angle": float(subspace_angles(*embeddings).max()),
        "same_labels": float(np.mean(labels[0] == labels[1])),
    }


def clusters(folder: Path, n: int) -> dict[str, Any]:
    """Rows in 40 clean clusters, and as many of one sheet."""
    from labelfold import CCDR

    rng = np.random.default_rng(0)
    groups = rng.integers(40, size=n)
    centers = 10 * rng.normal(size=(40, N_FEATURES))
    one = np.sin(rng.random((n, 5)) @ (2 * rng.normal(size=(5, N_FEATURES))))
    noise = rng.normal(size=(n, N_FEATURES)).astype(np.float32)
    cases = {
        "clusters": centers[groups].astype(np.float32) + noise,
        "one sheet": one.astype(np.float32) + np.float32(0.01) * noise,
    }
    log = Log()
    figures: dict[str, Any] = {}
    CCDR(2).fit(cases["clusters"][:3000], groups[:3000])  # compiled code is warm
    for name, X in cases.items():
        partial = partial_labels(groups)
        with log.step(name):
            model = CCDR(N_COMPONENTS, n_neighbors=N_NEIGHBORS).fit(X, partial)
        figures[name] = str(model.certificate_)
    return {"steps": log.steps, **figures}


TASKS = {"fit": fit, "wide": wide, "types": types, "clusters": clusters}


def main() -> None:
    """Run one task in a process of its own and keep its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(TASKS[given.task](given.folder, given.rows)))
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    before = environment(given.threads)
    child = subprocess.Popen(
        [sys.executable, __file__, *sys.argv[1:], "--here"],
        env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(given.threads))},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    last = ""
    for last in child.stdout:
        print(last, end="", flush=True)
    if child.wait() != 0:
        sys.exit(child.returncode)
    kept = {"task": given.task, "rows": given.rows, "environment": before, **json.loads(last)}
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
