"""The smallest eigenpairs of a graph Laplacian, without factorizing anything: the front door.

The problem is solved at the top end of an operator (:mod:`.operator`), which is built once and
handed to the solver that was chosen. The indicators of connected components are known
eigenvectors: the solvers work on what is orthogonal to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from labelfold.checks import check_choice
from labelfold.exceptions import InputError
from labelfold.progress import Progress, report_nothing
from labelfold.solvers.certificates import EigenCertificate, pair_tolerances, warn_unless_ok
from labelfold.solvers.eigen import chebyshev, lanczos
from labelfold.solvers.eigen.blocks import inner_products, measure_residuals, rayleigh_ritz
from labelfold.solvers.eigen.operator import Adjacency, ChebyshevFilter, LaplacianOperator
from labelfold.threads import limit_threads, thread_limit

__all__ = [
    "EIGEN_SOLVERS",
    "Eigenpairs",
    "fix_bases_and_signs",
    "positive_eigenpairs",
    "refined_eigenpairs",
    "smallest_eigenpairs",
]

Array = NDArray[np.float64]

EIGEN_SOLVERS = ("auto", "dense", "arpack", "chebyshev")
DENSE_SIZE = 1000  # nodes up to which LAPACK is as quick as ARPACK
MANY_PAIRS = 7500  # over the root of the number of nodes: from there on a block beats ARPACK
FEW_PAIRS = 40  # past which ARPACK can stall for long on clustered spectra, where a block does not
CROWDED = 5.0  # largest degree over the mean from which on ARPACK stalls on the unnormalized form
TOLERANCE = 1e-8  # on the residuals
SAME_EIGENVALUE = 1e-13  # apart: below it a basis of the common eigenspace is arbitrary
SMALL_BLOCK = 1_000_000
PANEL = 256  # columns whose signs are set at a time
# Of a refinement: by how much one filter lifts the least wanted vector above what is not wanted;
# steps of one filter, as from twice as many on Ritz vectors in between serve better; residual from
# which on a subspace says little of the eigenvectors.
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
    pieces: NDArray[np.integer] | None = None,
    solver: str = "auto",
    tol: float = TOLERANCE,
    progress: Progress = report_nothing,
) -> Eigenpairs:
    """Return the smallest eigenpairs of (L, D) or of L, zeros included.

    Parameters
    ----------
    adjacency : Adjacency
        The graph.
    n_pairs : int
        How many pairs, counting the zeros; at most the number of nodes.
    normalization, pieces, solver, tol, progress
        As for :func:`positive_eigenpairs`.

    Returns
    -------
    Eigenpairs
        First the indicators of components, the largest component first, then the others.
    """
    operator = LaplacianOperator(adjacency, normalization)
    if not 1 <= n_pairs <= operator.size:
        raise InputError(
            f"n_pairs={n_pairs} must lie between 1 and the number of nodes, {operator.size}."
        )
    null = operator.null_vectors(pieces)
    zeros = null[:, :n_pairs].toarray()
    ones = np.ones(zeros.shape[1])
    found = _solve(operator, null, n_pairs - len(ones), solver, tol, progress)
    certificate = replace(
        found.certificate,
        residuals=np.r_[measure_residuals(operator, ones, zeros), found.certificate.residuals],
        tolerances=np.r_[tol * ones, found.certificate.tolerances],
    )
    vectors = np.hstack([operator.eigenvectors(ones, zeros), found.vectors])
    return Eigenpairs(np.r_[0 * ones, found.values], vectors, certificate)


def positive_eigenpairs(
    adjacency: Adjacency,
    n_pairs: int,
    *,
    normalization: str = "degree",
    pieces: NDArray[np.integer] | None = None,
    solver: str = "auto",
    tol: float = TOLERANCE,
    progress: Progress = report_nothing,
) -> Eigenpairs:
    """Return the smallest eigenpairs of (L, D) or of L, after the zeros.

    Parameters
    ----------
    adjacency : Adjacency
        The graph.
    n_pairs : int
        How many pairs; at most the number of nodes less the number of components.
    normalization : {"degree", "none"}, default="degree"
        Which of the two problems.
    pieces : ndarray of shape (n,), default=None
        For every node the number of its connected component; None for a connected graph.
    solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense for small graphs or when a good part of all pairs is wanted, else ARPACK
        for few pairs and Chebyshev-filtered subspace iteration for many.
    tol : float, default=1e-8
        Residual to reach, on the operator with its spectrum in [-1, 1]; a warning with numbers
        says where it was not.
    progress : Progress
        Called while an iteration works.

    Returns
    -------
    Eigenpairs
        Signs, and bases of eigenspaces of two or more dimensions, are fixed by a rule, so that
        they do not depend on rounding; unless ``n_pairs`` cuts through such an eigenspace.
    """
    operator = LaplacianOperator(adjacency, normalization)
    null = operator.null_vectors(pieces)
    if not 0 <= n_pairs <= operator.size - null.shape[1]:
        raise InputError(
            f"n_pairs={n_pairs} must lie between 0 and {operator.size - null.shape[1]}: the graph "
            f"has {operator.size} nodes in {null.shape[1]} components."
        )
    return _solve(operator, null, n_pairs, solver, tol, progress)


def refined_eigenpairs(
    adjacency: Adjacency,
    start: Array,
    eigenvalues: Array,
    *,
    normalization: str = "degree",
    n_steps: int,
) -> Eigenpairs:
    """Return nearly the smallest eigenpairs after the zero, of a graph in one piece.

    For a graph that changed a little since it was solved. The block holds no vectors beyond those
    wanted, so that the last ones converge slowly; that is the price of steps that cost next to
    nothing.

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
    known = operator.null_vectors(None).toarray()
    U, mu = operator.vectors_of_operator(start), operator.values_of_operator(eigenvalues)
    for done in range(0, n_steps, STEPS_AT_ONCE):
        degree = min(STEPS_AT_ONCE, n_steps - done)
        # Of this degree, and grown by ``REFINING_GROWTH`` at the least wanted value.
        half = (mu.min() + 1) / (1 + np.cosh(np.arccosh(REFINING_GROWTH) / degree))
        U = ChebyshevFilter(floor=-1.0, bound=2 * half - 1, degree=degree)(operator, U)
        mu, U, product = rayleigh_ritz(operator, U - known @ (known.T @ U))
    residuals = np.linalg.norm(product - U * mu, axis=0)
    fix_bases_and_signs(mu, U)
    overlap = np.hstack([U, known]).T @ U - np.eye(len(mu) + 1)[:, :-1]
    certificate = EigenCertificate(
        solver=f"{n_steps} steps from a nearby map",
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
            # The projection of a fixed block does not depend on the basis that was found.
            reference = np.random.default_rng(1).standard_normal((len(U), len(group)))
            rotation, _ = np.linalg.qr(U[:, group].T @ reference)
            U[:, group] = U[:, group] @ rotation
    for first in range(0, len(mu), PANEL):
        panel = U[:, first : first + PANEL]
        magnitude = np.abs(panel)
        # The first of the entries that are largest but for rounding is made positive.
        leading = np.argmax(magnitude >= (1 - 1e-6) * magnitude.max(axis=0), axis=0)
        panel *= np.sign(panel[leading, np.arange(panel.shape[1])])


def _solve(
    operator: LaplacianOperator,
    null: Any,
    n_pairs: int,
    solver: str,
    tol: float,
    progress: Progress,
) -> Eigenpairs:
    """Return the eigenpairs orthogonal to the known null vectors."""
    chosen = _choose(solver, operator.size, n_pairs, operator.crowding)
    found: tuple[Array, Array] | None = None
    if n_pairs == 0:
        found = np.empty(0), np.empty((operator.size, 0))
    elif chosen == "dense":
        found = _solve_dense(operator, null, n_pairs)
    elif chosen == "arpack":
        found = lanczos.top_eigenpairs(operator, n_pairs, aside=null, tol=tol, progress=progress)
        if found is not None and np.any(
            measure_residuals(operator, *found) > pair_tolerances(found[0], tol)
        ):
            found = None
    if found is None:  # asked for, or where ARPACK stalled
        chosen = "chebyshev"
        found = chebyshev.top_eigenpairs(operator, n_pairs, aside=null, tol=tol, progress=progress)
    mu, U = found
    fix_bases_and_signs(mu, U)
    n_products = operator.n_products
    overlaps = _gram(U) - np.eye(len(mu)), null.T @ U
    certificate = EigenCertificate(
        solver=chosen,
        residuals=measure_residuals(operator, mu, U),
        tolerances=pair_tolerances(mu, tol),
        orthogonality=max(float(np.max(np.abs(part), initial=0)) for part in overlaps),
        n_products=n_products,
    )
    warn_unless_ok(certificate)
    return Eigenpairs(operator.eigenvalues(mu), operator.eigenvectors(mu, U), certificate)


def _choose(solver: str, n: int, n_wanted: int, crowding: float) -> str:
    check_choice("eigen_solver", solver, EIGEN_SOLVERS)
    if solver == "arpack" and n_wanted >= n - 1:
        return "dense"  # ARPACK needs room for a subspace larger than what is wanted
    if solver == "auto":
        if n <= DENSE_SIZE or n_wanted > n // 3:
            return "dense"
        few = n_wanted <= FEW_PAIRS and n_wanted * np.sqrt(n) < MANY_PAIRS
        return "arpack" if few and crowding < CROWDED else "chebyshev"
    return solver


def _solve_dense(operator: LaplacianOperator, null: Any, n_wanted: int) -> tuple[Array, Array]:
    B = operator(np.eye(operator.size))
    operator.n_products = 0
    B = (B + B.T) / 2 - 3 * (null @ null.T).toarray()  # moves what is known from 1 to -2
    # All pairs: LAPACK's drivers for a subset lose pairs of a repeated eigenvalue.
    values, vectors = eigh(B, driver="evd", overwrite_a=True)
    return values[::-1][:n_wanted], vectors[:, ::-1][:, :n_wanted].copy()


def _gram(U: Array) -> Array:
    if U.size < SMALL_BLOCK:  # to ask for threads takes longer than the product
        return np.asarray(U.T @ U)
    n_threads = thread_limit()
    with limit_threads(1, user_api="blas"):
        return inner_products(U, U, n_threads, symmetric=True)
