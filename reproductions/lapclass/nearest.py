"""The baseline of Figs. 2 and 3: k nearest labeled points, for the best k and for a chosen one.

A point's nearest labeled points are the first labeled ones in the list of its nearest points.
These lists are computed once for all draws; if a list is too short, the labeled points are
searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from reproductions.entry import Measurement, Setting
from reproductions.lapclass.points import LabeledPart, Sample
from reproductions.lapclass.rules import BEST_K, CHOSEN_K

LARGEST_K = 10
LENGTH = 256  # of the lists
ENOUGH = 2.0  # times the largest k that a list should hold on average, or it is not worth making

# A draw, its errors for k = 1, 2, ..., and the index of the chosen k.
Trial = tuple[LabeledPart, NDArray[np.float64], int]


class NearestLabeled:
    """Finds the nearest labeled points of all points, the points themselves left out."""

    def __init__(self, sample: Sample, *, metric: str = "euclidean", length: int = LENGTH) -> None:
        self.sample = sample
        self.metric = metric
        self.length = min(length, len(sample.y) - 1)

    def find(self, part: LabeledPart, k: int) -> NDArray[np.intp]:
        """Return the k nearest labeled rows of every row, the nearest first."""
        n = len(self.sample.y)
        if self.length * len(part.given) < ENOUGH * k * n:
            return self._search(part, np.arange(n), k)
        is_given = np.zeros(n, dtype=bool)
        is_given[part.given] = True
        hits = is_given[self._lists]
        rank = np.cumsum(hits, axis=1, dtype=np.int32)
        complete = rank[:, -1] >= k
        found = np.empty((n, k), dtype=np.intp)
        wanted = hits & (rank <= k) & complete[:, None]
        found[complete] = self._lists[wanted].reshape(-1, k)
        rest = np.flatnonzero(~complete)
        if len(rest):
            found[rest] = self._search(part, rest, k)
        return found

    @cached_property
    def _lists(self) -> NDArray[np.int32]:
        search = NearestNeighbors(n_neighbors=self.length, algorithm="brute", metric=self.metric)
        lists = search.fit(self.sample.X).kneighbors(return_distance=False)
        return np.asarray(lists, dtype=np.int32)

    def _search(self, part: LabeledPart, rows: NDArray[np.intp], k: int) -> NDArray[np.intp]:
        X, given = self.sample.X, part.given
        search = NearestNeighbors(algorithm="brute", metric=self.metric).fit(X[given])
        found = given[search.kneighbors(X[rows], k + 1, return_distance=False)]
        keep = found != rows[:, None]
        keep[keep.all(axis=1), -1] = False  # unlabeled, or hidden by equal rows
        return np.asarray(found[keep].reshape(-1, k))


def measure_nearest(
    samples: Iterable[Sample],
    numbers_of_labels: Sequence[int],
    *,
    metric: str = "euclidean",
    length: int = LENGTH,
    setting: Setting,
) -> list[Measurement]:
    """Measure the errors of k-NN on the hidden rows of all draws.

    The best k has the least mean error over the draws, chosen with the answers; the
    chosen one has the least leave-one-out error on a draw's labeled rows.
    """
    trials: dict[int, list[Trial]] = {number: [] for number in numbers_of_labels}
    for sample in samples:
        search = NearestLabeled(sample, metric=metric, length=length)
        for number, some in trials.items():
            some += [_try(search, part) for part in sample.parts(number)]
    measurements = []
    for number, some in trials.items():
        best = int(np.mean([errors for _, errors, _ in some], axis=0).argmin())
        for choice in (BEST_K, CHOSEN_K):
            about = {**setting, "labels": number, "choice": choice}
            for part, errors, chosen in some:
                error, size = float(errors[best if choice == BEST_K else chosen]), len(part.hidden)
                measurements.append(Measurement(error, about, n_scored=size, draw=part.number))
        about = {**setting, "labels": number, "choice": BEST_K}
        measurements.append(Measurement(best + 1, about, "k", unit="choice"))
    return measurements


def _try(search: NearestLabeled, part: LabeledPart) -> Trial:
    y = search.sample.y
    wrong = vote(y[search.find(part, min(LARGEST_K, len(part.given) - 1))]) != y[:, None]
    left_out = wrong[part.given].mean(axis=0)
    return part, wrong[part.hidden].mean(axis=0), int(left_out.argmin())


def vote(classes: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the most frequent, then smallest, among the first 1, 2, ... classes of every row."""
    n, k = classes.shape
    counts = np.zeros((n, int(classes.max()) + 1), dtype=np.int16)
    winners = np.empty((n, k), dtype=np.intp)
    for place in range(k):
        counts[np.arange(n), classes[:, place]] += 1
        winners[:, place] = counts.argmax(axis=1)
    return winners
