"""How far to trust labels: functions of scores, graph and labels that know no estimator."""

from labelfold.evidence.calibration import Calibration, calibrate
from labelfold.evidence.class_sizes import ClassSizes, estimate_class_sizes
from labelfold.evidence.error_estimate import ErrorEstimate, estimate_error
from labelfold.evidence.label_sets import choose_sets, find_threshold

__all__ = [
    "Calibration",
    "ClassSizes",
    "ErrorEstimate",
    "calibrate",
    "choose_sets",
    "estimate_class_sizes",
    "estimate_error",
    "find_threshold",
]
