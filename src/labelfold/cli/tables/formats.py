"""Which format a file has: by its name or as asked for, and always checked against its content."""

from __future__ import annotations

import re
from pathlib import PurePath

from labelfold.cli.tables.errors import TableError
from labelfold.cli.tables.source import GZIP_MAGIC, Source

# What the content of each format looks like.
CONTENT = {
    "csv": "text",
    "tsv": "text",
    "svmlight": "text",
    "parquet": "a Parquet file",
    "npy": "a NumPy array",
    "npz": "a zip archive",
    "idx": "an idx file",
}
FORMATS = tuple(CONTENT)
EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".idx": "idx",
}
IDX_NAME = re.compile(r"idx[1-4](-ubyte)?$")

MAGIC = {
    b"\x93NUMPY": CONTENT["npy"],
    b"PK\x03\x04": CONTENT["npz"],
    b"PK\x05\x06": CONTENT["npz"],
    b"PAR1\x15": CONTENT["parquet"],
    b"\0\0\x08": CONTENT["idx"],
}
# Files of other kinds that people have, and what to do with them.
FOREIGN = {
    GZIP_MAGIC: ("gzip inside gzip", "unpack it once"),
    b"\x89PNG": ("a PNG picture", "give the pixels as a table, an image a row"),
    b"\xff\xd8\xff": ("a JPEG picture", "give the pixels as a table, an image a row"),
    b"GIF87a": ("a GIF picture", "give the pixels as a table, an image a row"),
    b"GIF89a": ("a GIF picture", "give the pixels as a table, an image a row"),
    b"%PDF-": ("a PDF document", "export its table as CSV"),
    b"\xd0\xcf\x11\xe0": ("an Excel or other Office file", "save it as CSV (UTF-8)"),
    b"\x89HDF": ("an HDF5 file", "save its matrix as NPY or Parquet"),
    b"MATLAB 5.0 MAT-file": ("a MATLAB file", "save its matrix as CSV or NPY"),
    b"ARROW1\0": ("an Arrow or Feather file", "save it as Parquet"),
    b"SQLite format 3\0": ("an SQLite database", "export its table as CSV"),
    b"BZh91AY": ("packed with bzip2", "unpack it, or pack it with gzip"),
    b"\xfd7zXZ": ("packed with xz", "unpack it, or pack it with gzip"),
    b"\x28\xb5\x2f\xfd": ("packed with zstd", "unpack it, or pack it with gzip"),
    b"\xff\xfe": ("text in UTF-16", "convert it with: iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "convert it with: iconv -f UTF-16 -t UTF-8"),
}
# A label, then pairs index:value and nothing else.
SVMLIGHT_LINE = re.compile(rb"[-+.\w]+(?:[ \t]+\w+:[-+.\w]+)+[ \t]*(?:#.*)?\r?")
HEAD = 4096


def find_format(source: Source, wanted: str | None = None) -> str:
    """Return the format of a source.

    Parameters
    ----------
    source : Source
        The bytes and their name.

    wanted : str, default=None
        One of `FORMATS`, from the person; by default the ending of the name decides (before
        `.gz`), and where that says nothing, the content.

    Raises
    ------
    TableError
        If the content is not of that format.
    """
    if wanted is not None and wanted not in FORMATS:
        raise TableError(f"--format {wanted} is unknown: choose from {', '.join(FORMATS)}.")
    head = source.head(HEAD)
    if not head:
        raise TableError(f"{source.origin} is empty: give a file with a row of numbers a point.")
    content = _content(head, source.origin)
    stated = wanted or format_of_name(source.name)
    if stated is None:
        return _format_of_content(content, head)
    if content != CONTENT[stated]:
        said_by = f"--format {stated}" if wanted else "its name"
        found = _format_of_content(content, head)
        raise TableError(
            f"{source.origin} holds {content}, and {said_by} says {stated}: pass --format {found}, "
            "or the file that you meant."
        )
    return stated


def format_of_name(name: str) -> str | None:
    """Return the format that a file name tells, with or without `.gz`, or None."""
    plain = name.lower().removesuffix(".gz")
    if IDX_NAME.search(plain):
        return "idx"
    return EXTENSIONS.get(PurePath(plain).suffix)


def _content(head: bytes, origin: str) -> str:
    for magic, (kind, advice) in FOREIGN.items():
        if head.startswith(magic):
            raise TableError(f"{origin} is {kind}: {advice}.")
    for magic, content in MAGIC.items():
        if head.startswith(magic):
            return content
    if b"\0" in head:
        raise TableError(
            f"{origin} holds binary data of no known kind: give one of {', '.join(FORMATS)}."
        )
    return "text"


def _format_of_content(content: str, head: bytes) -> str:
    if content == "text":
        # The last line may be cut.
        first = head.split(b"\n", 1)[0]
        return "svmlight" if SVMLIGHT_LINE.fullmatch(first) else "csv"
    return next(name for name, expected in CONTENT.items() if expected == content)
