"""Inputs of a map: checked arguments, and what a fitted estimator provides.

Each check takes one argument of a display as the user gave it and returns it in the one form that
the drawing code expects. Labels, predictions and class centers, which may have different classes,
share one order of classes, and each point belongs to one group by its label and prediction.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from labelfold.checks import check_integer, input_errors
from labelfold.exceptions import InputError, warn_user
from labelfold.graph.adjacency import nearest_points
from labelfold.labels import PartialLabels
from labelfold.layout.descent import MISSING, is_available
from labelfold.layout.graph_layout import GraphLayout, graph_of
from labelfold.plotting.lines import check_shape
from labelfold.plotting.map_layout import N_THUMBNAILS
from labelfold.plotting.map_view import CLASSES, Components

ROUNDING = 1e-9  # by which a sum of probabilities may exceed 1
NO_EMBEDDING = (
    "{name} has neither embedding_ nor transform: draw its predictions on the embedding of another "
    "estimator with EmbeddingDisplay.from_predictions."
)


@dataclass(frozen=True)
class PointGroups:
    """Four groups of points, which are drawn in different ways; each point is in one."""

    codes: NDArray[Any]  # class of the label, otherwise of the prediction, otherwise -1
    certainty: NDArray[np.float64]  # confidence of a prediction; 1 for a label, or for neither
    labeled: NDArray[np.bool_]
    predicted: NDArray[np.bool_]  # with a prediction only
    unlabeled: NDArray[np.bool_]  # with neither
    new: NDArray[np.bool_]  # new rows, with or without a label

    @classmethod
    def from_display(cls, display: Any) -> PointGroups:
        """Group the points of a display by their labels and predictions."""
        n_points = len(display.embedding)
        given = codes_in(display.labels, display.classes, n_points)
        guessed = codes_in(display.predictions, display.classes, n_points)
        codes = np.where(given >= 0, given, guessed)
        new = np.zeros(n_points, dtype=bool) if display.is_new is None else display.is_new
        is_guess = (given < 0) & (codes >= 0)
        confidence = 1.0 if display.confidence is None else display.confidence
        return cls(
            codes,
            np.where(is_guess, confidence, 1.0),
            labeled=(given >= 0) & ~new,
            predicted=is_guess & ~new,
            unlabeled=(codes < 0) & ~new,
            new=new,
        )

    def without(self, drawn: NDArray[np.bool_]) -> PointGroups:
        """Return the groups without points that are already drawn."""
        groups = ("labeled", "predicted", "unlabeled", "new")
        return replace(self, **{name: getattr(self, name) & ~drawn for name in groups})


def codes_in(labels: PartialLabels | None, classes: Sequence[Any], n_points: int) -> NDArray[Any]:
    """Return the index in `classes` of each point's class, -1 for a point without a label."""
    if labels is None:
        return np.full(n_points, -1)
    index_of = {value: index for index, value in enumerate(classes)}
    # The last entry is for code -1, unlabeled.
    lookup = np.array([index_of[value] for value in labels.classes] + [-1])
    return np.asarray(lookup[labels.codes])


def order_classes(
    labels: PartialLabels | None,
    predictions: PartialLabels | None,
    classes: Sequence[Any] | NDArray[Any] | None,
    centers: NDArray[Any] | None,
) -> list[Any]:
    """Return all classes to show: those given or of the centers first, in their order.

    They come first so that colors do not depend on which labels are drawn.
    """
    if classes is None and centers is not None and labels is None and predictions is None:
        return list(range(len(centers)))
    present = [] if labels is None else list(labels.classes)
    # Floats equal their integers: labels with NaN among them match predictions without.
    predicted = [] if predictions is None else list(predictions.classes)
    others = [value for value in predicted if value not in set(present)]
    try:
        present = sorted(present + others)
    except TypeError:
        raise InputError(
            f"labels have classes such as {present[0]!r} but predictions such as {others[0]!r}: "
            "pass both as numbers or both as text."
        ) from None
    first = present if classes is None else list(classes)
    if centers is not None and len(centers) != len(first):
        counted = "labels have {} classes" if classes is None else "classes has {} entries"
        raise InputError(
            f"class_centers has {len(centers)} rows but {counted.format(len(first))}: pass "
            "classes, one for each row of class_centers."
        )
    return first + [value for value in present if value not in set(first)]


# ---- arguments of a display


def check_labels(labels: Any, n_points: int, name: str = "labels") -> PartialLabels | None:
    """Return labels or predictions of all points, some of which may have none."""
    if labels is None:
        return None
    try:
        checked = labels if isinstance(labels, PartialLabels) else PartialLabels.from_y(labels)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
    if len(checked) != n_points:
        raise InputError(
            f"{name} has {len(checked)} entries but the embedding has {n_points} rows: "
            "pass one entry per row, -1 or None for no label."
        )
    return checked


def check_confidence(
    confidence: ArrayLike | None, predictions: PartialLabels | None, n_points: int
) -> NDArray[np.float64] | None:
    """Return a number from 0 to 1 for each point."""
    if confidence is None:
        return None
    if predictions is None:
        raise InputError("confidence is given without predictions: pass both, or neither.")
    values = check_shape("confidence", confidence, (n_points,), "row")
    wrong = np.flatnonzero(~((values >= -ROUNDING) & (values <= 1 + ROUNDING)))  # NaN too
    if len(wrong):
        raise InputError(
            f"confidence[{wrong[0]}]={values[wrong[0]]} is not between 0 and 1: pass "
            "probabilities, such as the largest in each row of label_distributions_."
        )
    return np.clip(values, 0.0, 1.0)


def check_is_new(is_new: ArrayLike | None, n_points: int) -> NDArray[np.bool_] | None:
    """Return a mask of the points."""
    if is_new is None:
        return None
    checked = np.asarray(is_new)
    if checked.dtype != bool or checked.shape != (n_points,):
        raise InputError(
            f"is_new has dtype {checked.dtype} and shape {checked.shape} for {n_points} points: "
            "pass one True or False per point."
        )
    return checked


def check_images(images: ArrayLike | None, n_points: int) -> NDArray[Any] | None:
    """Return one image per point, gray or in color."""
    if images is None:
        return None
    with input_errors():
        pixels: NDArray[Any] = check_array(
            images, ensure_2d=False, allow_nd=True, ensure_min_samples=0, input_name="images"
        )
    has_colors = pixels.ndim == 4 and pixels.shape[3] in (3, 4)
    if not (has_colors or pixels.ndim == 3) or len(pixels) != n_points or pixels.size == 0:
        raise InputError(
            f"images has shape {pixels.shape} for {n_points} points: pass shape "
            f"({n_points}, height, width), with 3 or 4 channels at the end for color."
        )
    if has_colors and pixels.dtype == bool:
        pixels = pixels.astype(np.float64)
    top = 1.0 if pixels.dtype.kind == "f" else 255
    if has_colors and (pixels.min() < 0 or pixels.max() > top):
        raise InputError(
            f"color images of dtype {pixels.dtype} go from {pixels.min()} to {pixels.max()}: "
            "rescale to 0 to 1 for floats, to 0 to 255 for integers."
        )
    return pixels


def check_n_images(n_images: int | None, images: NDArray[Any] | None, n_dims: int) -> int:
    """Return how many images to draw; None means the default, 0 without images."""
    if images is None:
        if n_images:
            raise InputError(f"n_images={n_images}, but the display has no images: pass images.")
        return 0
    number = N_THUMBNAILS if n_images is None else n_images
    check_integer("n_images", number, least=0, hint=", or None")
    if number > 0 and n_dims != 2:
        raise InputError(
            f"images are drawn on maps of two columns, but components names {n_dims}: "
            "name two, or pass n_images=0."
        )
    return number


def check_centers(class_centers: ArrayLike | None, n_columns: int) -> NDArray[Any] | None:
    """Return class centers with as many columns as the embedding; None for no class."""
    if class_centers is None or len(np.asarray(class_centers)) == 0:
        return None
    with input_errors():
        centers: NDArray[Any] = check_array(class_centers, input_name="class_centers")
    if centers.shape[1] != n_columns:
        raise InputError(
            f"class_centers has {centers.shape[1]} columns but the embedding has {n_columns}: "
            "pass the centers of the same embedding."
        )
    return centers


def check_components(components: Components, n_columns: int) -> list[int] | Literal["classes"]:
    """Return the columns to draw; the default is [0] for an embedding of one column."""
    if isinstance(components, str) and components == CLASSES:
        return CLASSES
    try:
        chosen = [operator.index(column) for column in components]
    except TypeError:
        chosen = []
    if n_columns == 1 and chosen == [0, 1]:
        return [0]
    if not 1 <= len(chosen) == len(set(chosen)) <= 3 or not set(chosen) <= set(range(n_columns)):
        raise InputError(
            f"components={components!r} must be {CLASSES!r}, or one to three different columns, "
            f"counted from 0 to {n_columns - 1}: one for a strip, two for a map, three for space."
        )
    return chosen


def check_names(
    class_names: Sequence[str] | Mapping[Any, str] | None, classes: Sequence[Any]
) -> list[str]:
    """Return one text per class."""
    if class_names is None:
        # Classes are whole numbers even if NaN among the labels makes them floats.
        return [f"{v:.0f}" if isinstance(v, float) else str(v) for v in classes]
    if isinstance(class_names, Mapping):
        missing = [value for value in classes if value not in class_names]
        if missing:
            raise InputError(
                f"class_names has no entry for class {missing[0]!r}: name all of {list(classes)}."
            )
        return [str(class_names[value]) for value in classes]
    if len(class_names) != len(classes):
        raise InputError(
            f"class_names has {len(class_names)} entries for {len(classes)} classes: "
            "pass one name for each class, in the order of classes."
        )
    return [str(name) for name in class_names]


# ---- a fitted estimator


def read_estimator(
    estimator: Any,
    X: Any,
    y: Any,
    X_new: Any,
    show_predictions: bool,
    components: Components | None,
) -> dict[str, Any]:
    """Return the arguments of a display from a fitted estimator; new rows come last."""
    estimator, embedder = find_embedder(estimator)
    has_own = embedder is estimator and hasattr(estimator, "embedding_")
    classifies = hasattr(estimator, "transduction_") and not has_own
    if components is None and classifies and graph_of(estimator) is not None:
        layout = lay_out(estimator)
        embedder, components = (embedder, CLASSES) if layout is None else (layout, None)
    embedding = _embed(embedder, X, "X") if X is not None else _get_embedding(embedder, estimator)
    labels = check_labels(y, len(embedding), "y")
    answers = [_predict(estimator, X)] if show_predictions else []
    is_new = None
    if X_new is not None:
        embedded = _embed(embedder, X_new, "X_new")
        is_new = np.repeat([False, True], [len(embedding), len(embedded)])
        embedding = np.concatenate([embedding, embedded])
        if labels is not None:
            none = PartialLabels.none(len(embedded)).codes
            labels = PartialLabels(np.concatenate([labels.codes, none]), labels.classes)
        if show_predictions:
            answers.append(_predict(estimator, X_new))
    shares = [confidence for _, confidence in answers if confidence is not None]
    return {
        "embedding": embedding,
        "labels": labels,
        "predictions": np.concatenate([given for given, _ in answers]) if answers else None,
        "confidence": np.concatenate(shares) if len(shares) == len(answers) > 0 else None,
        "is_new": is_new,
        "class_centers": getattr(embedder, "class_centers_", None),
        "classes": getattr(estimator, "classes_", None),
        "components": components or (0, 1),
        "is_layout": isinstance(embedder, GraphLayout | LaidOut),
    }


def lay_out(estimator: Any) -> LaidOut | None:
    """Return the layout of a fitted estimator's graph; None, with a warning, if it can't be."""
    if not is_available():
        warn_user(f"The map is the plane of the classes: {MISSING}")
        return None
    if graph_of(estimator) is None:
        return None
    return LaidOut(estimator)


class LaidOut:
    """The layout of an estimator as a transformer of the estimator's rows."""

    def __init__(self, estimator: Any) -> None:
        self._classifier = estimator
        self._layout = GraphLayout.of_classifier(estimator)
        self.embedding_ = self._layout.embedding_

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return coordinates of rows; those of rows of the fit are their own."""
        source = self._classifier
        if not hasattr(source, "distances_to"):
            source = graph_of(source)
        distances = source.distances_to(X)
        coordinates = self._layout.place(distances)
        nearest = nearest_points(distances)
        own = np.minimum.reduceat(distances.data, distances.indptr[:-1]) == 0
        coordinates[own] = self.embedding_[nearest[own]]
        return coordinates


def find_embedder(estimator: Any) -> tuple[Any, Any]:
    """Return a fitted estimator, or the best one of a search, and the embedder within it."""
    check_is_fitted(estimator)
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator, getattr(estimator, "embedder_", estimator)


def _get_embedding(embedder: Any, estimator: Any) -> NDArray[Any]:
    # A classifier saved in compact form leaves the coordinates to its embedder, and the reverse.
    for owner in (embedder, estimator):
        if hasattr(owner, "embedding_"):
            return np.asarray(owner.embedding_)
    name = type(estimator).__name__
    if hasattr(embedder, "transform"):
        raise InputError(f"{name} keeps no embedding_ of its rows: pass X, the rows to draw.")
    raise InputError(NO_EMBEDDING.format(name=name))


def _embed(embedder: Any, X: Any, argument: str) -> NDArray[Any]:
    name = type(embedder).__name__
    if hasattr(embedder, "transform"):
        return np.asarray(embedder.transform(X))
    if not hasattr(embedder, "embedding_"):
        raise InputError(NO_EMBEDDING.format(name=name))
    raise InputError(
        f"{argument} cannot be drawn, since {name} has no transform: leave {argument} out, or use "
        "an estimator with transform."
    )


def _predict(estimator: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return predictions for the rows of fit, or for `X`, and the confidence in each.

    Confidence is the share that the predicted class has in a row's distribution. This need not be
    the largest share: a given label may disagree with the distribution.
    """
    needed = "transduction_" if X is None else "predict"
    if not hasattr(estimator, needed):
        raise InputError(
            f"show_predictions=True, but {type(estimator).__name__} has no {needed}: use a "
            "classifier such as ManifoldClassifier, or EmbeddingDisplay.from_predictions."
        )
    if X is None:
        predictions = np.asarray(estimator.transduction_)
        distributions = getattr(estimator, "label_distributions_", None)
    else:
        predictions = np.asarray(estimator.predict(X))
        distributions = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
    if distributions is None:
        return predictions, None
    column_of = {value: column for column, value in enumerate(estimator.classes_)}
    columns = np.array([column_of[value] for value in predictions], dtype=np.intp)
    shares = np.asarray(distributions, dtype=np.float64)[np.arange(len(columns)), columns]
    return predictions, np.clip(shares, 0.0, 1.0)  # rounding may exceed the bounds
