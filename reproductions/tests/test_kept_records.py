"""The report that is kept: its pages say what the kept results say, judged by today's code."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from reproductions import keep_report, load_paper, paper_names
from reproductions.entry import OF_THE_TEXT
from reproductions.outcome import judge_entry
from reproductions.record import Origin, Record
from reproductions.report import make_page
from reproductions.runner import EntryRun

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "reproduction"
ENTRIES = [(name, entry.name) for name in paper_names() for entry in load_paper(name).entries]


def unpack_run(paper_name: str, entry_name: str, folder: Path) -> EntryRun:
    """Return the run that the kept results of an entry came from."""
    paper = load_paper(paper_name)
    entry = paper.entry(entry_name)
    path = folder / f"{entry_name}.jsonl"
    kept = KEPT / "records" / paper_name / f"{path.name}.xz"
    path.write_bytes(lzma.decompress(kept.read_bytes()))
    header = json.loads(path.read_text("utf-8").splitlines()[0])
    # Whatever is installed here, the results are those of the versions that they name.
    origin = Origin(paper_name, entry_name, entry.edition, False, header["versions"])
    assert origin.differences(header) == ""
    record = Record(path, origin)
    tasks = entry.tasks(False)
    assert set(record.results) == {task.key for task in tasks}
    results = [record.results[task.key] for task in tasks]
    return EntryRun(paper, entry, origin, record.platform, results, len(tasks), path)


@pytest.mark.parametrize(("paper_name", "entry_name"), ENTRIES)
def test_page_is_made_of_the_results_and_what_does_not_hold_has_its_reason(
    paper_name, entry_name, tmp_path
):
    run = unpack_run(paper_name, entry_name, tmp_path)
    summary = run.summary()
    verdicts = run.entry.judge(summary)
    names = {item.name for item in run.paper.items}
    assert {verdict.item for verdict in verdicts} <= {"", OF_THE_TEXT, *names}
    missing = [one for one in verdicts if not one.is_ours and one.verdict != "holds"]
    assert [one.statement for one in missing if not one.why] == []
    assert run.entry.why or not judge_entry(summary, verdicts).has_numbers_off
    page = (KEPT / paper_name / f"{entry_name}.md").read_text("utf-8")
    again = "unpack with reproductions.keep_report, and run python -m reproductions all on it"
    assert page == make_page(run, summary, verdicts), again


def test_no_results_are_kept_of_what_is_not_an_entry():
    kept = {(path.parent.name, path.name) for path in (KEPT / "records").glob("*/*")}
    assert kept == {(paper, f"{entry}.jsonl.xz") for paper, entry in ENTRIES}


def test_verdicts_are_those_of_the_report_that_is_kept():
    report = (KEPT / "report.md").read_text(encoding="utf-8")
    table = keep_report.verdict_table(report)
    shown = keep_report.TABLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown[0] == table, "run python -m reproductions.keep_report on the output of a full run"
    items = [item for name in paper_names() for item in load_paper(name).items if item.entries]
    assert len(keep_report.ROW.findall(report)) == len(items)
    assert "not run yet" not in report


@pytest.mark.parametrize("name", paper_names())
def test_every_entry_has_its_page_in_the_report_that_is_kept(name):
    for entry in load_paper(name).entries:
        page = (KEPT / name / f"{entry.name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {entry.name}: ")
        assert f"Edition {entry.edition};" in page
        assert "A quick run" not in page
