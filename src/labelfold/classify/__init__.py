"""Classifiers that stand on a map or on the graph: heads, and map and head in one estimator."""

from labelfold.classify.heads import LeastSquaresClassifier
from labelfold.classify.laplacian_classifier import LaplacianClassifier
from labelfold.classify.manifold_classifier import ManifoldClassifier

__all__ = ["LaplacianClassifier", "LeastSquaresClassifier", "ManifoldClassifier"]
