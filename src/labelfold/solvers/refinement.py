"""A few steps from vectors that are nearly right: when a graph changed a little since its solve."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from labelfold.solvers.certificates import EigenCertificate
from labelfold.solvers.chebyshev import ChebyshevFilter, rayleigh_ritz
from labelfold.solvers.eigen import Eigenpairs, fix_bases_and_signs
from labelfold.solvers.operator import Adjacency, LaplacianOperator

__all__ = ["refined_eigenpairs"]

Array = NDArray[np.float64]

GROWTH = 10.0  # by which one filter lifts the least wanted vector above what is not wanted
STEPS_AT_ONCE = 10  # of one filter; from twice as many on, Ritz vectors in between serve better
ROUGH = 0.2  # residual from which on a subspace says little of the eigenvectors


def refined_eigenpairs(
    adjacency: Adjacency,
    start: Array,
    eigenvalues: Array,
    *,
    normalization: str = "degree",
    n_steps: int,
) -> Eigenpairs:
    """Return nearly the smallest eigenpairs after the zero, of a graph in one piece.

    The block holds no vectors beyond those wanted, so that the last ones converge slowly; that is
    the price of a step that costs next to nothing.

    Parameters
    ----------
    adjacency : Adjacency
        The graph.
    start : ndarray of shape (n, n_pairs)
        Vectors near to those wanted.
    eigenvalues : ndarray of shape (n_pairs,)
        Their eigenvalues, roughly.
    normalization : {"degree", "none"}, default="degree"
        L v = lambda D v, or L v = lambda v.
    n_steps : int
        Number of products of the graph's weights with the block, beyond those for the residuals.

    Returns
    -------
    Eigenpairs
        In ascending order; the certificate tells how near they are.
    """
    operator = LaplacianOperator(adjacency, normalization)
    known = operator.null_vectors(np.zeros(adjacency.size, dtype=int)).toarray()
    U = operator.vectors_of_operator(start)

    def to_ritz(U: Array) -> tuple[Array, Array, Array]:
        return rayleigh_ritz(operator, U - known @ (known.T @ U))

    mu = operator.values_of_operator(eigenvalues)
    for done in range(0, n_steps, STEPS_AT_ONCE):
        degree = min(STEPS_AT_ONCE, n_steps - done)
        mu, U, product = to_ritz(_filter(float(mu.min()), degree)(operator, U))
    residuals = np.linalg.norm(product - U * mu, axis=0)
    fix_bases_and_signs(mu, U)
    certificate = EigenCertificate(
        solver=f"{n_steps} steps from a nearby map",
        residuals=residuals,
        tolerances=np.full(len(mu), ROUGH),
        orthogonality=float(
            np.max(np.abs(np.hstack([U, known]).T @ U - np.eye(len(mu) + 1)[:, :-1]))
        ),
        n_products=operator.n_products,
    )
    if not certificate.ok:
        warnings.warn(f"Eigenpairs {certificate}", ConvergenceWarning, stacklevel=3)
    return Eigenpairs(operator.eigenvalues(mu), operator.eigenvectors(mu, U), certificate)


def _filter(least_wanted: float, degree: int) -> ChebyshevFilter:
    """Return the filter of this degree that has grown by ``GROWTH`` at the least wanted value."""
    half = (least_wanted + 1) / (1 + np.cosh(np.arccosh(GROWTH) / degree))
    return ChebyshevFilter(floor=-1.0, bound=2 * half - 1, degree=degree)
