"""What a picture of a map is made of, checked: labels, predictions, centres, names, images.

Each function takes one argument of a display as the user gave it and returns it in the one form
that the drawing code knows, or raises a ValueError that names the argument and the way out.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from labelfold.exceptions import InputError
from labelfold.labels import PartialLabels
from labelfold.plotting.map_view import CLASSES, Components
from labelfold.plotting.thumbnails import N_THUMBNAILS

COLUMN_NUMBERS = (1, 2, 3)  # a strip, a map, a map in space
ROUNDING = 1e-9  # by which a sum of probabilities may pass 1


def check_labels(labels: Any, n_points: int, name: str = "labels") -> PartialLabels | None:
    """One label or prediction a point, some of which may be unknown."""
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
    """One number from 0 to 1 a point."""
    if confidence is None:
        return None
    if predictions is None:
        raise InputError("confidence is given without predictions: pass both, or neither.")
    values = np.asarray(confidence, dtype=np.float64)
    if values.shape != (n_points,):
        raise InputError(
            f"confidence has shape {values.shape} but the embedding has {n_points} rows: "
            "pass one number for each row."
        )
    wrong = np.flatnonzero(~((values >= -ROUNDING) & (values <= 1 + ROUNDING)))  # NaN too
    if len(wrong):
        raise InputError(
            f"confidence[{wrong[0]}]={values[wrong[0]]} is not between 0 and 1: pass "
            "probabilities, such as the largest of each row of label_distributions_."
        )
    return np.clip(values, 0.0, 1.0)


def check_is_new(is_new: ArrayLike | None, n_points: int) -> NDArray[np.bool_] | None:
    """A mask of the points."""
    if is_new is None:
        return None
    mask = np.asarray(is_new)
    if mask.dtype != bool or mask.shape != (n_points,):
        raise InputError(
            f"is_new has dtype {mask.dtype} and shape {mask.shape} for {n_points} points: "
            "pass True or False for each."
        )
    return mask


def check_images(images: ArrayLike | None, n_points: int) -> NDArray[Any] | None:
    """One image a point, grey or in colours."""
    if images is None:
        return None
    pixels = np.asarray(images)
    has_colors = pixels.ndim == 4 and pixels.shape[3] in (3, 4)
    if not (has_colors or pixels.ndim == 3) or len(pixels) != n_points or pixels.size == 0:
        raise InputError(
            f"images has shape {pixels.shape} for {n_points} points: pass shape "
            f"({n_points}, height, width), with 3 or 4 channels at the end for colours."
        )
    if pixels.dtype.kind not in "buif":
        raise InputError(f"images has dtype {pixels.dtype}: pass numbers.")
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise InputError("images holds NaN or infinity: fill the missing pixels first.")
    if has_colors:
        if pixels.dtype == bool:
            pixels = pixels.astype(np.float64)
        top = 1.0 if pixels.dtype.kind == "f" else 255
        if pixels.min() < 0 or pixels.max() > top:
            raise InputError(
                f"images in colours of dtype {pixels.dtype} go from {pixels.min()} to "
                f"{pixels.max()}: rescale to 0 to 1 for floats, to 0 to 255 for integers."
            )
    return pixels


def check_n_images(n_images: int | None, images: NDArray[Any] | None, n_dims: int) -> int:
    """How many images to draw; None is the usual number, where there are any."""
    if images is None:
        if n_images:
            raise InputError(f"n_images={n_images}, but the display has no images: pass images.")
        return 0
    number = N_THUMBNAILS if n_images is None else n_images
    if not isinstance(number, int | np.integer) or number < 0:
        raise InputError(f"n_images={n_images!r} must be an integer of at least 0, or None.")
    if number > 0 and n_dims != 2:
        raise InputError(
            f"images are drawn on maps of two columns, but components names {n_dims}: "
            "name two, or pass n_images=0."
        )
    return int(number)


def check_density(density: Any) -> None:
    """Whether to draw a crowd as an image."""
    is_auto = isinstance(density, str) and density == "auto"
    if not (isinstance(density, bool | np.bool_) or is_auto):
        raise InputError(f"density={density!r} must be True, False or 'auto'.")


def check_centers(class_centers: ArrayLike | None, n_columns: int) -> NDArray[Any] | None:
    """Class centres with as many coordinates as the points; None for no class."""
    if class_centers is None or len(np.asarray(class_centers)) == 0:
        return None
    centers: NDArray[Any] = check_array(class_centers, input_name="class_centers")
    if centers.shape[1] != n_columns:
        raise InputError(
            f"class_centers has {centers.shape[1]} columns but the embedding has {n_columns}: "
            "pass the centres of the same map."
        )
    return centers


def check_components(components: Components, n_columns: int) -> list[int] | Literal["classes"]:
    """Columns to draw, each once; a map of one column is a strip without being asked."""
    if isinstance(components, str):
        if components != CLASSES:
            raise InputError(
                f"components={components!r} must be {CLASSES!r}, or numbers of columns such as "
                "(0, 1)."
            )
        return CLASSES
    try:
        chosen = [operator.index(index) for index in components]
    except TypeError:
        raise InputError(
            f"components={components!r} must be whole numbers of columns, such as (0, 1), or "
            f"{CLASSES!r}."
        ) from None
    if n_columns == 1 and chosen == [0, 1]:
        return [0]
    if len(chosen) not in COLUMN_NUMBERS:
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
    """One text a class."""
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
