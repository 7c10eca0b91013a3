"""What a fitted estimator has to show: its map, its answers, and new points on the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.plotting.confidence import confidence_in
from labelfold.plotting.map_inputs import check_labels

NO_MAP = (
    "{name} has no map, neither embedding_ nor transform: draw its answers on the map of an "
    "embedder, by EmbeddingDisplay.from_predictions."
)


@dataclass(frozen=True)
class EstimatorMap:
    """Rows of a map with what the estimator says of them; new points come last.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        Coordinates.

    labels : PartialLabels or None
        The labels that were given; new points have none.

    predictions : ndarray of shape (n_samples,) or None
        The estimator's answers.

    confidence : ndarray of shape (n_samples,) or None
        How sure it is of each; None where it gives no distributions.

    is_new : ndarray of bool of shape (n_samples,) or None
        Which points are new; None without any.

    class_centers, classes : ndarray or None
        Those of the estimator, where it has any.
    """

    embedding: NDArray[Any]
    labels: PartialLabels | None
    predictions: NDArray[Any] | None
    confidence: NDArray[np.float64] | None
    is_new: NDArray[np.bool_] | None
    class_centers: NDArray[Any] | None
    classes: NDArray[Any] | None


def read_estimator(
    estimator: Any, X: Any, y: Any, X_new: Any, show_predictions: bool
) -> EstimatorMap:
    """Collect what a picture of an estimator's map needs; see `EmbeddingDisplay.from_estimator`."""
    check_is_fitted(estimator)
    estimator = getattr(estimator, "best_estimator_", estimator)
    mapper = getattr(estimator, "embedder_", estimator)
    embedding = _own_embedding(estimator, mapper) if X is None else _mapped(mapper, X, "X")
    labels = check_labels(y, len(embedding), "y")
    answers: list[tuple[NDArray[Any], NDArray[np.float64] | None]] = []
    if show_predictions:
        answers.append(_own_answers(estimator) if X is None else _answers(estimator, X, "X"))
    is_new = None
    if X_new is not None:
        placed = _mapped(mapper, X_new, "X_new")
        is_new = np.repeat([False, True], [len(embedding), len(placed)])
        embedding = np.concatenate([embedding, placed])
        if labels is not None:
            none = PartialLabels.none(len(placed)).codes
            labels = PartialLabels(np.concatenate([labels.codes, none]), labels.classes)
        if show_predictions:
            answers.append(_answers(estimator, X_new, "X_new"))
    predictions = np.concatenate([given for given, _ in answers]) if answers else None
    sure = [confidence for _, confidence in answers if confidence is not None]
    return EstimatorMap(
        embedding,
        labels,
        predictions,
        np.concatenate(sure) if answers and len(sure) == len(answers) else None,
        is_new,
        getattr(mapper, "class_centers_", None),
        getattr(estimator, "classes_", None),
    )


def _own_embedding(estimator: Any, mapper: Any) -> NDArray[Any]:
    # A classifier that was saved in compact form leaves the coordinates to its embedder.
    for owner in (estimator, mapper):
        if hasattr(owner, "embedding_"):
            return np.asarray(owner.embedding_)
    name = type(estimator).__name__
    if hasattr(mapper, "transform"):
        raise InputError(
            f"{name} keeps no embedding_ of its training points: pass X, the points to draw."
        )
    raise InputError(NO_MAP.format(name=name))


def _mapped(mapper: Any, X: Any, argument: str) -> NDArray[Any]:
    if not hasattr(mapper, "transform"):
        if not hasattr(mapper, "embedding_"):
            raise InputError(NO_MAP.format(name=type(mapper).__name__))
        raise InputError(
            f"{argument} cannot be drawn, since {type(mapper).__name__} has no transform: "
            f"leave {argument} out, or use an estimator that maps new points."
        )
    return np.asarray(mapper.transform(X))


def _own_answers(estimator: Any) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Predictions for the rows of fit, and how sure they are."""
    if not hasattr(estimator, "transduction_"):
        raise InputError(
            f"show_predictions=True, but {type(estimator).__name__} has no transduction_: use a "
            "classifier such as ManifoldClassifier, or EmbeddingDisplay.from_predictions."
        )
    predictions = np.asarray(estimator.transduction_)
    if not hasattr(estimator, "label_distributions_"):
        return predictions, None
    distributions = np.asarray(estimator.label_distributions_)
    return predictions, confidence_in(predictions, distributions, estimator.classes_)


def _answers(
    estimator: Any, X: Any, argument: str
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Predictions for rows given as such, and how sure they are."""
    if not hasattr(estimator, "predict"):
        raise InputError(
            f"show_predictions=True with {argument}, but {type(estimator).__name__} has no "
            "predict: use a classifier such as ManifoldClassifier."
        )
    predictions = np.asarray(estimator.predict(X))
    if not hasattr(estimator, "predict_proba"):
        return predictions, None
    distributions = np.asarray(estimator.predict_proba(X))
    return predictions, confidence_in(predictions, distributions, estimator.classes_)
