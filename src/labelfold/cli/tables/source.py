"""From a path or standard input to bytes that can be read from the start as often as needed.

Gzip is recognised by content and unpacked on the way. No more than `max_bytes` are ever unpacked:
a small file that unpacks to a huge one stops early.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.memory import in_words
from labelfold.memory import available_memory

STANDARD_INPUT = "-"
GZIP_MAGIC = b"\x1f\x8b"
DEFAULT_MAX_BYTES = 8 * 2**30
PIECE = 2**20


@dataclass(frozen=True)
class Source:
    """Bytes of a file or of standard input, unpacked.

    Parameters
    ----------
    origin : str
        Name for messages.

    name : str
        File name, whose ending may tell the format; empty for standard input.

    max_bytes : int
        Number of bytes beyond which reading stops.

    path : Path or None
        The file, if it can be opened more than once.

    content : bytes
        What was read, still packed, if it can not.

    is_packed : bool
        Whether the bytes are a gzip file.
    """

    origin: str
    name: str
    max_bytes: int
    path: Path | None
    content: bytes
    is_packed: bool

    def open(self) -> IO[bytes]:
        """Return a stream at the first byte; that of a gzip file cannot go back."""
        stream: IO[bytes] = io.BytesIO(self.content) if self.path is None else self.path.open("rb")
        return io.BufferedReader(_Unpacked(stream, self), PIECE) if self.is_packed else stream

    def open_seekable(self) -> IO[bytes]:
        """Return a stream that can go back; what was packed is then held in memory."""
        return io.BytesIO(self.read()) if self.is_packed else self.open()

    def read(self) -> bytes:
        """Return all bytes."""
        with self.open() as stream:
            return _read_up_to(stream, self.max_bytes, self.origin)

    def head(self, n_bytes: int) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(n_bytes)


def open_source(source: str | os.PathLike[str], max_bytes: int = DEFAULT_MAX_BYTES) -> Source:
    """Find the bytes behind a path, or behind "-" for standard input.

    Raises
    ------
    TableError
        If there is nothing that can be read, or too much.
    """
    if os.fspath(source) == STANDARD_INPUT:
        return _from_stream(_standard_input(), "standard input", "", max_bytes)
    path = Path(source)
    origin = str(path) if str(path).isprintable() else repr(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise TableError(f"{origin} is a folder: name a file in it.")
        if not stat.S_ISREG(status.st_mode):  # a pipe gives its bytes but once
            with path.open("rb") as stream:
                return _from_stream(stream, origin, path.name, max_bytes)
        if status.st_size > max_bytes:
            raise _too_large(origin, max_bytes)
        with path.open("rb") as stream:
            is_packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    except (OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"{origin}: {reason}: check the name of the file.") from error
    return Source(origin, path.name, max_bytes, path, b"", is_packed)


def _standard_input() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise TableError("standard input is closed: name a file instead of '-'.")
    if sys.stdin.isatty():
        raise TableError("standard input is a terminal: name a file, or pipe one into '-'.")
    return sys.stdin.buffer


def _from_stream(stream: IO[bytes], origin: str, name: str, max_bytes: int) -> Source:
    content = _read_up_to(stream, max_bytes, origin)
    return Source(origin, name, max_bytes, None, content, content[:2] == GZIP_MAGIC)


def _read_up_to(stream: IO[bytes], max_bytes: int, origin: str) -> bytes:
    pieces, n_bytes = [], 0
    available = available_memory()
    while piece := stream.read(PIECE):
        n_bytes += len(piece)
        if n_bytes > max_bytes:
            raise _too_large(origin, max_bytes)
        if 2 * n_bytes > available:  # joining needs it twice
            raise TableError(
                f"{origin}: more than {in_words(n_bytes)} and no end, where {in_words(available)} "
                "of memory were free: unpack the file to disk, or take fewer rows."
            )
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(origin: str, max_bytes: int) -> TableError:
    return TableError(
        f"{origin}: more than the limit of {in_words(max_bytes)}: take fewer rows or columns, or "
        "raise the limit with --max-bytes if you trust the file."
    )


class _Unpacked(io.RawIOBase):
    """The content of a gzip stream, up to a limit; what is wrong with it is a TableError."""

    def __init__(self, packed: IO[bytes], source: Source) -> None:
        self._packed = packed
        self._unpacked = gzip.GzipFile(fileobj=packed)
        self._source = source
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            piece = self._unpacked.read(len(buffer))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise TableError(
                f"{self._source.origin} is a damaged or incomplete gzip file ({error}): get or "
                "make it again."
            ) from error
        self._n_bytes += len(piece)
        if self._n_bytes > self._source.max_bytes:
            raise _too_large(self._source.origin, self._source.max_bytes)
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._unpacked.close()
        self._packed.close()
        super().close()
