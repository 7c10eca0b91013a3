"""From the results of tasks to one row for each setting and measure, with an 80 % interval.

With several seeds the interval is Student's for the mean over seeds; with one run of an error rate
it is Wilson's binomial interval for the points that were scored. The order in which results arrived
has no influence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from labelfold.evaluate import student_interval, wilson_interval
from labelfold.exceptions import InputError
from reproductions.entry import Judgement, Measurement, Printed, Setting, Task, Unit

__all__ = [
    "LEVEL",
    "Estimate",
    "Summary",
    "SummaryRow",
    "TaskResult",
    "judge_below",
    "mean_over_seeds",
    "paired_difference",
    "summarise",
]

LEVEL = 0.8  # of all intervals: that of CCDR-MC


@dataclass(frozen=True)
class TaskResult:
    """What a finished task left: its measurements, its time and the warnings it gave."""

    task: Task
    measurements: tuple[Measurement, ...]
    seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimate:
    """A mean and its interval.

    Parameters
    ----------
    mean : float
        Mean over the runs.
    low, high : float or None
        Ends of the interval; None where one run gives none.
    n_runs : int
        Number of runs, which is that of the seeds.
    method : {"Student t", "Wilson", "none"}
        Kind of the interval.
    """

    mean: float
    low: float | None
    high: float | None
    n_runs: int
    method: str


@dataclass(frozen=True)
class SummaryRow:
    """All measurements of one setting and measure.

    Parameters
    ----------
    setting : mapping
        The task's setting and the measurement's together.
    measure : str
        What was measured.
    unit : {"share", "number", "choice"}
        Shares are shown in per cent.
    values : mapping of seed to float
        The measured values.
    n_scored : int or None
        Number of points scored in one run; None where it is unknown or not the same for all.
    estimate : Estimate
        Their mean and its interval.
    printed : Printed or None
        What the paper printed for it.
    """

    setting: Setting
    measure: str
    unit: Unit
    values: Mapping[int | None, float]
    n_scored: int | None
    estimate: Estimate
    printed: Printed | None = None


@dataclass(frozen=True)
class Summary:
    """The rows of an entry, in the order of its tasks.

    Parameters
    ----------
    rows : tuple of SummaryRow
        One row for each setting and measure.
    """

    rows: tuple[SummaryRow, ...]

    def row(self, measure: str = "error", **setting: str | int | float) -> SummaryRow:
        """Return the one row whose setting has these values; further names may vary freely."""
        found = self.rows_with(measure, **setting)
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows have measure {measure!r} and {setting}")
        return found[0]

    def rows_with(self, measure: str = "error", **setting: str | int | float) -> list[SummaryRow]:
        """Return all rows of a measure whose setting has these values."""
        return [
            row
            for row in self.rows
            if row.measure == measure and setting.items() <= row.setting.items()
        ]

    def beside_the_paper(self) -> Summary:
        """Return the rows for which the paper has something."""
        return Summary(tuple(row for row in self.rows if row.printed is not None))

    def values_of(self, name: str) -> list[str | int | float]:
        """Return the distinct values of one name in the settings, in the rows' order."""
        return list(dict.fromkeys(row.setting[name] for row in self.rows if name in row.setting))


def summarise(
    results: Iterable[TaskResult],
    *,
    printed: Sequence[Printed] = (),
    derive: Callable[[Summary], list[SummaryRow]] | None = None,
) -> Summary:
    """Group measurements by setting and measure.

    Parameters
    ----------
    results : iterable of TaskResult
        Results in the order of the entry's tasks, which becomes the order of the rows.
    printed : sequence of Printed, default=()
        What the paper printed; it stands beside the row of equal setting and measure.
    derive : callable, default=None
        Makes further rows of the summary.

    Returns
    -------
    Summary
        One row for each setting and measure.
    """
    groups: dict[str, list[tuple[int | None, Setting, Measurement]]] = {}
    for result in results:
        for measurement in result.measurements:
            setting = _merged(result.task.setting, measurement.setting)
            name = _group_key(setting, measurement.measure)
            seed = result.task.seed if measurement.draw is None else measurement.draw
            groups.setdefault(name, []).append((seed, setting, measurement))
    rows = [_row(group) for group in groups.values()]
    if derive is not None:
        rows += derive(Summary(tuple(rows)))
    beside = {_group_key(item.setting, item.measure): item for item in printed}
    return Summary(
        tuple(
            replace(row, printed=beside.get(_group_key(row.setting, row.measure))) for row in rows
        )
    )


def paired_difference(first: SummaryRow, second: SummaryRow) -> Estimate:
    """Return the mean over common seeds of the first row's values minus the second's."""
    seeds = [seed for seed in first.values if seed in second.values]
    return mean_over_seeds([first.values[seed] - second.values[seed] for seed in seeds])


def judge_below(difference: Estimate) -> Judgement:
    """Judge whether a difference is below zero: with its whole interval, or undecided."""
    low = difference.mean if difference.low is None else difference.low
    high = difference.mean if difference.high is None else difference.high
    return "holds" if high < 0 else "partly" if low <= 0 else "does not hold"


def mean_over_seeds(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's interval, mean -+ t(n - 1) s / sqrt(n)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return Estimate(mean, None, None, n, "none")
    return Estimate(mean, *student_interval(values, LEVEL), n, "Student t")


def _row(group: list[tuple[int | None, Setting, Measurement]]) -> SummaryRow:
    _, setting, first = group[0]
    values = {seed: float(measurement.value) for seed, _, measurement in group}
    if len(values) < len(group):
        raise InputError(
            f"{first.measure} of {dict(setting)} was measured twice for one seed: tell the "
            "measurements apart by a setting or a measure."
        )
    counts = {measurement.n_scored for _, _, measurement in group}
    n_scored = counts.pop() if len(counts) == 1 else None
    # Sorted, so that sums over seeds do not depend on the order of the results.
    values = dict(sorted(values.items(), key=lambda item: (item[0] is not None, item[0] or 0)))
    estimate = mean_over_seeds(list(values.values()))
    if len(values) == 1 and n_scored and first.unit == "share":
        low, high = wilson_interval(estimate.mean, n_scored, LEVEL)
        estimate = Estimate(estimate.mean, low, high, 1, "Wilson")
    elif first.unit == "choice":
        estimate = Estimate(estimate.mean, None, None, estimate.n_runs, "none")
    return SummaryRow(setting, first.measure, first.unit, values, n_scored, estimate)


def _merged(task_setting: Setting, setting: Setting) -> Setting:
    common = task_setting.keys() & setting.keys()
    if common:
        raise InputError(
            f"a measurement repeats {sorted(common)} of its task's setting: leave it out there."
        )
    return {**task_setting, **setting}


def _group_key(setting: Setting, measure: str) -> str:
    return Task({**setting}).key + measure
