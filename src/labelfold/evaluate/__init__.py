"""Honest figures for maps and classifiers when labels are few: splits, searches, quality."""

from labelfold.evaluate.comparison import compare
from labelfold.evaluate.comparison_table import Comparison, FitRecord, MethodSummary
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
