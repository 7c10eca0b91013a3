"""One place where ``n_jobs`` becomes a bound on every thread pool that a fit touches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Integral
from typing import Self, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import threadpool_info, threadpool_limits

from labelfold.exceptions import InputError

__all__ = ["ThreadPool", "for_each", "limit_threads", "thread_limit"]

Part = TypeVar("Part")
MOST_THREADS = 4096  # beyond any machine, and within the numbers of thread pools


@contextmanager
def limit_threads(n_jobs: int | None, *, user_api: str | None = None) -> Iterator[None]:
    """Bound BLAS and OpenMP pools to ``n_jobs`` threads, and restore them on leaving.

    Only libraries that are already loaded can be bound: import first, then enter.

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
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise InputError(f"n_jobs={n_jobs!r} must be an integer, or None.")
    if n_jobs > MOST_THREADS:
        raise InputError(
            f"n_jobs={n_jobs} is more than {MOST_THREADS} threads: give -1 for all cores."
        )
    if n_jobs == 0:
        raise InputError("n_jobs=0 has no meaning: give 1 or more, -1 for all cores, or None.")
    with threadpool_limits(limits=effective_n_jobs(n_jobs), user_api=user_api):
        yield


def thread_limit() -> int:
    """Return how many threads BLAS may use now; our own threads keep to the same bound."""
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(pools, default=os.cpu_count() or 1)


class ThreadPool:
    """Threads for many short passes, which end with the ``with`` block.

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
        """Call ``work`` for every part; a single one in the caller's thread.

        ``work`` fills in its own part of some array. It gains from threads as far as it releases
        the interpreter lock, as NumPy's products and compiled kernels do.
        """
        call_all = map if self._threads is None or len(parts) == 1 else self._threads.map
        for _ in call_all(work, parts):
            pass  # an error in a thread is raised here


def for_each(work: Callable[[Part], None], parts: Iterable[Part], n_threads: int) -> None:
    """Call ``work`` for every part in threads that end here: a process forked later has none."""
    with ThreadPool(n_threads) as pool:
        pool.each(work, list(parts))
