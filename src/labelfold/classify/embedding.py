"""Fit any embedder on points of which some are labelled, giving it the labels it understands.

Embedders come in three kinds. Some declare that they take partial labels. Some
need a complete y, as scikit-learn's supervised transformers do: to them an unlabelled row would be
a row of class -1, so they are fitted on the labelled rows alone. All others see no labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags

from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.labels import PartialLabels
from labelfold.methods import takes_partial_labels

__all__ = ["as_array", "embed"]


def embed(
    embedder: Any, X: Any, y: ArrayLike, labels: PartialLabels, graph: NeighborGraph | None = None
) -> Any:
    """Fit the embedder on all rows and return their coordinates.

    Parameters
    ----------
    embedder : transformer
        Fitted in place; the steps of a pipeline one by one.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Their labels as the user gave them.
    labels : PartialLabels
        What was read from ``y``.
    graph : NeighborGraph, default=None
        For an embedder of this library, built from its input.

    Returns
    -------
    {ndarray, sparse matrix, DataFrame} of shape (n_samples, n_components)
        Coordinates.
    """
    if isinstance(embedder, Pipeline):
        last = len(embedder.steps) - 1
        for number, (_, step) in enumerate(embedder.steps):
            if step is not None and step != "passthrough":
                X = embed(step, X, y, labels, graph if number == last else None)
        return X
    given: dict[str, Any] = {}
    if graph is not None:
        if not hasattr(embedder, "build_graph"):
            raise InputError(
                f"graph was given, but {type(embedder).__name__} takes none: leave it out, or use "
                "an embedder that stands on a graph."
            )
        given["graph"] = graph
    if takes_partial_labels(embedder):
        return embedder.fit_transform(X, y, **given)
    if get_tags(embedder).target_tags.required:
        return _embed_by_labeled(embedder, X, labels)
    try:
        return embedder.fit_transform(X, **given)
    except ValueError as error:
        # Feature selectors need y and have no tag that says so, only scikit-learn's usual message.
        if "requires y" not in str(error):
            raise
        return _embed_by_labeled(embedder, X, labels)


def as_array(coordinates: Any) -> Any:
    """Return the values of a data frame, and anything else as it is."""
    return coordinates.to_numpy() if hasattr(coordinates, "to_numpy") else coordinates


def _embed_by_labeled(embedder: Any, X: Any, labels: PartialLabels) -> Any:
    rows = np.flatnonzero(labels.mask)
    embedder.fit(_safe_indexing(X, rows), labels.at(rows))
    return embedder.transform(X)
