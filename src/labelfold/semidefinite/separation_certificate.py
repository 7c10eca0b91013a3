"""How good a separation map is: what happened to distances, and on which side points lie."""

from __future__ import annotations

from dataclasses import dataclass

from labelfold.methods import stored
from labelfold.solvers.certificates import DistanceErrors, UnfoldingCertificate

__all__ = ["SeparationCertificate"]


@stored
@dataclass(frozen=True)
class SeparationCertificate(UnfoldingCertificate):
    """Evidence for a separation map; distances and sides apart.

    Parameters
    ----------
    solver, errors, objective, bound, slack, rank, n_iter, tol, stopped_by
        As for :class:`~labelfold.solvers.certificates.UnfoldingCertificate`. The bound
        knows of distances only.
    separation_error : float
        Share of the labelled points on the wrong side of at least one normal.
    shortfall : float
        Largest length by which a labelled point falls short of its margin, in mean edge lengths.
    margin : float
        The margin, in mean edge lengths; squared ones for anchors.
    is_hard : bool
        Whether all labels had to be on their side.
    least_error : float
        What ``errors.rms_squared`` is at least in any number of dimensions, if all labelled points
        keep the margin: edges between classes that are shorter than two margins must be stretched.
    trivial_errors : DistanceErrors
        Errors of the map [margin * y, X], which separates anything in as many dimensions as the
        data and the normals have.
    """

    separation_error: float
    shortfall: float
    margin: float
    is_hard: bool
    least_error: float
    trivial_errors: DistanceErrors

    @property
    def ok(self) -> bool:
        """Whether distances are kept as asked, and labels that had to be are on their side."""
        separated = self.separation_error == 0 or not self.is_hard
        return separated and super().ok

    @property
    def verdict(self) -> str:
        """The certificate in a word or two."""
        if self.is_hard and self.least_error > self.tol:
            return "NOT feasible (edges between classes are shorter than two margins)"
        if self.stopped_by == "tolerance" and not self.ok:
            return "NOT separated" if self.separation_error else "NOT isometric"
        return super().verdict

    @property
    def advice(self) -> str:
        """Ways to a map that is ok."""
        if self.stopped_by in ("iterations", "time"):
            return f"raise max_{'iter' if self.stopped_by == 'iterations' else 'time'}, or tol"
        return (
            "lower margin or n_neighbors, raise rank or tol, or make labels soft with label_penalty"
        )

    def __str__(self) -> str:
        sides = f"{100 * self.separation_error:.3g} % of the labels on the wrong side"
        if self.shortfall > 1e-9:
            sides += f", short of margin {self.margin:.3g} by up to {self.shortfall:.2g} edges"
        least = ""
        if self.is_hard and self.least_error > 0:
            least = f"; with this margin no map errs less than {self.least_error:.1e}"
        trivial = self.trivial_errors.rms_squared
        return (
            f"{super().__str__()} Separation: {sides}{least}; the trivial map [margin * y, X] errs "
            f"by {trivial:.1e}."
        )
