"""Distance problems over R: augmented Lagrangian, rank as needed, best point kept.

Every round descends on the augmented Lagrangian for a number of steps, takes the forces as the new
multipliers, and stiffens the edges unless the violation shrank fourfold (ISM section 2.1). Three
things make it fast, all measured in decision record 9:

- the first stiffness is small, so that R is stretched open before it is made isometric;
- an edge's stiffness follows its multiplier. Four neighbors in a curved sheet are a flat
  tetrahedron, whose thickness is held by forces a thousand times the usual ones;
- columns of R that died out while edges were soft are revived.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from labelfold.progress import Progress, report_nothing
from labelfold.solvers.certificates import DistanceErrors
from labelfold.solvers.lowrank.bound import DualBound, bound_at, bound_from
from labelfold.solvers.lowrank.descent import (
    AugmentedLagrangian,
    Descent,
    Multipliers,
    restore,
    satisfies,
    stays_sparse,
)
from labelfold.solvers.lowrank.distances import DistanceProblem, Merger, measure_errors
from labelfold.solvers.lowrank.starts import Columns, principal
from labelfold.threads import ThreadPool, limit_threads

__all__ = ["LowRankLimits", "LowRankSolution", "Round", "solve_lowrank"]

Array = NDArray[np.float64]

STEPS_PER_ROUND = 30
SHRINK = 4.0  # edges are stiffened unless the violation shrinks by this factor in a round
GROWTH = 2.0  # of the stiffness
# In units of the tension at which equal edges everywhere balance the objective.
FIRST_STIFFNESS, WARM_STIFFNESS, LARGEST_STIFFNESS = 0.25, 10.0, 60.0
# Gradient that a round leaves, relative to the objective's. Below the first, edges may be stiffer
# still; above the second, they are too stiff for forces to balance, and multipliers are noise.
BALANCED, LOST = 0.03, 3.0
MOST_STIFFNESS = 1e6
LEAST_UNEVEN, MOST_UNEVEN = 0.1, 1e6  # stiffness of an edge relative to the median
NO_MATTER = 0.01  # of an edge length: change of soft sides that counts as rest
SETTLED = 5  # rounds over which the objective must be at rest
DROP = 0.7  # restoration is tried again when the violation has dropped to this share
STANDSTILL = 200  # rounds without a lower violation
RESTORABLE = 8.0  # times the tolerance: errors that restoration may correct
POLISH_ROUNDS, POLISH_STEPS = 5, 100
TOO_LONG = 1e3  # root mean square edge of a start, in units of what it should be
BOUND_ROUNDS, BOUND_STEPS, BOUND_STIFFNESS = 2, 300, 10.0


@dataclass(frozen=True)
class LowRankLimits:
    """When to stop."""

    tol: float = 1e-3  # errors.decisive to reach
    # Relative change of the objective over five rounds below which it is at rest; None is
    # max(tol, 1e-4).
    objective_tol: float | None = None
    max_iter: int = 20_000  # number of steps


@dataclass(frozen=True)
class Round:
    """State after a round."""

    n_iter: int
    seconds: float
    rank: int
    objective: float
    corrected: float  # objective minus what violated distances added and soft sides cost
    error: float  # of distances


@dataclass(frozen=True, eq=False)
class LowRankSolution:
    """Solution: embedding, multipliers and solve history.

    R is centered, along principal axes, except for axes that are normals of sides: these come
    first and are neither centered nor rotated.
    """

    R: Array = field(repr=False)
    multipliers: Multipliers = field(repr=False)
    errors: DistanceErrors
    objective: float  # <C, R R^T>
    bound: DualBound  # the least that the multipliers of any round gave
    converged: bool  # whether tolerances were met
    stopped_by: str  # "tolerance", "iterations" or "standstill"
    history: tuple[Round, ...] = field(repr=False)

    @property
    def n_iter(self) -> int:
        """Number of steps."""
        return self.history[-1].n_iter


def solve_lowrank(
    problem: DistanceProblem,
    start: Array,
    *,
    rank: int | None = None,
    limits: LowRankLimits | None = None,
    n_threads: int = 1,
    seed: int = 0,
    progress: Progress = report_nothing,
) -> LowRankSolution:
    """Solve a distance problem.

    Parameters
    ----------
    problem : DistanceProblem
        In any units; points at distance zero are merged.
    start : ndarray of shape (n_points, any)
        Where to start, see :mod:`.starts`. It may violate all constraints. Extra columns are
        dropped, missing ones filled with noise.
    rank : int, default=None
        Columns of R; None grows the rank while that helps, and drops idle columns at the end.
    limits : LowRankLimits, default=None
        When to stop.
    n_threads : int, default=1
        Threads that share the passes over edges; the result does not depend on it.
    seed : int, default=0
        Of the noise.
    progress : Progress, default=report_nothing
        Called once per round with objective and distance error.

    Returns
    -------
    LowRankSolution
        If tolerances are not met, the point with the least violation.
    """
    merger = problem.without_zero_edges()
    scaled, unit = merger.problem.scaled()
    scaled.check_bounded()
    # BLAS threads would change the last bits, and cost more than they save on such small blocks.
    with ThreadPool(n_threads) as pool, limit_threads(1, user_api="blas"):
        rounds = _Rounds(scaled, Columns(scaled, rank, seed), limits, pool, progress)
        rounds.R = rounds.columns.begin(_tamed(merger.merge_points(start) / unit, scaled))
        stopped_by = rounds.run()
    return rounds.solution(stopped_by, problem, merger, unit)


class _Rounds:
    """The outer iteration, on a problem in units of the median edge length."""

    def __init__(
        self,
        problem: DistanceProblem,
        columns: Columns,
        limits: LowRankLimits | None,
        pool: ThreadPool,
        progress: Progress,
    ) -> None:
        self.problem, self.limits = problem, limits or LowRankLimits()
        self.columns, self.pool, self.progress = columns, pool, progress
        self.sparse = stays_sparse(problem.n_points, problem.edges)
        self.bound, self.tension = self._start_evenly()
        self.lagrangian = AugmentedLagrangian(problem, pool, self.tension)
        self.soft_force = 0.0 if problem.sides.is_hard else self.tension * problem.sides.force
        self.R = np.empty((problem.n_points, 0))
        self.y = Multipliers(np.zeros(len(problem.edges)), np.zeros(len(problem.sides)))
        self.even = np.ones(len(problem.edges))
        self.began = time.perf_counter()
        self.history: list[Round] = []
        self.tried = np.inf  # violation when restoration was last tried
        self.imbalance = np.inf  # gradient that a round left, relative to the objective's
        self.n_iter = 0

    # ---- the rounds

    def run(self) -> str:
        """Run rounds until one of the limits is met, and return which."""
        sigma = FIRST_STIFFNESS * self.tension
        least, best = np.inf, (self.R, self.y)
        stopped_by = ""
        while not stopped_by:
            self._one_round(sigma)
            now = self._record()
            sigma = self._next_stiffness(sigma, shrunk=now.error <= least / SHRINK)
            if now.error <= least:
                least, best = now.error, (self.R, self.y)
            stopped_by = self._verdict()
            if not stopped_by:
                self.R = self.columns.tend(self.R, max(now.error, self.limits.tol))
        if stopped_by != "tolerance":
            self.R, self.y = best
        self._finish(stopped_by)
        if stopped_by == "standstill" and satisfies(self.problem, self.R, self.limits.tol):
            return "tolerance"  # polishing did it
        return stopped_by

    def _one_round(self, sigma: float, n_steps: int = STEPS_PER_ROUND) -> None:
        descent = Descent(
            self.lagrangian, self.R, self.y, sigma, self._factors(), exact=self.sparse
        )
        size = 2 * float(np.linalg.norm(self.problem.spread.product(self.R))) or 1.0
        n_steps = min(n_steps, max(self.limits.max_iter - self.n_iter, 1))
        descent.run(n_steps, 1e-9 * size)
        self.imbalance = float(np.linalg.norm(descent.G)) / size
        self.R, self.y = descent.R, descent.multipliers
        if self.problem.n_axes == 0:
            self.R = self.R - self.R.mean(axis=0)
        self.n_iter += max(descent.n_steps, 1)

    def _record(self) -> Round:
        error = measure_errors(self.problem, self.problem.sides.clipped(self.R)).decisive
        objective = self.problem.spread.value(self.R)
        costs = self.soft_force * float(self.problem.sides.shortfalls(self.R).sum())
        now = Round(
            n_iter=self.n_iter,
            seconds=time.perf_counter() - self.began,
            rank=self.R.shape[1],
            objective=objective,
            corrected=objective - costs - float(self.y.edges @ self.problem.violations(self.R)),
            error=error,
        )
        self.history.append(now)
        note = f"objective {objective:.5g}, distance error {error:.1e}"
        self.progress("unfolding", self.n_iter, self.limits.max_iter, note=note)
        return now

    def _verdict(self) -> str:
        """Return why to stop now, "" to go on."""
        limits, now = self.limits, self.history[-1]
        recent = [r.corrected for r in self.history[-SETTLED:]]
        rest = limits.objective_tol or max(limits.tol, 1e-4)
        size = max(abs(now.corrected), NO_MATTER * self.soft_force * len(self.problem.sides))
        at_rest = len(recent) == SETTLED and np.ptp(recent) <= rest * size
        at_rest &= now.objective > 0 or self.problem.spread.is_zero  # not all points in one
        at_rest |= self.problem.is_feasibility
        if at_rest and now.error <= min(RESTORABLE * limits.tol, DROP * self.tried):
            self.tried = now.error
            if self._is_feasible():
                return "tolerance"
        if now.n_iter >= limits.max_iter:
            return "iterations"
        if self._stands_still(rest):
            return "tolerance" if self._is_feasible() else "standstill"
        return ""

    def _stands_still(self, rest: float) -> bool:
        """Return whether for long the violation has not shrunk, nor the objective changed.

        Far from feasible the objective does not count: there may be no solution, and multipliers
        that grow without limit make it jump.
        """
        if len(self.history) < STANDSTILL:
            return False
        early = self.history[-STANDSTILL : -STANDSTILL // 2]
        late = self.history[-STANDSTILL // 2 :]
        least = min(r.error for r in late)
        if least <= 0.99 * min(r.error for r in early):
            return False
        moved = float(np.ptp([r.objective for r in late])) > rest * abs(late[-1].objective)
        return least > RESTORABLE * self.limits.tol or not moved

    # ---- feasibility

    def _is_feasible(self) -> bool:
        return satisfies(self.problem, self._restored(), self.limits.tol)

    def _restored(self) -> Array:
        tol, most = self.limits.tol, self.limits.max_iter
        R = self.columns.used(self.R, min(self.history[-1].error, RESTORABLE * tol))
        return restore(self.problem, R, tol=tol, max_steps=most, pool=self.pool, exact=self.sparse)

    # ---- stiffness

    def _factors(self) -> Array:
        """Return f: stiffness follows tension."""
        if self.problem.spread.is_zero:
            return self.even
        tensions = np.abs(self.y.edges) * np.sqrt(self.problem.squares)
        pulling = tensions[tensions > 0]
        typical = float(np.median(pulling)) if len(pulling) else 1.0
        return np.clip(tensions / typical, LEAST_UNEVEN, MOST_UNEVEN)

    def _next_stiffness(self, sigma: float, *, shrunk: bool) -> float:
        if self.imbalance > LOST and sigma > WARM_STIFFNESS * self.tension:
            return sigma / GROWTH
        most = LARGEST_STIFFNESS if self.imbalance > BALANCED else MOST_STIFFNESS
        return sigma if shrunk else max(sigma, min(sigma * GROWTH, most * self.tension))

    def _start_evenly(self) -> tuple[DualBound, float]:
        """Return the bound of equal edges, and the tension at which they balance the objective."""
        lengths = np.sqrt(self.problem.squares)
        if self.problem.spread.is_zero:
            return DualBound(0.0, np.zeros(len(lengths))), 100.0
        bound = bound_at(self.problem, 1 / lengths, sparse=self.sparse)
        if bound.multipliers is None:
            return bound, 100.0
        return bound, float(np.median(bound.multipliers * lengths))

    # ---- the end

    def _finish(self, stopped_by: str) -> None:
        """Polish, bound and restore.

        Stiff edges hold the objective back a little; polishing is done with softer ones.
        """
        rough = self._restored()
        if self.problem.spread.is_zero:
            self.R = rough
            return
        if stopped_by in ("tolerance", "standstill"):
            for _ in range(POLISH_ROUNDS):
                self._one_round(WARM_STIFFNESS * self.tension, POLISH_STEPS)
            self._record()
        self._tighten_bound(1 if stopped_by == "iterations" else BOUND_ROUNDS)
        self.R = self._restored()
        errors = [measure_errors(self.problem, R).decisive for R in (rough, self.R)]
        if errors[1] > max(errors[0], self.limits.tol):
            self.R = rough

    def _tighten_bound(self, n_rounds: int) -> None:
        """Improve on the bound of the last multipliers.

        It is poor, as rounds are short and edges stiff. A long descent with softer edges is a
        proximal step on the dual problem, and its forces nearly balance.
        """
        y, R = self.y, self.R
        for _ in range(n_rounds):
            descent = Descent(
                self.lagrangian, R, y, BOUND_STIFFNESS * self.tension, self.even, exact=self.sparse
            )
            descent.run(BOUND_STEPS, 0.0)
            y, R = descent.multipliers, descent.R
            bound = bound_from(self.problem, y.edges, sparse=self.sparse)
            if bound.value < self.bound.value:
                self.bound = bound

    def solution(
        self, stopped_by: str, problem: DistanceProblem, merger: Merger, unit: float
    ) -> LowRankSolution:
        """Return the result in the units of the given problem."""
        R = principal(unit * self.R[merger.point_numbers], problem.n_axes)
        signs = np.where(R[np.abs(R).argmax(axis=0), np.arange(R.shape[1])] < 0, -1, 1)
        signs[: problem.n_axes] = 1
        R = R * signs
        y, errors = self.bound.multipliers, measure_errors(problem, R)
        return LowRankSolution(
            R=R,
            multipliers=Multipliers(
                merger.split_multipliers(self.y.edges),
                # Multipliers times slacks are squares of lengths.
                self.y.sides * unit ** (2 - problem.sides.degree),
            ),
            errors=errors,
            objective=problem.spread.value(R),
            bound=DualBound(
                self.bound.value * unit**2, None if y is None else merger.split_multipliers(y)
            ),
            converged=stopped_by == "tolerance" and errors.decisive <= self.limits.tol,
            stopped_by=stopped_by,
            history=tuple(self.history),
        )


def _tamed(start: Array, problem: DistanceProblem) -> Array:
    """Return a start whose edges are not far too long: their powers would overflow."""
    largest = float(np.max(np.abs(start), initial=0.0)) or 1.0
    R = start / largest
    ratio = float(np.sqrt(np.sum(problem.lengths(R)) / np.sum(problem.squares)))
    return R * min(largest, TOO_LONG / ratio) if ratio > 0 else start
