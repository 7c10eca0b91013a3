"""The problem behind all semidefinite maps: squared distances to keep, a spread to make large.

:class:`DistanceProblem` is the problem of :mod:`labelfold.solvers.lowrank`, over R or over positive
semidefinite K = R R^T. C is the Laplacian of a weighted graph of pairs, a multiple of the complete
graph among them. ISM eq. 1 and 4: C = I - 11^T / n is maximum variance unfolding (``variance=1``),
the pairs of points and their furthest ones are maximum furthest neighbor unfolding. Separation maps
have sides, and may ask for smoothness along the sides' axes.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from labelfold.solvers.certificates import DistanceErrors
from labelfold.solvers.lowrank.sides import NO_SIDES, Sides

__all__ = [
    "DistanceProblem",
    "Merger",
    "Spread",
    "compare_lengths",
    "edge_laplacian",
    "measure_errors",
]

Array = NDArray[np.float64]
Pairs = NDArray[np.intp]


def _no_pairs() -> Pairs:
    return np.empty((0, 2), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Spread:
    """<C, R R^T> = variance * sum_i m_i |r_i - r|^2 + sum_p w_p |r_i - r_j|^2.

    Parameters
    ----------
    variance : float, default=0.0
        Weight of the squared distances from the mean r.
    pairs : ndarray of shape (n_pairs, 2)
        Pairs p = (i, j); none by default.
    weights : ndarray of shape (n_pairs,)
        w, nonnegative.
    masses : ndarray of shape (n_points,), default=None
        m: how many points each row stands for; None is one each.
    """

    variance: float = 0.0
    pairs: Pairs = field(default_factory=_no_pairs)
    weights: Array = field(default_factory=lambda: np.empty(0))
    masses: Array | None = None

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing to maximise, and any map that keeps the distances will do."""
        return self.variance == 0 and not np.any(self.weights)

    def masses_of(self, n_points: int) -> Array:
        """Return m."""
        return np.ones(n_points) if self.masses is None else self.masses

    def product(self, R: Array) -> Array:
        """Return C R."""
        product = np.zeros_like(R)
        if self.variance:
            masses = self.masses_of(len(R))
            product += self.variance * masses[:, None] * (R - masses @ R / masses.sum())
        if len(self.pairs):
            product += edge_laplacian(len(R), self.pairs, self.weights) @ R
        return product

    def value(self, R: Array) -> float:
        """Return <C, R R^T>."""
        R = R - R.mean(axis=0)  # C 1 = 0: less to cancel
        return float(np.sum(R * self.product(R)))

    def matrix(self, n_points: int) -> Array:
        """Return C, dense."""
        return self.product(np.eye(n_points))


@dataclass(frozen=True, eq=False)
class DistanceProblem:
    """The problem of the package's first lines.

    Parameters
    ----------
    n_points : int
        Number of rows of R.
    edges : ndarray of shape (n_edges, 2)
        Pairs e = (i, j).
    squares : ndarray of shape (n_edges,)
        Squared lengths d.
    spread : Spread
        What to make large.
    is_cap : ndarray of shape (n_edges,), default=None
        Whether a pair may also be closer than d; None for none.
    sides : Sides, default=NO_SIDES
        Sides on which points must lie.
    smoothness : float, default=0.0
        w, in units of the tension at which equal edges all over hold the objective.
    """

    n_points: int
    edges: Pairs
    squares: Array
    spread: Spread
    is_cap: NDArray[np.bool_] | None = None
    sides: Sides = NO_SIDES
    smoothness: float = 0.0

    @property
    def n_axes(self) -> int:
        """Number of leading columns of R that are normals, so that R must not be turned."""
        return self.sides.n_axes

    @property
    def is_feasibility(self) -> bool:
        """Whether any map that satisfies the constraints will do."""
        return self.spread.is_zero and self.sides.is_hard and self.smoothness == 0

    @property
    def caps(self) -> NDArray[np.bool_]:
        """Whether each edge is a cap."""
        return np.zeros(len(self.edges), dtype=bool) if self.is_cap is None else self.is_cap

    @property
    def usual_squares(self) -> Array:
        """Squared lengths of the edges, or of the caps where there are no edges."""
        return self.squares if self.caps.all() else self.squares[~self.caps]

    @property
    def n_pieces(self) -> int:
        """Number of pieces that edges and caps leave apart: beyond one, spread has no bound."""
        return int(connected_components(self._joined(np.ones(len(self.edges))), directed=False)[0])

    def lengths(self, R: Array) -> Array:
        """Return q: the squared length of every edge."""
        i, j = self.edges.T
        return np.asarray(np.sum((R[i] - R[j]) ** 2, axis=1))

    def violations(self, R: Array) -> Array:
        """Return h = q - d, for caps its positive part."""
        h = self.lengths(R) - self.squares
        return np.where(self.caps, np.maximum(h, 0), h)

    def scaled(self) -> tuple[DistanceProblem, float]:
        """Return the problem in units of the median edge length, and that length.

        A mean would be that of one long edge, should an outlier have it. Caps do not count beside
        edges.
        """
        unit = float(np.sqrt(np.median(self.usual_squares))) if len(self.edges) else 1.0
        unit = unit or 1.0
        return replace(self, squares=self.squares / unit**2, sides=self.sides.scaled(unit)), unit

    def without_zero_edges(self) -> Merger:
        """Return the problem with points at distance zero made one.

        A zero edge has no derivative where it is kept, which would hold up every solver. Of
        parallel edges the mean square is kept, of parallel caps the least.
        """
        is_zero = self.squares == 0
        _, found = connected_components(self._joined(is_zero), directed=False)
        numbers = np.asarray(found, dtype=np.intp)
        n = int(numbers.max()) + 1
        edges, squares, caps, edge_numbers = _merged(numbers[self.edges], self.squares, self.caps)
        pairs = numbers[self.spread.pairs]
        apart = pairs[:, 0] != pairs[:, 1]
        masses = np.bincount(numbers, weights=self.spread.masses_of(self.n_points)).astype(float)
        spread = replace(
            self.spread, pairs=pairs[apart], weights=self.spread.weights[apart], masses=masses
        )
        sides = self.sides.renumbered(numbers)
        merged = DistanceProblem(n, edges, squares, spread, caps, sides, self.smoothness)
        return Merger(merged, numbers, edge_numbers)

    def _joined(self, keep: NDArray[Any]) -> sp.coo_array:
        kept = self.edges[keep.astype(bool)].astype(np.int32)  # as csgraph wants them
        shape = (self.n_points, self.n_points)
        return sp.coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=shape)


@dataclass(frozen=True, eq=False)
class Merger:
    """A problem without zero edges, and the way there and back.

    Parameters
    ----------
    problem : DistanceProblem
        The smaller problem.
    point_numbers, edge_numbers : ndarray of shape (n_points,) and (n_edges,)
        Number of each point and edge there; -1 for edges that are gone.
    """

    problem: DistanceProblem
    point_numbers: NDArray[np.intp]
    edge_numbers: NDArray[np.intp]

    def merge_points(self, R: Array) -> Array:
        """Return coordinates of the merged points, the mean of their parts'."""
        merged = np.zeros((self.problem.n_points, R.shape[1]))
        np.add.at(merged, self.point_numbers, R)
        return np.asarray(merged / np.bincount(self.point_numbers)[:, None])

    def merge_multipliers(self, y: Array) -> Array:
        """Return multipliers of the merged edges: parallel ones add up."""
        kept = self.edge_numbers >= 0
        n = len(self.problem.edges)
        return np.bincount(self.edge_numbers[kept], y[kept], n).astype(float)

    def split_multipliers(self, y: Array) -> Array:
        """Return multipliers of the edges as they were: parallel ones share, zero ones have none.

        A zero edge's may be any large number, and the bound does not depend on it.
        """
        kept = self.edge_numbers >= 0
        counts = np.bincount(self.edge_numbers[kept], minlength=len(self.problem.edges))
        split = np.zeros(len(self.edge_numbers))
        split[kept] = (y / counts)[self.edge_numbers[kept]]
        return split


def measure_errors(problem: DistanceProblem, R: Array) -> DistanceErrors:
    """Measure what a map does to the distances; edges of length zero relative to the mean one."""
    unit = float(np.sqrt(np.mean(problem.usual_squares))) if len(problem.edges) else 1.0
    unit = unit or 1.0  # squares of squares might overflow
    return compare_lengths(problem, problem.lengths(R / unit), unit)


def compare_lengths(problem: DistanceProblem, q: Array, unit: float = 1.0) -> DistanceErrors:
    """Measure squared lengths q of the edges, given in squared units, as a map's are measured."""
    d = problem.squares / unit**2
    edges = _errors(q[~problem.caps], d[~problem.caps])
    caps = _errors(np.maximum(q, d)[problem.caps], d[problem.caps])
    worse = (max(pair) for pair in zip(astuple(edges), astuple(caps), strict=True))
    return DistanceErrors(*worse)


def edge_laplacian(n_points: int, edges: Pairs, weights: Array) -> sp.csr_array:
    """Return L(w) = sum_e w_e (e_i - e_j) (e_i - e_j)^T."""
    i, j = edges.astype(np.int32).T  # as SuperLU wants them
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    values = np.concatenate([-weights, -weights, weights, weights])
    return sp.csr_array((values, (rows, columns)), shape=(n_points, n_points))


def _merged(
    edges: Pairs, squares: Array, caps: NDArray[np.bool_]
) -> tuple[Pairs, Array, NDArray[np.bool_], NDArray[np.intp]]:
    """Return every pair once, edges and caps apart, and each one's number.

    The square is the mean of an edge's, the least of a cap's.
    """
    numbers = np.full(len(edges), -1, dtype=np.intp)
    apart = np.flatnonzero(edges[:, 0] != edges[:, 1])
    keys = np.column_stack([np.sort(edges[apart], axis=1), caps[apart]])
    unique, inverse = np.unique(keys, axis=0, return_inverse=True)
    numbers[apart] = inverse.ravel()
    counts = np.bincount(numbers[apart], minlength=len(unique))
    means = np.bincount(numbers[apart], squares[apart], len(unique)).astype(float) / counts
    least = np.full(len(unique), np.inf)
    np.minimum.at(least, numbers[apart], squares[apart])
    is_cap = np.asarray(unique[:, 2] == 1)
    return unique[:, :2].astype(np.intp), np.where(is_cap, least, means), is_cap, numbers


def _errors(q: Array, d: Array) -> DistanceErrors:
    if len(q) == 0:
        return DistanceErrors(0.0, 0.0, 0.0, 0.0, 0.0)
    h, g = q - d, np.sqrt(q) - np.sqrt(d)
    base = np.where(d > 0, d, 1.0)
    return DistanceErrors(
        rms_squared=float(np.linalg.norm(h) / (np.linalg.norm(d) or 1.0)),
        median_squared=float(np.median(np.abs(h) / base)),
        largest_squared=float(np.max(np.abs(h) / base)),
        rms=float(np.linalg.norm(g) / (np.sqrt(np.sum(d)) or 1.0)),
        largest=float(np.max(np.abs(g) / np.sqrt(base))),
    )
