"""What was done to each column of a table: ``ColumnReport``, in a line, as rows and for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelfold.labels import PartialLabels
from labelfold.methods import stored
from labelfold.tables.column_kinds import LEFT_OUT
from labelfold.tables.frames import listed

__all__ = ["ColumnEntry", "ColumnReport", "find_label_copies"]

PLURALS = {"category": "categories", "many categories": "columns of many categories"}
PLURALS["yes/no"] = "yes/no"
SURE = 5  # labels more than classes, before agreement is more than chance


@stored
@dataclass(frozen=True)
class ColumnEntry:
    """What became of one column."""

    name: str
    taken_for: str  # one of the kinds that `column_kinds.recognize` returns
    done: str  # in a few words
    n_features: int = 0
    n_missing: int = 0  # empty cells
    n_unreadable: int = 0  # cells that hold something else than the kind
    copies_labels: bool = False  # it gives away the class of every labeled row


@stored
@dataclass(frozen=True)
class ColumnReport:
    """What was done to the columns of a table; as a string, the line to read first.

    Parameters
    ----------
    entries : tuple of ColumnEntry
        One per column, in order: its name, what it was taken for, what was done, and the numbers
        of features, missing and unreadable cells.
    scaling : str
        What was done to the numbers together, and why; "" without numbers.
    """

    entries: tuple[ColumnEntry, ...]
    scaling: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        columns = [asdict(entry) for entry in self.entries]
        return {"summary": str(self), "scaling": self.scaling, "columns": columns}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per column."""
        import pandas as pd

        return pd.DataFrame([asdict(entry) for entry in self.entries])

    def __str__(self) -> str:
        used = [entry for entry in self.entries if entry.taken_for not in LEFT_OUT]
        kinds = Counter(entry.taken_for for entry in used)
        counts = [
            f"{n} {kind if n == 1 else PLURALS.get(kind, f'{kind}s')}" for kind, n in kinds.items()
        ]
        n_features = sum(entry.n_features for entry in used)
        parts = [f"{', '.join(counts) or 'no usable column'}: {n_features:,} features"]
        if self.scaling:
            parts.append(f"numbers {self.scaling}")
        others = [entry for entry in self.entries if entry.taken_for in LEFT_OUT]
        if others:
            parts.append(f"left out {listed([f'{e.name} ({e.taken_for})' for e in others], 4)}")
        for what in ("missing", "unreadable"):
            n_cells = sum(getattr(entry, f"n_{what}") for entry in used)
            if n_cells:
                parts.append(f"{n_cells:,} {what} cell{'s' if n_cells > 1 else ''}")
        copies = [entry.name for entry in self.entries if entry.copies_labels]
        if copies:
            give = "gives" if len(copies) == 1 else "give"
            parts.append(
                f"{listed(copies, 4)} {give} away the class of every labeled row, as a copy of the "
                "labels would"
            )
        return "; ".join(parts) + "."


def find_label_copies(cells: Mapping[str, Any], y: ArrayLike) -> list[str]:
    """Return names of columns that give away the class of every labeled row.

    Such a column holds a single value per class, different for every class. It may be the label
    under another name, or something recorded after it, and makes estimates of the error
    meaningless. Reported only if five or more labels confirm it.
    """
    try:
        labels = PartialLabels.from_y(y)
    except (TypeError, ValueError):  # what y means is for the estimator to say
        return []
    rows = np.flatnonzero(labels.codes >= 0)
    if labels.n_classes < 2 or len(rows) < labels.n_classes + SURE:
        return []
    codes = labels.codes[rows].tolist()
    copies = []
    for name, column in cells.items():
        values = column[rows, 0].tolist() if column.shape[1] == 1 else []
        is_filled = all(value == value and value != "" for value in values)
        pairs = set(zip(values, codes, strict=False))
        if is_filled and len(pairs) == len(set(values)) == labels.n_classes:
            copies.append(name)
    return copies
