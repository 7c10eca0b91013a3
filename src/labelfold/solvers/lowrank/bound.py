"""Upper bounds on <C, K> from multipliers: what no Gram matrix that keeps the distances can exceed.

For multipliers y (of any sign on edges, not negative on caps) for which L(y) is positive on the
complement of 1, let mu be the largest eigenvalue of C v = mu L(y) v there. Then L(mu y) - C is
positive semidefinite, and for every K that keeps the distances

    <C, K> <= <L(mu y), K> = mu sum_e y_e q_e <= mu y.d .

For C = I - 11^T / n, mu is 1 / lambda_2(L(y)). C is never inverted: it is singular for pairs.

Multipliers of an unfinished solve are rarely positive, and a single wrong edge spoils the bound.
Adding a little uniform tension, eps / sqrt(d), mends that at small cost. The best eps is little
more than the least that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, cg, eigsh

from labelfold.solvers.lowrank.descent import Solve, factorize
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread, edge_laplacian

__all__ = ["DualBound", "bound_at", "bound_from", "largest_ratio"]

Array = NDArray[np.float64]

SHIFTS = (0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)  # of typical tension
REFINEMENTS = 4  # halvings, on a logarithmic scale, of the way between the best shift and the next
SMALL = 64  # points: dense eigenvalues
DENSE = 4000  # points: a dense factor, where none is sparse


@dataclass(frozen=True, eq=False)
class DualBound:
    """An upper bound with the multipliers that prove it.

    Parameters
    ----------
    value : float
        mu y.d; infinite where no multipliers were good enough.
    multipliers : ndarray of shape (n_edges,)
        mu y: L(mu y) - C is positive semidefinite.
    """

    value: float = np.inf
    multipliers: Array | None = field(default=None, repr=False)

    def slack(self, violations: Array) -> float:
        """Return what violated edges may add to the objective, mu y.h."""
        return 0.0 if self.multipliers is None else float(self.multipliers @ violations)


def bound_from(problem: DistanceProblem, y: Array, *, sparse: bool) -> DualBound:
    """Return the best bound that y with a little more tension gives.

    Parameters
    ----------
    problem : DistanceProblem
        In one piece, without edges of length zero.
    y : ndarray of shape (n_edges,)
        Multipliers.
    sparse : bool
        Whether L(y) has a sparse factor.
    """
    if problem.spread.is_zero:
        return DualBound(0.0, np.zeros(len(y)))
    y = np.where(problem.caps, np.maximum(y, 0), y)
    lengths = np.sqrt(problem.squares)
    typical = float(np.median(np.abs(y) * lengths)) or 1.0

    def try_shift(shift: float) -> DualBound:
        return bound_at(problem, y + shift * typical / lengths, sparse=sparse)

    best, low, high = DualBound(), 0.0, 0.0
    for shift in SHIFTS:
        found = try_shift(shift)
        if found.value < best.value:
            best, low, high = found, high, shift
        elif np.isfinite(best.value):
            break
        else:
            high = shift
    if low == high == 0 or not np.isfinite(best.value):
        return best
    low = low or high / 10
    for _ in range(REFINEMENTS):
        between = float(np.sqrt(low * high))
        found = try_shift(between)
        if found.value < best.value:
            best, high = found, between
        else:
            low = between
    return best


def bound_at(problem: DistanceProblem, y: Array, *, sparse: bool) -> DualBound:
    """Return the bound that y gives as it is."""
    mu = largest_ratio(problem, y, sparse=sparse)
    if not np.isfinite(mu):
        return DualBound()
    return DualBound(mu * float(y @ problem.squares), mu * y)


def largest_ratio(problem: DistanceProblem, y: Array, *, sparse: bool) -> float:
    """Return mu; infinite where L(y) is not positive on the complement of 1.

    Both forms are blind to translations, so that the first point can be held at 0.
    """
    n = problem.n_points
    if n == 1:
        return 0.0
    L = sp.csc_array(edge_laplacian(n, problem.edges, y)[1:, 1:])
    if n <= SMALL:
        try:
            C = problem.spread.matrix(n)[1:, 1:]
            return float(max(eigh(C, L.toarray(), eigvals_only=True)[-1], 0.0))
        except LinAlgError:
            return np.inf
    solve = _positive_inverse(L, sparse=sparse)
    if solve is None:
        return np.inf
    shape = (n - 1, n - 1)
    C_op = LinearOperator(shape, matvec=lambda v: _held_product(problem.spread, v), dtype=float)
    inverse = LinearOperator(shape, matvec=solve, dtype=float)
    v0 = np.random.default_rng(0).standard_normal(n - 1)
    try:
        # At an optimum as many values are equal as the map has dimensions: a larger basis finds the
        # first of them sooner than a smaller tolerance.
        values, vectors = eigsh(
            C_op, k=1, M=L, Minv=inverse, which="LA", v0=v0, tol=1e-6, ncv=min(40, n - 1)
        )
    except ArpackNoConvergence:
        return np.inf
    v = vectors[:, 0]
    residual, energy = C_op.matvec(v) - values[0] * (L @ v), float(v @ (L @ v))
    if energy <= 0:  # by rounding: L is too near to singular
        return np.inf
    # A Ritz value is never too large, and an eigenvalue no farther from it than the residual in the
    # norm of L^(-1).
    return float(values[0] + np.sqrt(abs(residual @ solve(residual)) / energy))


def _held_product(spread: Spread, v: Array) -> Array:
    held = np.concatenate([[0.0], np.ravel(v)])[:, None]
    return spread.product(held)[1:, 0]


def _positive_inverse(L: sp.csc_array, *, sparse: bool) -> Solve | None:
    """Return the product with L^(-1), None where L is not positive definite."""
    if sparse:
        try:
            factor = factorize(L)
        except RuntimeError:  # exactly singular
            return None
        if not np.all(factor.U.diagonal() > 0):
            return None
        solve: Solve = factor.solve
        return solve
    if L.shape[0] <= DENSE:
        try:
            dense = cho_factor(L.toarray(), check_finite=False)
        except LinAlgError:
            return None
        return lambda v: np.asarray(cho_solve(dense, v, check_finite=False))
    return _by_conjugate_gradients(L)


def _by_conjugate_gradients(L: sp.csc_array) -> Solve | None:
    """Return an iterative inverse; None where the least eigenvalue is not positive."""
    diagonal = L.diagonal()
    if not np.all(diagonal > 0):
        return None
    try:
        least = eigsh(L, k=1, which="SA", tol=1e-3, maxiter=20_000, return_eigenvectors=False)
    except ArpackNoConvergence:
        return None
    if not least[0] > 0:
        return None
    jacobi: Any = LinearOperator(L.shape, matvec=lambda v: np.ravel(v) / diagonal, dtype=float)
    return lambda v: np.asarray(cg(L, np.ravel(v), rtol=1e-10, M=jacobi)[0])
