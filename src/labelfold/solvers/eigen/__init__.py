"""Eigenpairs of graphs: W are the weights, D the degrees, L = D - W the Laplacian.

The smallest eigenpairs of L v = lambda D v or L v = lambda v come from the front door, which picks
dense LAPACK, ARPACK (:mod:`.lanczos`) or filtered subspace iteration (:mod:`.chebyshev`) and
factorizes nothing. Two related problems have modules of their own: :mod:`.null_space` for weights
that rebuild points from their neighbors, :mod:`.graph_ratio` for directions in which one graph is
short and another long. Each returns :class:`Eigenpairs` with a certificate.
"""

from labelfold.solvers.eigen.front_door import (
    EIGEN_SOLVERS,
    Eigenpairs,
    positive_eigenpairs,
    refined_eigenpairs,
    smallest_eigenpairs,
)
from labelfold.solvers.eigen.operator import NORMALIZATIONS, Adjacency

__all__ = [
    "EIGEN_SOLVERS",
    "NORMALIZATIONS",
    "Adjacency",
    "Eigenpairs",
    "positive_eigenpairs",
    "refined_eigenpairs",
    "smallest_eigenpairs",
]
