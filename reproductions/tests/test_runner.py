"""Resuming, what is never mixed, and several processes against one."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace

import pytest

from reproductions import load_paper, record
from reproductions.runner import run_entry

N_TASKS = 6


def run(paper, folder, **options):
    return run_entry(paper, paper.entries[0], folder, **options)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_task_is_a_line_behind_the_origin(paper, tmp_path):
    finished = run(paper, tmp_path / "new")
    origin, *rows = lines_of(tmp_path / "new" / "table-1.jsonl")
    assert set(origin["versions"]) == {"labelfold", "numpy", "scipy", "scikit-learn", "python"}
    assert (origin["quick"], origin["edition"], origin["entry"]) == (False, 1, "table-1")
    assert origin["platform"] == finished.platform
    assert len(rows) == len(finished.results) == N_TASKS
    assert rows[0]["setting"] == {"size": 10}
    assert rows[0]["seed"] == 0
    assert rows[0]["seconds"] >= 0
    assert rows[0]["measurements"][0] == {
        "measure": "error",
        "setting": {"method": "a"},
        "value": 0.1,
        "n_scored": 100,
        "unit": "share",
    }


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), ValueError("no")])
def test_an_interrupted_run_goes_on(paper, counter, tmp_path, failure):
    whole = run(paper, tmp_path / "whole").summary()
    counter.ran.clear()
    counter.failures[10, 2] = failure
    with pytest.raises(type(failure)) as caught:
        run(paper, tmp_path)
    (note,) = caught.value.__notes__
    assert note.startswith(f"2 of 6 tasks of table-1 are finished and kept in {tmp_path}")
    assert len(lines_of(tmp_path / "table-1.jsonl")) == 3
    resumed = run(paper, tmp_path)
    assert resumed.n_reused == 2
    assert counter.ran == [(10, 0), (10, 1), (10, 2), (20, 0), (20, 1), (20, 2)]
    assert resumed.summary() == whole


def test_a_finished_run_is_not_repeated(paper, counter, tmp_path):
    first = run(paper, tmp_path)
    again = run(paper, tmp_path)
    assert len(counter.ran) == again.n_reused == N_TASKS
    assert again.summary() == first.summary()


@pytest.mark.parametrize("n_kept", [0, 1, 4])
def test_a_half_written_line_is_dropped(paper, counter, tmp_path, n_kept):
    whole = run(paper, tmp_path).summary()
    path = tmp_path / "table-1.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:n_kept]) + lines[n_kept][:-7])
    counter.ran.clear()
    assert run(paper, tmp_path).summary() == whole
    assert len(counter.ran) == N_TASKS - max(0, n_kept - 1)
    assert len(lines_of(path)) == 1 + N_TASKS


def test_a_line_that_lost_only_its_end_is_dropped_too(paper, counter, tmp_path):
    run(paper, tmp_path)
    path = tmp_path / "table-1.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    run(paper, tmp_path)
    assert len(counter.ran) == N_TASKS + 1
    assert len(lines_of(path)) == 1 + N_TASKS


def test_a_damaged_file_is_named(paper, tmp_path):
    run(paper, tmp_path)
    path = tmp_path / "table-1.jsonl"
    path.write_text(path.read_text().replace('{"setting', "{setting", 1))
    with pytest.raises(ValueError, match=r"line 2 of .*table-1\.jsonl is no result"):
        run(paper, tmp_path)


def test_quick_and_full_runs_are_not_mixed(paper, counter, tmp_path):
    run(paper, tmp_path, quick=True)
    with pytest.warns(UserWarning, match=r"set aside as table-1\.old-1\.jsonl.*quick True rather"):
        finished = run(paper, tmp_path)
    assert (finished.n_reused, len(counter.ran)) == (0, 2 + N_TASKS)
    assert len(lines_of(tmp_path / "table-1.old-1.jsonl")) == 1 + 2


def test_another_version_is_not_mixed(paper, tmp_path, monkeypatch):
    run(paper, tmp_path)
    monkeypatch.setattr(record, "__version__", "99.0")
    with pytest.warns(UserWarning, match=r"labelfold .* rather than 99\.0"):
        assert run(paper, tmp_path).n_reused == 0


def test_another_edition_is_not_mixed(paper, tmp_path):
    run(paper, tmp_path)
    changed = replace(paper.entries[0], edition=2)
    with pytest.warns(UserWarning, match="edition 1 rather than 2"):
        assert run_entry(paper, changed, tmp_path).n_reused == 0


def test_a_fresh_run_keeps_every_older_one(paper, tmp_path):
    run(paper, tmp_path)
    for _ in range(2):
        with pytest.warns(UserWarning, match="a fresh start was asked for"):
            assert run(paper, tmp_path, fresh=True).n_reused == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["table-1.jsonl", "table-1.old-1.jsonl", "table-1.old-2.jsonl"]


def test_results_of_tasks_that_are_no_more_are_left_out(paper, counter, tmp_path):
    run(paper, tmp_path)
    fewer = replace(paper.entries[0], tasks=lambda quick: paper.entries[0].tasks(quick)[:2])
    finished = run_entry(paper, fewer, tmp_path)
    assert len(finished.results) == 2
    assert len(counter.ran) == N_TASKS


def test_the_order_of_the_lines_has_no_influence(paper, tmp_path):
    finished = run(paper, tmp_path)
    path = tmp_path / "table-1.jsonl"
    origin, *rows = path.read_text().splitlines(keepends=True)
    path.write_text(origin + "".join(reversed(rows)))
    assert run(paper, tmp_path).summary() == finished.summary()


def test_warnings_of_a_task_are_kept(paper, tmp_path):
    def warn(task, data_home):
        import warnings

        warnings.warn("two\n pieces", stacklevel=1)
        return []

    entry = replace(paper.entries[0], run=warn)
    finished = run_entry(paper, entry, tmp_path)
    assert all(result.warnings == ("two pieces",) for result in finished.results)
    again = run_entry(paper, entry, tmp_path)
    assert again.results[0].warnings == ("two pieces",)


def test_progress_begins_where_the_record_ends(paper, counter, tmp_path, capsys):
    counter.failures[20, 1] = ValueError("no")
    with pytest.raises(ValueError, match="no"):
        run(paper, tmp_path)
    run(paper, tmp_path, verbose=True)
    shown = capsys.readouterr().err
    assert "table-1: " in shown
    assert re.findall(r"\d/6", shown)[0] == "4/6"
    assert re.findall(r"\d/6", shown)[-1] == "6/6"


def test_two_processes_find_what_one_finds(tmp_path):
    # An entry of the library, since other processes have to import what they run.
    paper = load_paper("ccdr-2005")
    entry = paper.entry("bands")
    few = replace(entry, tasks=lambda quick: entry.tasks(True)[::3])
    alone = run_entry(paper, few, tmp_path / "1")
    together = run_entry(paper, few, tmp_path / "2", n_jobs=2)
    assert len(lines_of(together.record)) == 1 + 5
    assert together.summary() == alone.summary()
    shutil.copy(alone.record, tmp_path / "bands.jsonl")
    assert run_entry(paper, few, tmp_path).summary() == alone.summary()
