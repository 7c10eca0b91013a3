"""Chebyshev-filtered subspace iteration: top eigenpairs of an operator with spectrum in [-1, 1].

A block of vectors is multiplied by a Chebyshev polynomial of the operator that stays small on
[-1, b] and grows beyond it, b being the least Ritz value of the block; then the block is
orthonormalised and rotated to Ritz vectors, and so on. A block sees all copies of a repeated
eigenvalue, and a polynomial of degree m narrows a gap g as fast as exp(m sqrt(g)), where a
restarted Lanczos iteration stalls.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from labelfold.progress import Progress, report_nothing

__all__ = ["rayleigh_ritz", "top_eigenpairs"]

Array = NDArray[np.float64]

SPREAD = 1e8  # of what one filter does to the block's ends: more would cost it its rank
LARGEST_DEGREE = 1000


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
            X = _filter(apply, X, AX, bound=mu[-1], top=mu[0])
    return mu[:n_pairs], X[:, :n_pairs], False


def rayleigh_ritz(apply: Callable[[Array], Array], X: Array) -> tuple[Array, Array, Array]:
    """Return Ritz values, largest first, Ritz vectors, and the operator's product with them."""
    Q, _ = np.linalg.qr(X)
    AQ = apply(Q)
    H = Q.T @ AQ
    values, rotation = np.linalg.eigh((H + H.T) / 2)
    rotation = rotation[:, ::-1]
    return values[::-1], Q @ rotation, AQ @ rotation


def _filter(
    apply: Callable[[Array], Array], X: Array, AX: Array, *, bound: float, top: float
) -> Array:
    """Return T_m(B') X, where B' maps [-1, bound] onto [-1, 1]."""
    center, half = (bound - 1) / 2, max((bound + 1) / 2, 1e-3)
    growth = np.arccosh(max((top - center) / half, 1 + 1e-12))
    degree = int(np.clip(np.log(SPREAD) / growth, 2, LARGEST_DEGREE))
    # Scaled by 1 / cosh(m growth) in the end; the recurrence itself stays below SPREAD.
    previous, current = X, (AX - center * X) / half
    for _ in range(degree - 1):
        previous, current = current, 2 * (apply(current) - center * current) / half - previous
    return current
