"""How many dimensions separation needs: the least rank with a feasible separation map."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from labelfold.exceptions import InfeasibleMapWarning, InputError
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.progress import show_progress
from labelfold.semidefinite.separation import Separation, SeparationCertificate
from labelfold.semidefinite.separation_map import IsometricSeparationMap

__all__ = ["RankSearch", "find_least_rank"]


@dataclass(frozen=True, eq=False)
class RankSearch:
    """Result of :func:`find_least_rank`.

    Parameters
    ----------
    rank : int or None
        The least rank with a feasible map; None if there was none.
    estimator : IsometricSeparationMap or None
        The map of that rank, fitted.
    trials : dict of int to SeparationCertificate
        Certificate of the best map of each rank that was tried. One that is not ok proves nothing:
        the problem is not convex, and a better start might succeed.
    """

    rank: int | None
    estimator: IsometricSeparationMap | None = field(repr=False)
    trials: dict[int, SeparationCertificate]

    def __str__(self) -> str:
        lines = [
            f"rank {rank}: {'feasible' if trial.ok else 'not feasible'}, squared distances kept "
            f"to {trial.errors.rms_squared:.1e}, "
            f"{100 * trial.separation_error:.3g} % of the labels on the wrong side"
            for rank, trial in self.trials.items()
        ]
        found = "no feasible rank" if self.rank is None else f"least feasible rank {self.rank}"
        return "\n".join([found, *lines])


def find_least_rank(
    model: IsometricSeparationMap,
    X: Any,
    y: Any,
    *,
    ranks: Iterable[int] | None = None,
    graph: NeighborGraph | None = None,
) -> RankSearch:
    """Find the least rank at which a separation map keeps distances within its tolerance.

    Parameters
    ----------
    model : IsometricSeparationMap
        Parameters of the maps, such as ``tol`` and ``margin``; the search sets ``rank`` and
        ``n_components``, and ``label_weight=None``, since soft labels would give way instead. It
        is not fitted itself.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels; -1, None, NaN and pandas.NA are unlabeled.
    ranks : iterable of int, default=None
        Ranks to consider. By default from the number of normals to that number plus the features,
        at which the trivial map [margin * y, X] is feasible, and at most 50 more than the normals.
    graph : NeighborGraph, default=None
        A graph built from the same rows with the same parameters, to save the neighbor search.

    Returns
    -------
    RankSearch
        The least rank, its map, and all trials.

    Notes
    -----
    Bisection, since a map in few dimensions is one in more. A rank counts as not feasible after two
    starts: the model's own, and the feasible map of higher rank truncated to its leading columns.

    Examples
    --------
    >>> from labelfold import IsometricSeparationMap
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.semidefinite import find_least_rank
    >>> X, y, _ = make_swiss_roll(100, n_classes=2, n_bands=2, random_state=0)
    >>> model = IsometricSeparationMap(margin=0.01, random_state=0)
    >>> find_least_rank(model, X, y).rank
    3
    """
    graph = model.build_graph(X) if graph is None else graph
    n_normals = Separation.from_labels(PartialLabels.some_from_y(y)).n_normals
    if ranks is None:
        ranks = range(n_normals, n_normals + min(np.shape(X)[1], 50) + 1)
    candidates = sorted({int(rank) for rank in ranks})
    if not candidates or candidates[0] < n_normals:
        raise InputError(
            f"ranks={candidates} must hold at least one number, and none below {n_normals}, the "
            "number of normals: give other ranks, or None."
        )
    trials: dict[int, SeparationCertificate] = {}
    best: IsometricSeparationMap | None = None
    low, high = 0, len(candidates) - 1
    middle = high  # first find out whether any rank is feasible
    with show_progress(model.verbose) as progress:
        while low <= high:
            rank = candidates[middle]
            progress("ranks", len(trials), len(candidates), note=f"rank {rank}")
            tried = _best_of_starts(model, rank, X, y, graph, best)
            trials[rank] = tried.certificate_
            if tried.certificate_.ok:
                best, high = tried, middle - 1
            else:
                low = middle + 1
            middle = (low + high) // 2
    least = None if best is None else best.gram_factor_.shape[1]
    return RankSearch(least, best, dict(sorted(trials.items())))


def _best_of_starts(
    model: IsometricSeparationMap,
    rank: int,
    X: Any,
    y: Any,
    graph: NeighborGraph,
    higher: IsometricSeparationMap | None,
) -> IsometricSeparationMap:
    """Return the map of a rank from the model's start, or from a higher map if that errs less."""
    maps, inits = [], [model.init]
    if higher is not None:
        inits.append(higher.gram_factor_[:, :rank])
    for init in inits:
        one = clone(model).set_params(rank=rank, n_components=1, label_weight=None)
        one.set_params(init=init, verbose=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InfeasibleMapWarning)  # see trials
            maps.append(one.fit(X, y, graph=graph))
        if one.certificate_.ok:
            return one
    return min(maps, key=lambda one: one.certificate_.errors.decisive)
