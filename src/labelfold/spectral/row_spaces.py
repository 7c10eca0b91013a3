"""Coordinates of rows in which a direction is sought, and the way back to a map for any row.

Rows are known by their features, or by their inner products K alone. In the latter case
H K H = U diag(s^2) U^T, with H = I - 1 1^T / n, are the inner products about the rows' mean, and
Z = U diag(s) has them in as many coordinates as the rows span dimensions: Z a, for a direction a,
is (K - 1 m^T) U diag(1 / s) a, with m the mean of the rows of K, and so it is for new rows of K.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh

from labelfold.exceptions import InputError
from labelfold.graph.class_neighbors import KernelSearch, RowSearch

__all__ = ["FeatureSpace", "KernelSpace", "dense"]

Array = NDArray[np.float64]

NOT_PSD = 1e-5  # a negative eigenvalue beyond this part of the largest is not from rounding
ASYMMETRY = 1e-8  # of a kernel, relative to its largest entry


class FeatureSpace:
    """Rows known by their features.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Rows.
    n_jobs : int, default=None
        Bound on the number of threads of the search.

    Attributes
    ----------
    Z : {ndarray, csr_array} of shape (n, r)
        Coordinates: the features, less their mean if dense, or those that the rows span where
        features outnumber rows.
    mean : ndarray of shape (d,)
        Mean of the rows.
    search : RowSearch
        Neighbours of the rows.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        self.mean: Array = np.asarray(X.mean(axis=0)).ravel()
        self.search = RowSearch(X, n_jobs=n_jobs)
        # In units in which squares neither overflow nor vanish; powers of two cost no digit.
        self._unit = float(np.ldexp(1.0, np.frexp(abs(X).max())[1]))
        is_sparse = sp.issparse(X)
        self._rows = X / self._unit if is_sparse else (X - self.mean) / self._unit
        self.Z = self._rows
        self._products: KernelSpace | None = None
        if X.shape[1] > X.shape[0]:
            self._products = KernelSpace(dense(self._rows @ self._rows.T))
            self.Z = self._products.Z

    def components(self, A: Array) -> Array:
        """Return directions, given as columns in the coordinates, as rows of features."""
        if self._products is not None:
            A = np.asarray(self._rows.T @ self._products.dual(A))
        return np.ascontiguousarray(A.T / self._unit)


class KernelSpace:
    """Rows known by their inner products, which a kernel gives.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Inner products: symmetric and positive semidefinite.

    Attributes
    ----------
    Z : ndarray of shape (n, r)
        Coordinates with mean 0.
    means : ndarray of shape (n,)
        Mean of the rows of K.
    """

    def __init__(self, K: Array) -> None:
        if not np.all(np.isfinite(K)):
            raise InputError("The kernel of some rows is not finite: rescale X.")
        if np.abs(K - K.T).max() > ASYMMETRY * np.abs(K).max():
            raise InputError("The kernel matrix is not symmetric: k(x, y) must equal k(y, x).")
        self.means: Array = K.mean(axis=0)
        centered = K - self.means - self.means[:, None] + self.means.mean()
        squares, U = eigh((centered + centered.T) / 2, driver="evd")
        largest = np.abs(squares).max()
        if squares[0] < -NOT_PSD * largest:
            raise InputError(
                "The kernel is not positive semidefinite: of the eigenvalues of its centred matrix "
                f"the least is {squares[0]:.3g} and the largest {squares[-1]:.3g}. Use another "
                "kernel, or other parameters of it."
            )
        spanned = squares > len(K) * np.finfo(float).eps * largest
        self._U, self._s = U[:, spanned], np.sqrt(squares[spanned])
        self.Z: Array = self._U * self._s
        self._K = K

    @property
    def search(self) -> KernelSearch:
        """Neighbours of the rows."""
        return KernelSearch((self._K + self._K.T) / 2)

    def dual(self, A: Array) -> Array:
        """Return weights of the inner products with the rows, for directions given as columns."""
        return np.asarray((self._U / self._s) @ A)


def dense(matrix: Any) -> Array:
    """Return a matrix, sparse or not, as an array."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
