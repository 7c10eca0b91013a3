"""Costa and Hero, "Classification constrained dimensionality reduction", 2005: section 4."""

from reproductions.ccdr_2005.bands import BANDS
from reproductions.ccdr_2005.figure_3 import FIGURE_3
from reproductions.ccdr_2005.figures_1_and_2 import FIGURE_1, FIGURE_2
from reproductions.ccdr_2005.table_1 import TABLE_1
from reproductions.entry import Item, Paper

PAPER = Paper(
    name="ccdr-2005",
    citation="J. A. Costa and A. O. Hero III, Classification constrained dimensionality reduction, "
    "ICASSP 2005.",
    entries=(TABLE_1, BANDS, FIGURE_1, FIGURE_2, FIGURE_3),
    items=(
        Item("Table 1", "errors of CCDR, the Laplacian map and 3-NN on new rows", ("table-1",)),
        Item("Fig. 1", "the Swiss roll with two classes", ("figure-1",)),
        Item("Fig. 2", "maps of the roll by Isomap, Laplacian eigenmaps and CCDR", ("figure-2",)),
        Item("Fig. 3", "errors against the number of labels", ("figure-3",)),
    ),
)
