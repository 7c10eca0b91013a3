"""The journal of a labeling session: every action as an event in an SQLite database.

Events are only ever appended, and an event is on disk when :meth:`Journal.append` returns: the
database has a write-ahead log with full synchronization, so it survives ``kill -9`` and a power
cut. Rows are named by their ids, so that labels stay with their rows when a file is sorted or
grows. :class:`labelfold.studio.labeling.Labeling` turns events into the labels that hold.

A server holds a lock beside the database, which the system releases however the server ends.
Readers need no lock and may read while a server writes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from labelfold.exceptions import InputError

__all__ = ["Event", "FitRecord", "Journal", "Mark", "NotSavedError"]

APPLICATION = 0x4C464C44  # "LFLD", of the databases that are ours
FORMAT = 1
SCHEMA = f"""
BEGIN;
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,     -- UTC
    action TEXT NOT NULL,   -- open, label, remove, aside, undo, redo
    rows TEXT NOT NULL,     -- ids, as a JSON list
    label TEXT,             -- of a label
    source TEXT,            -- where a label comes from; of open, the fingerprint of the data
    previous TEXT NOT NULL, -- what held before: for each row null or [label, source]
    target INTEGER          -- of undo and redo: the event's number
);
CREATE TABLE fits (event INTEGER, n_labels INTEGER, error REAL, low REAL, high REAL, seconds REAL);
CREATE TRIGGER events_stay BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_do_not_change BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
COMMIT;
"""


class NotSavedError(OSError):
    """An event could not be written, and did not happen."""


@dataclass(frozen=True)
class Mark:
    """What a person said of a row: a label, or that it is set aside, which has no label."""

    label: str | None
    source: str


@dataclass(frozen=True)
class Event:
    """One action; see the table `events`."""

    number: int
    time: str
    action: str
    rows: tuple[str, ...] = ()
    label: str | None = None
    source: str | None = None
    previous: tuple[Mark | None, ...] = ()
    target: int | None = None

    def to_json(self) -> str:
        """Return the event as one line."""
        return json.dumps({**asdict(self), "previous": _plain(self.previous)}, ensure_ascii=False)


@dataclass(frozen=True)
class FitRecord:
    """How good the labels were estimated to be after a fit to the labels of an event."""

    event: int
    n_labels: int
    error: float
    low: float
    high: float
    seconds: float


class Journal:
    """The events of one data file, opened by the one server that may write them."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, _take_lock(path)
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        run = self._connection.execute
        try:
            with _readable(path), _writable(path):
                is_new = run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
                if not is_new:
                    _check_format(self._connection, path)
                run("PRAGMA journal_mode = WAL")
                run("PRAGMA synchronous = FULL")
                if is_new:
                    self._connection.executescript(SCHEMA)
        except BaseException:
            self.close()
            raise

    def append(self, action: str, rows: Sequence[str] = (), **values: Any) -> Event:
        """Write an event and return it once it is on disk.

        Raises NotSavedError if it cannot be written; the journal is then as it was.
        """
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        event = Event(0, time, action, tuple(rows), **values)
        packed = [json.dumps(one, ensure_ascii=False) for one in (rows, _plain(event.previous))]
        number = self._insert(
            "INSERT INTO events (time, action, rows, label, source, previous, target) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (time, action, packed[0], event.label, event.source, packed[1], event.target),
        )
        return replace(event, number=number)

    def append_fit(self, record: FitRecord) -> None:
        """Write how good a fit was."""
        self._insert("INSERT INTO fits VALUES (?, ?, ?, ?, ?, ?)", astuple(record))

    def _insert(self, statement: str, values: tuple[Any, ...]) -> int:
        """Insert a row, on disk when it returns, since each statement is a transaction."""
        with _writable(self.path):
            return self._connection.execute(statement, values).lastrowid or 0

    def events(self) -> Iterator[Event]:
        """Yield all events in order."""
        return _read_events(self._connection)

    def fits(self) -> list[FitRecord]:
        """Return all fits in order."""
        return [FitRecord(*row) for row in self._connection.execute("SELECT * FROM fits")]

    def close(self) -> None:
        """Release the database."""
        self._connection.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def journal_path(data: str) -> Path:
    """Return where the journal of a data file is: beside it."""
    return Path(f"{data}.labels.sqlite")


def read_events(path: Path, until: int | None = None) -> Iterator[Event]:
    """Yield the events of a database, which a server may be writing to, up to a number."""
    if not path.is_file():
        raise InputError(f"{path} does not exist: nothing has been labeled yet.")
    connected = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
    with closing(connected) as connection, _readable(path):
        _check_format(connection, path)
        yield from _read_events(connection, until)


def _read_events(connection: sqlite3.Connection, until: int | None = None) -> Iterator[Event]:
    found = connection.execute(
        "SELECT number, time, action, rows, label, source, previous, target FROM events "
        "WHERE ? IS NULL OR number <= ? ORDER BY number",
        (until, until),
    )
    for number, time, action, rows, label, source, previous, target in found:
        marks = tuple(None if one is None else Mark(*one) for one in json.loads(previous))
        yield Event(number, time, action, tuple(json.loads(rows)), label, source, marks, target)


def _plain(marks: Sequence[Mark | None]) -> list[tuple[Any, ...] | None]:
    return [None if mark is None else astuple(mark) for mark in marks]


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    names = ("application_id", "user_version")
    found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    if found[0] != APPLICATION:
        raise InputError(f"{path} is not a journal of labelfold: move it away, or rename the data.")
    if found[1] != FORMAT:
        raise InputError(
            f"{path} has format {found[1]} and this labelfold reads {FORMAT}: install the version "
            "that wrote it."
        )


def _take_lock(path: Path) -> sqlite3.Connection:
    """Return an open transaction on a file beside the journal: a lock on every system.

    The file stays when the lock is released: if it were deleted, two servers could hold locks on
    two files of the same name.
    """
    lock = sqlite3.connect(f"{path}-lock", isolation_level=None, check_same_thread=False, timeout=0)
    try:
        lock.execute("PRAGMA journal_mode = MEMORY")  # nothing is written: no file for that
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if "locked" not in str(error):
            raise PermissionError(f"{path} cannot be written: {error}.") from error
        raise InputError(
            f"Another server is labeling with {path}: use its page, which can be open several "
            "times, or end it with Ctrl-C."
        ) from None
    return lock


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} cannot be read ({error}): restore it from a copy.") from error


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise NotSavedError(
            f"Not saved to {path.name}: {error}. Earlier labels are safe. Free some space on the "
            "disk or make the file writable, then try again."
        ) from error
