"""What several tests of the reproductions use."""

from __future__ import annotations

from reproductions.entry import judge_readings
from reproductions.runner import EntryRun, run_entries
from reproductions.summary import TaskResult, summarize


def run_entry(paper, entry, folder, *, n_jobs=None, verbose=False, **options):
    """Run what is left of an entry's tasks."""
    (run,) = run_entries(
        [EntryRun(paper, entry, folder, **options)], n_jobs=n_jobs, verbose=verbose
    )
    return run


def summary_of(entry, tasks):
    """Run tasks of an entry without a record."""
    results = [TaskResult(task, tuple(entry.run(task, None)), 0.0) for task in tasks]
    return summarize(results, printed=entry.printed, derive=entry.derive)


def merged_claims(verdicts):
    """Return the judgment of every claim over its readings, in the order of the claims."""
    words = {}
    for verdict in verdicts:
        words.setdefault(verdict.claim, []).append(verdict.verdict)
    return {claim: judge_readings(found) for claim, found in words.items()}


def values_of(measurements, measure, **setting):
    """Return the values of a measure in all measurements whose setting has these values."""
    return [
        item.value
        for item in measurements
        if item.measure == measure and setting.items() <= item.setting.items()
    ]


def value_of(measurements, measure, **setting):
    """Return the only one of these values."""
    (value,) = values_of(measurements, measure, **setting)
    return value
