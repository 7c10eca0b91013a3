"""ARPACK on a Chebyshev polynomial of the operator: few top eigenpairs of a large one.

On the operator itself most of ARPACK's time goes into orthogonalising against its basis. The
polynomial spreads out the wanted end of the spectrum, so that far fewer basis vectors are made, for
a few more products with the graph. Where it begins to grow is learnt from a short Lanczos run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from labelfold.progress import Progress, report_nothing
from labelfold.solvers.eigen.blocks import rayleigh_ritz
from labelfold.solvers.eigen.operator import ChebyshevFilter
from labelfold.threads import limit_threads

__all__ = ["top_eigenpairs"]

# From SciPy 1.17 on ARPACK draws the vectors it goes on with, and wants a generator for that.
RESTARTS_ARE_DRAWN = "rng" in signature(eigsh).parameters

Array = NDArray[np.float64]
Operator = Callable[[Array], Array]

GROWTH = 100.0  # of the polynomial, from the bound to the top
RESTARTS = 60  # after which it has stalled, for polynomials of a moderate degree
MODERATE_DEGREE = 20
OPTIMISM = 0.8  # where the bound is tried next if that stalls, between the safe one and the top
BASIS_ENTRIES = 2**27  # of the short run: a gigabyte
ROUGH = 1e-3  # tolerance when looking for an eigenvalue that was missed


def top_eigenpairs(
    apply: Operator,
    n_pairs: int,
    *,
    aside: Any,
    tol: float,
    progress: Progress,
) -> tuple[Array, Array] | None:
    """Return the top eigenpairs, largest first, or None where the iteration stalls.

    It also stalls, so to speak, where one copy of a repeated eigenvalue is missing: from one
    start vector Lanczos sees one copy until rounding brings in the others. So what was found is
    put aside, and the top of the rest, looked at from another start, must not lie above it.

    Parameters
    ----------
    apply : callable
        Product of the operator, whose spectrum lies in [-1, 1], with a vector or a block.
    n_pairs : int
        Number of pairs, less than the size by two at least.
    aside : {ndarray, sparse array} of shape (n, n_known)
        Known eigenvectors, orthonormal, to which the wanted ones are orthogonal.
    tol : float
        Residual to reach.
    progress : Progress
        Called now and then.
    """
    rng = np.random.default_rng(0)
    complement = _Complement((aside,))
    # ARPACK's own work is memory-bound: one BLAS thread is quicker, and gives the same bits.
    with limit_threads(1, user_api="blas"):
        safe = _lower_bound(apply, complement, n_pairs, rng)
        for bound in (safe, safe + OPTIMISM * (1 - safe)):
            chebyshev = ChebyshevFilter.growing(bound, top=1.0, growth=GROWTH)
            U = _arpack(apply, chebyshev, complement, n_pairs, rng, tol, progress)
            if U is None:
                continue
            mu, U, BU = rayleigh_ritz(apply, complement(U))
            residual = np.linalg.norm(BU - U * mu, axis=0).max()
            # Up to the bound the polynomial does not grow, and order is lost.
            if mu[-1] < bound or residual > tol:
                continue
            if not _misses_one(apply, chebyshev, _Complement((aside, U)), mu[-1], rng, tol):
                return mu, U
    return None


@dataclass(frozen=True)
class _Complement:
    """What is orthogonal to some known eigenvectors."""

    bases: tuple[Any, ...]  # dense or sparse, with orthonormal columns

    @property
    def size(self) -> int:
        return int(self.bases[0].shape[0])

    @property
    def dimension(self) -> int:
        return self.size - sum(int(basis.shape[1]) for basis in self.bases)

    def __call__(self, x: Array) -> Array:
        for basis in self.bases:
            x = x - np.asarray(basis @ (basis.T @ x))
        return x


def _misses_one(
    apply: Operator,
    chebyshev: ChebyshevFilter,
    rest: _Complement,
    least: float,
    rng: np.random.Generator,
    tol: float,
) -> bool:
    """Tell whether an eigenvalue above the least one found is not among those found."""
    if rest.dimension <= 1:
        return False
    extra = _arpack(apply, chebyshev, rest, 1, rng, ROUGH, report_nothing)
    return extra is None or float(extra[:, 0] @ apply(extra[:, 0])) > least + 10 * tol


def _lower_bound(
    apply: Operator, complement: _Complement, k: int, rng: np.random.Generator
) -> float:
    """Return a bound that the k-th eigenvalue is not below: the k-th Ritz value of a short run."""
    n = complement.size
    v = complement(rng.standard_normal(n))
    v /= np.linalg.norm(v)
    n_steps = min(3 * k + 20, max(k, BASIS_ENTRIES // n), complement.dimension)
    basis = np.empty((n_steps, n))
    diagonal, off_diagonal = [], []
    for step in range(n_steps):
        basis[step] = v
        w = complement(apply(v))
        diagonal.append(float(w @ v))
        so_far = basis[: step + 1]
        w -= so_far.T @ (so_far @ w)
        length = float(np.linalg.norm(w))
        if length < 1e-10:  # an invariant subspace: there is nothing more to see from here
            break
        off_diagonal.append(length)
        v = w / length
    ritz = eigvalsh_tridiagonal(diagonal, off_diagonal[: len(diagonal) - 1])[::-1]
    return float(ritz[k - 1] if k <= len(ritz) else ritz[-1] - 0.1)


def _arpack(
    apply: Operator,
    chebyshev: ChebyshevFilter,
    complement: _Complement,
    k: int,
    rng: np.random.Generator,
    tol: float,
    progress: Progress,
) -> Array | None:
    """Return k top eigenvectors in the complement; None where they did not converge."""
    n = complement.size
    n_products = 0

    def filtered(x: Array) -> Array:
        nonlocal n_products
        n_products += chebyshev.degree
        progress("eigenpairs", n_products, note="products")
        # Shifted from [-1, 1] to [1, 3] at the lower end, since ARPACK's tolerance is relative and
        # it loses an eigenvalue 0; what is set aside becomes 0, below all others.
        x = x.reshape(n)
        return complement(chebyshev(apply, x) + 2 * x)

    start = complement(rng.standard_normal(n))
    drawn: Any = {"rng": rng} if RESTARTS_ARE_DRAWN else {}
    n_basis = min(n - 1, max(k + 10, 3 * k // 2))
    try:
        _, U = eigsh(
            LinearOperator((n, n), matvec=filtered, dtype=np.float64),
            k=k,
            which="LA",
            v0=start,
            ncv=n_basis,
            maxiter=max(1, RESTARTS * MODERATE_DEGREE // max(chebyshev.degree, MODERATE_DEGREE)),
            tol=tol,
            **drawn,
        )
    except ArpackError:  # no convergence among them
        return None
    return np.asarray(U)
