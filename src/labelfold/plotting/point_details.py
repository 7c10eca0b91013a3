"""What a page knows of each point beside its place: row, label, prediction, columns, image.

Everything becomes text or small whole numbers here, in the order in which points are drawn, so that
the page shows and searches the same words.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from labelfold.exceptions import InputError
from labelfold.plotting.map_inputs import PointGroups, codes_in

if TYPE_CHECKING:
    from labelfold.plotting.embedding_display import EmbeddingDisplay

KINDS = ("label given", "predicted", "not labeled", "new")
GIVEN, PREDICTED, BARE, NEW = range(len(KINDS))
HEIGHTS = np.array([2, 1, 0, 3])  # which kind lies under which, as in the static picture
MAX_IMAGE_BYTES = 60_000_000
LARGEST_IN_FULL = 1e21  # floats from here on are written with an exponent


@dataclass(frozen=True, eq=False)
class PointDetails:
    """Details of the points of a map, in the order of drawing; class codes of -1 are for none."""

    order: NDArray[np.intp]  # row of each point
    labels: NDArray[Any]  # codes of the classes that were given,
    predictions: NDArray[Any]  # that were predicted,
    codes: NDArray[Any]  # and that are shown
    kinds: NDArray[Any]  # positions in `KINDS`
    certainty: NDArray[np.float64]  # 1 for a given label, else the confidence of the prediction
    names: list[str]  # of the classes
    confidence: NDArray[np.float64] | None  # in the predictions
    columns: list[tuple[str, list[str | None]]]  # further ones, a text or None for each point

    @classmethod
    def of(cls, display: EmbeddingDisplay, columns: Sequence[tuple[str, list[str | None]]]) -> Self:
        """Collect the details of a display, and of further columns."""
        n_points = len(display.embedding)
        groups = PointGroups.of(display)
        kinds = np.select(
            [groups.labeled, groups.predicted, groups.unlabeled], [GIVEN, PREDICTED, BARE], NEW
        )
        order = np.argsort(HEIGHTS[kinds], kind="stable")
        return cls(
            order=order,
            labels=codes_in(display.labels, display.classes, n_points)[order],
            predictions=codes_in(display.predictions, display.classes, n_points)[order],
            codes=groups.codes[order],
            kinds=kinds[order],
            certainty=groups.certainty[order],
            names=list(display.class_names),
            confidence=None if display.confidence is None else display.confidence[order],
            columns=[(name, [values[row] for row in order]) for name, values in columns],
        )

    @property
    def unlabeled_name(self) -> str:
        """What points without a class are called, which no class is."""
        name = "unlabeled"
        while name in self.names:
            name += " points"
        return name

    def as_plain(self, images: list[str] | None) -> dict[str, Any]:
        """Return values that JSON can hold."""
        confidence = None if self.confidence is None else np.round(self.confidence, 4).tolist()
        return {
            "classes": self.names,
            "labels": self.labels.tolist(),
            "predictions": self.predictions.tolist(),
            "codes": self.codes.tolist(),
            "confidence": confidence,
            "kinds": self.kinds.tolist(),
            "row": self.order.tolist(),
            "columns": [{"name": name, "values": values} for name, values in self.columns],
            "images": images,
        }


def check_hover(hover: Any, n_points: int) -> list[tuple[str, list[str | None]]]:
    """Return columns as text, from a mapping or a DataFrame."""
    if hover is None:
        return []
    is_frame = hasattr(hover, "columns") and hasattr(hover, "items")
    if not (isinstance(hover, Mapping) or is_frame):
        raise InputError(
            f"hover is a {type(hover).__name__}: pass a mapping from names to columns, or a "
            "pandas DataFrame."
        )
    return [(str(name), _check_column(name, column, n_points)) for name, column in hover.items()]


def _check_column(name: Any, column: Any, n_points: int) -> list[str | None]:
    is_sequence = hasattr(column, "__len__") and not isinstance(column, str | Mapping)
    if not is_sequence or getattr(column, "ndim", 1) != 1:
        raise InputError(f"hover[{name!r}] is not a sequence of values: pass one for each point.")
    if len(column) != n_points:
        raise InputError(
            f"hover[{name!r}] has {len(column)} values but the map has {n_points} points: "
            "pass one for each."
        )
    # A Series gives out Python's floats, to which single precision looks like noise.
    is_float = getattr(getattr(column, "dtype", None), "kind", None) == "f"
    values = list(np.asanyarray(column) if is_float else column)
    return [_as_text(value) for value in values]


def _as_text(value: Any) -> str | None:
    """Return the value as a person would write it, with all its digits; None if it is missing."""
    # pandas.NA has no truth value, and pandas need not be there; a NaN or NaT equals nothing.
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return None
    if value != value:
        return None
    is_float = isinstance(value, float | np.floating)
    is_whole = is_float and float(value).is_integer() and abs(value) < LARGEST_IN_FULL
    return str(int(value)) if is_whole else str(value)


def image_uris(images: NDArray[Any] | None, order: NDArray[np.intp]) -> list[str] | None:
    """Return images as PNG within data URIs, in the order of drawing."""
    if images is None:
        return None
    from PIL import Image

    pixels = _as_bytes(images)
    uris = []
    for row in order:
        stream = io.BytesIO()
        Image.fromarray(pixels[row]).save(stream, "PNG")
        text = base64.b64encode(stream.getvalue()).decode("ascii")
        uris.append(f"data:image/png;base64,{text}")
    n_bytes = sum(map(len, uris))
    if n_bytes > MAX_IMAGE_BYTES:
        raise InputError(
            f"images take {n_bytes / 1e6:.0f} MB and a page holds {MAX_IMAGE_BYTES / 1e6:.0f} MB "
            "of them: shrink them, draw a part of the rows, or leave images out."
        )
    return uris


def _as_bytes(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Return pixels from 0 to 255: colors as they are, grey stretched from black to white."""
    if images.ndim == 4:
        scale = 255.0 if images.dtype.kind == "f" else 1.0
        return np.round(images * scale).astype(np.uint8)
    values = images.astype(np.float64)
    low, high = values.min(), values.max()
    return np.round((values - low) * (255.0 / (high - low or 1.0))).astype(np.uint8)
