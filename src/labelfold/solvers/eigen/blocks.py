"""Tall blocks of vectors: products, Ritz vectors and residuals, the same for any thread count.

BLAS in several threads splits sums by the number of threads. Here the parts depend on the shapes
alone, each is computed by BLAS in one thread, and the threads are ours. What is asked of memory
beyond the blocks themselves is a few megabytes a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from labelfold.threads import for_each

__all__ = [
    "inner_products",
    "measure_residuals",
    "orthonormalize",
    "rayleigh_ritz",
    "remove",
    "rotate",
]

Array = NDArray[np.float64]
Block = NDArray[Any]  # float32 or float64

ROWS = 4096  # in a part
COLUMNS = 256
SAFE_PIVOT = 1e-5  # of a Cholesky factor for unit columns: below it more than half the digits go
ACCURATE_PIVOT = 0.05  # from which on one pass leaves columns orthonormal to twelve digits
LARGEST_LOSS = 1e-12  # eigenvalues of the Gram matrix below it, times the largest, are rounding


def inner_products(X: Block, Y: Block, n_threads: int, *, symmetric: bool = False) -> Array:
    """Return X^T Y, summed in float64.

    Parameters
    ----------
    X, Y : ndarray of shape (n, m) and (n, k)
        Blocks.
    n_threads : int
        Number of threads.
    symmetric : bool, default=False
        Whether the result is known to be symmetric: half of it is computed then.
    """
    n, n_columns = Y.shape
    G = np.zeros((X.shape[1], n_columns))

    def fill(first: int) -> None:
        columns = slice(first, first + COLUMNS)
        rows = slice(0, min(first + COLUMNS, n_columns) if symmetric else X.shape[1])
        for start in range(0, n, ROWS):
            part = slice(start, start + ROWS)
            left = X[part, rows].astype(np.float64, copy=False)
            G[rows, columns] += left.T @ Y[part, columns].astype(np.float64, copy=False)

    # The last columns have most to do where the result is symmetric: they come first.
    for_each(fill, reversed(range(0, n_columns, COLUMNS)), n_threads)
    if symmetric:
        G = np.triu(G)
        G += np.triu(G, 1).T
    return G


def rotate(X: Block, rotation: Array, n_threads: int) -> Block:
    """Overwrite X by X times a matrix with no more columns, and return what is left of X."""
    kept = rotation.astype(X.dtype, copy=False)

    def turn(start: int) -> None:
        rows = slice(start, start + ROWS)
        X[rows, : kept.shape[1]] = X[rows] @ kept

    for_each(turn, range(0, len(X), ROWS), n_threads)
    return X[:, : kept.shape[1]]


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
    """Overwrite X by an orthonormal basis of its columns' span, and return it.

    A filter leaves columns so nearly parallel that the Cholesky factor of their Gram matrix may
    break down. It is used where its pivots are safe; elsewhere the eigenvectors of the Gram matrix
    take its place, without those that are rounding, and a second pass follows.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Columns, in float32 or float64.
    n_threads : int
        Number of threads.
    accurate : bool
        Whether the basis must be orthonormal to rounding, or just well-conditioned.

    Returns
    -------
    ndarray of shape (n, rank)
        Part of the memory of X.
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
        X = rotate(X, scale[:, None] * rotation, n_threads)
        if pivot >= (ACCURATE_PIVOT if accurate else SAFE_PIVOT):
            break
    return X


def measure_residuals(apply: Callable[[Array], Array], mu: Array, U: Array) -> Array:
    """Return ``|B u - mu u|`` for the first vectors of a block, as many as there are values."""
    residuals = np.empty(len(mu))
    for first in range(0, len(mu), COLUMNS):
        columns = slice(first, min(first + COLUMNS, len(mu)))
        off = apply(U[:, columns])
        off -= U[:, columns] * mu[columns]
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


def _whitening(G: Array) -> tuple[Array, float]:
    """Return S with S^T G S = I as far as G has rank, and the least pivot; 0 where it is lost."""
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
