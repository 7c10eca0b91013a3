"""What a picture of a map is made of: checked arguments, and what a fitted estimator has to show.

Each check takes one argument of a display as the user gave it and returns it in the one form that
the drawing code knows. Labels, predictions and class centers, each of which may know other classes
or none, become one order of classes, and each point gets into one group by what is known of it.
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
from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.plotting.lines import check_shape
from labelfold.plotting.map_layout import N_THUMBNAILS
from labelfold.plotting.map_view import CLASSES, Components

ROUNDING = 1e-9  # by which a sum of probabilities may exceed 1
NO_MAP = (
    "{name} has no map, neither embedding_ nor transform: draw its answers on the map of an "
    "embedder, by EmbeddingDisplay.from_predictions."
)


@dataclass(frozen=True)
class PointGroups:
    """Each point in one of four groups, which are drawn in different ways."""

    codes: NDArray[Any]  # of the class by its label, else by its prediction, else -1
    certainty: NDArray[np.float64]  # confidence of a prediction; 1 for a label, or for neither
    labeled: NDArray[np.bool_]
    predicted: NDArray[np.bool_]  # with a prediction only
    unlabeled: NDArray[np.bool_]  # with neither
    new: NDArray[np.bool_]  # whatever is known of them

    @classmethod
    def of(cls, display: Any) -> PointGroups:
        """Group the points of a display by what is known of them."""
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
        """Return the groups without points that were drawn already."""
        groups = ("labeled", "predicted", "unlabeled", "new")
        return replace(self, **{name: getattr(self, name) & ~drawn for name in groups})


def codes_in(labels: PartialLabels | None, classes: Sequence[Any], n_points: int) -> NDArray[Any]:
    """Return the position of each point's class in `classes`, -1 where it has no label."""
    if labels is None:
        return np.full(n_points, -1)
    place = {value: index for index, value in enumerate(classes)}
    # The last entry answers for code -1, unlabeled.
    lookup = np.array([place[value] for value in labels.classes] + [-1])
    return np.asarray(lookup[labels.codes])


def order_classes(
    labels: PartialLabels | None,
    predictions: PartialLabels | None,
    classes: Sequence[Any] | NDArray[Any] | None,
    centers: NDArray[Any] | None,
) -> list[Any]:
    """Return all classes to show: those of the centers first, in their order, then others.

    The order of the centers leads, so that colors stay the same whichever labels are drawn.
    """
    found = [] if labels is None else list(labels.classes)
    # A float equals its integer: labels with NaN among them meet predictions without.
    predicted = [] if predictions is None else list(predictions.classes)
    unseen = [value for value in predicted if value not in set(found)]
    try:
        found = sorted(found + unseen)
    except TypeError:
        raise InputError(
            f"labels hold classes such as {found[0]!r} but predictions such as {unseen[0]!r}: "
            "pass both as numbers or both as text."
        ) from None
    if classes is None and centers is not None and labels is None and predictions is None:
        return list(range(len(centers)))
    known = found if classes is None else list(classes)
    if centers is not None and len(centers) != len(known):
        counted = "labels hold {} classes" if classes is None else "classes has {} entries"
        raise InputError(
            f"class_centers has {len(centers)} rows but {counted.format(len(known))}: pass "
            "classes, one for each row of class_centers."
        )
    return known + [value for value in found if value not in set(known)]


# ---- arguments of a display


def check_labels(labels: Any, n_points: int, name: str = "labels") -> PartialLabels | None:
    """Return labels or predictions, one for each point, some of which may be unknown."""
    if labels is None:
        return None
    try:
        known = labels if isinstance(labels, PartialLabels) else PartialLabels.from_y(labels)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
    if len(known) != n_points:
        raise InputError(
            f"{name} has {len(known)} entries but the embedding has {n_points} rows: "
            "pass one label for each row, -1 or None where it is unknown."
        )
    return known


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
            "probabilities, such as the largest of each row of label_distributions_."
        )
    return np.clip(values, 0.0, 1.0)


def check_mask(mask: ArrayLike | None, name: str, n_points: int) -> NDArray[np.bool_] | None:
    """Return a mask of the points."""
    if mask is None:
        return None
    checked = np.asarray(mask)
    if checked.dtype != bool or checked.shape != (n_points,):
        raise InputError(
            f"{name} has dtype {checked.dtype} and shape {checked.shape} for {n_points} points: "
            "pass True or False for each."
        )
    return checked


def check_images(images: ArrayLike | None, n_points: int) -> NDArray[Any] | None:
    """Return an image for each point, grey or in colors."""
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
            f"({n_points}, height, width), with 3 or 4 channels at the end for colors."
        )
    if has_colors:
        if pixels.dtype == bool:
            pixels = pixels.astype(np.float64)
        top = 1.0 if pixels.dtype.kind == "f" else 255
        if pixels.min() < 0 or pixels.max() > top:
            raise InputError(
                f"images in colors of dtype {pixels.dtype} go from {pixels.min()} to "
                f"{pixels.max()}: rescale to 0 to 1 for floats, to 0 to 255 for integers."
            )
    return pixels


def check_n_images(n_images: int | None, images: NDArray[Any] | None, n_dims: int) -> int:
    """Return how many images to draw; None is the usual number, where there are any."""
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
    """Return class centers with as many coordinates as the points; None for no class."""
    if class_centers is None or len(np.asarray(class_centers)) == 0:
        return None
    with input_errors():
        centers: NDArray[Any] = check_array(class_centers, input_name="class_centers")
    if centers.shape[1] != n_columns:
        raise InputError(
            f"class_centers has {centers.shape[1]} columns but the embedding has {n_columns}: "
            "pass the centers of the same map."
        )
    return centers


def check_components(components: Components, n_columns: int) -> list[int] | Literal["classes"]:
    """Return the columns to draw, each once; a map of one column is a strip without being asked."""
    if isinstance(components, str) and components == CLASSES:
        return CLASSES
    try:
        chosen = [operator.index(index) for index in components]
    except TypeError:
        raise InputError(
            f"components={components!r} must be {CLASSES!r}, or whole numbers of columns such as "
            "(0, 1)."
        ) from None
    if n_columns == 1 and chosen == [0, 1]:
        return [0]
    if not 1 <= len(chosen) <= 3:
        raise InputError(
            f"components={tuple(chosen)} names {len(chosen)} columns: "
            "name two for a map, three for a map in space, or one for a strip."
        )
    if len(set(chosen)) < len(chosen):
        raise InputError(f"components={tuple(chosen)} names a column twice: name each once.")
    if not all(0 <= index < n_columns for index in chosen):
        raise InputError(
            f"components={tuple(chosen)} is out of range for an embedding of {n_columns} columns: "
            f"columns are counted from 0 to {n_columns - 1}."
        )
    return chosen


def check_names(
    class_names: Sequence[str] | Mapping[Any, str] | None, classes: Sequence[Any]
) -> list[str]:
    """Return a text for each class."""
    if class_names is None:
        # Labels with NaN among them are floats, whose classes are whole numbers all the same.
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
    estimator: Any, X: Any, y: Any, X_new: Any, show_predictions: bool
) -> dict[str, Any]:
    """Return the parameters of a display from a fitted estimator; new points come last."""
    check_is_fitted(estimator)
    estimator = getattr(estimator, "best_estimator_", estimator)
    mapper = getattr(estimator, "embedder_", estimator)
    embedding = _own_embedding(estimator, mapper) if X is None else _mapped(mapper, X, "X")
    labels = check_labels(y, len(embedding), "y")
    answers: list[tuple[NDArray[Any], NDArray[np.float64] | None]] = []
    if show_predictions:
        answers.append(_answers(estimator, X))
    is_new = None
    if X_new is not None:
        placed = _mapped(mapper, X_new, "X_new")
        is_new = np.repeat([False, True], [len(embedding), len(placed)])
        embedding = np.concatenate([embedding, placed])
        if labels is not None:
            none = PartialLabels.none(len(placed)).codes
            labels = PartialLabels(np.concatenate([labels.codes, none]), labels.classes)
        if show_predictions:
            answers.append(_answers(estimator, X_new))
    shares = [confidence for _, confidence in answers if confidence is not None]
    return {
        "embedding": embedding,
        "labels": labels,
        "predictions": np.concatenate([given for given, _ in answers]) if answers else None,
        "confidence": np.concatenate(shares) if len(shares) == len(answers) > 0 else None,
        "is_new": is_new,
        "class_centers": getattr(mapper, "class_centers_", None),
        "classes": getattr(estimator, "classes_", None),
    }


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
    name = type(mapper).__name__
    if hasattr(mapper, "transform"):
        return np.asarray(mapper.transform(X))
    if not hasattr(mapper, "embedding_"):
        raise InputError(NO_MAP.format(name=name))
    raise InputError(
        f"{argument} cannot be drawn, since {name} has no transform: leave {argument} out, or use "
        "an estimator that maps new points."
    )


def _answers(estimator: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return predictions for the rows of fit, or for `X`, and the confidence in each.

    Confidence is the share of a row's distribution that its predicted class has. Not the largest
    share: a given label may disagree with the distribution, and then the picture must not be sure
    of it.
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
    place = {value: index for index, value in enumerate(estimator.classes_)}
    columns = np.array([place[value] for value in predictions], dtype=np.intp)
    shares = np.asarray(distributions, dtype=np.float64)[np.arange(len(columns)), columns]
    return predictions, np.clip(shares, 0.0, 1.0)  # rounding may go beyond
