"""The journal: events on disk before they count, replayed to the same labels, never changed."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelfold.exceptions import InputError
from labelfold.studio.journal import FitRecord, Journal, Mark, NotSavedError, read_events
from labelfold.studio.labeling import AUDIT, FILE, SUSPECT, Labeling, describe

N_KILLS = int(os.environ.get("LABELFOLD_KILLS", "4"))
GIVEN = {"1": Mark("cat", FILE), "2": Mark("dog", FILE)}
WRITE = """
import sys
from pathlib import Path
from labelfold.studio.journal import Journal
from labelfold.studio.labeling import Labeling

with Journal(Path(sys.argv[1])) as journal:
    labeling = Labeling({})
    for event in journal.events():
        labeling.apply(event)
    print("ready", flush=True)
    for number in range(100_000):
        event = labeling.act(journal, "label", [str(labeling.number)], label="x", source="map")
        print(event.number, flush=True)
"""


def replayed(path, given=GIVEN):
    labeling = Labeling(given)
    for event in read_events(path):
        labeling.apply(event)
    return labeling


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "data.csv.labels.sqlite") as journal:
        yield journal


def test_events_read_back_as_written(journal):
    marks = [None, Mark("çat\n", "map"), Mark(None, "aside")]
    journal.append("label", ["1", "ü", "x y"], label="d'og", source="map", previous=marks)
    journal.append("undo", ["1"], previous=[None], target=1)
    first, second = read_events(journal.path)
    assert (first.number, first.rows, first.label) == (1, ("1", "ü", "x y"), "d'og")
    assert (first.previous, second.target) == (tuple(marks), 1)
    assert json.loads(first.to_json())["previous"] == [None, ["çat\n", "map"], [None, "aside"]]
    assert [one.number for one in read_events(journal.path, until=1)] == [1]


def test_undo_and_redo_are_events(journal):
    labeling = Labeling(GIVEN)
    labeling.act(journal, "label", ["1", "3"], label="bird", source="map")
    labeling.act(journal, "aside", ["2"])
    labeling.act(journal, "remove", ["3"])
    for _ in range(3):
        labeling.step(journal, "undo")
    assert labeling.marks == GIVEN
    assert labeling.step(journal, "undo") is None
    labeling.step(journal, "redo")
    assert labeling.marks == {**GIVEN, "1": Mark("bird", "map"), "3": Mark("bird", "map")}
    assert describe(labeling.done[-1]) == "label 2 rows bird"
    labeling.act(journal, "label", ["4"], label="bird", source="map")
    assert labeling.step(journal, "redo") is None  # a new step ends what can be done again
    assert len(list(journal.events())) == 8


def test_a_row_that_was_drawn_at_random_stays_an_audit_row(journal):
    labeling = Labeling({})
    labeling.act(journal, "label", ["1"], label="cat", source=AUDIT)
    labeling.act(journal, "label", ["1", "2"], label="dog", source=SUSPECT)
    corrected = {"1": Mark("dog", AUDIT), "2": Mark("dog", SUSPECT)}
    assert labeling.marks == corrected
    assert labeling.checked == {"1", "2"}
    labeling.step(journal, "undo")
    assert (labeling.marks, labeling.checked) == ({"1": Mark("cat", AUDIT)}, set())
    labeling.step(journal, "redo")
    assert labeling.marks == replayed(journal.path, {}).marks == corrected


ACTIONS = st.one_of(
    st.sampled_from(["undo", "redo"]),
    st.tuples(
        st.sampled_from(["label", "remove", "aside"]),
        st.lists(st.sampled_from("12345"), min_size=1, max_size=3, unique=True),
        st.sampled_from(["cat", "dog", "bird"]),
    ),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(ACTIONS, max_size=25))
def test_replay_gives_what_was_held(tmp_path_factory, actions):
    path = tmp_path_factory.mktemp("journal") / "j.sqlite"
    labeling, history = Labeling(GIVEN), [dict(GIVEN)]
    place = 0  # in the history, which undo and redo move through
    with Journal(path) as journal:
        for action in actions:
            if isinstance(action, str):
                moved = labeling.step(journal, action) is not None
                place += moved * (-1 if action == "undo" else 1)
            else:
                name, rows, label = action
                values = {"label": label, "source": "map"} if name == "label" else {}
                labeling.act(journal, name, rows, **values)
                place += 1
                history[place:] = [dict(labeling.marks)]
            assert labeling.marks == history[place]
    again = replayed(path)
    assert (again.marks, list(again.classes)) == (labeling.marks, list(labeling.classes))
    assert (again.done, again.undone) == (labeling.done, labeling.undone)


def test_events_cannot_be_changed(journal):
    journal.append("label", ["1"], label="cat", source="map", previous=[None])
    with sqlite3.connect(journal.path) as other:
        for statement in ("DELETE FROM events", "UPDATE events SET label = 'dog'"):
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                other.execute(statement)


def test_second_server_is_refused_and_readers_are_not(journal):
    journal.append("label", ["1"], label="cat", source="map", previous=[None])
    with pytest.raises(InputError, match="Another server"):
        Journal(journal.path)
    assert len(list(read_events(journal.path))) == 1


def test_full_disk_loses_nothing(journal):
    labeling = Labeling({})
    labeling.act(journal, "label", ["1"], label="cat", source="map")
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    many = [str(number) for number in range(10_000)]
    with pytest.raises(NotSavedError, match="disk is full"):
        labeling.act(journal, "label", many, label="dog", source="map")
    assert labeling.marks == {"1": Mark("cat", "map")} == replayed(journal.path, {}).marks
    journal._connection.execute("PRAGMA max_page_count = 1000000")
    labeling.act(journal, "label", many, label="dog", source="map")
    assert len(replayed(journal.path, {}).marks) == 10_000


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
def test_file_that_cannot_grow_loses_nothing(tmp_path):
    script = f"""
import resource
{WRITE.replace("100_000", "1")}
from labelfold.studio.journal import NotSavedError
import os
with Journal(Path(sys.argv[1])) as journal:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    n = 0
    try:
        while True:
            journal.append("label", ["1"] * 100, label="x", source="map", previous=[None] * 100)
            n += 1
    except NotSavedError as error:
        assert "Earlier labels are safe" in str(error), error
    assert n == len(list(journal.events())) - 1, n
    print("refused")
"""
    path = tmp_path / "j.sqlite"
    output = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert output.stdout.endswith("refused\n"), output.stderr
    assert len(list(read_events(path))) > 1


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not a database at all" * 100, "restore it"), (b"", "")],
    ids=["damaged", "empty"],
)
def test_other_files_are_refused(tmp_path, content, words):
    path = tmp_path / "j.sqlite"
    path.write_bytes(content)
    if words:
        with pytest.raises(InputError, match=words):
            Journal(path)
        assert path.read_bytes() == content
    else:
        Journal(path).close()


def test_databases_of_others_are_refused(tmp_path):
    path = tmp_path / "j.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE own (x)")
    with pytest.raises(InputError, match="not a journal"):
        Journal(path)
    with pytest.raises(InputError, match="nothing has been labeled"):
        list(read_events(tmp_path / "missing.sqlite"))


def test_fits_are_kept(journal):
    record = FitRecord(3, 20, 0.1, 0.05, 0.2, 1.5)
    journal.append_fit(record)
    assert journal.fits() == [record]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_kill_loses_no_event_that_was_acknowledged(tmp_path):
    """A process writes events and prints their numbers; each kill is at a random moment."""
    path = tmp_path / "j.sqlite"
    rng = random.Random(0)
    acknowledged = 0
    for _ in range(N_KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITE, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        printed = [int(line) for line in process.communicate()[0].split("\n")[:-1]]
        # Numbers go on where the last process ended, without a gap.
        assert printed == list(range(acknowledged + 1, acknowledged + 1 + len(printed)))
        events = list(read_events(path))
        # At most one event more: that which was on disk and not yet printed.
        assert len(events) - (acknowledged + len(printed)) in (0, 1)
        assert [one.rows for one in events] == [(str(n),) for n in range(len(events))]
        acknowledged = len(events)
