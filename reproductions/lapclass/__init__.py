"""Belkin and Niyogi, "Using manifold structure for partially labeled classification", 2002."""

from reproductions.entry import NO_NUMBERS, Item, Paper
from reproductions.lapclass.figure_1 import FIGURE_1
from reproductions.lapclass.figure_2 import FIGURE_2
from reproductions.lapclass.figure_3 import FIGURE_3

PAPER = Paper(
    name="lapclass",
    citation="M. Belkin and P. Niyogi, Using manifold structure for partially labeled "
    "classification, NIPS 2002.",
    entries=(FIGURE_1, FIGURE_2, FIGURE_3),
    items=(
        Item("Fig. 1", "two classes on a closed curve, and their Laplacian map", ("figure-1",)),
        Item("Fig. 2", "errors on MNIST", ("figure-2",)),
        Item("Fig. 3", "errors on 20 Newsgroups", ("figure-3",), rows=NO_NUMBERS),
    ),
)
