"""`labelfold label` as a process: address, journal, second server, changed data, kill, exports."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from command_line import read_csv, refused, run, write_csv
from served import Client, blobs

from labelfold.studio.journal import journal_path, read_events

N_KILLS = int(os.environ.get("LABELFOLD_KILLS", "3"))
SEED = int(os.environ.get("LABELFOLD_SEED", "0"))
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
X, CLASSES = blobs()
NAMES = np.array(["cat", "dog", "bird"])


@pytest.fixture
def data(tmp_path):
    return write_csv(tmp_path / "pets.csv", X, names=list("abcd"))


@contextmanager
def command(data, *options):
    """Yield a process that serves, and a client of it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "labelfold.cli", "label", data, "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("Labeling page: http://127.0.0.1:"), process.stderr.read()
        yield process, Client(re.search(r"http\S+", line)[0])
    finally:
        kill(process)


def kill(process):
    """End a server and the process that fits, as they stand."""
    with suppress(ProcessLookupError):  # both have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_session_from_start_to_export(data, tmp_path):
    bytes_before = data.read_bytes()
    out = tmp_path / "labels.csv"
    with command(data, "-o", str(out)) as (process, client):
        refused(run("label", data, "--no-browser"), "Another server")
        for code, name in enumerate(NAMES):
            rows = np.flatnonzero(code == CLASSES)[:3].tolist()
            state = client.get("api/label", {"rows": rows, "label": str(name)})
        client.wait(lambda now: now["fit"] and now["fit"]["event"] == state["event"])
        script = client.ask("api/export/repeat.py")[2]
        log = run("label", data, "--log")  # while the server runs
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert output.startswith("9 of 90 rows have a label, of 3 classes; 0 are set aside.")
    events = [json.loads(line) for line in log.stdout.splitlines()]
    assert [one["action"] for one in events] == ["open", "label", "label", "label"]
    assert events[1]["rows"] == ["1", "4", "7"]
    assert data.read_bytes() == bytes_before
    rows = read_csv(out)
    assert sum(row["given"] != "" for row in rows) == 9
    # The program gives the same labels, also after more of them were given.
    with command(data) as (process, client):
        client.get("api/label", {"rows": [50], "label": "cat"})
    again = tmp_path / "again"
    again.mkdir()
    (again / "repeat.py").write_bytes(script)
    subprocess.run([sys.executable, "repeat.py"], cwd=again, check=True, capture_output=True)
    repeated = read_csv(again / "labels.csv")
    assert [row["predicted"] for row in repeated] == [row["predicted"] for row in rows]
    assert [row["given"] for row in repeated] == [row["given"] for row in rows]
    for name in ("labels.parquet", "model.skops", "map.html", "map.png"):
        assert (again / name).stat().st_size > 0


def test_changed_data_are_noticed(data):
    with command(data) as (_, client):
        client.get("api/label", {"rows": [0, 89], "label": "cat"})
    write_csv(data, X[:80], names=list("abcd"))
    refused(run("label", data, "--no-browser"), "has changed", "1 of 2 labeled rows are gone")
    with command(data, "--accept-changes") as (_, client):
        assert client.get("api/state")["nLabels"] == 1
    write_csv(data, X, names=list("abcd"))
    with command(data, "--accept-changes") as (_, client):
        assert client.get("api/state")["nLabels"] == 2


class Person:
    """Labels rows, sets them aside and undoes, at random; and knows what must hold after that."""

    def __init__(self, rng):
        self.rng = rng
        self.events = []  # action, rows and label of all that was saved
        self.asked = None  # what was sent and not answered yet

    def work(self, client):
        """Go on until the server answers no more."""
        while True:
            rows = self.rng.sample(range(len(X)), self.rng.randint(1, 4))
            action = self.rng.choice(["label", "label", "label", "aside", "remove", "undo", "redo"])
            label = str(self.rng.choice(NAMES)) if action == "label" else None
            is_step = action in ("undo", "redo")
            self.asked = (action, None if is_step else rows, label)
            body = {} if is_step else {"action": action, "rows": rows, "label": label}
            try:
                status, _, content = client.ask(f"api/{action if is_step else 'label'}", body)
                json.loads(content)
            except (OSError, http.client.HTTPException, ValueError):
                return
            if status == 200:
                self.events.append(self.asked)
            else:
                assert is_step, content  # there was nothing to undo
            self.asked = None

    def marks(self):
        """Return the label of every row that has one, or None for one set aside."""
        done, undone, found = [], [], {}
        for action, rows, label in self.events:
            if action == "undo":
                undone.append(done.pop())
            elif action == "redo":
                done.append(undone.pop())
            else:
                done.append((action, rows, label))
                undone.clear()
        for action, rows, label in done:
            for row in rows:
                found.pop(row, None)
                if action != "remove":
                    found[row] = label
        return found

    def check(self, data):
        """All that was answered is in the journal, and nothing that was not asked for."""
        found = []
        for one in read_events(journal_path(str(data))):
            rows = None if one.action in ("undo", "redo") else [int(name) - 1 for name in one.rows]
            found.append((one.action, rows, one.label))
        found = [one for one in found if one[0] != "open"]
        if self.asked is not None and len(found) == len(self.events) + 1:
            self.events.append(self.asked)  # written, and killed before the answer
        self.asked = None
        assert found == self.events


def test_killed_servers_lose_no_label_and_invent_none(data):
    """A person works; server and fits are killed at random moments, and started again."""
    person, moments = Person(random.Random(SEED)), random.Random(SEED + 1)
    for _ in range(N_KILLS):
        with command(data) as (process, client):
            cards = client.get("api/cards", {"rows": list(range(len(X)))})
            marks = {one["row"]: one.get("label") for one in cards if "source" in one}
            assert marks == person.marks()
            thread = threading.Thread(target=person.work, args=(client,))
            thread.start()
            time.sleep(moments.uniform(0, 1.5))
            kill(process)
            thread.join()
        person.check(data)
    print(f"{N_KILLS} kills, seed {SEED}: all {len(person.events):,} saved events are there.")
    assert len(person.events) > N_KILLS


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-"], ["standard input"]),
        (["pets.csv", "--text", "a", "--image", "b"], ["contradict"]),
        (["pets.csv", "--host", "0.0.0.0"], ["address", "others use"]),
        (["pets.csv", "--log"], ["nothing has been labeled"]),
        (["pets.csv", "--image", "a"], ["neither a path nor bytes"]),
        (["pets.csv", "-o", "labels.txt"], ["must end with"]),
        (["missing.csv"], ["missing.csv"]),
        (["pets.csv", "--show", "z"], ["no such column"]),
    ],
)
def test_bad_usage(data, monkeypatch, options, words):
    monkeypatch.chdir(data.parent)
    refused(run("label", "--no-browser", *options), *words)


def test_rows_of_one_name_are_refused(tmp_path):
    path = write_csv(tmp_path / "pets.csv", X[:4], names=list("abcd"), name=["x", "y", "x", "z"])
    refused(run("label", path, "--id-column", "name"), "rows 1 and 3", "'x'")
