"""How many dimensions separation needs: the least rank at which a separation map is feasible."""

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

__all__ = ["RankSearch", "RankTrial", "find_least_rank"]


@dataclass(frozen=True)
class RankTrial:
    """A map that was tried: its rank, its certificate, and whether the certificate is ok."""

    rank: int
    certificate: SeparationCertificate

    @property
    def ok(self) -> bool:
        """Whether the map is feasible."""
        return self.certificate.ok


@dataclass(frozen=True, eq=False)
class RankSearch:
    """What :func:`find_least_rank` found.

    Parameters
    ----------
    rank : int or None
        The least rank at which a map was found; None if there was none.
    estimator : IsometricSeparationMap or None
        The map of that rank, fitted.
    trials : tuple of RankTrial
        The best map of each rank that was tried, by rank. A failure proves nothing: the problem is
        not convex, and a better start might do.
    """

    rank: int | None
    estimator: IsometricSeparationMap | None = field(repr=False)
    trials: tuple[RankTrial, ...]

    def __str__(self) -> str:
        lines = [
            f"rank {trial.rank}: {'feasible' if trial.ok else 'not feasible'}, squared distances "
            f"kept to {trial.certificate.errors.rms_squared:.1e}, "
            f"{100 * trial.certificate.separation_error:.3g} % of the labels on the wrong side"
            for trial in self.trials
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
        Parameters of the maps, ``tol`` and ``margin`` among them; ``rank`` and ``n_components`` are
        the search's. It is not fitted itself.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels; -1, None, NaN and pandas.NA are unlabelled.
    ranks : iterable of int, default=None
        Ranks to consider. By default from the number of normals to that number plus the features,
        where the trivial map [margin * y, X] is, and at most 50 more than the normals.
    graph : NeighborGraph, default=None
        A graph built from the same rows with the same parameters, to spare the search.

    Returns
    -------
    RankSearch
        The least rank, its map, and all trials.

    Notes
    -----
    Bisection, as whatever a map can do in few dimensions it can do in more. A rank counts as not
    feasible after two starts: the model's own, and the feasible map of higher rank cut down to its
    leading columns.

    Examples
    --------
    >>> from labelfold import IsometricSeparationMap
    >>> from labelfold.datasets import make_swiss_roll
    >>> from labelfold.semidefinite import find_least_rank
    >>> X, y, _ = make_swiss_roll(100, n_classes=2, n_bands=2, random_state=0)
    >>> model = IsometricSeparationMap(margin=0.01, objective="none", random_state=0)
    >>> find_least_rank(model, X, y).rank
    3
    """
    graph = model.build_graph(X) if graph is None else graph
    n_normals = Separation.of(PartialLabels.some_from_y(y)).n_normals
    if ranks is None:
        ranks = range(n_normals, n_normals + min(np.shape(X)[1], 50) + 1)
    candidates = sorted({int(rank) for rank in ranks})
    if not candidates or candidates[0] < n_normals:
        raise InputError(
            f"ranks={candidates} must hold at least one number, and none below {n_normals}, the "
            "number of normals."
        )
    trials: dict[int, RankTrial] = {}
    best: IsometricSeparationMap | None = None
    low, high = 0, len(candidates) - 1
    middle = high  # whether there is any comes first
    with show_progress(model.verbose) as progress:
        while low <= high:
            rank = candidates[middle]
            progress("ranks", len(trials), len(candidates), note=f"rank {rank}")
            tried = _best_of_starts(model, rank, X, y, graph, best)
            trials[rank] = RankTrial(rank, tried.certificate_)
            if tried.certificate_.ok:
                best, high = tried, middle - 1
            else:
                low = middle + 1
            middle = (low + high) // 2
    found = None if best is None else best.gram_factor_.shape[1]
    return RankSearch(found, best, tuple(trials[rank] for rank in sorted(trials)))


def _best_of_starts(
    model: IsometricSeparationMap,
    rank: int,
    X: Any,
    y: Any,
    graph: NeighborGraph,
    higher: IsometricSeparationMap | None,
) -> IsometricSeparationMap:
    """Return the map of a rank from the model's start, or from a higher map if that errs less."""
    maps = []
    for start in [model.start] if higher is None else [model.start, higher.gram_factor_[:, :rank]]:
        one = clone(model).set_params(rank=rank, n_components=1, start=start, verbose=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InfeasibleMapWarning)  # trials tell
            maps.append(one.fit(X, y, graph=graph))
        if one.certificate_.ok:
            return one
    return min(maps, key=lambda one: one.certificate_.errors.decisive)
