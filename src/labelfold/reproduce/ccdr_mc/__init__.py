"""Raich, Damelin, Costa and Hero, "Classification constraint dimensionality reduction"."""

from __future__ import annotations

from labelfold.reproduce.ccdr_mc.appendix_3 import APPENDIX_3
from labelfold.reproduce.ccdr_mc.circles import CIRCLES
from labelfold.reproduce.ccdr_mc.dimensions import INTRINSIC_DIMENSION
from labelfold.reproduce.ccdr_mc.figure_1 import FIGURE_1
from labelfold.reproduce.ccdr_mc.joint_extension import JOINT_EXTENSION
from labelfold.reproduce.ccdr_mc.out_of_sample import OUT_OF_SAMPLE
from labelfold.reproduce.ccdr_mc.sweeps import FIGURE_2, FIGURE_3, FIGURE_4
from labelfold.reproduce.ccdr_mc.table_1 import TABLE_1
from labelfold.reproduce.entry import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    name="ccdr-mc",
    citation=(
        "R. Raich, S. B. Damelin, J. A. Costa and A. O. Hero III, Classification constraint "
        "dimensionality reduction."
    ),
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
)
