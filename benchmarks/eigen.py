"""Many eigenpairs of MNIST's graph: 60,000 points, 8 neighbors, binary weights, L unnormalized.

Every solver gets the same graph, renumbered by reverse Cuthill-McKee, and the same tolerance, |B u
- mu u| <= 1e-4 for B = I - L / d with d the largest degree; the residual is then measured in the
  same way for all. The clock starts at the graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import repeat
from numpy.typing import NDArray

Array = NDArray[np.float64]

N_NEIGHBORS, TOLERANCE = 8, 1e-4
NUMBERS = (100, 300, 1000, 2000)
AGAINST_ARPACK = 300


@cache
def adjacency(n_neighbors: int = N_NEIGHBORS, n: int = 60_000) -> Any:
    """Return the weights of the graph of the first n points, bridged if it is disconnected."""
    from mnist import rows

    from labelfold import NeighborGraph
    from labelfold.graph.adjacency import SparseAdjacency

    X, _ = rows()
    graph = NeighborGraph.build(X[:n], n_neighbors=n_neighbors, weights="binary", random_state=0)
    return SparseAdjacency(graph.bridged().adjacency).reordered()[0]


@cache
def operator() -> sp.csr_array:
    """Return B as a matrix."""
    W, d = adjacency().matrix, adjacency().degrees
    return sp.csr_array(sp.identity(len(d)) - (sp.diags_array(d) - W) / d.max())


def worst_residual(U: Array) -> float:
    """Return the largest residual of some vectors."""
    B, worst = operator(), 0.0
    for first in range(0, U.shape[1], 256):
        part = U[:, first : first + 256]
        BU = B @ part
        mu = np.einsum("ij,ij->j", part, BU)
        worst = max(worst, float(np.linalg.norm(BU - part * mu, axis=0).max()))
    return worst


def timed(solve: Callable[[int], Array], n_pairs: int, n_repeats: int) -> dict[str, Any]:
    """Time a solve for so many pairs, after a small one that loads and compiles."""
    adjacency(), operator()
    solve(10)
    found: list[Array] = []

    def work() -> None:
        found[:] = []  # at most one result at a time
        found.append(solve(n_pairs))

    measured = repeat(work, n_repeats)
    return {**measured, "n_pairs": n_pairs, "residual": worst_residual(found[0])}


def by_labelfold(solver: str) -> Callable[[int], Array]:
    """Return the library's own solver of that name."""
    from labelfold.solvers.eigen import smallest_eigenpairs

    def solve(n_pairs: int) -> Array:
        return smallest_eigenpairs(
            adjacency(),
            n_pairs,
            normalization="none",
            skip_zeros=True,
            solver=solver,
            tol=TOLERANCE,
        ).vectors

    return solve


def by_scipy(n_pairs: int) -> Array:
    """ARPACK as SciPy calls it; the constant vector is one of the pairs."""
    from scipy.sparse.linalg import eigsh

    v0 = np.random.default_rng(0).standard_normal(adjacency().size)
    return np.asarray(eigsh(operator(), n_pairs + 1, which="LA", tol=TOLERANCE, v0=v0)[1])


def by_lobpcg(n_pairs: int) -> Array:
    """LOBPCG preconditioned by smoothed aggregation (pyamg)."""
    from pyamg import smoothed_aggregation_solver
    from scipy.sparse.linalg import lobpcg

    W, d = adjacency().matrix, adjacency().degrees
    L = sp.csr_matrix(sp.diags_array(d) - W)
    shifted = L + 1e-3 * d.max() * sp.identity(L.shape[0], format="csr")
    multigrid = smoothed_aggregation_solver(sp.csr_matrix(shifted)).aspreconditioner()
    X = np.random.default_rng(0).standard_normal((L.shape[0], n_pairs + n_pairs // 10 + 5))
    ones = np.ones((L.shape[0], 1))
    values, vectors = lobpcg(
        L / d.max(), X, M=multigrid, Y=ones, tol=TOLERANCE, largest=False, maxiter=100
    )
    return np.asarray(vectors[:, np.argsort(values)[:n_pairs]])


def by_block_lanczos(n_pairs: int, width: int = 32) -> Array:
    """Block Lanczos with full orthogonalization and thick restarts."""
    B = operator()
    n, n_basis = B.shape[0], 2 * n_pairs + 4 * width
    rng = np.random.default_rng(0)
    Q = np.empty((n, n_basis))
    Q[:, :width] = np.linalg.qr(rng.standard_normal((n, width)))[0]
    H = np.zeros((n_basis, n_basis))
    done = 0  # columns whose product with B is in H
    for _ in range(100):
        while done + 2 * width <= n_basis:
            new = slice(done, done + width)
            R = B @ Q[:, new]
            basis = Q[:, : done + width]
            for _ in range(2):
                shares = basis.T @ R
                H[: done + width, new] += shares
                R -= basis @ shares
            following, beta = np.linalg.qr(R)
            done += width
            Q[:, done : done + width] = following
            H[done : done + width, new] = beta
        small = H[:done, :done]
        values, vectors = np.linalg.eigh((small + small.T) / 2)
        kept = vectors[:, ::-1][:, : n_pairs + 1 + width]
        residuals = np.linalg.norm(beta @ kept[-width:], axis=0)
        last = Q[:, done : done + width].copy()
        Q[:, : kept.shape[1]] = Q[:, :done] @ kept
        if residuals[: n_pairs + 1].max() <= TOLERANCE:
            break
        H[:] = 0
        k = kept.shape[1]
        H[:k, :k] = np.diag(values[::-1][:k])
        H[k : k + width, :k] = beta @ kept[-width:]
        Q[:, k : k + width] = last
        H[:k, k : k + width] = 0  # recomputed with the next block
        done = k
    return Q[:, : n_pairs + 1]


def time_crossing(n: int, n_neighbors: int, numbers: list[int], tol: float) -> dict[str, Any]:
    """Time the library's solvers for growing numbers of pairs of the first n points."""
    from labelfold.solvers.eigen import smallest_eigenpairs

    seconds: dict[str, dict[int, float]] = {}
    for solver in ("dense", "arpack", "chebyshev") if n <= 4000 else ("arpack", "chebyshev"):
        smallest_eigenpairs(
            adjacency(n_neighbors, n), 10, skip_zeros=True, solver=solver, tol=tol
        )  # compiles
        seconds[solver] = {}
        for n_pairs in numbers:
            start = time.perf_counter()
            smallest_eigenpairs(
                adjacency(n_neighbors, n), n_pairs, skip_zeros=True, solver=solver, tol=tol
            )
            seconds[solver][n_pairs] = time.perf_counter() - start
    return {"n": n, "n_neighbors": n_neighbors, "tol": tol, "seconds": seconds}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "chebyshev": lambda n_pairs, n_repeats: timed(by_labelfold("chebyshev"), n_pairs, n_repeats),
    "filtered_arpack": lambda n_pairs, n_repeats: timed(by_labelfold("arpack"), n_pairs, n_repeats),
    "scipy_arpack": lambda n_pairs, n_repeats: timed(by_scipy, n_pairs, n_repeats),
    "lobpcg_amg": lambda n_pairs, n_repeats: timed(by_lobpcg, n_pairs, n_repeats),
    "block_lanczos": lambda n_pairs, n_repeats: timed(by_block_lanczos, n_pairs, n_repeats),
}
DESIGNS = tuple(TASKS)
TASKS["crossing"] = time_crossing
