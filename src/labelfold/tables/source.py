"""From a path or standard input to bytes: unpacked, and with the format they are in.

Gzip, zstd and binary formats are recognized by content, text by the ending of the name.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from labelfold.exceptions import InputError
from labelfold.memory import available_memory
from labelfold.tables.frames import pa

__all__ = ["FORMATS", "Source", "format_of_name", "naming", "open_source", "to_buffer"]

STANDARD_INPUT = "-"
CHUNK = 2**22  # bytes unpacked at once
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "excel": (".xlsx", ".xlsm"),
    "npy": (".npy",),
    "npz": (".npz",),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "idx": (".idx", "-ubyte"),
}
TEXT = ("csv", "tsv", "jsonl", "svmlight")
# How bytes begin, as regular expressions.
PACKED = {rb"\x1f\x8b": "gzip", rb"\x28\xb5\x2f\xfd": "zstd"}
MAGIC = {
    rb"\x93NUMPY": "npy",
    rb"PAR1": "parquet",
    rb"ARROW1|\xff{4}": "arrow",  # the second begins a stream
    rb"\0\0\x08[\1-\4]": "idx",
    rb"(?s)PK.*\.npy": "npz",
    rb"PK": "excel",
}
# For text whose name gives no format, such as standard input.
TEXT_STARTS = {rb"\s*\[?\{": "jsonl", rb"\s*\S+([ \t]+\d+:\S+)+[ \t]*\r?(\n|#|$)": "svmlight"}


@dataclass(frozen=True)
class Source:
    """Bytes of a file or of standard input.

    `origin` is the name for messages, `form` one of `FORMATS`, and `content` the name of a plain
    file, or an Arrow buffer of unpacked bytes.
    """

    origin: str
    form: str
    content: Any

    def open(self) -> Any:
        """Return a stream at the first byte, for pyarrow and for Python."""
        is_path = isinstance(self.content, str)
        return pa.OSFile(self.content) if is_path else pa.BufferReader(self.content)


def to_buffer(content: bytes) -> Any:
    """Copy bytes into memory of Arrow's own.

    A thread of Arrow that lets go of Python's memory while the interpreter ends aborts the program
    (apache/arrow issue 34314).
    """
    stream = pa.BufferOutputStream()
    stream.write(content)
    return stream.getvalue()


@contextmanager
def naming(origin: str) -> Iterator[None]:
    """Put the name of a file, or of a part of it, before the messages of InputErrors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{origin}: {error}") from error


def open_source(path: str | os.PathLike[str], form: str | None = None) -> Source:
    """Find the bytes behind a path, or behind "-" for standard input, and their format."""
    name = os.fspath(path)
    origin = name if name.isprintable() else repr(name)
    if form not in (None, *FORMATS):
        raise InputError(f"--format {form} is unknown: choose from {', '.join(FORMATS)}.")
    if name == STANDARD_INPUT:
        name, origin = "", "standard input"
    with naming(origin), _open_stream(name) as stream:
        head, content = stream.peek(4096)[:4096], name
        packing = _find(head, PACKED)
        if packing or not os.path.isfile(name):  # a pipe can be read only once
            content = _unpack(stream, packing)
            head = content[:4096].to_pybytes()
        if not head:
            raise InputError("the file is empty: expected one line per row.")
        form = form or _find(head, MAGIC) or format_of_name(name) or _find(head, TEXT_STARTS)
        if form in (None, *TEXT) and b"\0" in head:
            raise InputError(f"binary data: give {', '.join(FORMATS)}, text in UTF-8.")
        return Source(origin, form or "csv", content)


def format_of_name(name: str) -> str | None:
    """Return the format that a file name gives, with or without .gz or .zst, or None."""
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    return next((form for form, endings in FORMATS.items() if plain.endswith(endings)), None)


def _find(head: bytes, patterns: dict[bytes, str]) -> str | None:
    """Return what the first of the patterns that the bytes begin with stands for."""
    return next((what for pattern, what in patterns.items() if re.match(pattern, head)), None)


def _open_stream(name: str) -> Any:
    if name:
        try:
            return open(name, "rb")
        except (OSError, ValueError) as error:  # ValueError for a name that no file can have
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{reason}: check the name of the file.") from error
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise InputError("closed or a terminal: name a file instead of '-'.")
    stream: Any = sys.stdin.buffer
    return nullcontext(stream if hasattr(stream, "peek") else io.BufferedReader(stream))


def _unpack(stream: Any, packing: str | None) -> Any:
    """Read a stream to its end, but not beyond a limit: a small file can unpack to a huge one."""
    limit = available_memory() // 2  # a growing buffer may be copied
    content = pa.BufferOutputStream()
    try:
        unpacked = pa.input_stream(stream, compression=packing)
        while chunk := unpacked.read(CHUNK):
            content.write(chunk)
            if content.tell() > limit:
                raise InputError(f"more than {limit:,} bytes, half of memory: unpack it to disk.")
    except OSError as error:
        if packing is None:
            raise
        title = f"a damaged or incomplete {packing} file ({error})"
        raise InputError(f"{title}: get or make it again.") from error
    return content.getvalue()
