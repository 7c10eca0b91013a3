"""Run the tasks of entries, each one once: what an earlier run finished is read from its record.

Tasks run in this process or, with several jobs, in others; results are saved as they arrive and
returned in the order of the tasks, so nothing depends on which task was faster.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs
from tqdm import tqdm

from reproductions.entry import Entry, Paper, RunTask, Task, Verdict
from reproductions.record import Record
from reproductions.summary import Summary, TaskResult, summarize


class EntryRun:
    """A run of an entry: its tasks, and the record of their results."""

    def __init__(
        self,
        paper: Paper,
        entry: Entry,
        folder: Path,
        *,
        data_home: Path | None = None,
        quick: bool = False,
        fresh: bool = False,
    ) -> None:
        self.paper, self.entry, self.folder = paper, entry, folder
        self.data_home, self.quick = data_home, quick
        self.record = Record(folder, paper, entry, quick=quick, fresh=fresh)
        self.tasks = entry.tasks(quick)
        self.n_reused = self.n_done

    @property
    def n_done(self) -> int:
        """Number of tasks that are finished."""
        return len(self.tasks) - len(self.missing)

    @property
    def missing(self) -> list[Task]:
        """Tasks that are not in the record."""
        return [task for task in self.tasks if task.key not in self.record.results]

    @property
    def results(self) -> list[TaskResult]:
        """Results in the order of the tasks, once all are finished."""
        return [self.record.results[task.key] for task in self.tasks]

    @property
    def seconds(self) -> float:
        """Time that the tasks took together."""
        return sum(result.seconds for result in self.results)

    @cached_property
    def summary(self) -> Summary:
        """The rows of all results, once all are finished."""
        return summarize(self.results, printed=self.entry.printed, derive=self.entry.derive)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdicts on the paper's claims, once all tasks are finished."""
        return self.entry.judge(self.summary)


def run_entries(
    runs: Sequence[EntryRun], *, n_jobs: int | None = None, verbose: bool = False
) -> Iterator[EntryRun]:
    """Run the remaining tasks of several entries; yield each entry when it is finished."""
    calls = [(run, task) for run in runs for task in run.missing]
    left = {run: len(run.missing) for run in runs}
    yield from (run for run in runs if not left[run])
    stage = runs[0].entry.name if len(runs) == 1 else f"{len(runs)} entries"
    n_tasks = sum(len(run.tasks) for run in runs)
    bar = tqdm(desc=stage, total=n_tasks, initial=n_tasks - len(calls), disable=not verbose)
    try:
        for number, result in _finish(calls, n_jobs):
            run = calls[number][0]
            run.record.append(result)
            bar.set_postfix_str(f"{run.paper.name} {run.entry.name}", refresh=False)
            bar.update()
            left[run] -= 1
            if not left[run]:
                yield run
    except BaseException as error:
        for run in runs:
            if left[run]:
                error.add_note(
                    f"{run.n_done} of {len(run.tasks)} tasks of {run.entry.name} are finished and "
                    f"kept in {run.record.path}: the next run continues from there."
                )
        raise
    finally:
        bar.close()


def _finish(
    calls: list[tuple[EntryRun, Task]], n_jobs: int | None
) -> Iterator[tuple[int, TaskResult]]:
    """Yield results as they come, in any order, with their number among the calls."""
    arguments = [
        (number, run.entry.run, task, run.data_home) for number, (run, task) in enumerate(calls)
    ]
    if n_jobs is None or effective_n_jobs(n_jobs) == 1 or len(calls) < 2:
        yield from (_run_task(*one) for one in arguments)
        return
    # One task per batch, so a finished task is saved without waiting for others.
    workers = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    yield from workers(delayed(_run_task)(*one) for one in arguments)


def _run_task(
    number: int, run: RunTask, task: Task, data_home: Path | None
) -> tuple[int, TaskResult]:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        measurements = tuple(run(task, data_home))
    texts = {" ".join(str(warning.message).split()) for warning in caught}
    seconds = time.perf_counter() - start
    return number, TaskResult(task, measurements, seconds, tuple(sorted(texts)))
