"""Progress of long work: solvers and searches report, and the caller decides what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Progress", "report_nothing", "show_progress"]


class Progress(Protocol):
    """What long work calls: ``progress("eigenpairs", 120, note="residual 3e-5")``."""

    def __call__(self, stage: str, done: int, total: int | None = None, note: str = "") -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""


def report_nothing(stage: str, done: int, total: int | None = None, note: str = "") -> None:
    """Report progress to nobody."""


@contextmanager
def show_progress(verbose: int) -> Iterator[Progress]:
    """Yield a reporter that draws one tqdm bar per stage on stderr if ``verbose`` is positive."""
    if not verbose:
        yield report_nothing
        return
    from tqdm import tqdm

    current, bar = "", None

    def report(stage: str, done: int, total: int | None = None, note: str = "") -> None:
        nonlocal current, bar
        if stage != current or bar is None:
            if bar is not None:
                bar.close()
            current, bar = stage, tqdm(desc=stage, total=total)
        bar.total = total
        bar.set_postfix_str(note, refresh=False)
        bar.update(done - bar.n)

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()
