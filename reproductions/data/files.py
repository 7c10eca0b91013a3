"""From the name of a public data file to its checked content.

The user has the files in one folder, given as `data_home` or by the environment variable
LABELFOLD_DATA, plain or packed with gzip. A file is taken only if the SHA-256 of its content is the
one expected, so loaders need not check it further.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from labelfold.exceptions import InputError

DATA_VARIABLE = "LABELFOLD_DATA"


@dataclass(frozen=True)
class DataFile:
    """One file of a data set, and how to recognize and to get it."""

    name: str  # of the plain file; packed with gzip it ends in .gz
    sha256: str  # of the plain content
    origin: str  # sentence that says how to get the file
    # For a table in text: compared and returned with one space between words, without empty lines.
    has_free_blanks: bool = False

    def read(self, data_home: str | os.PathLike[str] | None = None) -> bytes:
        """Return the unpacked content of the file, once its checksum is right."""
        folder = data_home or os.environ.get(DATA_VARIABLE)
        if not folder:
            raise FileNotFoundError(
                f"{self.name}: no data folder. Pass data_home or set the environment variable "
                f"{DATA_VARIABLE}. {self.origin}"
            )
        plain = Path(folder).expanduser() / self.name
        for path in (plain.with_name(f"{self.name}.gz"), plain):
            if path.is_file():
                return self._check(path)
        raise FileNotFoundError(
            f"Neither {self.name}.gz nor {self.name} is in {plain.parent}. {self.origin}"
        )

    def _check(self, path: Path) -> bytes:
        content = path.read_bytes()
        if path.suffix == ".gz":
            try:
                content = gzip.decompress(content)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise InputError(f"{path} is not a gzip file: {error}. {self.origin}") from error
        if self.has_free_blanks:
            lines = (line.split() for line in content.splitlines())
            content = b"".join(b" ".join(words) + b"\n" for words in lines if words)
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise InputError(
                f"{path} is not the expected file: the SHA-256 of its content is {found}, not "
                f"{self.sha256}. {self.origin}"
            )
        return content
