"""The files of a run and the report of all papers: figures, text, and that they appear whole."""

from __future__ import annotations

import json
import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from reproductions import PAPERS, load_paper, tables
from reproductions.entry import NO_NUMBERS, OF_THE_TEXT, Item, Measurement, Printed, Task, Verdict
from reproductions.report import write_entry, write_report
from reproductions.summary import TaskResult, summarize
from reproductions.tests.helpers import run_entry

# Read off the papers: their captions, and the one table without any (CCDR-MC, section V.D).
TABLES_AND_FIGURES = {
    "ccdr-2005": ["Table 1", "Fig. 1", "Fig. 2", "Fig. 3"],
    "ccdr-mc": ["Fig. 1", "Table I", "Table of section V.D", "Fig. 2", "Fig. 3", "Fig. 4"],
    "ism": [*(f"Fig. {number}" for number in range(1, 6)), *(f"Table {n}" for n in range(1, 5))],
    "lapclass": ["Fig. 1", "Fig. 2", "Fig. 3"],
    "ssde": ["Table 1", "Fig. 1", "Fig. 2"],
}


def make(paper, folder, entry=None, **options):
    """Run an entry and write its files; return its page."""
    page, *_ = write_entry(run_entry(paper, entry or paper.entries[0], folder, **options))
    return page.read_text("utf-8")


def draw(summary, data_home):
    from matplotlib.figure import Figure

    return Figure(figsize=(1, 1))


def test_a_run_becomes_a_page_figures_and_a_picture(paper, tmp_path):
    told = []

    def draw_and_tell(summary, data_home):
        told.append(data_home)
        return draw(summary, data_home)

    entry = replace(paper.entries[0], draw=draw_and_tell)
    out = tmp_path / "out"
    for _ in range(2):  # the second run finds all tasks in the record
        page = make(paper, out, entry, data_home=tmp_path)
    assert told == [tmp_path, tmp_path]
    names = ["table-1.json", "table-1.jsonl", "table-1.md", "table-1.png"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert (out / "table-1.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "](table-1.png)" in page


def test_the_page_says_all_there_is_to_know(paper, tmp_path):
    page = make(paper, tmp_path)
    assert page.startswith(
        "# table-1: Sums\n\n**Verdict: matches.** Claims of the paper that hold: "
    )
    assert "\n\nAdds numbers.\n" in page
    assert "| 10 | a | 11.00 % | 9.91 to 12.09 % | 3 | 10.5 % | matches |\n" in page
    assert "| 10 | b | 5.50 % | 4.96 to 6.04 % | 3 |  |  |\n" in page
    assert "| a \\| b | &lt;b&gt;1&lt;/b&gt; | 0.11 | holds |\n" in page
    beside, rest = page.split("### Beside the paper")[1].split("### All rows")
    assert beside.count("| 10 | a |") == rest.count("| 10 | a |") == 1
    assert "| 20 |" not in beside
    assert "| 20 |" in rest
    assert "Student's" in page
    assert "Seeds 0 to 2." in page
    assert "Rows scored in a run: 100." in page
    assert re.search(r"Edition 1; labelfold [\d.]+, numpy", page)
    for word in ("Wilson", "quick", ".png"):
        assert word not in page


def test_a_quick_run_says_so_and_names_wilson(paper, tmp_path):
    page = make(paper, tmp_path, quick=True)
    assert "**A quick run**" in page
    assert "Wilson's binomial interval" in page


def test_seeds_and_warnings_stand_on_the_page(paper, counter, tmp_path):
    def warn(task, data_home):
        if task.setting["size"] == 10:
            warnings.warn("<two> parts", stacklevel=1)
        return counter(task, data_home)

    def tasks(quick):
        return [Task({"size": size}, seed) for size in (10, 20) for seed in (0, 1, 2, 4, 6, 7)]

    page = make(paper, tmp_path, replace(paper.entries[0], run=warn, tasks=tasks))
    assert "- Warning in 6 of the tasks: &lt;two&gt; parts\n" in page
    assert "Seeds 0 to 2, 4, 6 to 7." in page


def test_the_figures_are_those_of_the_summary(paper, tmp_path):
    make(paper, tmp_path)
    figures = json.loads((tmp_path / "table-1.json").read_text())
    row = figures["rows"][0]
    assert row["setting"] == {"size": 10, "method": "a"}
    assert (row["mean"], row["n_runs"], row["paper"]) == (pytest.approx(0.11), 3, 0.105)
    assert figures["verdicts"][0]["verdict"] == "holds"
    assert figures["versions"]["numpy"]
    assert (figures["quick"], figures["level"], figures["n_tasks"]) == (False, 0.8, 6)


def test_an_interrupted_write_leaves_the_old_file(paper, tmp_path, monkeypatch):
    make(paper, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupt(path, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make(paper, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# Tables


def test_cells_are_shown_as_they_are():
    assert tables.escape_markdown("a|b\n<script>&*x*`_[y](z)\\") == (
        r"a\|b &lt;script&gt;&amp;\*x\*\`\_\[y\](z)" + "\\\\"
    )
    table = tables.markdown_table([["a", "b"], ["x|y", "1\n2"]])
    assert table == "| a | b |\n| --- | --- |\n| x\\|y | 1 2 |"
    assert tables.text_table([["a", "bcd"], ["1234", "5"]]) == "a     bcd\n1234  5"


def test_numbers_are_written_by_their_unit():
    assert [tables.format_value(0.0435, "share"), tables.format_value(-1e-9, "share")] == [
        "4.35 %",
        "0.00 %",
    ]
    assert [tables.format_value(14.0, "number"), tables.format_value(1234, "number")] == [
        "14",
        "1,234",
    ]


def summary_of(*measurements, printed=()):
    return summarize([TaskResult(Task({}, None), measurements, 0.0)], printed=printed)


def test_columns_are_those_that_say_something():
    plain = summary_of(Measurement(0.1, {"n_bands": 6}))
    assert tables.result_table(plain)[0] == ["n bands", "ours", "80 % interval", "runs"]
    mixed = summary_of(
        Measurement(0.1, {"n": 1234}, n_scored=9), Measurement(14.2, measure="dims", unit="number")
    )
    assert tables.result_table(mixed)[1:] == [
        ["1,234", "error", "10.00 %", "2.87 to 29.48 %", "1"],
        ["", "dims", "14.2", "", "1"],
    ]
    assert "Wilson" in tables.explain_intervals(mixed)


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (Printed(0.05, {}), "5.0 %"),
        (Printed(0.0965, {}), "9.65 %"),
        (Printed(0.092, {}, text="about 9.2 %"), "about 9.2 %"),
        (Printed(None, {}, text="picture"), "picture"),
    ],
)
def test_printed_values_read_as_in_the_paper(printed, text):
    assert tables.result_table(summary_of(Measurement(0.1), printed=[printed]))[1][-2] == text


def test_differences_are_in_points():
    summary = summary_of(Measurement(0.1, n_scored=10))
    estimate = replace(summary.rows[0].estimate, mean=-0.01, low=-0.02, high=0.005)
    assert tables.format_difference(estimate) == "-1.00 points (-2.00 to +0.50)"


def test_claims_with_the_same_reason_are_explained_together(paper, tmp_path):
    def judge(summary):
        return [
            Verdict("first", "text", "f", "partly", reading="a", why="It is odd."),
            Verdict("first", "text", "f", "partly", reading="b", why="Not here."),
            Verdict("second", "text", "f", "does not hold", why="It is odd."),
            Verdict("third", "text", "f", "partly", why="It is odd."),
            Verdict("fourth", "text", "f", "holds", why="It is odd."),
        ]

    page = make(paper, tmp_path, replace(paper.entries[0], judge=judge))
    _, _, reasons = page.partition("## Why\n\n")
    assert reasons.splitlines()[:3] == [
        "- *first*: It is odd. Not here.",
        "- *second*; *third*: It is odd.",
        "",
    ]


# The report of all papers


@pytest.fixture
def shown(paper):
    """The tiny paper, with a figure of two entries and a listing."""
    both = tuple(entry.name for entry in paper.entries)
    items = (Item("Table 1", "sums", ("table-1",)), Item("Fig. 1", "both", both))
    return replace(paper, items=(*items, Item("Table 9", "a listing", ())))


def report(paper, folder, *names):
    """Run entries and return the report of the paper."""
    for name in names:
        make(paper, folder / paper.name, paper.entry(name))
    return write_report([paper], folder).read_text("utf-8")


@pytest.mark.parametrize("name", PAPERS)
def test_tasks_have_their_own_keys_and_can_be_sent_to_other_processes(name):
    for entry in load_paper(name).entries:
        keys, quick = ([task.key for task in entry.tasks(is_quick)] for is_quick in (False, True))
        assert len(set(keys)) == len(keys)
        assert len(set(quick)) == len(quick) < max(len(keys), 2)
        pickle.loads(pickle.dumps(entry.run))
        settings = [task.setting.items() for task in entry.tasks(False)]
        for item in entry.printed:
            assert any(setting <= item.setting.items() for setting in settings)


def test_every_table_and_figure_of_the_five_papers_is_an_item():
    for name in PAPERS:
        paper = load_paper(name)
        assert [item.name for item in paper.items] == TABLES_AND_FIGURES[name]
        known = {entry.name for entry in paper.entries}
        assert all(set(item.entries) <= known for item in paper.items)
    # All but the one that is an algorithm.
    empty = [item for name in PAPERS for item in load_paper(name).items if not item.entries]
    assert [item.about.split(":")[0] for item in empty] == ["the algorithm"]


def test_all_items_are_rows_with_their_verdict(shown, tmp_path):
    markdown = report(shown, tmp_path, "table-1", "table-2")
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
    markdown = report(shown, tmp_path, "table-1")
    assert "| tiny Fig. 1 | both | not run yet |" in markdown
    assert "to measure: 1 matches, 1 not run yet." in markdown


def test_why_stands_beside_what_differs_only(shown, counter, tmp_path):
    def run_worse(task, data_home):
        return [replace(one, value=one.value * 3) for one in counter(task, data_home)]

    first, second = (replace(entry, why="The ruler is longer.") for entry in shown.entries)
    paper = replace(shown, entries=(replace(first, run=run_worse), second))
    markdown = report(paper, tmp_path, "table-1", "table-2")
    assert "| sums | differs | 1 of 1 | 1 worse |" in markdown
    assert "- **tiny Table 1.**\n  - *Numbers*: The ruler is longer.\n" in markdown
    assert "| both | differs |" in markdown
    assert markdown.count("The ruler is longer.") == 2  # of two items


def test_entries_that_are_no_item_stand_apart(shown, tmp_path):
    paper = replace(shown, items=shown.items[:1])
    markdown = report(paper, tmp_path, "table-1", "table-2")
    beside = markdown.split("## Beside")[1]
    assert "[tiny table-2](tiny/table-2.md) | Sums | 1 of 1 | 1 of 1 |" in beside


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
    markdown = report(replace(paper, entries=(first,), items=items), tmp_path, "table-1")
    assert "| sums | matches in part | 1 of 2, 1 in part | 1 as printed |" in markdown
    assert "| spectra | differs | 0 of 1 |  |" in markdown
    # An item that no claim and no number belongs to is not silently skipped.
    assert "| tiny Table 3 | nothing | not run yet |" in markdown
    assert "- **tiny Table 1.**\n  - *last sum*: It is odd.\n" in markdown
    assert "- **tiny Table 2.**\n  - *spectrum*: The reason is not known.\n" in markdown
