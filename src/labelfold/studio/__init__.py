"""The labeling page: a local server, a journal of labels, and fits in a process of their own."""

from labelfold.studio.labeling import GivenLabels, labels_at
from labelfold.studio.learner import predict_rows
from labelfold.studio.shown_rows import row_ids

__all__ = ["GivenLabels", "labels_at", "predict_rows", "row_ids"]
