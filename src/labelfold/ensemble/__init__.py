"""Many maps of few points in place of one map of many."""

from labelfold.ensemble.resampled_embedding import ResampledEmbedding
from labelfold.ensemble.subsamples import Motion, align

__all__ = ["Motion", "ResampledEmbedding", "align"]
