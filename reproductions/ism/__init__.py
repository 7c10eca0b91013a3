"""Vasiloglou, Gray and Anderson, "Learning isometric separation maps", 2009."""

from reproductions.entry import NO_NUMBERS, Item, Paper
from reproductions.ism.figure_1_separation import SEPARATION
from reproductions.ism.figure_1_unfolding import UNFOLDING
from reproductions.ism.figure_5 import FIGURE_5
from reproductions.ism.figures_2_to_4 import FIGURE_2, FIGURE_4
from reproductions.ism.magic_tables import FEW_LABELS, MANY_LABELS
from reproductions.ism.toys import TOYS

MAPS, MACHINES = {"part": "grid"}, {"part": "machines"}
OF_MAPS = "scores of separation maps on MAGIC with"
OF_MACHINES = "scores of support vector machines on MAGIC with"

PAPER = Paper(
    name="ism",
    citation="N. Vasiloglou, A. G. Gray and D. V. Anderson, Learning isometric separation maps, "
    "MLSP 2009.",
    entries=(UNFOLDING, SEPARATION, FIGURE_2, FIGURE_4, FIGURE_5, FEW_LABELS, MANY_LABELS, TOYS),
    items=(
        Item("Fig. 1", "the Swiss roll unfolded and separated", (UNFOLDING.name, SEPARATION.name)),
        Item("Fig. 2", "three classes in bands, unfolded and separated", (FIGURE_2.name,)),
        Item(
            "Fig. 3",
            "spectra of the maps of three classes in 12 dimensions",
            (FIGURE_2.name, FIGURE_4.name),
            rows=NO_NUMBERS,
        ),
        Item("Fig. 4", "three random classes, unfolded and separated", (FIGURE_4.name,)),
        Item("Fig. 5", "a curve of two classes, folded about a line", (FIGURE_5.name,)),
        Item("Table 1", f"{OF_MAPS} 50 labels", (FEW_LABELS.name,), rows=MAPS),
        Item("Table 2", f"{OF_MACHINES} 50 labels", (FEW_LABELS.name,), rows=MACHINES),
        Item("Table 3", f"{OF_MAPS} 12,080 labels", (MANY_LABELS.name,), rows=MAPS),
        Item("Table 4", f"{OF_MACHINES} 12,080 labels", (MANY_LABELS.name,), rows=MACHINES),
    ),
)
