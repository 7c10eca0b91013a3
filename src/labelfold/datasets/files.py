"""From the name of a public data file to its checked content.

The user has the files in one directory, given as `data_home` or by the environment variable
LABELFOLD_DATA. A file is taken only if it is the one expected: by the SHA-256 of the gzip file, or
by that of its content, since two gzip files of one and the same content differ.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

DATA_VARIABLE = "LABELFOLD_DATA"


@dataclass(frozen=True)
class DataFile:
    """One gzip file of a data set, how to recognise it and where it comes from.

    Parameters
    ----------
    name : str
        Name of the file.

    sha256 : str
        Checksum of the file.

    content_sha256 : str
        Checksum of the file's unpacked content.

    origin : str
        Sentence that tells a user how to get the file.
    """

    name: str
    sha256: str
    content_sha256: str
    origin: str

    def read(self, data_home: str | os.PathLike[str] | None = None) -> bytes:
        """Unpacked content of the file, once its checksum is right."""
        path = self._find(data_home)
        packed = path.read_bytes()
        found = _sha256(packed)
        try:
            content = gzip.decompress(packed)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{path} is no complete gzip file ({error}): its SHA-256 is {found}, expected is "
                f"{self.sha256}. {self.origin}"
            ) from error
        found_content = _sha256(content)
        if found != self.sha256 and found_content != self.content_sha256:
            raise ValueError(
                f"{path} is not the file expected: its SHA-256 is {found}, expected is "
                f"{self.sha256}; unpacked it is {found_content}, expected is "
                f"{self.content_sha256}. {self.origin}"
            )
        return content

    def _find(self, data_home: str | os.PathLike[str] | None) -> Path:
        directory, named_by = _directory(data_home)
        if directory is None:
            raise FileNotFoundError(
                f"{self.name} was not looked for, as no directory was named: pass data_home or set "
                f"the environment variable {DATA_VARIABLE}. {self.origin}"
            )
        if not directory.is_dir():
            raise FileNotFoundError(
                f"{self.name} was looked for in {directory}, named by {named_by}, which is not a "
                f"directory. {self.origin}"
            )
        path = directory / self.name
        if not path.is_file():
            raise FileNotFoundError(
                f"{self.name} is not in {directory}, named by {named_by}. {self.origin}"
            )
        return path


def _directory(data_home: str | os.PathLike[str] | None) -> tuple[Path | None, str]:
    if data_home is not None:
        return Path(data_home).expanduser(), "data_home"
    value = os.environ.get(DATA_VARIABLE)
    return (Path(value).expanduser() if value else None), DATA_VARIABLE


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
