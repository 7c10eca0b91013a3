"""The files of a run: figures, text whatever it contains, and that they appear whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from reproductions import Measurement, Printed, Task, Verdict
from reproductions.report import write_entry, write_report
from reproductions.runner import run_entry
from reproductions.summary import TaskResult, summarise
from reproductions.tables import (
    escape_markdown,
    explain_intervals,
    format_difference,
    markdown_table,
    result_table,
    text_table,
)


def make(paper, folder, entry=None, **options):
    run = run_entry(paper, entry or paper.entries[0], folder, **options)
    summary = run.summary()
    return write_entry(run, summary, run.entry.judge(summary))


def draw(summary, data_home):
    from matplotlib.figure import Figure

    return Figure(figsize=(1, 1))


def test_a_run_becomes_a_page_figures_and_a_picture(paper, tmp_path):
    files = make(paper, tmp_path, replace(paper.entries[0], draw=draw))
    assert [path.name for path in files] == ["table-1.md", "table-1.json", "table-1.png"]
    assert (tmp_path / "table-1.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "](table-1.png)" in (tmp_path / "table-1.md").read_text()


def test_a_picture_is_told_where_the_data_are(paper, tmp_path):
    told = []

    def draw_and_tell(summary, data_home):
        told.append(data_home)
        return draw(summary, data_home)

    entry = replace(paper.entries[0], draw=draw_and_tell)
    for _ in range(2):  # the second run finds all tasks in the record
        make(paper, tmp_path / "out", entry, data_home=tmp_path)
    assert told == [tmp_path, tmp_path]


def test_the_page_says_all_there_is_to_know(paper, tmp_path):
    make(paper, tmp_path)
    page = (tmp_path / "table-1.md").read_text()
    assert page.startswith(
        "# table-1: Sums\n\n**Verdict: matches.** Claims of the paper that hold: "
    )
    assert "\n\nAdds numbers.\n" in page
    assert "| 10 | a | 11.00 % | 9.91 to 12.09 % | 3 | 10.5 % | matches |\n" in page
    assert "| 10 | b | 5.50 % | 4.96 to 6.04 % | 3 |  |  |\n" in page
    assert "| a \\| b | &lt;b&gt;1&lt;/b&gt; | 0.11 | holds |\n" in page
    assert "Student's" in page
    assert "Wilson" not in page
    assert "Seeds 0 to 2." in page
    assert "Points scored in a run: 100." in page
    assert re.search(r"Edition 1; labelfold [\d.]+, numpy", page)
    assert "quick" not in page
    assert ".png" not in page


def test_rows_beside_the_paper_stand_first(paper, tmp_path):
    make(paper, tmp_path)
    page = (tmp_path / "table-1.md").read_text()
    beside, rest = page.split("### Beside the paper")[1].split("### All rows")
    assert beside.count("| 10 | a |") == rest.count("| 10 | a |") == 1
    assert "| 20 |" not in beside
    assert "| 20 |" in rest


def test_a_quick_run_says_so_and_names_wilson(paper, tmp_path):
    make(paper, tmp_path, quick=True)
    page = (tmp_path / "table-1.md").read_text()
    assert "**A quick run**" in page
    assert "Wilson's binomial interval" in page


def test_warnings_stand_on_the_page(paper, tmp_path):
    run = run_entry(paper, paper.entries[0], tmp_path)
    results = [replace(result, warnings=("<two> pieces",)) for result in run.results[:4]]
    write_entry(replace(run, results=results), run.summary(), [])
    page = (tmp_path / "table-1.md").read_text()
    assert "- Warning in 4 of the tasks: &lt;two&gt; pieces\n" in page


def test_the_figures_are_those_of_the_summary(paper, tmp_path):
    make(paper, tmp_path)
    figures = json.loads((tmp_path / "table-1.json").read_text())
    row = figures["rows"][0]
    assert row["setting"] == {"size": 10, "method": "a"}
    assert (row["mean"], row["n_runs"], row["paper"]) == (pytest.approx(0.11), 3, 0.105)
    assert figures["verdicts"][0]["verdict"] == "holds"
    assert figures["versions"]["numpy"]
    assert (figures["quick"], figures["level"]) == (False, 0.8)


def test_the_report_has_all_entries_run_so_far(paper, tmp_path):
    make(paper, tmp_path)
    report = write_report(paper, tmp_path).read_text()
    assert report.startswith("# tiny\n\nN. N., Sums, 1905.\n\nNot run yet: table-2.\n")
    assert report.count("\n## ") == 1
    make(paper, tmp_path, paper.entries[1])
    report = write_report(paper, tmp_path).read_text()
    assert "Not run yet" not in report
    assert re.findall(r"^#+ table-\d", report, re.MULTILINE) == ["## table-1", "## table-2"]
    assert "| table-2 | a \\| b |  | holds |\n" in report


def test_files_of_an_earlier_version_are_left_out(paper, tmp_path):
    make(paper, tmp_path)
    figures = tmp_path / "table-1.json"
    figures.write_text(figures.read_text().replace('"format": 2', '"format": 1'))
    assert "Not run yet: table-1, table-2." in write_report(paper, tmp_path).read_text()


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
    assert escape_markdown("a|b\n<script>&*x*`_[y](z)\\") == (
        r"a\|b &lt;script&gt;&amp;\*x\*\`\_\[y\](z)" + "\\\\"
    )


def test_a_table_keeps_its_columns_whatever_the_cells_contain():
    table = markdown_table([["a", "b"], ["x|y", "1\n2"]])
    assert table == "| a | b |\n| --- | --- |\n| x\\|y | 1 2 |"


def test_a_table_for_the_terminal_has_straight_columns():
    assert text_table([["a", "bcd"], ["1234", "5"]]) == "a     bcd\n1234  5"


def summary_of(*measurements, printed=()):
    return summarise([TaskResult(Task({}, None), measurements, 0.0)], printed=printed)


def test_columns_are_those_that_say_something():
    plain = summary_of(Measurement(0.1, {"n_bands": 6}))
    assert result_table(plain)[0] == ["n bands", "ours", "80 % interval", "runs"]
    mixed = summary_of(
        Measurement(0.1, {"n": 1234}, n_scored=9), Measurement(14.2, measure="dims", unit="number")
    )
    assert result_table(mixed)[1:] == [
        ["1,234", "error", "10.00 %", "2.87 to 29.48 %", "1"],
        ["", "dims", "14.2", "", "1"],
    ]
    assert "Wilson" in explain_intervals(mixed)


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
    assert result_table(summary_of(Measurement(0.1), printed=[printed]))[1][-2] == text


def test_differences_are_in_points():
    summary = summary_of(Measurement(0.1, n_scored=10))
    estimate = replace(summary.rows[0].estimate, mean=-0.01, low=-0.02, high=0.005)
    assert format_difference(estimate) == "-1.00 points (-2.00 to +0.50)"


def test_claims_with_the_same_reason_are_explained_together(paper, tmp_path):
    def judge(summary):
        return [
            Verdict("first", "text", "f", "partly", reading="a", why="It is odd."),
            Verdict("first", "text", "f", "partly", reading="b", why="Not here."),
            Verdict("second", "text", "f", "does not hold", why="It is odd."),
            Verdict("third", "text", "f", "partly", why="It is odd."),
            Verdict("fourth", "text", "f", "holds", why="It is odd."),
        ]

    page, *_ = make(paper, tmp_path, replace(paper.entries[0], judge=judge))
    _, _, reasons = page.read_text("utf-8").partition("## Why\n\n")
    assert reasons.splitlines()[:3] == [
        "- *first*: It is odd. Not here.",
        "- *second*; *third*: It is odd.",
        "",
    ]
