"""One labeling session: rows, labels, the newest fit, and everybody who wants to hear of changes.

Actions come from the server's threads, and what was learned comes from the learner's thread; one
lock orders them. Nobody waits for a fit.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
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
from labelfold.studio.labeling import (
    ASIDE,
    FROM_QUEUE,
    SOURCES,
    SUSPECT,
    GivenLabels,
    Labeling,
    check_label,
    describe,
)
from labelfold.studio.learner import Fitted, Learner, Proposed, Request, Status, Task
from labelfold.studio.proposals import mix
from labelfold.studio.shown_rows import ShownRows, folded
from labelfold.threads import limit_threads

__all__ = ["Session"]

LONGEST_DETAIL = 300  # characters of a column on the map; cards show all
ACTIONS = ("label", "remove", "aside")
MOST_SUSPECTS = 4  # in the queue; all are on a tab of their own


class Session:
    """Rows, labels and fits of one server; `given` are the labels in the data file."""

    def __init__(
        self, rows: ShownRows, given: dict[str, Mark], journal: Journal, task: Task, title: str
    ) -> None:
        self.rows, self.journal, self.task, self.title = rows, journal, task, title
        self.n_rows = len(rows.ids)
        self.labeling = Labeling(given)
        for event in journal.events():
            self.labeling.apply(event)
        self.fits = journal.fits()
        self.fitted = Fitted(-1, 0)
        self.proposed = Proposed(-1, [], [])
        self.coordinates: NDArray[np.float64] | None = None
        self.map_number = 0  # counts changes of coordinates and predictions
        self.status = Status("starting")
        self.is_frozen = False
        self.not_saved = ""  # why nothing can be written; "" if it can
        self.listeners: list[Callable[[], None]] = []
        self._lock, self._orders = threading.RLock(), itertools.count(1)
        self._row_of = {name: row for row, name in enumerate(rows.ids)}
        self._waiting: dict[Path, Future[str]] = {}  # model files that are being written
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

    def act(self, action: Any, rows: Sequence[int], label: Any = None, source: Any = "map") -> None:
        """Label rows, remove their labels, or set them aside; on disk when it returns.

        Raises InputError if that makes no sense, and NotSavedError if it could not be written.
        """
        if action not in ACTIONS or source not in SOURCES:
            raise InputError(f"action must be one of {ACTIONS} and source one of {SOURCES}.")
        if not rows:
            raise InputError("No row is selected.")
        names = [self.rows.ids[row] for row in dict.fromkeys(rows)]
        values = {"label": check_label(label), "source": source} if action == "label" else {}
        with self._saving():
            self.labeling.act(self.journal, action, names, **values)
            self._ask()

    def step(self, action: str) -> None:
        """Undo or redo the last action."""
        with self._saving():
            if self.labeling.step(self.journal, action) is None:
                raise InputError(f"There is nothing to {action}.")
            self._ask()

    def freeze(self, is_frozen: bool) -> None:
        """Let the map move no more, or again."""
        with self._saving():
            self.is_frozen = is_frozen
            self._ask()

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
        if self._learner is not None:
            self._learner.send(Request(self.labeling.number, self.given(), not self.is_frozen))

    # ---- what was learned

    def _hear(self, name: str, value: Any) -> None:
        with self._lock:
            if name == "saved":
                path, error = value
                self._waiting.pop(path).set_result(error)
            elif name == "ended":
                self._end(value)
            else:
                setattr(self, name, value)
                self.map_number += name in ("coordinates", "fitted")
                if name == "fitted" and value.classes:
                    self._record(value)
        self._changed()

    def _record(self, fitted: Fitted) -> None:
        """Keep how good a fit was, for the curve; a restart fits the same labels again."""
        if not self.fits or self.fits[-1].event != fitted.event:
            error, low, high = (fitted.error[name] for name in ("error", "low", "high"))
            seconds = round(fitted.seconds, 3)
            record = FitRecord(fitted.event, fitted.n_labels, error, low, high, seconds)
            self.fits.append(record)
            with suppress(NotSavedError):  # the next label says so
                self.journal.append_fit(record)

    def _end(self, code: int | None) -> None:
        if not self.status.is_error:
            text = (
                f"The process that fits ended (exit code {code}), perhaps for want of memory. "
                "Labels are saved; start labelfold again to fit them."
            )
            self.status = Status(text, is_error=True)
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
            self._learner.send(path)
        if error := waiting.result():
            raise InputError(error)

    # ---- what pages show

    def given(self) -> GivenLabels:
        """Return what is given for every row."""
        with self._lock:
            return self.labeling.given(self.rows.ids)

    def state(self) -> dict[str, Any]:
        """Return what a page needs to know at all times."""
        with self._lock:
            labeling, fitted = self.labeling, self.fitted
            known = [mark for name, mark in labeling.marks.items() if name in self._row_of]
            counts = Counter(mark.label for mark in known if mark.label is not None)
            fit = None
            if fitted.classes:
                fit = {
                    **{name: fitted.error[name] for name in ("error", "low", "high", "level")},
                    **{name: getattr(fitted, name) for name in ("event", "promise", "sizes")},
                    **{"nLabels": fitted.n_labels, "seconds": round(fitted.seconds, 2)},
                }
            undone = labeling.undone[-1].rows if labeling.undone else ()
            return {
                "order": next(self._orders),  # a page may get an older state after a newer one
                "title": self.title,
                "form": self.rows.form,
                "columns": [name for name, _ in self.rows.columns],
                "nRows": self.n_rows,
                "event": labeling.number,
                "map": self.map_number,
                "hasMap": self.coordinates is not None,
                "classes": [{"name": one, "n": counts[one]} for one in labeling.classes],
                "nLabels": counts.total(),
                "nAside": sum(mark.source == ASIDE for mark in known),
                "status": self.status.text,
                "isError": self.status.is_error,
                "notSaved": self.not_saved,
                "isFrozen": self.is_frozen,
                "proposals": self.proposed.event,
                "nSuspects": len(self.suspects()),
                "fit": fit,
                "curve": [asdict(one) for one in self.fits],
                "undo": describe(labeling.done[-1]) if labeling.done else None,
                "redo": describe(labeling.undone[-1]) if labeling.undone else None,
                "undone": self._row_of.get(undone[0]) if len(undone) == 1 else None,
            }

    def display(self) -> EmbeddingDisplay:
        """Return the map, ready to be drawn."""
        with self._lock:
            names, texts = list(self.labeling.classes), self.given().texts
            coordinates, fitted = self.coordinates, self.fitted
        if coordinates is None:
            raise InputError("There is no map yet: wait until the graph is laid out.")
        number = {name: code for code, name in enumerate(names)}
        classes = np.array(names, dtype=object)
        codes = np.array([-1 if text is None else number[text] for text in texts], dtype=np.intp)
        answers: dict[str, Any] = {}
        if fitted.classes:
            predicted = np.array([number[name] for name in fitted.classes])[fitted.codes]
            answers["predictions"] = PartialLabels(predicted, classes)
            answers["confidence"] = np.clip(fitted.confidence, 0, 1)
        labels = PartialLabels(codes, classes)
        return EmbeddingDisplay(coordinates, labels=labels, classes=names, **answers)

    def map_block(self, *, with_details: bool) -> bytes:
        """Return the map for the viewer: coordinates, labels, predictions, perhaps columns."""
        with self._lock:
            number, event, display = self.map_number, self.labeling.number, self.display()
        details: dict[str, Any] = {"row": self.rows.ids}
        for name, texts in self.rows.columns if with_details else ():
            details[name] = [None if one is None else one[:LONGEST_DETAIL] for one in texts]
        with limit_threads(1):  # a fit may be running
            header, arrays = map_data(display, details)
        if not with_details:
            del header["columns"], arrays["column0"]
        return pack({**header, "map": number, "event": event}, arrays)

    def cards(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return the cards of rows: what is shown, the mark and the prediction."""
        with self._lock:
            fitted = self.fitted
            marks = self.labeling.previous([self.rows.ids[row] for row in rows])
        cards = [self.rows.card(row) for row in rows]
        for card, mark in zip(cards, marks, strict=True):
            card |= {} if mark is None else asdict(mark)
            if fitted.classes:
                card["predicted"] = fitted.classes[fitted.codes[card["row"]]]
                card["confidence"] = round(float(fitted.confidence[card["row"]]), 4)
        return cards

    def queue(self) -> list[dict[str, Any]]:
        """Return rows to label next that have no mark yet, and suspects, with reasons."""
        with self._lock:
            ids, marks = self.rows.ids, self.labeling.marks
            rows = [one for one in self.proposed.queue if ids[one["row"]] not in marks]
            suspects = [{"row": one["row"], "reason": SUSPECT} for one in self.suspects()]
            n_answers = sum(mark.source in FROM_QUEUE for mark in marks.values())
            n_checked = len(self.labeling.checked)
        return mix(rows, suspects[:MOST_SUSPECTS], n_answers=n_answers, n_special=n_checked)

    def suspects(self) -> list[dict[str, Any]]:
        """Return given labels that look wrong, have not changed since, and were not confirmed."""
        with self._lock:
            ids, checked = self.rows.ids, self.labeling.checked
            found = [one for one in self.proposed.suspects if ids[one["row"]] not in checked]
            marks = self.labeling.previous([ids[one["row"]] for one in found])
            pairs = zip(found, marks, strict=True)
            return [one for one, mark in pairs if mark is not None and mark.label == one["given"]]

    def find(self, text: str) -> NDArray[np.bool_]:
        """Return where an id, a column or a given label has a text."""
        wanted = folded(text)
        in_labels = [wanted in folded(label or "") for label in self.given().texts]
        return self.rows.find(text) | np.array(in_labels)

    def describe(self) -> str:
        """Return what there is now, in a sentence."""
        state = self.state()
        n_classes = sum(one["n"] > 0 for one in state["classes"])
        return (
            f"{state['nLabels']:,} of {self.n_rows:,} rows have a label, of {n_classes} classes; "
            f"{state['nAside']:,} are set aside."
        )
