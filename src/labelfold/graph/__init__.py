"""Points become one immutable :class:`NeighborGraph`."""

from labelfold.graph.neighbor_graph import GraphRecipe, GraphStatistics, NeighborGraph

__all__ = ["GraphRecipe", "GraphStatistics", "NeighborGraph"]
