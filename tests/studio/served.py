"""A server in this process, and requests to it, for tests of the labeling page."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from labelfold.studio.journal import Journal
from labelfold.studio.learner import Task
from labelfold.studio.server import Server
from labelfold.studio.session import Session
from labelfold.studio.shown_rows import Images, ShownRows
from labelfold.tables import AutoScaler

PNG = b"\x89PNG\r\n\x1a\n and so on"


def blobs(n_rows=90, n_classes=3):
    """Rows around as many centers as there are classes, and their classes."""
    rng = np.random.default_rng(0)
    classes = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, 4)) + 8 * np.eye(4)[classes], classes


class Client:
    """Requests to a server."""

    def __init__(self, url):
        self.url = url
        host, _, rest = url.removeprefix("http://").partition("/")
        self.host, self.base = host, "/" + rest

    def ask(self, path, body=None, *, method=None, headers=None, base=None):
        """Return status, headers and body of an answer."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        connection.request(
            method, (self.base if base is None else base) + path, content, headers or {}
        )
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.headers), content

    def get(self, path, body=None):
        """Return the JSON of an answer that succeeds."""
        status, _, content = self.ask(path, body)
        assert status == 200, (status, content)
        return json.loads(content)

    def wait(self, is_reached, seconds=60):
        """Return the first state that has what is waited for."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.get("api/state")
            if is_reached(state):
                return state
            time.sleep(0.05)
        raise AssertionError(f"not reached: {state}")


@contextmanager
def serving(folder: Path, *, learns=True, given=None, X=None):
    """Yield a client and the session of a server on some rows."""
    X = blobs()[0] if X is None else X
    ids = [f"row {number}" for number in range(len(X))]
    names = [f"name {number} <b>é</b>" for number in range(len(X))]
    images = Images([PNG, *[None] * (len(X) - 1)], folder)
    rows = ShownRows(ids, [("name", names)], images)
    task = Task(X, AutoScaler().fit(X), None, folder / "cache", {"path": "data.csv"})
    with Journal(folder / "data.csv.labels.sqlite") as journal:
        session = Session(rows, given or {}, journal, task, "data.csv")
        if not learns:
            session.start = lambda: None
        server = Server(session)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield Client(server.url), session
        finally:
            server.stop()
            thread.join()
