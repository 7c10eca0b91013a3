"""Descent on the augmented Lagrangian by L-BFGS, and restoration, its last steps.

Directions come from L-BFGS whose first matrix is the inverse of the Laplacian

    A = L(4 s d / r + 2 max(y, 0)) + 2 diag(C),

the mean over directions of the Hessian of F, factored again for every sigma and y. It makes the
number of steps nearly independent of n (decision record 9). The neighbor graph of points on a
surface falls apart at about sqrt(n) points, and its factor has a few times as many entries as the
matrix; in many dimensions it fills in, and A's diagonal stands for it. Along a direction F is a
piecewise quartic, and its nearest minimum is found without another pass over R.

Restoration goes on towards the distances with the objective left aside. From where the multipliers
brought it, that hardly changes the objective: on a roll of 1,500 points 100 steps lowered the error
fivefold, and the objective by 1 part in 10,000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from labelfold.solvers import kernels
from labelfold.solvers.kernels import compiled
from labelfold.solvers.lowrank.distances import DistanceProblem, Spread, measure_errors
from labelfold.solvers.lowrank.lagrangian import AugmentedLagrangian, Multipliers
from labelfold.solvers.lowrank.sides import NO_SIDES, Walls
from labelfold.threads import Team

__all__ = ["Descent", "Solve", "factorize", "restore", "satisfies", "stays_sparse"]

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

MEMORY = 5  # pairs that L-BFGS remembers; 1 to 20 made no difference with the Laplacian
WIDEST = 600  # points at one distance from an end of the graph, for a factor to be worth making
STEPS = 400  # of a restoration
WALL_ROUNDS = 8  # with new multipliers of sides, that share these steps
AT_ONCE = 10  # steps before it is seen whether they suffice


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
        Whether to factor A; else its diagonal stands for it (see :func:`stays_sparse`).
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
        sides, tension = lagrangian.problem.sides, lagrangian.tension
        self._walls: Walls | None = None
        if len(sides):
            self._walls = Walls(sides, self.R, y.sides, sigma, tension)
        self.G = np.empty_like(self.R)
        self._update_gradient()
        self._b, self._c = np.empty(lagrangian.n_bars), np.empty(lagrangian.n_bars)
        self._memory = _Memory(self.R.size)
        self.n_steps = 0

    @property
    def multipliers(self) -> Multipliers:
        """The forces as the next multipliers."""
        of_sides = np.empty(0) if self._walls is None else self._walls.forces
        return Multipliers(self.lagrangian.multipliers(self.t), of_sides)

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
        if self._walls is not None:
            self._walls.advance(a)
        self._update_gradient()
        self._memory.add(a * P, self.G - before)
        self.n_steps += 1
        return True

    def _minimum_along(self, P: Array) -> float:
        """Return the nearest minimum of F along P, 0 where F does not fall."""
        sums = self.lagrangian.trace(self.R, P, self.t, self.s, self._b, self._c)
        walls, (c1, c2, c3, c4) = self._walls, (float(x) for x in sums)
        has_ropes = self.lagrangian.ropes[0] < self.lagrangian.ropes[1]
        if walls is not None:
            walls.look_along(self.R, P)

        def slope(a: float) -> float:
            value = c1 + a * (2 * c2 + a * (3 * c3 + a * 4 * c4))
            if walls is not None:
                value += walls.slope(a)
            if has_ropes:
                value += self.lagrangian.rope_slope(self.t, self.s, self._b, self._c, a)
            return value

        return _first_root(slope)

    def _update_gradient(self) -> None:
        self.lagrangian.gradient(self.R, self.t, self.G)
        if self._walls is not None:
            self._walls.add_gradient(self.R, self.G)


def restore(
    problem: DistanceProblem, R: Array, *, tol: float, max_steps: int, team: Team, exact: bool
) -> Array:
    """Return the map after steps that lower the errors of distances, until they are within tol.

    Hard sides hold at the end. Where they leave no isometric map, the last steps lower the root
    mean square error of squared distances, which is what tolerances are about. Soft sides are left
    aside, as the objective is.

    Parameters
    ----------
    problem : DistanceProblem
        In units of the median edge length, without zero edges.
    R : ndarray of shape (n_points, rank)
        Where to begin.
    tol : float
        Tolerance of ``measure_errors(...).decisive``.
    max_steps : int
        No more than these; 400 suffice.
    team : Team
        Threads to share the passes.
    exact : bool
        Whether to factor the descent's Laplacian.
    """
    sides = problem.sides if problem.sides.is_hard else NO_SIDES
    problem = replace(problem, spread=Spread(), sides=sides, smoothness=0.0)
    lagrangian = AugmentedLagrangian(problem, team)
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
    """Tell whether distances and hard sides hold within a tolerance."""
    sides = problem.sides
    if sides.is_hard and np.max(sides.shortfalls(R), initial=0.0) > tol:
        return False
    return measure_errors(problem, R).decisive <= tol


def stays_sparse(n_points: int, edges: NDArray[np.intp]) -> bool:
    """Tell whether a Laplacian on these edges has a factor worth making.

    The points at one number of edges from an end of the graph separate what is before from what is
    behind. The factor treats the widest separator as a dense matrix, at the cost of its cube.
    """
    if n_points <= WIDEST:
        return True
    ones = np.ones(2 * len(edges))
    ends = np.concatenate([edges, edges[:, ::-1]]).T.astype(np.int32)
    graph = sp.csr_array((ones, (ends[0], ends[1])), shape=(n_points, n_points))
    depth = np.zeros(n_points)
    for _ in range(3):  # from an end of the end of the end: about the longest way through
        start = int(np.argmax(np.where(np.isfinite(depth), depth, -1)))
        depth = dijkstra(graph, indices=[start], unweighted=True)[0]
    reached = depth[np.isfinite(depth)].astype(np.intp)
    return bool(np.bincount(reached).max() <= WIDEST)


def factorize(A: sp.csc_array) -> Any:
    """Return SuperLU's factors of a symmetric matrix, with pivots from the diagonal only.

    Without exchanges of rows the signs of U's diagonal are those of A's eigenvalues.
    """
    return splu(
        A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )


def _approximate_inverse(A: sp.csc_array, *, exact: bool) -> Solve:
    """Return the product with A^(-1), or with the inverse of A's diagonal alone."""
    if exact:
        solve: Solve = factorize(A).solve
        return solve
    diagonal = A.diagonal()[:, None]
    return lambda block: block / diagonal


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
        compiled(kernels.recall)(self._S, self._Y, self._rho, order, q, self._shares)
        q = np.ascontiguousarray(solve(q.reshape(G.shape))).ravel()
        compiled(kernels.restore)(self._S, self._Y, self._rho, order, q, self._shares)
        return -q.reshape(G.shape)
