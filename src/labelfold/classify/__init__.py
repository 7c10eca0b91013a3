"""Classifiers on an embedding or on the graph: heads, and embedder and head in one estimator."""

from labelfold.classify.heads import LeastSquaresClassifier
from labelfold.classify.laplacian_classifier import LaplacianClassifier
from labelfold.classify.manifold_classifier import ManifoldClassifier

__all__ = ["LaplacianClassifier", "LeastSquaresClassifier", "ManifoldClassifier"]
