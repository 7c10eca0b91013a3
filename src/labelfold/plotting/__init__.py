"""Pictures of maps, after scikit-learn's Display convention."""

from labelfold.plotting.embedding_display import EmbeddingDisplay

__all__ = ["EmbeddingDisplay"]
