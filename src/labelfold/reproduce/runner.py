"""Runs the tasks of an entry, each one once: what an earlier run finished is read from its record.

Tasks run in this process or, with several jobs, in others; results are kept as they arrive and
handed back in the order of the tasks, so that nothing depends on which task was quicker.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs

from labelfold.progress import Progress, report_nothing
from labelfold.reproduce.entry import Entry, Paper, RunTask, Task
from labelfold.reproduce.record import Origin, Record
from labelfold.reproduce.summary import Summary, TaskResult, summarise

__all__ = ["EntryRun", "run_entry"]


@dataclass(frozen=True)
class EntryRun:
    """A finished run of an entry.

    Parameters
    ----------
    paper : Paper
        The paper.
    entry : Entry
        The entry.
    origin : Origin
        Versions and kind of the run.
    platform : str
        The machine on which its record was begun.
    results : list of TaskResult
        Results in the order of the tasks.
    n_reused : int
        How many of them an earlier run had left.
    record : Path
        The file that keeps them.
    """

    paper: Paper
    entry: Entry
    origin: Origin
    platform: str
    results: list[TaskResult]
    n_reused: int
    record: Path

    def summary(self) -> Summary:
        """Return the rows of all results."""
        return summarise(self.results, printed=self.entry.printed, derive=self.entry.derive)


def run_entry(
    paper: Paper,
    entry: Entry,
    folder: Path,
    *,
    data_home: Path | None = None,
    quick: bool = False,
    fresh: bool = False,
    n_jobs: int | None = None,
    progress: Progress = report_nothing,
) -> EntryRun:
    """Run what is left of an entry's tasks.

    Parameters
    ----------
    paper : Paper
        The paper.
    entry : Entry
        One of its entries.
    folder : Path
        Folder of the record, ``<entry>.jsonl``.
    data_home : Path, default=None
        Folder of the data files, for entries that need some.
    quick : bool, default=False
        Run the entry's quick tasks only.
    fresh : bool, default=False
        Run all tasks again; an older record is set aside.
    n_jobs : int, default=None
        Number of processes; None or 1 is this one, negative counts back from all cores.
    progress : Progress
        Told of every finished task.

    Returns
    -------
    EntryRun
        The results of all tasks.
    """
    tasks = entry.tasks(quick)
    origin = Origin.here(paper=paper.name, entry=entry.name, edition=entry.edition, quick=quick)
    record = Record(folder / f"{entry.name}.jsonl", origin, fresh=fresh)
    missing = [task for task in tasks if task.key not in record.results]
    n_reused = n_done = len(tasks) - len(missing)
    progress(entry.name, n_done, len(tasks))
    try:
        for result in _finish(entry, missing, data_home, n_jobs):
            record.append(result)
            n_done += 1
            progress(entry.name, n_done, len(tasks))
    except BaseException as error:
        error.add_note(
            f"{n_done} of {len(tasks)} tasks of {entry.name} are finished and kept in "
            f"{record.path}: the next run goes on from there, unless it is a fresh one."
        )
        raise
    return EntryRun(
        paper=paper,
        entry=entry,
        origin=origin,
        platform=record.platform,
        results=[record.results[task.key] for task in tasks],
        n_reused=n_reused,
        record=record.path,
    )


def _finish(
    entry: Entry, tasks: list[Task], data_home: Path | None, n_jobs: int | None
) -> Iterator[TaskResult]:
    """Yield results as they come, in any order."""
    if n_jobs is None or effective_n_jobs(n_jobs) == 1 or len(tasks) < 2:
        for task in tasks:
            yield _run_task(entry.run, task, data_home)
        return
    # One task a batch, so that no finished task waits for others before it is kept.
    workers = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    yield from workers(delayed(_run_task)(entry.run, task, data_home) for task in tasks)


def _run_task(run: RunTask, task: Task, data_home: Path | None) -> TaskResult:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        measurements = tuple(run(task, data_home))
    texts = {" ".join(str(warning.message).split()) for warning in caught}
    return TaskResult(task, measurements, time.perf_counter() - start, tuple(sorted(texts)))
