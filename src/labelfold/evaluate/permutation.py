"""How much separation labels alone create, measured by shuffling them.

An embedding that saw the labels separates any labels: with small beta CCDR draws even random
classes apart. Shuffled labels hold no information about the rows, so any separation in their
embedding comes from having seen them, and the error on hidden labels is that of guessing.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, check_random_state

from labelfold.checks import check_integer
from labelfold.evaluate.quality import knn_error
from labelfold.evaluate.shared_fits import build_graphs, fit_together
from labelfold.evaluate.splits import as_splits, hide_rows, hold_out
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.labels.transduction import class_frequencies

__all__ = ["PermutedLabelBaseline", "permuted_label_baseline"]

LEVEL = 0.05  # of the test


@dataclass(frozen=True, eq=False)
class PermutedLabelBaseline:
    """Errors with the labels as given and with labels shuffled among the labeled rows.

    Parameters
    ----------
    embedding_error : float
        Leave-one-out error of nearest neighbors among the labeled rows of an embedding that saw all
        their labels. Small for any labels if the embedding follows them.
    hidden_error : float
        Error on labels hidden from embedder and head.
    permuted_embedding_errors, permuted_hidden_errors : ndarray of shape (n_permutations,)
        The same for shuffled labels.
    chance : float
        Error of always naming the largest class.
    """

    embedding_error: float
    hidden_error: float
    permuted_embedding_errors: NDArray[np.float64] = field(repr=False)
    permuted_hidden_errors: NDArray[np.float64] = field(repr=False)
    chance: float

    @property
    def p_value(self) -> float:
        """Probability of a hidden error as small as this if labels did not depend on the rows.

        The share of shuffles whose hidden error is no larger, the given labels counted among them.
        """
        n_as_good = np.count_nonzero(self.permuted_hidden_errors <= self.hidden_error)
        return float((1 + n_as_good) / (1 + len(self.permuted_hidden_errors)))

    @property
    def has_signal(self) -> bool:
        """Whether hidden labels are predicted better than shuffled ones, at the level of 5 %."""
        return self.p_value <= LEVEL

    def __str__(self) -> str:
        return (
            f"{'Signal' if self.has_signal else 'No signal'}: error on hidden labels "
            f"{self.hidden_error:.1%}, with shuffled labels "
            f"{self.permuted_hidden_errors.mean():.1%} (p = {self.p_value:.2g}), by guessing "
            f"{self.chance:.1%}; error on labels that the embedding saw "
            f"{self.embedding_error:.1%}, shuffled {self.permuted_embedding_errors.mean():.1%}."
        )


def permuted_label_baseline(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    n_neighbors: int = 3,
    n_permutations: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> PermutedLabelBaseline:
    """Compare a classifier on the given labels with itself on shuffled labels.

    Parameters
    ----------
    classifier : classifier
        One that sets ``embedding_`` and ``transduction_``, such as :class:`ManifoldClassifier`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels; some may be missing. They are shuffled among the labeled rows.
    cv : int or splitter, default=5
        Number of folds of :class:`LabeledKFold`, shuffled, or any splitter: the labels of one fold
        at a time are hidden.
    n_neighbors : int, default=3
        Neighbors for the error in the embedding.
    n_permutations : int, default=20
        Number of shuffles; 19 is the least that can reach the level of 5 %.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same shuffles and folds in every call.
    n_jobs : int, default=None
        Number of processes.

    Returns
    -------
    PermutedLabelBaseline
        Errors, p-value, and a sentence by ``str()``.

    Examples
    --------
    >>> from labelfold import ManifoldClassifier
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.evaluate import permuted_label_baseline
    >>> X, y, _ = make_swiss_roll(300, random_state=0)
    >>> baseline = permuted_label_baseline(ManifoldClassifier(), X, y, random_state=0)
    >>> baseline.has_signal
    True
    """
    labels = PartialLabels.from_y(y)
    check_consistent_length(X, y)
    check_integer("n_permutations", n_permutations, least=1)
    rng = check_random_state(random_state)
    if isinstance(cv, Integral):
        cv = as_splits(cv, shuffle=True, random_state=int(rng.randint(2**31 - 1)))
    shuffles = [labels] + [_shuffled(labels, rng) for _ in range(n_permutations)]
    [graph] = build_graphs([classifier], X)
    errors = Parallel(n_jobs=n_jobs)(
        delayed(_errors)(classifier, X, shuffle, cv, n_neighbors, graph) for shuffle in shuffles
    )
    given, *permuted = errors
    embedding_errors, hidden_errors = np.array(permuted).T
    chance = 1 - float(class_frequencies(labels).max())
    return PermutedLabelBaseline(given[0], given[1], embedding_errors, hidden_errors, chance)


def _shuffled(labels: PartialLabels, rng: np.random.RandomState) -> PartialLabels:
    codes = labels.codes.copy()
    codes[labels.mask] = rng.permutation(codes[labels.mask])
    return PartialLabels(codes, labels.classes)


def _errors(
    classifier: Any,
    X: Any,
    labels: PartialLabels,
    cv: Any,
    n_neighbors: int,
    graph: NeighborGraph | None,
) -> tuple[float, float]:
    """Return the error in the embedding that saw all labels, and that on hidden labels."""
    codes = labels.codes
    # A copy, so that every shuffle has the same folds even if the splitter holds a generator.
    folds = hold_out(copy.deepcopy(cv), X, codes)
    ys = [codes, *(hide_rows(codes, rows) for rows in folds)]
    n_wrong = n_hidden = 0
    embedding_error = np.nan
    for _, number, fitted in fit_together([classifier], X, ys, graph):
        if number == 0:
            embedding_error = knn_error(fitted.embedding_, codes, n_neighbors=n_neighbors)
            continue
        rows = folds[number - 1]
        n_wrong += int(np.count_nonzero(fitted.transduction_[rows] != codes[rows]))
        n_hidden += len(rows)
    return embedding_error, n_wrong / n_hidden
