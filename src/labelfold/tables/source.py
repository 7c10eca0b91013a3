"""From a path or standard input to bytes: unpacked, and with the format they are in.

Gzip and zstd are recognized by content. Unpacking stops at a limit, since a small file can unpack
to a huge one.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any

from labelfold.exceptions import InputError
from labelfold.memory import available_memory
from labelfold.tables.frames import import_pyarrow

__all__ = ["FORMATS", "Source", "format_of_name", "naming", "open_source"]

STANDARD_INPUT = "-"
DEFAULT_MAX_BYTES = 8 * 2**30
CHUNK = 2**22  # bytes unpacked at once
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
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
    "idx": (".idx",),
}
TEXT = ("csv", "tsv", "jsonl", "svmlight")
IDX_NAME = re.compile(r"idx[1-4](-ubyte)?$")
MAGIC = {
    b"\x93NUMPY": "npy",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
    b"\0\0\x08": "idx",
}
VALUE = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
SVMLIGHT_LINE = re.compile(
    rb"(?:%s|[+-]?nan)(?:\s+qid:\d+)?(?:\s+\d{1,9}:%s)*\s*(?:#.*)?|\s*(?:#.*)?" % (VALUE, VALUE),
    re.DOTALL,
)


@dataclass(frozen=True)
class Source:
    """Bytes of a file or of standard input: a plain file by its path, others unpacked.

    `origin` is the name for messages, `form` one of `FORMATS`.
    """

    origin: str
    form: str
    path: Path | None
    content: bytes = b""

    def open(self) -> IO[bytes]:
        """Return a seekable stream at the first byte."""
        return io.BytesIO(self.content) if self.path is None else self.path.open("rb")

    def for_arrow(self) -> Any:
        """Return what pyarrow reads from: a file name, or the bytes."""
        return str(self.path) if self.path else import_pyarrow().BufferReader(self.content)


@contextmanager
def naming(origin: str) -> Iterator[None]:
    """Put the name of a file, or of a part of it, before the messages of InputErrors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{origin}: {error}") from error


def open_source(
    path: str | os.PathLike[str], max_bytes: int = DEFAULT_MAX_BYTES, form: str | None = None
) -> Source:
    """Find the bytes behind a path, or behind "-" for standard input, and their format.

    The format is `form` if it is given, or decided by the ending of the name (before .gz and .zst),
    or by the content if that says nothing.
    """
    name = "" if os.fspath(path) == STANDARD_INPUT else str(Path(path))
    origin = "standard input" if not name else name if name.isprintable() else repr(name)
    with naming(origin), _open_stream(name) as stream:
        head = stream.peek(4096)[:4096]
        if name and Path(name).is_file() and _packing(head) is None:  # a pipe is read only once
            return Source(origin, _find_format(head, name, form), Path(name))
        content = _unpack(stream, max_bytes)
        return Source(origin, _find_format(content[:4096], name, form), None, content)


def format_of_name(name: str) -> str | None:
    """Return the format that a file name gives, with or without .gz or .zst, or None."""
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    if IDX_NAME.search(plain):
        return "idx"
    ending = PurePath(plain).suffix
    return next((form for form, endings in FORMATS.items() if ending in endings), None)


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


def _find_format(head: bytes, name: str, wanted: str | None) -> str:
    """Return the format; the first bytes must agree with it as to whether it is text."""
    if wanted is not None and wanted not in FORMATS:
        raise InputError(f"--format {wanted} is unknown: choose from {', '.join(FORMATS)}.")
    if not head:
        raise InputError("the file is empty: expected one line per row.")
    content = _guess_format(head)
    form = wanted or format_of_name(name) or content
    if (form in TEXT) == (content in TEXT) and form in FORMATS:
        return form
    holds = "text" if content in TEXT else f"binary data ({content})"
    advice = f"pass --format {content}, or give" if content in FORMATS else "give"
    raise InputError(f"{holds} instead of {form}: {advice} {', '.join(FORMATS)}; text in UTF-8.")


def _guess_format(head: bytes) -> str:
    """Return the format that the first bytes look like, "unknown" for other binary data."""
    for magic, form in MAGIC.items():
        if head.startswith(magic):
            return form
    if head.startswith(b"PK"):
        return "npz" if b".npy" in head else "excel"
    if b"\0" in head or _packing(head):
        return "unknown"
    first = head.lstrip().split(b"\n", 1)[0]  # the last line may be cut
    if first.startswith((b"{", b"[{")):
        return "jsonl"
    has_pairs = b":" in first.partition(b"#")[0]
    return "svmlight" if has_pairs and SVMLIGHT_LINE.fullmatch(first) else "csv"


def _packing(head: bytes) -> str | None:
    return next((name for magic, name in PACKED.items() if head.startswith(magic)), None)


def _unpack(stream: Any, max_bytes: int) -> bytes:
    """Read a stream to its end, through gzip or zstd if it is packed."""
    pa = import_pyarrow()
    packing = _packing(stream.peek(4)[:4])
    if packing is not None:
        stream = pa.CompressedInputStream(pa.PythonFile(stream, "r"), packing)
    limit = min(max_bytes, available_memory() // 2)  # joining chunks needs memory twice
    chunks: list[bytes] = []
    n_bytes = 0
    try:
        while chunk := stream.read(CHUNK):
            n_bytes += len(chunk)
            if n_bytes > limit:
                raise InputError(
                    f"more than the limit of {limit:,} bytes: unpack it to disk, or raise "
                    "--max-bytes if memory allows."
                )
            chunks.append(chunk)
    except OSError as error:
        if packing is None:
            raise
        title = f"a damaged or incomplete {packing} file ({error})"
        raise InputError(f"{title}: get or make it again.") from error
    return b"".join(chunks)
