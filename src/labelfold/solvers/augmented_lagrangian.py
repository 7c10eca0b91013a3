"""The augmented Lagrangian of a distance problem over R, and its descent by L-BFGS.

With h = q - d the violation of an edge, y its multiplier and s its stiffness,

    F(R) = -<C, R R^T> + sum_e [t_e^2 - y_e^2] / (2 s_e),   t_e = y_e + s_e h_e,

where a cap counts for max(t, 0) (a rope); sides add the energy of their walls, and smoothness adds
w sum_c R_c^T L(1) R_c over the sides' axes. The gradient is 2 (L(t) - C) R and theirs: forces t are
the multipliers' next values. The stiffness is s_e = sigma f_e / d_e. The factor 1 / d makes all
edges equally hard to stretch by a length (with one s for all, short edges were several times too
long at the end); f is for the caller to set.

Directions come from L-BFGS whose first matrix is the inverse of the Laplacian

    A = L(4 s d / r + 2 max(y, 0)) + 2 diag(C),

the mean over directions of the Hessian of F, factored anew for every sigma and y. It makes the
number of steps nearly independent of n (decision record 9). Along a direction F is a piecewise
quartic, and its nearest minimum is found without another pass over R.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.solvers.bar_kernels import compiled
from labelfold.solvers.distance_problem import DistanceProblem, edge_laplacian
from labelfold.solvers.laplacian_factor import Solve, approximate_inverse
from labelfold.solvers.walls import walls_of
from labelfold.threads import Team

__all__ = ["AugmentedLagrangian", "Descent", "Multipliers"]

Array = NDArray[np.float64]

MEMORY = 5  # pairs that L-BFGS remembers; 1 to 20 made no difference with the Laplacian
RANGE = 2**15  # bars or points that a thread takes at a time; less is done before it has begun
LEAST_SQUARE = 1e-8  # of an edge, relative to the median: shorter ones are as stiff as this
LEAST_SHARE = 1e-6  # of the mean degree, on A's diagonal: without an objective A would be singular


@dataclass(frozen=True, eq=False)
class Multipliers:
    """y of edges and caps, mu of sides."""

    edges: Array
    sides: Array = field(default_factory=lambda: np.empty(0))


class AugmentedLagrangian:
    """F for one problem; edges come first, then caps, then the pairs of the objective.

    Parameters
    ----------
    problem : DistanceProblem
        In units of the median edge length, without zero edges.
    team : Team
        Threads to share the passes.
    tension : float, default=1.0
        Unit of the sides' forces and of the smoothness.
    """

    def __init__(self, problem: DistanceProblem, team: Team, tension: float = 1.0) -> None:
        self.problem, self.team, self.tension = problem, team, tension
        spread = problem.spread
        self._order = np.argsort(problem.caps, kind="stable")
        self.n_bars = len(problem.edges) + len(spread.pairs)
        self.ropes = int(np.sum(~problem.caps)), len(problem.edges)
        self.ends = np.concatenate([problem.edges[self._order], spread.pairs]).astype(np.intp)
        self.squares = problem.squares[self._order]
        self.masses = spread.variance * spread.masses_of(problem.n_points)
        self._smooth = slice(0, problem.n_axes if problem.smoothness else 0)
        if self._smooth.stop:
            weights = np.full(len(problem.edges), 2 * problem.smoothness * tension)
            self._roughness = edge_laplacian(problem.n_points, problem.edges, weights)
        self._incidence = _incidence(problem.n_points, self.ends)
        self._bar_ranges = _ranges(self.n_bars)
        self._point_ranges = _ranges(problem.n_points)
        self._passes = compiled()

    def stiffness(self, sigma: float, factors: Array) -> Array:
        """Return s of every bar; 0 for the objective's, whose force is constant."""
        of_edges = sigma * factors[self._order] / np.maximum(self.squares, LEAST_SQUARE)
        return np.concatenate([of_edges, np.zeros(len(self.problem.spread.pairs))])

    def costs(self, R: Array) -> float:
        """Return what roughness along axes and points short of soft sides cost."""
        sides, costs = self.problem.sides, 0.0
        if self._smooth.stop:
            smooth = R[:, self._smooth]
            costs += float(np.vdot(smooth, self._roughness @ smooth)) / 2
        if sides is not None and not sides.is_hard:
            costs += self.tension * sides.force * float(sides.shortfalls(R).sum())
        return costs

    @property
    def usual_costs(self) -> float:
        """The costs of a map that is rough or short of soft sides by an edge length throughout."""
        sides = self.problem.sides
        n_soft = 0.0 if sides is None or sides.is_hard else sides.force * len(sides)
        n_rough = self.problem.smoothness * len(self.problem.edges) * self._smooth.stop
        return self.tension * (n_soft + n_rough)

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
        """Fill in 2 (L(t) - C) R, and the gradient of the smoothness."""
        total = self.masses.sum()
        mean = self.masses @ R / total if total else np.zeros(R.shape[1])
        arguments = (*self._incidence, t, *self.ropes, self.masses, mean, out)
        self.team.each(lambda x: self._passes.pull(R, *arguments, *x), self._point_ranges)
        if self._smooth.stop:
            out[:, self._smooth] += self._roughness @ R[:, self._smooth]

    def trace(self, R: Array, P: Array, t: Array, s: Array, b: Array, c: Array) -> Array:
        """Fill in b and c; return the coefficients of a, a^2, a^3, a^4 but for ropes."""
        sums = np.zeros((len(self._bar_ranges) + 3, 4))

        def one(x: tuple[int, int, int]) -> None:
            self._passes.trace(R, P, self.ends, t, s, b, c, sums[x[0]], x[1], x[2])

        self.team.each(one, [(k, *ends) for k, ends in enumerate(self._bar_ranges)])
        if self.ropes[0] < self.ropes[1]:
            # Ropes are not polynomials: take their part out again.
            ropes = slice(*self.ropes)
            tr, sr, br, cr = t[ropes], s[ropes], b[ropes], c[ropes]
            sums[-1] = [-tr @ br, -tr @ cr - sr @ br**2 / 2, -sr @ (br * cr), -sr @ cr**2 / 2]
        if self.problem.spread.variance:
            moved, centre = self.masses[:, None] * P, self.masses @ P / self.masses.sum()
            sums[-2, 0] = -2 * (np.vdot(moved, R) - centre @ (self.masses @ R))
            sums[-2, 1] = -(np.vdot(moved, P) - centre @ (self.masses @ P))
        if self._smooth.stop:
            moved = self._roughness @ P[:, self._smooth]
            sums[-3, 0] = np.vdot(moved, R[:, self._smooth])
            sums[-3, 1] = np.vdot(moved, P[:, self._smooth]) / 2
        return sums.sum(axis=0)

    def rope_slope(self, t: Array, s: Array, b: Array, c: Array, a: float) -> float:
        """Return the derivative of the ropes' energy at a."""
        return float(self._passes.rope_slope(t, s, b, c, a, *self.ropes))

    def advance(self, t: Array, s: Array, b: Array, c: Array, a: float) -> None:
        """Move the forces by a step a."""
        self.team.each(lambda x: self._passes.advance(t, s, b, c, a, *x), self._bar_ranges)

    def curvature(self, t: Array, s: Array, sigma: float, rank: int) -> sp.csc_array:
        """Return A of the module's first lines; ropes that are slack do not count."""
        problem, n, m = self.problem, self.problem.n_points, len(self.squares)
        (i, j), t = self.ends[:m].T, t[:m]
        w = 4 * s[:m] * self.squares / rank + 2 * np.maximum(t, 0)
        ropes = slice(*self.ropes)
        w[ropes] *= t[ropes] > 0
        if self._smooth.stop:
            w += 2 * problem.smoothness * self.tension * self._smooth.stop / rank
        own = 2 * self.masses
        for end in problem.spread.pairs.T:
            own = own + 2 * np.bincount(end, problem.spread.weights, n)
        if problem.sides is not None:
            own = own + 2 * sigma * np.bincount(problem.sides.points, minlength=n) / rank
        degrees = np.bincount(i, w, n) + np.bincount(j, w, n)
        diagonal = degrees + np.maximum(own, LEAST_SHARE * (degrees.mean() or 1.0))
        every, i, j = np.arange(n, dtype=np.int32), i.astype(np.int32), j.astype(np.int32)
        rows, columns = np.concatenate([i, j, every]), np.concatenate([j, i, every])
        return sp.csc_array((np.concatenate([-w, -w, diagonal]), (rows, columns)), shape=(n, n))


class Descent:
    """Minimise F for fixed multipliers and stiffness.

    Parameters
    ----------
    lagrangian : AugmentedLagrangian
        F.
    R : ndarray of shape (n_points, rank)
        Where to begin; not written to.
    y : Multipliers
        Of edges and sides.
    sigma : float
        Stiffness of an edge of length 1, and of sides.
    factors : ndarray of shape (n_edges,)
        f.
    exact : bool
        Whether to factor A; else its diagonal stands for it.
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
        self._solve = approximate_inverse(A, exact=exact)
        sides, tension = lagrangian.problem.sides, lagrangian.tension
        self._walls = walls_of(sides, self.R, y.sides, sigma, tension)
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
        """Take one step; False where F can't be lowered any more."""
        P = self._memory.direction(self.G, self._solve)
        a = self._minimum_along(P)
        if a == 0 and self._memory.is_empty:
            return False
        if a == 0:
            self._memory.forget()
            return True
        before = self.G.copy()
        self.R += a * P
        self.lagrangian.advance(self.t, self.s, self._b, self._c, a)
        self._walls.advance(a)
        self._update_gradient()
        self._memory.add(a * P, self.G - before)
        self.n_steps += 1
        return True

    def _minimum_along(self, P: Array) -> float:
        """Return the nearest minimum of F along P, 0 where F does not fall."""
        sums = self.lagrangian.trace(self.R, P, self.t, self.s, self._b, self._c)
        self._walls.look_along(self.R, P)
        c1, c2, c3, c4 = (float(x) for x in sums)
        has_ropes = self.lagrangian.ropes[0] < self.lagrangian.ropes[1]

        def slope(a: float) -> float:
            value = c1 + a * (2 * c2 + a * (3 * c3 + a * 4 * c4)) + self._walls.slope(a)
            if has_ropes:
                value += self.lagrangian.rope_slope(self.t, self.s, self._b, self._c, a)
            return value

        return _first_root(slope)

    def _update_gradient(self) -> None:
        self.lagrangian.gradient(self.R, self.t, self.G)
        self._walls.add_gradient(self.R, self.G)


def _first_root(slope: Callable[[float], float]) -> float:
    """Return a > 0 at which a slope that begins negative turns positive; 0 if it does not begin so.

    Bracketing by doubling from 1, then the Illinois form of regula falsi, whose last digits would
    be wasted here.
    """
    low, f_low = 0.0, slope(0.0)
    if not f_low < 0:
        return 0.0
    high, f_high = 1.0, slope(1.0)
    for _ in range(60):
        if f_high >= 0:
            break
        low, f_low, high = high, f_high, 2 * high
        f_high = slope(high)
    if not f_high >= 0:
        return 0.0  # not a number, or without bound
    enough = -1e-4 * slope(0.0)
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
    """The pairs of L-BFGS."""

    def __init__(self, size: int) -> None:
        self._S, self._Y = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self._rho, self._shares = np.empty(MEMORY), np.empty(MEMORY)
        self._order: list[int] = []
        self._passes = compiled()

    @property
    def is_empty(self) -> bool:
        return not self._order

    def forget(self) -> None:
        self._order = []

    def add(self, step: Array, change: Array) -> None:
        product = float(np.vdot(step, change))
        if product <= 1e-14 * np.linalg.norm(step) * np.linalg.norm(change):
            return  # the curvature along the step is not positive
        full = len(self._order) == MEMORY
        place = self._order.pop(0) if full else len(self._order)
        self._S[place], self._Y[place] = step.ravel(), change.ravel()
        self._rho[place] = 1 / product
        self._order.append(place)

    def direction(self, G: Array, solve: Solve) -> Array:
        q, order = G.ravel().copy(), np.array(self._order, dtype=np.intp)
        self._passes.recall(self._S, self._Y, self._rho, order, q, self._shares)
        q = np.ascontiguousarray(solve(q.reshape(G.shape))).ravel()
        self._passes.restore(self._S, self._Y, self._rho, order, q, self._shares)
        return -q.reshape(G.shape)


def _incidence(n: int, ends: NDArray[np.intp]) -> tuple[Any, Any, Any]:
    """Return for every point, in compressed rows, the other ends and numbers of its bars."""
    m = len(ends)
    points, others = ends.T.ravel(), ends[:, ::-1].T.ravel()
    order = np.argsort(points, kind="stable")
    indptr = np.searchsorted(points[order], np.arange(n + 1))
    return indptr, others[order], np.tile(np.arange(m), 2)[order]


def _ranges(n: int) -> list[tuple[int, int]]:
    return [(first, min(first + RANGE, n)) for first in range(0, n, RANGE)]
