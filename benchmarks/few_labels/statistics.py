"""Statistics of results: mean errors, paired differences, mean ranks and their critical difference.

A cell is one set with one number of labels. Errors of two methods in a cell are paired by seed,
since both had the same labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

from benchmarks.few_labels.data import COUNTS, PER_CLASS
from benchmarks.few_labels.results import Result

Cell = tuple[str, int]
# Labels per class on average; "most" is the larger number that some sets have besides.
LEVELS = (*map(str, PER_CLASS), "most")


@dataclass(frozen=True)
class Difference:
    """How much larger one method's error is than another's in a cell, paired by seed."""

    cell: Cell
    mean: float
    standard_error: float  # NaN for a single draw

    @property
    def is_worse(self) -> bool:
        """Return whether it is above both one point and two standard errors."""
        return self.mean > 0.01 and self.mean > 2 * self.standard_error


class Errors:
    """Errors of all methods by cell and seed."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._errors: dict[str, dict[Cell, dict[int, float]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for result in results:
            if result.error is not None:
                cell = result.set, result.n_labels
                self._errors[result.method][cell][result.seed] = result.error

    @property
    def methods(self) -> list[str]:
        """Return the methods with a result."""
        return list(self._errors)

    def mean(self, method: str, cell: Cell) -> float:
        """Return the mean error in a cell, NaN if it was not run."""
        errors = self._errors[method].get(cell)
        return float(np.mean(list(errors.values()))) if errors else np.nan

    def means(self, methods: Sequence[str], cells: Sequence[Cell]) -> NDArray[np.float64]:
        """Return mean errors, a row per cell and a column per method."""
        return np.array([[self.mean(method, cell) for method in methods] for cell in cells])

    def difference(self, method: str, other: str, cell: Cell) -> Difference | None:
        """Return by how much `method` errs more than `other`, None without common seeds."""
        first, second = self._errors[method].get(cell, {}), self._errors[other].get(cell, {})
        gaps = [first[seed] - second[seed] for seed in first.keys() & second.keys()]
        if not gaps:
            return None
        spread = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
        return Difference(cell, float(np.mean(gaps)), float(spread))


def cells_at(level: str, sets: Sequence[str]) -> list[Cell]:
    """Return the cells of the sets that have this level.

    >>> cells_at("5", ["digits", "moons"]), cells_at("most", ["digits", "moons"])
    ([('digits', 50), ('moons', 10)], [('moons', 100)])
    """
    position = LEVELS.index(level)
    return [(name, COUNTS[name][position]) for name in sets if position < len(COUNTS[name])]


def mean_ranks(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of every column of errors; equal errors share their mean rank.

    >>> mean_ranks(np.array([[0.1, 0.2, 0.3], [0.1, 0.1, 0.2]]))
    array([1.25, 1.75, 3.  ])
    """
    return rankdata(means, axis=1).mean(axis=0)


def critical_difference(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """Return how far apart mean ranks must be to differ, by Nemenyi's test.

    For k methods on N sets it is q sqrt(k (k + 1) / (6 N)), with q the quantile of the studentized
    range divided by sqrt(2) (J. Demsar, "Statistical comparisons of classifiers over multiple data
    sets", JMLR 7, 2006, section 3.2.2). His example has 4 methods on 14 sets:

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
