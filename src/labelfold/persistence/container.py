"""The bytes of a model file: a zip of arrays that holds a checksum of itself.

It is a file of skops with one member more, ``labelfold.json``, and a last line, the zip's comment,
with the SHA-256 of all bytes before it. Nothing in it is compressed and every array is as long as
its header says, so that opening it takes memory in proportion to its size. Members have a fixed
date and numbers for names: the same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy

from labelfold.exceptions import InputError, ModelFileError

__all__ = ["MANIFEST", "SCHEMA", "opened", "write_container"]

MANIFEST = "labelfold.json"
SCHEMA = "schema.json"  # skops' name
SEAL = b"\nlabelfold sha256 "
DIGEST_LENGTH = 64
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can state
AT_ONCE = 2**20
PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))  # how they begin

HEADERS: dict[tuple[int, int], Callable[[Any], tuple[Any, bool, Any]]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


def write_container(stream: IO[bytes], manifest: dict[str, Any], members: zipfile.ZipFile) -> None:
    """Write a manifest and the members of a skops file, then the seal.

    Parameters
    ----------
    stream : binary file
        Empty, for reading and writing.
    manifest : dict
        What goes into ``labelfold.json``.
    members : ZipFile
        The skops file.
    """
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as file:
        _add(file, MANIFEST, json.dumps(manifest, indent=1).encode())
        schema, names = _renumbered(json.loads(members.read(SCHEMA)))
        _add(file, SCHEMA, json.dumps(schema, separators=(",", ":")).encode())
        for old, new in names.items():
            content = members.read(old)
            _add(file, new, _unpacked(content) if new.endswith(".npz") else content)
        file.comment = SEAL + b"0" * DIGEST_LENGTH
    stream.seek(-DIGEST_LENGTH, os.SEEK_END)
    digest = _digest(stream, stream.tell())
    stream.seek(-DIGEST_LENGTH, os.SEEK_END)
    stream.write(digest)
    with zipfile.ZipFile(stream) as file:
        _check_members(file, stream.seek(0, os.SEEK_END))  # nothing that would not be opened again


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file whose bytes are those that were written, and its members sound.

    Raises
    ------
    ModelFileError
        If the file is of another kind, cut short or altered.
    """
    with open(path, "rb") as stream:
        _check_seal(path, stream)
        try:
            file = zipfile.ZipFile(stream)
            _check_members(file, stream.seek(0, os.SEEK_END))
        except Exception as error:  # what a zip made to harm can raise is anybody's guess
            raise ModelFileError(f"{path} is not sound: {error}") from error
        with file:
            yield file


def _check_members(file: zipfile.ZipFile, size: int) -> None:
    """Refuse members that would unpack to more than is there.

    Parameters
    ----------
    file : ZipFile
        Opened for reading.
    size : int
        Number of bytes of the file.
    """
    members = file.infolist()
    for one in members:
        if one.compress_type != zipfile.ZIP_STORED or one.file_size != one.compress_size:
            raise InputError(f"its part {one.filename} is compressed.")
    if sum(one.file_size for one in members) > size:
        raise InputError("its parts claim more bytes than it has.")
    if len({one.filename for one in members}) < len(members):
        raise InputError("it has two parts of the same name.")
    for one in members:
        with file.open(one) as part:
            if one.filename.endswith(".npy"):
                _check_array(one.filename, part, one.file_size)
            elif one.filename.endswith(".npz"):
                with zipfile.ZipFile(part) as arrays:
                    _check_members(arrays, one.file_size)
            elif one.filename not in (MANIFEST, SCHEMA):
                raise InputError(f"its part {one.filename} is no array.")


def _check_array(name: str, part: IO[bytes], size: int) -> None:
    version = npy.read_magic(part)
    if version not in HEADERS:
        raise InputError(f"its array {name} is in version {version} of NumPy's format.")
    shape, _, dtype = HEADERS[version](part)
    if dtype.hasobject or part.tell() + math.prod(shape) * dtype.itemsize != size:
        raise InputError(f"its array {name} is not as long as it says.")


def _check_seal(path: Path, stream: IO[bytes]) -> None:
    start = stream.read(4)
    size = stream.seek(0, os.SEEK_END)
    sealed = size - DIGEST_LENGTH
    stream.seek(max(0, sealed - len(SEAL)))
    if stream.read(len(SEAL)) == SEAL:
        if _digest(stream, sealed) == stream.read():
            return
        raise ModelFileError(
            f"{path} is not as labelfold.save wrote it, some bytes were altered: copy it anew from "
            "where it came from."
        )
    if start[:2] in PICKLES:
        raise ModelFileError(
            f"{path} is a pickle, as joblib.dump writes it, and not a file of labelfold.save: "
            "opening it runs whatever code it holds, so only joblib.load does that."
        )
    if start != b"PK\x03\x04":
        raise ModelFileError(
            f"{path} is not a file that labelfold.save wrote: name one that it did, or make one."
        )
    if zipfile.is_zipfile(stream):
        raise ModelFileError(
            f"{path} is a zip, but not one that labelfold.save wrote, or its end is missing or was "
            "altered: name one that it did, or copy it anew from where it came from."
        )
    raise ModelFileError(f"{path} is cut short: copy it anew from where it came from.")


def _digest(stream: IO[bytes], size: int) -> bytes:
    """Return the checksum of the first bytes, and leave the stream behind them."""
    stream.seek(0)
    digest = hashlib.sha256()
    while size > 0:
        part = stream.read(min(AT_ONCE, size))
        digest.update(part)
        size -= len(part)
    return digest.hexdigest().encode()


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    file.writestr(zipfile.ZipInfo(name, DATE), content)


def _unpacked(content: bytes) -> bytes:
    """Return an npz file with nothing compressed."""
    plain = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(plain, "w") as new:
        for name in old.namelist():
            _add(new, name, old.read(name))
    return plain.getvalue()


def _renumbered(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Number objects and files in order of appearance; skops takes addresses in memory."""
    numbers: dict[int, int] = {}
    names: dict[str, str] = {}

    def renumber(value: Any) -> Any:
        if isinstance(value, list):
            return [renumber(one) for one in value]
        if not isinstance(value, dict):
            return value
        result = {key: renumber(one) for key, one in value.items()}
        if "__loader__" in value:
            if "__id__" in value:
                result["__id__"] = numbers.setdefault(value["__id__"], len(numbers) + 1)
            if "file" in value:
                name = f"{len(names) + 1}.{value['file'].rpartition('.')[2]}"
                result["file"] = names.setdefault(value["file"], name)
        return result

    return renumber(schema), names
