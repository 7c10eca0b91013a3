"""ARPACK on a Chebyshev polynomial of the operator: few top eigenpairs of a large graph.

On the operator itself most of ARPACK's time goes into orthogonalizing against its basis. The
polynomial spreads out the wanted end of the spectrum, so that far fewer basis vectors are needed,
for a few more products with the graph. A short Lanczos run says from where it should grow.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from labelfold.checkpoint_folder import once
from labelfold.progress import Progress, report_nothing
from labelfold.solvers.eigen.operator import ChebyshevFilter, LaplacianOperator, rayleigh_ritz
from labelfold.threads import limit_threads

__all__ = ["seeded", "top_eigenpairs"]

Array = NDArray[np.float64]
Operator = Callable[[Array], Array]

GROWTH = 100.0  # of the polynomial, from the bound to the top
# Restarts of ARPACK, with a polynomial of moderate degree, before it counts as stalled: clusters
# stall it, and subspace iteration does not mind them.
RESTARTS = 10
MODERATE_DEGREE = 20
BASIS_ENTRIES = 2**27  # of the short run: a gigabyte
ROUGH = 1e-3  # tolerance in the search for a missed eigenvalue


def seeded(rng: np.random.Generator) -> dict[str, Any]:
    """Return the option that fixes ARPACK's restart vectors, which SciPy 1.17 and later draw."""
    return {"rng": rng} if "rng" in signature(eigsh).parameters else {}


def top_eigenpairs(
    apply: LaplacianOperator, n_pairs: int, *, known: Any, tol: float, progress: Progress
) -> tuple[Array, Array] | None:
    """Return the top eigenpairs, largest first, or None if the iteration stalls.

    None also if a copy of a repeated eigenvalue is missing: from one start vector, Lanczos sees one
    copy until rounding brings in the others. So the iteration is repeated from another start, in
    the complement of the computed vectors, where no eigenvalue may lie above theirs.

    Parameters
    ----------
    apply : LaplacianOperator
        With its spectrum in [-1, 1].
    n_pairs : int
        Number of pairs, at most the size minus two.
    known : {ndarray, sparse array} of shape (n, n_known)
        Known eigenvectors, orthonormal, to which the wanted ones are orthogonal.
    tol : float
        Residual to reach.
    progress : Progress
        Called now and then.
    """
    rng = np.random.default_rng(0)
    complement = _Complement(known)
    # ARPACK's own work is memory-bound: one BLAS thread is faster, and gives the same bits.
    with limit_threads(1, user_api="blas"):
        safe = _lower_bound(apply, complement, n_pairs, rng)
        chebyshev = ChebyshevFilter.growing(safe, top=1.0, growth=GROWTH)
        U = _arpack(apply, chebyshev, complement, n_pairs, rng, tol, progress)
        if U is None:
            return None
        mu, U, BU = rayleigh_ritz(apply, complement(U))
        residual = np.linalg.norm(BU - U * mu, axis=0).max()
        # Below the bound the polynomial does not grow, and order is lost.
        if mu[-1] < safe or residual > tol:
            return None
        rest = _Complement(known, U)
        if rest.dimension <= 1:
            return mu, U
        other = _arpack(apply, chebyshev, rest, 1, rng, ROUGH, report_nothing)
        is_complete = other is not None and other[:, 0] @ apply(other[:, 0]) <= mu[-1] + 10 * tol
        return (mu, U) if is_complete else None


class _Complement:
    """The orthogonal complement of eigenvectors, dense or sparse with orthonormal columns."""

    def __init__(self, *bases: Any) -> None:
        self.bases = bases
        self.size = int(bases[0].shape[0])
        self.dimension = self.size - sum(int(basis.shape[1]) for basis in bases)

    def __call__(self, x: Array) -> Array:
        for basis in self.bases:
            x = x - np.asarray(basis @ (basis.T @ x))
        return x


def _lower_bound(
    apply: Operator, complement: _Complement, k: int, rng: np.random.Generator
) -> float:
    """Return a lower bound of the k-th eigenvalue: the k-th Ritz value of a short Lanczos run."""
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
        if length < 1e-10:  # the basis spans an invariant subspace
            break
        off_diagonal.append(length)
        v = w / length
    ritz = eigvalsh_tridiagonal(diagonal, off_diagonal[: len(diagonal) - 1])[::-1]
    return float(ritz[k - 1] if k <= len(ritz) else ritz[-1] - 0.1)


def _arpack(
    apply: LaplacianOperator,
    chebyshev: ChebyshevFilter,
    complement: _Complement,
    k: int,
    rng: np.random.Generator,
    tol: float,
    progress: Progress,
) -> Array | None:
    """Return k top eigenvectors in the complement; None if they did not converge.

    ARPACK's state cannot be saved. A run that is resumed takes the same steps again, with the
    products that were kept, and these are most of its work.
    """
    n = complement.size
    n_products = 0

    def filtered(x: Array) -> Array:
        nonlocal n_products
        n_products += chebyshev.degree
        progress("eigenpairs", n_products, note="products")
        n_all = apply.n_products + chebyshev.degree
        step = f"product {n_products} in {complement.dimension} dimensions"
        [product] = once(step, lambda: multiplied(x.reshape(n)), passing=True)
        apply.n_products = n_all  # a product that was kept counts too
        return product

    def multiplied(x: Array) -> tuple[Array]:
        # Shifted from [-1, 1] to [1, 3] at the lower end, since ARPACK's tolerance is relative and
        # it loses an eigenvalue 0; known eigenvalues become 0, below all others.
        return (complement(chebyshev(apply, x) + 2 * x),)

    try:
        _, U = eigsh(
            LinearOperator((n, n), matvec=filtered, dtype=np.float64),
            k=k,
            which="LA",
            v0=complement(rng.standard_normal(n)),
            ncv=min(n - 1, max(k + 10, 3 * k // 2)),
            maxiter=max(1, RESTARTS * MODERATE_DEGREE // max(chebyshev.degree, MODERATE_DEGREE)),
            tol=tol,
            **seeded(rng),
        )
    except ArpackError:  # also raised without convergence
        return None
    return np.asarray(U)
