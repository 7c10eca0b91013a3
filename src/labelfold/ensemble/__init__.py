"""Several embeddings of few rows in place of one of many."""

from labelfold.ensemble.resampled_embedding import ResampledEmbedding
from labelfold.ensemble.subsamples import SimilarityTransform, align

__all__ = ["ResampledEmbedding", "SimilarityTransform", "align"]
