"""Coordinates that reconstruction weights fit best: smallest eigenpairs of (I - W)^T (I - W).

Row i of W has the weights, summing to 1, that reconstruct point i from its neighbors. A coordinate
v is reconstructed with the squared error |v - W v|^2 = v^T M v, so the best ones of length 1 are
the bottom eigenvectors of M. The constant vector has no error and says nothing.

A *closed component* is a set of points that all reach each other through neighbors, and no other
point. M has a null vector for each: 1 there, 0 on other closed components, and on the remaining
points what W reconstructs from these. The null vectors are computed first, and the solvers work in
their orthogonal complement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.solvers.certificates import EigenCertificate, pair_tolerances, warn_unless_ok
from labelfold.solvers.eigen.lanczos import seeded
from labelfold.solvers.eigen.laplacian import Eigenpairs, fix_bases_and_signs
from labelfold.solvers.eigen.operator import rayleigh_ritz
from labelfold.threads import limit_threads

__all__ = ["SOLVERS", "bottom_eigenpairs", "closed_components"]

Array = NDArray[np.float64]

SOLVERS = ("auto", "dense", "arpack")
DENSE_SIZE = 1500  # points up to which LAPACK takes less than a second
TOLERANCE = 1e-8  # on the residuals, relative to the size of M
SHIFT = 1e-10  # relative to the size of M, added before it is factorized: never singular
SPREAD = 1e4  # ratio of eigenvalues computed together
SAME = 1e-6  # relative difference up to which eigenvalues count as equal
RESTARTS = 1000  # of ARPACK, which needs a few


def closed_components(W: sp.csr_array) -> NDArray[np.intp]:
    """Return the number of every point's closed component, -1 for points in none.

    Components are numbered in the order of their first points; there is at least one.
    """
    edges = W.copy()
    edges.eliminate_zeros()
    _, strong = sp.csgraph.connected_components(edges, directed=True, connection="strong")
    start = np.repeat(strong, np.diff(edges.indptr))
    inside = ~np.isin(strong, start[start != strong[edges.indices]])
    _, first, number = np.unique(strong[inside], return_index=True, return_inverse=True)
    components = np.full(len(strong), -1, dtype=np.intp)
    components[inside] = np.argsort(np.argsort(first))[number]
    return components


def bottom_eigenpairs(
    W: sp.csr_array,
    n_pairs: int,
    *,
    X: Any,
    components: NDArray[np.intp] | None = None,
    solver: str = "auto",
) -> Eigenpairs:
    """Return the smallest eigenpairs of M = (I - W)^T (I - W), without the constant vector.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Weights, with rows that sum to 1.
    n_pairs : int
        How many pairs; less than n.
    X : {ndarray, csr_array} of shape (n, d)
        Rows of the points. They order the basis of the null space by the variance of X that each
        vector explains, as in principal components.
    components : ndarray of shape (n,), default=None
        Closed components, if already computed; see :func:`closed_components`.
    solver : {"auto", "dense", "arpack"}, default="auto"
        All of M at once, or ARPACK on a sparse factorization of M, slightly shifted. "auto" is
        dense up to 1,500 points or if more than a third of all pairs is wanted.

    Returns
    -------
    Eigenpairs
        Vectors of length 1, orthogonal to each other and to the constant; first those of the null
        space, with eigenvalue 0. Signs, and bases of eigenspaces of two or more dimensions, are
        fixed by a rule. Residuals in the certificate are relative to the size of M.
    """
    check_choice("eigen_solver", solver, SOLVERS)
    n = W.shape[0]
    if not 1 <= n_pairs < n:
        raise InputError(f"n_pairs={n_pairs} must lie between 1 and {n - 1}, for {n} points.")
    B = sp.csr_array(sp.eye_array(n) - W)
    M = sp.csr_array(B.T @ B)
    size = float(abs(M).sum(axis=1).max())  # no eigenvalue is larger
    null = _null_basis(W, closed_components(W) if components is None else components, n_pairs, X)
    known = np.column_stack([np.full(n, 1 / np.sqrt(n)), null])
    n_rest = n_pairs - null.shape[1]
    chosen, rest = "closed form", np.empty((n, 0))
    if n_rest:
        chosen = _choose(solver, n, known.shape[1], n_rest)
        rest = (_solve_dense if chosen == "dense" else _solve_arpack)(M, size, known, n_rest)
        fix_bases_and_signs(-_reconstruction_errors(B, rest) / size, rest)
    values = np.r_[np.zeros(null.shape[1]), _reconstruction_errors(B, rest)]
    vectors = np.hstack([null, rest])
    with_constant = np.column_stack([known[:, :1], vectors])
    overlap = with_constant.T @ with_constant - np.eye(n_pairs + 1)
    certificate = EigenCertificate(
        solver=chosen,
        residuals=np.linalg.norm(M @ vectors - vectors * values, axis=0) / size,
        tolerances=pair_tolerances(1 - values / size, TOLERANCE),
        orthogonality=float(np.max(np.abs(overlap))),
    )
    warn_unless_ok(certificate)
    return Eigenpairs(values, vectors, certificate)


def _choose(solver: str, n: int, n_known: int, n_wanted: int) -> str:
    if solver == "auto":
        solver = "dense" if n <= DENSE_SIZE or n_wanted > n // 3 else "arpack"
    # ARPACK needs a subspace larger than what is wanted.
    return "dense" if n - n_known < 3 * n_wanted + 10 else solver


def _reconstruction_errors(B: sp.csr_array, V: Array) -> Array:
    """Return v^T M v, in a form that rounding can't make negative."""
    return np.asarray(np.sum((B @ V) ** 2, axis=0))


def _null_basis(W: sp.csr_array, components: NDArray[np.intp], n_wanted: int, X: Any) -> Array:
    """Return up to ``n_wanted`` null vectors orthogonal to the constant.

    The columns of H are the null vectors of the components, and Q = H C^(-T), with H^T H = C C^T,
    is an orthonormal basis. Left singular vectors of Q^T (X - mean) give the order.
    """
    n = len(components)
    if components.max() == 0:
        return np.empty((n, 0))
    H = _null_vectors(W, components)
    C = cholesky((H.T @ H).toarray(), lower=True)
    A = solve_triangular(C, _centered_products(H, X), lower=True)
    S = A @ A.T
    constant = C.sum(axis=0) / np.sqrt(n)  # as coefficients in Q, of length 1
    S = S / (np.trace(S) or 1.0) - 2 * np.outer(constant, constant)  # it comes last
    mu, V = (part[..., :0:-1].copy() for part in eigh(S, driver="evd"))
    fix_bases_and_signs(mu, V)  # before n_wanted cuts through an eigenspace
    U = H @ solve_triangular(C, V[:, :n_wanted], lower=True, trans="T")
    # Again, as H^T H can be far from the identity if W extrapolates.
    U = np.linalg.qr(np.column_stack([np.ones(n), U]))[0][:, 1:]
    fix_bases_and_signs(-np.arange(U.shape[1], dtype=float), U)  # only signs: no value repeats
    return np.asarray(U)


def _null_vectors(W: sp.csr_array, components: NDArray[np.intp]) -> sp.csr_array:
    """Return the null vector of every component as a column; they sum to the constant vector."""
    closed, outside = np.flatnonzero(components >= 0), np.flatnonzero(components < 0)
    shape = (len(components), int(components.max()) + 1)
    H = sp.csr_array((np.ones(len(closed)), (closed, components[closed])), shape=shape)
    if len(outside) == 0:
        return H
    # h = W h there: (I - W_oo) h_o = W_oc h_c.
    B = sp.csc_array(sp.eye_array(len(outside)) - W[outside][:, outside])
    values = splu(B).solve((W[outside] @ H).toarray())
    rows, columns = np.divmod(np.arange(values.size), shape[1])
    return sp.csr_array(H + sp.csr_array((values.ravel(), (outside[rows], columns)), shape=shape))


def _centered_products(H: sp.csr_array, X: Any) -> Array:
    """Return H^T (X - mean) in a unit whose squares neither overflow nor underflow."""
    _, exponent = np.frexp(abs(X).max())
    X = X * np.ldexp(1.0, -exponent)
    mean = np.asarray(X.mean(axis=0)).ravel()
    if hasattr(X, "toarray"):
        return np.asarray((H.T @ X).toarray() - np.outer(H.sum(axis=0), mean))
    return np.asarray(H.T @ (X - mean))


def _solve_dense(M: sp.csr_array, size: float, known: Array, n_wanted: int) -> Array:
    A = M.toarray() + 2 * size * (known @ known.T)  # moves known eigenvalues from 0 to the top
    # All pairs: LAPACK's drivers for a subset lose pairs of a repeated eigenvalue.
    _, vectors = eigh((A + A.T) / 2, driver="evd", overwrite_a=True)
    return np.asarray(vectors[:, :n_wanted].copy())


def _solve_arpack(M: sp.csr_array, size: float, known: Array, n_wanted: int) -> Array:
    """Return the vectors, including copies of a repeated eigenvalue that one run may miss."""
    shift = SHIFT * size
    factor = splu(
        sp.csc_array(M + shift * sp.eye_array(M.shape[0])),
        permc_spec="MMD_AT_PLUS_A",  # for a symmetric matrix: far less fill than the default
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    rng = np.random.default_rng(0)
    vectors = np.empty((M.shape[0], 0))
    # ARPACK's own work is memory-bound: one BLAS thread is faster, and gives the same bits.
    with limit_threads(1, user_api="blas"):
        while vectors.shape[1] < n_wanted:
            n_left = n_wanted - vectors.shape[1]
            more, values = _arpack(M, shift, factor.solve, np.hstack([known, vectors]), n_left, rng)
            # Those far above the least one lose digits to it and are computed again without it.
            kept = values + shift <= SPREAD * (values[0] + shift)
            vectors = np.hstack([vectors, more[:, kept]])
        for _ in range(n_wanted):
            other, value = _arpack(M, shift, factor.solve, np.hstack([known, vectors]), 1, rng)
            both, values = _rotate_to_eigenvectors(M, np.hstack([vectors, other]))
            if value[0] > (1 - SAME) * values[-1]:
                break
            vectors = both[:, :n_wanted]
    return vectors


def _arpack(
    M: sp.csr_array,
    shift: float,
    solve: Callable[[Array], Array],
    known: Array,
    n_wanted: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Return eigenvectors of the smallest eigenvalues in the complement of ``known``, and these.

    If ARPACK gives up, some vectors are not eigenvectors, as the certificate will show.
    """
    n = M.shape[0]

    def complement(x: Array) -> Array:
        return np.asarray(x - known @ (known.T @ x))

    def invert(x: Array) -> Array:
        return complement(solve(complement(x.reshape(n))))

    try:
        _, U = eigsh(
            M,
            n_wanted,
            sigma=-shift,
            OPinv=LinearOperator((n, n), matvec=invert, dtype=np.float64),
            v0=complement(rng.standard_normal(n)),
            maxiter=RESTARTS,
            **seeded(rng),
        )
    except ArpackNoConvergence as stopped:
        n_missing = n_wanted - stopped.eigenvectors.shape[1]
        filling = solve(complement(rng.standard_normal((n, n_missing))))
        U = np.hstack([stopped.eigenvectors, filling])
    return _rotate_to_eigenvectors(M, complement(np.asarray(U)))


def _rotate_to_eigenvectors(M: sp.csr_array, U: Array) -> tuple[Array, Array]:
    """Return the Ritz vectors in the span of U, and their values in ascending order."""
    values, vectors, _ = rayleigh_ritz(lambda Q: M @ Q, U)
    return vectors[:, ::-1], values[::-1]
