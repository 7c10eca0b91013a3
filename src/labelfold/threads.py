"""One place where ``n_jobs`` becomes a bound on every thread pool that a fit touches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Self, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import threadpool_info, threadpool_limits

from labelfold.exceptions import InputError

__all__ = ["Team", "for_each", "limit_threads", "thread_limit"]

Part = TypeVar("Part")


@contextmanager
def limit_threads(n_jobs: int | None, *, user_api: str | None = None) -> Iterator[None]:
    """Bound BLAS and OpenMP pools to ``n_jobs`` threads, and restore them on leaving.

    Only libraries that are loaded by then can be bound: import first, then enter.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; negative counts back from all cores; None leaves the pools alone.
    user_api : {"blas", "openmp"}, default=None
        Bound just this kind of pool; None bounds both.
    """
    if n_jobs is None:
        yield
        return
    if n_jobs == 0:
        raise InputError("n_jobs=0 has no meaning: give 1 or more, -1 for all cores, or None.")
    with threadpool_limits(limits=effective_n_jobs(n_jobs), user_api=user_api):
        yield


def thread_limit() -> int:
    """Return how many threads BLAS may use just now: what own threads are bound to as well."""
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(pools, default=os.cpu_count() or 1)


def for_each(work: Callable[[Part], None], parts: Iterable[Part], n_threads: int) -> None:
    """Call ``work`` for every part, in threads.

    The threads are made here and gone afterwards, so that a process forked later has none.

    Parameters
    ----------
    work : callable
        Fills in its own part of some array; it gains from threads as far as it releases the
        interpreter lock, as NumPy's products and compiled kernels do.
    parts : iterable
        What it is called with.
    n_threads : int
        Number of threads; 1 works in the caller's.
    """
    if n_threads == 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(n_threads) as threads:
        for done in [threads.submit(work, part) for part in parts]:
            done.result()


class Team:
    """Threads that stay together for many short passes, and part on leaving the ``with`` block.

    Parameters
    ----------
    n_threads : int
        Number of threads; 1 works in the caller's.
    """

    def __init__(self, n_threads: int) -> None:
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    def each(self, work: Callable[[Part], None], parts: Sequence[Part]) -> None:
        """Call ``work`` for every part; a single one in the caller's thread."""
        if self._threads is None or len(parts) == 1:
            for part in parts:
                work(part)
            return
        for done in [self._threads.submit(work, part) for part in parts]:
            done.result()
