"""Honest figures for maps and classifiers when labels are few: splits, searches, quality.

Names are imported on first use (PEP 562), so that a splitter does not load classifiers or pictures.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelfold.evaluate.comparison import Comparison, FitRecord, MethodSummary, compare
    from labelfold.evaluate.permutation import PermutedLabelBaseline, permuted_label_baseline
    from labelfold.evaluate.quality import continuity, knn_error, trustworthiness
    from labelfold.evaluate.search import TransductiveSearchCV
    from labelfold.evaluate.splits import LabeledKFold, draw_labeled
    from labelfold.intervals import student_interval, wilson_interval

__all__ = [
    "Comparison",
    "FitRecord",
    "LabeledKFold",
    "MethodSummary",
    "PermutedLabelBaseline",
    "TransductiveSearchCV",
    "compare",
    "continuity",
    "draw_labeled",
    "knn_error",
    "permuted_label_baseline",
    "student_interval",
    "trustworthiness",
    "wilson_interval",
]

_HOMES = {
    "labelfold.evaluate.comparison": ("Comparison", "FitRecord", "MethodSummary", "compare"),
    "labelfold.evaluate.permutation": ("PermutedLabelBaseline", "permuted_label_baseline"),
    "labelfold.evaluate.quality": ("continuity", "knn_error", "trustworthiness"),
    "labelfold.evaluate.search": ("TransductiveSearchCV",),
    "labelfold.evaluate.splits": ("LabeledKFold", "draw_labeled"),
    "labelfold.intervals": ("student_interval", "wilson_interval"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'labelfold.evaluate' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
