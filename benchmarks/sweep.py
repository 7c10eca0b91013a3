"""200 settings of (beta, dimension) on Landsat against one fit: what a shared graph saves.

One fit includes the graph and 14 coordinates. The sweep scores 20 betas times 10 dimensions
on the test rows, as a best case does; the search chooses among the same 200 by 5 folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import repeat

N_NEIGHBORS = 4
BETAS = np.geomspace(0.01, 5, 20).tolist()
DIMENSIONS = (3, 4, 5, 6, 8, 10, 12, 14, 17, 20)


def time_fit(n_repeats: int) -> dict[str, Any]:
    """One ManifoldClassifier with CCDR and the linear head."""
    model, X, y = _prepare()
    return repeat(lambda: model.set_params(embedder__n_components=14).fit(X, y) and None, n_repeats)


def time_sweep(n_repeats: int) -> dict[str, Any]:
    """All settings, scored on the test rows."""
    from sklearn.model_selection import PredefinedSplit

    from reproductions.data import load_landsat

    model, X, y = _prepare()
    truth = load_landsat("all")[1]
    return _time_search(model, X, truth, PredefinedSplit(np.where(y == -1, 0, -1)), n_repeats)


def time_search(n_repeats: int) -> dict[str, Any]:
    """All settings, by cross-validation on the training labels."""
    model, X, y = _prepare()
    return _time_search(model, X, y, 5, n_repeats)


def _time_search(model: Any, X: Any, y: Any, cv: Any, n_repeats: int) -> dict[str, Any]:
    from labelfold import TransductiveSearchCV

    grid = {"embedder__beta": BETAS, "embedder__n_components": DIMENSIONS}

    def work() -> dict[str, Any]:
        search = TransductiveSearchCV(model, grid, cv=cv, refit=False).fit(X, y)
        return {
            "n_settings": len(search.cv_results_["params"]),
            "n_graphs": search.n_graphs_,
            "n_maps": search.n_maps_,
            "best": search.best_params_,
            "error": 1 - search.best_score_,
        }

    return repeat(work, n_repeats)


def _prepare() -> tuple[Any, Any, Any]:
    from labelfold import CCDR, ManifoldClassifier, hide_labels
    from reproductions.data import load_landsat

    X, y = load_landsat("all")
    model = ManifoldClassifier.as_published(embedder=CCDR(2, n_neighbors=N_NEIGHBORS))
    model.fit(X[:1000], y[:1000])  # warm-up
    return model, X, hide_labels(y, np.arange(4435))


TASKS = {"fit": time_fit, "sweep": time_sweep, "search": time_search}
