"""Runs the tasks of entries, each one once: what an earlier run finished is read from its record.

Tasks run in this process or, with several jobs, in others; results are kept as they arrive and
handed back in the order of the tasks, so that nothing depends on which task was quicker.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs
from tqdm import tqdm

from reproductions.entry import Entry, Paper, RunTask, Task
from reproductions.record import Origin, Record
from reproductions.summary import Summary, TaskResult, summarise

__all__ = ["EntryRun", "run_entries", "run_entry"]


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
    data_home : Path or None, default=None
        Folder of the data files.
    """

    paper: Paper
    entry: Entry
    origin: Origin
    platform: str
    results: list[TaskResult]
    n_reused: int
    record: Path
    data_home: Path | None = None

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
    verbose: bool = False,
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
    verbose : bool, default=False
        Whether to show progress on stderr.

    Returns
    -------
    EntryRun
        The results of all tasks.
    """
    (run,) = run_entries(
        [(paper, entry, folder)],
        data_home=data_home,
        quick=quick,
        fresh=fresh,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return run


def run_entries(
    work: Sequence[tuple[Paper, Entry, Path]],
    *,
    data_home: Path | None = None,
    quick: bool = False,
    fresh: bool = False,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Iterator[EntryRun]:
    """Run what is left of several entries, whose tasks share the processes.

    Parameters
    ----------
    work : sequence of (Paper, Entry, Path)
        The entries, each with the folder of its record.
    data_home, quick, fresh, n_jobs, verbose
        As of :func:`run_entry`.

    Yields
    ------
    EntryRun
        Every entry, as soon as its last task is finished.
    """
    pending = [
        PendingEntry.open(paper, entry, folder, quick=quick, fresh=fresh)
        for paper, entry, folder in work
    ]
    for one in pending:
        if not one.missing:
            yield one.finished(data_home)
    calls = [(one, task) for one in pending for task in one.missing]
    stage = pending[0].entry.name if len(pending) == 1 else f"{len(pending)} entries"
    n_tasks = sum(len(one.tasks) for one in pending)
    bar = tqdm(desc=stage, total=n_tasks, initial=n_tasks - len(calls), disable=not verbose)
    try:
        for one, result in _finish(calls, data_home, n_jobs):
            one.record.append(result)
            bar.set_postfix_str(f"{one.paper.name} {one.entry.name}", refresh=False)
            bar.update()
            if one.n_done == len(one.tasks):
                yield one.finished(data_home)
    except BaseException as error:
        _note_what_is_kept(error, pending)
        raise
    finally:
        bar.close()


@dataclass(frozen=True)
class PendingEntry:
    """An entry with its tasks, the record that they go to, and those that are missing there."""

    paper: Paper
    entry: Entry
    origin: Origin
    record: Record
    tasks: list[Task]
    missing: list[Task]

    @classmethod
    def open(
        cls, paper: Paper, entry: Entry, folder: Path, *, quick: bool, fresh: bool
    ) -> PendingEntry:
        """Open the record and see what is missing."""
        tasks = entry.tasks(quick)
        origin = Origin.here(paper=paper.name, entry=entry.name, edition=entry.edition, quick=quick)
        record = Record(folder / f"{entry.name}.jsonl", origin, fresh=fresh)
        missing = [task for task in tasks if task.key not in record.results]
        return cls(paper, entry, origin, record, tasks, missing)

    @property
    def n_done(self) -> int:
        """Number of tasks that the record has."""
        return sum(task.key in self.record.results for task in self.tasks)

    def finished(self, data_home: Path | None) -> EntryRun:
        """Return the run, all of whose tasks are there."""
        return EntryRun(
            paper=self.paper,
            entry=self.entry,
            origin=self.origin,
            platform=self.record.platform,
            results=[self.record.results[task.key] for task in self.tasks],
            n_reused=len(self.tasks) - len(self.missing),
            record=self.record.path,
            data_home=data_home,
        )


def _note_what_is_kept(error: BaseException, pending: Sequence[PendingEntry]) -> None:
    for one in pending:
        if one.missing and one.n_done < len(one.tasks):
            error.add_note(
                f"{one.n_done} of {len(one.tasks)} tasks of {one.entry.name} are finished and kept "
                f"in {one.record.path}: the next run goes on from there, unless it is a fresh one."
            )


def _finish(
    calls: list[tuple[PendingEntry, Task]], data_home: Path | None, n_jobs: int | None
) -> Iterator[tuple[PendingEntry, TaskResult]]:
    """Yield results as they come, in any order."""
    if n_jobs is None or effective_n_jobs(n_jobs) == 1 or len(calls) < 2:
        for one, task in calls:
            yield one, _run_task(one.entry.run, task, data_home)
        return
    # One task a batch, so that no finished task waits for others before it is kept.
    workers = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    results = workers(
        delayed(_run_numbered)(number, one.entry.run, task, data_home)
        for number, (one, task) in enumerate(calls)
    )
    for number, result in results:
        yield calls[number][0], result


def _run_numbered(
    number: int, run: RunTask, task: Task, data_home: Path | None
) -> tuple[int, TaskResult]:
    return number, _run_task(run, task, data_home)


def _run_task(run: RunTask, task: Task, data_home: Path | None) -> TaskResult:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        measurements = tuple(run(task, data_home))
    texts = {" ".join(str(warning.message).split()) for warning in caught}
    return TaskResult(task, measurements, time.perf_counter() - start, tuple(sorted(texts)))
