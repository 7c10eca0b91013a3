"""Rows become the points of one immutable :class:`NeighborGraph`."""

from labelfold.graph.intrinsic_dimension import IntrinsicDimension, largest_class_dimension
from labelfold.graph.neighbor_graph import GraphRecipe, GraphStatistics, NeighborGraph

__all__ = [
    "GraphRecipe",
    "GraphStatistics",
    "IntrinsicDimension",
    "NeighborGraph",
    "largest_class_dimension",
]
