"""The labels that hold after a series of events.

The labels in a data file come first. Each event of the journal then changes the marks of some rows,
undoes an earlier event, or does it again. Replaying the events gives the same marks as a server
held when it wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labelfold.exceptions import InputError
from labelfold.studio.journal import Event, Journal, Mark

__all__ = ["ASIDE", "AUDIT", "FILE", "SOURCES", "Labeling"]

FILE = "file"  # source of labels that the data file holds
ASIDE = "aside"  # source of the mark of a row that was set aside
AUDIT = "audit"  # source of labels of rows that were drawn at random
SOURCES = ("map", "uncertain", "uncovered", "unlike", "suspect", AUDIT)


class Labeling:
    """Marks of rows by id, and what can be undone.

    Parameters
    ----------
    given : mapping from id to Mark
        The labels in the data file.
    """

    def __init__(self, given: Mapping[str, Mark]) -> None:
        self.marks: dict[str, Mark] = dict(given)
        self.done: list[Event] = []  # the last one can be undone
        self.undone: list[Event] = []  # the last one can be done again
        self.number = 0  # of the last event
        self.classes: dict[str, None] = {}  # in the order of their first label, for stable colors
        for label in sorted({mark.label for mark in given.values() if mark.label is not None}):
            self.classes[label] = None

    def apply(self, event: Event) -> None:
        """Change the marks as an event says."""
        self.number = event.number
        if event.action in ("undo", "redo"):
            taken, put = self.done, self.undone
            if event.action == "redo":
                taken, put = put, taken
            if not taken or taken[-1].number != event.target:
                raise InputError(
                    f"Event {event.number} is to {event.action} event {event.target}, which is not "
                    "the last one: the journal is damaged, restore it from a copy."
                )
            put.append(taken.pop())
            target = put[-1]
            if event.action == "redo":
                self._set(target.rows, [_mark_of(target)] * len(target.rows))
            else:
                self._set(target.rows, target.previous)
        elif event.action != "open":
            self._set(event.rows, [_mark_of(event)] * len(event.rows))
            if event.label is not None:
                self.classes.setdefault(event.label)
            self.done.append(event)
            self.undone.clear()

    def previous(self, rows: Sequence[str]) -> list[Mark | None]:
        """Return the marks of rows."""
        return [self.marks.get(row) for row in rows]

    def act(
        self,
        journal: Journal,
        action: str,
        rows: Sequence[str],
        label: str | None = None,
        source: str | None = None,
    ) -> Event:
        """Write an action on rows to the journal, then change their marks."""
        event = journal.append(
            action, rows, label=label, source=source, previous=self.previous(rows)
        )
        self.apply(event)
        return event

    def step(self, journal: Journal, action: str) -> Event | None:
        """Undo or redo the last event; None if there is nothing to."""
        events = self.done if action == "undo" else self.undone
        if not events:
            return None
        last = events[-1]
        event = journal.append(
            action, last.rows, previous=self.previous(last.rows), target=last.number
        )
        self.apply(event)
        return event

    def _set(self, rows: Sequence[str], marks: Sequence[Mark | None]) -> None:
        for row, mark in zip(rows, marks, strict=True):
            if mark is None:
                self.marks.pop(row, None)
            else:
                self.marks[row] = mark

    def facts(self) -> dict[str, Any]:
        """Return what can be undone and redone, in words."""
        return {
            "undo": describe(self.done[-1]) if self.done else None,
            "redo": describe(self.undone[-1]) if self.undone else None,
        }


def _mark_of(event: Event) -> Mark | None:
    """Return the mark that an event gives its rows."""
    if event.action == "label":
        return Mark(event.label, event.source or "")
    return Mark(None, ASIDE) if event.action == "aside" else None


def describe(event: Event) -> str:
    """Return what an event did, in words."""
    rows = f"{len(event.rows):,} row{'' if len(event.rows) == 1 else 's'}"
    if event.action == "label":
        return f"label {rows} {event.label}"
    return f"set {rows} aside" if event.action == "aside" else f"remove the mark of {rows}"
