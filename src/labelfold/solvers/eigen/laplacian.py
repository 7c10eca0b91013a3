"""The smallest eigenpairs of a graph Laplacian, without factorizing a matrix.

The problem is solved at the top end of an operator (:mod:`.operator`), which is built once and
passed to the chosen solver: dense LAPACK, ARPACK (:mod:`.lanczos`) or filtered subspace iteration
(:mod:`.chebyshev`). The indicators of connected components are known eigenvectors; solvers work in
their orthogonal complement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from labelfold.checkpoint_folder import once, task
from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.progress import Progress, report_nothing
from labelfold.solvers.certificates import EigenCertificate, pair_tolerances, warn_unless_ok
from labelfold.solvers.eigen import chebyshev, lanczos
from labelfold.solvers.eigen.operator import (
    Adjacency,
    ChebyshevFilter,
    LaplacianOperator,
    measure_residuals,
    rayleigh_ritz,
)
from labelfold.threads import limit_threads, thread_limit

__all__ = [
    "EIGEN_SOLVERS",
    "Eigenpairs",
    "fix_bases_and_signs",
    "refined_eigenpairs",
    "smallest_eigenpairs",
]

Array = NDArray[np.float64]

EIGEN_SOLVERS = ("auto", "dense", "arpack", "chebyshev")
DENSE_SIZE = 1000  # nodes up to which LAPACK is as fast as ARPACK
MANY_PAIRS = 7500  # pairs times sqrt(nodes) from which subspace iteration is faster than ARPACK
THREADED_SIZE = 100_000  # nodes from which products of ARPACK go through the compiled kernel
FEW_PAIRS = 40  # above, ARPACK can stall for long on clustered spectra
CROWDED = 5.0  # largest degree over the mean from which ARPACK stalls without normalization
TOLERANCE = 1e-8  # of the residuals
LEAST_HALF = 1e-3  # of the interval that is damped: a product with it grows rounding errors little
SAME_EIGENVALUE = 1e-13  # difference below which the basis of the common eigenspace is arbitrary
SMALL_BLOCK = 1_000_000  # entries up to which threads cost more than they save
# Of a refinement: growth of the least wanted vector in one filter; steps of one filter (with 20,
# Ritz vectors in between would serve better); residual above which a subspace says little.
REFINING_GROWTH, STEPS_AT_ONCE, ROUGH = 10.0, 10, 0.2


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Eigenvalues in ascending order, eigenvectors as columns, and their certificate."""

    values: Array
    vectors: Array
    certificate: EigenCertificate


def smallest_eigenpairs(
    adjacency: Adjacency,
    n_pairs: int,
    *,
    normalization: str = "degree",
    components: NDArray[np.integer] | None = None,
    skip_zeros: bool = False,
    solver: str = "auto",
    tol: float = TOLERANCE,
    progress: Progress = report_nothing,
) -> Eigenpairs:
    """Return the smallest eigenpairs of L v = lambda D v or of L v = lambda v.

    Parameters
    ----------
    adjacency : Adjacency
        The graph.
    n_pairs : int
        How many pairs; at most the number of nodes, or with ``skip_zeros`` the number of nodes
        minus the number of components.
    normalization : {"degree", "none"}, default="degree"
        Which of the two problems.
    components : ndarray of shape (n,), default=None
        The connected component of every node, by number; None for a connected graph.
    skip_zeros : bool, default=False
        Whether to leave out the eigenvalues 0, one per component.
    solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense for small graphs or if more than a third of all pairs is wanted, else ARPACK
        for few pairs and Chebyshev-filtered subspace iteration for many.
    tol : float, default=1e-8
        Residual to reach, on the operator with its spectrum in [-1, 1]. If it is not reached, a
        warning gives the numbers.
    progress : Progress
        Called during an iteration.

    Returns
    -------
    Eigenpairs
        First the indicators of components, the largest component first, then the others. Signs,
        and bases of eigenspaces of two or more dimensions, are fixed by a rule, so that they do not
        depend on rounding; except for an eigenspace that ``n_pairs`` cuts through.
    """
    operator = LaplacianOperator(adjacency, normalization)
    null = operator.null_vectors(components)
    least, most = 1, operator.size
    if skip_zeros:
        least, most = 0, operator.size - null.shape[1]
    if not least <= n_pairs <= most:
        raise InputError(
            f"n_pairs={n_pairs} must lie between {least} and {most}: the graph has "
            f"{operator.size} nodes in {null.shape[1]} components."
        )
    if skip_zeros:
        return _solve(operator, null, n_pairs, solver, tol, progress)
    zeros = null[:, :n_pairs].toarray()
    ones = np.ones(zeros.shape[1])
    pairs = _solve(operator, null, n_pairs - len(ones), solver, tol, progress)
    certificate = replace(
        pairs.certificate,
        residuals=np.r_[measure_residuals(operator, ones, zeros), pairs.certificate.residuals],
        tolerances=np.r_[tol * ones, pairs.certificate.tolerances],
    )
    vectors = np.hstack([operator.eigenvectors(ones, zeros), pairs.vectors])
    return Eigenpairs(np.r_[0 * ones, pairs.values], vectors, certificate)


def refined_eigenpairs(
    adjacency: Adjacency,
    start: Array,
    eigenvalues: Array,
    *,
    normalization: str = "degree",
    n_steps: int,
) -> Eigenpairs:
    """Return approximations of the smallest eigenpairs after the zero, for a connected graph.

    For a graph that changed a little since it was solved. The block has no more vectors than are
    wanted, so the last ones converge slowly; in return a step costs almost nothing.

    Parameters
    ----------
    adjacency : Adjacency
        The graph.
    start : ndarray of shape (n, n_pairs)
        Vectors near the wanted ones.
    eigenvalues : ndarray of shape (n_pairs,)
        Their approximate eigenvalues.
    normalization : {"degree", "none"}, default="degree"
        L v = lambda D v, or L v = lambda v.
    n_steps : int
        Number of products of the adjacency matrix with the block, not counting those for the
        residuals.

    Returns
    -------
    Eigenpairs
        In ascending order; the certificate says how accurate they are.
    """
    operator = LaplacianOperator(adjacency, normalization)
    known = operator.null_vectors(None).toarray()
    U, mu = operator.from_eigenvectors(start), operator.from_eigenvalues(eigenvalues)
    for done in range(0, n_steps, STEPS_AT_ONCE):
        degree = min(STEPS_AT_ONCE, n_steps - done)
        # The interval whose filter of this degree grows by REFINING_GROWTH at the smallest value.
        half = (mu.min() + 1) / (1 + np.cosh(np.arccosh(REFINING_GROWTH) / degree))
        half = max(half, LEAST_HALF)  # all eigenvalues are wanted: there is nothing to damp
        U = ChebyshevFilter(floor=-1.0, bound=2 * half - 1, degree=degree)(operator, U)
        mu, U, product = rayleigh_ritz(operator, U - known @ (known.T @ U))
    residuals = np.linalg.norm(product - U * mu, axis=0)
    fix_bases_and_signs(mu, U)
    overlap = np.hstack([U, known]).T @ U - np.eye(len(mu) + 1)[:, :-1]
    certificate = EigenCertificate(
        solver=f"{n_steps} steps from a nearby embedding",
        residuals=residuals,
        tolerances=np.full(len(mu), ROUGH),
        orthogonality=float(np.max(np.abs(overlap))),
        n_products=operator.n_products,
    )
    warn_unless_ok(certificate)
    return Eigenpairs(operator.eigenvalues(mu), operator.eigenvectors(mu, U), certificate)


def fix_bases_and_signs(mu: Array, U: Array) -> None:
    """Fix what the equation leaves open, in place: bases of common eigenspaces, and signs."""
    breaks = np.flatnonzero(-np.diff(mu) > SAME_EIGENVALUE) + 1
    for group in np.split(np.arange(len(mu)), breaks):
        if len(group) > 1:
            # The projection of a fixed block does not depend on the basis of the eigenspace.
            reference = np.random.default_rng(1).standard_normal((len(U), len(group)))
            rotation, _ = np.linalg.qr(U[:, group].T @ reference)
            U[:, group] = U[:, group] @ rotation
    for column in U.T:
        magnitude = np.abs(column)
        # The first entry that is the largest, up to rounding, is made positive.
        column *= np.sign(column[np.argmax(magnitude >= (1 - 1e-6) * magnitude.max())])


def _solve(
    operator: LaplacianOperator,
    null: Any,
    n_pairs: int,
    solver: str,
    tol: float,
    progress: Progress,
) -> Eigenpairs:
    """Return the eigenpairs orthogonal to the known null vectors."""
    with task("eigenpairs", *operator.determinants, null, n_pairs, solver, tol):
        mu, U, chosen, n_products = once(
            "pairs", lambda: _compute(operator, null, n_pairs, solver, tol, progress)
        )
    overlaps = _gram(U) - np.eye(len(mu)), null.T @ U
    certificate = EigenCertificate(
        solver=str(chosen),
        residuals=measure_residuals(operator, mu, U),
        tolerances=pair_tolerances(mu, tol, U.dtype),
        orthogonality=max(float(np.max(np.abs(part), initial=0)) for part in overlaps),
        n_products=int(n_products),
    )
    warn_unless_ok(certificate)
    return Eigenpairs(operator.eigenvalues(mu), operator.eigenvectors(mu, U), certificate)


def _compute(
    operator: LaplacianOperator,
    null: Any,
    n_pairs: int,
    solver: str,
    tol: float,
    progress: Progress,
) -> tuple[NDArray[Any], ...]:
    """Return values and vectors of the operator, the solver, and the number of products."""
    chosen = _choose(solver, operator.size, n_pairs, operator.crowding)
    solved: tuple[Array, Array] | None = None
    if n_pairs == 0:
        solved = np.empty(0), np.empty((operator.size, 0))
    elif chosen == "dense":
        solved = _solve_dense(operator, null, n_pairs)
    elif chosen == "arpack":
        if operator.size >= THREADED_SIZE:
            operator.compile(thread_limit())
        solved = lanczos.top_eigenpairs(operator, n_pairs, known=null, tol=tol, progress=progress)
        if solved is not None and np.any(
            measure_residuals(operator, *solved) > pair_tolerances(solved[0], tol)
        ):
            solved = None
    if solved is None:  # "chebyshev" was chosen, or ARPACK stalled
        chosen = "chebyshev"
        solved = chebyshev.top_eigenpairs(operator, n_pairs, known=null, tol=tol, progress=progress)
    mu, U = solved
    fix_bases_and_signs(mu, U)
    return mu, U, np.array(chosen), np.array(operator.n_products)


def _choose(solver: str, n: int, n_wanted: int, crowding: float) -> str:
    check_choice("eigen_solver", solver, EIGEN_SOLVERS)
    if solver == "arpack" and n_wanted >= n - 1:
        return "dense"  # ARPACK needs a subspace larger than what is wanted
    if solver == "auto":
        if n <= DENSE_SIZE or n_wanted > n // 3:
            return "dense"
        few = n_wanted <= FEW_PAIRS and n_wanted * np.sqrt(n) < MANY_PAIRS
        return "arpack" if few and crowding < CROWDED else "chebyshev"
    return solver


def _solve_dense(operator: LaplacianOperator, null: Any, n_wanted: int) -> tuple[Array, Array]:
    B = operator(np.eye(operator.size))
    operator.n_products = 0
    B = (B + B.T) / 2 - 3 * (null @ null.T).toarray()  # moves known eigenvalues from 1 to -2
    # All pairs: LAPACK's drivers for a subset lose pairs of a repeated eigenvalue.
    values, vectors = eigh(B, driver="evd", overwrite_a=True)
    return values[::-1][:n_wanted], vectors[:, ::-1][:, :n_wanted].copy()


def _gram(U: Array) -> Array:
    if U.size < SMALL_BLOCK:
        U = U.astype(np.float64, copy=False)
        return np.asarray(U.T @ U)
    n_threads = thread_limit()
    with limit_threads(1, user_api="blas"):
        return chebyshev.inner_products(U, U, n_threads, symmetric=True)
