"""Where R starts, and the columns that it gains and loses during a solve.

A start need not keep any distance. Both kinds here use only the edges, so that they work for any
metric; a data matrix can be a start as it is.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from labelfold.solvers.lowrank.distances import DistanceProblem

__all__ = ["Columns", "geodesic_start", "principal", "random_start"]

Array = NDArray[np.float64]

N_LANDMARKS = 200
# Relative to the violation: mean square of a column below which it is revived, and of the noise
# that revives it.
WEAK, NOISE = 0.1, 1e-2
SPARE = 3  # columns not in use that rank "auto" keeps


def random_start(problem: DistanceProblem, rank: int, *, seed: int = 0) -> Array:
    """Return noise of about the size of an embedding that keeps all distances."""
    size = np.sqrt(np.mean(problem.squares) * problem.n_points) if len(problem.squares) else 1.0
    return size * np.random.default_rng(seed).standard_normal((problem.n_points, rank))


def geodesic_start(problem: DistanceProblem, rank: int, *, seed: int = 0) -> Array:
    """Return coordinates from shortest paths, as in landmark Isomap.

    Classical scaling of squared path lengths to landmarks (landmark MDS of de Silva and Tenenbaum);
    each landmark is the point furthest from those before.
    """
    n, (i, j) = problem.n_points, problem.edges.T.astype(np.int32)
    lengths = np.sqrt(problem.squares)
    graph = sp.csr_array(
        (np.tile(lengths, 2), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    )
    chosen = [int(np.random.default_rng(seed).integers(n))]
    paths = [dijkstra(graph, indices=chosen)[0]]
    nearest = paths[0].copy()
    while len(chosen) < min(N_LANDMARKS, n) and nearest.max() > 0:
        chosen.append(int(np.argmax(nearest)))
        paths.append(dijkstra(graph, indices=chosen[-1:])[0])
        nearest = np.minimum(nearest, paths[-1])
    squares = np.array(paths) ** 2  # landmarks x points
    among = squares[:, chosen]
    means = among.mean(axis=0)
    gram = -(among - means - means[:, None] + means.mean()) / 2
    values, vectors = np.linalg.eigh(gram)
    order = np.argsort(values)[::-1][:rank]
    kept = order[values[order] > 1e-12 * max(values.max(), np.finfo(float).tiny)]
    R = np.zeros((n, rank))
    R[:, : len(kept)] = -(squares - means[:, None]).T @ (vectors[:, kept] / np.sqrt(values[kept]))
    return R / 2


class Columns:
    """The columns of R: as many as stiff edges need, not soft ones.

    While edges are soft, few dimensions are of use, and the other columns die out. They would stay
    dead, since a column of zeros has no gradient, so weak columns get noise well below the
    violation. If the rank may grow, there are always some to spare: the staircase of Burer and
    Monteiro. Columns that are normals of sides are not rotated.
    """

    def __init__(self, problem: DistanceProblem, rank: int | None, seed: int) -> None:
        self._n_axes, self._rank = problem.n_axes, rank
        # With so many columns only the optimum is stable (Burer and Monteiro).
        enough = int(np.ceil(np.sqrt(2 * len(problem.edges)))) + 1
        self._most = max(min(problem.n_points - 1, enough), 1)
        self._noise = np.random.default_rng(seed)

    def begin(self, start: Array) -> Array:
        """Return the start with a first number of columns, the strongest if there were more."""
        rank = self._rank or min(max(start.shape[1], 3) + SPARE, self._most)
        rank = max(rank, self._n_axes)
        if start.shape[1] > rank:
            start = principal(start, self._n_axes)[:, :rank]
        missing = rank - start.shape[1]
        return np.hstack([start, 1e-3 * self._noise.standard_normal((len(start), missing))])

    def tend(self, R: Array, error: float) -> Array:
        """Revive columns that died out; add more if the rank may grow and all are in use."""
        R = principal(R, self._n_axes)
        weak = np.mean(R**2, axis=0) < WEAK * error
        weak[: self._n_axes] = False
        if self._rank is None and np.sum(weak) < SPARE:
            added = max(min(SPARE, self._most - R.shape[1]), 0)
            R = np.hstack([R, np.zeros((len(R), added))])
            weak = np.append(weak, np.ones(added, dtype=bool))
        noise = self._noise.standard_normal((len(R), int(np.sum(weak))))
        R[:, weak] += np.sqrt(NOISE * error) * noise
        return R

    def used(self, R: Array, error: float) -> Array:
        """Return R, without the columns that are only noise if the rank is free."""
        if self._rank is not None:
            return R
        R = principal(R, self._n_axes)
        used = np.mean(R**2, axis=0) >= WEAK * error
        used[: max(self._n_axes, 1)] = True
        return R[:, used]


def principal(R: Array, n_axes: int = 0) -> Array:
    """Center R and rotate it to its principal axes, longest first, except for the first columns."""
    others = R[:, n_axes:] - R[:, n_axes:].mean(axis=0)
    rotated = others @ np.linalg.eigh(others.T @ others)[1][:, ::-1]
    return np.hstack([R[:, :n_axes], rotated])
