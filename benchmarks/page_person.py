"""Labels that a person needs who answers the queue of the labeling page truthfully.

    LABELFOLD_DATA=... python -m benchmarks.page_person --seeds 100:110 --out FILE.jsonl
    python -m benchmarks.page_person --report FILE.jsonl

The person works with the page's own session and its process that fits, without a browser: answers
five rows, waits for the fit, and goes on. Every answer counts as a label, also one for an audit row
or for a label that looks wrong. The labels needed are those at which the error of the other rows,
interpolated between fits, reaches the mean error of 200 random labels over 20 draws, and keeps it
with the next fit. A run has four fifths of the rows of a set, the same ones as in
`benchmarks.evidence.suggestions`. Continues where an earlier one ended.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.probabilities import read
from benchmarks.evidence.suggestions import (
    begin,
    needed,
    standard_error,
)
from benchmarks.few_labels.data import load
from benchmarks.few_labels.run import parse_seeds
from labelfold.studio.journal import Journal
from labelfold.studio.labeling import AUDIT
from labelfold.studio.learner import Task
from labelfold.studio.session import Session as PageSession
from labelfold.studio.shown_rows import ShownRows
from labelfold.tables import AutoScaler

SETS = ("mnist10k", "digits", "news")
N_GOAL = 200
BATCH = 5


def run(name: str, seed: int) -> dict[str, object]:
    """Return what one person needed."""
    rows, aim = begin(load(name), seed, N_GOAL)
    with TemporaryDirectory() as folder:
        counts, errors, n_audits = answer_queue(Path(folder), rows.X, rows.y, aim)
    found = {"set": name, "seed": seed, "aim": round(aim, 5), "n_audits": n_audits}
    found |= {"n_needed": round(needed(counts, errors, aim), 1), "counts": counts}
    return found | {"errors": [round(error, 5) for error in errors]}


def answer_queue(
    folder: Path, X: NDArray[np.float64], y: NDArray[np.int64], aim: float
) -> tuple[list[int], list[float], int]:
    """Answer until two errors reach the aim; return numbers of labels, errors and audit rows."""
    ids = [str(number) for number in range(1, len(y) + 1)]
    task = Task(X, AutoScaler().fit(X), None, folder, {})
    counts, errors = [], []
    with Journal(folder / "labels.sqlite") as journal:
        session = PageSession(ShownRows(ids, []), {}, journal, task, "rows")
        session.is_frozen = True  # the map has no say in it
        session.start()
        try:
            while counts[-1:] < [2 * N_GOAL] and (len(errors) < 2 or max(errors[-2:]) > aim):
                for one in wait_for_queue(session)[:BATCH]:
                    session.act("label", [one["row"]], str(y[one["row"]]), one["reason"])
                wait_for_queue(session)
                if session.fitted.classes:
                    classes = np.array(session.fitted.classes).astype(int)
                    hidden = ~session.given().is_labeled
                    wrong = classes[session.fitted.codes[hidden]] != y[hidden]
                    counts.append(session.labeling.number)
                    errors.append(float(np.mean(wrong)))
        finally:
            session.stop()
        return counts, errors, session.given().sources.count(AUDIT)


def wait_for_queue(session: PageSession) -> list[dict[str, object]]:
    """Return the queue that belongs to all labels."""
    while session.proposed.event != session.labeling.number:
        if session.status.is_error:
            raise RuntimeError(session.status.text)
        time.sleep(0.01)
    return session.queue()


def report(lines: list[dict[str, object]]) -> str:
    """Return the labels needed as Markdown, with 95% intervals of the means."""
    text = ["| set | runs | labels needed | of them audit rows |", "| --- | --- | --- | --- |"]
    means = []
    for name in dict.fromkeys(one["set"] for one in lines):
        some = [one for one in lines if one["set"] == name]
        values = [one["n_needed"] for one in some]
        means.append(float(np.mean(values)))
        audits = np.mean([one["n_audits"] for one in some])
        figures = f"{means[-1]:.0f} ± {1.96 * standard_error(values):.0f}"
        text.append(f"| {name} | {len(values)} | {figures} | {audits:.0f} |")
    return "\n".join([*text, f"| mean | | {np.mean(means):.0f} | |"])


def main() -> None:
    """Read the command line; run or report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--seeds", type=parse_seeds, default=parse_seeds("100:110"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.report is not None:
        print(report(read([given.report])))
        return
    done = {(one["set"], one["seed"]) for one in read([given.out])}
    for name in given.sets:
        for seed in given.seeds:
            if (name, seed) not in done:
                line = run(name, seed)
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(name, seed, line["n_needed"], "of", N_GOAL, flush=True)


if __name__ == "__main__":
    main()
