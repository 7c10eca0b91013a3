"""Memory of a fit: what it says before it starts, and what it takes.

Every fit runs in a new process: libraries are loaded by a small fit, then the peak of the process
is reset and measured again (Linux only). Rows lie near a smooth five-dimensional manifold and are
mapped from a file. ``python benchmarks/memory.py`` prints a table.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_LABELED, N_CLASSES = 1000, 40
CASES = ((16_000, 50, "float32"), (64_000, 50, "float32"), (250_000, 50, "float32"))
WIDE = (250_000, 384, "float16")


def write_rows(path: Path, n: int, d: int, dtype: str) -> None:
    """Write rows to a file, a block at a time."""
    rng = np.random.default_rng(0)
    frequencies, phases = rng.normal(size=(5, d)) * 2, rng.random(d) * 2 * np.pi
    X = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(n, d))
    for start in range(0, n, 10_000):
        part = X[start : start + 10_000]
        part[:] = np.sin(rng.random((len(part), 5)) @ frequencies + phases)
        part += 0.01 * rng.normal(size=part.shape)


def models() -> dict[str, Callable[[], Any]]:
    """Return what is measured."""
    import labelfold as lf

    return {
        "CCDR(10)": lambda: lf.CCDR(10, n_neighbors=10),
        "LaplacianEigenmaps(10)": lambda: lf.LaplacianEigenmaps(10, n_neighbors=10),
        "LaplacianClassifier()": lambda: lf.LaplacianClassifier(),
        "FewLabelClassifier()": lambda: lf.FewLabelClassifier(),
        "GraphLayout()": lambda: lf.GraphLayout(),
    }


def warm_up() -> None:
    """Load all libraries that a fit loads, and compile what it compiles."""
    import labelfold as lf

    X, y = np.random.default_rng(0).normal(size=(4000, 20)), np.full(4000, -1)
    y[::4] = np.arange(1000) % 3
    lf.LaplacianClassifier(300, neighbor_search="approximate").fit(X, y)
    lf.GraphLayout(neighbor_search="approximate").fit(X, y)


def measure(name: str, path: str) -> dict[str, float]:
    """Fit in this process; return the estimate and the growth of the peak, in bytes."""
    from labelfold import base
    from labelfold.classify import few_label_classifier, laplacian_classifier

    warnings.simplefilter("ignore")
    warm_up()
    X = np.load(path)
    y = np.full(len(X), -1)
    labeled = np.arange(0, len(X), len(X) // N_LABELED)
    y[labeled] = labeled % N_CLASSES
    said: list[float] = []

    def listen(needed: float, *, verbose: int = 0) -> None:
        said.append(needed)

    for module in (base, few_label_classifier, laplacian_classifier):
        module.require_memory = listen
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmHWM")
    start = time.perf_counter()
    models()[name]().fit(X, y)
    return {
        "needed": said[0],
        "taken": _resident("VmHWM") - before,
        "seconds": time.perf_counter() - start,
    }


def _resident(which: str) -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith(which))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(*sys.argv[1:])))
        sys.exit()
    print("| rows | features | type | estimator | said | taken | ratio |\n" + "| --- " * 7 + "|")
    for n, d, dtype in (*CASES, WIDE):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.npy"
            write_rows(file, n, d, dtype)
            for name in models():
                command = [sys.executable, __file__, name, str(file)]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                found = json.loads(done.stdout.splitlines()[-1])
                needed, taken = found["needed"] / 1e9, found["taken"] / 1e9
                figures = f"{needed:.2f} GB | {taken:.2f} GB | {needed / taken:.2f}"
                print(f"| {n:,} | {d} | {dtype} | {name} | {figures} |", flush=True)
