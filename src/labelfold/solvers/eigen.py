"""The smallest eigenpairs of a graph Laplacian, without factorising anything: the front door.

W are the weights of a graph, D its degrees, L = D - W; L v = lambda D v or L v = lambda v are
solved at the top end of an operator (:mod:`labelfold.solvers.operator`). The indicators of
connected components are known eigenvectors: the solvers work on what is orthogonal to them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from labelfold.exceptions import InputError
from labelfold.progress import Progress, report_nothing
from labelfold.solvers import chebyshev, lanczos
from labelfold.solvers.certificates import EigenCertificate, pair_tolerances
from labelfold.solvers.chebyshev import measure_residuals
from labelfold.solvers.operator import Adjacency, LaplacianOperator, check_normalization
from labelfold.solvers.tall import inner_products
from labelfold.threads import limit_threads, thread_limit

__all__ = [
    "Adjacency",
    "Eigenpairs",
    "check_normalization",
    "check_solver",
    "fix_bases_and_signs",
    "positive_eigenpairs",
    "smallest_eigenpairs",
]

Array = NDArray[np.float64]

SOLVERS = ("auto", "dense", "arpack", "chebyshev")
DENSE_SIZE = 1000  # nodes up to which LAPACK is as quick as ARPACK
MANY_PAIRS = 7500  # over the root of the number of nodes: from there on a block beats ARPACK
FEW_PAIRS = 40  # past which ARPACK can stall for long on clustered spectra, where a block does not
CROWDED = 5.0  # largest degree over the mean from which on ARPACK stalls on the unnormalised form
TOLERANCE = 1e-8  # on the residuals
SAME_EIGENVALUE = 1e-13  # apart: below it a basis of the common eigenspace is arbitrary
SMALL_BLOCK = 1_000_000
PANEL = 256  # columns whose signs are set at a time


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
    **options: Any,
) -> Eigenpairs:
    """Return the smallest eigenpairs of (L, D) or of L, zeros included.

    Parameters
    ----------
    adjacency : Adjacency
        The graph.
    n_pairs : int
        How many pairs, counting the zeros; at most the number of nodes.
    normalization : {"degree", "none"}, default="degree"
        Which of the two problems.
    pieces : ndarray of shape (n,), default=None
        For every node the number of its connected component; None for a connected graph.
    **options
        ``solver``, ``tol``, ``start`` and ``progress``, as for :func:`positive_eigenpairs`.

    Returns
    -------
    Eigenpairs
        First the indicators of components, the largest component first, then the others.
    """
    n = adjacency.size
    if not 1 <= n_pairs <= n:
        raise InputError(f"n_pairs={n_pairs} must lie between 1 and the number of nodes, {n}.")
    operator = LaplacianOperator(adjacency, normalization)
    null = operator.null_vectors(_or_one_piece(pieces, n))[:, :n_pairs].toarray()
    n_null = null.shape[1]
    found = positive_eigenpairs(
        adjacency, n_pairs - n_null, normalization=normalization, pieces=pieces, **options
    )
    tol = options.get("tol", TOLERANCE)
    certificate = replace(
        found.certificate,
        residuals=np.r_[
            measure_residuals(operator, np.ones(n_null), null), found.certificate.residuals
        ],
        tolerances=np.r_[np.full(n_null, tol), found.certificate.tolerances],
    )
    vectors = np.hstack([operator.eigenvectors(np.ones(n_null), null), found.vectors])
    return Eigenpairs(np.r_[np.zeros(n_null), found.values], vectors, certificate)


def positive_eigenpairs(
    adjacency: Adjacency,
    n_pairs: int,
    *,
    normalization: str = "degree",
    pieces: NDArray[np.integer] | None = None,
    solver: str = "auto",
    tol: float = TOLERANCE,
    start: Array | None = None,
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
    start : ndarray of shape (n, n_start), default=None
        Vectors near to some of those wanted, from an earlier solve: "chebyshev" begins with them,
        the other solvers have no use for them.
    progress : Progress
        Called while an iteration works.

    Returns
    -------
    Eigenpairs
        Signs, and bases of eigenspaces of two or more dimensions, are fixed by a rule, so that
        they do not depend on rounding; unless ``n_pairs`` cuts through such an eigenspace.
    """
    n = adjacency.size
    operator = LaplacianOperator(adjacency, normalization)
    null = operator.null_vectors(_or_one_piece(pieces, n))
    if not 0 <= n_pairs <= n - null.shape[1]:
        raise InputError(
            f"n_pairs={n_pairs} must lie between 0 and {n - null.shape[1]}: the graph has {n} "
            f"nodes in {null.shape[1]} components."
        )
    chosen = _choose(solver, n, n_pairs, operator.crowding)
    if start is not None:
        start = operator.vectors_of_operator(_check_start(start, n))
    if n_pairs == 0:
        mu, U = np.empty(0), np.empty((n, 0))
    elif chosen == "dense":
        mu, U = _solve_dense(operator, null, n_pairs)
    else:
        mu, U, chosen = _solve_iteratively(operator, null, n_pairs, chosen, tol, start, progress)
    fix_bases_and_signs(mu, U)
    certificate = _certify(operator, mu, U, null, chosen, tol)
    return Eigenpairs(operator.eigenvalues(mu), operator.eigenvectors(mu, U), certificate)


def check_solver(solver: str) -> None:
    """Refuse the name of a solver that there is not."""
    if solver not in SOLVERS:
        raise InputError(f"eigen_solver={solver!r} is unknown: use one of {SOLVERS}.")


def _check_start(start: Array, n: int) -> Array:
    """Return usable vectors of length 1; an error names what is wrong with them."""
    start = np.asarray(start, dtype=float)
    if start.ndim != 2 or len(start) != n or not np.all(np.isfinite(start)):
        raise InputError(
            f"start must be finite and of shape ({n}, n_start), and has shape {start.shape}."
        )
    largest = np.abs(start).max(axis=0, initial=0)
    start = start[:, largest > 0] / largest[largest > 0]  # whatever its units
    return np.asarray(start / np.linalg.norm(start, axis=0))


def _or_one_piece(pieces: NDArray[np.integer] | None, n: int) -> NDArray[np.integer]:
    return np.zeros(n, dtype=int) if pieces is None else pieces


def _choose(solver: str, n: int, n_wanted: int, crowding: float) -> str:
    check_solver(solver)
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


def _solve_iteratively(
    operator: LaplacianOperator,
    null: Any,
    n_wanted: int,
    solver: str,
    tol: float,
    start: Array | None,
    progress: Progress,
) -> tuple[Array, Array, str]:
    """Return the top pairs and the solver that found them."""
    if solver == "arpack":
        found = lanczos.top_eigenpairs(operator, n_wanted, aside=null, tol=tol, progress=progress)
        if found is not None and np.all(
            measure_residuals(operator, *found) <= pair_tolerances(found[0], tol)
        ):
            return *found, "arpack"
    mu, U = chebyshev.top_eigenpairs(
        operator, n_wanted, aside=null, tol=tol, start=start, progress=progress
    )
    return mu, U, "chebyshev"


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


def _certify(
    operator: LaplacianOperator, mu: Array, U: Array, null: Any, solver: str, tol: float
) -> EigenCertificate:
    n_products = operator.n_products
    overlap = _gram(U) - np.eye(len(mu))
    certificate = EigenCertificate(
        solver=solver,
        residuals=measure_residuals(operator, mu, U),
        tolerances=pair_tolerances(mu, tol),
        orthogonality=max(float(np.max(np.abs(part), initial=0)) for part in (overlap, null.T @ U)),
        n_products=n_products,
    )
    if not certificate.ok:
        warnings.warn(f"Eigenpairs {certificate}", ConvergenceWarning, stacklevel=3)
    return certificate


def _gram(U: Array) -> Array:
    if U.size < SMALL_BLOCK:  # to ask for threads takes longer than the product
        return np.asarray(U.T @ U)
    n_threads = thread_limit()
    with limit_threads(1, user_api="blas"):
        return inner_products(U, U, n_threads, symmetric=True)
