"""The smallest eigenpairs of a graph Laplacian, without factorising anything.

W are the weights of a graph, D its degrees, L = D - W. Two problems, one form:

- normalization "degree": L v = lambda D v. With B = D^(-1/2) W D^(-1/2), B u = (1 - lambda) u and
  v = D^(-1/2) u, so that V^T D V = I.
- normalization "none": L v = lambda v. With B = I - L / d and d the largest degree,
  B u = (1 - lambda / d) u and v = u.

Either way the spectrum of B lies in [-1, 1], the wanted pairs are at its top, and the indicators
of connected components are known eigenvectors for mu = 1. They are put in as they are and the
solver works on what is orthogonal to them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from labelfold.progress import Progress, report_nothing
from labelfold.solvers import chebyshev, lanczos
from labelfold.solvers.certificates import EigenCertificate

__all__ = [
    "Adjacency",
    "Eigenpairs",
    "check_normalization",
    "check_solver",
    "smallest_eigenpairs",
]

Array = NDArray[np.float64]

NORMALIZATIONS = ("degree", "none")
SOLVERS = ("auto", "dense", "arpack", "chebyshev")
DENSE_SIZE = 1000  # nodes up to which LAPACK is as quick as ARPACK
TOLERANCE = 1e-8  # on the residuals
FINEST = 1e-12  # that is asked of them anywhere
SAME_EIGENVALUE = 1e-13  # apart: below it a basis of the common eigenspace is arbitrary


class Adjacency(Protocol):
    """What a solver needs of a graph; it may be held by one machine or by many."""

    @property
    def size(self) -> int:
        """Number of nodes."""

    @property
    def degrees(self) -> Array:
        """Sum of weights at every node."""

    def product(self, block: Array) -> Array:
        """Return W times a vector or a block of vectors."""


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
    normalization : {"degree", "none"}, default="degree"
        Which of the two problems.
    pieces : ndarray of shape (n,), default=None
        For every node the number of its connected component; None for a connected graph.
    solver : {"auto", "dense", "arpack", "chebyshev"}, default="auto"
        "auto" is dense for small graphs or when nearly all pairs are wanted.
    tol : float, default=1e-8
        Residual to reach; a warning with numbers says where it was not.
    progress : Progress
        Called while ARPACK works.

    Returns
    -------
    Eigenpairs
        Signs, and bases of eigenspaces of two or more dimensions, are fixed by a rule, so that
        they do not depend on rounding; unless ``n_pairs`` cuts through such an eigenspace.
    """
    n = adjacency.size
    if not 1 <= n_pairs <= n:
        raise ValueError(f"n_pairs={n_pairs} must lie between 1 and the number of nodes, {n}.")
    operator = _Operator(adjacency, normalization)
    pieces = np.zeros(n, dtype=int) if pieces is None else pieces
    known = operator.null_vectors(pieces, n_pairs)
    n_wanted = n_pairs - known.shape[1]
    chosen = _choose(solver, n, n_wanted)
    if n_wanted == 0:
        mu, U = np.empty(0), np.empty((n, 0))
    elif chosen == "dense":
        mu, U = _solve_dense(operator, known, n_wanted)
    else:
        mu, U, chosen, tol = _solve_iteratively(operator, known, n_wanted, chosen, tol, progress)
    U = _canonical(mu, U)
    mu, U = np.concatenate([np.ones(known.shape[1]), mu]), np.hstack([known, U])
    certificate = _certify(operator, mu, U, chosen, tol)
    return Eigenpairs(operator.eigenvalues(mu), operator.eigenvectors(mu, U), certificate)


class _Operator:
    """B of the module's first lines: B x = a x + s W (s x)."""

    def __init__(self, adjacency: Adjacency, normalization: str) -> None:
        check_normalization(normalization)
        self._adjacency = adjacency
        self._degrees = adjacency.degrees
        self.n_products = 0
        isolated = self._degrees == 0
        self._a: Array | None
        if normalization == "degree":
            self._s = 1 / np.sqrt(np.where(isolated, 1.0, self._degrees))
            # An isolated node is a component: mu = 1.
            self._a = isolated.astype(float) if isolated.any() else None
            self._unit = 1.0
        else:
            self._unit = float(self._degrees.max()) or 1.0
            self._s = np.full(adjacency.size, 1 / np.sqrt(self._unit))
            self._a = 1 - self._degrees / self._unit
        self._by_degree = normalization == "degree"

    @property
    def size(self) -> int:
        return self._adjacency.size

    def __call__(self, x: Array) -> Array:
        column = (slice(None), None) if x.ndim == 2 else slice(None)
        self.n_products += 1 if x.ndim == 1 else x.shape[1]
        product = self._adjacency.product(self._s[column] * x)
        product *= self._s[column]
        if self._a is not None:
            product += self._a[column] * x
        return product

    def null_vectors(self, pieces: NDArray[np.integer], most: int) -> Array:
        """Return normalised indicators of components, the largest component first."""
        values = 1 / self._s if self._by_degree else np.ones(self.size)
        sizes = np.bincount(pieces)
        rank = np.empty(len(sizes), dtype=int)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        column = rank[pieces]
        rows = np.flatnonzero(column < most)
        U = np.zeros((self.size, min(most, len(sizes))))
        U[rows, column[rows]] = values[rows]
        return np.asarray(U / np.linalg.norm(U, axis=0))

    def eigenvalues(self, mu: Array) -> Array:
        return np.maximum(1 - mu, 0) * self._unit

    def eigenvectors(self, mu: Array, U: Array) -> Array:
        if not self._by_degree:
            return U
        return self._settle_weak_nodes(mu, U, self._s[:, None] * U)

    def _settle_weak_nodes(self, mu: Array, U: Array, V: Array) -> Array:
        """Compute nodes of next to no degree from their neighbours.

        v = u / sqrt(degree) blows up the rounding error of u there. The eigenvector equation
        mu d_i v_i = sum_j w_ij v_j has no such factor: it is solved for these nodes, given the
        others.
        """
        d = self._degrees
        tiny = (d > 0) & (d < 1e-10 * d.max()) & np.all(np.abs(U) < 1e-6, axis=1)
        weak = np.flatnonzero(tiny)
        if len(weak) == 0:
            return V
        among = np.empty((len(weak), len(weak)))
        for start in range(0, len(weak), 64):
            unit = np.zeros((self.size, len(weak[start : start + 64])))
            unit[weak[start : start + 64], np.arange(unit.shape[1])] = 1
            among[:, start : start + 64] = self._adjacency.product(unit)[weak] / d[weak, None]
        others = V.copy()
        others[weak] = 0
        given = self._adjacency.product(others)[weak] / d[weak, None]
        for column in np.flatnonzero((np.abs(mu) > 0.1) & (mu != 1)):
            system = mu[column] * np.eye(len(weak)) - among
            V[weak, column] = np.linalg.lstsq(system, given[:, column], rcond=None)[0]
        return V


def check_solver(solver: str) -> None:
    """Refuse the name of a solver that there is not."""
    if solver not in SOLVERS:
        raise ValueError(f"eigen_solver={solver!r} is unknown: use one of {SOLVERS}.")


def check_normalization(normalization: str) -> None:
    """Refuse the name of a normalisation that there is not."""
    if normalization not in NORMALIZATIONS:
        raise ValueError(
            f"normalization={normalization!r} is unknown: use one of {NORMALIZATIONS}."
        )


def _choose(solver: str, n: int, n_wanted: int) -> str:
    check_solver(solver)
    if solver == "arpack" and n_wanted >= n - 1:
        return "dense"  # ARPACK needs room for a subspace larger than what is wanted
    if solver == "auto":
        return "dense" if n <= DENSE_SIZE or n_wanted > n // 3 else "arpack"
    return solver


def _solve_dense(operator: _Operator, known: Array, n_wanted: int) -> tuple[Array, Array]:
    B = operator(np.eye(operator.size))
    operator.n_products = 0
    B = (B + B.T) / 2 - 3 * known @ known.T  # moves what is known from 1 to -2
    # All pairs: LAPACK's drivers for a subset lose pairs of a repeated eigenvalue.
    values, vectors = eigh(B, driver="evd", overwrite_a=True)
    return values[::-1][:n_wanted], vectors[:, ::-1][:, :n_wanted]


def _solve_iteratively(
    operator: _Operator, known: Array, n_wanted: int, solver: str, tol: float, progress: Progress
) -> tuple[Array, Array, str, float]:
    """Return the top pairs, the solver that found them, and the residual they had to reach.

    Where the smallest eigenvalue is itself no larger than the tolerance, as on long thin graphs,
    any mixture of the first vectors would pass: there the residual must be a part of it.
    """
    if solver == "arpack":
        found = lanczos.top_eigenpairs(operator, n_wanted, aside=known, tol=tol, progress=progress)
        if found is not None:
            needed = _needed(found[0], tol)
            if needed == tol or _residuals(operator, *found).max() <= needed:
                return *found, "arpack", needed
    mu, U = _solve_chebyshev(operator, known, n_wanted, tol, progress)
    needed = _needed(mu, tol)
    if needed < tol:
        mu, U = _solve_chebyshev(operator, known, n_wanted, needed, progress)
    return mu, U, "chebyshev", needed


def _needed(mu: Array, tol: float) -> float:
    return float(np.clip((1 - mu[0]) / 100, min(tol, FINEST), tol))


def _residuals(operator: _Operator, mu: Array, U: Array) -> Array:
    return np.asarray(np.linalg.norm(operator(U) - U * mu, axis=0))


def _solve_chebyshev(
    operator: _Operator, known: Array, n_wanted: int, tol: float, progress: Progress
) -> tuple[Array, Array]:
    n = operator.size
    n_block = min(n - known.shape[1], n_wanted + max(8, n_wanted // 2))
    start = np.random.default_rng(1).standard_normal((n, n_block))
    mu, U, _ = chebyshev.top_eigenpairs(
        operator, start, n_wanted, aside=known, tol=tol / 10, progress=progress
    )
    return mu, U


def _canonical(mu: Array, U: Array) -> Array:
    """Fix what the equation leaves open: bases of common eigenspaces, and signs."""
    if len(mu) == 0:
        return U
    U = U.copy()
    reference = np.random.default_rng(1).standard_normal(U.shape)
    breaks = np.flatnonzero(-np.diff(mu) > SAME_EIGENVALUE) + 1
    for group in np.split(np.arange(len(mu)), breaks):
        if len(group) > 1:
            # The projection of a fixed block does not depend on the basis that was found.
            rotation, _ = np.linalg.qr(U[:, group].T @ reference[:, group])
            U[:, group] = U[:, group] @ rotation
    magnitude = np.abs(U)
    # The first of the entries that are largest but for rounding is made positive.
    leading = np.argmax(magnitude >= (1 - 1e-6) * magnitude.max(axis=0), axis=0)
    return np.asarray(U * np.sign(U[leading, np.arange(U.shape[1])]))


def _certify(operator: _Operator, mu: Array, U: Array, solver: str, tol: float) -> EigenCertificate:
    n_products = operator.n_products
    certificate = EigenCertificate(
        solver=solver,
        residuals=_residuals(operator, mu, U),
        orthogonality=float(np.max(np.abs(U.T @ U - np.eye(len(mu))))),
        tol=tol,
        n_products=n_products,
    )
    if not certificate.ok:
        warnings.warn(f"Eigenpairs {certificate}", ConvergenceWarning, stacklevel=3)
    return certificate
