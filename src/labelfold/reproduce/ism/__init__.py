"""Vasiloglou, Gray and Anderson, "Learning isometric separation maps", 2009."""

from __future__ import annotations

from labelfold.reproduce.entry import Paper
from labelfold.reproduce.ism.figure_1 import UNFOLDING
from labelfold.reproduce.ism.figure_1_separation import SEPARATION
from labelfold.reproduce.ism.figure_5 import FIGURE_5
from labelfold.reproduce.ism.figures_2_to_4 import FIGURE_2, FIGURE_4
from labelfold.reproduce.ism.magic_few import FEW_LABELS
from labelfold.reproduce.ism.magic_many import MANY_LABELS
from labelfold.reproduce.ism.toys import TOYS

__all__ = ["PAPER"]

PAPER = Paper(
    name="ism",
    citation=(
        "N. Vasiloglou, A. G. Gray and D. V. Anderson, Learning isometric separation maps, "
        "MLSP 2009."
    ),
    entries=(
        UNFOLDING,
        SEPARATION,
        FIGURE_2,
        FIGURE_4,
        FIGURE_5,
        FEW_LABELS,
        MANY_LABELS,
        TOYS,
    ),
)
