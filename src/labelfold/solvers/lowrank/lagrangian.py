"""The augmented Lagrangian of a distance problem over R: the energy of bars, ropes and walls.

With h = q - d the violation of an edge, y its multiplier and s its stiffness,

    F(R) = -<C, R R^T> + sum_e [t_e^2 - y_e^2] / (2 s_e),   t_e = y_e + s_e h_e,

where a cap's rope counts for max(t, 0); sides add the energy of their walls, and smoothness adds
w sum_c R_c^T L(1) R_c over the sides' axes. The gradient is 2 (L(t) - C) R and theirs: forces t are
the multipliers' next values. The stiffness is s_e = sigma f_e / d_e. The factor 1 / d makes all
edges equally hard to stretch by a length (with one s for all, short edges were several times too
long at the end); f is for the caller to set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.solvers import kernels
from labelfold.solvers.kernels import compiled
from labelfold.solvers.lowrank.distances import DistanceProblem, edge_laplacian
from labelfold.threads import Team

__all__ = ["AugmentedLagrangian", "Multipliers"]

Array = NDArray[np.float64]

RANGE = 2**15  # bars or points that a thread takes at a time; less is done before it has begun
LEAST_SQUARE = 1e-8  # of an edge, relative to the median: shorter ones are as stiff as this
LEAST_SHARE = 1e-6  # of the mean degree, on A's diagonal: without an objective A would be singular


@dataclass(frozen=True, eq=False)
class Multipliers:
    """y of edges and caps, mu of sides."""

    edges: Array
    sides: Array = field(default_factory=lambda: np.empty(0))


class AugmentedLagrangian:
    """F for one problem; its bars are edges first, then caps, then the pairs of C.

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
        if not sides.is_hard:
            costs += self.tension * sides.force * float(sides.shortfalls(R).sum())
        return costs

    @property
    def usual_costs(self) -> float:
        """The costs of a map that is rough or short of soft sides by an edge length throughout."""
        sides = self.problem.sides
        n_soft = 0.0 if sides.is_hard else sides.force * len(sides)
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
        pull = compiled(kernels.pull)
        self.team.each(lambda x: pull(R, *arguments, *x), self._point_ranges)
        if self._smooth.stop:
            out[:, self._smooth] += self._roughness @ R[:, self._smooth]

    def trace(self, R: Array, P: Array, t: Array, s: Array, b: Array, c: Array) -> Array:
        """Fill in b and c; return the coefficients of a, a^2, a^3, a^4 but for ropes."""
        sums = np.zeros((len(self._bar_ranges) + 3, 4))
        trace = compiled(kernels.trace)

        def one(x: tuple[int, int, int]) -> None:
            trace(R, P, self.ends, t, s, b, c, sums[x[0]], x[1], x[2])

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
        return float(compiled(kernels.rope_slope)(t, s, b, c, a, *self.ropes))

    def advance(self, t: Array, s: Array, b: Array, c: Array, a: float) -> None:
        """Move the forces by a step a."""
        move = compiled(kernels.advance)
        self.team.each(lambda x: move(t, s, b, c, a, *x), self._bar_ranges)

    def curvature(self, t: Array, s: Array, sigma: float, rank: int) -> sp.csc_array:
        """Return A of :mod:`.descent`; ropes that are slack do not count."""
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
        own = own + 2 * sigma * np.bincount(problem.sides.points, minlength=n) / rank
        degrees = np.bincount(i, w, n) + np.bincount(j, w, n)
        diagonal = degrees + np.maximum(own, LEAST_SHARE * (degrees.mean() or 1.0))
        every, i, j = np.arange(n, dtype=np.int32), i.astype(np.int32), j.astype(np.int32)
        rows, columns = np.concatenate([i, j, every]), np.concatenate([j, i, every])
        return sp.csc_array((np.concatenate([-w, -w, diagonal]), (rows, columns)), shape=(n, n))


def _incidence(n: int, ends: NDArray[np.intp]) -> tuple[Any, Any, Any]:
    """Return for every point, in compressed rows, the other ends and numbers of its bars."""
    m = len(ends)
    points, others = ends.T.ravel(), ends[:, ::-1].T.ravel()
    order = np.argsort(points, kind="stable")
    indptr = np.searchsorted(points[order], np.arange(n + 1))
    return indptr, others[order], np.tile(np.arange(m), 2)[order]


def _ranges(n: int) -> list[tuple[int, int]]:
    return [(first, min(first + RANGE, n)) for first in range(0, n, RANGE)]
