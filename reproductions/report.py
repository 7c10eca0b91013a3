"""From finished runs to files: a page, a picture and figures for each entry, and one report of all.

The figures of an entry are everything about its results that is not prose, as JSON. The report is
built from the figures that finished entries left on disk, and links to their pages. Each file is
written under another name and renamed when it is complete.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from reproductions import tables
from reproductions.entry import Item, Paper
from reproductions.outcome import (
    RULE,
    EntryOutcome,
    Outcome,
    claims_of,
    compare_with_printed,
    judge_entry,
    number_of,
    worst,
)
from reproductions.runner import EntryRun
from reproductions.summary import LEVEL, Summary
from reproductions.tables import Table, escape_markdown, markdown_table

Figures = dict[str, Any]

NOT_RUN = "not run yet"
UNKNOWN = "The reason is not known."
QUICK_NOTICE = (
    "**A quick run**: some of the tasks, to check that everything works. Its figures mean little."
)
INTRODUCTION = (
    "Every table and figure of the papers that labelfold implements, recomputed. Intervals are at "
    "80 %, the level of CCDR-MC. Error rates do not count labeled rows, except where stated: "
    "errors on training rows, and labeled rows on the wrong side of a plane. A choice made with "
    'the answers is called "best case". A cross-validated one is beside it if the choice is ours; '
    "if a paper compares best cases, so do we."
)


def write_entry(run: EntryRun) -> list[Path]:
    """Write an entry's page, figures and picture beside its record; return their paths."""
    figures = list_figures(run)
    contents = {
        "md": make_page(run, figures).encode(),
        "json": (json.dumps(figures, indent=2) + "\n").encode(),
    }
    if run.entry.draw is not None:
        stream = io.BytesIO()
        metadata = {"Software": "labelfold reproductions"}
        run.entry.draw(run.summary, run.data_home).savefig(stream, format="png", metadata=metadata)
        contents["png"] = stream.getvalue()
    return [
        _write_whole(run.folder / f"{run.entry.name}.{kind}", content)
        for kind, content in contents.items()
    ]


def write_report(papers: Sequence[Paper], out: Path, *, quick: bool = False) -> Path:
    """Write the report of all entries that are finished in the papers' folders; return its path."""
    report = make_report(papers, out, quick=quick)
    return _write_whole(out / ("report-quick.md" if quick else "report.md"), report.encode())


def paper_folder(paper: Paper, *, quick: bool) -> str:
    """Return the name of a paper's folder."""
    return f"{paper.name}-quick" if quick else paper.name


# An entry


def list_figures(run: EntryRun) -> Figures:
    """Return the figures of a finished entry."""
    return {
        **run.record.origin,
        "why": run.entry.why,
        "n_tasks": len(run.tasks),
        "seconds": round(run.seconds, 3),
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
            for row in run.summary.rows
        ],
        "verdicts": [{**asdict(one), "is_ours": one.is_ours} for one in run.verdicts],
    }


def make_page(run: EntryRun, figures: Figures) -> str:
    """Return an entry's page: verdict, procedure, reasons, claims, results, how it was computed."""
    entry, summary = run.entry, run.summary
    parts = [f"# {escape_markdown(entry.name)}: {escape_markdown(entry.title)}"]
    parts += [QUICK_NOTICE] * run.quick
    parts += [_outcome_line(judge_entry(figures)), entry.procedure.strip()]
    reasons = list_reasons(figures)
    if reasons:
        parts += ["## Why", "\n".join(f"- {reason}" for reason in reasons)]
    if run.verdicts:
        parts += ["## Claims", markdown_table(tables.verdict_table(run.verdicts))]
    parts += ["## Results"]
    if entry.draw is not None:
        parts += [f"![{escape_markdown(entry.title)}]({entry.name}.png)"]
    beside = Summary(tuple(row for row in summary.rows if row.printed is not None))
    if 0 < len(beside.rows) < len(summary.rows):
        parts += ["### Beside the paper", markdown_table(tables.result_table(beside))]
        parts += ["### All rows"]
    parts += [markdown_table(tables.result_table(summary)), tables.explain_intervals(summary)]
    parts += ["## How it was computed", "\n".join(f"- {fact}" for fact in _facts(run))]
    return "\n\n".join(part for part in parts if part) + "\n"


def list_reasons(figures: Figures, item: Item | None = None) -> list[str]:
    """Say why claims of the paper do not hold in full and why numbers are off, as far as known."""
    missing = [one for one in claims_of(figures, item) if one["verdict"] != "holds"]
    explained: dict[str, list[str]] = {}
    for claim in dict.fromkeys(one["claim"] for one in missing):
        known = dict.fromkeys(one["why"] for one in missing if one["claim"] == claim)
        reason = " ".join(filter(None, known)) or UNKNOWN
        explained.setdefault(reason, []).append(f"*{escape_markdown(claim)}*")
    reasons = [
        f"{'; '.join(claims)}: {escape_markdown(reason)}" for reason, claims in explained.items()
    ]
    if judge_entry(figures, item).has_numbers_off:
        reasons.append(f"*Numbers*: {escape_markdown(figures['why'] or UNKNOWN)}")
    return reasons


def _outcome_line(outcome: EntryOutcome) -> str:
    facts = []
    if outcome.claims:
        facts.append(f"claims of the paper that hold: {outcome.describe_claims()}")
    if outcome.comparisons:
        facts.append(f"numbers beside the paper's: {outcome.describe_numbers()}")
    return f"**Verdict: {outcome.outcome}.** {'; '.join(facts).capitalize()}." if facts else ""


def _facts(run: EntryRun) -> list[str]:
    rows, results, origin = run.summary.rows, run.results, run.record.origin
    seeds = sorted({seed for row in rows for seed in row.values if seed is not None})
    scored = sorted({row.n_scored for row in rows if row.n_scored is not None})
    facts = [f"{len(results):,} tasks, {run.seconds:,.1f} s of work in all."]
    if seeds:
        facts.append(f"Seeds {_ranges(seeds)}.")
    if scored:
        facts.append(f"Rows scored in a run: {', '.join(f'{count:,}' for count in scored)}.")
    platform = escape_markdown(origin["platform"])
    facts.append(f"Edition {origin['edition']}; {_versions(origin)}; {platform}.")
    for text in sorted({text for result in results for text in result.warnings}):
        count = sum(text in result.warnings for result in results)
        facts.append(f"Warning in {count:,} of the tasks: {escape_markdown(text)}")
    return facts


def _ranges(numbers: list[int]) -> str:
    """Write sorted numbers, runs of them as "0 to 19"."""
    # In a run of numbers the difference from their positions is the same.
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ", ".join(str(one[0]) if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in runs)


def _versions(figures: Figures) -> str:
    return ", ".join(f"{name} {version}" for name, version in figures["versions"].items())


# The report of all papers


def make_report(papers: Sequence[Paper], out: Path, *, quick: bool) -> str:
    """Return the report of all entries that are finished in the papers' folders."""
    items: Table = [["", "shows", "verdict", "claims that hold", "our numbers"]]
    further: Table = [["entry", "about", "of all claims hold", "of the paper's own"]]
    reasons: list[str] = []
    every: list[Figures] = []
    for paper in papers:
        folder = paper_folder(paper, quick=quick)
        found = {
            entry.name: json.loads(path.read_text("utf-8"))
            for entry in paper.entries
            if (path := out / folder / f"{entry.name}.json").exists()
        }
        every += found.values()
        items += [_item_row(paper, item, found, folder) for item in paper.items]
        reasons += [_item_reasons(paper, item, found) for item in paper.items]
        shown = {name for item in paper.items for name in item.entries}
        further += [
            _further_row(paper, name, figures, folder)
            for name, figures in found.items()
            if name not in shown
        ]
    parts = ["# Reproducing the papers"] + [QUICK_NOTICE] * quick
    parts += [INTRODUCTION, _provenance(every), "## Verdicts", RULE, _count(items)]
    parts += [markdown_table(items, is_markdown=True)]
    if any(reasons):
        parts += [
            "## Why",
            "Reasons, as far as known, for claims that do not fully hold and numbers that differ.",
            "\n".join(filter(None, reasons)),
        ]
    if len(further) > 1:
        parts += ["## Beside the papers' tables and figures"]
        parts += ["Claims of the papers' texts, and our own questions."]
        parts += [markdown_table(further, is_markdown=True)]
    parts += ["## Papers"]
    parts += ["\n".join(f"- {paper.name}: {escape_markdown(paper.citation)}" for paper in papers)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _item_row(paper: Paper, item: Item, found: dict[str, Figures], folder: str) -> list[str]:
    name = f"{paper.name} {item.name}"
    if not item.entries:
        return [name, item.about, "nothing to measure", "", ""]
    outcomes = [judge_entry(found[entry], item) for entry in item.entries if entry in found]
    if len(outcomes) < len(item.entries) or all(outcome.is_empty for outcome in outcomes):
        return [name, item.about, NOT_RUN, "", ""]
    links = [
        f"[{name if len(item.entries) == 1 else f'{name}, {entry}'}]({folder}/{entry}.md)"
        for entry in item.entries
    ]
    return [
        "; ".join(links),
        item.about,
        worst(outcome.outcome for outcome in outcomes if not outcome.is_empty),
        "; ".join(filter(None, (outcome.describe_claims() for outcome in outcomes))),
        "; ".join(filter(None, (outcome.describe_numbers() for outcome in outcomes))),
    ]


def _item_reasons(paper: Paper, item: Item, found: dict[str, Figures]) -> str:
    """Say why an item is not reproduced; nothing if it is."""
    present = [found[entry] for entry in item.entries if entry in found]
    reasons = dict.fromkeys(one for figures in present for one in list_reasons(figures, item))
    lines = [f"- **{paper.name} {item.name}.**", *(f"  - {reason}" for reason in reasons)]
    return "\n".join(lines) if reasons else ""


def _further_row(paper: Paper, name: str, figures: Figures, folder: str) -> list[str]:
    words = [one["verdict"] for one in figures["verdicts"]]
    return [
        f"[{paper.name} {name}]({folder}/{name}.md)",
        paper.entry(name).title,
        f"{words.count('holds')} of {len(words)}",
        judge_entry(figures).describe_claims(),
    ]


def _count(items: Table) -> str:
    """Say how many tables and figures have which verdict."""
    known = (*get_args(Outcome), NOT_RUN)
    words = [row[2] for row in items[1:] if row[2] in known]
    counts = ", ".join(f"{words.count(word)} {word}" for word in known if word in words)
    return f"Of {len(words)} tables and figures with something to measure: {counts}."


def _provenance(every: list[Figures]) -> str:
    """Say what produced the report, and what it cost."""
    if not every:
        return "No entry is finished yet."
    versions = sorted({_versions(one) for one in every})
    platforms = sorted({one["platform"] for one in every})
    n_tasks, seconds = (sum(one[name] for one in every) for name in ("n_tasks", "seconds"))
    return (
        f"{len(every)} entries, {n_tasks:,} tasks, {seconds / 3600:,.1f} hours of work on one core "
        f"or two. {'; '.join(versions)}; {escape_markdown('; '.join(platforms))}. Seeds, settings "
        "and times of every entry are on its page."
    )


def _write_whole(path: Path, content: bytes) -> Path:
    """Write a file that appears when it is complete; return its path."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
