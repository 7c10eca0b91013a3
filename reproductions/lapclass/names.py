"""How rules and their choices are called in the rows of Figs. 2 and 3."""

from __future__ import annotations

__all__ = [
    "BEST_K",
    "CHOSEN_K",
    "CHOSEN_PENALTY",
    "GEODESIC",
    "LAPLACIAN",
    "NEAREST",
    "PAPERS_RULE",
    "SPREADING",
]

LAPLACIAN, NEAREST = "Laplacian", "k-NN"
GEODESIC, SPREADING = "geodesic", "LabelSpreading"
PAPERS_RULE, CHOSEN_PENALTY = "p = 20 %", "penalty chosen"
BEST_K, CHOSEN_K = "best k", "k by leave-one-out"
