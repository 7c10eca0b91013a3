"""How good an unfolding is: errors of distances, objective, and a bound that no map can pass."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from labelfold.methods import stored
from labelfold.solvers.distance_problem import DistanceProblem

__all__ = ["DistanceErrors", "UnfoldingCertificate", "compare_lengths", "measure_errors"]

Array = NDArray[np.float64]


@stored
@dataclass(frozen=True)
class DistanceErrors:
    """Relative errors of the distances that had to be kept.

    A cap errs only where exceeded. Caps, which may be far longer, are measured apart from edges;
    the larger error counts.

    Parameters
    ----------
    rms_squared : float
        ``sqrt(sum (q - d)^2 / sum d^2)`` for squared distances q that ought to be d.
    median_squared : float
        Median of ``|q - d| / d``: what most edges err by, however long the longest is.
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
        """The larger of ``rms_squared`` and ``median_squared``: what tolerances are about.

        One long edge can make the mean small while all others are wrong.
        """
        return max(self.rms_squared, self.median_squared)


def measure_errors(problem: DistanceProblem, R: Array) -> DistanceErrors:
    """Measure what a map does to the distances; edges of length zero relative to the mean one."""
    unit = float(np.sqrt(np.mean(problem.usual_squares))) if len(problem.edges) else 1.0
    unit = unit or 1.0  # squares of squares might overflow
    return compare_lengths(problem, problem.lengths(R / unit), unit)


def compare_lengths(problem: DistanceProblem, q: Array, unit: float = 1.0) -> DistanceErrors:
    """Measure squared lengths q of the edges, given in squared units, as a map's are measured."""
    d = problem.squares / unit**2
    edges = _errors(q[~problem.caps], d[~problem.caps])
    caps = _errors(np.maximum(q, d)[problem.caps], d[problem.caps])
    worse = (max(pair) for pair in zip(astuple(edges), astuple(caps), strict=True))
    return DistanceErrors(*worse)


def _errors(q: Array, d: Array) -> DistanceErrors:
    if len(q) == 0:
        return DistanceErrors(0.0, 0.0, 0.0, 0.0, 0.0)
    h, g = q - d, np.sqrt(q) - np.sqrt(d)
    base = np.where(d > 0, d, 1.0)
    return DistanceErrors(
        rms_squared=float(np.linalg.norm(h) / (np.linalg.norm(d) or 1.0)),
        median_squared=float(np.median(np.abs(h) / base)),
        largest_squared=float(np.max(np.abs(h) / base)),
        rms=float(np.linalg.norm(g) / (np.sqrt(np.sum(d)) or 1.0)),
        largest=float(np.max(np.abs(g) / np.sqrt(base))),
    )


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
        <C, K> of the map, in squared units of the data.
    bound : float
        What no Gram matrix that keeps all distances can exceed, from dual multipliers. Below 0 it
        proves that there is none.
    slack : float
        What the violated distances may have bought: the multipliers' y . (q - d), scaled as in the
        bound. A map that errs can pass the bound by it.
    rank : int
        Columns of the Gram matrix's factor.
    n_iter : int
        Steps of the solver.
    tol : float
        What ``errors.decisive`` had to reach.
    stopped_by : str
        What ended the work: "tolerance", "iterations", "time" or "standstill".
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
        """(bound + slack - objective) / objective: at most so much is left to gain.

        On a connected graph strong duality holds, so that the gap of exact solutions is 0. Where
        four or more points are all joined, no Gram matrix of lower rank is near that keeps their
        distances: multipliers grow without limit as accuracy does, and the bound lags behind.
        """
        if self.objective <= 0:
            return 0.0 if self.bound <= 0 else np.inf
        return (self.bound + self.slack - self.objective) / self.objective

    @property
    def ok(self) -> bool:
        """Whether distances are kept as asked, and the solver came to rest."""
        return self.errors.decisive <= self.tol and self.stopped_by == "tolerance"

    @property
    def verdict(self) -> str:
        """The certificate in a word or two."""
        if self.stopped_by != "tolerance":
            return f"NOT converged (stopped by {self.stopped_by})"
        return "ok" if self.ok else "NOT isometric (more dimensions would be)"

    def __str__(self) -> str:
        e = self.errors
        bound = f"no map exceeds {self.bound:.6g}"
        if self.slack > 0:
            bound += f" (with such errors {self.bound + self.slack:.6g})"
        bound += f", gap {self.gap:.1%}"
        if self.bound < 0:
            bound = "no map keeps these distances, as a negative dual bound proves"
        return (
            f"{self.verdict}: squared distances kept to {e.rms_squared:.1e} (rms, asked "
            f"{self.tol:.0e}) and {e.largest_squared:.1e} (worst edge), distances to {e.rms:.1e} "
            f"and {e.largest:.1e}; objective {self.objective:.6g}, {bound}; "
            f"rank {self.rank}, {self.n_iter} steps of {self.solver}."
        )
