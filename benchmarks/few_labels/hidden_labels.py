"""Choice of parameters by hidden labels: from candidates to the one that names most of them right.

Labeled rows are hidden in up to five folds, spread over the classes, and named from the other
labels. A row whose class has no other label is never hidden. If no row can be hidden, the first
candidate is taken; the first of equals too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

N_FOLDS = 5

Candidate = TypeVar("Candidate")
Codes = NDArray[np.int64]
# From a candidate, labeled rows and their codes to the codes of other rows.
Classify = Callable[[Candidate, Codes, Codes, Codes], Codes]


def choose(
    candidates: Sequence[Candidate],
    classify: Classify[Candidate],
    labeled: NDArray[np.int64],
    codes: Codes,
) -> Candidate:
    """Return the candidate with the fewest errors on hidden labels."""
    folds = list(hide_in_folds(codes))
    if not folds:
        return candidates[0]

    def count_errors(candidate: Candidate) -> int:
        return sum(
            np.count_nonzero(
                classify(candidate, labeled[rest], codes[rest], labeled[hidden]) != codes[hidden]
            )
            for rest, hidden in folds
        )

    return min(candidates, key=count_errors)


def hide_in_folds(codes: Codes) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield positions of labels that stay and of labels that are hidden.

    Labels are dealt out to the folds class after class, so that no fold has all of a class: every
    class stays, and folds differ by at most one label in size.

    >>> for rest, hidden in hide_in_folds(np.array([0, 1, 2, 0, 1])):
    ...     print(rest, hidden)
    [1 2 3 4] [0]
    [0 1 2 4] [3]
    [0 2 3 4] [1]
    [0 1 2 3] [4]
    """
    order = np.argsort(codes, kind="stable")
    repeated = order[np.bincount(codes)[codes[order]] > 1]
    n_folds = min(N_FOLDS, len(repeated))
    for fold in range(n_folds):
        hidden = np.sort(repeated[fold::n_folds])
        yield np.setdiff1d(np.arange(len(codes)), hidden), hidden
