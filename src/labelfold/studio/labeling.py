"""The labels that hold after a series of events.

The labels in a data file come first. Each event of the journal then changes the marks of some rows,
undoes an earlier event, or does it again. Replaying the events gives the same marks as a server
held when it wrote them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.studio.journal import Event, Journal, Mark, read_events
from labelfold.studio.shown_rows import row_ids
from labelfold.tables import Table
from labelfold.tables.table import MISSING, read_labels

__all__ = ["GivenLabels", "Labeling", "check_data", "labels_at", "labels_in"]

FILE = "file"  # source of labels that the data file holds
ASIDE = "aside"  # source of the mark of a row that was set aside
AUDIT = "audit"  # source of labels of rows that were drawn at random
SUSPECT = "suspect"  # source of labels of rows whose label before looked wrong
FROM_QUEUE = ("uncertain", "uncovered", "unlike every labeled row", AUDIT)  # reasons, as sources
SOURCES = ("map", SUSPECT, *FROM_QUEUE)  # of labels from the page

LONGEST_LABEL = 200  # characters


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """What is given for every row of a table: labels as text, and where they come from."""

    texts: list[str | None]
    sources: list[str | None]

    @cached_property
    def y(self) -> NDArray[Any]:
        """Labels for a fit: as from a file, numbers if all of them are numbers."""
        import pyarrow as pa

        return read_labels(pa.array(self.texts, pa.string()))

    @property
    def name_of(self) -> dict[Any, str]:
        """The text of each label in ``y``."""
        return {value: text for value, text in zip(self.y, self.texts, strict=True) if text}

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        """True where a row has a label."""
        return np.array([text is not None for text in self.texts])

    @property
    def is_aside(self) -> NDArray[np.bool_]:
        """True where a row was set aside."""
        return np.array([source == ASIDE for source in self.sources])

    @property
    def audit(self) -> NDArray[np.bool_] | None:
        """True where a row was drawn at random; None if nobody chose rows: all labels count."""
        if set(self.sources) <= {FILE, ASIDE, None}:
            return None
        return np.array([source == AUDIT for source in self.sources])


class Labeling:
    """Marks of rows by id, and what can be undone."""

    def __init__(self, given: Mapping[str, Mark]) -> None:
        self.marks: dict[str, Mark] = dict(given)
        self.done: list[Event] = []  # the last one can be undone
        self.undone: list[Event] = []  # the last one can be done again
        self.number = 0  # of the last event
        # In the order of their first label, for stable colors.
        self.classes = dict.fromkeys(sorted({mark.label or "" for mark in given.values()}))

    def apply(self, event: Event) -> None:
        """Change the marks as an event says."""
        self.number = event.number
        if event.action == "undo":
            target = self.done.pop()
            self.undone.append(target)
            self._set(target.rows, target.previous)
        elif event.action == "redo":
            target = self.undone.pop()
            self.done.append(target)
            self._set(target.rows, _marks_of(target))
        elif event.action != "open":
            self._set(event.rows, _marks_of(event))
            if event.label is not None:
                self.classes.setdefault(event.label)
            self.done.append(event)
            self.undone.clear()

    @property
    def checked(self) -> set[str]:
        """Rows whose label looked wrong, and was given again or corrected."""
        return {row for event in self.done if event.source == SUSPECT for row in event.rows}

    def previous(self, rows: Sequence[str]) -> list[Mark | None]:
        """Return the marks of rows."""
        return [self.marks.get(row) for row in rows]

    def given(self, ids: Sequence[str]) -> GivenLabels:
        """Return what is given for the rows of a table."""
        marks = self.previous(ids)
        return GivenLabels(
            [None if mark is None else mark.label for mark in marks],
            [None if mark is None else mark.source for mark in marks],
        )

    def act(self, journal: Journal, action: str, rows: Sequence[str], **values: Any) -> Event:
        """Write an action on rows to the journal, then change their marks."""
        event = journal.append(action, rows, previous=tuple(self.previous(rows)), **values)
        self.apply(event)
        return event

    def step(self, journal: Journal, action: str) -> Event | None:
        """Undo or redo the last event; None if there is nothing to."""
        events = self.done if action == "undo" else self.undone
        if not events:
            return None
        return self.act(journal, action, events[-1].rows, target=events[-1].number)

    def _set(self, rows: Sequence[str], marks: Sequence[Mark | None]) -> None:
        for row, mark in zip(rows, marks, strict=True):
            if mark is None:
                self.marks.pop(row, None)
            else:
                self.marks[row] = mark


def check_label(label: Any) -> str:
    """Return the name of a class without spaces around it, or raise InputError."""
    text = label.strip() if isinstance(label, str) else ""
    if not text.isprintable() or not 0 < len(text) <= LONGEST_LABEL:
        raise InputError(f"The name of a class has 1 to {LONGEST_LABEL} printable characters.")
    if text in MISSING or text == "-1":
        raise InputError(f"{text!r} stands for a missing label in tables: choose another name.")
    return text


def labels_in(table: Table) -> dict[str, Mark]:
    """Return the labels that a data file holds, by id."""
    ids = row_ids(table.ids, table.n_rows)
    labels = [None] * table.n_rows if table.labels is None else table.labels
    return {
        name: Mark(str(label), FILE)
        for name, label in zip(ids, labels, strict=True)
        if label is not None
    }


def check_data(journal: Journal, files: Sequence[str], ids: Sequence[str], *, accept: bool) -> str:
    """Compare the data with those that the journal was last opened with; note the new ones."""
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    now, before, marked = f"sha256:{digest.hexdigest()}", None, set[str]()
    for event in journal.events():
        before = event.source if event.action == "open" else before
        marked.update(event.rows)
    if now == before:
        return ""
    n_gone = len(marked.difference(ids))
    note = (
        f"{files[0]} has changed since it was last labeled. Labels stay with the rows of the same "
        f"name; {n_gone:,} of {len(marked):,} labeled rows are gone."
    )
    if before is not None and not accept:
        raise InputError(
            f"{note} Pass --accept-changes to go on, or restore the file. If rows have no names, "
            "their numbers must mean the same rows as before."
        )
    journal.append("open", source=now)
    return note if before is not None else ""


def labels_at(journal: Path | str, table: Table, until: int | None = None) -> GivenLabels:
    """Return the labels of a table as a page has them, from its journal.

    Parameters
    ----------
    journal : path
        The database, ``DATA.labels.sqlite``.
    table : Table
        The data file, as :func:`labelfold.tables.read` returns it.
    until : int, default=None
        Number of the last event to read; None for all.
    """
    labeling = Labeling(labels_in(table))
    for event in read_events(Path(journal), until):
        labeling.apply(event)
    return labeling.given(row_ids(table.ids, table.n_rows))


def _marks_of(event: Event) -> list[Mark | None]:
    """Return the marks that an event gives its rows.

    A row that was drawn at random stays an audit row when its label is corrected: an estimate
    without these rows would flatter.
    """
    if event.action != "label":
        return [Mark(None, ASIDE) if event.action == "aside" else None] * len(event.rows)
    is_audit = [before is not None and before.source == AUDIT for before in event.previous]
    return [Mark(event.label, AUDIT if one else event.source or "") for one in is_audit]


def describe(event: Event) -> str:
    """Return what an event did, in words."""
    rows = f"{len(event.rows):,} row{'' if len(event.rows) == 1 else 's'}"
    if event.action == "label":
        return f"label {rows} {event.label}"
    return f"set {rows} aside" if event.action == "aside" else f"remove the mark of {rows}"
