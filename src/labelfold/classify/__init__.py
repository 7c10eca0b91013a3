"""Classifiers that stand on a map: heads, and the map and head in one estimator."""

from labelfold.classify.heads import LeastSquaresClassifier
from labelfold.classify.manifold_classifier import ManifoldClassifier

__all__ = ["LeastSquaresClassifier", "ManifoldClassifier"]
