"""The step that all spectral maps share: a graph's eigenvectors but the constant one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labelfold.graph.adjacency import SparseAdjacency
from labelfold.progress import Progress
from labelfold.solvers.certificates import fragile_coordinates
from labelfold.solvers.eigen import Eigenpairs, smallest_eigenpairs

__all__ = ["eigenmap"]


def eigenmap(
    adjacency: SparseAdjacency,
    n_components: int,
    *,
    normalization: str = "degree",
    solver: str,
    progress: Progress,
) -> Eigenpairs:
    """Return the eigenpairs after the trivial one of a connected graph.

    Parameters
    ----------
    adjacency : SparseAdjacency
        The graph, in one piece.
    n_components : int
        Number of eigenpairs.
    normalization : {"degree", "none"}, default="degree"
        L v = lambda D v, or L v = lambda v.
    solver : str
        See :func:`labelfold.solvers.eigen.smallest_eigenpairs`.
    progress : Progress
        Called while the solver works.

    Returns
    -------
    Eigenpairs
        One row a node; the certificate names the coordinates that extend badly to new points.
    """
    nearby, order = adjacency.reordered()
    pairs = smallest_eigenpairs(
        nearby, n_components + 1, normalization=normalization, solver=solver, progress=progress
    )
    vectors = np.empty((adjacency.size, n_components))
    vectors[order] = pairs.vectors[:, 1:]
    unit = 1.0 if normalization == "degree" else float(np.median(adjacency.degrees))
    fragile = fragile_coordinates(pairs.values[1:] / unit)
    return Eigenpairs(pairs.values[1:], vectors, replace(pairs.certificate, fragile=fragile))
