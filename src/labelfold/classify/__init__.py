"""Classifiers: automatic, on the graph, or on an embedding with a head."""

from labelfold.classify.few_label_classifier import FewLabelClassifier
from labelfold.classify.heads import LeastSquaresClassifier
from labelfold.classify.laplacian_classifier import LaplacianClassifier
from labelfold.classify.manifold_classifier import ManifoldClassifier

__all__ = [
    "FewLabelClassifier",
    "LaplacianClassifier",
    "LeastSquaresClassifier",
    "ManifoldClassifier",
]
