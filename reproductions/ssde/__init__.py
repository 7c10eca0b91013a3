"""Zhang et al., "Supervised semi-definite embedding for image manifolds", 2005."""

from reproductions.entry import Item, Paper
from reproductions.ssde.figure_1 import FIGURE_1
from reproductions.ssde.figure_2 import FIGURE_2

PAPER = Paper(
    name="ssde",
    citation="B. Zhang, J. Yan, N. Liu, Q. Cheng, Z. Chen and W.-Y. Ma, Supervised semi-definite "
    "embedding for image manifolds, ICME 2005.",
    entries=(FIGURE_1, FIGURE_2),
    items=(
        Item(
            "Table 1",
            "the algorithm: `SupervisedSemidefiniteEmbedding`; see Fig. 2 for its constraint",
            (),
        ),
        Item("Fig. 1", "four classes on a roll, by SLLE and SSDE", ("figure-1",)),
        Item("Fig. 2", "precisions on the alphadigits", ("figure-2",)),
    ),
)
