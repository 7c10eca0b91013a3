"""The papers' tables and figures, made again: `python -m reproductions` runs what stands here."""

from __future__ import annotations

import importlib
import importlib.util

from labelfold.exceptions import InputError
from reproductions.entry import (
    Entry,
    Item,
    Measurement,
    Paper,
    Printed,
    Setting,
    Task,
    Verdict,
)

__all__ = [
    "PAPERS",
    "Entry",
    "Item",
    "Measurement",
    "Paper",
    "Printed",
    "Setting",
    "Task",
    "Verdict",
    "load_paper",
    "paper_names",
]

# Where each paper's PAPER stands. A module is imported when its paper is asked for.
PAPERS = {
    "ccdr-2005": "reproductions.ccdr_2005",
    "ccdr-mc": "reproductions.ccdr_mc",
    "ism": "reproductions.ism",
    "lapclass": "reproductions.lapclass",
    "ssde": "reproductions.ssde",
}


def paper_names() -> list[str]:
    """Return the names of the papers at hand."""
    return [name for name, module in PAPERS.items() if importlib.util.find_spec(module)]


def load_paper(name: str) -> Paper:
    """Import a paper by its name."""
    if name not in paper_names():
        raise InputError(f"no paper {name!r}: known are {', '.join(paper_names())}.")
    paper: Paper = importlib.import_module(PAPERS[name]).PAPER
    return paper
