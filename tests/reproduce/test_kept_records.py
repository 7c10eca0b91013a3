"""Results that are kept: they can be judged anew, and what does not hold has its reason."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from labelfold.reproduce import load_paper
from labelfold.reproduce.entry import OF_THE_TEXT
from labelfold.reproduce.outcome import judge_entry
from labelfold.reproduce.record import Origin, Record
from labelfold.reproduce.summary import summarise

RECORDS = Path(__file__).parents[2] / "docs" / "reproduction" / "records"


@pytest.mark.parametrize(
    "kept",
    sorted(RECORDS.glob("*/*.jsonl.xz")),
    ids=lambda kept: f"{kept.parent.name}-{kept.name.split('.')[0]}",
)
def test_results_that_are_kept_can_be_judged(kept, tmp_path):
    paper = load_paper(kept.parent.name)
    entry = paper.entry(kept.name.split(".")[0])
    path = tmp_path / kept.stem
    path.write_bytes(lzma.decompress(kept.read_bytes()))
    header = json.loads(path.read_text("utf-8").splitlines()[0])
    # Whatever is installed here, the results are those of the versions that they name.
    origin = Origin(paper.name, entry.name, entry.edition, False, header["versions"])
    assert origin.differences(header) == ""
    results = Record(path, origin).results
    tasks = entry.tasks(False)
    assert set(results) <= {task.key for task in tasks}
    if len(results) < len(tasks):
        return  # of a run that is still to be finished
    summary = summarise(
        [results[task.key] for task in tasks], printed=entry.printed, derive=entry.derive
    )
    verdicts = entry.judge(summary)
    names = {item.name for item in paper.items}
    assert {verdict.item for verdict in verdicts} <= {"", OF_THE_TEXT, *names}
    missing = [one for one in verdicts if not one.is_ours and one.verdict != "holds"]
    assert [one.statement for one in missing if not one.why] == []
    assert entry.why or not judge_entry(summary, verdicts).has_numbers_off
