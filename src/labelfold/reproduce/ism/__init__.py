"""Vasiloglou, Gray and Anderson, "Learning isometric separation maps", 2009: its unfoldings."""

from __future__ import annotations

from labelfold.reproduce.entry import Paper
from labelfold.reproduce.ism.figure_1 import UNFOLDING

__all__ = ["PAPER"]

PAPER = Paper(
    name="ism",
    citation=(
        "N. Vasiloglou, A. G. Gray and D. V. Anderson, Learning isometric separation maps, "
        "MLSP 2009."
    ),
    entries=(UNFOLDING,),
)
