"""Directions in which one graph is short and another long, by a generalized eigenproblem.

Z holds the coordinates of points, L_s and L_l are the Laplacians (D - W) of the graph that should
be short and of the one that should be long, S = Z^T L_s Z + ridge I and B = Z^T L_l Z. The
directions solve S a = lambda B a with the smallest lambda. The ridge makes S positive definite, so
the problem is solved as B a = nu S a, at the largest nu = 1 / lambda. A direction in which the long
graph has no length has nu = 0 and infinite lambda, and comes last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh, orthogonal_procrustes

from labelfold.exceptions import InputError
from labelfold.solvers.certificates import EigenCertificate, warn_unless_ok
from labelfold.solvers.eigen.laplacian import Eigenpairs, fix_bases_and_signs

__all__ = ["smallest_ratios"]

Array = NDArray[np.float64]

TOLERANCE = 1e-8  # on the residuals
NO_LENGTH = 1e-14  # of squared edges, relative to the squares of their ends


def smallest_ratios(
    Z: Any, short: sp.csr_array, long: sp.csr_array, n_pairs: int, *, ridge: float
) -> Eigenpairs:
    """Return the directions with the smallest ratios of lengths.

    Parameters
    ----------
    Z : {ndarray, csr_array} of shape (n, r)
        Coordinates of the points; their origin does not matter.
    short, long : csr_array of shape (n, n)
        Adjacency matrices of the two graphs, symmetric.
    n_pairs : int
        How many directions.
    ridge : float
        Ridge relative to the trace of S, or of B if no edge of the short graph has a length.

    Returns
    -------
    Eigenpairs
        Values lambda, ascending, and directions as columns: A^T B A is the total weight of the
        long graph's edges times I, so that the weighted mean of squared differences along its
        edges is 1 in every direction. Signs, and bases of eigenspaces of two or more dimensions,
        are fixed by a rule on Z A less its mean. Residuals in the certificate are those of
        B a = nu S a, relative to the largest nu.

    Raises
    ------
    InputError
        If there are fewer directions of finite ratio.
    """
    S, B = _form(Z, short), _form(Z, long)
    rounding = np.finfo(float).eps * max(Z.shape)
    lengths = np.linalg.eigvalsh(B) if B.size else np.empty(0)
    _check_rank(int(np.sum(lengths > rounding * np.trace(B))), n_pairs)
    squares = Z.power(2) if hasattr(Z, "power") else Z**2
    if np.trace(S) <= NO_LENGTH * np.sum(short.sum(axis=1) @ squares):
        S[:] = 0  # it was only rounding
    S[np.diag_indices_from(S)] += ridge * (np.trace(S) if np.trace(S) > 0 else np.trace(B))
    # All pairs: LAPACK's drivers for a subset lose pairs of a repeated eigenvalue.
    try:
        nu, V = eigh(B, S)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "Rows of the same class differ by rounding errors only, next to the size of their "
            "entries: subtract the mean of every column, or pass a dense X."
        ) from error
    nu, V = nu[::-1], V[:, ::-1]
    _check_rank(int(np.sum(nu > rounding * nu[0])), n_pairs)
    weight = long.sum() / 2
    A = V[:, :n_pairs] * np.sqrt(weight / nu[:n_pairs])
    # The rule that fixes signs and bases looks at the points' coordinates along the directions,
    # which do not depend on the basis that Z is written in.
    coordinates = np.asarray(Z @ A)
    coordinates = coordinates - coordinates.mean(axis=0)
    fixed = coordinates.copy()
    fix_bases_and_signs(nu[:n_pairs] / nu[0], fixed)
    A = A @ orthogonal_procrustes(coordinates, fixed)[0]
    lengths = np.einsum("ij,ij->j", A, B @ A)
    values = np.einsum("ij,ij->j", A, S @ A) / lengths  # small ratios keep their digits
    residuals = V.T @ (B @ A - S @ A / values) * np.sqrt(nu[:n_pairs] / lengths) / nu[0]
    certificate = EigenCertificate(
        solver="dense",
        residuals=np.linalg.norm(residuals, axis=0),
        tolerances=np.full(n_pairs, TOLERANCE),
        orthogonality=float(np.abs(A.T @ B @ A / weight - np.eye(n_pairs)).max()),
    )
    warn_unless_ok(certificate)
    return Eigenpairs(values, A, certificate)


def _form(Z: Any, W: sp.csr_array) -> Array:
    """Return Z^T (D - W) Z."""
    L = sp.csr_array(sp.diags_array(W.sum(axis=1)) - W)
    form: Any = Z.T @ (L @ Z)
    form = np.asarray(form.toarray() if hasattr(form, "toarray") else form)
    return (form + form.T) / 2


def _check_rank(rank: int, n_pairs: int) -> None:
    if n_pairs > rank:
        raise InputError(
            f"n_components={n_pairs} is more than the rank of X, or the number of directions in "
            f"which neighbors of different classes differ, which is {rank}: lower n_components "
            "or add features."
        )
