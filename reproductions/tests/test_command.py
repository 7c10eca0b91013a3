"""`python -m reproductions` end to end on its quickest entry, and what it refuses."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import reproductions
from reproductions.__main__ import main

ROOT = Path(__file__).parents[2]


@dataclass
class Result:
    exit_code: int
    stdout: str
    stderr: str


def run(*arguments):
    """Run the command in this process; return its exit code and what it wrote."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = main([str(argument) for argument in arguments])
    return Result(code, stdout.getvalue(), stderr.getvalue())


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A quick run, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("reproduce") / "out"
    return run("ccdr-2005", "bands", "--quick", "--out", folder), folder


@pytest.fixture
def needy(monkeypatch):
    """The paper, with one entry that reads data files."""
    paper = reproductions.load_paper("ccdr-2005")
    first, *others = paper.entries
    needy = replace(paper, entries=(replace(first, needs_data=True), *others))
    monkeypatch.setattr(reproductions, "load_paper", lambda name: needy)
    return needy


def test_without_a_paper_it_lists_them():
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("ccdr-2005: J. A. Costa and A. O. Hero III")
    for name in ("table-1", "bands", "figure-1", "figure-2", "figure-3"):
        assert re.search(rf"^  {name} +\w", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["ccdr-1905"], "no paper 'ccdr-1905': choose from ccdr-2005"),
        (["ccdr-2005", "table-9"], "no entry 'table-9': choose from table-1, bands, figure-1"),
    ],
)
def test_unknown_names_raise_an_error_with_the_choices(tmp_path, names, message):
    result = run(*names, "--out", tmp_path / "new")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not (tmp_path / "new").exists()


def test_missing_data_are_refused_before_any_work(needy, tmp_path, monkeypatch):
    monkeypatch.delenv("LABELFOLD_DATA", raising=False)
    result = run("ccdr-2005", "--out", tmp_path / "new")
    assert result.exit_code == 2
    assert "ccdr-2005 table-1: data files are needed" in result.stderr
    assert "--data" in result.stderr
    assert "LABELFOLD_DATA" in result.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("by_variable", [False, True])
def test_the_data_folder_must_be_there(needy, tmp_path, by_variable, monkeypatch):
    missing = tmp_path / "missing"
    options = [] if by_variable else ["--data", missing]
    monkeypatch.setenv("LABELFOLD_DATA", str(missing) if by_variable else "")
    result = run("ccdr-2005", "--out", tmp_path / "new", *options)
    assert result.exit_code == 2
    assert f"{missing} is not a folder" in result.stderr
    assert not (tmp_path / "new").exists()


def test_entries_without_data_need_no_folder(needy, tmp_path, monkeypatch):
    monkeypatch.delenv("LABELFOLD_DATA", raising=False)
    assert run("ccdr-2005", "figure-1", "--quick", "--out", tmp_path).exit_code == 0


def test_results_go_to_stdout_and_files(finished):
    result, folder = finished
    assert (result.exit_code, result.stderr) == (0, "")
    assert "ccdr-2005 bands: How many bands" in result.stdout
    assert "15 tasks; " in result.stdout
    assert re.search(r"^300 +6 +error +\d\.\d\d % .* 5 +5\.0 % +\w+$", result.stdout, re.MULTILINE)
    assert (
        f"Files in {folder / 'ccdr-2005-quick'}: bands.md, bands.json, bands.png" in result.stdout
    )
    names = sorted(path.name for path in (folder / "ccdr-2005-quick").iterdir())
    assert names == ["bands.json", "bands.jsonl", "bands.md", "bands.png"]
    assert "[ccdr-2005 bands](ccdr-2005-quick/bands.md)" in (folder / "report-quick.md").read_text()
    figures = json.loads((folder / "ccdr-2005-quick" / "bands.json").read_text())
    assert (figures["quick"], figures["n_tasks"]) == (True, 15)


def test_a_second_run_reuses_the_first_unless_it_is_a_fresh_one(finished):
    first, folder = finished
    result = run("ccdr-2005", "bands", "--quick", "--out", folder)
    assert "15 tasks, 15 of them by an earlier run" in result.stdout
    assert result.stdout.splitlines()[2:] == first.stdout.splitlines()[2:]
    result = run("ccdr-2005", "bands", "--quick", "--fresh", "--out", folder)
    assert result.exit_code == 0
    assert "warning: " in result.stderr
    assert "bands.jsonl was renamed to bands.old-1.jsonl" in result.stderr
    assert "by an earlier run" not in result.stdout


def test_progress_is_shown_when_asked_for(tmp_path):
    arguments = ("ccdr-2005", "figure-1", "--quick", "--out", tmp_path)
    assert "figure-1: 100%" in run(*arguments, "-v").stderr
    assert run(*arguments, "-q").stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    script = textwrap.dedent("""
        import signal
        import sys
        import time
        from dataclasses import replace
        import reproductions
        from reproductions.__main__ import main

        signal.signal(signal.SIGINT, signal.default_int_handler)
        paper = reproductions.load_paper("ccdr-2005")
        entry = paper.entry("bands")

        def work(task, data_home):
            if task.seed == 2:
                print("working", flush=True)
                time.sleep(60)
            return entry.run(task, data_home)

        slow = replace(paper, entries=(replace(entry, run=work),))
        reproductions.load_paper = lambda name: slow
        sys.exit(main())
    """)
    arguments = ["ccdr-2005", "bands", "--quick", "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as program:
        assert program.stdout.readline() == "working\n"
        program.send_signal(signal.SIGINT)
        _, stderr = program.communicate(timeout=30)
    assert program.returncode == 130
    assert stderr.startswith(
        "python -m reproductions: interrupted. 2 of 15 tasks of bands are finished and kept"
    )
    assert "the next run continues from there" in stderr
    result = run(*arguments)
    assert "15 tasks, 2 of them by an earlier run" in result.stdout
