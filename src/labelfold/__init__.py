"""Embeddings and classifiers for many rows with few labels, as scikit-learn estimators.

Public names are imported on first use (PEP 562): ``import labelfold`` costs next to nothing, and a
user of one estimator never loads matplotlib or faiss. Type checkers read the same names from the
block under ``TYPE_CHECKING``.
"""

import importlib
from typing import TYPE_CHECKING, Any

from labelfold._version import __version__

if TYPE_CHECKING:
    from labelfold import (
        classify,
        datasets,
        distributed,
        ensemble,
        evaluate,
        evidence,
        exceptions,
        extend,
        graph,
        labels,
        layout,
        plotting,
        semidefinite,
        solvers,
        spectral,
        tables,
    )
    from labelfold.checkpoint_folder import checkpoints
    from labelfold.classify import (
        FewLabelClassifier,
        LaplacianClassifier,
        LeastSquaresClassifier,
        ManifoldClassifier,
    )
    from labelfold.ensemble import ResampledEmbedding
    from labelfold.evaluate import LabeledKFold, TransductiveSearchCV, draw_labeled
    from labelfold.evidence import draw_audit, suggest_rows, suspect_labels
    from labelfold.graph import IntrinsicDimension, NeighborGraph
    from labelfold.labels import PartialLabels, hide_labels
    from labelfold.layout import GraphLayout
    from labelfold.persistence import load, save
    from labelfold.plotting import EmbeddingDisplay
    from labelfold.semidefinite import (
        FurthestNeighborUnfolding,
        IsometricSeparationMap,
        MaximumVarianceUnfolding,
        SupervisedSemidefiniteEmbedding,
    )
    from labelfold.spectral import CCDR, LaplacianEigenmaps, MarginalFisherAnalysis, SupervisedLLE

__all__ = [
    "CCDR",
    "EmbeddingDisplay",
    "FewLabelClassifier",
    "FurthestNeighborUnfolding",
    "GraphLayout",
    "IntrinsicDimension",
    "IsometricSeparationMap",
    "LabeledKFold",
    "LaplacianClassifier",
    "LaplacianEigenmaps",
    "LeastSquaresClassifier",
    "ManifoldClassifier",
    "MarginalFisherAnalysis",
    "MaximumVarianceUnfolding",
    "NeighborGraph",
    "PartialLabels",
    "ResampledEmbedding",
    "SupervisedLLE",
    "SupervisedSemidefiniteEmbedding",
    "TransductiveSearchCV",
    "__version__",
    "checkpoints",
    "classify",
    "datasets",
    "distributed",
    "draw_audit",
    "draw_labeled",
    "ensemble",
    "evaluate",
    "evidence",
    "exceptions",
    "extend",
    "graph",
    "hide_labels",
    "labels",
    "layout",
    "load",
    "plotting",
    "save",
    "semidefinite",
    "solvers",
    "spectral",
    "suggest_rows",
    "suspect_labels",
    "tables",
]

_HOMES = {
    "checkpoint_folder": ("checkpoints",),
    "classify": (
        "FewLabelClassifier",
        "LaplacianClassifier",
        "LeastSquaresClassifier",
        "ManifoldClassifier",
    ),
    "ensemble": ("ResampledEmbedding",),
    "evaluate": ("LabeledKFold", "TransductiveSearchCV", "draw_labeled"),
    "evidence": ("draw_audit", "suggest_rows", "suspect_labels"),
    "graph": ("IntrinsicDimension", "NeighborGraph"),
    "labels": ("PartialLabels", "hide_labels"),
    "layout": ("GraphLayout",),
    "persistence": ("load", "save"),
    "plotting": ("EmbeddingDisplay",),
    "semidefinite": (
        "FurthestNeighborUnfolding",
        "IsometricSeparationMap",
        "MaximumVarianceUnfolding",
        "SupervisedSemidefiniteEmbedding",
    ),
    "spectral": ("CCDR", "LaplacianEigenmaps", "MarginalFisherAnalysis", "SupervisedLLE"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"labelfold.{home}"), name)
            globals()[name] = value
            return value
    if name in __all__:
        return importlib.import_module(f"labelfold.{name}")
    raise AttributeError(f"module 'labelfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
