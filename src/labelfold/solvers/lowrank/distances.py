"""The problem of all semidefinite embeddings: keep squared distances, make a spread large.

:class:`DistanceProblem` is the problem of :mod:`labelfold.solvers.lowrank`, over R or over positive
semidefinite K = R R^T. C is the Laplacian of a weighted graph of pairs. In ISM eq. 1 and 4,
C = I - 11^T / n is maximum variance unfolding (``variance=1``), and the pairs of every point with
the one furthest from it are maximum furthest neighbor unfolding. Separation maps add sides.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from labelfold.exceptions import InputError
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
LARGEST_RATIO = 1e100  # of squared lengths
MAGNITUDES = (
    "Distances between neighbors differ by so many orders of magnitude that float64 cannot hold "
    "their weights together: drop or rescale outlying rows."
)
Pairs = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Spread:
    """<C, R R^T> = variance * sum_i m_i |r_i - r|^2 + sum_p w_p |r_i - r_j|^2, r the mean."""

    variance: float = 0.0
    pairs: Pairs = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))  # p = (i, j)
    weights: Array = field(default_factory=lambda: np.empty(0))  # w, nonnegative
    masses: Array | None = None  # m, the number of points that each row represents; None is 1

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing to maximize: any embedding that keeps the distances will do."""
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
        """Return C as a dense matrix."""
        return self.product(np.eye(n_points))


@dataclass(frozen=True, eq=False)
class DistanceProblem:
    """The problem of the package's first lines."""

    n_points: int
    edges: Pairs  # e = (i, j), of shape (n_edges, 2)
    squares: Array  # squared lengths d
    spread: Spread  # what to make large
    is_cap: NDArray[np.bool_] | None = None  # whether d is an upper bound; None for no such pair
    sides: Sides = NO_SIDES  # on which points must lie

    @property
    def n_axes(self) -> int:
        """Number of leading columns of R that are normals, so that R must not be rotated."""
        return self.sides.n_axes

    @property
    def is_feasibility(self) -> bool:
        """Whether any embedding that satisfies the constraints will do."""
        return self.spread.is_zero and self.sides.is_hard

    @property
    def caps(self) -> NDArray[np.bool_]:
        """Whether each edge is a cap."""
        return np.zeros(len(self.edges), dtype=bool) if self.is_cap is None else self.is_cap

    @property
    def usual_squares(self) -> Array:
        """Squared lengths of the edges, or of the caps if there are no edges."""
        return self.squares if self.caps.all() else self.squares[~self.caps]

    def check_bounded(self) -> None:
        """Raise InputError if edges and caps leave components that can be moved apart."""
        n = self._components(self.edges)[0]
        if n > 1 and not self.spread.is_zero:
            raise InputError(
                f"the edges leave {n} connected components, which can be moved apart without "
                "limit, so the spread has no maximum: connect them by edges or caps."
            )

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

        One long edge could dominate a mean. Caps count only if there are no edges.
        """
        unit = float(np.sqrt(np.median(self.usual_squares))) if len(self.edges) else 1.0
        unit = unit or 1.0
        if np.max(self.squares, initial=0.0) > LARGEST_RATIO * unit**2:
            raise InputError(MAGNITUDES)
        return replace(self, squares=self.squares / unit**2, sides=self.sides.scaled(unit)), unit

    def without_zero_edges(self) -> Merger:
        """Return the problem with points at distance zero merged.

        The constraint of a zero edge has no derivative where it holds, which would stall every
        solver. Parallel edges get their mean square, parallel caps their least.
        """
        n, numbers = self._components(self.edges[self.squares == 0])
        edges, squares, caps, edge_numbers = _merged(numbers[self.edges], self.squares, self.caps)
        pairs = numbers[self.spread.pairs]
        apart = pairs[:, 0] != pairs[:, 1]
        masses = np.bincount(numbers, weights=self.spread.masses_of(self.n_points)).astype(float)
        spread = replace(
            self.spread, pairs=pairs[apart], weights=self.spread.weights[apart], masses=masses
        )
        sides = self.sides.renumbered(numbers)
        merged = DistanceProblem(n, edges, squares, spread, caps, sides)
        return Merger(merged, numbers, edge_numbers)

    def _components(self, edges: Pairs) -> tuple[int, Pairs]:
        """Return the number of components that these edges leave, and each point's component."""
        i, j = edges.T.astype(np.int32)  # as csgraph requires
        graph = sp.coo_array((np.ones(len(edges)), (i, j)), shape=(self.n_points, self.n_points))
        n, numbers = connected_components(graph, directed=False)
        return n, np.asarray(numbers, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Merger:
    """A problem with points merged, and each original point's and edge's number in it."""

    problem: DistanceProblem
    point_numbers: NDArray[np.intp]
    edge_numbers: NDArray[np.intp]  # -1 for edges of length zero

    def merge_points(self, R: Array) -> Array:
        """Return coordinates of the merged points: means of the original ones."""
        merged = np.zeros((self.problem.n_points, R.shape[1]))
        np.add.at(merged, self.point_numbers, R)
        return np.asarray(merged / np.bincount(self.point_numbers)[:, None])

    def merge_multipliers(self, y: Array) -> Array:
        """Return multipliers of the merged edges: parallel ones add up."""
        kept = self.edge_numbers >= 0
        n = len(self.problem.edges)
        return np.bincount(self.edge_numbers[kept], y[kept], n).astype(float)

    def split_multipliers(self, y: Array) -> Array:
        """Return multipliers of the original edges: parallel ones share, zero edges get 0.

        A zero edge's multiplier may be any large number, and the bound does not depend on it.
        """
        kept = self.edge_numbers >= 0
        counts = np.bincount(self.edge_numbers[kept], minlength=len(self.problem.edges))
        split = np.zeros(len(self.edge_numbers))
        split[kept] = (y / counts)[self.edge_numbers[kept]]
        return split


def measure_errors(problem: DistanceProblem, R: Array) -> DistanceErrors:
    """Measure the errors of the distances in R; for edges of length zero relative to the mean."""
    unit = float(np.sqrt(np.mean(problem.usual_squares))) if len(problem.edges) else 1.0
    unit = unit or 1.0  # squares of squares might overflow
    return compare_lengths(problem, problem.lengths(R / unit), unit)


def compare_lengths(problem: DistanceProblem, q: Array, unit: float = 1.0) -> DistanceErrors:
    """Measure the errors of squared edge lengths q, given in squared units."""
    d = problem.squares / unit**2
    edges = _errors(q[~problem.caps], d[~problem.caps])
    caps = _errors(np.maximum(q, d)[problem.caps], d[problem.caps])
    worse = (max(pair) for pair in zip(astuple(edges), astuple(caps), strict=True))
    return DistanceErrors(*worse)


def edge_laplacian(n_points: int, edges: Pairs, weights: Array) -> sp.csr_array:
    """Return L(w) = sum_e w_e (e_i - e_j) (e_i - e_j)^T."""
    i, j = edges.astype(np.int32).T  # as SuperLU requires
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    values = np.concatenate([-weights, -weights, weights, weights])
    return sp.csr_array((values, (rows, columns)), shape=(n_points, n_points))


def _merged(
    edges: Pairs, squares: Array, caps: NDArray[np.bool_]
) -> tuple[Pairs, Array, NDArray[np.bool_], NDArray[np.intp]]:
    """Return distinct edges and caps, their squares, which are caps, and each one's number."""
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
