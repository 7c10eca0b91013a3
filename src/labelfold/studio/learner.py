"""Fits in a process of their own, so that the page never waits for one.

The server sends labels to fit. The process answers with what it has found, as soon as it has it:
predicted labels, rows to label next, coordinates on the map. Before each of these steps it takes
the newest request, so newer labels win.

Neighbors, eigenvectors and the map of the graph do not depend on labels. They are computed once,
and kept in model files beside the journal, which run no code when a restart reads them.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from labelfold import __version__
from labelfold.exceptions import InputError
from labelfold.studio.labeling import GivenLabels
from labelfold.studio.proposals import find_suspects, propose_rows

__all__ = [
    "Ended",
    "Fitted",
    "Learner",
    "Placed",
    "Proposed",
    "Request",
    "Saved",
    "Status",
    "Task",
]


@dataclass(frozen=True, eq=False)
class Task:
    """What does not change while a server runs."""

    X: Any
    preparation: Any
    feature_names: list[str] | None
    cache: Path
    reading: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Request:
    """Labels to fit, as they were after an event of the journal."""

    event: int
    given: GivenLabels
    moves: bool  # whether the map may move


@dataclass(frozen=True)
class Save:
    """Write the model to a file."""

    path: Path


@dataclass(frozen=True)
class Status:
    """What the process is doing, "" when it waits; or what went wrong."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, eq=False)
class Placed:
    """Coordinates of all rows on the map."""

    coordinates: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Predicted labels of all rows, and how good they are."""

    event: int
    n_labels: int
    classes: list[str] = field(default_factory=list)
    codes: NDArray[np.intp] | None = None  # None if there was nothing to fit
    confidence: NDArray[np.float64] | None = None
    error: dict[str, Any] = field(default_factory=dict)  # of ErrorEstimate
    promise: str = ""
    sizes: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Proposed:
    """Rows to label next, and given labels that look wrong."""

    event: int
    queue: list[dict[str, Any]]
    suspects: list[dict[str, Any]]


@dataclass(frozen=True)
class Saved:
    """A model file is written; or why it is not."""

    path: Path
    error: str = ""


@dataclass(frozen=True)
class Ended:
    """The process ended."""

    code: int | None


class Learner:
    """The server's end of the process."""

    def __init__(self, task: Task, hear: Callable[[Any], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, task), daemon=True)
        self._process.start()
        theirs.close()
        self._hear = hear
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: Request | Save) -> None:
        """Ask for a fit or a file. A process that has ended hears nothing."""
        with suppress(OSError):  # _listen has said so, or is about to
            self._connection.send(message)

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                self._process.join()
                self._hear(Ended(self._process.exitcode))
                return
            self._hear(message)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


# ---- in the process


class _Inbox:
    """Messages of the server, read by a thread; the process ends with the server."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._ready = threading.Condition()
        self._request: Request | None = None
        self._saves: list[Save] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)  # the server is gone, perhaps killed, and a fit may be running
            with self._ready:
                if isinstance(message, Save):
                    self._saves.append(message)
                else:
                    self._request = message
                self._ready.notify()

    def take(self, *, wait: bool = True) -> tuple[Request | None, list[Save]]:
        """Return the newest request, if there is one, and all files to write."""
        with self._ready:
            while wait and self._request is None and not self._saves:
                self._ready.wait()
            request, saves = self._request, self._saves
            self._request, self._saves = None, []
        return request, saves

    def has_newer(self) -> bool:
        """Whether a newer request waits."""
        return self._request is not None


def _work(connection: Any, task: Task) -> None:
    warnings.simplefilter("ignore")  # about graphs and solves: the person labels
    inbox, tell = _Inbox(connection), connection.send
    try:
        worker = _Worker(task, tell)
    except Exception as error:
        tell(Status(_explain(error), is_error=True))
        raise SystemExit(1) from None
    request: Request | None = None
    while True:
        tell(Status(""))
        newest, saves = inbox.take()
        request = newest or request
        for save in saves:
            tell(worker.save(save.path))
        if newest is None:
            continue
        try:
            for step in (worker.fit, worker.propose, worker.move):
                step(newest)
                if inbox.has_newer():
                    break
        except Exception as error:
            tell(Status(_explain(error), is_error=True))


def _explain(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) else f"unexpected {type(error).__name__}: {text}"


def predict_rows(model: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the number of the predicted class of every row of a fit, and its probability.

    A labeled row has the class that the other labels predict.
    """
    scores, distributions = model.decision_values_.copy(), model.label_distributions_.copy()
    scores[model.labeled_rows_] = model.left_out_values_
    distributions[model.labeled_rows_] = model.left_out_distributions_
    codes = scores.argmax(axis=1)
    return codes, distributions[np.arange(len(codes)), codes]


class _Worker:
    """What the process has computed."""

    def __init__(self, task: Task, tell: Callable[[Any], None]) -> None:
        self.task, self.tell = task, tell
        key = joblib.hash((task.X, __version__))[:16]
        self.files = {name: task.cache / f"{key}-{name}.skops" for name in ("graph", "map")}
        self.model: Any = None  # fitted to labels; None before there are two classes
        self.base = self._load("graph") or self._compute_graphs()
        self.layout = self._load("map") or self._compute_map()
        tell(Placed(self.layout.embedding_))
        self._store()

    # ---- what labels do not change

    def _compute_graphs(self) -> Any:
        """Return a classifier with graphs and eigenvectors, which are all that is used of it."""
        from labelfold import FewLabelClassifier

        self.tell(Status("finding neighbors"))
        placeholder = np.full(self.task.X.shape[0], None, dtype=object)
        placeholder[0] = "any"
        return FewLabelClassifier(random_state=0).fit(self.task.X, placeholder)

    def _compute_map(self) -> Any:
        from labelfold import LaplacianEigenmaps
        from labelfold.layout import GraphLayout
        from labelfold.layout.descent import is_available

        self.tell(Status("laying out the map"))
        if is_available():
            return GraphLayout.of_classifier(self.base)
        return LaplacianEigenmaps(2, random_state=0).fit(self.task.X)

    def _load(self, name: str) -> Any:
        from labelfold import load

        if not self.files[name].exists():
            return None
        self.tell(Status("reading what an earlier start computed"))
        try:
            return load(self.files[name])
        except (InputError, OSError):
            return None  # of another version, or damaged: computed again

    def _store(self) -> None:
        """Write what a restart can reuse, in place of what was there."""
        from labelfold import save

        if all(file.exists() for file in self.files.values()):
            return
        try:
            self.task.cache.mkdir(exist_ok=True)
            for old in self.task.cache.glob("*.skops"):
                old.unlink()
            save(self.base, self.files["graph"])
            save(self.layout, self.files["map"])
        except OSError as error:
            self.tell(Status(f"A restart will compute the graph again: {error}", is_error=True))

    # ---- what labels change

    def fit(self, request: Request) -> None:
        """Fit the newest labels."""
        start, given = time.perf_counter(), request.given
        n_labels = int(given.is_labeled.sum())
        if len(set(given.texts) - {None}) < 2:
            self.model = None
            self.tell(Fitted(request.event, n_labels))
            return
        self.tell(Status(f"fitting {n_labels:,} labels"))
        name_of = given.name_of
        model = self.model = copy(self.base).refit(given.y, audit=given.audit)
        codes, confidence = predict_rows(model)
        self.tell(
            Fitted(
                request.event,
                n_labels,
                [name_of[one] for one in model.classes_.tolist()],
                codes,
                confidence,
                asdict(model.error_estimate_),
                model.calibration_.promise,
                [{**one, "label": name_of[one["label"]]} for one in model.class_sizes_.classes],
                time.perf_counter() - start,
            )
        )

    def propose(self, request: Request) -> None:
        """Find rows to label next, and labels that look wrong."""
        self.tell(Status("finding rows to label next"))
        given, model = request.given, self.model or self.base
        queue = propose_rows(model, given, is_fitted=self.model is not None)
        suspects = [] if self.model is None else find_suspects(self.model, given)
        self.tell(Proposed(request.event, queue, suspects))

    def move(self, request: Request) -> None:
        """Move the map as far as the labels demand, from where the graph alone puts it."""
        if not request.moves or self.model is None or not hasattr(self.layout, "refit"):
            return
        self.tell(Status("moving the map"))
        self.layout.classifier_ = self.model
        self.layout.refit(request.given.y)
        self.tell(Placed(self.layout.embedding_))

    def save(self, path: Path) -> Saved:
        """Write the model, with its preparation, to a file."""
        from sklearn.pipeline import make_pipeline

        from labelfold import save

        if self.model is None:
            return Saved(path, "There is no model yet: it takes labels of two classes.")
        try:
            whole = make_pipeline(self.task.preparation, self.model)
            save(whole, path, compact=True, feature_names=self.task.feature_names)
        except Exception as error:
            return Saved(path, _explain(error))
        return Saved(path)
