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
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from labelfold.exceptions import InputError

__all__ = ["Event", "FitRecord", "Journal", "Mark", "NotSavedError"]

APPLICATION = 0x4C464C44  # "LFLD", of the databases that are ours
FORMAT = 1
ENDING = ".labels.sqlite"
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
        facts = asdict(self)
        facts["previous"] = _plain(self.previous)
        return json.dumps(facts, ensure_ascii=False)


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
    """The events of one data file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = _take_lock(path)
        try:
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=5
            )
            with _readable(path), _writable(path):
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        if run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            run("PRAGMA journal_mode = WAL")
            self._connection.executescript(SCHEMA)
        _check_format(self._connection, self.path)
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")

    def append(
        self,
        action: str,
        rows: Sequence[str] = (),
        *,
        label: str | None = None,
        source: str | None = None,
        previous: Sequence[Mark | None] = (),
        target: int | None = None,
    ) -> Event:
        """Write an event and return it once it is on disk."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        values = (time, action, _packed(rows), label, source, _packed(_plain(previous)), target)
        with self._transaction() as run:
            number = run(
                "INSERT INTO events (time, action, rows, label, source, previous, target) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            ).lastrowid
        return Event(number or 0, time, action, tuple(rows), label, source, tuple(previous), target)

    def append_fit(self, record: FitRecord) -> None:
        """Write how good a fit was."""
        with self._transaction() as run:
            run("INSERT INTO fits VALUES (?, ?, ?, ?, ?, ?)", astuple(record))

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with _writable(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def events(self) -> Iterator[Event]:
        """Yield all events in order."""
        return _read_events(self._connection)

    def fits(self) -> list[FitRecord]:
        """Return all fits in order."""
        return [FitRecord(*row) for row in self._connection.execute("SELECT * FROM fits")]

    def close(self) -> None:
        """Release the database."""
        if hasattr(self, "_connection"):
            self._connection.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def journal_path(data: str) -> Path:
    """Return where the journal of a data file is: beside it."""
    return Path(f"{data}{ENDING}")


def read_events(path: Path, until: int | None = None) -> Iterator[Event]:
    """Yield the events of a database, which a server may be writing to."""
    if not path.is_file():
        raise InputError(f"{path} does not exist: nothing has been labeled yet.")
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=5)
    try:
        with _readable(path):
            _check_format(connection, path)
            yield from _read_events(connection, until)
    finally:
        connection.close()


def _read_events(connection: sqlite3.Connection, until: int | None = None) -> Iterator[Event]:
    found = connection.execute(
        "SELECT number, time, action, rows, label, source, previous, target FROM events "
        "WHERE ? IS NULL OR number <= ? ORDER BY number",
        (until, until),
    )
    for number, time, action, rows, label, source, previous, target in found:
        marks = tuple(None if one is None else Mark(*one) for one in json.loads(previous))
        yield Event(number, time, action, tuple(json.loads(rows)), label, source, marks, target)


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise InputError(f"{path} is not a journal of labelfold: move it away, or rename the data.")
    if version != FORMAT:
        raise InputError(
            f"{path} has format {version}, and this version of labelfold reads format {FORMAT}: "
            "install the version that wrote it."
        )


def _take_lock(path: Path) -> sqlite3.Connection:
    """Return an open transaction on a file beside the journal: a lock on every system.

    The file stays when the lock is released: if it were deleted, two servers could hold locks on
    two files of the same name.
    """
    file = path.with_name(path.name + "-lock")
    try:
        lock = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=0)
        lock.execute("PRAGMA journal_mode = MEMORY")  # nothing is written: no file for that
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
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
    except NotSavedError:
        raise
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


def _packed(values: Sequence[Any]) -> str:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def _plain(marks: Sequence[Mark | None]) -> list[tuple[Any, ...] | None]:
    return [None if mark is None else astuple(mark) for mark in marks]
