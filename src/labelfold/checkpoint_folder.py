"""Long fits keep finished work in a folder, and go on from there after they were stopped.

A *task* is work whose result follows from some rows and parameters: the neighbor lists of X, the
eigenpairs of a matrix. A fingerprint of all of these names its files, so that another run's are
never found:

- ``KIND-FINGERPRINT.npz``: the results of a finished task,
- ``KIND-FINGERPRINT-part-RANDOM.npz``: the steps of an unfinished one,
- ``KIND-FINGERPRINT-state.npz``: the state of an iteration, replaced by the next one.

A file is written under a temporary name, synchronized and renamed: a kill leaves a whole file or
none. Each array has a checksum, and a damaged file counts as none. Search and solver call
:func:`task`, :func:`once`, :func:`load_state` and :func:`save_state`, which do next to nothing
outside :func:`checkpoints`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold._version import __version__
from labelfold.checks import row_blocks
from labelfold.exceptions import CheckpointWarning, InputError, warn_user
from labelfold.whole_file import synchronize

__all__ = ["checkpoints", "load_state", "once", "save_state", "task"]

Arrays = tuple[NDArray[Any], ...]

LEAST_SECONDS = 1.0  # of work between two saves, and of a task whose result is kept
LEAST_RATIO = 10.0  # of the work between two saves to the last save
SPARE_BYTES = 2**26  # that a save leaves free on the disk
LIBRARIES = ("faiss-cpu", "numba", "numpy", "scikit-learn", "scipy")  # whose versions change bits

_folder: ContextVar[_Folder | None] = ContextVar("folder", default=None)
_task: ContextVar[_Task | None] = ContextVar("task", default=None)


@contextmanager
def checkpoints(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Let fits in the block keep finished work in a folder, and go on from there.

    A run that was stopped, by ``kill -9`` too, is started again as it was: the same rows,
    parameters and folder, and the same versions of the libraries. It goes on where the last save
    was, and its result has the bits of a run that was not stopped. Work of other rows, labels or
    parameters is not found; a folder can serve any number of runs, also at the same time.

    The neighbor search saves its lists block by block, and an eigensolver its state; a save follows
    on at least a second of work, and at least ten times the last save. Fits in other threads
    and processes, exact searches, metrics that are Python functions, unfoldings and the descent of
    ``GraphLayout`` are not saved on the way.

    Parameters
    ----------
    folder : str or path-like
        Made if it does not exist; delete it when it is no longer needed. Results of finished
        searches and solves stay in it.

    Raises
    ------
    InputError
        If the folder cannot be written to, or has too little room for the graph. If the disk
        fills up later, a :class:`CheckpointWarning` says so and fits go on without saving.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_digits
    >>> import labelfold
    >>> X, y = load_digits(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder, labelfold.checkpoints(folder):
    ...     model = labelfold.CCDR(9).fit(X, labelfold.hide_labels(y, keep=range(50)))
    """
    token = _folder.set(_Folder(Path(folder)))
    try:
        yield
    finally:
        _folder.reset(token)


@contextmanager
def task(kind: str, *determinants: Any, n_bytes: int = 0) -> Iterator[None]:
    """Name the work of the block, whose steps are then kept and found.

    Parameters
    ----------
    kind : str
        What it is, the beginning of its files' names.
    *determinants : array, sparse array, str, number, None or tuple of these
        All that its result follows from. With a function among them nothing is kept, since what it
        does is not known.
    n_bytes : int, default=0
        Size of what it will keep, for which there must be room before it begins.
    """
    folder = _folder.get()
    if folder is None or any(callable(one) for one in determinants):
        token = _task.set(None)  # steps are not those of a task around this one
    else:
        token = _task.set(_Task(folder, f"{kind}-{_fingerprint(*determinants)}", n_bytes))
    try:
        yield
        if (current := _task.get()) is not None:
            current.finish()
    finally:
        _task.reset(token)


def once(step: str, compute: Callable[[], Arrays], *, passing: bool = False) -> Arrays:
    """Return the arrays of a step of the current task: those kept, or else computed ones.

    Parameters
    ----------
    step : str
        Its name, unique within the task.
    compute : callable
        Returns arrays, from the determinants of the task alone.
    passing : bool, default=False
        Whether they need not be kept once the task is finished.
    """
    current = _task.get()
    return compute() if current is None else current.once(step, compute, passing=passing)


def load_state() -> dict[str, NDArray[Any]] | None:
    """Return the last state of the current task's iteration, if one was saved."""
    current = _task.get()
    return None if current is None else current.load_state()


def save_state(state: Callable[[], Mapping[str, Any]]) -> None:
    """Save the state of the current task's iteration, if the last save was long enough ago."""
    current = _task.get()
    if current is not None:
        current.save_state(state)


class _Folder:
    """A folder of files that are whole or not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_writable = True
        try:
            path.mkdir(parents=True, exist_ok=True)
            for left_behind in path.glob("*.npz.*.tmp"):  # by runs that were killed
                with suppress(OSError):  # another run may be writing it, on Windows
                    left_behind.unlink()
            self._write(path / "trial.npz", {"trial": np.zeros(1)}, is_kept=False)
        except OSError as error:
            raise InputError(
                f"checkpoints cannot be written to {str(path)!r}: {error.strerror or error}. Name "
                "a folder that can be written to, on a disk with room."
            ) from error

    def require(self, n_bytes: int) -> None:
        """Raise InputError unless there is room."""
        free = shutil.disk_usage(self.path).free
        if n_bytes + SPARE_BYTES > free:
            raise InputError(
                f"checkpoints need about {n_bytes / 1e9:.2g} GB in {str(self.path)!r}, where "
                f"{free / 1e9:.2g} GB are free: name a folder on a disk with more room."
            )

    def save(self, name: str, arrays: Mapping[str, Any]) -> bool:
        """Write a file; if that is impossible, warn once and save nothing from then on."""
        if not self._is_writable:
            return False
        path = self.path / name
        try:
            n_bytes = sum(np.asarray(one).nbytes for one in arrays.values())
            if n_bytes + SPARE_BYTES > shutil.disk_usage(self.path).free:
                raise OSError("the disk is full")
            self._write(path, arrays)
            return True
        except OSError as error:
            if isinstance(error, FileNotFoundError) and self.path.is_dir():
                return False  # another run began and took the temporary file for one left behind
            self._is_writable = False
            warn_user(
                f"No more checkpoints are saved in {str(self.path)!r}, since "
                f"{error.strerror or error}. The fit goes on without them.",
                CheckpointWarning,
            )
            return False

    def load(self, name: str, *members: str) -> dict[str, NDArray[Any]]:
        """Return arrays of a file, all of them if none are named; nothing if it is damaged."""
        arrays = {}
        try:
            with zipfile.ZipFile(self.path / name) as archive:
                for member in members or self.members(name):
                    with archive.open(f"{member}.npy") as stream:
                        arrays[member] = np.lib.format.read_array(stream, allow_pickle=False)
                        if stream.read(1):  # the checksum is compared at the end
                            raise ValueError("an array is shorter than its file")
        except Exception:  # a damaged file raises anything
            return {}
        return arrays

    def members(self, name: str) -> list[str]:
        """Return the names of the arrays in a file; none if it is damaged."""
        try:
            with zipfile.ZipFile(self.path / name) as archive:
                return [one.removesuffix(".npy") for one in archive.namelist()]
        except Exception:  # a damaged file raises anything
            return []

    def find(self, pattern: str) -> list[str]:
        """Return the names of files."""
        return sorted(path.name for path in self.path.glob(pattern))

    def remove(self, name: str) -> None:
        """Remove a file."""
        with suppress(OSError):
            (self.path / name).unlink()

    def _write(self, path: Path, arrays: Mapping[str, Any], *, is_kept: bool = True) -> None:
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            with open(temporary, "xb") as stream:
                np.savez(stream, **arrays)
                stream.flush()
                os.fsync(stream.fileno())
            if is_kept:
                os.replace(temporary, path)
                synchronize(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


class _Task:
    """The files of one task."""

    def __init__(self, folder: _Folder, name: str, n_bytes: int) -> None:
        self._folder, self._name = folder, name
        self._parts = folder.find(f"{name}-part-*.npz")
        # By step, the file that has it and its arrays there.
        self._kept: dict[str, tuple[str, list[str]]] = {}
        for file in (*self._parts, f"{name}.npz"):
            for member in folder.members(file):
                step = member.rpartition(".")[0]
                if self._kept.setdefault(step, (file, []))[0] != file:
                    self._kept[step] = (file, [])
                self._kept[step][1].append(member)
        if f"{name}.npz" not in {file for file, _ in self._kept.values()}:
            folder.require(n_bytes)
        self._results: dict[str, Arrays] = {}
        self._unsaved: dict[str, Arrays] = {}
        self._is_new = False  # whether there are results beyond those of a finished task
        self._begin = self._last_save = time.monotonic()
        self._seconds_of_save = 0.0

    def once(self, step: str, compute: Callable[[], Arrays], *, passing: bool) -> Arrays:
        file, members = self._kept.get(step, ("", []))
        found = self._folder.load(file, *members) if members else {}
        arrays = tuple(found[member] for member in members if member in found)
        if not found:
            if self._unsaved and self._is_due():
                self._save_part()
            arrays = self._unsaved[step] = compute()
        if not passing:
            self._results[step] = arrays
            self._is_new |= file != f"{self._name}.npz" or not found
        return arrays

    def load_state(self) -> dict[str, NDArray[Any]] | None:
        return self._folder.load(f"{self._name}-state.npz") or None

    def save_state(self, state: Callable[[], Mapping[str, Any]]) -> None:
        if self._is_due():
            if self._unsaved:  # steps before the iteration
                self._save_part()
            self._save("-state", state())

    def finish(self) -> None:
        """Keep the results, if they took long, and then no longer the steps."""
        is_kept = not self._is_new
        if self._is_new and (self._parts or time.monotonic() - self._begin >= LEAST_SECONDS):
            is_kept = self._save("", _by_member(self._results))
        if is_kept:
            for file in (*self._parts, f"{self._name}-state.npz"):
                self._folder.remove(file)

    def _is_due(self) -> bool:
        waited = time.monotonic() - self._last_save
        return waited >= max(LEAST_SECONDS, LEAST_RATIO * self._seconds_of_save)

    def _save_part(self) -> None:
        # Under a name of its own, as another process may be at the same steps.
        part = f"-part-{secrets.token_hex(8)}"
        self._parts.append(f"{self._name}{part}.npz")
        self._save(part, _by_member(self._unsaved))
        self._unsaved = {}

    def _save(self, ending: str, arrays: Mapping[str, Any]) -> bool:
        begin = time.monotonic()
        is_saved = self._folder.save(f"{self._name}{ending}.npz", arrays)
        self._last_save = time.monotonic()
        self._seconds_of_save = self._last_save - begin
        return is_saved


def _by_member(steps: Mapping[str, Arrays]) -> dict[str, NDArray[Any]]:
    """Return the arrays of steps by their names in a file."""
    return {f"{step}.{i}": one for step, arrays in steps.items() for i, one in enumerate(arrays)}


def _fingerprint(*determinants: Any) -> str:
    """Return a name that differs for other determinants and other versions of the libraries."""
    digest = hashlib.sha256(repr(_versions()).encode())
    for one in determinants:
        matrix: Any = one
        is_sparse = sp.issparse(one)
        parts = ("shape", "indptr", "indices", "data") if is_sparse else ()
        for part in [getattr(matrix, name) for name in parts] or [one]:
            _add(digest, part)
    return digest.hexdigest()[:32]


def _add(digest: Any, part: Any) -> None:
    if not isinstance(part, np.ndarray):
        digest.update(f"{type(part).__name__} {part!r};".encode())
        return
    digest.update(f"{part.dtype.str} {part.shape};".encode())
    rows = part if part.ndim == 2 else part[:, None]
    for block in row_blocks(*rows.shape):
        digest.update(np.ascontiguousarray(rows[block]))


@cache
def _versions() -> tuple[str, ...]:
    found = [__version__]
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            found.append(f"{library} {version(library)}")
    return tuple(found)
