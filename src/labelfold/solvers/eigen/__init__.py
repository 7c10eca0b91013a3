"""Eigenpairs of graphs: W is the adjacency matrix, D the degrees, L = D - W the Laplacian.

The smallest eigenpairs of L v = lambda D v or L v = lambda v come from :mod:`.laplacian`. Two
related problems have modules of their own: :mod:`.null_space` for weights that reconstruct points
from their neighbors, :mod:`.graph_ratio` for directions in which one graph is short and another
long. Each returns :class:`Eigenpairs` with a certificate.
"""

from labelfold.solvers.eigen.laplacian import (
    EIGEN_SOLVERS,
    Eigenpairs,
    refined_eigenpairs,
    smallest_eigenpairs,
)
from labelfold.solvers.eigen.operator import NORMALIZATIONS, Adjacency

__all__ = [
    "EIGEN_SOLVERS",
    "NORMALIZATIONS",
    "Adjacency",
    "Eigenpairs",
    "refined_eigenpairs",
    "smallest_eigenpairs",
]
