"""Which points lie on which side of which normal (ISM section 3), and how good a map of them is.

Two classes have one normal, +1 for the second of them; more have one normal a class, +1 inside and
-1 outside.
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
    """Sides of the labelled points.

    Parameters
    ----------
    labels : PartialLabels
        Labels of at least two classes.
    rows : ndarray of shape (n_labeled,)
        The labelled points.
    signs : ndarray of shape (n_labeled, n_normals)
        Their sides, +1 or -1.
    """

    labels: PartialLabels
    rows: Numbers
    signs: Array

    @classmethod
    def of(cls, labels: PartialLabels) -> Separation:
        """Return the sides that labels ask for."""
        rows = np.flatnonzero(labels.mask)
        positive = np.array([1]) if labels.n_classes == 2 else np.arange(labels.n_classes)
        return cls(labels, rows, np.where(labels.codes[rows][:, None] == positive, 1.0, -1.0))

    @property
    def n_normals(self) -> int:
        """Number of normals."""
        return self.signs.shape[1]

    def half_spaces(self, margin: float, force: float) -> HalfSpaces:
        """Return the constraints with the first axes as normals."""
        points, axes = np.repeat(self.rows, self.n_normals), np.arange(self.n_normals)
        return HalfSpaces(points, np.tile(axes, len(self.rows)), self.signs.ravel(), margin, force)

    def anchor_sides(self, anchors: Numbers, margin: float, force: float) -> AnchorSides:
        """Return the constraints with points as normals (ISM eq. 5)."""
        points = np.repeat(self.rows, self.n_normals)
        return AnchorSides(
            points, np.tile(anchors, len(self.rows)), self.signs.ravel(), margin, force
        )

    def deepest(self, start: Array) -> Numbers:
        """Return for every normal the labelled point on its side that lies farthest out."""
        inside = np.where(self.signs > 0, start[self.rows, : self.n_normals], -np.inf)
        return self.rows[inside.argmax(axis=0)]

    def check_anchors(self, anchors: Numbers) -> None:
        """Refuse anchors that are not labelled points of their normals' classes."""
        classes = self.labels.classes.tolist()[-self.n_normals :]
        for row, sign, own in zip(anchors, self.signs.T, classes, strict=True):
            if row not in self.rows[sign > 0]:
                raise InputError(
                    f"normals={anchors.tolist()} name row {row} as anchor of class {own!r}, but y "
                    "has no such label there."
                )

    def scores(self, values: Array) -> Array:
        """Return a score a class from the values along the normals.

        For two classes the second one's minus the first one's is the value.
        """
        return np.hstack([-values, values]) / 2 if self.n_normals == 1 else values

    def wrong(self, values: Array) -> float:
        """Return the share of labelled points on the wrong side of at least one normal."""
        return float(np.mean(np.any(self.signs * values[self.rows] <= 0, axis=1)))

    def signs_of_all(self) -> Array:
        """Return the sides of all points, 0 for unlabelled ones."""
        signs = np.zeros((len(self.labels), self.n_normals))
        signs[self.rows] = self.signs
        return signs

    def least_error(self, problem: DistanceProblem, margin: float) -> float:
        """Return what the root mean square error of squared distances is at least.

        Ends of an edge that lie on different sides of q normals are at least 2 margin sqrt(q)
        apart, in any number of dimensions.
        """
        signs, (i, j) = self.signs_of_all(), problem.edges.T
        q = np.sum(signs[i] * signs[j] < 0, axis=1)
        unit = float(np.max(problem.squares, initial=0.0)) or 1.0  # their squares might overflow
        stretched = np.maximum(4 * margin**2 * q - problem.squares, 0) / unit
        return float(np.linalg.norm(stretched) / (np.linalg.norm(problem.squares / unit) or 1.0))

    def trivial_errors(
        self, problem: DistanceProblem, margin: float, values: Array
    ) -> DistanceErrors:
        """Measure the map [margin * y, X], which separates anything.

        Parameters
        ----------
        problem : DistanceProblem
            The distances, which X keeps.
        margin : float
            The margin.
        values : ndarray of shape (n_points, n_normals)
            What unlabelled points have along the normals, taken as far as the margin.
        """
        own = np.clip(values, -margin, margin)
        own[self.rows] = margin * self.signs
        unit = float(np.sqrt(np.mean(problem.squares))) or 1.0
        lengths = problem.lengths(own / unit) + problem.squares / unit**2
        return compare_lengths(problem, lengths, unit)

    def contradictions(self, numbers: Numbers) -> tuple[int, int] | None:
        """Return two labelled points of different classes that are one point; None if none are.

        Parameters
        ----------
        numbers : ndarray of shape (n_points,)
            Equal for points that are one.
        """
        codes, at = self.labels.codes[self.rows], numbers[self.rows]
        order = np.lexsort((codes, at))
        clash = (np.diff(at[order]) == 0) & (np.diff(codes[order]) != 0)
        if not clash.any():
            return None
        first = int(np.argmax(clash))
        return int(self.rows[order[first]]), int(self.rows[order[first + 1]])


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
