"""On which side of which normal each labeled row must lie (ISM section 3), and the evidence.

Two classes have one normal, +1 for the second of them; more have one normal per class, +1 inside
and -1 outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.methods import stored
from labelfold.solvers.certificates import DistanceErrors, UnfoldingCertificate
from labelfold.solvers.lowrank.distances import DistanceProblem, compare_lengths
from labelfold.solvers.lowrank.sides import AnchorSides, HalfSpaces

__all__ = ["Separation", "SeparationCertificate"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@stored
@dataclass(frozen=True, eq=False)
class Separation:
    """Sides of the labeled rows.

    Parameters
    ----------
    labels : PartialLabels
        Labels of at least two classes.
    rows : ndarray of shape (n_labeled,)
        The labeled rows.
    signs : ndarray of shape (n_labeled, n_normals)
        Their sides, +1 or -1.
    """

    labels: PartialLabels
    rows: Numbers
    signs: Array

    @classmethod
    def from_labels(cls, labels: PartialLabels) -> Separation:
        """Return the sides that labels ask for."""
        rows = np.flatnonzero(labels.mask)
        positive = np.array([1]) if labels.n_classes == 2 else np.arange(labels.n_classes)
        return cls(labels, rows, np.where(labels.codes[rows][:, None] == positive, 1.0, -1.0))

    @property
    def n_normals(self) -> int:
        """Number of normals."""
        return self.signs.shape[1]

    def sides(
        self, margin: float, force: float, anchors: Numbers | None = None
    ) -> HalfSpaces | AnchorSides:
        """Return the constraints with the first axes as normals, or anchors (ISM eq. 5)."""
        points = np.repeat(self.rows, self.n_normals)
        normals = np.arange(self.n_normals) if anchors is None else anchors
        kind = HalfSpaces if anchors is None else AnchorSides
        return kind(points, np.tile(normals, len(self.rows)), self.signs.ravel(), margin, force)

    def deepest(self, start: Array) -> Numbers:
        """Return for every normal the labeled row on its side that lies farthest out."""
        inside = np.where(self.signs > 0, start[self.rows, : self.n_normals], -np.inf)
        return self.rows[inside.argmax(axis=0)]

    def check_anchors(self, anchors: Numbers) -> None:
        """Raise InputError unless anchors are labeled rows of their normals' classes."""
        classes = self.labels.classes.tolist()[-self.n_normals :]
        for row, sign, own in zip(anchors, self.signs.T, classes, strict=True):
            if row not in self.rows[sign > 0]:
                raise InputError(
                    f"normals={anchors.tolist()} name row {row} as anchor of class {own!r}, but y "
                    "has no such label there: name a row of that class."
                )

    def scores(self, values: Array) -> Array:
        """Return one score per class from the values along the normals.

        For two classes the second one's minus the first one's is the value.
        """
        return np.hstack([-values, values]) / 2 if self.n_normals == 1 else values

    def wrong(self, values: Array) -> float:
        """Return the share of labeled rows on the wrong side of at least one normal."""
        return float(np.mean(np.any(self.signs * values[self.rows] <= 0, axis=1)))

    def least_error(self, problem: DistanceProblem, margin: float) -> float:
        """Return a lower bound on the root mean square error of squared distances.

        Ends of an edge that lie on different sides of q normals are at least 2 margin sqrt(q)
        apart, in any number of dimensions.
        """
        signs = np.zeros((len(self.labels), self.n_normals))  # 0 for unlabeled rows
        signs[self.rows] = self.signs
        i, j = problem.edges.T
        q = np.sum(signs[i] * signs[j] < 0, axis=1)
        unit = float(np.max(problem.squares, initial=0.0)) or 1.0  # their squares might overflow
        stretched = np.maximum(4 * margin**2 * q - problem.squares, 0) / unit
        return float(np.linalg.norm(stretched) / (np.linalg.norm(problem.squares / unit) or 1.0))

    def trivial_errors(
        self, problem: DistanceProblem, margin: float, values: Array
    ) -> DistanceErrors:
        """Measure the map [margin * y, X], which separates anything.

        X keeps the distances of the problem. ``values`` are those of unlabeled rows along the
        normals, cut at the margin.
        """
        own = np.clip(values, -margin, margin)
        own[self.rows] = margin * self.signs
        unit = float(np.sqrt(np.mean(problem.squares))) or 1.0
        lengths = problem.lengths(own / unit) + problem.squares / unit**2
        return compare_lengths(problem, lengths, unit)

    def find_contradiction(self, numbers: Numbers) -> Numbers | None:
        """Return two rows of different classes that are one point, with equal numbers; or None."""
        codes, at = self.labels.codes[self.rows], numbers[self.rows]
        order = np.lexsort((codes, at))
        clash = np.flatnonzero((np.diff(at[order]) == 0) & (np.diff(codes[order]) != 0))
        return self.rows[order[clash[0] : clash[0] + 2]] if len(clash) else None


@stored
@dataclass(frozen=True)
class SeparationCertificate(UnfoldingCertificate):
    """Evidence for a separation map, on distances and on sides.

    Parameters
    ----------
    solver, errors, objective, bound, slack, rank, n_iter, tol, stopped_by
        As for :class:`~labelfold.solvers.certificates.UnfoldingCertificate`. The bound is for
        distances only, without sides.
    separation_error : float
        Share of the labeled rows on the wrong side of at least one normal.
    shortfall : float
        Largest length by which a labeled row falls short of its margin, in mean edge lengths.
    margin : float
        The margin, in mean edge lengths; squared ones for anchors.
    is_hard : bool
        Whether all labels had to be on their side.
    least_error : float
        Lower bound on ``errors.rms_squared`` in any number of dimensions, if all labeled rows
        keep the margin: edges between classes that are shorter than two margins must stretch.
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
        """The certificate in a few words."""
        if self.is_hard and self.least_error > self.tol:
            return "NOT feasible (edges between classes are shorter than two margins)"
        if self.stopped_by == "tolerance" and not self.ok:
            return "NOT separated" if self.separation_error else "NOT isometric"
        return super().verdict

    @property
    def advice(self) -> str:
        """What to change for a map that is ok."""
        if self.stopped_by == "iterations":
            return "raise max_iter, or tol"
        return (
            "lower margin or n_neighbors, raise rank or tol, or make labels soft with label_weight"
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
