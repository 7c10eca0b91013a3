from __future__ import annotations

from dataclasses import replace

import pytest

from reproductions.entry import Entry, Measurement, Paper, Printed, Task, Verdict


class Counter:
    """Runs a tiny task, keeps its name, and raises what it is told to raise."""

    def __init__(self):
        self.ran = []
        self.failures = {}

    def __call__(self, task, data_home):
        name = (task.setting["size"], task.seed)
        if name in self.failures:
            raise self.failures.pop(name)
        self.ran.append(name)
        share = (task.setting["size"] + task.seed) / 100
        return [
            Measurement(share, {"method": "a"}, n_scored=100),
            Measurement(share / 2, {"method": "b"}, n_scored=100),
        ]


def list_tasks(quick):
    return [Task({"size": size}, seed) for size in (10, 20) for seed in range(1 if quick else 3)]


def judge(summary):
    found = f"{summary.row(size=10, method='a').estimate.mean:.2f}"
    return [Verdict("a | b", "<b>1</b>", found, "holds")]


@pytest.fixture
def counter():
    return Counter()


@pytest.fixture
def paper(counter):
    """A paper of two entries whose tasks cost nothing; the first one counts its tasks."""
    entry = Entry(
        name="table-1",
        title="Sums",
        procedure="Adds numbers.",
        tasks=list_tasks,
        run=counter,
        judge=judge,
        printed=(Printed(0.105, {"size": 10, "method": "a"}),),
    )
    return Paper("tiny", "N. N., Sums, 1905.", (entry, replace(entry, name="table-2")))
