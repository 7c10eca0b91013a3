"""Descent on the augmented Lagrangian, the energy of bars, ropes and walls.

With h = q - d the violation of an edge, y its multiplier and s its stiffness, the energy is

    F(R) = -<C, R R^T> + sum_e [t_e^2 - y_e^2] / (2 s_e),   t_e = y_e + s_e h_e,

where the rope of a cap counts as max(t, 0), and sides add the energy of their walls. The gradient
is 2 (L(t) - C) R plus that of the walls: the forces t are the next values of the multipliers. The
stiffness is s_e = sigma f_e / d_e. The factor 1 / d makes all edges equally hard to stretch by a
length (with one s for all, short edges ended up several times too long); the caller sets f.

Directions come from L-BFGS whose first matrix is the inverse of the Laplacian

    A = L(4 s d / r + 2 max(y, 0)) + 2 diag(C),

the mean over directions of the Hessian of F, factorized for every sigma and y. It makes the number
of steps nearly independent of n (decision record 9). The neighbor graph of points on a surface is
split in two by about sqrt(n) points, and its factor has only a few times as many entries as A. In
many dimensions the factor fills in, and the diagonal of A takes its place. Along a direction F is a
piecewise quartic, whose nearest minimum is computed without another pass over R.

Restoration (:func:`restore`) descends on the distances alone, without the objective. At the end of
a solve that hardly changes the objective: on a roll of 1,500 points 100 steps lowered the error
fivefold, and the objective by 1 part in 10,000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from labelfold.exceptions import InputError
from labelfold.solvers import kernels
from labelfold.solvers.kernels import compiled
from labelfold.solvers.lowrank.distances import MAGNITUDES, DistanceProblem, Spread, measure_errors
from labelfold.solvers.lowrank.sides import NO_SIDES, Walls
from labelfold.threads import ThreadPool

__all__ = [
    "AugmentedLagrangian",
    "Descent",
    "Multipliers",
    "Solve",
    "factorize",
    "restore",
    "satisfies",
    "stays_sparse",
]

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

RANGE = 2**15  # bars or points that a thread takes at a time
LEAST_SQUARE = 1e-8  # of an edge, relative to the median: shorter ones are as stiff as this
LEAST_SHARE = 1e-6  # of the mean degree, on A's diagonal: without an objective A would be singular
MEMORY = 5  # pairs that L-BFGS keeps; 1 to 20 made no difference with the Laplacian
WIDEST = 600  # points at one distance from an end of the graph up to which A is factorized
STEPS = 400  # of a restoration
WALL_ROUNDS = 8  # with new multipliers of sides, which share these steps
AT_ONCE = 10  # steps between two checks of the errors


@dataclass(frozen=True, eq=False)
class Multipliers:
    """y of edges and caps, mu of sides."""

    edges: Array
    sides: Array = field(default_factory=lambda: np.empty(0))


class AugmentedLagrangian:
    """F of one problem, in units of the median edge length and without zero edges.

    Its bars are edges first, then caps, then the pairs of C. ``tension`` is the unit of the largest
    forces of sides.
    """

    def __init__(self, problem: DistanceProblem, pool: ThreadPool, tension: float = 1.0) -> None:
        self.problem, self.pool, self.tension = problem, pool, tension
        spread = problem.spread
        self._order = np.argsort(problem.caps, kind="stable")
        self.n_bars = len(problem.edges) + len(spread.pairs)
        self.ropes = int(np.sum(~problem.caps)), len(problem.edges)
        self.ends = np.concatenate([problem.edges[self._order], spread.pairs]).astype(np.intp)
        self.squares = problem.squares[self._order]
        self.masses = spread.variance * spread.masses_of(problem.n_points)
        self._incidence = _incidence(problem.n_points, self.ends)
        self._bar_ranges = _ranges(self.n_bars)
        self._point_ranges = _ranges(problem.n_points)

    def stiffness(self, sigma: float, factors: Array) -> Array:
        """Return s of every bar; 0 for the pairs of C, whose force is constant."""
        of_edges = sigma * factors[self._order] / np.maximum(self.squares, LEAST_SQUARE)
        return np.concatenate([of_edges, np.zeros(len(self.problem.spread.pairs))])

    def forces(self, R: Array, y: Array, s: Array) -> Array:
        """Return t of every bar, not yet clipped on ropes."""
        i, j = self.ends[: len(self.squares)].T
        h = np.sum((R[i] - R[j]) ** 2, axis=1) - self.squares
        return np.concatenate([y[self._order] + s[: len(h)] * h, -self.problem.spread.weights])

    def multipliers(self, t: Array) -> Array:
        """Return forces as multipliers, in the problem's order of edges."""
        t = t[: len(self.squares)].copy()
        t[self.ropes[0] :] = np.maximum(t[self.ropes[0] :], 0)
        y = np.empty_like(t)
        y[self._order] = t
        return y

    def gradient(self, R: Array, t: Array, out: Array) -> None:
        """Fill in 2 (L(t) - C) R."""
        total = self.masses.sum()
        mean = self.masses @ R / total if total else np.zeros(R.shape[1])
        arguments = (*self._incidence, t, *self.ropes, self.masses, mean, out)
        pull = compiled(kernels.pull)
        self.pool.each(lambda x: pull(R, *arguments, *x), self._point_ranges)

    def trace(self, R: Array, P: Array, t: Array, s: Array, b: Array, c: Array) -> Array:
        """Fill in b and c; return the coefficients of a, a^2, a^3, a^4 of all bars but ropes."""
        sums = np.zeros((len(self._bar_ranges) + 2, 4))
        trace = compiled(kernels.trace)

        def one(x: tuple[int, int, int]) -> None:
            trace(R, P, self.ends, t, s, b, c, sums[x[0]], x[1], x[2])

        self.pool.each(one, [(k, *ends) for k, ends in enumerate(self._bar_ranges)])
        if self.ropes[0] < self.ropes[1]:
            # The energy of ropes is not a polynomial: take their part out again.
            ropes = slice(*self.ropes)
            tr, sr, br, cr = t[ropes], s[ropes], b[ropes], c[ropes]
            sums[-1] = [-tr @ br, -tr @ cr - sr @ br**2 / 2, -sr @ (br * cr), -sr @ cr**2 / 2]
        if self.problem.spread.variance:
            moved, center = self.masses[:, None] * P, self.masses @ P / self.masses.sum()
            sums[-2, 0] = -2 * (np.vdot(moved, R) - center @ (self.masses @ R))
            sums[-2, 1] = -(np.vdot(moved, P) - center @ (self.masses @ P))
        return sums.sum(axis=0)

    def rope_slope(self, t: Array, s: Array, b: Array, c: Array, a: float) -> float:
        """Return the derivative of the ropes' energy at a."""
        return float(compiled(kernels.rope_slope)(t, s, b, c, a, *self.ropes))

    def advance(self, t: Array, s: Array, b: Array, c: Array, a: float) -> None:
        """Move the forces by a step a."""
        move = compiled(kernels.advance)
        self.pool.each(lambda x: move(t, s, b, c, a, *x), self._bar_ranges)

    def curvature(self, t: Array, s: Array, sigma: float, rank: int) -> sp.csc_array:
        """Return A, without the ropes that are slack."""
        problem, n, m = self.problem, self.problem.n_points, len(self.squares)
        (i, j), t = self.ends[:m].T, t[:m]
        w = 4 * s[:m] * self.squares / rank + 2 * np.maximum(t, 0)
        ropes = slice(*self.ropes)
        w[ropes] *= t[ropes] > 0
        own = 2 * self.masses
        for end in problem.spread.pairs.T:
            own = own + 2 * np.bincount(end, problem.spread.weights, n)
        own = own + 2 * sigma * np.bincount(problem.sides.points, minlength=n) / rank
        degrees = np.bincount(i, w, n) + np.bincount(j, w, n)
        diagonal = degrees + np.maximum(own, LEAST_SHARE * (degrees.mean() or 1.0))
        every, i, j = np.arange(n, dtype=np.int32), i.astype(np.int32), j.astype(np.int32)
        rows, columns = np.concatenate([i, j, every]), np.concatenate([j, i, every])
        return sp.csc_array((np.concatenate([-w, -w, diagonal]), (rows, columns)), shape=(n, n))


class Descent:
    """Minimize F from R, for fixed multipliers y and stiffness.

    ``sigma`` is the stiffness of an edge of length 1 and of sides, ``factors`` is f. A is
    factorized if ``exact``; otherwise its diagonal takes its place (see :func:`stays_sparse`).
    """

    def __init__(
        self,
        lagrangian: AugmentedLagrangian,
        R: Array,
        y: Multipliers,
        sigma: float,
        factors: Array,
        *,
        exact: bool,
    ) -> None:
        self.lagrangian, self.R = lagrangian, np.array(R, order="C")
        self.s = lagrangian.stiffness(sigma, factors)
        self.t = lagrangian.forces(self.R, y.edges, self.s)
        A = lagrangian.curvature(self.t, self.s, sigma, R.shape[1])
        self._solve = _approximate_inverse(A, exact=exact)
        self._walls = Walls(lagrangian.problem.sides, self.R, y.sides, sigma, lagrangian.tension)
        self.G = np.empty_like(self.R)
        self._update_gradient()
        self._b, self._c = np.empty(lagrangian.n_bars), np.empty(lagrangian.n_bars)
        self._memory = _Memory(self.R.size)
        self.n_steps = 0

    @property
    def multipliers(self) -> Multipliers:
        """The forces as the next multipliers."""
        return Multipliers(self.lagrangian.multipliers(self.t), self._walls.forces)

    def run(self, n_steps: int, least: float) -> None:
        """Take up to ``n_steps`` steps, or until the gradient is no longer than ``least``."""
        for _ in range(n_steps):
            if np.linalg.norm(self.G) <= least or not self._step():
                return

    def _step(self) -> bool:
        """Take one step; return False if F can't be lowered any more."""
        P = self._memory.direction(self.G, self._solve)
        a = self._minimum_along(P)
        if a == 0:
            return self._memory.forget()
        before = self.G.copy()
        self.R += a * P
        self.lagrangian.advance(self.t, self.s, self._b, self._c, a)
        self._walls.advance(a)
        self._update_gradient()
        self._memory.add(a * P, self.G - before)
        self.n_steps += 1
        return True

    def _minimum_along(self, P: Array) -> float:
        """Return the nearest minimum of F along P, 0 if F does not fall."""
        sums = self.lagrangian.trace(self.R, P, self.t, self.s, self._b, self._c)
        c1, c2, c3, c4 = (float(x) for x in sums)
        has_walls = len(self.lagrangian.problem.sides) > 0
        has_ropes = self.lagrangian.ropes[0] < self.lagrangian.ropes[1]
        self._walls.look_along(self.R, P)

        def slope(a: float) -> float:
            value = c1 + a * (2 * c2 + a * (3 * c3 + a * 4 * c4))
            if has_walls:
                value += self._walls.slope(a)
            if has_ropes:
                value += self.lagrangian.rope_slope(self.t, self.s, self._b, self._c, a)
            return value

        return _first_root(slope)

    def _update_gradient(self) -> None:
        self.lagrangian.gradient(self.R, self.t, self.G)
        self._walls.add_gradient(self.R, self.G)


def restore(
    problem: DistanceProblem, R: Array, *, tol: float, max_steps: int, pool: ThreadPool, exact: bool
) -> Array:
    """Return R after up to 400 steps that lower the errors of distances, until they are within tol.

    Hard sides hold at the end. If they leave no isometric embedding, the last steps lower the root
    mean square error of squared distances, which tolerances apply to. Soft sides are ignored, as
    the objective is. The problem is in units of the median edge length, without zero edges.
    """
    sides = problem.sides if problem.sides.is_hard else NO_SIDES
    problem = replace(problem, spread=Spread(), sides=sides)
    lagrangian = AugmentedLagrangian(problem, pool)
    even = np.ones(len(problem.edges))
    y = Multipliers(0 * even, np.zeros(len(sides)))
    n_steps = min(STEPS, max_steps)
    n_rounds = min(WALL_ROUNDS, max(n_steps // AT_ONCE, 1)) if len(sides) else 1
    for k in range(n_rounds):
        # Short edges count as much as long ones at first, then only as much as in the error.
        is_even = not len(sides) or k < n_rounds // 2
        descent = Descent(lagrangian, R, y, 1.0, even if is_even else problem.squares, exact=exact)
        left = n_steps // n_rounds
        while left > 0:
            R = sides.clipped(descent.R)
            if satisfies(problem, R, 0.9 * tol):
                return R
            descent.run(min(left, AT_ONCE), 0.0)
            left -= AT_ONCE
        R, y = descent.R, Multipliers(y.edges, descent.multipliers.sides)
    return sides.clipped(R)


def satisfies(problem: DistanceProblem, R: Array, tol: float) -> bool:
    """Return whether distances and hard sides hold within a tolerance."""
    sides = problem.sides
    if sides.is_hard and np.max(sides.shortfalls(R), initial=0.0) > tol:
        return False
    return measure_errors(problem, R).decisive <= tol


def stays_sparse(n_points: int, edges: NDArray[np.intp]) -> bool:
    """Return whether a Laplacian on these edges has a factor that is worth computing.

    The points at a given number of edges from an end of the graph separate those before from those
    behind. The factor treats the widest separator as a dense matrix, at the cost of its cube.
    """
    if n_points <= WIDEST:
        return True
    ones = np.ones(2 * len(edges))
    ends = np.concatenate([edges, edges[:, ::-1]]).T.astype(np.int32)
    graph = sp.csr_array((ones, (ends[0], ends[1])), shape=(n_points, n_points))
    depth = np.zeros(n_points)
    for _ in range(3):  # from the end of the end of the end: about the longest way through
        start = int(np.argmax(np.where(np.isfinite(depth), depth, -1)))
        depth = dijkstra(graph, indices=[start], unweighted=True)[0]
    reached = depth[np.isfinite(depth)].astype(np.intp)
    return bool(np.bincount(reached).max() <= WIDEST)


def factorize(A: sp.csc_array) -> Any:
    """Return SuperLU's factors of a symmetric matrix, with pivots from the diagonal only.

    Without row exchanges the signs of U's diagonal are those of A's eigenvalues.
    """
    return splu(
        A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )


def _approximate_inverse(A: sp.csc_array, *, exact: bool) -> Solve:
    """Return the product with A^(-1), or only with the inverse of A's diagonal."""
    if exact:
        try:
            solve: Solve = factorize(A).solve
        except RuntimeError as error:  # exactly singular
            raise InputError(MAGNITUDES) from error
        return solve
    diagonal = A.diagonal()[:, None]
    return lambda block: block / diagonal


def _first_root(slope: Callable[[float], float]) -> float:
    """Return a > 0 at which a negative slope turns positive; 0 if it is not negative at 0.

    Bracketing by doubling from 1, then the Illinois form of regula falsi until the slope is small;
    ``scipy.optimize.brentq`` would go on for digits of no use here.
    """
    low, f_low = 0.0, slope(0.0)
    if not f_low < 0:
        return 0.0
    enough = -1e-4 * f_low
    high, f_high = 1.0, slope(1.0)
    for _ in range(60):
        if f_high >= 0:
            break
        low, f_low, high = high, f_high, 2 * high
        f_high = slope(high)
    if not f_high >= 0:
        return 0.0  # not a number, or without bound
    for _ in range(60):
        if high - low <= 1e-10 * high:
            break
        a = high - f_high * (high - low) / (f_high - f_low)
        if not low < a < high:
            a = 0.5 * (low + high)
        f = slope(a)
        if abs(f) <= enough:
            return a
        if f < 0:
            low, f_low, f_high = a, f, f_high / 2
        else:
            high, f_high, f_low = a, f, f_low / 2
    return low if low > 0 else high


class _Memory:
    """The steps, and changes of the gradient, that L-BFGS remembers."""

    def __init__(self, size: int) -> None:
        self._S, self._Y = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self._rho, self._shares = np.empty(MEMORY), np.empty(MEMORY)
        self._order: list[int] = []

    def forget(self) -> bool:
        """Forget all, and return whether there was anything to forget."""
        had_any, self._order = bool(self._order), []
        return had_any

    def add(self, step: Array, change: Array) -> None:
        product = float(np.vdot(step, change))
        if product <= 1e-14 * np.linalg.norm(step) * np.linalg.norm(change):
            return  # the curvature along the step is not positive
        full = len(self._order) == MEMORY
        slot = self._order.pop(0) if full else len(self._order)
        self._S[slot], self._Y[slot] = step.ravel(), change.ravel()
        self._rho[slot] = 1 / product
        self._order.append(slot)

    def direction(self, G: Array, solve: Solve) -> Array:
        q, order = G.ravel().copy(), np.array(self._order, dtype=np.intp)
        compiled(kernels.recall)(self._S, self._Y, self._rho, order, q, self._shares)
        q = np.ascontiguousarray(solve(q.reshape(G.shape))).ravel()
        compiled(kernels.restore)(self._S, self._Y, self._rho, order, q, self._shares)
        return -q.reshape(G.shape)


def _incidence(n: int, ends: NDArray[np.intp]) -> tuple[Any, Any, Any]:
    """Return for every point, in compressed rows, the other ends and numbers of its bars."""
    points, others = ends.T.ravel(), ends[:, ::-1].T.ravel()
    order = np.argsort(points, kind="stable")
    indptr = np.searchsorted(points[order], np.arange(n + 1))
    return indptr, others[order], np.tile(np.arange(len(ends)), 2)[order]


def _ranges(n: int) -> list[tuple[int, int]]:
    return [(first, min(first + RANGE, n)) for first in range(0, n, RANGE)]
