"""Output files that appear whole, at the end of the work, or not at all.

Each file is written under a temporary name in its own folder, synchronised to disk, and renamed
into place when all of them are complete. An error, Ctrl-C or a power cut before that leaves the old
file, or none.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from labelfold.exceptions import InputError
from labelfold.whole_file import synchronise, temporary_name


class OutputFiles:
    """The files a command writes, as a context manager around its work.

    Entering the block refuses files that exist and makes missing folders, so that a command fails
    before its work rather than after. Leaving it without an error renames the files into place.

    Parameters
    ----------
    *paths : Path
        All files that the command may write. A symbolic link is followed.

    overwrite : bool, default=False
        Whether files that exist may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelfold.cli.output import OutputFiles
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "new", "map.csv")
    >>> with OutputFiles(path) as output:
    ...     with output.open(path) as stream:
    ...         _ = stream.write(b"0.1,0.2")
    ...     path.exists()
    False
    >>> path.read_bytes()
    b'0.1,0.2'
    >>> folder.cleanup()
    """

    def __init__(self, *paths: Path, overwrite: bool = False) -> None:
        self._targets = {path: Path(os.path.realpath(path)) for path in paths}
        self._n_paths = len(paths)
        self._overwrite = overwrite
        self._temporaries: dict[Path, Path] = {}
        self._new_folders: list[Path] = []

    def __enter__(self) -> Self:
        if len(set(self._targets.values())) < self._n_paths:
            raise InputError("two outputs name the same file: give each its own name.")
        for path in self._targets:
            self._refuse_unsuitable(path)
        try:
            for path, target in self._targets.items():
                self._make_folder(target.parent)
                if not os.access(target.parent, os.W_OK):
                    raise PermissionError(f"{path.parent} cannot be written to: choose another.")
        except BaseException:
            self._discard()
            raise
        return self

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """A stream whose bytes become the file at `path` when the outer block ends."""
        target = self._targets[path]
        temporary = temporary_name(target)
        self._temporaries[path] = temporary
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._rename_into_place()
        finally:
            self._discard()

    def _rename_into_place(self) -> None:
        kept: list[str] = []
        try:
            for path, temporary in list(self._temporaries.items()):
                self._refuse_unsuitable(path)
                target = self._targets[path]
                if target.exists():
                    shutil.copymode(target, temporary)
                os.replace(temporary, target)
                del self._temporaries[path]
                kept.append(str(path))
        except BaseException as error:
            if kept:
                error.add_note(f"Complete and kept: {', '.join(kept)}.")
            raise
        self._new_folders.clear()
        for folder in {target.parent for target in self._targets.values()}:
            synchronise(folder)

    def _refuse_unsuitable(self, path: Path) -> None:
        target = self._targets[path]
        if target.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file in it.")
        if target.exists() and not target.is_file():
            raise OSError(f"{path} is a device or a pipe, not a file: name a file.")
        if target.exists() and not self._overwrite:
            raise FileExistsError(f"{path} exists: pass --force to replace it, or another name.")

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        if os.path.lexists(folder):
            raise NotADirectoryError(f"{folder} is not a folder: choose another.")
        self._make_folder(folder.parent)
        folder.mkdir()
        self._new_folders.append(folder)

    def _discard(self) -> None:
        """Remove what was not renamed, and the folders made for it."""
        for temporary in self._temporaries.values():
            temporary.unlink(missing_ok=True)
        self._temporaries.clear()
        for folder in reversed(self._new_folders):
            # It stays if it holds something by now.
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._new_folders.clear()
