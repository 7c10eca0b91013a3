"""Belkin and Niyogi, "Using manifold structure for partially labelled classification", 2002."""

from __future__ import annotations

from labelfold.reproduce.entry import Paper
from labelfold.reproduce.lapclass.figure_1 import FIGURE_1
from labelfold.reproduce.lapclass.figure_2 import FIGURE_2
from labelfold.reproduce.lapclass.figure_3 import FIGURE_3

__all__ = ["PAPER"]

PAPER = Paper(
    name="lapclass",
    citation=(
        "M. Belkin and P. Niyogi, Using manifold structure for partially labelled classification, "
        "NIPS 2002."
    ),
    entries=(FIGURE_1, FIGURE_2, FIGURE_3),
)
