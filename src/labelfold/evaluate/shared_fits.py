"""Many fits on the same rows, with what they have in common computed once.

An estimator says what it can share by methods that any class may have:

- ``build_graph(X)`` and ``graph_key()``: estimators with equal keys get one neighbor graph, passed
  to ``fit(X, y, graph=...)``.
- ``sharing_key()`` and ``fit_many(models, X, ys, graph)``: candidates with equal keys are fitted
  together, and ``shares_folds()`` says whether one call serves all folds. So
  :class:`ManifoldClassifier` shares an embedding among heads, and the first coordinates of an
  eigenmap among dimensions; :class:`LaplacianClassifier` shares eigenvectors.

An estimator without the latter is fitted by itself for every fold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from labelfold.graph import NeighborGraph

__all__ = ["SharedFit", "build_graphs", "fit_together", "plan_fits"]


@dataclass(frozen=True)
class SharedFit:
    """Positions of the candidates and folds that one call of ``fit_many`` serves."""

    candidates: tuple[int, ...]
    folds: tuple[int, ...]


def plan_fits(models: Sequence[Any], n_folds: int) -> list[SharedFit]:
    """Group candidates and folds by what they share; every pair of them occurs once."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, model in enumerate(models):
        shares = hasattr(model, "sharing_key")
        groups[(type(model), model.sharing_key()) if shares else number].append(number)
    plan = []
    for members in groups.values():
        first = models[members[0]]
        one_for_all = hasattr(first, "sharing_key") and first.shares_folds()
        folds = [tuple(range(n_folds))] if one_for_all else [(fold,) for fold in range(n_folds)]
        plan += [SharedFit(tuple(members), some) for some in folds]
    return plan


def build_graphs(models: Sequence[Any], X: Any) -> list[NeighborGraph | None]:
    """Return each model's graph, equal ones built once; None for a model that takes none."""
    built: dict[Hashable, NeighborGraph] = {}
    graphs: list[NeighborGraph | None] = []
    for model in models:
        if not hasattr(model, "graph_key"):
            graphs.append(None)
            continue
        key = model.graph_key()
        if key not in built:
            built[key] = model.build_graph(X)
        graphs.append(built[key])
    return graphs


def fit_together(
    models: Sequence[Any], X: Any, ys: Sequence[ArrayLike], graph: NeighborGraph | None
) -> Iterator[tuple[int, int, Any]]:
    """Fit the candidates of one :class:`SharedFit` for every y.

    Yields
    ------
    model, fold, fitted : int, int, estimator
        Positions in ``models`` and ``ys``, and the model fitted for that fold.
    """
    if hasattr(models[0], "fit_many"):
        yield from models[0].fit_many(models, X, ys, graph)
        return
    given = {} if graph is None else {"graph": graph}
    for number, model in enumerate(models):
        for fold, y in enumerate(ys):
            yield number, fold, clone(model).fit(X, y, **given)
