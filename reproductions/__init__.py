"""The papers' tables and figures, made again: `python -m reproductions` runs what stands here."""

from __future__ import annotations

import importlib

from labelfold.exceptions import InputError
from reproductions.entry import Measurement, Paper, Task

__all__ = ["PAPERS", "Measurement", "Paper", "Task", "load_paper"]

# Where each paper's PAPER stands. A module is imported when its paper is asked for.
PAPERS = {
    "ccdr-2005": "reproductions.ccdr_2005",
    "ccdr-mc": "reproductions.ccdr_mc",
    "ism": "reproductions.ism",
    "lapclass": "reproductions.lapclass",
    "ssde": "reproductions.ssde",
}


def load_paper(name: str) -> Paper:
    """Import a paper by its name."""
    if name not in PAPERS:
        raise InputError(f"no paper {name!r}: known are {', '.join(PAPERS)}.")
    paper: Paper = importlib.import_module(PAPERS[name]).PAPER
    return paper
