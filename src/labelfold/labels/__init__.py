"""Labels: any ``y``, complete or partial, becomes one immutable :class:`PartialLabels`."""

from labelfold.labels.partial_labels import PartialLabels, hide_labels

__all__ = ["PartialLabels", "hide_labels"]
