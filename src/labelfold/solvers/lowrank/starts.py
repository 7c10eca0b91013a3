"""Where the low-rank solver may begin; a start need not keep any distance.

All of them see the edges only, so that they serve any metric; a data matrix is a start as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.csgraph import dijkstra

from labelfold.solvers.eigen import smallest_eigenpairs
from labelfold.solvers.lowrank.distances import DistanceProblem, edge_laplacian

__all__ = ["geodesic_start", "random_start", "smooth_start"]

Array = NDArray[np.float64]

N_LANDMARKS = 200
N_SMOOTH = 10  # eigenvectors of the Laplacian; Weinberger et al. use 10 as well


def random_start(problem: DistanceProblem, rank: int, *, seed: int = 0) -> Array:
    """Return noise of about the size of a map whose edges all have their length."""
    size = np.sqrt(np.mean(problem.squares) * problem.n_points) if len(problem.squares) else 1.0
    return size * np.random.default_rng(seed).standard_normal((problem.n_points, rank))


def geodesic_start(problem: DistanceProblem, rank: int, *, seed: int = 0) -> Array:
    """Return coordinates from shortest paths, as landmark Isomap does.

    Squared path lengths to landmarks are scaled classically (landmark MDS of de Silva and
    Tenenbaum); landmarks are chosen each as far as can be from those before.
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


def smooth_start(problem: DistanceProblem, rank: int) -> Array:
    """Return the best map made of the smoothest functions on the graph.

    Weinberger, Sha, Zhu and Saul (2007) solve a small semidefinite programme for K = Q A Q^T, Q the
    first eigenvectors of the graph's Laplacian, with violated distances as a penalty. Here A = Z
    Z^T, and a few dozen numbers are found by L-BFGS; the Laplacian's weights are 1 / d, so that Q
    varies evenly along the edges.
    """
    scaled, unit = problem.scaled()
    n, edges, d = scaled.n_points, scaled.edges, scaled.squares
    n_smooth = min(N_SMOOTH, n - 1)
    L = edge_laplacian(n, edges, 1 / np.maximum(d, 1e-6))
    smoothest = smallest_eigenpairs(_EdgeWeights(L), n_smooth + 1, normalization="none")
    Q = smoothest.vectors[:, 1:]
    among = Q[edges[:, 0]] - Q[edges[:, 1]]
    objective = Q.T @ scaled.spread.product(Q)
    # The tension that holds the objective on uniform edges, at a stretch of about one half.
    worth = float(eigh(objective, Q.T @ (L @ Q), eigvals_only=True)[-1]) or 1.0
    Z0 = np.linalg.lstsq(Q, random_start(scaled, min(rank, n_smooth)), rcond=None)[0]
    shape = Z0.shape

    def value(z: Array) -> tuple[float, Array]:
        Z = z.reshape(shape)
        U, CZ = among @ Z, objective @ Z
        h = np.sum(U**2, axis=1) - d
        gradient = 4 * worth * among.T @ (h[:, None] * U) - 2 * CZ
        return float(worth * h @ h - np.sum(Z * CZ)), gradient.ravel()

    found = minimize(value, Z0.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    R = np.zeros((n, rank))
    R[:, : shape[1]] = Q @ found.x.reshape(shape)
    return R * unit


@dataclass(frozen=True, eq=False)
class _EdgeWeights:
    """The graph of a Laplacian, as the eigensolver wants it."""

    laplacian: sp.csr_array

    @property
    def size(self) -> int:
        return int(self.laplacian.shape[0])

    @property
    def degrees(self) -> Array:
        return np.asarray(self.laplacian.diagonal())

    def product(self, block: Array) -> Array:
        own = self.degrees if block.ndim == 1 else self.degrees[:, None]
        return np.asarray(own * block - self.laplacian @ block)
