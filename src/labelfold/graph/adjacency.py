"""A sparse symmetric weight matrix as solvers see it: size, degrees, product with a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["SparseAdjacency", "with_class_nodes"]


class SparseAdjacency:
    """Weights W of an undirected graph.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        Symmetric, nonnegative.
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix = matrix
        self.degrees: NDArray[np.float64] = np.asarray(matrix.sum(axis=1), dtype=float)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    def product(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return W times a vector or a block of vectors."""
        return np.asarray(self.matrix @ block)

    def reordered(self) -> tuple[SparseAdjacency, NDArray[np.int32]]:
        """Return the graph with neighbours numbered close to each other, and the old numbers.

        Products are memory-bound: neighbours should be near each other in memory.
        """
        order = sp.csgraph.reverse_cuthill_mckee(self.matrix, symmetric_mode=True)
        matrix = self.matrix[order][:, order]
        matrix.sort_indices()
        return SparseAdjacency(matrix), np.asarray(order)


def with_class_nodes(
    weights: sp.csr_array, membership: sp.csr_array, *, class_weight: float, edge_weight: float
) -> SparseAdjacency:
    """Return G = [[0, a C], [a C^T, b W]]: class nodes first, then points (CCDR-MC section IV).

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        W.
    membership : csr_array of shape (n_classes, n)
        C; every class has a member.
    class_weight, edge_weight : float
        a and b; the paper's G has a = 1 and b = beta.
    """
    C = class_weight * membership
    blocks: Any = [[None, C], [C.T, edge_weight * weights]]
    return SparseAdjacency(sp.csr_array(sp.block_array(blocks)))
