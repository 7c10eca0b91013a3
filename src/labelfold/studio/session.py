"""One labeling session: rows, labels, the newest fit, and everybody who wants to hear of changes.

Actions come from the server's threads, and what was learned comes from the learner's thread; one
lock orders them. Nobody waits for a fit.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.interactive_map import map_data, pack
from labelfold.studio.journal import FitRecord, Journal, Mark, NotSavedError
from labelfold.studio.labeling import ASIDE, SOURCES, GivenLabels, Labeling
from labelfold.studio.learner import (
    Ended,
    Fitted,
    Learner,
    Placed,
    Proposed,
    Request,
    Save,
    Saved,
    Status,
    Task,
)
from labelfold.studio.shown_rows import ShownRows
from labelfold.tables.table import MISSING

__all__ = ["Session"]

LONGEST_LABEL = 200  # characters
LONGEST_DETAIL = 300  # characters of a column on the map; cards show all
ACTIONS = ("label", "remove", "aside")


class Session:
    """Rows, labels and fits of one server."""

    def __init__(
        self, rows: ShownRows, given: dict[str, Mark], journal: Journal, task: Task, title: str
    ) -> None:
        self.rows, self.journal, self.task, self.title = rows, journal, task, title
        self.n_rows = len(rows.ids)
        self.labeling = Labeling(given)
        for event in journal.events():
            self.labeling.apply(event)
        self.fits = journal.fits()
        self.fitted: Fitted | None = None
        self.proposed = Proposed(-1, [], [])  # none yet
        self.coordinates: NDArray[np.float64] | None = None
        self.map_number = 0  # counts changes of coordinates and predictions
        self.status = Status("starting")
        self.is_frozen = False
        self.not_saved = ""  # why nothing can be written; "" if it can
        self.listeners: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._row_of = {name: row for row, name in enumerate(rows.ids)}
        self._waiting: dict[Path, Future[str]] = {}
        self._learner: Learner | None = None

    def start(self) -> None:
        """Start to learn."""
        self._learner = Learner(self.task, self._hear)
        self._ask()

    def stop(self) -> None:
        """Learn no more."""
        if self._learner is not None:
            self._learner.close()

    # ---- actions

    def act(self, action: str, rows: Sequence[int], label: Any = None, source: str = "map") -> None:
        """Label rows, remove their labels, or set them aside; on disk when it returns."""
        if action not in ACTIONS:
            raise InputError(f"The action {action!r} must be one of {ACTIONS}.")
        if source not in SOURCES:
            raise InputError(f"The source {source!r} must be one of {SOURCES}.")
        if not rows:
            raise InputError("No row is selected.")
        names = [self.rows.ids[row] for row in dict.fromkeys(rows)]
        text = check_label(label) if action == "label" else None
        with self._saving():
            self.labeling.act(
                self.journal, action, names, text, source if action == "label" else None
            )
            self._ask()

    def step(self, action: str) -> None:
        """Undo or redo the last action."""
        with self._saving():
            if self.labeling.step(self.journal, action) is None:
                raise InputError(f"There is nothing to {action}.")
            self._ask()

    def freeze(self, is_frozen: bool) -> None:
        """Let the map move no more, or again."""
        with self._lock:
            self.is_frozen = is_frozen
            if not is_frozen:
                self._ask()
        self._changed()

    @contextmanager
    def _saving(self) -> Iterator[None]:
        """Hold the lock; if something cannot be written, pages become read-only until it can."""
        try:
            with self._lock:
                yield
                self.not_saved = ""
        except NotSavedError as error:
            self.not_saved = str(error)
            raise
        finally:
            self._changed()

    def _ask(self) -> None:
        """Ask for a fit to the labels that hold now."""
        if self._learner is None:
            return
        given = self.labeling.given(self.rows.ids)
        self._learner.send(Request(self.labeling.number, given, not self.is_frozen))

    # ---- what was learned

    def _hear(self, message: Any) -> None:
        with self._lock:
            if isinstance(message, Status):
                self.status = message
            elif isinstance(message, Placed):
                self.coordinates = message.coordinates
                self.map_number += 1
            elif isinstance(message, Fitted):
                self.fitted = message
                self.map_number += 1
                self._record(message)
            elif isinstance(message, Proposed):
                self.proposed = message
            elif isinstance(message, Saved):
                self._waiting.pop(message.path).set_result(message.error)
            elif isinstance(message, Ended):
                self._end(message)
        self._changed()

    def _record(self, fitted: Fitted) -> None:
        """Keep how good a fit was, for the curve."""
        if fitted.codes is None:
            return
        error = fitted.error
        record = FitRecord(
            fitted.event, fitted.n_labels, error["error"], error["low"], error["high"],
            round(fitted.seconds, 3),
        )  # fmt: skip
        if self.fits and self.fits[-1].event == record.event:
            return  # a restart fits the same labels again
        self.fits.append(record)
        try:
            self.journal.append_fit(record)
        except NotSavedError as error:
            self.not_saved = str(error)

    def _end(self, ended: Ended) -> None:
        if not self.status.is_error:
            self.status = Status(
                f"The process that fits ended (exit code {ended.code}), perhaps for want of "
                "memory. Labels are saved; restart labelfold to fit them.",
                is_error=True,
            )
        for waiting in self._waiting.values():
            waiting.set_result(self.status.text)
        self._waiting.clear()
        self._learner = None

    def _changed(self) -> None:
        for listener in list(self.listeners):
            listener()

    def save_model(self, path: Path) -> None:
        """Write the model of the newest fit to a file; waits for a fit that is running."""
        waiting: Future[str] = Future()
        with self._lock:
            if self._learner is None:
                raise InputError(self.status.text)
            self._waiting[path] = waiting
            self._learner.send(Save(path))
        error = waiting.result()
        if error:
            raise InputError(error)

    # ---- what pages show

    def describe(self) -> str:
        """Return what there is now, in a sentence."""
        state = self.state()
        n_labels, classes = state["nLabels"], len([one for one in state["classes"] if one["n"]])
        text = f"{n_labels:,} of {self.n_rows:,} rows have a label, of {classes} classes."
        if state["nAside"]:
            text += f" {state['nAside']:,} are set aside."
        return text

    def given(self) -> GivenLabels:
        """Return what is given for every row."""
        with self._lock:
            return self.labeling.given(self.rows.ids)

    def classes(self) -> list[str]:
        """Return all classes, in the order of their first label."""
        return list(self.labeling.classes)

    def state(self) -> dict[str, Any]:
        """Return what a page needs to know at all times."""
        with self._lock:
            known = [mark for name, mark in self.labeling.marks.items() if name in self._row_of]
            counts = Counter(mark.label for mark in known if mark.label is not None)
            fitted = self.fitted
            return {
                "title": self.title,
                "form": self.rows.form,
                "columns": [name for name, _ in self.rows.columns],
                "nRows": self.n_rows,
                "event": self.labeling.number,
                "map": self.map_number,
                "hasMap": self.coordinates is not None,
                "classes": [{"name": one, "n": counts[one]} for one in self.labeling.classes],
                "nLabels": sum(counts.values()),
                "nAside": sum(mark.source == ASIDE for mark in known),
                "status": self.status.text,
                "isError": self.status.is_error,
                "notSaved": self.not_saved,
                "isFrozen": self.is_frozen,
                "proposals": self.proposed.event,
                "nSuspects": len(self.proposed.suspects),
                "fit": None if fitted is None or fitted.codes is None else {
                    "event": fitted.event,
                    "nLabels": fitted.n_labels,
                    "seconds": round(fitted.seconds, 2),
                    "promise": fitted.promise,
                    "sizes": fitted.sizes,
                    **{key: fitted.error[key] for key in ("error", "low", "high", "level")},
                },
                "curve": [asdict(one) for one in self.fits],
                **self.labeling.facts(),
            }  # fmt: skip

    def display(self) -> EmbeddingDisplay:
        """Return the map, ready to be drawn."""
        with self._lock:
            names = self.classes()
            number = {name: code for code, name in enumerate(names)}
            texts = self.labeling.given(self.rows.ids).texts
            codes = np.array([number.get(text or "", -1) for text in texts], dtype=np.intp)
            coordinates, fitted = self.coordinates, self.fitted
        if coordinates is None:
            raise InputError("There is no map yet: wait until the graph is laid out.")
        predictions = confidence = None
        if fitted is not None and fitted.codes is not None and fitted.confidence is not None:
            lookup = np.array([number[name] for name in fitted.classes])
            predictions = PartialLabels(lookup[fitted.codes], np.array(names, dtype=object))
            confidence = np.clip(fitted.confidence, 0, 1)
        return EmbeddingDisplay(
            coordinates,
            labels=PartialLabels(codes, np.array(names, dtype=object)),
            predictions=predictions,
            confidence=confidence,
            classes=names,
        )

    def map_block(self, *, with_details: bool) -> bytes:
        """Return the map for the viewer: coordinates, labels, predictions, perhaps columns."""
        with self._lock:
            number, event = self.map_number, self.labeling.number
            display = self.display()
        details: dict[str, Any] = {"row": self.rows.ids}
        if with_details:
            for name, texts in self.rows.columns:
                details[name] = [None if one is None else one[:LONGEST_DETAIL] for one in texts]
        header, arrays = map_data(display, details)
        if not with_details:
            del header["columns"], arrays["column0"]
        return pack({**header, "map": number, "event": event}, arrays)

    def cards(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return the cards of rows: what is shown, the mark and the prediction."""
        with self._lock:
            fitted = self.fitted
            marks = self.labeling.previous([self.rows.ids[row] for row in rows])
        cards = []
        for row, mark in zip(rows, marks, strict=True):
            card = self.rows.card(row)
            if mark is not None:
                card |= {"label": mark.label, "source": mark.source}
            if fitted is not None and fitted.codes is not None and fitted.confidence is not None:
                card["predicted"] = fitted.classes[fitted.codes[row]]
                card["confidence"] = round(float(fitted.confidence[row]), 4)
            cards.append(card)
        return cards

    def queue(self) -> list[dict[str, Any]]:
        """Return rows to label next that have no mark yet, with reasons."""
        with self._lock:
            marked = self.labeling.marks
            names = self.rows.ids
            return [one for one in self.proposed.queue if names[one["row"]] not in marked]

    def suspects(self) -> list[dict[str, Any]]:
        """Return given labels that look wrong and have not changed since."""
        with self._lock:
            marks, names = self.labeling.marks, self.rows.ids
            return [
                one
                for one in self.proposed.suspects
                if getattr(marks.get(names[one["row"]]), "label", None) == one["given"]
            ]

    def find(self, text: str) -> NDArray[np.uint8]:
        """Return 1 for rows that have a text in an id, a column, or the name of their class."""
        from labelfold.studio.shown_rows import folded

        wanted = folded(text)
        with self._lock:
            labels = self.labeling.given(self.rows.ids).texts
        found = self.rows.find(text) | np.array([wanted in folded(one or "") for one in labels])
        return found.astype(np.uint8)


def check_label(label: Any) -> str:
    """Return a label without spaces around it, or raise InputError."""
    text = label.strip() if isinstance(label, str) else ""
    if not text or not text.isprintable():
        raise InputError("A class needs a name of printable characters.")
    if len(text) > LONGEST_LABEL:
        raise InputError(f"The name of a class has at most {LONGEST_LABEL} characters.")
    if text in MISSING or text == "-1":
        raise InputError(f"{text!r} stands for a missing label in tables: choose another name.")
    return text
