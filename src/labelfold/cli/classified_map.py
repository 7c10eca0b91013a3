"""The map of a classifier with labels and answers on it, for `labelfold classify --plot`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labelfold.labels import PartialLabels
from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_view import telling_components

if TYPE_CHECKING:
    from labelfold.cli.tables import Table


def as_display(
    table: Table, fitted: Any, scaler: Any, more: Table | None, columns: Mapping[str, Any]
) -> EmbeddingDisplay:
    """The map, ready to be drawn.

    Parameters
    ----------
    table, more : Table
        The rows of the fit, and new ones or None.
    fitted, scaler : estimator
        The classifier, and what scaled its data or None.
    columns : mapping
        The result of the command, with "label" and "confidence" of all rows.
    """
    embedding, is_new = fitted.embedding_, None
    labels = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
    if more is not None:
        X = more.X if scaler is None else scaler.transform(more.X)
        embedding = np.concatenate([embedding, fitted.embedder_.transform(X)])
        is_new = np.repeat([False, True], [table.n_rows, more.n_rows])
        none = PartialLabels.none(more.n_rows).codes
        labels = PartialLabels(np.concatenate([labels.codes, none]), labels.classes)
    return EmbeddingDisplay(
        embedding,
        labels=labels,
        predictions=columns["label"],
        confidence=columns["confidence"],
        is_new=is_new,
        class_centers=getattr(fitted.embedder_, "class_centers_", None),
        classes=fitted.classes_,
        components=telling_components(embedding.shape[1], labels),
    )


def row_columns(table: Table, more: Table | None, columns: Mapping[str, Any]) -> dict[str, Any]:
    """What a page tells of each row beside its labels: number from 1, name, file."""
    tables = [table] if more is None else [table, more]
    numbers = [row for one in tables for row in range(1, one.n_rows + 1)]
    return {"row": numbers, **{name: columns[name] for name in ("id", "file") if name in columns}}
