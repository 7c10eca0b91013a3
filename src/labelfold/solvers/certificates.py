"""How good a solve is, as numbers, a flag and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from labelfold.methods import stored

__all__ = ["EigenCertificate", "fragile_coordinates", "pair_tolerances"]

FINEST = 1e-12  # tolerance that is asked of a residual anywhere
FRAGILE = 0.1  # |1 - lambda| below which the extension to new points divides by next to nothing


@stored
@dataclass(frozen=True, eq=False)
class EigenCertificate:
    """Evidence for a set of eigenpairs.

    Parameters
    ----------
    solver : str
        "dense", "arpack" or "chebyshev".
    residuals : ndarray of shape (n_pairs,)
        ``|B u - mu u|`` of every pair on the operator that was solved, whose spectrum lies in
        [-1, 1], for u of length 1: an eigenvalue is no farther from mu than this.
    tolerances : ndarray of shape (n_pairs,)
        What the residuals had to reach: what was asked for, or a part of 1 - mu where that is
        less, since below it a pair would not be told from its neighbours.
    orthogonality : float
        Largest entry of ``|U^T U - I|``, and of U against known null vectors.
    n_products : int
        Number of products with the graph's weights; 0 for the dense solver.
    fragile : tuple of int
        Coordinates with ``|1 - lambda| < 0.1``, which extend badly to new points.
    """

    solver: str
    residuals: NDArray[np.float64] = field(repr=False)
    tolerances: NDArray[np.float64] = field(repr=False)
    orthogonality: float
    n_products: int = 0
    fragile: tuple[int, ...] = ()

    @property
    def max_residual(self) -> float:
        """The largest residual."""
        return float(np.max(self.residuals, initial=0.0))

    @property
    def tol(self) -> float:
        """The least of the tolerances."""
        return float(np.min(self.tolerances, initial=np.inf))

    @property
    def ok(self) -> bool:
        """Whether residuals and orthogonality are as asked."""
        return bool(np.all(self.residuals <= self.tolerances)) and self.orthogonality <= 1e-8

    def first(self, n_pairs: int) -> EigenCertificate:
        """Return the certificate of the first pairs alone."""
        return replace(
            self, residuals=self.residuals[:n_pairs], tolerances=self.tolerances[:n_pairs]
        )

    def __str__(self) -> str:
        verdict = "ok" if self.ok else "NOT converged"
        text = f"{verdict}: {len(self.residuals)} eigenpairs by {self.solver}"
        if len(self.residuals):
            worst = np.argmax(self.residuals / self.tolerances)
            text += (
                f", worst residual {self.residuals[worst]:.1e} (asked "
                f"{self.tolerances[worst]:.0e}), orthogonal to {self.orthogonality:.1e}"
            )
        if self.n_products:
            text += f", {self.n_products} products"
        if self.fragile:
            text += f"; coordinates {list(self.fragile)} extend badly to new points"
        return text + "."


def fragile_coordinates(eigenvalues: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the coordinates whose extension divides by next to nothing."""
    return tuple(int(c) for c in np.flatnonzero(np.abs(1 - eigenvalues) < FRAGILE))


def pair_tolerances(mu: NDArray[np.float64], tol: float) -> NDArray[np.float64]:
    """Return what the residual of each pair must reach, for mu at the top of [-1, 1].

    On long thin graphs the smallest eigenvalues 1 - mu are themselves no larger than the
    tolerance, and any mixture of the first vectors would pass: there the residual must be a part
    of the eigenvalue.
    """
    return np.clip((1 - mu) / 100, min(tol, FINEST), tol)
