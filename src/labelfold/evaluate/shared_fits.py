"""Many fits on the same rows, with whatever they have in common computed once.

The neighbour graph depends on neither labels nor head: candidates with the same graph parameters
share one. A map does not depend on the head, and the eigenmap of few dimensions is the beginning of
that of more: classifiers that differ in these only share a solve. Where the map does not see labels
either, all folds share it; so they do the eigenvectors of the Laplacian classifier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from labelfold.classify import LaplacianClassifier, ManifoldClassifier
from labelfold.classify.embedding import as_array, embed
from labelfold.classify.laplacian_scores import largest_number
from labelfold.graph import NeighborGraph
from labelfold.graph.fingerprint import fingerprint
from labelfold.labels import PartialLabels
from labelfold.methods import is_blind_to_labels
from labelfold.spectral.laplacian_basis import LaplacianBasis

__all__ = ["SharedFit", "build_graphs", "fit_together", "plan_fits"]


@dataclass(frozen=True)
class SharedFit:
    """Candidates and folds, by their numbers, that one map serves."""

    candidates: tuple[int, ...]
    folds: tuple[int, ...]


def plan_fits(models: Sequence[Any], n_folds: int) -> list[SharedFit]:
    """Group candidates and folds by the map that they share.

    Parameters
    ----------
    models : sequence of estimators
        The candidates, unfitted.
    n_folds : int
        Number of folds.

    Returns
    -------
    list of SharedFit
        Every pair of candidate and fold occurs once.
    """
    groups: dict[Any, list[int]] = defaultdict(list)
    for number, model in enumerate(models):
        if isinstance(model, ManifoldClassifier):
            groups[_map_key(model.embedder)].append(number)
        elif isinstance(model, LaplacianClassifier):
            groups[_map_key(model)].append(number)
        else:
            groups[number].append(number)
    plan = []
    for members in groups.values():
        sees_labels = _sees_labels(models[members[0]])
        folds = [(fold,) for fold in range(n_folds)] if sees_labels else [tuple(range(n_folds))]
        plan += [SharedFit(tuple(members), some) for some in folds]
    return plan


def build_graphs(models: Sequence[Any], X: Any) -> list[NeighborGraph | None]:
    """Build every distinct graph once.

    Parameters
    ----------
    models : sequence of estimators
        The candidates.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.

    Returns
    -------
    list of NeighborGraph or None
        One entry a model; None where it takes no graph.
    """
    built: dict[Any, NeighborGraph] = {}
    graphs: list[NeighborGraph | None] = []
    for model in models:
        maker = _graph_maker(model)
        if maker is None:
            graphs.append(None)
            continue
        key = fingerprint([getattr(maker, name) for name in maker.graph_parameters])
        if key not in built:
            built[key] = maker.build_graph(X)
        graphs.append(built[key])
    return graphs


def fit_together(
    models: Sequence[Any], X: Any, ys: Sequence[ArrayLike], graph: NeighborGraph | None
) -> Iterator[tuple[int, int, Any]]:
    """Fit models that share a map, for every y.

    Parameters
    ----------
    models : sequence of estimators
        The candidates of one :class:`SharedFit`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    ys : sequence of array-like of shape (n_samples,)
        Labels, one array a fold.
    graph : NeighborGraph or None
        Their graph.

    Yields
    ------
    model, fold, fitted : int, int, estimator
        Numbers within ``models`` and ``ys``, and the model fitted for that fold.
    """
    if not isinstance(models[0], ManifoldClassifier):
        fit_parameters: dict[str, Any] = {} if graph is None else {"graph": graph}
        if isinstance(models[0], LaplacianClassifier):
            fit_parameters = {"basis": _widest_basis(models, X, ys, graph)}
        for number, model in enumerate(models):
            for fold, y in enumerate(ys):
                yield number, fold, clone(model).fit(X, y, **fit_parameters)
        return
    embedder, embedding = None, None
    for fold, y in enumerate(ys):
        labels = PartialLabels.from_y(y)
        embedders = [model.make_embedder(labels) for model in models]
        if embedder is None or _sees_labels(models[0]):
            embedder = _widest(embedders)
            embedding = as_array(embed(embedder, X, y, labels, graph))
        for number, model in enumerate(models):
            own, coordinates = _cut_to(embedders[number], embedder, embedding)
            yield number, fold, clone(model).fit_head(own, coordinates, y)


def _widest_basis(
    models: Sequence[Any], X: Any, ys: Sequence[ArrayLike], graph: NeighborGraph | None
) -> LaplacianBasis:
    """Return eigenvectors that are enough for every model and fold."""
    every = [PartialLabels.from_y(y) for y in ys]
    most = max(
        largest_number(model.n_eigenvectors, model.penalty, labels)
        for model in models
        for labels in every
    )
    return models[0].build_basis(X, most, graph=graph)


def _widest(embedders: list[Any]) -> Any:
    """Return the embedder whose map begins with all the others'."""
    if not hasattr(embedders[0], "truncated"):
        return embedders[0]
    for one in embedders:
        if not isinstance(one.n_components, Integral) or one.n_components < 1:
            return one  # whose fit says what is wrong
    return max(embedders, key=lambda one: one.n_components)


def _cut_to(wanted: Any, fitted: Any, embedding: Any) -> tuple[Any, Any]:
    """Return the fitted map with as many coordinates as the wanted one has."""
    if not hasattr(fitted, "truncated") or wanted.n_components == fitted.n_components:
        return fitted, embedding
    cut = fitted.truncated(wanted.n_components)
    return cut, cut.embedding_


def _sees_labels(model: Any) -> bool:
    """Say whether a map may depend on labels; only the library's own are known not to."""
    if isinstance(model, LaplacianClassifier):
        return False
    embedder = model.embedder if isinstance(model, ManifoldClassifier) else None
    return not is_blind_to_labels(embedder)


def _graph_maker(model: Any) -> Any:
    """Return what builds the model's graph: itself, its embedder, or nothing."""
    maker = model
    if isinstance(model, ManifoldClassifier):
        # The embedder itself where there is one: a clone's copies of its parameters have other ids.
        maker = model.embedder
        if maker is None:
            maker = model.make_embedder(PartialLabels.none(2))
    return maker if hasattr(maker, "build_graph") else None


def _map_key(maker: Any) -> Any:
    """Return a key that is equal where two embedders share a map, or two classifiers a basis."""
    if maker is None:
        return None
    parameters = maker.get_params()
    if hasattr(maker, "truncated") and isinstance(maker.n_components, Integral):
        del parameters["n_components"]
    if isinstance(maker, LaplacianClassifier):
        for name in ("n_eigenvectors", "penalty", "penalty_power"):
            del parameters[name]
    return type(maker), tuple((name, fingerprint(v)) for name, v in sorted(parameters.items()))
