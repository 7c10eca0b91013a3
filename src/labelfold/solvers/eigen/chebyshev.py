"""Chebyshev-filtered subspace iteration: many top eigenpairs, for a spectrum in [-1, 1].

A block of vectors is multiplied by a Chebyshev polynomial of the operator that stays small on
[floor, bound] and grows beyond it; then the block is orthonormalised and rotated to Ritz vectors,
those that have converged are locked, and so on with the others. A block sees all copies of a
repeated eigenvalue, and a polynomial of degree m narrows a gap g as fast as exp(m sqrt(g)), where a
restarted Lanczos iteration stalls.

What makes it quick: the bound is known before the first filter, from the spectrum's density; the
first filters need no Ritz vectors, only a well-conditioned block; and filters may work in float32,
since the block is all that they improve and what it is worth is measured in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigh_tridiagonal

from labelfold.progress import Progress, report_nothing
from labelfold.solvers.certificates import pair_tolerances
from labelfold.solvers.eigen.blocks import (
    inner_products,
    measure_residuals,
    orthonormalize,
    remove,
    rotate,
)
from labelfold.solvers.eigen.operator import ChebyshevFilter, LaplacianOperator
from labelfold.threads import limit_threads, thread_limit

__all__ = ["top_eigenpairs"]

Array = NDArray[np.float64]
Block = NDArray[Any]  # float32 or float64

MAX_FILTERS = 100  # after which to stop, converged or not
MARGIN, SPARE = 0.15, 20  # columns of the block beyond those wanted: a share of them, and a number
OPENING_GROWTH = 3e4  # of one filter from a random block: more would cost it its rank
N_OPENING = 3
GROWTH = {np.dtype(np.float32): 3e4, np.dtype(np.float64): 1e7}  # of one filter on Ritz vectors
SINGLE_PRECISION = 1e-5  # residual that float32 reaches with ease
SAFETY = 3.0  # by which a last filter overshoots the tolerance
STALLED = 0.5  # share of a residual that a filter leaves of it at the most
WIDEN = 10.0  # factor by which the bound steps back then
LOCK = 0.1  # share of the tolerance at which a pair is locked
FEW_VECTORS = 32  # up to which products with a sparse matrix are slower than with a dense one
PANEL = 256  # columns whose products with the operator are held at a time
COMPILE_ENTRIES = 1_000_000  # of the block, from which on the compiled kernel pays
# Of the density's estimate: vectors, steps, and the length of a direction that is mere rounding.
N_VECTORS, N_STEPS, BREAKDOWN = 4, 80, 1e-10


def top_eigenpairs(
    operator: LaplacianOperator,
    n_pairs: int,
    *,
    aside: Any,
    tol: float,
    progress: Progress = report_nothing,
) -> tuple[Array, Array]:
    """Return the top eigenpairs, largest first.

    Two blocks are held, of ``n_pairs`` and of ``1.15 n_pairs + 20`` columns in float64, for a while
    the latter in float32 too; and a few panels of columns a thread.

    Parameters
    ----------
    operator : LaplacianOperator
        The operator, with its spectrum in [-1, 1].
    n_pairs : int
        Number of pairs.
    aside : {ndarray, sparse array} of shape (n, n_known)
        Known eigenvectors, orthonormal, to which the wanted ones are orthogonal.
    tol : float
        Residual to reach.
    progress : Progress
        Called after every filter with the number of converged pairs and the largest residual.
    """
    n_threads = thread_limit()
    with limit_threads(1, user_api="blas"):
        return _SubspaceIteration(operator, n_pairs, aside, tol, n_threads, progress).run()


class _SubspaceIteration:
    """The state of one solve: locked pairs, and the block that is still at work."""

    def __init__(
        self,
        operator: LaplacianOperator,
        n_pairs: int,
        aside: Any,
        tol: float,
        n_threads: int,
        progress: Progress,
    ) -> None:
        if not isinstance(aside, np.ndarray) and aside.shape[1] <= FEW_VECTORS:
            aside = aside.toarray()
        self._operator, self._aside, self._tol = operator, aside, tol
        self._n_threads, self._progress = n_threads, progress
        self._n_pairs, self._n_locked = n_pairs, 0
        self._mu, self._U = np.empty(n_pairs), np.empty((operator.size, n_pairs))
        self._n_values = operator.size - aside.shape[1]
        self._n_block = min(self._n_values, n_pairs + int(MARGIN * n_pairs) + SPARE)
        # Of the bound, where the cut goes through more copies of an eigenvalue than a block holds.
        self._setback = 0.0
        self._rng = np.random.default_rng(1)
        if operator.size * self._n_block >= COMPILE_ENTRIES:
            operator.compile(n_threads)
        self._density = _estimate_density(operator, aside, self._n_values, n_threads)
        self._floor = max(self._density.floor, -1.0)

    def run(self) -> tuple[Array, Array]:
        X = self._opening_block()
        before = np.inf
        for step in range(MAX_FILTERS + 1):
            mu, X = self._to_ritz_vectors(X)
            # In units of the tolerance: 1 is good enough.
            wanted = mu[: self._n_wanted]
            residuals = measure_residuals(self._operator, wanted, X)
            shortfall = residuals / pair_tolerances(wanted, self._tol)
            self._report(shortfall)
            if shortfall.max() <= 1 or step == MAX_FILTERS:
                break
            if shortfall.max() > STALLED * before:
                self._step_back(mu[self._n_wanted - 1])
            before = shortfall.max()
            n_converged = int(np.argmax(shortfall > LOCK))
            X = self._lock(mu, X, n_converged)
            self._filter(mu[n_converged:], X, float(shortfall.max()))
        self._lock(mu, X, self._n_wanted)
        return self._sorted()

    @property
    def _n_wanted(self) -> int:
        """Number of pairs that are not locked yet."""
        return self._n_pairs - self._n_locked

    def _step_back(self, least_wanted: float) -> None:
        """Let the next filter grow from farther below what is wanted, up to twice its distance."""
        first = float(pair_tolerances(np.array([least_wanted]), self._tol)[0])
        self._setback = WIDEN * self._setback or first
        if self._setback > 1 - least_wanted:
            self._setback = first

    def _report(self, shortfall: Array) -> None:
        n_converged = self._n_locked + int(np.sum(shortfall <= 1))
        note = f"residual {self._tol * shortfall.max():.1e}"
        self._progress("eigenpairs", n_converged, self._n_pairs, note=note)

    def _opening_block(self) -> Array:
        """Return a block rich in the wanted vectors."""
        operator = self._operator
        dtype: Any = np.dtype(np.float32 if operator.is_compiled else np.float64)
        X = self._rng.standard_normal((operator.size, self._n_block), dtype=dtype)
        n_filters = N_OPENING if operator.is_compiled else 1
        if self._n_block == self._n_values:
            n_filters = 0  # the block is the whole space
        bound = self._density.value_at(self._n_block)
        chebyshev = ChebyshevFilter.growing(
            bound, floor=self._floor, top=1.0, growth=OPENING_GROWTH
        )
        remove(X, self._aside, self._n_threads)
        for step in range(n_filters):
            if step > 0:
                X = orthonormalize(X, self._n_threads, accurate=False)
            operator.filter(chebyshev, X, dtype)
            remove(X, self._aside, self._n_threads)
        return X.astype(np.float64)

    def _to_ritz_vectors(self, X: Array) -> tuple[Array, Array]:
        """Return Ritz values in descending order, and overwrite the block by Ritz vectors."""
        X = self._orthonormal(X)
        H = np.empty((X.shape[1], X.shape[1]))
        for first in range(0, X.shape[1], PANEL):
            columns = slice(first, first + PANEL)
            H[:, columns] = inner_products(X, self._operator(X[:, columns]), self._n_threads)
        values, rotation = eigh((H + H.T) / 2, driver="evd")
        return values[::-1], rotate(X, rotation[:, ::-1], self._n_threads)

    def _orthonormal(self, X: Array) -> Array:
        """Overwrite the block by an orthonormal one, orthogonal to all that is known."""
        n_columns = self._n_block - self._n_locked
        while True:
            self._remove_known(X)
            X = orthonormalize(X, self._n_threads, accurate=True)
            self._remove_known(X)  # what rounding brought back
            if X.shape[1] >= self._n_wanted:
                return X
            missing = (len(X), n_columns - X.shape[1])
            X = np.hstack([X, self._rng.standard_normal(missing)])

    def _remove_known(self, X: Block) -> None:
        remove(X, self._aside, self._n_threads)
        remove(X, self._U[:, : self._n_locked], self._n_threads)

    def _lock(self, mu: Array, X: Array, n_converged: int) -> Array:
        """Move the first pairs to those locked, and return the rest of the block."""
        place = slice(self._n_locked, self._n_locked + n_converged)
        self._mu[place] = mu[:n_converged]
        self._U[:, place] = X[:, :n_converged]
        self._n_locked += n_converged
        return X[:, n_converged:]

    def _sorted(self) -> tuple[Array, Array]:
        """Return all pairs; one that came late may belong before some that were locked."""
        order = np.argsort(-self._mu, kind="stable")
        if np.all(np.diff(order) > 0):
            return self._mu, self._U
        return self._mu[order], self._U[:, order]

    def _filter(self, mu: Array, X: Array, shortfall: float) -> None:
        """Filter the block as far as its largest residual asks for and its rank allows."""
        least_wanted = mu[self._n_wanted - 1]
        # Ritz values lie below the eigenvalues they stand for: the least of them is a safe bound,
        # the density's estimate a sharper one as long as it is below all that is wanted.
        bound = max(mu[-1], self._density.value_at(self._n_block))
        if bound >= least_wanted:
            bound = mu[-1]
        bound = min(bound, least_wanted - self._setback)
        asked = pair_tolerances(mu[: self._n_wanted], self._tol).min()
        is_single = self._operator.is_compiled and asked >= SINGLE_PRECISION
        dtype: np.dtype[Any] = np.dtype(np.float32 if is_single else np.float64)
        goals = (
            # Beyond it the block would lose rank,
            (mu[0], GROWTH[dtype]),
            # rounding would bring back what is locked and drown the rest in it,
            (1.0, GROWTH[dtype] / np.finfo(dtype).eps),
            # or accuracy be had that nobody asked for.
            (least_wanted, SAFETY * shortfall),
        )
        filters = [
            ChebyshevFilter.growing(bound, floor=self._floor, top=top, growth=growth)
            for top, growth in goals
        ]
        chebyshev = min(filters, key=lambda f: f.degree)
        self._operator.filter(chebyshev, X, dtype)


@dataclass(frozen=True, eq=False)
class _Density:
    """About how many eigenvalues are as large as each of some values, in descending order."""

    nodes: Array
    counts: Array
    floor: float  # no eigenvalue is much smaller

    def value_at(self, rank: int) -> float:
        """Return about the eigenvalue of this rank, the largest being the first."""
        return float(np.interp(rank, self.counts, self.nodes))


def _estimate_density(
    operator: LaplacianOperator, aside: Any, n_values: int, n_threads: int
) -> _Density:
    """Estimate how ``n_values`` eigenvalues are spread, by stochastic Lanczos quadrature.

    A few Lanczos steps from a random vector v give nodes and weights of a quadrature with respect
    to the measure sum_i (u_i^T v)^2 at the eigenvalues. Averaged over some vectors the weights,
    times the number of eigenvalues, tell how many of them there are near each node.
    """
    V = np.random.default_rng(2).standard_normal((operator.size, N_VECTORS))
    remove(V, aside, n_threads)
    V /= np.linalg.norm(V, axis=0)
    before, beta = np.zeros_like(V), np.zeros(N_VECTORS)
    diagonal, off_diagonal = [], []
    # Without reorthogonalisation: copies of a value share its weight.
    for _ in range(min(N_STEPS, n_values)):
        following = operator(V)
        following -= beta * before
        alpha = np.einsum("ij,ij->j", following, V)
        following -= alpha * V
        remove(following, aside, n_threads)
        beta = np.linalg.norm(following, axis=0)
        diagonal.append(alpha)
        off_diagonal.append(beta)
        if beta.min() < BREAKDOWN:  # an invariant subspace: there is nothing more to see from here
            break
        before, V = V, following / beta
    return _quadrature(np.array(diagonal), np.array(off_diagonal), n_values)


def _quadrature(diagonal: Array, off_diagonal: Array, n_values: int) -> _Density:
    nodes, weights, floors = [], [], []
    for alpha, beta in zip(diagonal.T, off_diagonal.T, strict=True):
        values, vectors = eigh_tridiagonal(alpha, beta[:-1])
        nodes.append(values)
        weights.append(vectors[0] ** 2)
        floors.append(values[0] - beta[-1] * abs(vectors[-1, 0]))
    together: Array = np.concatenate(nodes)
    shares: Array = np.concatenate(weights)
    order = np.argsort(-together)
    counts = np.cumsum(shares[order]) * n_values / len(nodes)
    return _Density(together[order], counts, float(min(floors)))
