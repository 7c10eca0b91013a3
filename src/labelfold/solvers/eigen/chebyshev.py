"""Chebyshev-filtered subspace iteration: many top eigenpairs, for a spectrum in [-1, 1].

A block of vectors is multiplied by a Chebyshev polynomial of the operator that stays small on
[floor, bound] and grows above it. Then the block is orthonormalized and rotated to Ritz vectors,
the converged ones are locked, and the others go on. A block sees all copies of a repeated
eigenvalue, and a polynomial of degree m resolves a gap g as fast as exp(m sqrt(g)), where a
restarted Lanczos iteration stalls.

Three things make it fast: the bound is known before the first filter, from the density of the
spectrum; the first filters need no Ritz vectors, only a well-conditioned block; and filters may
work in float32, since they only improve the block, whose accuracy is measured in float64.

Results have the same bits for any number of threads. BLAS in several threads splits sums by their
number; here tall blocks are cut into parts by their shapes alone, each part is computed by BLAS in
one thread, and the threads are ours.

A run that was stopped goes on from its last checkpoint, which is saved before some panel of columns
is filtered or after the last one: the block as it is there, what is locked, and the filter.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh, eigh_tridiagonal, solve_triangular

from labelfold.checkpoint_folder import load_state, once, save_state
from labelfold.progress import Progress, report_nothing
from labelfold.solvers.certificates import pair_tolerances
from labelfold.solvers.eigen.operator import (
    ChebyshevFilter,
    LaplacianOperator,
    measure_residuals,
)
from labelfold.threads import for_each, limit_threads, thread_limit

__all__ = ["inner_products", "top_eigenpairs"]

Array = NDArray[np.float64]
Block = NDArray[Any]  # float32 or float64

MAX_FILTERS = 100  # stop then, converged or not
MARGIN, SPARE = 0.15, 20  # extra columns of the block: a share of the wanted ones, plus a number
# More of them if the wanted values are the first of many that lie close together, as those of
# clusters do: a filter has to part the wanted values from what the block does not hold.
MOST_EXTRA, EXTRA_ENTRIES = 400, 2**26  # columns, and their entries: half a gigabyte
LEAST_GAIN = 0.7  # share of the work that is left with them
CLOSE = 1e-12  # distance at which values are the same, in half the spectrum's width
N_OPENING, OPENING_GROWTH = 3, 3e4  # filters of a random block; more growth would cost it its rank
GROWTH = {np.dtype(np.float32): 3e4, np.dtype(np.float64): 1e7}  # of one filter on Ritz vectors
SINGLE_PRECISION = 1e-5  # residual that float32 reaches easily
LONG = 200_000  # nodes from which a block that need not be more accurate is kept in float32
SAFETY = 3.0  # factor by which the last filter overshoots the tolerance
STALLED, WIDEN = 0.5, 10.0  # a filter that leaves more of a residual moves the bound down by WIDEN
LOCK = 0.1  # share of the tolerance at which a pair is locked
FEW_VECTORS = 32  # up to which products with a sparse matrix are slower than with a dense one
COMPILE_ENTRIES = 1_000_000  # of the block, from which the compiled kernel pays
# Of the density's estimate: vectors, steps, and the length of a direction that is only rounding.
N_VECTORS, N_STEPS, BREAKDOWN = 4, 80, 1e-10
ROWS, COLUMNS = 4096, 256  # of a part of a tall block
# Pivots of a Cholesky factor of unit columns: below the first more than half of the digits are
# lost, from the second on one pass leaves columns orthonormal to twelve digits.
SAFE_PIVOT, ACCURATE_PIVOT = 1e-5, 0.05
LARGEST_LOSS = 1e-12  # eigenvalue of the Gram matrix, relative to the largest, that is rounding


def top_eigenpairs(
    operator: LaplacianOperator,
    n_pairs: int,
    *,
    known: Any,
    tol: float,
    progress: Progress = report_nothing,
) -> tuple[Array, Array]:
    """Return the top eigenpairs, largest first.

    Memory: a block of ``1.15 n_pairs + 20`` columns in float64, or in float32 if vectors are long
    and the tolerance allows it; for a while another in float32; two panels of columns; and the
    vectors that are returned, of the block's type.

    Parameters
    ----------
    operator : LaplacianOperator
        With its spectrum in [-1, 1].
    n_pairs, known, tol
        As for :func:`.lanczos.top_eigenpairs`.
    progress : Progress
        Called after every filter with the number of converged pairs and the largest residual.
    """
    n_threads = thread_limit()
    with limit_threads(1, user_api="blas"):
        return _SubspaceIteration(operator, n_pairs, known, tol, n_threads, progress).run()


class _SubspaceIteration:
    """The state of one solve: locked pairs, and the block that is still at work."""

    def __init__(
        self,
        operator: LaplacianOperator,
        n_pairs: int,
        known: Any,
        tol: float,
        n_threads: int,
        progress: Progress,
    ) -> None:
        if not isinstance(known, np.ndarray) and known.shape[1] <= FEW_VECTORS:
            known = known.toarray()
        self._operator, self._known, self._tol = operator, known, tol
        self._n_threads, self._progress = n_threads, progress
        self._n_pairs, self._n_locked = n_pairs, 0
        self._mu = np.empty(n_pairs)
        self._n_values = operator.size - known.shape[1]
        # Distance from the least wanted value to the bound, if n_pairs cuts through more copies of
        # an eigenvalue than the block holds.
        self._setback = 0.0
        self._rng = np.random.default_rng(1)
        if operator.size * (n_pairs + SPARE) >= COMPILE_ENTRIES:
            operator.compile(n_threads)
        self._density = self._find_density()
        self._floor = max(self._density.floor, -1.0)
        self._n_block = self._choose_block()
        is_single = operator.is_compiled and operator.size >= LONG and tol >= SINGLE_PRECISION
        self._dtype: Any = np.dtype(np.float32 if is_single else np.float64)
        # Locked vectors, followed by those that are still at work.
        self._block = np.empty((operator.size, self._n_block), dtype=self._dtype)
        self._n_opening, self._n_filters, self._shortfall = 0, 0, np.inf

    def run(self) -> tuple[Array, Array]:
        state = load_state()
        X = self._random_block() if state is None else self._resume(state)
        if self._n_filters == 0:
            X = self._open(X)
        while True:
            mu, X = self._to_ritz_vectors(X)
            wanted = mu[: self._n_wanted]
            residuals = measure_residuals(self._operator, wanted, X)
            shortfalls = residuals / self._tolerances(wanted)  # converged up to 1
            worst = float(shortfalls.max())
            self._report(shortfalls)
            if worst <= 1 or self._n_filters == MAX_FILTERS:
                break
            if worst > STALLED * self._shortfall:
                self._step_back(wanted[-1])
            self._shortfall = worst
            n_converged = int(np.argmax(shortfalls > LOCK))
            X = self._lock(mu, X, n_converged)
            self._n_filters += 1
            self._filter(mu[n_converged:], X, worst)
        self._lock(mu, X, self._n_wanted)
        order = np.argsort(-self._mu, kind="stable")  # a late one may precede some locked earlier
        return self._mu[order], self._block[:, order]

    @property
    def _n_wanted(self) -> int:
        """Number of pairs that are not locked yet."""
        return self._n_pairs - self._n_locked

    def _choose_block(self) -> int:
        """Return the number of columns with the least work: columns times degree of a filter."""
        least = self._n_pairs + int(MARGIN * self._n_pairs) + SPARE
        if least >= self._n_values:
            return self._n_values
        extra = min(MOST_EXTRA, EXTRA_ENTRIES // self._operator.size)
        sizes = np.arange(least, min(least + extra, self._n_values - 1) + 1)
        top = self._density.value_at(self._n_pairs)
        # The density counts to about a tenth: so much more is held for sure.
        ranks = sizes / (1 + MARGIN)
        bounds = np.minimum([self._density.value_at(rank) for rank in ranks], top)
        # A Chebyshev polynomial grows at the top by exp(degree * rate).
        widths = np.maximum(bounds - self._floor, CLOSE)
        rates = np.arccosh(1 + 2 * (top - bounds) / widths + CLOSE)
        work = sizes / rates
        best = int(work.argmin())
        return int(sizes[best] if work[best] < LEAST_GAIN * work[0] else least)

    def _tolerances(self, mu: Array) -> Array:
        return pair_tolerances(mu, self._tol, self._dtype)

    def _step_back(self, least_wanted: float) -> None:
        """Let the next filter grow from farther below the least wanted value."""
        first = float(self._tolerances(np.array([least_wanted]))[0])
        self._setback = WIDEN * self._setback or first
        if self._setback > 1 - least_wanted:
            self._setback = first

    def _report(self, shortfalls: Array) -> None:
        n_converged = self._n_locked + int(np.sum(shortfalls <= 1))
        note = f"residual {self._tol * shortfalls.max():.1e}"
        self._progress("eigenpairs", n_converged, self._n_pairs, note=note)

    def _find_density(self) -> _Density:
        operator = self._operator

        def estimate() -> tuple[Array, ...]:
            found = _estimate_density(operator, self._known, self._n_values, self._n_threads)
            return found.nodes, found.counts, np.array([found.floor, operator.n_products])

        nodes, counts, (floor, n_products) = once("density", estimate, passing=True)
        operator.n_products = int(n_products)
        return _Density(nodes, counts, float(floor))

    def _random_block(self) -> Block:
        dtype: Any = np.dtype(np.float32 if self._operator.is_compiled else np.float64)
        block = self._block if dtype == self._dtype else np.empty(self._block.shape, dtype)
        self._rng.standard_normal(dtype=dtype, out=block)
        return block

    def _open(self, X: Block) -> Block:
        """Overwrite a random block with one that is rich in the wanted vectors."""
        n_filters = N_OPENING if self._operator.is_compiled else 1
        if self._n_block == self._n_values:
            n_filters = 0  # the block is the whole space
        bound = self._density.value_at(self._n_block)
        chebyshev = ChebyshevFilter.growing(
            bound, floor=self._floor, top=1.0, growth=OPENING_GROWTH
        )
        remove(X, self._known, self._n_threads)
        while self._n_opening < n_filters:
            if self._n_opening > 0:
                X = orthonormalize(X, self._n_threads, accurate=False)
            self._n_opening += 1
            self._apply(chebyshev, X, X.dtype)
            remove(X, self._known, self._n_threads)
        opened = self._block[:, : X.shape[1]]
        if not np.may_share_memory(X, opened):
            opened[:] = X
        return opened

    def _to_ritz_vectors(self, X: Block) -> tuple[Array, Block]:
        """Return Ritz values in descending order, and overwrite the block with Ritz vectors."""
        X = self._orthonormal(X)
        H = np.empty((X.shape[1], X.shape[1]))
        panel = self._operator.panel(X.dtype)
        for first in range(0, X.shape[1], panel):
            columns = slice(first, first + panel)
            H[:, columns] = inner_products(X, self._operator(X[:, columns]), self._n_threads)
        values, rotation = eigh((H + H.T) / 2, driver="evd")
        return values[::-1], rotate(X, rotation[:, ::-1], self._n_threads)

    def _orthonormal(self, X: Block) -> Block:
        """Overwrite the block with an orthonormal one, orthogonal to known and locked vectors."""
        while True:
            self._remove_known(X)
            X = orthonormalize(X, self._n_threads, accurate=True)
            self._remove_known(X)  # again, as rounding brings some back
            if X.shape[1] >= self._n_wanted:
                return X
            missing = self._block[:, self._n_locked + X.shape[1] :]
            missing[:] = self._rng.standard_normal(missing.shape, dtype=self._dtype)
            X = self._block[:, self._n_locked :]

    def _remove_known(self, X: Block) -> None:
        remove(X, self._known, self._n_threads)
        remove(X, self._block[:, : self._n_locked], self._n_threads)

    def _lock(self, mu: Array, X: Block, n_converged: int) -> Block:
        """Lock the first pairs, and return the rest of the block."""
        self._mu[self._n_locked : self._n_locked + n_converged] = mu[:n_converged]
        self._n_locked += n_converged
        return X[:, n_converged:]

    def _filter(self, mu: Array, X: Block, shortfall: float) -> None:
        """Filter the block as far as its largest residual requires and its rank allows."""
        least_wanted = mu[self._n_wanted - 1]
        # Ritz values lie below their eigenvalues: the least of them is a safe bound, and the
        # density's estimate a sharper one if it is below all wanted values.
        bound = max(mu[-1], self._density.value_at(self._n_block))
        if bound >= least_wanted:
            bound = mu[-1]
        bound = min(bound, least_wanted - self._setback)
        asked = self._tolerances(mu[: self._n_wanted]).min()
        # Early filters need not be more accurate than they bring the block to be.
        reached = max(asked, asked * shortfall / GROWTH[np.dtype(np.float32)])
        is_single = self._operator.is_compiled and reached >= SINGLE_PRECISION
        dtype: np.dtype[Any] = np.dtype(np.float32) if is_single else self._dtype
        # The most a filter may grow at a value: beyond, the block would lose rank, rounding would
        # bring back locked vectors and drown the others, or accuracy would exceed the tolerance.
        goals = (
            (mu[0], GROWTH[dtype]),
            (1.0, GROWTH[dtype] / np.finfo(dtype).eps),
            (least_wanted, SAFETY * shortfall),
        )
        filters = [
            ChebyshevFilter.growing(bound, floor=self._floor, top=top, growth=growth)
            for top, growth in goals
        ]
        chebyshev = min(filters, key=lambda f: f.degree)
        self._apply(chebyshev, X, dtype)

    def _apply(
        self, chebyshev: ChebyshevFilter, X: Block, dtype: np.dtype[Any], n_done: int = 0
    ) -> None:
        """Overwrite the block with the filter's product, but for the columns that have it."""

        def state(n_done: int) -> dict[str, Any]:
            return {
                "block": X,
                "vectors": self._block[:, : self._n_locked],
                "values": self._mu[: self._n_locked],
                "filter": [chebyshev.floor, chebyshev.bound, chebyshev.degree],
                "is_single": dtype == np.float32,
                "n_done": n_done,
                "n_steps": [self._n_opening, self._n_filters, self._operator.n_products],
                "shortfall": [self._shortfall, self._setback],
                "random": json.dumps(self._rng.bit_generator.state),
            }

        panel = self._operator.panel(dtype)
        for first in range(n_done, X.shape[1], panel):
            save_state(partial(state, first))
            self._operator.filter(chebyshev, X[:, first : first + panel], dtype)
        save_state(partial(state, X.shape[1]))

    def _resume(self, state: dict[str, NDArray[Any]]) -> Block:
        """Go back to a state that was saved, and return its block with the filter applied.

        Its large arrays are taken out of it, so that they do not stay in memory.
        """
        X = state.pop("block")
        self._n_locked = len(state["values"])
        self._mu[: self._n_locked] = state["values"]
        self._block[:, : self._n_locked] = state.pop("vectors")
        self._n_opening, self._n_filters, self._operator.n_products = state["n_steps"].tolist()
        self._shortfall, self._setback = state["shortfall"].tolist()
        self._rng.bit_generator.state = json.loads(str(state["random"]))
        floor, bound, degree = state["filter"].tolist()
        dtype: np.dtype[Any] = np.dtype(np.float32 if state["is_single"] else np.float64)
        if self._n_filters > 0:
            place = slice(self._n_locked, self._n_locked + X.shape[1])
            self._block[:, place] = X
            X = self._block[:, place]
        n_done = int(state["n_done"])
        self._apply(ChebyshevFilter(floor, bound, int(degree)), X, dtype, n_done)
        return X


@dataclass(frozen=True, eq=False)
class _Density:
    """Estimates of how many eigenvalues are at least as large as each node, nodes descending."""

    nodes: Array
    counts: Array
    floor: float  # no eigenvalue is much smaller

    def value_at(self, rank: float) -> float:
        """Return an estimate of the eigenvalue of this rank, the largest being the first."""
        return float(np.interp(rank, self.counts, self.nodes))


def _estimate_density(
    operator: LaplacianOperator, known: Any, n_values: int, n_threads: int
) -> _Density:
    """Estimate the density of ``n_values`` eigenvalues by stochastic Lanczos quadrature.

    A few Lanczos steps from a random vector v give nodes and weights of a quadrature with respect
    to the measure sum_i (u_i^T v)^2 at the eigenvalues. Averaged over some vectors, the weights
    times the number of eigenvalues estimate how many there are near each node.
    """
    V = np.random.default_rng(2).standard_normal((operator.size, N_VECTORS))
    remove(V, known, n_threads)
    V /= np.linalg.norm(V, axis=0)
    before, beta = np.zeros_like(V), np.zeros(N_VECTORS)
    diagonal, off_diagonal = [], []
    # Without reorthogonalization: copies of a value share its weight.
    for _ in range(min(N_STEPS, n_values)):
        following = operator(V)
        following -= beta * before
        alpha = np.einsum("ij,ij->j", following, V)
        following -= alpha * V
        remove(following, known, n_threads)
        beta = np.linalg.norm(following, axis=0)
        diagonal.append(alpha)
        off_diagonal.append(beta)
        if beta.min() < BREAKDOWN:  # an invariant subspace
            break
        before, V = V, following / beta
    nodes, weights, floors = [], [], []
    for alpha, beta in zip(np.array(diagonal).T, np.array(off_diagonal).T, strict=True):
        values, vectors = eigh_tridiagonal(alpha, beta[:-1])
        nodes.append(values)
        weights.append(vectors[0] ** 2)
        floors.append(values[0] - beta[-1] * abs(vectors[-1, 0]))
    together: Array = np.concatenate(nodes)
    order = np.argsort(-together)
    counts = np.cumsum(np.concatenate(weights)[order]) * n_values / N_VECTORS
    return _Density(together[order], counts, float(min(floors)))


def inner_products(X: Block, Y: Block, n_threads: int, *, symmetric: bool = False) -> Array:
    """Return X^T Y, summed in float64; if it is known to be symmetric, compute half of it."""
    n, n_columns = Y.shape
    G = np.zeros((X.shape[1], n_columns))

    def fill(first: int) -> None:
        columns = slice(first, first + COLUMNS)
        rows = slice(0, min(first + COLUMNS, n_columns) if symmetric else X.shape[1])
        for start in range(0, n, ROWS):
            part = slice(start, start + ROWS)
            left = X[part, rows].astype(np.float64, copy=False)
            G[rows, columns] += left.T @ Y[part, columns].astype(np.float64, copy=False)

    # If the result is symmetric, the last columns take longest: they come first.
    for_each(fill, reversed(range(0, n_columns, COLUMNS)), n_threads)
    if symmetric:
        G = np.triu(G)
        G += np.triu(G, 1).T
    return G


def rotate(X: Block, rotation: Block, n_threads: int) -> Block:
    """Overwrite the first columns of X with X times a matrix, and return these columns.

    Products are computed in the type of the matrix.
    """
    n_kept = rotation.shape[1]

    def turn(start: int) -> None:
        rows = slice(start, start + ROWS)
        X[rows, :n_kept] = X[rows].astype(rotation.dtype, copy=False) @ rotation

    for_each(turn, range(0, len(X), ROWS), n_threads)
    return X[:, :n_kept]


def remove(X: Block, basis: Any, n_threads: int) -> None:
    """Make X orthogonal to the orthonormal columns of a dense or sparse basis, in place."""
    if basis.shape[1] == 0:
        return
    if isinstance(basis, np.ndarray):
        shares = inner_products(basis, X, n_threads)
    else:
        shares = np.zeros((basis.shape[1], X.shape[1]))
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            shares += basis[rows].T @ X[rows].astype(np.float64, copy=False)

    def subtract(start: int) -> None:
        rows = slice(start, start + ROWS)
        X[rows] -= np.asarray(basis[rows] @ shares)

    for_each(subtract, range(0, len(X), ROWS), n_threads)


def orthonormalize(X: Block, n_threads: int, *, accurate: bool) -> Block:
    """Overwrite X with an orthonormal basis of its columns' span, and return it as a view of X.

    A filter leaves columns so nearly parallel that the Cholesky factor of their Gram matrix may
    break down. It is used if its pivots are safe; otherwise the eigenvectors of the Gram matrix
    take its place, without those that are rounding, and a second pass follows. Unless ``accurate``,
    the basis need only be well-conditioned.
    """
    for _ in range(3):
        if X.shape[1] == 0:
            break
        G = inner_products(X, X, n_threads, symmetric=True)
        lengths = np.sqrt(np.diagonal(G))
        scale = 1 / np.where(lengths > 0, lengths, np.inf)
        G *= scale
        G *= scale[:, None]
        rotation, pivot = _whitening(G)
        rotation = scale[:, None] * rotation
        X = rotate(X, rotation if accurate else rotation.astype(X.dtype), n_threads)
        if pivot >= (ACCURATE_PIVOT if accurate else SAFE_PIVOT):
            break
    return X


def _whitening(G: Array) -> tuple[Array, float]:
    """Return S with S^T G S = I on the range of G, and the least pivot; 0 if Cholesky failed."""
    try:
        R = cholesky(G)
        pivot = float(np.diagonal(R).min())
        if pivot >= SAFE_PIVOT:
            return solve_triangular(R, np.eye(len(R))), pivot
    except LinAlgError:
        pass
    values, vectors = eigh(G, driver="evd")
    kept = values > LARGEST_LOSS * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept]), 0.0
