"""How many eigenvalues lie above a value: a spectrum's density by stochastic Lanczos quadrature.

A few Lanczos steps from a random vector v give nodes and weights of a quadrature with respect to
the measure sum_i (u_i^T v)^2 at the eigenvalues. Averaged over some vectors the weights, times the
number of eigenvalues, tell how many of them there are near each node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

__all__ = ["Density", "estimate_density"]

Array = NDArray[np.float64]

N_VECTORS = 4
N_STEPS = 80
BREAKDOWN = 1e-10  # length of a new direction that is nothing but rounding


@dataclass(frozen=True, eq=False)
class Density:
    """An estimate of a spectrum.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,)
        Values in descending order.
    counts : ndarray of shape (n_nodes,)
        About how many eigenvalues are as large as that.
    floor : float
        No eigenvalue is much smaller than this.
    """

    nodes: Array
    counts: Array
    floor: float

    def value_at(self, rank: int) -> float:
        """Return about the eigenvalue of this rank, the largest being the first."""
        return float(np.interp(rank, self.counts, self.nodes))


def estimate_density(
    apply: Callable[[Array], Array], remove: Callable[[Array], Any], size: int, n_values: int
) -> Density:
    """Estimate the density of an operator's spectrum.

    Parameters
    ----------
    apply : callable
        Product of the operator with a block.
    remove : callable
        Makes a block orthogonal to what is set aside, in place.
    size : int
        Length of a vector.
    n_values : int
        Number of eigenvalues that are not set aside.
    """
    V = np.random.default_rng(2).standard_normal((size, N_VECTORS))
    remove(V)
    V /= np.linalg.norm(V, axis=0)
    before, beta = np.zeros_like(V), np.zeros(N_VECTORS)
    diagonal, off_diagonal = [], []
    # Without reorthogonalisation: copies of a value share its weight.
    for _ in range(min(N_STEPS, n_values)):
        following = apply(V)
        following -= beta * before
        alpha = np.einsum("ij,ij->j", following, V)
        following -= alpha * V
        remove(following)
        beta = np.linalg.norm(following, axis=0)
        diagonal.append(alpha)
        off_diagonal.append(beta)
        if beta.min() < BREAKDOWN:  # an invariant subspace: there is nothing more to see from here
            break
        before, V = V, following / beta
    return _quadrature(np.array(diagonal), np.array(off_diagonal), n_values)


def _quadrature(diagonal: Array, off_diagonal: Array, n_values: int) -> Density:
    nodes, weights, floors = [], [], []
    for alpha, beta in zip(diagonal.T, off_diagonal.T, strict=True):
        values, vectors = eigh_tridiagonal(alpha, beta[:-1])
        nodes.append(values)
        weights.append(vectors[0] ** 2)
        floors.append(values[0] - beta[-1] * abs(vectors[-1, 0]))
    together: Array = np.concatenate(nodes)
    shares: Array = np.concatenate(weights)
    order = np.argsort(-together)
    counts = np.cumsum(shares[order]) * n_values / len(nodes)
    return Density(together[order], counts, float(min(floors)))
