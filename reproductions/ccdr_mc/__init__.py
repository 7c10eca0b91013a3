"""Raich, Damelin, Costa and Hero, "Classification constraint dimensionality reduction"."""

from reproductions.ccdr_mc.dimensions import INTRINSIC_DIMENSION
from reproductions.ccdr_mc.extensions import APPENDIX_3, JOINT_EXTENSION, OUT_OF_SAMPLE
from reproductions.ccdr_mc.figures_2_to_4 import FIGURE_2, FIGURE_3, FIGURE_4
from reproductions.ccdr_mc.table_1 import TABLE_1
from reproductions.ccdr_mc.toys import CIRCLES, FIGURE_1
from reproductions.entry import Item, Paper

PAPER = Paper(
    name="ccdr-mc",
    citation="R. Raich, S. B. Damelin, J. A. Costa and A. O. Hero III, Classification constraint "
    "dimensionality reduction.",
    entries=(
        FIGURE_1,
        CIRCLES,
        TABLE_1,
        FIGURE_2,
        INTRINSIC_DIMENSION,
        FIGURE_3,
        FIGURE_4,
        OUT_OF_SAMPLE,
        JOINT_EXTENSION,
        APPENDIX_3,
    ),
    items=(
        Item("Fig. 1", "PCA of two long classes, a drawing", ("figure-1",)),
        Item("Table I", "errors on Landsat on raw, PCA and CCDR features", ("table-1",)),
        Item(
            "Table of section V.D",
            "intrinsic dimension of the classes of Landsat",
            ("intrinsic-dimension",),
        ),
        Item("Fig. 2", "errors against beta", ("figure-2",)),
        Item("Fig. 3", "errors against the dimension", ("figure-3",)),
        Item("Fig. 4", "errors against the number of neighbors", ("figure-4",)),
    ),
)
