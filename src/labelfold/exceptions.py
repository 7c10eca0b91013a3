"""Warnings and errors with a name, so that a caller can filter or catch them."""

from __future__ import annotations

__all__ = [
    "ApproximateSearchWarning",
    "DisconnectedGraphWarning",
    "FewNeighborsWarning",
    "GraphMismatchError",
]


class GraphMismatchError(ValueError):
    """A graph was handed to ``fit`` that belongs to other rows or other parameters."""


class DisconnectedGraphWarning(UserWarning):
    """The neighbour graph fell into several pieces and was joined by bridges."""


class FewNeighborsWarning(UserWarning):
    """More neighbours were asked for than there are other rows."""


class ApproximateSearchWarning(UserWarning):
    """The approximate neighbour search was not used as asked; the message says why."""
