"""Sparse factors of a weighted Laplacian plus a diagonal, while they stay sparse.

The neighbour graph of points on a surface falls apart at about sqrt(n) points, and its factor has a
few times as many entries as the matrix. In many dimensions it fills in, and no factor is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

__all__ = ["Solve", "approximate_inverse", "factorize", "stays_sparse"]

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

WIDEST = 600  # points at one distance from an end of the graph


def stays_sparse(n_points: int, edges: NDArray[np.intp]) -> bool:
    """Tell whether a Laplacian on these edges has a factor worth making.

    The points at one number of edges from an end of the graph separate what is before from what is
    behind. The factor treats the widest separator as a dense matrix, at the cost of its cube.
    """
    if n_points <= WIDEST:
        return True
    ones = np.ones(2 * len(edges))
    ends = np.concatenate([edges, edges[:, ::-1]]).T.astype(np.int32)
    graph = sp.csr_array((ones, (ends[0], ends[1])), shape=(n_points, n_points))
    depth = np.zeros(n_points)
    for _ in range(3):  # from an end of the end of the end: about the longest way through
        start = int(np.argmax(np.where(np.isfinite(depth), depth, -1)))
        depth = dijkstra(graph, indices=[start], unweighted=True)[0]
    reached = depth[np.isfinite(depth)].astype(np.intp)
    return bool(np.bincount(reached).max() <= WIDEST)


def factorize(A: sp.csc_array) -> Any:
    """Return SuperLU's factors of a symmetric matrix, with pivots from the diagonal only.

    Without exchanges of rows the signs of U's diagonal are those of A's eigenvalues.
    """
    return splu(
        A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )


def approximate_inverse(A: sp.csc_array, *, exact: bool) -> Solve:
    """Return the product with A^(-1), or with the inverse of A's diagonal alone."""
    if exact:
        solve: Solve = factorize(A).solve
        return solve
    diagonal = A.diagonal()[:, None]
    return lambda block: block / diagonal
