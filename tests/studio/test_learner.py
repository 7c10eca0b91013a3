"""What the page learns: cold start, one class, fits to the newest labels, restarts, exports."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from served import blobs, serving
from sklearn.preprocessing import StandardScaler

import labelfold
from labelfold.studio import GivenLabels
from labelfold.studio.labeling import AUDIT, FILE, SUSPECT
from labelfold.studio.proposals import find_suspects, propose_rows

X, CLASSES = blobs()
NAMES = np.array(["cat", "dog", "bird"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("learned")


@pytest.fixture(scope="module")
def learned(folder):
    with serving(folder) as (client, session):
        yield client, session


def fitted_to(event):
    return lambda state: state["fit"] is not None and state["fit"]["event"] == event


def test_from_no_label_to_two_classes_and_back(learned):
    client, session = learned
    state = client.wait(lambda state: state["hasMap"] and state["proposals"] == state["event"])
    assert (state["fit"], state["nLabels"]) == (None, 0)
    queue = client.get("api/queue")
    assert {one["reason"] for one in queue} == {"uncovered", AUDIT}
    assert len({CLASSES[one["row"]] for one in queue[:4]}) == 3  # they cover the data
    map_before = session.coordinates

    state = client.get("api/label", {"rows": [0], "label": "cat", "source": "uncovered"})
    client.wait(lambda now: now["proposals"] == state["event"])
    assert client.get("api/state")["fit"] is None  # one class: nothing to fit
    client.get("api/label", {"rows": [1, 4], "label": "dog"})
    state = client.get("api/label", {"rows": [2, 3], "label": "bird"})
    state = client.wait(fitted_to(state["event"]))
    assert (state["fit"]["nLabels"], state["curve"][-1]["n_labels"]) == (5, 5)
    assert "promises nothing" in state["fit"]["promise"]  # all rows were chosen
    assert "predicted" in client.get("api/cards", {"rows": [50]})[0]

    for _ in range(2):
        state = client.get("api/undo", {})
    client.wait(lambda now: now["fit"] is None)
    assert "predicted" not in client.get("api/cards", {"rows": [50]})[0]
    for _ in range(2):
        state = client.get("api/redo", {})
    client.wait(fitted_to(state["event"]))
    assert np.array_equal(map_before, session.coordinates) or session.coordinates is not map_before


def test_newest_labels_win(learned):
    client, session = learned
    n_fits = len(session.fits)
    for row in range(5, 45):
        state = client.get("api/label", {"rows": [row], "label": str(NAMES[CLASSES[row]])})
    state = client.wait(fitted_to(state["event"]))
    assert state["fit"]["nLabels"] == state["nLabels"]
    assert len(session.fits) - n_fits < 40  # older labels were not all fitted
    cards = client.get("api/cards", {"rows": list(range(45, 90))})
    right = [card["predicted"] == NAMES[CLASSES[card["row"]]] for card in cards]
    assert np.mean(right) > 0.9


def test_map_moves_with_labels_unless_it_is_frozen(learned):
    client, session = learned
    client.wait(lambda state: state["status"] == "")
    assert client.get("api/freeze", {"isFrozen": True})["isFrozen"]
    before = session.coordinates
    state = client.get("api/label", {"rows": [60], "label": "cat"})
    client.wait(lambda now: fitted_to(state["event"])(now) and now["status"] == "")
    assert session.coordinates is before
    client.get("api/freeze", {"isFrozen": False})
    client.wait(lambda state: session.coordinates is not before)
    radius = np.linalg.norm(before - before.mean(axis=0), axis=1).max()
    moves = np.linalg.norm(session.coordinates - before, axis=1)
    assert np.median(moves) < 0.3 * radius  # it neither flips nor starts over


def test_suspects_name_rows_that_speak_for_and_against(learned):
    client, _ = learned
    state = client.get("api/label", {"rows": [7, 60], "label": "bird"})  # a dog and a cat
    client.wait(lambda now: now["proposals"] == state["event"])
    suspects = client.get("api/suspects")
    assert {7, 60} <= {one["row"] for one in suspects}
    first = next(one for one in suspects if one["row"] == 7)
    assert (first["given"], first["suggested"]) == ("bird", "dog")
    assert all(CLASSES[row] == 1 for row in first["rows_against"])
    client.get("api/label", {"rows": [7], "label": "dog"})
    assert 7 not in {one["row"] for one in client.get("api/suspects")}
    client.get("api/undo", {})
    # A label that is given again is not doubted any more, unless that is undone.
    assert 7 in {one["row"] for one in client.get("api/queue") if one["reason"] == SUSPECT}
    client.get("api/label", {"rows": [7], "label": "bird", "source": SUSPECT})
    for name in ("suspects", "queue"):
        assert 7 not in {one["row"] for one in client.get(f"api/{name}")}
    client.get("api/undo", {})
    assert 7 in {one["row"] for one in client.get("api/suspects")}
    client.get("api/undo", {})


def test_exports(learned, folder, tmp_path):
    client, session = learned
    state = client.get("api/label", {"rows": [89], "action": "aside"})
    client.wait(fitted_to(state["event"]))
    _, headers, content = client.ask("api/export/labels.csv")
    assert "attachment" in headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [row["id"] for row in rows] == session.rows.ids
    assert (rows[0]["given"], rows[0]["source"]) == ("cat", "uncovered")
    assert (rows[89]["given"], rows[89]["source"]) == ("", "aside")
    assert all(row["predicted"] and float(row["confidence"]) <= 1 for row in rows)
    model = tmp_path / "model.skops"
    model.write_bytes(client.ask("api/export/model.skops")[2])
    again = labelfold.load(model)
    assert np.mean(again.predict(X[45:]) == NAMES[CLASSES[45:]]) > 0.9
    assert client.ask("api/export/map.html")[2].startswith(b"<!DOCTYPE html>")
    assert client.ask("api/export/map.png")[2].startswith(b"\x89PNG")
    assert client.ask("api/export/labels.parquet")[2].startswith(b"PAR1")
    assert compile(client.ask("api/export/repeat.py")[2], "repeat.py", "exec")


def test_restart_goes_on_with_labels_curve_and_graph(tmp_path):
    with serving(tmp_path) as (client, _):
        client.get("api/label", {"rows": [0, 3], "label": "cat"})
        state = client.get("api/label", {"rows": [1, 4], "label": "dog"})
        client.wait(lambda now: fitted_to(state["event"])(now) and now["status"] == "")
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").iterdir()}
    assert len(files) == 2
    with serving(tmp_path) as (client, session):
        again = client.wait(fitted_to(state["event"]))
        assert (again["nLabels"], len(again["curve"])) == (4, len(session.fits))
        assert session.fits[-1].event == state["event"]
        assert again["undo"] == "label 2 rows dog"
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").iterdir()} == files


def test_damaged_cache_is_computed_again(tmp_path):
    with serving(tmp_path) as (client, _):
        client.wait(lambda state: state["hasMap"] and state["status"] == "")
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(file.read_bytes()[:100])
    with serving(tmp_path) as (client, _):
        client.wait(lambda state: state["hasMap"])


def test_labels_of_numbers_are_numbers():
    given = GivenLabels(["1", None, "10", "2"], ["map", None, AUDIT, "map"])
    assert given.y.tolist() == [1, None, 10, 2]
    assert given.name_of == {1: "1", 10: "10", 2: "2"}
    assert given.audit.tolist() == [False, False, True, False]
    assert GivenLabels(["a", None], [FILE, None]).audit is None


def test_one_answer_in_ten_is_an_audit_that_comes_again_until_it_is_labeled():
    """Also for a person who answers the first row of a queue that is new after every answer."""
    texts, sources = [None] * 90, [None] * 90
    for row in (0, 1, 2, 4):
        texts[row], sources[row] = str(NAMES[CLASSES[row]]), "map"
    model = labelfold.FewLabelClassifier().fit(
        StandardScaler().fit_transform(X), GivenLabels(texts, sources).y
    )
    reasons = []
    for number in range(20):
        queue = propose_rows(model, GivenLabels(texts, sources), is_fitted=True)
        assert [one["reason"] == AUDIT for one in queue[:10]].index(True) == 9 - number % 10
        assert len({one["row"] for one in queue}) == len(queue)
        assert not any(texts[one["row"]] for one in queue)
        first = queue[0]
        texts[first["row"]], sources[first["row"]] = "cat", first["reason"]
        reasons.append(first["reason"])
    assert [number for number, reason in enumerate(reasons, 1) if reason == AUDIT] == [10, 20]
    # A skipped audit row stays due, and comes again.
    first = next(
        one
        for one in propose_rows(model, GivenLabels([None] * 90, [None] * 90), is_fitted=True)
        if one["reason"] == AUDIT
    )
    late = GivenLabels([None] * 80 + ["cat"] * 10, [None] * 80 + ["uncertain"] * 10)
    assert propose_rows(model, late, is_fitted=True)[0] == first
    assert find_suspects(model, GivenLabels(texts, sources)) is not None
