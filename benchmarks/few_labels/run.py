"""Run methods on data sets, seeds and numbers of labels, and add what is missing to a file.

    LABELFOLD_DATA=... python -m benchmarks.few_labels.run \
        --sets digits moons --methods base knn --seeds 0:2 --out results.jsonl

A second run continues where the first ended, and tries again what failed. Threads are those of the
environment: set OMP_NUM_THREADS=1 to compare times.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.few_labels import results
from benchmarks.few_labels.data import COUNTS, NAMES, DataSet, draw_labels, load
from benchmarks.few_labels.methods import METHODS
from benchmarks.few_labels.results import Result
from benchmarks.few_labels.shared_rows import SharedRows

# Development uses seeds below 100; the published table those from here on.
DEFAULT_SEEDS = "100:120"
DEFAULT_SETS = tuple(name for name in NAMES if name != "mnist60k")


def run(sets: Sequence[str], methods: Sequence[str], seeds: Sequence[int], out: Path) -> None:
    """Run every method on every set, one method after the other."""
    done = {result.key for result in results.read(out) if not result.failure}
    for method in methods:
        for name in sets:
            draws = [
                (n_labels, seed)
                for seed in seeds
                for n_labels in COUNTS[name]
                if (name, method, n_labels, seed) not in done
            ]
            if draws:
                start = time.perf_counter()
                try:
                    run_draws(load(name), method, draws, out)
                except ImportError as error:
                    print(f"{method}: skipped, {error}", file=sys.stderr)
                    break
                seconds = time.perf_counter() - start
                print(f"{method}, {name}: {len(draws)} draws in {seconds:.0f} s", flush=True)


def run_draws(data: DataSet, method: str, draws: Sequence[tuple[int, int]], out: Path) -> None:
    """Run one method on numbers of labels and seeds of one set."""
    # One for each method, so that the time of shared parts is counted for all that use them.
    rows = SharedRows(data.X, np.bincount(data.y), max(COUNTS[data.name]))
    for n_labels, seed in draws:
        results.append(out, run_draw(data, rows, method, n_labels, seed))


def run_draw(data: DataSet, rows: SharedRows, method: str, n_labels: int, seed: int) -> Result:
    """Return the error of one method for one draw of labels."""
    labeled = draw_labels(data.y, n_labels, seed, least_classes=data.least_classes)
    unlabeled = np.setdiff1d(np.arange(len(data.y)), labeled)
    shared_before, start = rows.seconds, time.perf_counter()
    error, failure = None, ""
    try:
        predicted = METHODS[method](rows, labeled, data.y[labeled], data.n_classes)
        error = float(np.mean(predicted[unlabeled] != data.y[unlabeled]))
    except ImportError:
        raise
    except Exception as caught:  # one failure must not end a run of hours
        failure = f"{type(caught).__name__}: {caught}"
    seconds, shared_seconds = time.perf_counter() - start, rows.seconds - shared_before
    return Result(
        data.name, method, n_labels, seed, error, seconds - shared_seconds, shared_seconds, failure
    )


def parse_seeds(text: str) -> range:
    """Return the seeds of "first:end".

    >>> list(parse_seeds("100:103"))
    [100, 101, 102]
    """
    first, _, end = text.partition(":")
    return range(int(first), int(end))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=DEFAULT_SETS, metavar="SET")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD"
    )
    parser.add_argument("--seeds", type=parse_seeds, default=DEFAULT_SEEDS, help="first:end")
    parser.add_argument("--out", type=Path, required=True, help="file of lines to add to")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of rows that no label reaches: their errors count
    run(arguments.sets, arguments.methods, arguments.seeds, arguments.out)


if __name__ == "__main__":
    main()
