"""Run cases of bad and extreme input: ``python -m tools.fuzz``.

A process of its own runs the cases, so that one that hangs or crashes is reported, and the next one
runs. Every 100 cases a line goes to the log; started again, the run continues after the last, and
repeats the hundreds that had a fault.
Prints every fault once, as lines of Python with the smallest input found; exits with 1 if there
was one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.fuzz.worker import Worker

BATCH = 100


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", help="run this one only, such as 'model file'")
    parser.add_argument("--log", type=Path, default=Path("build/fuzz.jsonl"))
    parser.add_argument("--summary", type=Path, help="write counts to this JSON file")
    options = parser.parse_args(arguments)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    stream = {"seed": options.seed, "subject": options.subject}
    batches = {one["first"]: one for one in _read(options.log) if one["stream"] == stream}
    worker = Worker(options.seed, options.subject)
    try:
        for first in range(options.first, options.first + options.cases, BATCH):
            if first not in batches or batches[first]["faults"]:
                batches[first] = {"stream": stream, **_run_batch(worker, first)}
                with options.log.open("a") as log:
                    log.write(json.dumps(batches[first]) + "\n")
    finally:
        worker.stop()
    summary = summarize(list(batches.values()))
    if options.summary:
        _keep(options.summary, options.subject or "everything", summary)
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
        "seconds": round(sum(one["seconds"] for one in batches)),
        "slowest": max((one["slowest"] for one in batches), default=0.0),
        "outcomes": dict(outcomes.most_common()),
        "subjects": dict(sorted(subjects.items())),
        "faults": dict(faults.most_common()),
    }


def _keep(path: Path, name: str, summary: dict[str, Any]) -> None:
    """Write a summary beside others, and the list of what was mended, which a person writes."""
    kept = json.loads(path.read_text()) if path.exists() else {"runs": {}, "mended": []}
    versions = {one: version(one) for one in ("labelfold", "numpy", "scipy", "scikit-learn")}
    when = datetime.date.today().isoformat()
    kept["runs"][name] = {"date": when, "versions": versions, **summary}
    path.write_text(json.dumps(kept, indent=1) + "\n")


def _read(log: Path) -> list[dict[str, Any]]:
    """Return the batches of an earlier run; the last line may have been cut by a kill."""
    batches = []
    content = log.read_text() if log.exists() else ""
    if content and not content.endswith("\n"):
        log.write_text(content + "\n")
    for line in content.splitlines():
        try:
            batches.append(json.loads(line))
        except ValueError:
            continue
    return batches


SHOWN: set[str] = set()


def _run_batch(worker: Worker, first: int) -> dict[str, Any]:
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
        **{"first": first, "seconds": round(seconds, 1)},
        **{"slowest": round(slowest, 1), "outcomes": outcomes, "subjects": subjects},
        "faults": faults,
    }


if __name__ == "__main__":
    sys.exit(main())
