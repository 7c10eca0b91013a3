"""Vasiloglou, Gray and Anderson, "Learning isometric separation maps", 2009."""

from __future__ import annotations

from reproductions.entry import NO_NUMBERS, Item, Paper
from reproductions.ism.figure_1 import UNFOLDING
from reproductions.ism.figure_1_separation import SEPARATION
from reproductions.ism.figure_5 import FIGURE_5
from reproductions.ism.figures_2_to_4 import FIGURE_2, FIGURE_4
from reproductions.ism.magic_few import FEW_LABELS
from reproductions.ism.magic_many import MANY_LABELS
from reproductions.ism.toys import TOYS

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
    items=(
        Item(
            "Fig. 1",
            "the Swiss roll unfolded and separated",
            ("figure-1-unfolding", "figure-1-separation"),
        ),
        Item("Fig. 2", "three classes in bands, unfolded and separated", ("figure-2-bands",)),
        Item(
            "Fig. 3",
            "spectra of the maps of three classes in 12 dimensions",
            ("figure-2-bands", "figure-4-random"),
            rows=NO_NUMBERS,
        ),
        Item("Fig. 4", "three random classes, unfolded and separated", ("figure-4-random",)),
        Item("Fig. 5", "a curve of two classes, folded about a line", ("figure-5",)),
        Item(
            "Table 1",
            "scores of separation maps on MAGIC with 50 labels",
            ("tables-1-and-2",),
            rows={"part": "grid"},
        ),
        Item(
            "Table 2",
            "scores of support vector machines on MAGIC with 50 labels",
            ("tables-1-and-2",),
            rows={"part": "machines"},
        ),
        Item(
            "Table 3",
            "scores of separation maps on MAGIC with 12,080 labels",
            ("tables-3-and-4",),
            rows={"part": "grid"},
        ),
        Item(
            "Table 4",
            "scores of support vector machines on MAGIC with 12,080 labels",
            ("tables-3-and-4",),
            rows={"part": "machines"},
        ),
    ),
)
