"""Many maps of few points in place of one map of many."""

from labelfold.ensemble.alignment import Motion, align
from labelfold.ensemble.resampled_embedding import ResampledEmbedding

__all__ = ["Motion", "ResampledEmbedding", "align"]
