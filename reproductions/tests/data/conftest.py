import gzip
import hashlib
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from sklearn.datasets import fetch_file

from reproductions.data import files
from reproductions.data.files import DataFile


@pytest.fixture(autouse=True)
def _no_directory_in_the_environment(monkeypatch):
    monkeypatch.delenv("LABELFOLD_DATA", raising=False)


@pytest.fixture
def write_data_file(tmp_path):
    """Write a gzip file of the given content to tmp_path, and return what recognises it."""

    def write(name: str, content: bytes) -> DataFile:
        packed = gzip.compress(content)
        (tmp_path / name).write_bytes(packed)
        return DataFile(
            name=name,
            sha256=hashlib.sha256(packed).hexdigest(),
            content_sha256=hashlib.sha256(content).hexdigest(),
            origin="Written by a test.",
        )

    return write


class Shelf(ThreadingHTTPServer):
    """An HTTP server on this machine that gives the bytes laid into `pages`, by path."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.announced_too_much = 0
        super().__init__(("127.0.0.1", 0), ShelfHandler)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class ShelfHandler(BaseHTTPRequestHandler):
    server: Shelf

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        page = self.server.pages.get(self.path)
        if page is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(page) + self.server.announced_too_much))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test report free of requests."""


@pytest.fixture
def shelf(monkeypatch, tmp_path_factory):
    """Start a server to download from; scikit-learn's data home is an empty directory meanwhile."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path_factory.mktemp("scikit_learn_data")))
    # scikit-learn waits a second before each of its retries.
    monkeypatch.setattr(files, "fetch_file", partial(fetch_file, n_retries=0))
    with Shelf() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
