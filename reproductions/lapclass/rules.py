"""The Laplacian classifier, and two other rules that use the same graph, on draws of labels.

Every rule turns a graph, the labeled rows and their classes into classes of the other rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.semi_supervised import LabelSpreading

from labelfold.classify import LaplacianClassifier
from labelfold.graph import NeighborGraph
from labelfold.labels import hide_labels
from reproductions.entry import Measurement, Setting
from reproductions.lapclass.points import LabeledPart, Sample, measure_draws

# Rules and their choices as the rows of Figs. 2 and 3 call them.
LAPLACIAN, NEAREST = "Laplacian", "k-NN"
GEODESIC, SPREADING = "geodesic", "LabelSpreading"
PAPERS_RULE, CHOSEN_PENALTY = "p = 20 %", "penalty chosen"
BEST_K, CHOSEN_K = "best k", "k by leave-one-out"
SHARE = 0.2  # eigenvectors for each labeled point (LAPCLASS section 5)
FEWEST = 100  # least number for a fraction with a penalty


def make_model(*, metric: str = "euclidean", has_penalty: bool = False) -> LaplacianClassifier:
    """Return the classifier of LAPCLASS section 3, with 8 neighbors and binary weights."""
    return LaplacianClassifier.as_published(
        n_eigenvectors=SHARE,
        penalty="auto" if has_penalty else 0.0,
        metric=metric,
        # One neighbor in a hundred missed costs a twentieth more errors on MNIST.
        neighbor_search="exact",
    )


def measure_laplacian(
    sample: Sample,
    graph: NeighborGraph,
    numbers_of_labels: tuple[int, ...],
    *,
    setting: Setting,
    penalized: tuple[int, ...] = (),
) -> list[Measurement]:
    """Measure errors on eigenvectors computed once, for some numbers with a penalty too."""
    metric = str(graph.recipe.metric)
    most = max(round(SHARE * max(numbers_of_labels)), FEWEST)
    basis = make_model(metric=metric).build_basis(sample.X, most, graph=graph)

    def label(part: LabeledPart, has_penalty: bool) -> NDArray[Any]:
        model = make_model(metric=metric, has_penalty=has_penalty)
        model.fit(sample.X, hide_labels(sample.y, part.given), basis=basis)
        return np.asarray(model.transduction_[part.hidden])

    measurements = []
    for choice, numbers in ((PAPERS_RULE, numbers_of_labels), (CHOSEN_PENALTY, penalized)):
        for number in numbers:
            about = {**setting, "labels": number, "choice": choice}
            rule = partial(label, has_penalty=choice == CHOSEN_PENALTY)
            measurements += measure_draws(sample, number, rule, about)
    return measurements


def label_by_geodesic(graph: NeighborGraph, sample: Sample, part: LabeledPart) -> NDArray[Any]:
    """Give every hidden row the class of the nearest labeled one, measured along the edges."""
    _, _, sources = sp.csgraph.dijkstra(
        graph.distances.copy(),  # older releases of SciPy insist on writable arrays
        directed=False,
        indices=part.given,
        min_only=True,
        return_predecessors=True,
    )
    # A row that no label reaches has no source, and no class: it counts as an error.
    nearest = sources[part.hidden]
    return np.where(nearest >= 0, sample.y[np.maximum(nearest, 0)], -1)


def label_by_spreading(
    graph: NeighborGraph, sample: Sample, part: LabeledPart, *, alpha: float
) -> NDArray[Any]:
    """Label by scikit-learn's LabelSpreading on the weights of the graph."""
    model = LabelSpreading(kernel=lambda X, Y: graph.adjacency, alpha=alpha)
    model.fit(sample.X, hide_labels(sample.y, part.given))
    return np.asarray(model.transduction_[part.hidden])
