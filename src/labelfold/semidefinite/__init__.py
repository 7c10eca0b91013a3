"""Embeddings from semidefinite programs: distances are kept, and a spread is made large."""

from labelfold.semidefinite.least_rank import RankSearch, find_least_rank
from labelfold.semidefinite.separation_map import IsometricSeparationMap
from labelfold.semidefinite.supervised_embedding import SupervisedSemidefiniteEmbedding
from labelfold.semidefinite.unfolding import FurthestNeighborUnfolding, MaximumVarianceUnfolding

__all__ = [
    "FurthestNeighborUnfolding",
    "IsometricSeparationMap",
    "MaximumVarianceUnfolding",
    "RankSearch",
    "SupervisedSemidefiniteEmbedding",
    "find_least_rank",
]
