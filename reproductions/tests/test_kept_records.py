"""The report that is kept: its pages say what the kept results say, judged by today's code."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from reproductions import PAPERS, keep_report, load_paper, record
from reproductions.entry import OF_THE_TEXT
from reproductions.outcome import judge_entry
from reproductions.report import list_figures, make_page
from reproductions.runner import EntryRun

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "reproduction"
ENTRIES = [(name, entry.name) for name in PAPERS for entry in load_paper(name).entries]


@pytest.mark.parametrize(("paper_name", "entry_name"), ENTRIES)
def test_page_is_made_of_the_results_and_what_does_not_hold_has_its_reason(
    paper_name, entry_name, tmp_path, monkeypatch
):
    paper = load_paper(paper_name)
    path = tmp_path / f"{entry_name}.jsonl"
    path.write_bytes(
        lzma.decompress((KEPT / "records" / paper_name / f"{path.name}.xz").read_bytes())
    )
    header = json.loads(path.read_text("utf-8").splitlines()[0])
    # Whatever is installed here, the results are those of the versions that they name.
    monkeypatch.setattr(record, "list_versions", lambda: header["versions"])
    run = EntryRun(paper, paper.entry(entry_name), tmp_path)
    assert set(run.record.results) == {task.key for task in run.tasks}
    figures = list_figures(run)
    names = {item.name for item in paper.items}
    assert {verdict.item for verdict in run.verdicts} <= {"", OF_THE_TEXT, *names}
    missing = [one for one in run.verdicts if not one.is_ours and one.verdict != "holds"]
    assert [one.statement for one in missing if not one.why] == []
    assert run.entry.why or not judge_entry(figures).has_numbers_off
    page = (KEPT / paper_name / f"{entry_name}.md").read_text("utf-8")
    again = "unpack with reproductions.keep_report, and run python -m reproductions all on it"
    assert page == make_page(run, figures), again


def test_no_results_are_kept_of_what_is_not_an_entry():
    kept = {(path.parent.name, path.name) for path in (KEPT / "records").glob("*/*")}
    assert kept == {(paper, f"{entry}.jsonl.xz") for paper, entry in ENTRIES}


def test_verdicts_are_those_of_the_report_that_is_kept():
    report = (KEPT / "report.md").read_text(encoding="utf-8")
    table = keep_report.verdict_table(report)
    shown = keep_report.TABLE.search(keep_report.INDEX.read_text(encoding="utf-8"))
    assert shown[0] == table, "run python -m reproductions.keep_report on the output of a full run"
    items = [item for name in PAPERS for item in load_paper(name).items if item.entries]
    assert len(keep_report.ROW.findall(report)) == len(items)
    assert "not run yet" not in report
