"""An estimator as it goes into a file, and as it comes out.

Search trees and scorers of scikit-learn are left out and made again on loading, from the rows and
the name they were made from. The compact form has no more than ``transform`` and ``predict`` read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.neighbors import BallTree, KDTree

from labelfold.classify import LaplacianClassifier, ManifoldClassifier
from labelfold.classify.laplacian_columns import LaplacianColumns
from labelfold.ensemble import ResampledEmbedding
from labelfold.extend.new_points import NewPoints
from labelfold.graph import NeighborGraph
from labelfold.graph.query_graph import QueryGraph
from labelfold.semidefinite import IsometricSeparationMap, SupervisedSemidefiniteEmbedding
from labelfold.semidefinite.unfolder import Unfolder
from labelfold.spectral import LaplacianEigenmaps, MarginalFisherAnalysis, SupervisedLLE
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = ["complete", "to_storable"]

OURS = ("labelfold.", "sklearn.")  # others are refused anyway
TREES = {"kd_tree": KDTree, "ball_tree": BallTree}

# Attributes that are results for the rows of fit, or were of use in fit only.
LEFT_OUT: dict[type, tuple[str, ...]] = {
    IsometricSeparationMap: ("decision_values_", "label_distributions_", "transduction_"),
    LaplacianClassifier: ("label_distributions_", "transduction_"),
    ManifoldClassifier: ("embedding_", "label_distributions_", "transduction_"),
    MarginalFisherAnalysis: ("between_graph_", "within_graph_"),
    ResampledEmbedding: ("embedding_", "spread_", "subsamples_"),
    SupervisedLLE: ("neighbors_", "weights_"),
    SupervisedSemidefiniteEmbedding: ("edges_",),
    Unfolder: ("gram_factor_",),
}


def to_storable(estimator: Any, *, compact: bool) -> Any:
    """Return a copy that shares its arrays with the estimator and has no objects of libraries.

    Parameters
    ----------
    estimator : estimator
        Fitted; not changed.
    compact : bool
        Leave out what new rows do not need.
    """
    return _Copier(compact).copy(estimator)


def complete(estimator: Any) -> Any:
    """Make again, in place, what :func:`to_storable` left out; return the estimator."""
    for one in _estimators(estimator, set()):
        kind = getattr(one, "_fit_method", None)
        if kind in TREES and getattr(one, "_tree", 0) is None:
            metric, parameters = one.effective_metric_, one.effective_metric_params_
            one._tree = TREES[kind](one._fit_X, one.leaf_size, metric=metric, **parameters)
        if getattr(one, "scorer_", 0) is None:
            one.scorer_ = check_scoring(one.estimator, scoring=one.scoring)
    return estimator


class _Copier:
    def __init__(self, compact: bool) -> None:
        self._compact = compact
        self._copies: dict[int, Any] = {}

    def copy(self, value: Any) -> Any:
        """Return the copy of a value; the same for the same."""
        if id(value) not in self._copies:
            self._copies[id(value)] = self._make_copy(value)
        return self._copies[id(value)]

    def _make_copy(self, value: Any) -> Any:
        if isinstance(value, BaseEstimator) and type(value).__module__.startswith(OURS):
            return self._copy_estimator(value)
        if isinstance(value, NeighborGraph):
            return QueryGraph.of(value) if self._compact else value
        if isinstance(value, NewPoints):
            return self._copy_new_points(value)
        if isinstance(value, LaplacianColumns):
            # Read, so that they are there: both come from the graph's edges.
            value.position, value.heights  # noqa: B018
            return self._copy_object(value)
        if isinstance(value, LaplacianBasis):
            return self._copy_object(value)
        if type(value) in (list, tuple):
            return type(value)(self.copy(one) for one in value)
        if type(value) is dict:
            return {key: self.copy(one) for key, one in value.items()}
        return value

    def _copy_estimator(self, estimator: Any) -> Any:
        if self._compact and _reads_edges(estimator):
            self._copies[id(estimator.graph_)] = estimator.graph_
        result = self._copy_object(estimator)
        attributes = vars(result)
        if attributes.get("_fit_method") in TREES:
            attributes["_tree"] = None
        if "scorer_" in attributes and isinstance(attributes.get("scoring"), str | None):
            attributes["scorer_"] = None
        if self._compact:
            for kind, names in LEFT_OUT.items():
                if isinstance(estimator, kind):
                    for name in names:
                        attributes.pop(name, None)
        return result

    def _copy_new_points(self, points: NewPoints) -> NewPoints:
        if not self._compact:
            return self._copy_object(points)
        small = NewPoints.__new__(NewPoints)
        small.__dict__["extension"] = points.extension
        return small

    def _copy_object(self, value: Any) -> Any:
        kind: Any = type(value)
        result = kind.__new__(kind)
        result.__dict__.update({name: self.copy(one) for name, one in vars(value).items()})
        return result


def _reads_edges(estimator: Any) -> bool:
    """Tell whether ``transform`` divides by the degrees of the graph's points."""
    return isinstance(estimator, LaplacianEigenmaps) and bool(estimator.density)


def _estimators(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the estimators in a value, those inside others first."""
    if id(value) in seen:
        return
    seen.add(id(value))
    parts: Any = ()
    if isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, BaseEstimator):
        parts = vars(value).values()
    for part in list(parts):
        yield from _estimators(part, seen)
    if isinstance(value, BaseEstimator):
        yield value
