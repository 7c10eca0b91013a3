"""Resuming, what is never mixed, and several processes against one."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest

from reproductions import load_paper, record
from reproductions.entry import Measurement
from reproductions.runner import EntryRun, run_entries
from reproductions.tests.helpers import run_entry

N_TASKS = 6


def run(paper, folder, **options):
    return run_entry(paper, paper.entries[0], folder, **options)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_task_is_a_line_after_the_origin(paper, tmp_path):
    finished = run(paper, tmp_path / "new")
    origin, *rows = lines_of(tmp_path / "new" / "table-1.jsonl")
    assert set(origin["versions"]) == {"labelfold", "numpy", "scipy", "scikit-learn", "python"}
    assert (origin["quick"], origin["edition"], origin["entry"]) == (False, 1, "table-1")
    assert origin == finished.record.origin
    assert len(rows) == len(finished.results) == N_TASKS
    assert (rows[0]["setting"], rows[0]["seed"]) == ({"size": 10}, 0)
    assert rows[0]["seconds"] >= 0
    assert rows[0]["measurements"][0] == {
        "measure": "error",
        "setting": {"method": "a"},
        "value": 0.1,
        "n_scored": 100,
        "unit": "share",
        "draw": None,
    }


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), ValueError("no")])
def test_an_interrupted_run_continues(paper, counter, tmp_path, failure, capsys):
    whole = run(paper, tmp_path / "whole").summary
    counter.ran.clear()
    counter.failures[10, 2] = failure
    with pytest.raises(type(failure)) as caught:
        run(paper, tmp_path)
    (note,) = caught.value.__notes__
    assert note.startswith(f"2 of 6 tasks of table-1 are finished and kept in {tmp_path}")
    assert len(lines_of(tmp_path / "table-1.jsonl")) == 3
    resumed = run(paper, tmp_path, verbose=True)
    assert resumed.n_reused == 2
    assert counter.ran == [(10, 0), (10, 1), (10, 2), (20, 0), (20, 1), (20, 2)]
    assert resumed.summary == whole
    shown = re.findall(r"\d/6", capsys.readouterr().err)
    assert (shown[0], shown[-1]) == ("2/6", "6/6")
    assert run(paper, tmp_path).n_reused == len(counter.ran) == N_TASKS


@pytest.mark.parametrize(("n_kept", "n_cut"), [(0, 7), (1, 7), (4, 7), (6, 1)])
def test_a_half_written_line_is_dropped(paper, counter, tmp_path, n_kept, n_cut):
    whole = run(paper, tmp_path).summary
    path = tmp_path / "table-1.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:n_kept]) + lines[n_kept][:-n_cut])
    counter.ran.clear()
    assert run(paper, tmp_path).summary == whole
    assert len(counter.ran) == N_TASKS - max(0, n_kept - 1)
    assert len(lines_of(path)) == 1 + N_TASKS


def test_results_of_another_origin_are_not_mixed(paper, counter, tmp_path, monkeypatch):
    run(paper, tmp_path, quick=True)
    with pytest.warns(UserWarning, match=r"renamed to table-1\.old-1\.jsonl.*quick True rather"):
        assert run(paper, tmp_path).n_reused == 0
    assert len(counter.ran) == 2 + N_TASKS
    assert len(lines_of(tmp_path / "table-1.old-1.jsonl")) == 1 + 2
    with pytest.warns(UserWarning, match="edition 1 rather than 2"):
        assert run_entry(paper, replace(paper.entries[0], edition=2), tmp_path).n_reused == 0
    monkeypatch.setattr(record, "__version__", "99.0")
    with pytest.warns(UserWarning, match=r"labelfold .* rather than 99\.0"):
        assert run(paper, tmp_path).n_reused == 0
    with pytest.warns(UserWarning, match="a fresh start was requested"):
        assert run(paper, tmp_path, fresh=True).n_reused == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["table-1.jsonl", *(f"table-1.old-{n}.jsonl" for n in range(1, 5))]


def test_only_the_results_of_present_tasks_count_in_any_order(paper, counter, tmp_path):
    finished = run(paper, tmp_path)
    path = tmp_path / "table-1.jsonl"
    origin, *rows = path.read_text().splitlines(keepends=True)
    path.write_text(origin + "".join(reversed(rows)))
    assert run(paper, tmp_path).summary == finished.summary
    fewer = replace(paper.entries[0], tasks=lambda quick: paper.entries[0].tasks(quick)[:2])
    assert len(run_entry(paper, fewer, tmp_path).results) == 2
    assert len(counter.ran) == N_TASKS


def test_warnings_and_draws_and_numbers_of_numpy_are_kept(paper, tmp_path):
    def warn(task, data_home):
        warnings.warn("two\n parts", stacklevel=1)
        return [Measurement(np.float32(0.5), {"n": 1}, n_scored=np.int64(7), draw=np.int64(3))]

    entry = replace(paper.entries[0], run=warn)
    first, again = (run_entry(paper, entry, tmp_path) for _ in range(2))
    assert again.n_reused == N_TASKS
    assert [result.warnings for result in again.results] == [("two parts",)] * N_TASKS
    measured = again.results[0].measurements
    assert (
        measured
        == first.results[0].measurements
        == (Measurement(0.5, {"n": 1}, n_scored=7, draw=3),)
    )


def test_several_processes_and_entries_find_what_one_finds(tmp_path):
    # Entries of a paper, since other processes have to import what they run.
    paper = load_paper("ccdr-2005")
    entries = [
        replace(entry, tasks=lambda quick, tasks=entry.tasks: tasks(True)[::3])
        for entry in (paper.entry("bands"), paper.entry("figure-1"))
    ]
    alone = {entry.name: run_entry(paper, entry, tmp_path / "1") for entry in entries}
    runs = [EntryRun(paper, entry, tmp_path / "2") for entry in entries]
    together = list(run_entries(runs, n_jobs=2))
    assert {one.entry.name for one in together} == set(alone)
    for one in together:
        assert len(lines_of(one.record.path)) == 1 + len(one.tasks)
        assert one.summary == alone[one.entry.name].summary
    shutil.copy(alone["bands"].record.path, tmp_path / "bands.jsonl")
    assert run_entry(paper, entries[0], tmp_path).summary == alone["bands"].summary


def test_a_failure_leaves_what_other_entries_finished(paper, counter, tmp_path):
    counter.failures[(20, 2)] = OSError("disk")
    with pytest.raises(OSError, match="disk") as caught:
        list(run_entries([EntryRun(paper, entry, tmp_path) for entry in paper.entries]))
    notes = " ".join(caught.value.__notes__)
    assert "5 of 6 tasks of table-1" in notes
    assert "0 of 6 tasks of table-2" in notes
    runs = [EntryRun(paper, entry, tmp_path) for entry in paper.entries]
    assert [run.n_reused for run in run_entries(runs)] == [5, 0]
