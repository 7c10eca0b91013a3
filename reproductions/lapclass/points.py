"""Random subsets of points and random labelled points, for Figs. 2 and 3.

Every draw puts the points into an order of its own. A subset is the beginning of that order, and so
are the labelled points: in one draw, small subsets are parts of large ones and have the same
labelled points, so that errors can be compared draw by draw. Draws that come in a group agree in
one subset, whose costly work they share. Among all points these have orders apart: where as many
points are labelled as that subset has, they would all have the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.entry import Measurement, Setting

__all__ = ["LabeledPart", "Points", "Sample", "measure_draws", "n_draws"]

N_DRAWS, N_COSTLY_DRAWS = 20, 10
COSTLY = 9_000  # labels; the paper has 10 draws where it takes 2,000 eigenvectors, 20 elsewhere


@dataclass(frozen=True, eq=False)
class LabeledPart:
    """One draw of labels in a sample: its number, the labelled rows, and all others."""

    number: int
    given: NDArray[np.intp]
    hidden: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sample:
    """A subset of the points, and the draws that have it.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (size, n_features)
        Its points.
    y : ndarray of shape (size,)
        Their classes.
    orders : dict of int to ndarray of shape (size,)
        For every draw the sample's rows in its order.
    """

    X: Any
    y: NDArray[np.int64]
    orders: dict[int, NDArray[np.intp]]

    def parts(self, n_labels: int) -> Iterator[LabeledPart]:
        """Yield the draws of so many labels."""
        for number, order in self.orders.items():
            if number < n_draws(n_labels):
                yield LabeledPart(number, np.sort(order[:n_labels]), np.sort(order[n_labels:]))


@dataclass(frozen=True, eq=False)
class Points:
    """Points and their classes.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_points, n_features)
        The points.
    y : ndarray of shape (n_points,)
        Their classes, as numbers from 0.
    shared : int
        Size of the subset that the draws of a group share.
    group : int
        Number of draws in a group.
    """

    X: Any
    y: NDArray[np.int64]
    shared: int
    group: int

    def samples(self, size: int, n_draws: int) -> Iterator[Sample]:
        """Yield the different subsets of a size that so many draws have."""
        rows_before: NDArray[np.intp] | None = None
        orders: dict[int, NDArray[np.intp]] = {}
        for draw in range(n_draws):
            order = self._order(draw, size)
            rows = np.sort(order)
            if rows_before is not None and not np.array_equal(rows, rows_before):
                yield self._sample(rows_before, orders)
                orders = {}
            orders[draw] = np.searchsorted(rows, order)
            rows_before = rows
        if rows_before is not None:
            yield self._sample(rows_before, orders)

    def _sample(self, rows: NDArray[np.intp], orders: dict[int, NDArray[np.intp]]) -> Sample:
        if len(rows) == len(self.y):
            return Sample(self.X, self.y, orders)
        return Sample(self.X[rows], self.y[rows], orders)

    def _order(self, draw: int, size: int) -> NDArray[np.intp]:
        """Return the order of a draw; draws of a group agree in the first ``shared`` rows."""
        n = len(self.y)
        of_draw = np.random.default_rng([draw, n])
        if size == n and self.group > 1:
            return of_draw.permutation(n)
        of_group = np.random.default_rng([draw // self.group]).permutation(n)
        parts = of_group[: self.shared], of_group[self.shared :]
        return np.concatenate([of_draw.permutation(part) for part in parts])[:size]


def n_draws(n_labels: int) -> int:
    """Return how many draws there are for so many labels."""
    return N_COSTLY_DRAWS if n_labels >= COSTLY else N_DRAWS


def measure_draws(
    sample: Sample,
    n_labels: int,
    label: Callable[[LabeledPart], NDArray[Any]],
    setting: Setting,
) -> list[Measurement]:
    """Measure the error on the hidden rows of every draw.

    Parameters
    ----------
    sample : Sample
        The points.
    n_labels : int
        How many are labelled.
    label : callable
        ``label(part)`` returns the classes of the hidden rows.
    setting : mapping
        What the measurements belong to.
    """
    measurements = []
    for part in sample.parts(n_labels):
        error = float(np.mean(label(part) != sample.y[part.hidden]))
        n_scored = len(part.hidden)
        measurements.append(Measurement(error, setting, n_scored=n_scored, draw=part.number))
    return measurements
