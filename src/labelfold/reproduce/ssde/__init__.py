"""Zhang et al., "Supervised semi-definite embedding for image manifolds", 2005."""

from __future__ import annotations

from labelfold.reproduce.entry import Paper
from labelfold.reproduce.ssde.figure_1 import FIGURE_1
from labelfold.reproduce.ssde.figure_2 import FIGURE_2

__all__ = ["PAPER"]

PAPER = Paper(
    name="ssde",
    citation=(
        "B. Zhang, J. Yan, N. Liu, Q. Cheng, Z. Chen and W.-Y. Ma, Supervised semi-definite "
        "embedding for image manifolds, ICME 2005."
    ),
    entries=(FIGURE_1, FIGURE_2),
)
