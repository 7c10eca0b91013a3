"""The distance problem over Gram matrices: convex, so its optimum is a reference for others.

    maximize <C, K>     subject to  K psd, K 1 = 0, K_ii + K_jj - 2 K_ij = d_e  (a cap: <= d_e)
    minimize y.d        subject to  L(y) - C psd on the complement of 1, y >= 0 on caps

with L(y) = sum_e y_e (e_i - e_j) (e_i - e_j)^T. Any feasible y bounds every feasible K, and the two
optima are equal if edges and caps connect all points. Both are solved together by an interior point
method. Every edge is a matrix of rank one, f_e f_e^T, so the linear system of a step is an
entrywise product, (F K F^T) * (F S^-1 F^T) for S = L(y) - C and f_e the rows of F.

Edges may leave no interior: five points in space that are all neighbors of one another have
R^T u = 0 for some u and every R, and multipliers grow without bound. K = V Z V^T with V orthogonal
to all such u has an interior again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, null_space, solve_triangular
from scipy.linalg.lapack import dpstrf
from sklearn.exceptions import ConvergenceWarning

from labelfold.exceptions import InputError, warn_user
from labelfold.progress import Progress, report_nothing
from labelfold.solvers.lowrank.distances import DistanceProblem, edge_laplacian
from labelfold.threads import limit_threads

__all__ = ["LARGEST", "LARGEST_EDGES", "ConicSolution", "solve_conic"]

Array = NDArray[np.float64]
Pairs = NDArray[np.intp]

# Largest sizes that can be trusted, see solve_conic.
LARGEST, LARGEST_EDGES = 400, 3000  # points; edges and caps
N_STEPS = 100  # interior point steps at most
PATIENCE = 8  # steps without progress after which rounding errors dominate
TO_BOUNDARY = 0.9  # share of the way to the cone's boundary that a step goes
DEPENDENT = 1e-10  # squared sine below which an edge follows from others
FLAT = 1e-12  # relative eigenvalue of a clique's Gram matrix that counts as 0
CONTRADICTION = 1e-6  # relative excess of a length over what the others allow
NOT_DISTANCES = "squares are not the squared distances of any points: "


@dataclass(frozen=True, eq=False)
class ConicSolution:
    """A Gram matrix, multipliers, and how far apart their values are."""

    # R with R R^T = K: principal coordinates, longest first, the largest entry of each positive.
    factor: Array = field(repr=False)
    multipliers: Array = field(repr=False)  # y; nonnegative on caps
    # Rows u with R^T u = 0 for every R that keeps the distances. L(y) - C is positive semidefinite
    # on the complement of these and of 1.
    dependencies: Array = field(repr=False)
    value: float  # <C, K>
    # Upper bound on <C, K> for any K that keeps the distances: y.d, plus the largest trace of such
    # a K times what L(y) - C lacks of being positive semidefinite.
    bound: float
    gap: float  # (bound - value) / value; negative only as far as K violates its edges
    violation: float  # largest of an edge or cap, in units of the median of d
    status: str  # "optimal" if gap and violation are within tol, else "stalled"
    n_iter: int

    @property
    def gram(self) -> Array:
        """K, centered and positive semidefinite."""
        return np.asarray(self.factor @ self.factor.T)


def solve_conic(
    problem: DistanceProblem, *, tol: float = 1e-7, progress: Progress = report_nothing
) -> ConicSolution:
    """Maximize <C, K> over Gram matrices, for up to 400 points.

    Parameters
    ----------
    problem : DistanceProblem
        Up to 400 points, connected by up to 3,000 edges and caps, without sides, which are about R.
    tol : float, default=1e-7
        Goal for gap and violation. If edges leave K no interior, rounding may end the iteration
        first; a ``ConvergenceWarning`` then gives the numbers.
    progress : Progress, default=report_nothing
        Called at every step.

    Raises
    ------
    InputError
        If the problem is too large, has sides, has nothing to maximize or no bound, or if no K
        keeps the distances.

    Notes
    -----
    A step costs O(m^3 + m^2 n + n^3) for m edges and caps, memory O(m^2). Which sizes can be
    trusted was measured on neighbor graphs of a Swiss roll and of images of digits:

    - Up to 100 points with up to 5 neighbors each, gap and violation stay below 6e-5; up to 400
      points below 5e-4, in 10 seconds. Images end at 1e-8 with any number of neighbors.
    - With 6 to 8 neighbors on a sheet, larger parts than single cliques are rigid. From about 100
      points on, one solve in ten ends with a gap of 0.1 % to 16 %, often negative: ``status`` is
      "stalled", and the certificate of an estimator is not ok. Trust the value only if the gap is
      small; otherwise use the low-rank solver.
    - Above 400 points or 3,000 edges, rounding errors dominate and a solve takes a minute or more:
      such problems raise ``InputError``.
    """
    _check(problem)
    n = problem.n_points
    # A cap of 0 is an edge.
    scaled, unit = replace(problem, is_cap=problem.caps & (problem.squares > 0)).scaled()
    paths = _shortest_paths(scaled)
    largest_trace = float(np.sum(paths**2)) / (2 * n)
    U = _dependencies(scaled)
    V = null_space(np.vstack([np.ones(n), U]), rcond=1e-9)
    C = V.T @ scaled.spread.matrix(n) @ V
    weight = (float(np.linalg.norm(C, 2)) if C.size else 0.0) or 1.0
    with limit_threads(1, user_api="blas"):  # two are four times slower at 200 points
        Z, y, n_iter = _interior_point(scaled, V, C / weight, largest_trace, tol, progress)

    L = edge_laplacian(n, scaled.edges, y)
    S = V.T @ L @ V - C / weight
    # Eigenvalues are only accurate to the rounding of L, whose entries reach 1e7 on rigid graphs:
    # without this allowance the bound could be too low.
    rounding = np.finfo(np.float64).eps * float(abs(L).sum(axis=0).max())
    least = np.min(np.linalg.eigvalsh(S), initial=0.0) - rounding
    bound = float(y @ scaled.squares - largest_trace * least)
    if bound < -CONTRADICTION * np.abs(y) @ scaled.squares:
        raise InputError(
            f"{NOT_DISTANCES}they contradict each other. Check them, or turn some edges into caps."
        )
    R = _principal(V @ Z @ V.T, tol / 10)
    value = scaled.spread.value(R) / weight
    gap = (bound - value) / (value or 1.0)
    violation = float(np.max(np.abs(scaled.violations(R)), initial=0.0))
    is_good = abs(gap) <= tol and violation <= tol
    if not is_good:
        warn_user(
            f"The conic solver stalled after {n_iter} steps: gap {gap:.1e} between value and "
            f"bound, edges violated by up to {violation:.1e} of the median square (asked "
            f"{tol:.0e}).",
            ConvergenceWarning,
        )
    return ConicSolution(
        factor=unit * R,
        multipliers=weight * y,
        dependencies=U,
        value=unit**2 * weight * value,
        bound=unit**2 * weight * bound,
        gap=gap,
        violation=violation,
        status="optimal" if is_good else "stalled",
        n_iter=n_iter,
    )


def _check(problem: DistanceProblem) -> None:
    n, m = problem.n_points, len(problem.edges)
    if len(problem.sides):
        raise InputError(
            'solver="conic" works on R R^T and can\'t hold sides of R: use solver="lowrank".'
        )
    for count, what, most in [(n, "points", LARGEST), (m, "edges and caps", LARGEST_EDGES)]:
        if count > most:
            raise InputError(
                f'solver="conic" can be trusted up to {most} {what}, got {count}: use '
                'solver="lowrank".'
            )
    if problem.spread.is_zero:
        raise InputError('without a spread there is nothing to maximize: use solver="lowrank".')
    problem.check_bounded()


def _shortest_paths(problem: DistanceProblem) -> Array:
    """Return the largest distance that edges and caps allow between any two points."""
    n = problem.n_points
    i, j = problem.edges.T
    lengths = np.sqrt(problem.squares)
    paths = np.full((n, n), np.inf)
    np.fill_diagonal(paths, 0)
    np.minimum.at(paths, (np.append(i, j), np.append(j, i)), np.append(lengths, lengths))
    for k in range(n):  # not SciPy's, which takes small lengths for missing edges
        np.minimum(paths, paths[:, [k]] + paths[k], out=paths)
    excess = np.where(problem.caps, 0, lengths - paths[i, j])
    if np.max(excess, initial=0.0) > CONTRADICTION * np.max(lengths, initial=0.0):
        e = int(np.argmax(excess))
        raise InputError(
            f"{NOT_DISTANCES}edge ({i[e]}, {j[e]}) is longer than a path between its ends, which "
            f"has {paths[i[e], j[e]] / lengths[e]:.3g} of its length. Check it, or turn it into a "
            "cap."
        )
    return paths


def _dependencies(problem: DistanceProblem) -> Array:
    """Return rows u with R^T u = 0 for every R that keeps the distances.

    Edges among the points of a clique give their Gram matrix, and u are its null vectors. One
    clique is grown around every edge that is in no clique yet.
    """
    numbers = {
        (min(i, j), max(i, j)): e
        for e, (i, j) in enumerate(problem.edges.tolist())
        if not problem.caps[e]
    }
    neighbors: list[set[int]] = [set() for _ in range(problem.n_points)]
    for i, j in numbers:
        neighbors[i].add(j)
        neighbors[j].add(i)
    rows, done = [], set[tuple[int, int]]()
    for i, j in numbers:
        if (i, j) in done:
            continue
        clique, common = [i, j], neighbors[i] & neighbors[j]
        while common:
            clique.append(max(common, key=lambda v: (len(common & neighbors[v]), -v)))
            common &= neighbors[clique[-1]]
        clique.sort()
        pairs = [(a, b) for k, a in enumerate(clique) for b in clique[k + 1 :]]
        done.update(pairs)
        squares = np.zeros((len(clique), len(clique)))
        squares[np.triu_indices(len(clique), 1)] = problem.squares[[numbers[p] for p in pairs]]
        squares += squares.T
        gram = (squares[1:, :1] + squares[:1, 1:] - squares[1:, 1:]) / 2  # from the first point
        eigenvalues, vectors = np.linalg.eigh(gram)
        if eigenvalues[0] < -CONTRADICTION * eigenvalues[-1]:
            raise InputError(
                f"{NOT_DISTANCES}those among points {clique} contradict each other. Check them, "
                "or turn some edges into caps."
            )
        for vector in vectors.T[eigenvalues <= FLAT * eigenvalues[-1]]:
            u = np.zeros(problem.n_points)
            u[clique] = np.append(-vector.sum(), vector)
            rows.append(u)
    return np.array(rows).reshape(-1, problem.n_points)


def _interior_point(
    problem: DistanceProblem, V: Array, C: Array, trace: float, tol: float, progress: Progress
) -> tuple[Array, Array, int]:
    """Return Z, y and the number of steps.

    Mehrotra's predictor and corrector along the direction of Helmberg, Kojima and Monteiro. A cap
    is an edge with a slack x >= 0: y x = mu goes with S Z = mu I.
    """
    n = V.shape[1]
    i, j = problem.edges.T
    F = V[i] - V[j]
    kept = _independent(F, problem.caps)
    y = np.zeros(len(problem.edges))
    if not len(kept):
        return np.zeros((n, n)), y, 0
    F, d, caps = F[kept], problem.squares[kept], np.flatnonzero(problem.caps[kept])
    Z, S, x = trace / n * np.eye(n), 100 * np.eye(n), d[caps]
    w = np.zeros(len(kept))
    w[caps] = 1.0
    best = (np.inf, Z, 0)
    for step in range(N_STEPS):
        h = d - np.einsum("ei,ei->e", F @ Z, F)
        h[caps] -= x
        off = (F.T * w) @ F - C - S
        value, bound = np.sum(C * Z), w @ d
        errors = (abs(bound - value) / (value or 1.0), np.abs(h).max(), np.abs(off).max())
        progress("conic", step, N_STEPS, note=f"gap {errors[0]:.1e}, edges {errors[1]:.1e}")
        if max(errors) < best[0]:
            best = (max(errors), Z, step)
        if best[0] < tol / 10 or step - best[2] > PATIENCE:
            break
        if errors[2] < tol and bound < -1:  # no K at all, since <C, K> >= 0
            break
        try:
            newton = _Newton(F, caps, Z, w, S, x, h, off)
            mu = newton.mu
            dZ, dw, dS, dx = newton.direction(0.0)
            a, b = _length(Z, dZ, x, dx), _length(S, dS, w[caps], dw[caps])
            ahead = np.sum((Z + a * dZ) * (S + b * dS)) + (x + a * dx) @ (w + b * dw)[caps]
            ahead /= n + len(caps)
            sigma = max((ahead / mu) ** 2, 1e-3) if min(a, b) > 0.1 else 0.5
            dZ, dw, dS, dx = newton.direction(sigma * mu, dZ @ dS, dx * dw[caps])
            a, b = _length(Z, dZ, x, dx), _length(S, dS, w[caps], dw[caps])
        except np.linalg.LinAlgError:  # rounding made a matrix indefinite
            break
        Z, x, w, S = Z + a * dZ, x + a * dx, w + b * dw, S + b * dS
    y[kept] = w  # the last w has the least bound, though the best Z may be an earlier one
    return best[1], y, step


class _Newton:
    """The linear system of a step, for several right-hand sides."""

    def __init__(
        self, F: Array, caps: Pairs, Z: Array, w: Array, S: Array, x: Array, h: Array, off: Array
    ) -> None:
        self.F, self.caps, self.Z, self.w, self.x, self.h, self.off = F, caps, Z, w[caps], x, h, off
        self.mu = float(np.sum(Z * S) + x @ self.w) / (len(Z) + len(caps))
        half = solve_triangular(cholesky(S, lower=True), np.eye(len(S)), lower=True)
        self.inverse = half.T @ half
        half = F @ half.T
        M = (F @ Z @ F.T) * (half @ half.T)
        M[caps, caps] += x / self.w
        self.scale = 1 / np.sqrt(np.diag(M))
        self.factor = _regular_factor((M + M.T) / 2 * self.scale * self.scale[:, None])

    def direction(
        self, mu: float, second: Array | float = 0.0, second_x: Array | float = 0.0
    ) -> tuple[Array, Array, Array, Array]:
        """Return the step to S Z = mu I, given terms of second order."""
        F, Z = self.F, self.Z
        base = (mu * np.eye(len(Z)) - second - Z @ self.off) @ self.inverse - Z
        base_x = (mu - second_x) / self.w - self.x
        dw, dZ, dx, dL = np.zeros(len(F)), base, base_x, np.zeros_like(Z)
        for _ in range(2):  # the second time for rounding and the added diagonal
            miss = np.einsum("ei,ei->e", F @ dZ, F) - self.h
            miss[self.caps] += dx
            dw = dw + self.scale * cho_solve(self.factor, self.scale * miss)
            dL = (F.T * dw) @ F
            dZ = base - Z @ dL @ self.inverse
            dx = base_x - self.x * dw[self.caps] / self.w
        return (dZ + dZ.T) / 2, dw, dL + self.off, dx


def _regular_factor(M: Array) -> tuple[Array, bool]:
    """Return the Cholesky factor of M, with as little added to the diagonal as necessary."""
    for added in [1e-15, 1e-13]:
        try:
            return cho_factor(M + added * np.eye(len(M)))
        except np.linalg.LinAlgError:
            pass
    return cho_factor(M + 1e-11 * np.eye(len(M)))


def _length(A: Array, dA: Array, x: Array, dx: Array) -> float:
    """Return the step length, at most 1, that keeps A positive definite and x positive."""
    L = cholesky(A, lower=True)
    scaled = solve_triangular(L, solve_triangular(L, dA, lower=True).T, lower=True)
    least = eigh((scaled + scaled.T) / 2, eigvals_only=True, subset_by_index=[0, 0])[0]
    least = min(least, np.min(dx / x, initial=0.0))
    return float(min(1.0, -TO_BOUNDARY / least)) if least < 0 else 1.0


def _independent(F: Array, caps: NDArray[np.bool_]) -> Pairs:
    """Return edges that imply the others, and all caps; without those whose ends must coincide.

    With edges that follow from others, multipliers would drift until y.d is lost in rounding.
    """
    lengths = np.einsum("ei,ei->e", F, F)
    distinct = np.flatnonzero(lengths > FLAT)
    edges = distinct[~caps[distinct]]
    if not len(edges):
        return distinct
    unit = F[edges] / np.sqrt(lengths[edges])[:, None]
    _, order, rank, _ = dpstrf((unit @ unit.T) ** 2, tol=DEPENDENT)
    return np.sort(np.concatenate([edges[order[:rank] - 1], distinct[caps[distinct]]]))


def _principal(K: Array, least: float) -> Array:
    """Return R with R R^T = K, without eigenvalues below the least."""
    eigenvalues, vectors = np.linalg.eigh(K)
    keep = np.flatnonzero(eigenvalues > least)[::-1]
    R = vectors[:, keep] * np.sqrt(eigenvalues[keep])
    leading = np.argmax(np.abs(R), axis=0)
    return np.asarray(R * np.sign(R[leading, np.arange(len(keep))]))
