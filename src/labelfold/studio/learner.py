"""Fits in a process of their own, so that the page never waits for one.

The server sends labels to fit. The process answers with what it has found, as soon as it has it:
predicted labels, rows to label next, coordinates on the map. Before each of these steps, and while
the map moves, it looks for a newer request, so the newest labels win.

Neighbors, eigenvectors and the map of the graph do not depend on labels. They are computed once,
and kept in model files beside the journal, which run no code when a restart reads them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from labelfold import FewLabelClassifier, LaplacianEigenmaps, __version__, load, save
from labelfold.exceptions import InputError
from labelfold.layout import GraphLayout
from labelfold.layout.descent import is_available
from labelfold.studio.labeling import GivenLabels
from labelfold.studio.proposals import find_suspects, propose_rows
from labelfold.threads import limit_threads

__all__ = ["Fitted", "Learner", "Proposed", "Request", "Status", "Task", "predict_rows"]

N_THREADS = max(1, (os.cpu_count() or 1) // 2)  # of fits: server and browser need cores too


@dataclass(frozen=True, eq=False)
class Task:
    """What does not change while a server runs."""

    X: Any  # prepared features
    preparation: Any  # how X came from the table
    feature_names: list[str] | None
    cache: Path  # folder for what a restart can reuse
    reading: dict[str, Any]  # arguments of labelfold.tables.read that gave the table


@dataclass(frozen=True, eq=False)
class Request:
    """Labels to fit, as they were after an event of the journal."""

    event: int
    given: GivenLabels
    moves: bool  # whether the map may move


@dataclass(frozen=True)
class Status:
    """What the process is doing, "" when it waits; or what went wrong."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, eq=False)
class Fitted:
    """Predicted labels of all rows, and how good they are; no classes if nothing was fitted."""

    event: int
    n_labels: int
    classes: list[str] = field(default_factory=list)
    codes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    confidence: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    error: dict[str, Any] = field(default_factory=dict)  # of ErrorEstimate
    promise: str = ""
    sizes: list[dict[str, Any]] = field(default_factory=list)  # of ClassSizes
    seconds: float = 0.0


@dataclass(frozen=True)
class Proposed:
    """Rows to label next, and given labels that look wrong."""

    event: int
    queue: list[dict[str, Any]]
    suspects: list[dict[str, Any]]


class Learner:
    """The server's end of the process.

    `hear` is called from a thread of its own with the name and the value of every answer: "status",
    "coordinates", "fitted", "proposed", "saved" (a path, and an error or ""), and "ended" (an exit
    code).
    """

    def __init__(self, task: Task, hear: Callable[[str, Any], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, task), daemon=True)
        with _ctrl_c_ignored():  # which the process inherits: Ctrl-C is for the server
            self._process.start()
        theirs.close()
        self._hear = hear
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, wanted: Request | Path) -> None:
        """Ask for a fit, or for a file of the model."""
        with suppress(OSError):  # it has ended, which _listen notices
            self._connection.send(wanted)

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._hear(*self._connection.recv())
        self._process.join()
        self._hear("ended", self._process.exitcode)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be set
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def predict_rows(model: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the number of the predicted class of every row of a fit, and its probability.

    A labeled row has the class that the other labels predict.
    """
    scores, distributions = model.decision_values_.copy(), model.label_distributions_.copy()
    scores[model.labeled_rows_] = model.left_out_values_
    distributions[model.labeled_rows_] = model.left_out_distributions_
    codes = scores.argmax(axis=1)
    return codes, distributions[np.arange(len(codes)), codes]


# ---- in the process


def _work(connection: Any, task: Task) -> None:
    warnings.simplefilter("ignore")  # about graphs and solves: the person labels
    inbox = _Inbox(connection)

    def tell(name: str, value: Any) -> None:
        connection.send((name, value))

    try:
        worker = _Worker(task, tell, inbox.has_request)
    except Exception as error:
        tell("status", _failure(error))
        return
    while True:
        request, paths = inbox.take()
        for path in paths:
            tell("saved", (path, worker.save(path)))
        try:
            for step in (worker.fit, worker.propose, worker.move):
                if request is not None and not inbox.has_request():
                    with limit_threads(N_THREADS):
                        step(request)
            tell("status", Status(""))
        except _OvertakenError:
            continue
        except Exception as error:
            tell("status", _failure(error))


class _OvertakenError(Exception):
    """There are newer labels than those that the map is moved for."""


def _failure(error: Exception) -> Status:
    text = " ".join(str(error).split())
    is_ours = isinstance(error, InputError)
    return Status(text if is_ours else f"unexpected {type(error).__name__}: {text}", is_error=True)


class _Inbox:
    """What the server sends, read by a thread; the process ends with the server."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._ready = connection, threading.Condition()
        self._request: Request | None = None
        self._paths: list[Path] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                wanted = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)  # the server is gone, perhaps killed, and a fit may be running
            with self._ready:
                if isinstance(wanted, Request):
                    self._request = wanted
                else:
                    self._paths.append(wanted)
                self._ready.notify()

    def take(self) -> tuple[Request | None, list[Path]]:
        """Wait; return the newest request, if there is one, and all files to write."""
        with self._ready:
            self._ready.wait_for(lambda: self._request is not None or self._paths)
            request, paths = self._request, self._paths
            self._request, self._paths = None, []
        return request, paths

    def has_request(self) -> bool:
        """Whether a request waits."""
        return self._request is not None


class _Worker:
    """What the process has computed."""

    def __init__(
        self, task: Task, tell: Callable[[str, Any], None], is_overtaken: Callable[[], bool]
    ) -> None:
        self.task, self.tell, self.is_overtaken = task, tell, is_overtaken
        key = joblib.hash((task.X, __version__))[:16]
        self.files = [task.cache / f"{key}-{name}.skops" for name in ("graph", "map")]
        self.model: Any = None  # fitted to labels; None before there are two classes
        self.base = self._load(self.files[0]) or self._compute_graphs()
        self.layout = self._load(self.files[1]) or self._compute_map()
        tell("coordinates", self.layout.embedding_)
        self._store()

    # ---- what labels do not change

    def _compute_graphs(self) -> Any:
        """Return a classifier with graphs and eigenvectors, which are all that is used of it."""
        self.tell("status", Status("finding neighbors"))
        placeholder = np.full(self.task.X.shape[0], None, dtype=object)
        placeholder[0] = "any"
        return FewLabelClassifier(random_state=0).fit(self.task.X, placeholder)

    def _compute_map(self) -> Any:
        self.tell("status", Status("laying out the map"))
        if is_available():
            return GraphLayout.of_classifier(self.base)
        return LaplacianEigenmaps(2, random_state=0).fit(self.task.X)

    def _load(self, file: Path) -> Any:
        with suppress(InputError, OSError):  # missing, damaged, or of another version
            return load(file)

    def _store(self) -> None:
        """Write what a restart can reuse, in place of what was there."""
        if all(file.exists() for file in self.files):
            return
        self.tell("status", Status("storing the graph for the next start"))
        with suppress(OSError):  # the next start computes it again
            self.task.cache.mkdir(exist_ok=True)
            for old in self.task.cache.glob("*.skops"):
                old.unlink()
            for fitted, file in zip((self.base, self.layout), self.files, strict=True):
                save(fitted, file)

    # ---- what labels change

    def fit(self, request: Request) -> None:
        """Fit the labels."""
        start, given = time.perf_counter(), request.given
        n_labels, name_of = int(given.is_labeled.sum()), given.name_of
        if len(name_of) < 2:
            self.model = None
            self.tell("fitted", Fitted(request.event, n_labels))
            return
        self.tell("status", Status(f"fitting {n_labels:,} labels"))
        self.model = model = copy(self.base).refit(given.y, audit=given.audit)
        fitted = Fitted(
            request.event,
            n_labels,
            [name_of[one] for one in model.classes_.tolist()],
            *predict_rows(model),
            asdict(model.error_estimate_),
            model.calibration_.promise,
            [{**one, "label": name_of[one["label"]]} for one in model.class_sizes_.classes],
            time.perf_counter() - start,
        )
        self.tell("fitted", fitted)

    def propose(self, request: Request) -> None:
        """Find rows to label next, and labels that look wrong."""
        self.tell("status", Status("finding rows to label next"))
        model = self.model or self.base
        queue = propose_rows(model, request.given, is_fitted=self.model is not None)
        suspects = [] if self.model is None else find_suspects(self.model, request.given)
        self.tell("proposed", Proposed(request.event, queue, suspects))

    def move(self, request: Request) -> None:
        """Move the map as far as the labels demand, from where the graph alone puts it."""
        if request.moves and self.model is not None and isinstance(self.layout, GraphLayout):
            self.tell("status", Status("moving the map"))
            self.layout.follow(self.model, self._stop_if_overtaken)
            self.tell("coordinates", self.layout.embedding_)

    def _stop_if_overtaken(self, *progress: Any, **more: Any) -> None:
        if self.is_overtaken():
            raise _OvertakenError

    def save(self, path: Path) -> str:
        """Write the model, with its preparation, to a file; return what went wrong, or ""."""
        if self.model is None:
            return "There is no model yet: it takes labels of two classes."
        try:
            whole = make_pipeline(self.task.preparation, self.model)
            save(whole, path, compact=True, feature_names=self.task.feature_names)
        except (OSError, TypeError, ValueError) as error:
            return str(error)
        return ""
