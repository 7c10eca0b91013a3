"""Chebyshev-filtered subspace iteration: top eigenpairs of an operator with spectrum in [-1, 1].

A block of vectors is multiplied by a Chebyshev polynomial of the operator that stays small on
[-1, b] and grows beyond it, b being the least Ritz value of the block; then the block is
orthonormalised and rotated to Ritz vectors, and so on. A block sees all copies of a repeated
eigenvalue, and a polynomial of degree m narrows a gap g as fast as exp(m sqrt(g)), where a
restarted Lanczos iteration stalls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelfold.progress import Progress, report_nothing

__all__ = ["ChebyshevFilter", "rayleigh_ritz", "top_eigenpairs"]

Array = NDArray[np.float64]

SPREAD = 1e8  # of what one filter does to the block's ends: more would cost it its rank
LARGEST_DEGREE = 1000
LEAST_BOUND = -0.99


@dataclass(frozen=True)
class ChebyshevFilter:
    """The Chebyshev polynomial T_m of an operator, with [-1, bound] mapped onto [-1, 1].

    Parameters
    ----------
    bound : float
        Eigenvalues up to it are kept within [-1, 1]; beyond it the polynomial grows.
    degree : int
        m.
    """

    bound: float
    degree: int

    @classmethod
    def growing(cls, bound: float, *, top: float, growth: float) -> ChebyshevFilter:
        """Return the filter that has grown by this factor at ``top``, as far as degrees go."""
        bound = max(bound, LEAST_BOUND)
        center, half = (bound - 1) / 2, (bound + 1) / 2
        rate = np.arccosh(max((top - center) / half, 1 + 1e-12))
        return cls(bound, int(np.clip(np.arccosh(growth) / rate, 1, LARGEST_DEGREE)))

    def __call__(self, apply: Callable[[Array], Array], X: Array) -> Array:
        """Return the polynomial of the operator times a vector or a block."""
        center, half = (self.bound - 1) / 2, (self.bound + 1) / 2
        previous, current = X, (apply(X) - center * X) / half
        for _ in range(self.degree - 1):
            # 2 (B - center) / half times current, less previous; in place, vectors being long
            following = apply(current)
            following -= center * current
            following *= 2 / half
            following -= previous
            previous, current = current, following
        return current


def top_eigenpairs(
    apply: Callable[[Array], Array],
    start: Array,
    n_pairs: int,
    *,
    aside: Array,
    tol: float,
    max_filters: int = 100,
    progress: Progress = report_nothing,
) -> tuple[Array, Array, bool]:
    """Return the top eigenpairs, largest first, and whether their residuals reached ``tol``.

    Parameters
    ----------
    apply : callable
        Product of the operator with a block.
    start : ndarray of shape (n, n_block)
        A block of more than ``n_pairs`` columns; the better it is, the fewer filters.
    n_pairs : int
        Number of pairs.
    aside : ndarray of shape (n, n_known)
        Known eigenvectors, to which the wanted ones are orthogonal.
    tol : float
        Residual to reach.
    max_filters : int, default=100
        Number of filters after which to stop.
    progress : Progress
        Called after every filter.
    """
    X = start
    for step in range(max_filters + 1):
        mu, X, AX = rayleigh_ritz(apply, X - aside @ (aside.T @ X))
        residuals = np.linalg.norm(AX - X * mu, axis=0)[:n_pairs]
        progress("eigenpairs", step, note=f"residual {residuals.max():.1e}")
        if residuals.max() <= tol:
            return mu[:n_pairs], X[:, :n_pairs], True
        if step < max_filters:
            X = ChebyshevFilter.growing(mu[-1], top=mu[0], growth=SPREAD)(apply, X)
    return mu[:n_pairs], X[:, :n_pairs], False


def rayleigh_ritz(apply: Callable[[Array], Array], X: Array) -> tuple[Array, Array, Array]:
    """Return Ritz values, largest first, Ritz vectors, and the operator's product with them."""
    Q, _ = np.linalg.qr(X)
    AQ = apply(Q)
    H = Q.T @ AQ
    values, rotation = np.linalg.eigh((H + H.T) / 2)
    rotation = rotation[:, ::-1]
    return values[::-1], Q @ rotation, AQ @ rotation
