"""Upper bounds on <C, K> for all Gram matrices K that keep the distances, from multipliers.

For multipliers y (of any sign on edges, nonnegative on caps) for which L(y) is positive on the
complement of 1, let mu be the largest eigenvalue of C v = mu L(y) v there. Then L(mu y) - C is
positive semidefinite, and for every K that keeps the distances

    <C, K> <= <L(mu y), K> = mu sum_e y_e q_e <= mu y.d .

For C = I - 11^T / n, mu is 1 / lambda_2(L(y)). C is never inverted, since it can be singular.

Multipliers of an unfinished solve rarely make L(y) positive, and a single wrong edge spoils the
bound. Adding a little uniform tension, eps / sqrt(d), corrects that at small cost. The best eps is
slightly above the least that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, cg, eigsh

from labelfold.solvers.eigen.lanczos import seeded
from labelfold.solvers.lowrank.descent import Solve, factorize
from labelfold.solvers.lowrank.distances import DistanceProblem, edge_laplacian

__all__ = ["DualBound", "bound_at", "bound_from", "largest_ratio"]

Array = NDArray[np.float64]

SHIFTS = (0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)  # of typical tension
REFINEMENTS = 4  # halvings, on a logarithmic scale, between the best shift and the next
SMALL = 64  # points up to which all eigenvalues are computed
DENSE = 4000  # points up to which a dense factor is used if none is sparse


@dataclass(frozen=True, eq=False)
class DualBound:
    """An upper bound mu y.d with the multipliers mu y that prove it; infinite without any."""

    value: float = np.inf
    multipliers: Array | None = field(default=None, repr=False)

    def slack(self, violations: Array) -> float:
        """Return how much violated edges may add to the objective, mu y.h."""
        return 0.0 if self.multipliers is None else float(self.multipliers @ violations)


def bound_from(problem: DistanceProblem, y: Array, *, sparse: bool) -> DualBound:
    """Return the best bound from multipliers y plus a little uniform tension.

    The problem must be connected, without edges of length zero. ``sparse`` says whether L(y) has a
    sparse factor.
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
        bound = try_shift(shift)
        if bound.value < best.value:
            best, low, high = bound, high, shift
        elif np.isfinite(best.value):
            break
        else:
            high = shift
    if low == high == 0 or not np.isfinite(best.value):
        return best
    low = low or high / 10
    for _ in range(REFINEMENTS):
        between = float(np.sqrt(low * high))
        bound = try_shift(between)
        if bound.value < best.value:
            best, high = bound, between
        else:
            low = between
    return best


def bound_at(problem: DistanceProblem, y: Array, *, sparse: bool) -> DualBound:
    """Return the bound from multipliers y as they are."""
    mu = largest_ratio(problem, y, sparse=sparse)
    if not np.isfinite(mu):
        return DualBound()
    return DualBound(mu * float(y @ problem.squares), mu * y)


def largest_ratio(problem: DistanceProblem, y: Array, *, sparse: bool) -> float:
    """Return mu; infinite if L(y) is not positive on the complement of 1.

    Both forms are invariant to translations, so the first point can be fixed at 0.
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

    def product(v: Array) -> Array:
        return problem.spread.product(np.append(0.0, v)[:, None])[1:, 0]

    C_op = LinearOperator(shape, matvec=product, dtype=float)
    inverse = LinearOperator(shape, matvec=solve, dtype=float)
    rng = np.random.default_rng(0)
    try:
        values, vectors = eigsh(
            C_op,
            k=1,
            M=L,
            Minv=inverse,
            which="LA",
            v0=rng.standard_normal(n - 1),
            tol=1e-6,
            # At an optimum as many values are equal as R has dimensions: a larger basis finds the
            # first of them sooner.
            ncv=min(40, n - 1),
            **seeded(rng),
        )
    except ArpackError:
        return np.inf
    v = vectors[:, 0]
    residual, energy = C_op.matvec(v) - values[0] * (L @ v), float(v @ (L @ v))
    if energy <= 0:  # by rounding: L is nearly singular
        return np.inf
    # A Ritz value is never too large, and an eigenvalue lies within the residual, in the norm of
    # L^(-1).
    return float(values[0] + np.sqrt(abs(residual @ solve(residual)) / energy))


def _positive_inverse(L: sp.csc_array, *, sparse: bool) -> Solve | None:
    """Return the product with L^(-1), None if L is not positive definite."""
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
    diagonal, rng = L.diagonal(), np.random.default_rng(0)
    if not np.all(diagonal > 0):
        return None
    try:
        least = eigsh(
            L,
            k=1,
            which="SA",
            v0=rng.standard_normal(len(diagonal)),
            tol=1e-3,
            maxiter=20_000,
            return_eigenvectors=False,
            **seeded(rng),
        )
    except ArpackError:
        return None
    if not least[0] > 0:
        return None
    jacobi: Any = LinearOperator(L.shape, matvec=lambda v: np.ravel(v) / diagonal, dtype=float)
    return lambda v: np.asarray(cg(L, np.ravel(v), rtol=1e-10, M=jacobi)[0])
