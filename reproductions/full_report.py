"""One report of all papers, from the files that finished entries left; it links to their pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from reproductions.entry import Entry, Item, Paper
from reproductions.outcome import RULE, EntryOutcome, Outcome, worst
from reproductions.report import QUICK_NOTICE, list_reasons, read_entry, write_whole
from reproductions.tables import Table, escape_markdown, markdown_table

__all__ = ["paper_folder", "write_full_report"]

TITLE = "The papers, made again"
NOT_RUN = "not run yet"
INTRODUCTION = (
    "Every table and figure of the papers that labelfold implements, computed again. Intervals are "
    "at 80 %, the level of CCDR-MC. Error rates do not count labelled points, but for rows that "
    "say so: errors on training rows, and on which side of a plane labelled points lie. A choice "
    'that was made by looking at the answers is called "best case". A cross-validated one stands '
    "beside it where the choice is ours to make; where a paper compares best cases, so do we."
)


@dataclass(frozen=True)
class EntryPage:
    """A finished entry, and the figures that it left on disk."""

    entry: Entry
    folder: str
    figures: dict[str, Any]

    def claims(self, item: Item | None = None) -> list[dict[str, Any]]:
        """Return the verdicts on the paper's claims, all or those about an item."""
        return [
            one
            for one in self.figures["verdicts"]
            if not one["is_ours"] and (item is None or one["item"] in ("", item.name))
        ]

    def outcome(self, item: Item | None = None) -> EntryOutcome:
        """Return how it compares with the paper, or how its part in an item does."""
        wanted = {}.items() if item is None else item.rows.items()
        return EntryOutcome.of(
            ((one["item"] + one["claim"], one["verdict"]) for one in self.claims(item)),
            (
                (one["number"], one["verdict"])
                for one in self.figures["rows"]
                if one["verdict"] and wanted <= one["setting"].items()
            ),
        )

    def link(self, text: str) -> str:
        """Return a link to its page, seen from the report."""
        return f"[{text}]({self.folder}/{self.entry.name}.md)"


def paper_folder(paper: Paper, *, quick: bool) -> str:
    """Return the name of a paper's folder."""
    return f"{paper.name}-quick" if quick else paper.name


def write_full_report(papers: Sequence[Paper], out: Path, *, quick: bool = False) -> Path:
    """Write the report of all entries that are finished in a folder.

    Parameters
    ----------
    papers : sequence of Paper
        The papers.
    out : Path
        Folder that holds the papers' folders; the report goes there.
    quick : bool, default=False
        Whether to report quick runs, as ``report-quick``.

    Returns
    -------
    Path
        The Markdown file.
    """
    pages = {paper.name: _read_pages(paper, out, quick=quick) for paper in papers}
    path = out / ("report-quick.md" if quick else "report.md")
    write_whole(path, _summary(papers, pages, quick=quick).encode())
    return path


def _read_pages(paper: Paper, out: Path, *, quick: bool) -> dict[str, EntryPage]:
    folder = paper_folder(paper, quick=quick)
    return {
        entry.name: EntryPage(entry, folder, found[1])
        for entry in paper.entries
        if (found := read_entry(out / folder, entry.name)) is not None
    }


def _summary(
    papers: Sequence[Paper],
    pages: dict[str, dict[str, EntryPage]],
    *,
    quick: bool,
) -> str:
    items: Table = [["", "shows", "verdict", "claims that hold", "our numbers"]]
    reasons: list[str] = []
    further: Table = [["entry", "about", "of all claims hold", "of the paper's own"]]
    for paper in papers:
        found = pages[paper.name]
        items += [_item_row(paper, item, found) for item in paper.items]
        reasons += [one for item in paper.items for one in _reasons(paper, item, found)]
        shown = {name for item in paper.items for name in item.entries}
        further += [_further_row(paper, one) for name, one in found.items() if name not in shown]
    parts = [f"# {TITLE}"] + [QUICK_NOTICE] * quick
    parts += [INTRODUCTION, _provenance(pages), "## Verdicts", RULE, _count(items)]
    parts += [markdown_table(items, is_markdown=True)]
    if reasons:
        parts += [
            "## Why",
            "What is known of the reasons where a claim does not hold in full, or numbers are off.",
            "\n".join(reasons),
        ]
    if len(further) > 1:
        parts += ["## Beside the papers' tables and figures"]
        parts += ["Claims of the papers' texts, and questions of ours."]
        parts += [markdown_table(further, is_markdown=True)]
    parts += ["## Papers"]
    parts += ["\n".join(f"- {paper.name}: {escape_markdown(paper.citation)}" for paper in papers)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _item_row(paper: Paper, item: Item, found: dict[str, EntryPage]) -> list[str]:
    name = f"{paper.name} {item.name}"
    if not item.entries:
        return [name, item.about, "nothing to measure", "", ""]
    if any(entry not in found for entry in item.entries):
        return [name, item.about, NOT_RUN, "", ""]
    pages = [found[entry] for entry in item.entries]
    outcomes = [page.outcome(item) for page in pages]
    if all(outcome.is_empty for outcome in outcomes):
        return [name, item.about, NOT_RUN, "", ""]
    names = [page.link(name if len(pages) == 1 else f"{name}, {page.entry.name}") for page in pages]
    return [
        "; ".join(names),
        item.about,
        worst(outcome.outcome for outcome in outcomes if not outcome.is_empty),
        "; ".join(filter(None, (outcome.describe_claims() for outcome in outcomes))),
        "; ".join(filter(None, (outcome.describe_numbers() for outcome in outcomes))),
    ]


def _reasons(paper: Paper, item: Item, found: dict[str, EntryPage]) -> list[str]:
    """Say why an item does not come out as printed; nothing where it does."""
    pages = [found[entry] for entry in item.entries if entry in found]
    reasons = [
        reason
        for page in pages
        for reason in list_reasons(page.outcome(item), page.claims(item), page.figures["why"])
    ]
    if not reasons:
        return []
    name = f"- **{paper.name} {item.name}.**"
    return ["\n".join([name, *(f"  - {reason}" for reason in dict.fromkeys(reasons))])]


def _further_row(paper: Paper, page: EntryPage) -> list[str]:
    verdicts = page.figures["verdicts"]
    n_holding = sum(verdict["verdict"] == "holds" for verdict in verdicts)
    return [
        page.link(f"{paper.name} {page.entry.name}"),
        page.entry.title,
        f"{n_holding} of {len(verdicts)}",
        page.outcome().describe_claims(),
    ]


def _count(items: Table) -> str:
    """Say how many tables and figures come out which way."""
    known = (*get_args(Outcome), NOT_RUN)
    words = [row[2] for row in items[1:] if row[2] in known]
    counts = {word: words.count(word) for word in known}
    return (
        f"Of {len(words)} tables and figures with something to measure: "
        + ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        + "."
    )


def _provenance(pages: dict[str, dict[str, EntryPage]]) -> str:
    """Say what the report was made with, and what it cost."""
    every = [page.figures for found in pages.values() for page in found.values()]
    if not every:
        return "No entry is finished yet."
    versions = sorted({_versions(one) for one in every})
    platforms = sorted({one["platform"] for one in every})
    n_tasks, seconds = (sum(one[name] for one in every) for name in ("n_tasks", "seconds"))
    return (
        f"{len(every)} entries, {n_tasks:,} tasks, {seconds / 3600:,.1f} hours of work on one "
        f"core or two. {'; '.join(versions)}; {escape_markdown('; '.join(platforms))}. Seeds, "
        "settings and times of every entry stand on its page."
    )


def _versions(figures: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
