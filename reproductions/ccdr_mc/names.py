"""Names of the maps and classifiers of CCDR-MC, and what its Table I printed for them."""

from __future__ import annotations

__all__ = [
    "CCDR_MAP",
    "CLASSIFIERS",
    "FEATURES",
    "FISHER",
    "KERNEL_FISHER",
    "LDA",
    "LINEAR",
    "NEAREST",
    "NETWORK",
    "OF_THE_PAPER",
    "OUT_OF_SAMPLE",
    "PCA_MAP",
    "PRINTED",
    "RAW",
    "REVIEWED",
    "TRANSDUCTIVE",
]

NETWORK, LINEAR, NEAREST = CLASSIFIERS = ("network", "linear", "k-NN")
TRANSDUCTIVE, OUT_OF_SAMPLE = "transductive", "out of sample"  # whether a map has the test rows

RAW, PCA_MAP, CCDR_MAP = OF_THE_PAPER = ("raw", "PCA", "CCDR")
# Section III.B reviews these, and the paper has no figures for them.
LDA, FISHER, KERNEL_FISHER = REVIEWED = ("LDA", "MFA", "kernel MFA")
FEATURES = OF_THE_PAPER + REVIEWED

PRINTED = {
    RAW: (0.83, 0.227, 0.0965),
    PCA_MAP: (0.0975, 0.23, 0.0935),
    CCDR_MAP: (0.0895, 0.0895, 0.081),
}
