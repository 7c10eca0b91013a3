"""A graph Laplacian as an operator whose spectrum lies in [-1, 1], the wanted end at the top.

Two problems, one form B:

- normalization "degree": L v = lambda D v. With B = D^(-1/2) W D^(-1/2), B u = (1 - lambda) u and
  v = D^(-1/2) u, so that V^T D V = I.
- normalization "none": L v = lambda v. With B = I - L / d and d the largest degree,
  B u = (1 - lambda / d) u and v = u.

The indicators of connected components are known eigenvectors for mu = 1.

Both iterative solvers spend their time on Chebyshev polynomials of B times a block. Large blocks go
through a compiled kernel, panel by panel of columns, whose rows the threads share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.checks import check_choice
from labelfold.solvers.kernels import compiled, recurrence_step
from labelfold.threads import ThreadPool

__all__ = [
    "NORMALIZATIONS",
    "Adjacency",
    "ChebyshevFilter",
    "LaplacianOperator",
    "measure_residuals",
    "rayleigh_ritz",
]

Array = NDArray[np.float64]
Block = NDArray[Any]  # float32 or float64

NORMALIZATIONS = ("degree", "none")
# Columns of float64 that a polynomial is computed of at a time, and twice as many of float32: fewer
# if vectors are long, to bound memory, but not so few that reading the matrix takes longer than
# multiplying.
PANEL, LEAST_PANEL, PANEL_ENTRIES = 64, 16, 2**24
LARGEST_DEGREE = 1000  # of a polynomial
NARROWEST = 1e-3  # least share of the spectrum's width that a filter keeps small
WEAK = 1e-10  # degree, relative to the largest, of a node computed from its neighbors


class Adjacency(Protocol):
    """What a solver needs of a graph, on one machine or on many."""

    @property
    def size(self) -> int:
        """Number of nodes."""

    @property
    def degrees(self) -> Array:
        """Sum of weights at every node."""

    def product(self, block: Array) -> Array:
        """Return W times a vector or a block of vectors."""


@dataclass(frozen=True)
class ChebyshevFilter:
    """The Chebyshev polynomial of an operator, with [floor, bound] mapped onto [-1, 1].

    It stays within [-1, 1] on that interval and grows above the bound.
    """

    floor: float
    bound: float
    degree: int

    @classmethod
    def growing(
        cls, bound: float, *, floor: float = -1.0, top: float, growth: float
    ) -> ChebyshevFilter:
        """Return the filter that grows by this factor at ``top``, as far as degrees allow."""
        bound = max(bound, floor + NARROWEST * (1 - floor))
        unscaled = cls(floor, bound, 1)
        rate = np.arccosh(max((top - unscaled.center) / unscaled.half, 1 + 1e-12))
        degree = int(np.clip(np.arccosh(max(growth, 1.0)) / rate, 1, LARGEST_DEGREE))
        return cls(floor, bound, degree)

    @property
    def center(self) -> float:
        """Middle of the interval."""
        return (self.bound + self.floor) / 2

    @property
    def half(self) -> float:
        """Half its width."""
        return (self.bound - self.floor) / 2

    def __call__(self, apply: Callable[[Array], Array], X: Array) -> Array:
        """Return the polynomial of the operator times a vector or a block."""
        center, half = self.center, self.half
        previous, current = X, (apply(X) - center * X) / half
        for _ in range(self.degree - 1):
            # 2 (B - center) / half times current, minus previous; in place, as vectors are long
            following = apply(current)
            following -= center * current
            following *= 2 / half
            following -= previous
            previous, current = current, following
        return current


IDENTITY = ChebyshevFilter(-1.0, 1.0, 1)


class LaplacianOperator:
    """B of the module's first lines: B x = a x + s W (s x)."""

    def __init__(self, adjacency: Adjacency, normalization: str) -> None:
        check_choice("normalization", normalization, NORMALIZATIONS)
        self._adjacency = adjacency
        self._degrees = adjacency.degrees
        self._kernel: _Kernel | None = None
        self.n_products = 0
        isolated = self._degrees == 0
        self._a: Array | None
        if normalization == "degree":
            self._s = 1 / np.sqrt(np.where(isolated, 1.0, self._degrees))
            # An isolated node is a component: mu = 1.
            self._a = isolated.astype(float) if isolated.any() else None
            self._unit = 1.0
        else:
            self._unit = float(self._degrees.max()) or 1.0
            self._s = np.full(adjacency.size, 1 / np.sqrt(self._unit))
            self._a = 1 - self._degrees / self._unit
        self._by_degree = normalization == "degree"

    @property
    def size(self) -> int:
        """Length of a vector."""
        return self._adjacency.size

    @property
    def determinants(self) -> tuple[Any, ...]:
        """What products follow from, for a checkpoint; a function if it is not in memory."""
        adjacency = self._adjacency
        return getattr(adjacency, "matrix", adjacency.product), self._by_degree

    def panel(self, dtype: Any = np.float64) -> int:
        """Return the number of columns of this type to work on at a time."""
        width = int(np.clip(PANEL_ENTRIES // max(1, self.size), LEAST_PANEL, PANEL))
        return width * 8 // np.dtype(dtype).itemsize

    @property
    def crowding(self) -> float:
        """Largest degree over the mean, 1 for normalization "degree".

        Hubs push the wanted eigenvalues together at the top of the spectrum.
        """
        return 1.0 if self._by_degree else self._unit / (float(self._degrees.mean()) or 1.0)

    @property
    def is_compiled(self) -> bool:
        """Whether products go through the compiled kernel, which also works in float32."""
        return self._kernel is not None

    def compile(self, n_threads: int) -> None:
        """Use the compiled kernel from now on, if the adjacency matrix is in memory."""
        matrix = getattr(self._adjacency, "matrix", None)
        if matrix is not None:
            diagonal = np.zeros(self.size) if self._a is None else self._a
            self._kernel = _Kernel(matrix, self._s, diagonal, n_threads, self.panel)

    def __call__(self, x: Array) -> Array:
        """Return B times a vector or a block."""
        self.n_products += 1 if x.ndim == 1 else x.shape[1]
        if self._kernel is not None:
            block = x.reshape(self.size, -1)
            product = np.empty_like(block)
            self._kernel.filter(IDENTITY, block, product, x.dtype)
            return product.reshape(x.shape)
        column = (slice(None), None) if x.ndim == 2 else slice(None)
        product = self._adjacency.product(self._s[column] * x)
        product *= self._s[column]
        if self._a is not None:
            product += self._a[column] * x
        return product

    def filter(self, chebyshev: ChebyshevFilter, X: Block, dtype: Any) -> None:
        """Overwrite X with the polynomial of B times X, computed in ``dtype`` if compiled."""
        if self._kernel is None:
            for first in range(0, X.shape[1], self.panel()):
                columns = slice(first, first + self.panel())
                X[:, columns] = chebyshev(self, np.ascontiguousarray(X[:, columns]))
        else:
            self.n_products += chebyshev.degree * X.shape[1]
            self._kernel.filter(chebyshev, X, X, dtype)

    def null_vectors(self, components: NDArray[np.integer] | None) -> sp.csr_array:
        """Return the indicators of components as unit vectors, the largest component first.

        ``components`` is the number of each node's component; None for a connected graph.
        """
        components = np.zeros(self.size, dtype=int) if components is None else components
        values = 1 / self._s if self._by_degree else np.ones(self.size)
        sizes = np.bincount(components)
        rank = np.empty(len(sizes), dtype=int)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        column = rank[components]
        # Scaled first: squares of tiny degrees' roots would underflow.
        largest = np.zeros(len(sizes))
        np.maximum.at(largest, column, values)
        values = values / largest[column]
        lengths = np.sqrt(np.bincount(column, weights=values**2))
        entries = (values / lengths[column], column, np.arange(self.size + 1))
        return sp.csr_array(entries, shape=(self.size, len(sizes)))

    def eigenvalues(self, mu: Array) -> Array:
        """Return the Laplacian's eigenvalues for those of B."""
        return np.maximum(1 - mu, 0) * self._unit

    def from_eigenvalues(self, eigenvalues: Array) -> Array:
        """Return the values of B for eigenvalues of the Laplacian."""
        return 1 - eigenvalues / self._unit

    def eigenvectors(self, mu: Array, U: Array) -> Array:
        """Overwrite eigenvectors of B with the Laplacian's, and return them."""
        if self._by_degree:
            d = self._degrees
            weak = np.flatnonzero((d > 0) & (d < WEAK * d.max()))
            weak = weak[np.all(np.abs(U[weak]) < 1e-6, axis=1)]
            U *= self._s[:, None]
            if len(weak):
                self._solve_for(weak, mu, U)
        return U

    def from_eigenvectors(self, V: Array) -> Array:
        """Return the vectors of B for vectors of the Laplacian."""
        return V / self._s[:, None] if self._by_degree else V

    def _solve_for(self, weak: NDArray[np.intp], mu: Array, V: Array) -> None:
        """Recompute nodes of almost no degree from their neighbors.

        v = u / sqrt(degree) magnifies the rounding error of u there. The eigenvector equation
        mu d_i v_i = sum_j w_ij v_j has no such factor: it is solved for these nodes, given the
        others.
        """
        d = self._degrees[weak, None]
        among = np.empty((len(weak), len(weak)))
        for start in range(0, len(weak), PANEL):
            some = weak[start : start + PANEL]
            unit = np.zeros((self.size, len(some)))
            unit[some, np.arange(len(some))] = 1
            among[:, start : start + PANEL] = self._adjacency.product(unit)[weak] / d
        others = V.copy()
        others[weak] = 0
        given = self._adjacency.product(others)[weak] / d
        for column in np.flatnonzero((np.abs(mu) > 0.1) & (mu != 1)):
            system = mu[column] * np.eye(len(weak)) - among
            V[weak, column] = np.linalg.lstsq(system, given[:, column], rcond=None)[0]


def measure_residuals(operator: LaplacianOperator, mu: Array, U: Array) -> Array:
    """Return ``|B u - mu u|`` for the first vectors of a block, as many as there are values.

    Computed in float64, for vectors in float32 too.
    """
    residuals = np.empty(len(mu))
    step = operator.panel() // 2
    for first in range(0, len(mu), step):
        columns = slice(first, min(first + step, len(mu)))
        vectors = U[:, columns].astype(np.float64, copy=False)
        off = operator(vectors)
        off -= vectors * mu[columns]
        residuals[columns] = np.linalg.norm(off, axis=0)
    return residuals


def rayleigh_ritz(apply: Callable[[Array], Array], X: Array) -> tuple[Array, Array, Array]:
    """Return Ritz values, largest first, Ritz vectors, and the operator's product with them."""
    Q, _ = np.linalg.qr(X)
    AQ = apply(Q)
    H = Q.T @ AQ
    values, rotation = np.linalg.eigh((H + H.T) / 2)
    rotation = rotation[:, ::-1]
    return values[::-1], Q @ rotation, AQ @ rotation


class _Kernel:
    """The operator as the compiled kernel applies it, its rows divided among threads."""

    def __init__(
        self,
        matrix: sp.csr_array,
        s: Array,
        diagonal: Array,
        n_threads: int,
        panel: Callable[[Any], int],
    ) -> None:
        self._arrays = (matrix.indptr, matrix.indices, matrix.data, s, diagonal)
        self._n_threads, self._panel = n_threads, panel
        # Two ranges per thread, of as many edges each.
        shares = np.linspace(0, matrix.nnz, 2 * n_threads + 1 if n_threads > 1 else 2)
        ends = np.searchsorted(matrix.indptr, shares)
        ends[-1] = len(s)
        self._ranges = list(pairwise(ends.tolist()))

    def filter(self, chebyshev: ChebyshevFilter, X: Block, out: Block, dtype: Any) -> None:
        center, half = chebyshev.center, chebyshev.half
        step = compiled(recurrence_step)
        opening = 1 / half, -center / half, 0.0
        further = 2 / half, -2 * center / half, -1.0
        with ThreadPool(self._n_threads) as pool:

            def advance(x: Block, y: Block, factors: tuple[float, float, float]) -> None:
                pool.each(lambda rows: step(*self._arrays, x, y, *factors, *rows), self._ranges)

            width = self._panel(dtype)
            for start in range(0, X.shape[1], width):
                columns = slice(start, start + width)
                before = np.array(X[:, columns], dtype=dtype, order="C")
                current = np.zeros_like(before)
                advance(before, current, opening)
                for _ in range(chebyshev.degree - 1):
                    advance(current, before, further)
                    before, current = current, before
                out[:, columns] = current
