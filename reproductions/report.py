"""From a finished run to files: a page, a picture and figures for each entry, a report a paper.

Each file is written under another name and renamed when it is complete.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reproductions.entry import Paper, Verdict
from reproductions.outcome import (
    EntryOutcome,
    compare_with_printed,
    judge_entry,
    number_of,
)
from reproductions.runner import EntryRun
from reproductions.summary import LEVEL, Summary
from reproductions.tables import (
    escape_markdown,
    explain_intervals,
    markdown_table,
    result_table,
    verdict_table,
)

__all__ = [
    "REPORT",
    "list_reasons",
    "make_page",
    "read_entry",
    "write_entry",
    "write_report",
    "write_whole",
]

REPORT = "report.md"
FORMAT = 2  # of the file of figures
QUICK_NOTICE = (
    "**A quick run**: a part of the tasks, to see that everything works. Its figures say little."
)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears when it is complete."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_entry(run: EntryRun, summary: Summary, verdicts: list[Verdict]) -> list[Path]:
    """Write an entry's page, picture and figures beside its record; return their paths."""
    folder, name = run.record.parent, run.entry.name
    page, figures, picture = (folder / f"{name}.{kind}" for kind in ("md", "json", "png"))
    if run.entry.draw is not None:
        stream = io.BytesIO()
        run.entry.draw(summary, run.data_home).savefig(
            stream, format="png", metadata={"Software": "labelfold reproductions"}
        )
        write_whole(picture, stream.getvalue())
    write_whole(figures, (json.dumps(_plain(run, summary, verdicts), indent=2) + "\n").encode())
    write_whole(page, make_page(run, summary, verdicts).encode())
    return [page, figures] + [picture] * (run.entry.draw is not None)


def read_entry(folder: Path, name: str) -> tuple[str, dict[str, Any]] | None:
    """Return the page and the figures that `write_entry` wrote; None where it did not."""
    page, figures = (folder / f"{name}.{kind}" for kind in ("md", "json"))
    if not page.exists() or not figures.exists():
        return None
    found = json.loads(figures.read_text("utf-8"))
    # Files that an earlier version left have other figures.
    return (page.read_text("utf-8"), found) if found.get("format") == FORMAT else None


def write_report(paper: Paper, folder: Path) -> Path:
    """Write one report of all entries that have a page in the folder; return its path."""
    verdicts = [["entry", "claim", "reading", "verdict"]]
    sections, missing = [], []
    for entry in paper.entries:
        found = read_entry(folder, entry.name)
        if found is None:
            missing.append(entry.name)
            continue
        page, figures = found
        sections.append(re.sub(r"^#", "##", page, flags=re.MULTILINE))
        verdicts += [
            [entry.name, item["claim"], item["reading"], item["verdict"]]
            for item in figures["verdicts"]
        ]
    parts = [f"# {escape_markdown(paper.name)}", escape_markdown(paper.citation)]
    if missing:
        parts.append(f"Not run yet: {', '.join(missing)}.")
    parts += [markdown_table(verdicts), *sections]
    path = folder / REPORT
    write_whole(path, ("\n\n".join(part.strip() for part in parts) + "\n").encode())
    return path


def make_page(run: EntryRun, summary: Summary, verdicts: list[Verdict]) -> str:
    """Return an entry's page: verdict, procedure, reasons, claims, results, how it was made."""
    entry = run.entry
    parts = [f"# {escape_markdown(entry.name)}: {escape_markdown(entry.title)}"]
    parts += [QUICK_NOTICE] * run.origin.quick
    outcome = judge_entry(summary, verdicts)
    parts += [_outcome_line(outcome), entry.procedure.strip()]
    reasons = list_reasons(outcome, _plain_verdicts(verdicts), entry.why)
    if reasons:
        parts += ["## Why", "\n".join(f"- {reason}" for reason in reasons)]
    if verdicts:
        parts += ["## Claims", markdown_table(verdict_table(verdicts))]
    parts += ["## Results"]
    if entry.draw is not None:
        parts += [f"![{escape_markdown(entry.title)}]({entry.name}.png)"]
    beside = summary.beside_the_paper()
    if 0 < len(beside.rows) < len(summary.rows):
        parts += ["### Beside the paper", markdown_table(result_table(beside)), "### All rows"]
    parts += [markdown_table(result_table(summary)), explain_intervals(summary)]
    parts += ["## How it was made", "\n".join(f"- {fact}" for fact in _facts(run, summary))]
    return "\n\n".join(part for part in parts if part) + "\n"


def list_reasons(
    outcome: EntryOutcome, verdicts: Sequence[Mapping[str, Any]], why: str
) -> list[str]:
    """Say why claims of the paper do not hold in full and why numbers are off, as far as known.

    Parameters
    ----------
    outcome : EntryOutcome
        How the results compare with the paper.
    verdicts : sequence of mapping
        The claims in question, as they stand in the file of figures.
    why : str
        What the entry says of its numbers.
    """
    missing = [one for one in verdicts if not one["is_ours"] and one["verdict"] != "holds"]
    explained: dict[str, list[str]] = {}
    for claim in dict.fromkeys(one["claim"] for one in missing):
        known = dict.fromkeys(one["why"] for one in missing if one["claim"] == claim)
        reason = " ".join(filter(None, known)) or "The reason is not known."
        explained.setdefault(reason, []).append(f"*{escape_markdown(claim)}*")
    reasons = [
        f"{'; '.join(claims)}: {escape_markdown(reason)}" for reason, claims in explained.items()
    ]
    if outcome.has_numbers_off:
        reasons.append(f"*Numbers*: {escape_markdown(why or 'The reason is not known.')}")
    return reasons


def _outcome_line(outcome: EntryOutcome) -> str:
    """Say how the entry compares with the paper; nothing where it has nothing to compare with."""
    facts = []
    if outcome.claims:
        facts.append(f"claims of the paper that hold: {outcome.describe_claims()}")
    if outcome.comparisons:
        facts.append(f"numbers beside the paper's: {outcome.describe_numbers()}")
    if not facts:
        return ""
    return f"**Verdict: {outcome.outcome}.** {'; '.join(facts).capitalize()}."


def _facts(run: EntryRun, summary: Summary) -> list[str]:
    seeds = sorted({seed for row in summary.rows for seed in row.values if seed is not None})
    scored = sorted({row.n_scored for row in summary.rows if row.n_scored is not None})
    seconds = sum(result.seconds for result in run.results)
    versions = ", ".join(f"{name} {version}" for name, version in run.origin.versions.items())
    facts = [f"{len(run.results):,} tasks, {seconds:,.1f} s of work in all."]
    if seeds:
        facts.append(f"Seeds {_ranges(seeds)}.")
    if scored:
        facts.append(f"Points scored in a run: {', '.join(f'{count:,}' for count in scored)}.")
    facts.append(f"Edition {run.origin.edition}; {versions}; {escape_markdown(run.platform)}.")
    for text in sorted({text for result in run.results for text in result.warnings}):
        count = sum(text in result.warnings for result in run.results)
        facts.append(f"Warning in {count:,} of the tasks: {escape_markdown(text)}")
    return facts


def _ranges(numbers: list[int]) -> str:
    """Write sorted numbers, runs of them as "0 to 19"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in runs)


def _plain(run: EntryRun, summary: Summary, verdicts: list[Verdict]) -> dict[str, Any]:
    return {
        **asdict(run.origin),
        "format": FORMAT,
        "title": run.entry.title,
        "outcome": judge_entry(summary, verdicts).outcome,
        "why": run.entry.why,
        "platform": run.platform,
        "n_tasks": len(run.results),
        "seconds": round(sum(result.seconds for result in run.results), 3),
        "level": LEVEL,
        "rows": [
            {
                "setting": dict(row.setting),
                "measure": row.measure,
                "unit": row.unit,
                **asdict(row.estimate),
                "n_scored": row.n_scored,
                "paper": None if row.printed is None else row.printed.value,
                "number": number_of(row),
                "verdict": compare_with_printed(row),
            }
            for row in summary.rows
        ],
        "verdicts": _plain_verdicts(verdicts),
    }


def _plain_verdicts(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    return [{**asdict(verdict), "is_ours": verdict.is_ours} for verdict in verdicts]
