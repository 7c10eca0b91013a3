"""How good a solve is, as numbers, a flag and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["EigenCertificate", "fragile_coordinates"]

FRAGILE = 0.1  # |1 - lambda| below which the extension to new points divides by next to nothing


@dataclass(frozen=True, eq=False)
class EigenCertificate:
    """Evidence for a set of eigenpairs.

    Parameters
    ----------
    solver : str
        "dense", "arpack" or "chebyshev".
    residuals : ndarray of shape (n_pairs,)
        ``|B u - mu u|`` of every pair on the operator that was solved, whose spectrum lies in
        [-1, 1], for u of length 1: an eigenvalue is off by no more than this.
    orthogonality : float
        Largest entry of ``|U^T U - I|``.
    tol : float
        What the residuals had to reach.
    n_products : int
        Number of products with the graph's weights; 0 for the dense solver.
    fragile : tuple of int
        Coordinates with ``|1 - lambda| < 0.1``, which extend badly to new points.
    """

    solver: str
    residuals: NDArray[np.float64] = field(repr=False)
    orthogonality: float
    tol: float
    n_products: int = 0
    fragile: tuple[int, ...] = ()

    @property
    def max_residual(self) -> float:
        """The largest residual."""
        return float(np.max(self.residuals, initial=0.0))

    @property
    def ok(self) -> bool:
        """Whether residuals and orthogonality are as asked."""
        return self.max_residual <= self.tol and self.orthogonality <= 1e-8

    def __str__(self) -> str:
        verdict = "ok" if self.ok else "NOT converged"
        text = (
            f"{verdict}: {len(self.residuals)} eigenpairs by {self.solver}, largest residual "
            f"{self.max_residual:.1e} (asked {self.tol:.0e}), orthogonal to "
            f"{self.orthogonality:.1e}"
        )
        if self.n_products:
            text += f", {self.n_products} products"
        if self.fragile:
            text += f"; coordinates {list(self.fragile)} extend badly to new points"
        return text + "."


def fragile_coordinates(eigenvalues: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the coordinates whose extension divides by next to nothing."""
    return tuple(int(c) for c in np.flatnonzero(np.abs(1 - eigenvalues) < FRAGILE))
