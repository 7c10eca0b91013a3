"""Matrices that would not fit into memory, refused before they are made."""

from __future__ import annotations

import numpy as np

from labelfold.cli.tables.errors import TableError
from labelfold.memory import available_memory


def refuse_beyond_memory(n_rows: int, n_columns: int, origin: str) -> None:
    """Refuse a dense matrix of float64 that is larger than the available memory."""
    needed = n_rows * n_columns * np.dtype(np.float64).itemsize
    available = available_memory()
    if needed > available:
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
