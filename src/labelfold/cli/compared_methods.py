"""The methods that `labelfold compare` knows by a short name: those of `embed`, and scikit-learn's.

Estimators are loaded when one of them is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from labelfold.cli.methods import EMBEDDERS, make_method

OF_SCIKIT_LEARN = {
    "lda": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "isomap": "sklearn.manifold.Isomap",
    "locally-linear": "sklearn.manifold.LocallyLinearEmbedding",
    "mds": "sklearn.manifold.MDS",
    "tsne": "sklearn.manifold.TSNE",
}
# Maps without a dimension to set: a comparison sets that of every method.
WITHOUT_DIMENSION = ("resampled",)
METHODS = (*(name for name in EMBEDDERS if name not in WITHOUT_DIMENSION), *OF_SCIKIT_LEARN)
# Others have few by default, as their cost and what they hold fast grow with the number.
TAKE_NEIGHBORS = ("ccdr", "eigenmaps", "lle", "isomap", "locally-linear")


def make_methods(names: Sequence[str], *, n_neighbors: int, seed: int) -> dict[str, Any]:
    """Return an unfitted estimator a name, with that number of neighbours where it takes one."""
    return {name: _make(name, n_neighbors, seed) for name in names}


def _make(name: str, n_neighbors: int, seed: int) -> Any:
    if name in EMBEDDERS:
        estimator = make_method(name, seed=seed)
    else:
        module, _, title = OF_SCIKIT_LEARN[name].rpartition(".")
        estimator = getattr(import_module(module), title)()
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=seed)
    return estimator.set_params(n_neighbors=n_neighbors) if name in TAKE_NEIGHBORS else estimator
