"""Time a function in its own process, so memory and warm-up are its own."""

from __future__ import annotations

import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

PACKAGES = (
    "labelfold",
    "numpy",
    "scipy",
    "scikit-learn",
    "faiss-cpu",
    "numba",
    "umap-learn",
    "pyamg",
)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def environment(n_threads: int) -> dict[str, Any]:
    """Return the environment that a reader needs to judge the figures."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "threads": n_threads,
        "load_before": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions,
    }


def in_child(module: str, task: str, n_threads: int, **arguments: Any) -> dict[str, Any]:
    """Run ``module.TASKS[task](**arguments)`` in a new process and return what it measured."""
    settings = dict.fromkeys(THREAD_VARIABLES, str(n_threads))
    done = subprocess.run(
        [sys.executable, __file__, module, task, json.dumps(arguments)],
        env={**os.environ, **settings, "TQDM_DISABLE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def repeat(work: Callable[[], dict[str, Any] | None], n_repeats: int) -> dict[str, Any]:
    """Return all times of ``work``, their median, its last figures, and the peak memory."""
    seconds, figures = [], {}
    for _ in range(n_repeats):
        start = time.perf_counter()
        figures = work() or {}
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": median(seconds),
        "all_seconds": seconds,
        "peak_bytes": peak * unit,
        **figures,
    }


def write_results(path: Path, results: dict[str, Any]) -> None:
    """Keep the raw figures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here), str(here.parent)]  # the latter has the loaders: reproductions.data
    tasks = importlib.import_module(sys.argv[1]).TASKS
    print(json.dumps(tasks[sys.argv[2]](**json.loads(sys.argv[3]))))
