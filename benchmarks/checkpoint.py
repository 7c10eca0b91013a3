"""Fits that are killed at random moments and go on from their checkpoints.

``python benchmarks/checkpoint.py`` fits CCDR to 250,000 synthetic rows of 50 features, once without
a folder and once with one. Then the fit is killed by SIGKILL at ten random moments, each time in
a new folder, and started again; with ``--at-once`` also ten times in one run. Graph and embedding
are compared to the last bit.

The share of repeated work is (a + b - c) / c: processor seconds of the fit before the kill, after
it, and without one. Moments are drawn in processor seconds too, so that they do not depend on what
else the machine does. Starting Python and making the rows are not part of a fit; "start" says what
they take.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from measure import THREAD_VARIABLES, environment, write_results
from numpy.typing import NDArray
from scaling import rows

RESULTS = Path(__file__).parent / "results" / "checkpoint.json"
N_FEATURES, N_LABELS = 50, 1000


def fit(n: int, n_components: int, folder: str) -> None:
    """Fit once, and print processor seconds and what the result is."""
    import labelfold

    X = rows(n).astype(np.float32)
    y = np.full(n, -1)
    y[:N_LABELS] = np.argmax(X[:N_LABELS, :10], axis=1)
    model = labelfold.CCDR(n_components, n_neighbors=10, random_state=0)
    labelfold.CCDR(2).fit(X[:500])  # loads what is imported on first use
    begin = time.process_time()
    print(json.dumps({"start": begin}), flush=True)
    with labelfold.checkpoints(folder) if folder else contextlib.nullcontext():
        model.fit(X, y)
    digest = hashlib.sha256(np.ascontiguousarray(model.embedding_))
    distances, adjacency = model.graph_.distances, model.graph_.adjacency
    for part in (distances.data, distances.indices, distances.indptr, adjacency.data):
        digest.update(np.ascontiguousarray(part))
    print(
        json.dumps(
            {
                "seconds": time.process_time() - begin,
                "digest": digest.hexdigest(),
                "solver": model.certificate_.solver,
                "certificate": str(model.certificate_),
                "search": str(model.graph_.search),
            }
        ),
        flush=True,
    )


def run(n: int, n_components: int, folder: str, kill_after: float | None = None) -> dict[str, Any]:
    """Fit in a new process, and kill it after so many processor seconds of the fit."""
    command = [sys.executable, __file__, "--fit", str(n), str(n_components), folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        start = json.loads(child.stdout.readline())["start"]
        seconds = 0.0
        while kill_after is not None and child.poll() is None and seconds < kill_after:
            time.sleep(0.01)
            with contextlib.suppress(psutil.Error):
                times = psutil.Process(child.pid).cpu_times()
                seconds = times.user + times.system - start
        if kill_after is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
        rest = child.stdout.read()
    result = json.loads(rest) if rest else {"seconds": seconds}
    return {"start": start, "is_killed": not rest, **result}


def size_of(folder: str) -> int:
    """Return the bytes in a folder."""
    return sum(path.stat().st_size for path in Path(folder).iterdir())


def kill_each_once(n: int, k: int, whole: dict[str, Any], shares: NDArray[np.float64]) -> Any:
    """Kill one run after another at a moment of its work, and start each again."""
    trials = []
    for moment in shares * whole["seconds"]:
        with tempfile.TemporaryDirectory() as folder:
            before = run(n, k, folder, moment)
            n_bytes = size_of(folder)
            after = run(n, k, folder)
        seconds = before["seconds"] + after["seconds"]
        trials.append(
            {
                "moment": moment,
                "was_killed": before["is_killed"],
                "before": before["seconds"],
                "after": after["seconds"],
                "repeated": seconds / whole["seconds"] - 1,
                "is_same": after["digest"] == whole["digest"],
                "bytes": n_bytes,
            }
        )
        print(trials[-1], flush=True)
    return trials


def kill_again_and_again(n: int, k: int, whole: dict[str, Any], shares: NDArray[np.float64]) -> Any:
    """Kill one run at all these moments of its work."""
    moments = np.sort(shares) * whole["seconds"]
    with tempfile.TemporaryDirectory() as folder:
        runs = [run(n, k, folder, part) for part in np.diff(moments, prepend=0)]
        runs.append(run(n, k, folder))
    seconds = sum(one["seconds"] for one in runs)
    return {
        "runs": [one["seconds"] for one in runs],
        "repeated": seconds / whole["seconds"] - 1,
        "is_same": runs[-1]["digest"] == whole["digest"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=250_000)
    parser.add_argument("--components", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        fit(int(options.fit[0]), int(options.fit[1]), options.fit[2])
        return
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(options.threads)))
    results: dict[str, Any] = {"cases": []}
    for k in options.components:
        shares = np.random.default_rng(options.seed).random(options.kills)
        n = options.rows
        whole = run(n, k, "")
        with tempfile.TemporaryDirectory() as folder:
            saving = run(n, k, folder)
            rerun = run(n, k, folder)
            n_bytes = size_of(folder)
        case = {
            "environment": environment(options.threads),
            "n": n,
            "n_features": N_FEATURES,
            "n_components": k,
            "without_folder": whole,
            "with_folder": saving,
            "rerun": rerun,
            "bytes_at_the_end": n_bytes,
            "trials": kill_each_once(n, k, whole, shares),
        }
        if options.at_once:
            case["at_once"] = kill_again_and_again(n, k, whole, shares)
        repeated = [trial["repeated"] for trial in case["trials"]]
        case["mean_repeated"], case["most_repeated"] = float(np.mean(repeated)), max(repeated)
        results["cases"].append(case)
        write_results(options.out, results)
        print(k, "mean", case["mean_repeated"], "most", case["most_repeated"], flush=True)


if __name__ == "__main__":
    main()
