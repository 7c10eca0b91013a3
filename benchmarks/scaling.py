"""Cost against n: 16,000 to 1,000,000 synthetic rows, search and solve timed separately.

The rows lie near a smooth five-dimensional manifold in 50 features: every feature is a sine of
five uniform coordinates, plus a little noise.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from measure import repeat
from numpy.typing import NDArray

N_FEATURES, N_NEIGHBORS, N_COMPONENTS = 50, 10, 10
SIZES = (16_000, 64_000, 250_000, 1_000_000)


def rows(n: int, seed: int = 0) -> NDArray[np.float64]:
    """Draw n rows."""
    rng = np.random.default_rng(seed)
    frequencies = rng.normal(size=(5, N_FEATURES)) * 2
    X = np.sin(rng.random((n, 5)) @ frequencies + rng.random(N_FEATURES) * 2 * np.pi)
    X += 0.01 * rng.normal(size=X.shape)
    return X


def time_fit(n: int, n_repeats: int) -> dict[str, Any]:
    """LaplacianEigenmaps of n rows; returns seconds of search and solve."""
    from labelfold import LaplacianEigenmaps, NeighborGraph

    X = rows(n)
    small = NeighborGraph.build(X[:8000], n_neighbors=N_NEIGHBORS, neighbor_search="approximate")
    model = LaplacianEigenmaps(N_COMPONENTS, n_neighbors=N_NEIGHBORS, random_state=0)
    model.fit(X[:8000], graph=small)

    def work() -> dict[str, Any]:
        start = time.perf_counter()
        graph = NeighborGraph.build(X, n_neighbors=N_NEIGHBORS, random_state=0)
        searched = time.perf_counter()
        model.fit(X, graph=graph)
        return {
            "n": n,
            "search": searched - start,
            "solve": time.perf_counter() - searched,
            "backend": str(graph.search),
            "components": graph.statistics.n_connected_components,
            "certificate": str(model.certificate_),
        }

    return repeat(work, n_repeats)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of log time against log n."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


TASKS = {"fit": time_fit}
