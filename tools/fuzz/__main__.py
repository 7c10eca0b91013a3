"""Run cases of bad and extreme input: ``python -m tools.fuzz``.

A process of its own runs the cases, so that one that hangs or crashes is reported, and the next one
runs. Every 100 cases a line goes to the log; started again, the run continues after the last, and
repeats the hundreds that had a fault.
Prints every fault once, as lines of Python with the smallest input found; exits with 1 if there
was one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tools.fuzz.worker import Worker

BATCH = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path("build/fuzz.jsonl"))
    parser.add_argument("--summary", type=Path, help="write counts to this JSON file")
    options = parser.parse_args()
    options.log.parent.mkdir(parents=True, exist_ok=True)
    batches = {one["first"]: one for one in _read(options.log) if one["seed"] == options.seed}
    worker = Worker(options.seed)
    try:
        for first in range(options.first, options.first + options.cases, BATCH):
            if first not in batches or batches[first]["faults"]:
                batches[first] = _run_batch(worker, options.seed, first)
                with options.log.open("a") as stream:
                    stream.write(json.dumps(batches[first]) + "\n")
    finally:
        worker.stop()
    summary = summarize(list(batches.values()))
    if options.summary:
        options.summary.write_text(json.dumps(summary, indent=1) + "\n")
    print(f"{summary['cases']:,} cases, {summary['seconds']:.0f} s: {summary['outcomes']}")
    return int(bool(summary["faults"]))


def summarize(batches: list[dict[str, Any]]) -> dict[str, Any]:
    """Return counts of all batches together."""
    outcomes: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    subjects: Counter[str] = Counter()
    for one in batches:
        outcomes.update(one["outcomes"])
        subjects.update(one["subjects"])
        faults.update(fault["fault"] for fault in one["faults"])
    return {
        "cases": BATCH * len(batches),
        "seconds": sum(one["seconds"] for one in batches),
        "slowest": max((one["slowest"] for one in batches), default=0.0),
        "outcomes": dict(outcomes.most_common()),
        "subjects": dict(sorted(subjects.items())),
        "faults": dict(faults.most_common()),
    }


def _read(log: Path) -> list[dict[str, Any]]:
    """Return the batches of an earlier run; the last line may have been cut by a kill."""
    batches = []
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            batches.append(json.loads(line))
        except ValueError:
            continue
    return batches


SHOWN: set[str] = set()


def _run_batch(worker: Worker, seed: int, first: int) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    subjects: Counter[str] = Counter()
    faults, slowest, begin = [], 0.0, time.perf_counter()
    for number in range(first, first + BATCH):
        start = time.perf_counter()
        found = worker.ask(number, is_known=SHOWN)
        outcomes[found["answer"]] += 1
        subjects[found.get("subject", "?")] += 1
        slowest = max(slowest, found.get("seconds", time.perf_counter() - start))
        if found["fault"] is not None:
            faults.append({"number": number, **found})
            if found["fault"] not in SHOWN:
                SHOWN.add(found["fault"])
                print(
                    f"\n--- case {number}: {found['fault']}\n{found['detail']}\n{found['snippet']}"
                )
                sys.stdout.flush()
    seconds = time.perf_counter() - begin
    return {
        **{"seed": seed, "first": first, "seconds": round(seconds, 1)},
        **{"slowest": round(slowest, 1), "outcomes": outcomes, "subjects": subjects},
        "faults": faults,
    }


if __name__ == "__main__":
    sys.exit(main())
