"""The report of all papers: every table and figure is in it, and its numbers are computed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from reproductions import Item, Task, Verdict, load_paper, paper_names
from reproductions.entry import NO_NUMBERS, OF_THE_TEXT
from reproductions.full_report import write_full_report
from reproductions.report import write_entry
from reproductions.runner import run_entries, run_entry

# Read off the papers: their captions, and the one table without any (CCDR-MC, section V.D).
TABLES_AND_FIGURES = {
    "ccdr-2005": ["Table 1", "Fig. 1", "Fig. 2", "Fig. 3"],
    "ccdr-mc": ["Fig. 1", "Table I", "Table of section V.D", "Fig. 2", "Fig. 3", "Fig. 4"],
    "ism": [*(f"Fig. {number}" for number in range(1, 6)), *(f"Table {n}" for n in range(1, 5))],
    "lapclass": ["Fig. 1", "Fig. 2", "Fig. 3"],
    "ssde": ["Table 1", "Fig. 1", "Fig. 2"],
}


@pytest.fixture
def shown(paper):
    """The tiny paper, with a figure of two entries and a listing."""
    both = tuple(entry.name for entry in paper.entries)
    items = (Item("Table 1", "sums", ("table-1",)), Item("Fig. 1", "both", both))
    return replace(paper, items=(*items, Item("Table 9", "a listing", ())))


def make(paper, folder, *names, **options):
    for name in names:
        run = run_entry(paper, paper.entry(name), folder / paper.name, **options)
        summary = run.summary()
        write_entry(run, summary, run.entry.judge(summary))
    return write_full_report([paper], folder).read_text("utf-8")


def test_every_table_and_figure_of_the_five_papers_is_an_item():
    for name in paper_names():
        paper = load_paper(name)
        assert [item.name for item in paper.items] == TABLES_AND_FIGURES[name]
        known = {entry.name for entry in paper.entries}
        assert all(set(item.entries) <= known for item in paper.items)
    # All but the one that is an algorithm.
    empty = [item for name in paper_names() for item in load_paper(name).items if not item.entries]
    assert [item.about.split(":")[0] for item in empty] == ["the algorithm"]


def test_all_items_are_rows_with_their_verdict(shown, tmp_path):
    markdown = make(shown, tmp_path, "table-1", "table-2")
    assert (
        "| [tiny Table 1](tiny/table-1.md) | sums | matches | 1 of 1 | 1 as printed |" in markdown
    )
    assert "[tiny Fig. 1, table-1](tiny/table-1.md); [tiny Fig. 1, table-2](tiny/table-2.md)" in (
        markdown
    )
    assert "| tiny Table 9 | a listing | nothing to measure |  |  |" in markdown
    assert "Of 2 tables and figures with something to measure: 2 matches." in markdown
    assert "N. N., Sums, 1905." in markdown


def test_what_is_not_run_yet_is_said(shown, tmp_path):
    markdown = make(shown, tmp_path, "table-1")
    assert "| tiny Fig. 1 | both | not run yet |" in markdown
    assert "to measure: 1 matches, 1 not run yet." in markdown


def test_why_stands_beside_what_differs_only(shown, counter, tmp_path):
    def run_worse(task, data_home):
        return [replace(one, value=one.value * 3) for one in counter(task, data_home)]

    first, second = (replace(entry, why="The ruler is longer.") for entry in shown.entries)
    paper = replace(shown, entries=(replace(first, run=run_worse), second))
    markdown = make(paper, tmp_path, "table-1", "table-2")
    assert "| sums | differs | 1 of 1 | 1 worse |" in markdown
    assert "- **tiny Table 1.**\n  - *Numbers*: The ruler is longer.\n" in markdown
    assert "| both | differs |" in markdown
    assert markdown.count("The ruler is longer.") == 2  # of two items


def test_entries_that_are_no_item_stand_apart(shown, tmp_path):
    paper = replace(shown, items=shown.items[:1])
    markdown = make(paper, tmp_path, "table-1", "table-2")
    beside = markdown.split("## Beside")[1]
    assert "[tiny table-2](tiny/table-2.md) | Sums | 1 of 1 | 1 of 1 |" in beside


def test_entries_share_the_processes_and_come_when_they_are_finished(tmp_path):
    paper = load_paper("ccdr-2005")
    entries = [paper.entry(name) for name in ("bands", "figure-1")]
    work = [(paper, entry, tmp_path) for entry in entries]
    alone = [run_entry(paper, entry, tmp_path / "alone", quick=True) for entry in entries]
    together = list(run_entries(work, quick=True, n_jobs=2))
    assert {run.entry.name for run in together} == {"bands", "figure-1"}
    for one in alone:
        (other,) = (run for run in together if run.entry.name == one.entry.name)
        assert one.summary() == other.summary()
    again = list(run_entries(work, quick=True))
    assert [run.n_reused for run in again] == [len(entry.tasks(True)) for entry in entries]


def test_a_failure_leaves_what_other_entries_finished(paper, counter, tmp_path):
    work = [(paper, entry, tmp_path) for entry in paper.entries]
    counter.failures[(20, 2)] = OSError("disk")
    finished = []
    with pytest.raises(OSError, match="disk") as caught:
        finished += run_entries(work)
    notes = " ".join(caught.value.__notes__)
    assert "5 of 6 tasks of table-1" in notes
    assert "0 of 6 tasks of table-2" in notes
    assert [run.n_reused for run in run_entries(work)] == [5, 0]


@pytest.mark.parametrize(
    ("paper", "entry"),
    [
        ("ccdr-2005", "bands"),
        ("ccdr-2005", "figure-2"),
        ("ccdr-mc", "figure-1"),
        ("ism", "figure-5"),
    ],
)
def test_another_seed_gives_other_numbers_and_the_same_seed_the_same(paper, entry):
    chosen = load_paper(paper).entry(entry)
    task = chosen.tasks(True)[0]

    def numbers(seed):
        return chosen.run(Task(task.setting, seed), None)

    first, again, other = ([one.value for one in numbers(seed)] for seed in (0, 0, 1))
    assert again == pytest.approx(first, rel=1e-8)
    assert len(other) == len(first)
    assert other != pytest.approx(first, rel=1e-8)


def test_a_report_is_made_of_the_numbers_of_its_seeds(tmp_path):
    """Nothing printed in a report is written down beforehand: other seeds, other figures."""
    paper = load_paper("ccdr-2005")
    bands = paper.entry("bands")

    def report(first_seed):
        def tasks(quick):
            return [Task(one.setting, one.seed + first_seed) for one in bands.tasks(True)]

        run = run_entry(paper, replace(bands, tasks=tasks), tmp_path / str(first_seed))
        summary = run.summary()
        page, *_ = write_entry(run, summary, bands.judge(summary))
        table = page.read_text("utf-8").split("## Results")[1]
        return re.findall(r"\| ([\d.]+ %) \| [\d.]+ to [\d.]+ % \|", table)

    first, other = report(0), report(1000)
    assert len(first) == len(other) > 2
    assert first != other


def test_items_that_share_an_entry_have_rows_and_claims_of_their_own(paper, tmp_path):
    def judge(summary):
        return [
            Verdict("sums", "text", "f", "holds", item="Table 1"),
            Verdict("last sum", "text", "f", "partly", item="Table 1", why="It is odd."),
            Verdict("spectrum", "text", "f", "does not hold", item="Table 2"),
            Verdict("no table", "text", "f", "does not hold", item=OF_THE_TEXT),
            Verdict("ours", "not in the paper", "f", "does not hold", item="Table 1"),
        ]

    first = replace(paper.entries[0], judge=judge)
    rows = {"method": "b"}  # which has no printed number
    items = (
        Item("Table 1", "sums", ("table-1",)),
        Item("Table 2", "spectra", ("table-1",), rows=rows),
        Item("Table 3", "nothing", ("table-1",), rows=NO_NUMBERS),
    )
    markdown = make(replace(paper, entries=(first,), items=items), tmp_path, "table-1")
    assert "| sums | matches in part | 1 of 2, 1 in part | 1 as printed |" in markdown
    assert "| spectra | differs | 0 of 1 |  |" in markdown
    # An item that no claim and no number belongs to is not passed over in silence.
    assert "| tiny Table 3 | nothing | not run yet |" in markdown
    assert "- **tiny Table 1.**\n  - *last sum*: It is odd.\n" in markdown
    assert "- **tiny Table 2.**\n  - *spectrum*: The reason is not known.\n" in markdown
