"""Certificates: how good a solve is, as numbers, a flag and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from labelfold.exceptions import warn_user
from labelfold.methods import stored

__all__ = [
    "DistanceErrors",
    "EigenCertificate",
    "UnfoldingCertificate",
    "fragile_coordinates",
    "pair_tolerances",
    "warn_unless_ok",
]

FINEST = 1e-12  # smallest tolerance of a residual
FINEST_SINGLE = 1e-6  # of vectors in float32
FRAGILE = 0.1  # |1 - lambda| below which the extension to new rows divides by almost 0


@stored
@dataclass(frozen=True, eq=False)
class EigenCertificate:
    """Evidence for a set of eigenpairs.

    Parameters
    ----------
    solver : str
        "dense", "arpack" or "chebyshev".
    residuals : ndarray of shape (n_pairs,)
        ``|B u - mu u|`` of every pair, for u of length 1 and the operator that was solved, whose
        spectrum lies in [-1, 1]: an eigenvalue is no farther from mu than this.
    tolerances : ndarray of shape (n_pairs,)
        What the residuals had to reach: the given tolerance, or 1 % of 1 - mu if that is less, to
        distinguish a pair from its neighbors.
    orthogonality : float
        Largest entry of ``|U^T U - I|``, and of U against known null vectors.
    n_products : int
        Number of products with the adjacency matrix; 0 for the dense solver.
    fragile : tuple of int
        Coordinates with ``|1 - lambda| < 0.1``, which extend badly to new rows.
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
        """The smallest tolerance."""
        return float(np.min(self.tolerances, initial=np.inf))

    @property
    def ok(self) -> bool:
        """Whether residuals and orthogonality are within tolerance."""
        # Vectors that need not be accurate may be in float32.
        largest_overlap = max(1e-8, 1e-3 * float(np.max(self.tolerances, initial=0)))
        is_orthogonal = self.orthogonality <= largest_overlap
        return bool(np.all(self.residuals <= self.tolerances)) and is_orthogonal

    def first(self, n_pairs: int) -> EigenCertificate:
        """Return the certificate of the first pairs."""
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
            text += f"; coordinates {list(self.fragile)} extend badly to new rows"
        return text + "."


def warn_unless_ok(certificate: EigenCertificate) -> None:
    """Warn with the certificate's numbers if it is not ok."""
    if not certificate.ok:
        warn_user(f"Eigenpairs {certificate}", ConvergenceWarning)


def fragile_coordinates(eigenvalues: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the coordinates whose extension divides by almost 0."""
    return tuple(int(c) for c in np.flatnonzero(np.abs(1 - eigenvalues) < FRAGILE))


def pair_tolerances(
    mu: NDArray[np.float64], tol: float, dtype: Any = np.float64
) -> NDArray[np.float64]:
    """Return the tolerance of each pair's residual, for mu at the top of [-1, 1].

    On long thin graphs the smallest eigenvalues 1 - mu are below ``tol`` themselves, and any
    mixture of the first vectors would pass; so the residual must be 1 % of the eigenvalue, as far
    as the type of the vectors allows.
    """
    finest = FINEST if dtype == np.float64 else FINEST_SINGLE
    return np.clip((1 - mu) / 100, min(tol, finest), tol)


@stored
@dataclass(frozen=True)
class DistanceErrors:
    """Relative errors of the distances to keep.

    A cap, which a distance may not exceed, counts only if exceeded. Edges and caps, which may be
    far longer, are measured separately; each error is the larger of the two.

    Parameters
    ----------
    rms_squared : float
        ``sqrt(sum (q - d)^2 / sum d^2)`` for squared distances q that should be d.
    median_squared : float
        Median of ``|q - d| / d``, which does not depend on the longest edges.
    largest_squared : float
        Largest ``|q - d| / d``.
    rms : float
        ``sqrt(sum (sqrt(q) - sqrt(d))^2 / sum d)``, on distances.
    largest : float
        Largest ``|sqrt(q) - sqrt(d)| / sqrt(d)``.
    """

    rms_squared: float
    median_squared: float
    largest_squared: float
    rms: float
    largest: float

    @property
    def decisive(self) -> float:
        """The larger of ``rms_squared`` and ``median_squared``, which tolerances apply to.

        One long edge can make the mean small while all others are wrong.
        """
        return max(self.rms_squared, self.median_squared)


@stored
@dataclass(frozen=True)
class UnfoldingCertificate:
    """Evidence for an unfolding.

    Parameters
    ----------
    solver : str
        "lowrank" or "conic".
    errors : DistanceErrors
        How well distances are kept.
    objective : float
        <C, K> of the embedding, in squared units of the data.
    bound : float
        Upper bound on the objective of any Gram matrix that keeps all distances, from dual
        multipliers. A negative bound proves that there is none.
    slack : float
        What violated distances may have added to the objective: y . (q - d) for the multipliers y
        of the bound. An embedding with errors can exceed the bound by this much.
    rank : int
        Number of columns of the Gram matrix's factor.
    n_iter : int
        Number of steps of the solver.
    tol : float
        What ``errors.decisive`` had to reach.
    stopped_by : {"tolerance", "iterations", "standstill"}
        Why the solver stopped.
    """

    solver: str
    errors: DistanceErrors
    objective: float
    bound: float
    slack: float
    rank: int
    n_iter: int
    tol: float
    stopped_by: str

    @property
    def gap(self) -> float:
        """(bound + slack - objective) / objective: the most that is left to gain.

        On a connected graph strong duality holds, so that the gap of exact solutions is 0. If four
        or more points are all connected to each other, multipliers grow without limit as the
        accuracy does, and the bound lags behind.
        """
        if self.objective <= 0:
            return 0.0 if self.bound <= 0 else np.inf
        return (self.bound + self.slack - self.objective) / self.objective

    @property
    def ok(self) -> bool:
        """Whether distances are kept within ``tol`` and the solver converged."""
        return self.errors.decisive <= self.tol and self.stopped_by == "tolerance"

    @property
    def verdict(self) -> str:
        """The certificate in a word or two."""
        if self.stopped_by != "tolerance":
            return f"NOT converged (stopped by {self.stopped_by})"
        return "ok" if self.ok else "NOT isometric (more dimensions may help)"

    def __str__(self) -> str:
        e = self.errors
        bound = f"no embedding exceeds {self.bound:.6g}"
        if self.slack > 0:
            bound += f" ({self.bound + self.slack:.6g} with such errors)"
        bound += f", gap {self.gap:.1%}"
        if self.bound < 0:
            bound = "no embedding keeps these distances, as a negative dual bound proves"
        return (
            f"{self.verdict}: squared distances kept to {e.rms_squared:.1e} (rms, asked "
            f"{self.tol:.0e}) and {e.largest_squared:.1e} (worst edge), distances to {e.rms:.1e} "
            f"and {e.largest:.1e}; objective {self.objective:.6g}, {bound}; "
            f"rank {self.rank}, {self.n_iter} steps of {self.solver}."
        )
