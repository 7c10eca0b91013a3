"""From the name of a public data file to its checked content.

The user has the files in one directory, given as `data_home` or by the environment variable
LABELFOLD_DATA, or asks for a download. A file is taken only if it is the one expected: by the
SHA-256 of the gzip file, or by that of its content, since two gzip files of one and the same
content differ. In a table of numbers the kind of blanks and line ends makes no difference either.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

from sklearn.datasets import fetch_file

from labelfold.exceptions import InputError

DATA_VARIABLE = "LABELFOLD_DATA"


@dataclass(frozen=True)
class DataFile:
    """One file of a data set, packed with gzip or plain, and how to recognise and to get it.

    Parameters
    ----------
    name : str
        Name of the gzip file, `.gz` included; the plain file is named the same without it.

    sha256 : str or None
        Checksum of the gzip file; None if no such file is known, and the content alone counts.

    content_sha256 : str
        Checksum of the content: of the plain file.

    origin : str
        Sentence that tells a user how to get the file by hand.

    url : str or None, default=None
        Where `download=True` fetches the file, plain or as gzip file (when it ends in `.gz`).
        None if the file can only be got by hand.

    blanks_matter : bool, default=True
        False for a table in text: its content is then read, compared and returned with one space
        between the words, one line feed after each line and no empty lines.
    """

    name: str
    sha256: str | None
    content_sha256: str
    origin: str
    url: str | None = None
    blanks_matter: bool = True

    @property
    def plain_name(self) -> str:
        """Name of the file when it is not packed."""
        return self.name.removesuffix(".gz")

    def read(
        self, data_home: str | os.PathLike[str] | None = None, *, download: bool = False
    ) -> bytes:
        """Unpacked content of the file, once its checksum is right.

        A file that is there is never replaced: `download` has an effect only if it is missing.
        """
        directory, named_by = _directory(data_home)
        path = self._find(directory)
        if path is not None:
            return self._content(path)
        if download and self.url is not None and _can_take_files(directory):
            return self._download(self.url, directory)
        raise FileNotFoundError(self._missing(directory, named_by))

    def _find(self, directory: Path | None) -> Path | None:
        if directory is None:
            return None
        paths = (directory / self.name, directory / self.plain_name)
        return next((path for path in paths if path.is_file()), None)

    def _missing(self, directory: Path | None, named_by: str) -> str:
        way_out = self.origin
        if self.url is not None and _can_take_files(directory):
            way_out = f"Pass download=True to fetch it from {self.url}. {self.origin}"
        if directory is None:
            return (
                f"{self.name} was not looked for, as no directory was named: pass data_home or set "
                f"the environment variable {DATA_VARIABLE}. {way_out}"
            )
        if not directory.is_dir():
            return (
                f"{self.name} was looked for in {directory}, named by {named_by}, which is not a "
                f"directory. {way_out}"
            )
        return (
            f"{self.name} is not in {directory}, named by {named_by}, nor is {self.plain_name}. "
            f"{way_out}"
        )

    def _download(self, url: str, directory: Path | None) -> bytes:
        """Fetch the file into the directory, or into scikit-learn's data home if there is none."""
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        name = self.name if url.endswith(".gz") else self.plain_name
        try:
            path = Path(fetch_file(url, folder=directory, local_filename=name))
        except (URLError, ConnectionError, TimeoutError, HTTPException) as error:
            raise ConnectionError(
                f"{url} could not be downloaded ({error}). {self.origin}"
            ) from error
        try:
            return self._content(path)
        except ValueError as error:
            # Left where it is, it would be found and refused again instead of a new download.
            path.unlink(missing_ok=True)
            raise InputError(f"What was downloaded from {url} was removed: {error}") from error

    def _content(self, path: Path) -> bytes:
        """Content of the file at `path`; the name tells whether it is packed."""
        if path.name == self.name:
            return self._unpacked(path)
        content = self._in_order(path.read_bytes())
        found = _sha256(content)
        if found != self.content_sha256:
            form = "" if self.blanks_matter else " with one space between words"
            raise InputError(
                f"{path} is not the file expected: its SHA-256{form} is {found}, expected is "
                f"{self.content_sha256}. {self.origin}"
            )
        return content

    def _unpacked(self, path: Path) -> bytes:
        packed = path.read_bytes()
        found = _sha256(packed)
        try:
            content = self._in_order(gzip.decompress(packed))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(
                f"{path} is no complete gzip file ({error}): its SHA-256 is {found}, expected is "
                f"{self._packed_sha256}. {self.origin}"
            ) from error
        found_content = _sha256(content)
        if found != self.sha256 and found_content != self.content_sha256:
            raise InputError(
                f"{path} is not the file expected: its SHA-256 is {found}, expected is "
                f"{self._packed_sha256}; unpacked it is {found_content}, expected is "
                f"{self.content_sha256}. {self.origin}"
            )
        return content

    @property
    def _packed_sha256(self) -> str:
        return self.sha256 or "none in particular"

    def _in_order(self, content: bytes) -> bytes:
        if self.blanks_matter:
            return content
        lines = (line.split() for line in content.splitlines())
        return b"".join(b" ".join(words) + b"\n" for words in lines if words)


def _directory(data_home: str | os.PathLike[str] | None) -> tuple[Path | None, str]:
    if data_home is not None:
        return Path(data_home).expanduser(), "data_home"
    value = os.environ.get(DATA_VARIABLE)
    return (Path(value).expanduser() if value else None), DATA_VARIABLE


def _can_take_files(directory: Path | None) -> bool:
    return directory is None or directory.is_dir() or not directory.exists()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
