"""`labelfold label` as a process: address, journal, second server, changed data, kill, exports."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from command_line import read_csv, refused, run, write_csv
from served import Client, blobs

from labelfold.studio.journal import journal_path, read_events

N_KILLS = int(os.environ.get("LABELFOLD_KILLS", "2"))
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
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("Labeling page: http://127.0.0.1:"), process.stderr.read()
        yield process, Client(re.search(r"http\S+", line)[0])
    finally:
        process.kill()
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


def test_killed_servers_lose_no_label_that_was_saved(data):
    """A person labels row after row; the server is killed at random moments and started again."""
    rng = random.Random(0)
    saved: dict[int, str] = {}
    sent: dict[int, str] = {}

    def label_rows(client):
        for number in range(10_000):
            row, name = number % 90, str(NAMES[rng.randrange(3)])
            sent[row] = name
            try:
                state = client.get("api/label", {"rows": [row], "label": name})
            except (OSError, AssertionError, ValueError):
                return
            assert state["notSaved"] == ""
            saved[row] = name

    for _ in range(N_KILLS):
        with command(data) as (process, client):
            cards = client.get("api/cards", {"rows": list(range(90))})
            check_cards(cards, saved, sent)
            saved.update({card["row"]: card["label"] for card in cards if "label" in card})
            sent = dict(saved)
            thread = threading.Thread(target=label_rows, args=(client,))
            thread.start()
            time.sleep(rng.uniform(0, 1.5))
            process.kill()
            thread.join()
    with command(data) as (_, client):
        check_cards(client.get("api/cards", {"rows": list(range(90))}), saved, sent)
    assert saved
    assert [one.number for one in read_events(journal_path(str(data)))][-1] >= len(saved)


def check_cards(cards, saved, sent):
    for card in cards:
        allowed = {saved.get(card["row"]), sent.get(card["row"])}  # sent, perhaps not answered
        assert card.get("label") in allowed, (card, allowed)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-"], ["standard input"]),
        (["pets.csv", "--text", "a", "--image", "b"], ["contradict"]),
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
