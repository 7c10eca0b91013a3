"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["replacing", "synchronize", "temporary_name"]


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a stream whose bytes become the file at ``path`` when the block ends without an error.

    They are written under a temporary name in the same folder, synchronized to disk and renamed.
    An error, Ctrl-C or a power cut before that leaves the old file, or none.

    Parameters
    ----------
    path : Path
        The file, which need not exist. A symbolic link is followed.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} is in a folder that does not exist: make it first.")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is a device or a pipe, not a file: name a file.")
    temporary = temporary_name(target)
    try:
        with open(temporary, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    synchronize(target.parent)


def temporary_name(target: Path) -> Path:
    """Return a new name in the folder of a file, to be renamed to it."""
    return target.with_name(f".labelfold-{secrets.token_hex(8)}.tmp")


def synchronize(folder: Path) -> None:
    """Make a rename in a folder survive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
