"""Progress of long work: solvers and searches report, and whoever called decides what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ["Progress", "report_nothing", "show_progress"]


class Progress(Protocol):
    """What long work calls: ``progress("eigenpairs", 120, note="residual 3e-5")``."""

    def __call__(self, stage: str, done: int, total: int | None = None, note: str = "") -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""


def report_nothing(stage: str, done: int, total: int | None = None, note: str = "") -> None:
    """Report progress to nobody."""


@contextmanager
def show_progress(verbose: int) -> Iterator[Progress]:
    """Yield a reporter that draws one bar a stage on stderr when ``verbose`` is positive."""
    if not verbose:
        yield report_nothing
        return
    bars = _Bars()
    try:
        yield bars
    finally:
        bars.close()


class _Bars:
    """Draw the current stage as a tqdm bar; a new stage closes the bar before it."""

    def __init__(self) -> None:
        self._stage: str | None = None
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int | None = None, note: str = "") -> None:
        if stage != self._stage:
            from tqdm import tqdm

            self.close()
            self._stage = stage
            self._bar = tqdm(desc=stage, total=total, leave=True)
        self._bar.total = total
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._stage = self._bar = None
