"""The papers' tables and figures, recomputed by `python -m reproductions`."""

from __future__ import annotations

import importlib

from labelfold.exceptions import InputError
from reproductions.entry import Measurement, Paper, Task

__all__ = ["PAPERS", "Measurement", "Paper", "Task", "load_paper"]

# The module of each paper's PAPER, imported when the paper is requested.
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
        raise InputError(f"no paper {name!r}: choose from {', '.join(PAPERS)}.")
    paper: Paper = importlib.import_module(PAPERS[name]).PAPER
    return paper
