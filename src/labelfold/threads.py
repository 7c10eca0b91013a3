"""One place where ``n_jobs`` becomes a bound on every thread pool that a fit touches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

__all__ = ["limit_threads"]


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
        raise ValueError("n_jobs=0 has no meaning: give 1 or more, -1 for all cores, or None.")
    with threadpool_limits(limits=effective_n_jobs(n_jobs), user_api=user_api):
        yield
