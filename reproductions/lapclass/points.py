"""Random subsets of points and random labeled points, for Figs. 2 and 3.

Every draw has its own order of the points. A subset is the beginning of that order, and so
are the labeled points: in one draw, small subsets are parts of large ones and have the same
labeled points, so errors can be compared draw by draw. Draws of a group share one subset and its
expensive work. Among all points they have separate orders: otherwise, with as many labels as that
subset has points, they would all have the same labeled points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.entry import Measurement, Setting

N_DRAWS, N_COSTLY_DRAWS = 20, 10
COSTLY = 9_000  # labels; the paper has 10 draws where it takes 2,000 eigenvectors, 20 elsewhere


@dataclass(frozen=True, eq=False)
class LabeledPart:
    """One draw of labels in a sample: its number, the labeled rows, and all others."""

    number: int
    given: NDArray[np.intp]
    hidden: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sample:
    """A subset of the points, and the draws that have it."""

    X: Any  # array or sparse array
    y: NDArray[np.int64]
    orders: dict[int, NDArray[np.intp]]  # for every draw the sample's rows in its order

    def parts(self, n_labels: int) -> Iterator[LabeledPart]:
        """Yield the draws of so many labels."""
        for number, order in self.orders.items():
            if number < n_draws(n_labels):
                yield LabeledPart(number, np.sort(order[:n_labels]), np.sort(order[n_labels:]))


@dataclass(frozen=True, eq=False)
class Points:
    """Points, and how draws share subsets of them."""

    X: Any  # array or sparse array
    y: NDArray[np.int64]  # from 0
    shared: int  # size of the subset that the draws of a group share
    group: int  # number of draws in a group

    def samples(self, size: int, n_draws: int) -> Iterator[Sample]:
        """Yield the different subsets of a size that so many draws have."""
        orders = {draw: self._order(draw, size) for draw in range(n_draws)}
        for _, draws in groupby(orders, key=lambda draw: np.sort(orders[draw]).tobytes()):
            some = list(draws)
            rows = np.sort(orders[some[0]])
            X, y = (self.X, self.y) if size == len(self.y) else (self.X[rows], self.y[rows])
            yield Sample(X, y, {draw: np.searchsorted(rows, orders[draw]) for draw in some})

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
    sample: Sample, n_labels: int, label: Callable[[LabeledPart], NDArray[Any]], setting: Setting
) -> list[Measurement]:
    """Measure the error of `label(part)`, the classes of the hidden rows, in every draw."""
    measurements = []
    for part in sample.parts(n_labels):
        error = float(np.mean(label(part) != sample.y[part.hidden]))
        n_scored = len(part.hidden)
        measurements.append(Measurement(error, setting, n_scored=n_scored, draw=part.number))
    return measurements
