"""How much memory is free: on the machine, for this process and in its container.

Work that needs more is refused before it starts, since a system would kill it halfway.

A container is a control group of Linux, whose limit and use are files. Cached files count as used
there, but the kernel drops them when memory is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import psutil

from labelfold.exceptions import NotEnoughMemoryError

try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None  # type: ignore[assignment]

__all__ = ["available_memory", "require_memory"]

SMALL = 10**8  # bytes for which nobody looks up what is free

GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
# Folder, limit, use and the cached files in "memory.stat", for versions 2 and 1 of control groups.
LAYOUTS = {
    "": (".", "memory.max", "memory.current", "inactive_file"),
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def available_memory() -> int:
    """Return the number of bytes that this process can still use without swapping."""
    free = [psutil.virtual_memory().available, *_free_by_process_limit(), *_free_in_groups()]
    return max(0, int(min(free)))


def require_memory(needed: float, *, verbose: int = 0) -> None:
    """Raise NotEnoughMemoryError if work needs more bytes than are free.

    Parameters
    ----------
    needed : float
        Bytes. Below 100 MB nothing is looked up.
    verbose : int, default=0
        1 prints what is needed and what is free on stderr.
    """
    if needed < SMALL:
        return
    free = available_memory()
    if needed > free:
        raise NotEnoughMemoryError(
            f"This needs about {_in_words(needed)} of memory, and {_in_words(free)} are free: pass "
            "fewer rows, or float32 or float16 ones, or embed subsamples with ResampledEmbedding."
        )
    if verbose:
        print(f"Needs about {_in_words(needed)}, {_in_words(free)} free.", file=sys.stderr)


def _in_words(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def _free_by_process_limit() -> Iterator[int]:
    """Yield what ``ulimit -v`` leaves, if it is set."""
    if resource is None:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit - psutil.Process().memory_info().vms


def _free_in_groups() -> Iterator[int]:
    """Yield what is left of the limit of each control group that this process is in."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        for controller in {"", "memory"} & set(controllers.split(",")):
            folder, limit, use, cached = LAYOUTS[controller]
            place = PurePosixPath(path.lstrip("/"))
            # A container may see its own group as the root even if the path names another.
            for group in {place, *place.parents, PurePosixPath(".")}:
                yield from _free_in_group(GROUPS / folder / group, limit, use, cached)


def _free_in_group(group: Path, limit: str, use: str, cached: str) -> Iterator[int]:
    try:
        most, used = int((group / limit).read_text()), int((group / use).read_text())
    except (OSError, ValueError):  # no such group, or no limit: "max"
        return
    try:
        figures = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used -= int(figures.get(cached, 0))
    except (OSError, ValueError):
        pass
    yield most - used
