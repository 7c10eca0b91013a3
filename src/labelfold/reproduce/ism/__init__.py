"""Vasiloglou, Gray and Anderson, "Learning isometric separation maps", 2009."""

from __future__ import annotations

from labelfold.reproduce.entry import Paper
from labelfold.reproduce.ism.figure_1 import UNFOLDING
from labelfold.reproduce.ism.magic_few import FEW_LABELS
from labelfold.reproduce.ism.magic_many import MANY_LABELS

__all__ = ["PAPER"]

PAPER = Paper(
    name="ism",
    citation=(
        "N. Vasiloglou, A. G. Gray and D. V. Anderson, Learning isometric separation maps, "
        "MLSP 2009."
    ),
    entries=(UNFOLDING, FEW_LABELS, MANY_LABELS),
)
