"""Data with known answers: points, their classes and their true coordinates on the manifold."""

from labelfold.datasets.manifolds import (
    make_closed_curve,
    make_concentric_circles,
    make_intertwined_curves,
    make_swiss_roll,
)

__all__ = [
    "make_closed_curve",
    "make_concentric_circles",
    "make_intertwined_curves",
    "make_swiss_roll",
]
