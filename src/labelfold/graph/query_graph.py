"""A graph without its edges: it still places new points, which is all that a fitted map asks."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelfold.graph.neighbor_graph import NeighborGraph
from labelfold.graph.precomputed import PrecomputedIndex
from labelfold.methods import stored

__all__ = ["QueryGraph"]

KEPT = ("scale", "recipe", "index", "equal_groups")
DERIVED = ("pieces", "statistics")


@stored
class QueryGraph(NeighborGraph):
    """What is left of a graph in a file saved with ``compact=True``.

    New points find their neighbours and weights as on the graph itself. Whatever needs the edges
    raises an AttributeError that says so.
    """

    @classmethod
    def of(cls, graph: NeighborGraph) -> QueryGraph:
        """Return the graph without its edges."""
        if isinstance(graph, cls):
            return graph
        index = graph.index
        if isinstance(index, PrecomputedIndex):
            # New rows bring their distances along; those of the points are edges.
            index = PrecomputedIndex(sp.csr_array((graph.n_points, graph.n_points)))
        small = cls.__new__(cls)
        small.__dict__.update(
            scale=graph.scale, recipe=graph.recipe, index=index, equal_groups=graph.equal_groups
        )
        return small

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.index.n_points

    def __post_init__(self) -> None:
        np.asarray(self.scale).flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in KEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __getattribute__(self, name: str) -> Any:
        # A field with a default would give that, and a property fail at the field it reads.
        if name in LEFT_OUT:
            raise AttributeError(
                f"{name} of the graph was left out of the compact file that it comes from: save "
                "the estimator with compact=False, or fit it again."
            )
        return super().__getattribute__(name)

    def __repr__(self) -> str:
        return f"QueryGraph(n_points={self.n_points}, recipe={self.recipe!r})"


LEFT_OUT = frozenset({one.name for one in fields(NeighborGraph)} | set(DERIVED)) - set(KEPT)
