"""Honest figures for embeddings and classifiers when labels are few: splits, searches, quality.

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
    "evaluate.comparison": ("Comparison", "FitRecord", "MethodSummary", "compare"),
    "evaluate.permutation": ("PermutedLabelBaseline", "permuted_label_baseline"),
    "evaluate.quality": ("continuity", "knn_error", "trustworthiness"),
    "evaluate.search": ("TransductiveSearchCV",),
    "evaluate.splits": ("LabeledKFold", "draw_labeled"),
    "intervals": ("student_interval", "wilson_interval"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"labelfold.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'labelfold.evaluate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
