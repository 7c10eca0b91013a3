"""From the results of tasks to one row for each setting and measure, with an 80 % interval.

With several seeds the interval is Student's for the mean over seeds; with one run of an error rate
it is Wilson's binomial interval for the rows that were scored. The order in which results arrive
has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from labelfold.evaluate import student_interval, wilson_interval
from labelfold.exceptions import InputError
from reproductions.entry import Judgment, Measurement, Printed, Setting, Task, Unit, judge_if

LEVEL = 0.8  # of all intervals: that of CCDR-MC


@dataclass(frozen=True)
class TaskResult:
    """The result of a finished task: measurements, time and warnings."""

    task: Task
    measurements: tuple[Measurement, ...]
    seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimate:
    """A mean over runs and the ends of its interval, None if one run gives none."""

    mean: float
    low: float | None
    high: float | None
    n_runs: int
    method: str  # of the interval: "Student t", "Wilson" or "none"

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval, or the mean twice if there is none."""
        if self.low is None or self.high is None:
            return self.mean, self.mean
        return self.low, self.high


@dataclass(frozen=True)
class SummaryRow:
    """All measurements of one setting and measure."""

    setting: Setting  # the task's and the measurement's together
    measure: str
    unit: Unit
    values: Mapping[int | None, float]  # by seed
    n_scored: int | None  # in one run; None if unknown or not the same for all
    estimate: Estimate
    printed: Printed | None = None


@dataclass(frozen=True)
class Summary:
    """The rows of an entry, in the order of its tasks."""

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

    def values_of(self, name: str) -> list[str | int | float]:
        """Return the distinct values of one name in the settings, in the rows' order."""
        return list(dict.fromkeys(row.setting[name] for row in self.rows if name in row.setting))


def summarize(
    results: Iterable[TaskResult],
    *,
    printed: Sequence[Printed] = (),
    derive: Callable[[Summary], list[SummaryRow]] | None = None,
) -> Summary:
    """Group measurements in order, add derived rows, and match the printed numbers."""
    groups: dict[str, list[tuple[int | None, Setting, Measurement]]] = {}
    for result in results:
        for measurement in result.measurements:
            if repeated := result.task.setting.keys() & measurement.setting.keys():
                raise InputError(f"a measurement repeats {sorted(repeated)} of its task's setting.")
            setting = {**result.task.setting, **measurement.setting}
            seed = result.task.seed if measurement.draw is None else measurement.draw
            name = _group_key(setting, measurement.measure)
            groups.setdefault(name, []).append((seed, setting, measurement))
    rows = [_make_row(group) for group in groups.values()]
    if derive is not None:
        rows += derive(Summary(tuple(rows)))
    beside = {_group_key(item.setting, item.measure): item for item in printed}
    keys = [_group_key(row.setting, row.measure) for row in rows]
    return Summary(
        tuple(replace(row, printed=beside.get(key)) for row, key in zip(rows, keys, strict=True))
    )


def paired_difference(first: SummaryRow, second: SummaryRow) -> Estimate:
    """Return the mean over common seeds of the first row's values minus the second's."""
    seeds = [seed for seed in first.values if seed in second.values]
    return mean_over_seeds([first.values[seed] - second.values[seed] for seed in seeds])


def judge_below(difference: Estimate) -> Judgment:
    """Judge whether a difference is below zero: with its whole interval, or undecided."""
    low, high = difference.ends
    return judge_if(high < 0, low <= 0)


def mean_over_seeds(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's interval, mean -+ t(n - 1) s / sqrt(n)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return Estimate(mean, None, None, n, "none")
    return Estimate(mean, *student_interval(values, LEVEL), n, "Student t")


def _make_row(group: list[tuple[int | None, Setting, Measurement]]) -> SummaryRow:
    _, setting, first = group[0]
    values = {seed: float(measurement.value) for seed, _, measurement in group}
    if len(values) < len(group):
        raise InputError(f"{first.measure} of {dict(setting)} was measured twice for one seed.")
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


def _group_key(setting: Setting, measure: str) -> str:
    return Task(setting).key + measure
