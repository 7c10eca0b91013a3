"""How far to trust labels: functions of scores, graph and labels that know no estimator."""

from labelfold.evidence.calibration import Calibration, calibrate
from labelfold.evidence.class_sizes import ClassSizes, estimate_class_sizes
from labelfold.evidence.error_estimate import ErrorEstimate, estimate_error
from labelfold.evidence.label_sets import choose_sets, find_threshold
from labelfold.evidence.suggestions import Suggestion, draw_audit, suggest_rows
from labelfold.evidence.suspects import Suspect, suspect_labels

__all__ = [
    "Calibration",
    "ClassSizes",
    "ErrorEstimate",
    "Suggestion",
    "Suspect",
    "calibrate",
    "choose_sets",
    "draw_audit",
    "estimate_class_sizes",
    "estimate_error",
    "find_threshold",
    "suggest_rows",
    "suspect_labels",
]
