"""Least squares on columns of known roughness; the smoothest of several best fits.

E holds the values of columns at the rows, C the targets, and rho_j >= 0 is column j's roughness:

    minimise  |C - E a|^2,   and among its minimisers  sum_j rho_j |a_j|^2.

Where the columns are independent on the rows there is one minimiser, and rho has no influence.
Elsewhere this is the limit of ridge regression for a penalty that tends to 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, lstsq, svd
from scipy.linalg.lapack import dpocon, dpotrf

__all__ = ["smoothest_fit"]

Array = NDArray[np.float64]

WELL_CONDITIONED = 1e-8  # reciprocal condition from which on normal equations are exact enough
ROUNDING = 1e-10  # what a singular value may be, relative to the largest, and still count as zero


def smoothest_fit(design: Array, targets: Array, roughness: Array) -> tuple[Array, int]:
    """Return the coefficients and the rank of the columns.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        E.
    targets : ndarray of shape (n_rows, n_targets)
        C.
    roughness : ndarray of shape (n_columns,)
        rho. Columns without roughness come first and are indicators of groups of rows: orthogonal,
        and none of them zero on all rows.

    Returns
    -------
    coefficients : ndarray of shape (n_columns, n_targets)
        a.
    rank : int
        The rank of E.

    Notes
    -----
    Well-conditioned problems with twice as many rows as columns go through the normal equations,
    O(n_rows n_columns^2), others through a singular value decomposition, several times that.
    """
    n_groups = int(np.count_nonzero(roughness == 0))
    indicators, others = design[:, :n_groups], design[:, n_groups:]
    dual = indicators / np.sum(indicators**2, axis=0)
    centred = others - indicators @ (dual.T @ others)
    wanted = targets - indicators @ (dual.T @ targets)
    solution, rank = _shortest(centred, wanted, 1 / np.sqrt(roughness[n_groups:]))
    levels = dual.T @ (targets - others @ solution)
    return np.vstack([levels, solution]), n_groups + rank


def _shortest(A: Array, B: Array, scales: Array) -> tuple[Array, int]:
    """Return the solution that is shortest after division by ``scales``, and the rank of A."""
    n, p = A.shape
    if p == 0:
        return np.zeros((0, B.shape[1])), 0
    if p <= n // 2:
        gram = A.T @ A
        factor, info = dpotrf(gram)
        if info == 0 and dpocon(factor, np.abs(gram).sum(axis=0).max())[0] > WELL_CONDITIONED:
            return np.asarray(cho_solve((factor, False), A.T @ B)), p
    U, singular, Vt = svd(A, full_matrices=p > n)
    rank = int(np.sum(singular > ROUNDING * singular.max(initial=0.0)))
    solution = Vt[:rank].T @ ((U[:, :rank].T @ B) / singular[:rank, None])
    null = Vt[rank:].T
    if null.shape[1]:
        # All solutions are this one plus combinations of null vectors.
        solution -= null @ lstsq(null / scales[:, None], solution / scales[:, None])[0]
    return np.asarray(solution), rank
