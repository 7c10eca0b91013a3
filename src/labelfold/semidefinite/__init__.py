"""Maps from semidefinite programmes: distances are kept, and a spread is made large."""

from labelfold.semidefinite.unfolding import FurthestNeighborUnfolding, MaximumVarianceUnfolding

__all__ = ["FurthestNeighborUnfolding", "MaximumVarianceUnfolding"]
