"""What a comparison found: a record for each fit, a summary for each method and dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from labelfold.intervals import LEVEL, student_interval, wilson_interval
from labelfold.plotting.comparison_display import ComparisonDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "FitRecord", "MethodSummary"]


@dataclass(frozen=True)
class FitRecord:
    """One method with one dimension on one split.

    Parameters
    ----------
    method : str
        Name of the method.
    dimension : int
        Dimension of the map.
    split : int
        Number of the split.
    status : {"ok", "unsuitable", "failed"}
        Whether there is a result; "unsuitable" where the method cannot do what was asked, "failed"
        where an exception was raised.
    error : float
        Share of the rows with hidden labels that got another class; NaN without a result.
    n_scored : int
        Number of these rows.
    seconds : float
        Time of the embedding, without the head; NaN without a result.
    peak_memory : float
        Most memory, in MiB, that the embedding held at a time beyond what was held before. It is
        measured for the first split, and NaN for the others.
    reason : str
        Why there is no result: a sentence, or type and first line of the exception.
    """

    method: str
    dimension: int
    split: int
    status: str
    error: float
    n_scored: int
    seconds: float
    peak_memory: float
    reason: str = ""


@dataclass(frozen=True)
class MethodSummary:
    """One method with one dimension over all splits.

    Parameters
    ----------
    method : str
        Name of the method.
    dimension : int
        Dimension of the map.
    status : {"ok", "partly", "unsuitable", "failed"}
        "partly" where some splits have a result and some have none.
    error : float
        Mean error over the splits that have a result; NaN where none has.
    low, high : float
        Ends of the 80 % interval, within 0 and 1; NaN without a result.
    n_splits : int
        Number of splits with a result.
    seconds : float
        Median over these splits, so that a library loaded in the first fit does not count.
    peak_memory : float
        That of the first split, in MiB; NaN where it was not measured.
    reason : str
        Why splits have no result, for the first of them.
    """

    method: str
    dimension: int
    status: str
    error: float
    low: float
    high: float
    n_splits: int
    seconds: float
    peak_memory: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of :func:`compare`; ``print`` shows them as a table.

    Parameters
    ----------
    records : tuple of FitRecord
        One row for each method, dimension and split, in this order.
    protocol : {"transductive", "inductive"}
        Whether the scored rows were in the fit, without their labels.
    head : str
        Name of the head.
    chance : float
        Error of always naming the largest class.
    """

    records: tuple[FitRecord, ...] = field(repr=False)
    protocol: str
    head: str
    chance: float

    def summary(self) -> list[MethodSummary]:
        """Return one row for each method and dimension, in the order in which they were given.

        Returns
        -------
        list of MethodSummary
            With several splits the interval is Student's for the mean over splits, with one it is
            Wilson's for the rows that were scored. ``pandas.DataFrame`` takes the list as it is.
        """
        groups: dict[tuple[str, int], list[FitRecord]] = {}
        for record in self.records:
            groups.setdefault((record.method, record.dimension), []).append(record)
        return [_summarise(group) for group in groups.values()]

    def to_frame(self) -> Any:
        """Return the records as a table of pandas.

        Returns
        -------
        pandas.DataFrame
            One row for each record, one column for each of its fields.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install 'labelfold[io]', or use records as they are."
            ) from error
        return pd.DataFrame([asdict(record) for record in self.records])

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> ComparisonDisplay:
        """Draw errors against the dimension, a line a method; bars for a single dimension.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. By default a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        ComparisonDisplay
            The display, drawn, with `ax_` and `figure_`. Upright strokes, or those on bars, are
            80 % intervals; the dashed line, where in reach, is the error of always naming the
            largest class.
        """
        return ComparisonDisplay.from_comparison(self, ax=ax, **kwargs)

    def __str__(self) -> str:
        rows = self.summary()
        width = max(len("method"), *(len(row.method) for row in rows))
        lines = [
            f"Error on hidden labels ({self.protocol}, head {self.head}), mean over "
            f"{len({record.split for record in self.records})} splits with {LEVEL:.0%} intervals; "
            f"by guessing {self.chance:.1%}",
            f"{'method':<{width}}  dim   error      interval   seconds      MiB",
        ]
        for row in rows:
            start = f"{row.method:<{width}}  {row.dimension:>3}"
            if row.n_splits == 0:
                lines.append(f"{start}  {row.status}: {row.reason}")
                continue
            interval = f"{100 * row.low:.1f} - {100 * row.high:.1f}"
            memory = "" if np.isnan(row.peak_memory) else f"{row.peak_memory:.1f}"
            line = f"{start}  {row.error:>6.1%}  {interval:>12}  {row.seconds:>8.3g}  {memory:>7}"
            if row.status == "partly":
                line += f"  {row.n_splits} splits only: {row.reason}"
            lines.append(line.rstrip())
        return "\n".join(lines)


def _summarise(records: Sequence[FitRecord]) -> MethodSummary:
    scored = [record for record in records if record.status == "ok"]
    others = [record for record in records if record.status != "ok"]
    status = "ok" if not others else "partly" if scored else others[0].status
    error, low, high = _interval(scored)
    return MethodSummary(
        records[0].method,
        records[0].dimension,
        status,
        error,
        low,
        high,
        n_splits=len(scored),
        seconds=float(np.median([record.seconds for record in scored])) if scored else np.nan,
        peak_memory=records[0].peak_memory,
        reason=others[0].reason if others else "",
    )


def _interval(scored: Sequence[FitRecord]) -> tuple[float, float, float]:
    """Return the mean error and its interval: Student's over splits, Wilson's for a single one."""
    n = len(scored)
    if n == 0:
        return np.nan, np.nan, np.nan
    errors = [record.error for record in scored]
    mean = math.fsum(errors) / n
    if n == 1:
        return mean, *wilson_interval(mean, scored[0].n_scored)
    low, high = student_interval(errors)
    return mean, max(0.0, low), min(1.0, high)
