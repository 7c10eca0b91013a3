"""How much memory there is, asked before a matrix is made that would not fit."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from labelfold.cli.tables.errors import TableError

MEMORY_INFO = Path("/proc/meminfo")
# What a container may use, under the second and the first version of Linux's control groups.
CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory() -> int | None:
    """Return the number of bytes that can still be used, or None where the system does not say."""
    known = [_free_memory(), *(_number_in(path) for path in CONTAINER_LIMITS)]
    return min((number for number in known if number is not None), default=None)


def refuse_beyond_memory(n_rows: int, n_columns: int, origin: str) -> None:
    """Refuse a dense matrix of float64 that is larger than the available memory."""
    needed = n_rows * n_columns * np.dtype(np.float64).itemsize
    available = available_memory()
    if available is not None and needed > available:
        raise TableError(
            f"{origin}: {n_rows:,} rows and {n_columns:,} columns need {in_words(needed)} of "
            f"memory, and {in_words(available)} are free: take fewer columns with --features, "
            "fewer rows, or a sparse format (svmlight, sparse NPZ)."
        )


def in_words(n_bytes: int) -> str:
    """Return a number of bytes as people say it."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB" if size < 1000 else f"{size:,.0f} TB"


def _free_memory() -> int | None:
    try:
        # Counts what the system would give back, such as cached files; sysconf does not.
        found = re.search(r"^MemAvailable:\s+(\d+) kB", MEMORY_INFO.read_text(), re.MULTILINE)
    except OSError:
        found = None
    if found is not None:
        return 1024 * int(found[1])
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _number_in(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such group, or "max"
        return None
