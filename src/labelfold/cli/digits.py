"""Three maps of scikit-learn's digits with few labels, what simple heads make of each, a picture.

All maps have the same number of coordinates, and methods run with their defaults otherwise. Two
heads are fitted on the labeled points' coordinates: least squares on the classes (CCDR-MC V.A)
with a ridge penalty chosen on the labeled points, and the label of the nearest labeled point.
They are scored on the unlabeled points only; no true label of an unlabeled point is used before.

In the picture unlabeled points wear the color of their true class, pale and small. No method has
seen it: it is there because a reader can judge a map only by where the other points went.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier

from labelfold.evaluate import draw_labeled
from labelfold.exceptions import InputError
from labelfold.graph import NeighborGraph
from labelfold.labels import hide_labels
from labelfold.plotting import EmbeddingDisplay
from labelfold.spectral import CCDR, LaplacianEigenmaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As in the library's benchmark on MNIST, which has ten classes too.
N_COMPONENTS = 20
CAPTION = (
    "Large points: the {n_labeled} labels given. Small points: the other {n_scored:,} digits, in "
    "the color of their true class, which no method saw.\n"
    "Stars: class centers. Each map has {n_components} coordinates, laid flat so that the "
    "{n_labeled} labeled points come closest to the spokes of their classes.\n"
    "Errors: a ridge classifier in all coordinates, on unlabeled digits only."
)


@dataclass(frozen=True)
class DigitsMap:
    """One map, how it was made, and how many unlabeled points each head gets wrong on it."""

    method: str
    uses: str
    embedding: NDArray[Any]
    class_centers: NDArray[Any] | None
    certificate: Any
    seconds: float
    n_wrong: dict[str, int]


@dataclass(frozen=True)
class DigitsExperiment:
    """The digits, the labels given, and the maps made with them."""

    y: NDArray[Any]
    is_labeled: NDArray[np.bool_]
    seed: int
    n_neighbors: int
    graph_seconds: float
    maps: list[DigitsMap]
    n_wrong_on_pixels: dict[str, int]

    @property
    def n_labeled(self) -> int:
        """Number of points whose label was given."""
        return int(np.count_nonzero(self.is_labeled))

    @property
    def n_scored(self) -> int:
        """Number of points on which errors are counted: the unlabeled ones."""
        return len(self.y) - self.n_labeled


def run_experiment(
    n_labels: int, seed: int, step: Callable[[str], AbstractContextManager[None]]
) -> DigitsExperiment:
    """Draw labels, make the maps, score them; `step` frames each stage for display."""
    X, y = load_digits(return_X_y=True)
    is_labeled = draw_labels(y, n_labels, seed)
    y_given = hide_labels(y, is_labeled)
    ccdr, eigenmaps = CCDR(N_COMPONENTS), LaplacianEigenmaps(N_COMPONENTS)

    start = time.perf_counter()
    with step("neighbor graph"):
        graph = NeighborGraph.build(X, n_neighbors=ccdr.n_neighbors)
    graph_seconds = time.perf_counter() - start

    def make_map(method: Any, uses: str, embed: Callable[[], NDArray[Any]]) -> DigitsMap:
        name = type(method).__name__
        start = time.perf_counter()
        with step(name):
            embedding = embed()
        return DigitsMap(
            method=name,
            uses=uses,
            embedding=embedding,
            class_centers=getattr(method, "class_centers_", None),
            certificate=getattr(method, "certificate_", None),
            seconds=time.perf_counter() - start,
            n_wrong=count_wrong(embedding, y, is_labeled),
        )

    pca = PCA(N_COMPONENTS)
    return DigitsExperiment(
        y=y,
        is_labeled=is_labeled,
        seed=seed,
        n_neighbors=ccdr.n_neighbors,
        graph_seconds=graph_seconds,
        maps=[
            make_map(ccdr, "graph, labels", lambda: ccdr.fit(X, y_given, graph=graph).embedding_),
            make_map(eigenmaps, "graph", lambda: eigenmaps.fit(X, graph=graph).embedding_),
            make_map(pca, "pixels", lambda: pca.fit_transform(X)),
        ],
        n_wrong_on_pixels=count_wrong(X, y, is_labeled),
    )


def draw_labels(y: NDArray[Any], n_labels: int, seed: int) -> NDArray[np.bool_]:
    """Draw the points that keep their label: equally many per class, at random within it.

    Where `n_labels` is no multiple of the number of classes, classes drawn at random give one more.
    """
    classes, sizes = np.unique(y, return_counts=True)
    per_class, remainder = divmod(n_labels, len(classes))
    if per_class < 2:
        # The ridge head leaves out one label at a time, and its class must not go with it.
        raise InputError(
            f"{n_labels} labels are too few for {len(classes)} classes: "
            f"ask for at least {2 * len(classes)}, two per class."
        )
    if per_class + (remainder > 0) >= sizes.min():
        raise InputError(
            f"{n_labels} labels leave a class of {sizes.min()} points without an unlabeled one: "
            f"ask for at most {len(classes) * (sizes.min() - 1)}."
        )
    is_labeled: NDArray[np.bool_] = np.zeros(len(y), dtype=bool)
    is_labeled[draw_labeled(y, n_labels, random_state=seed)] = True
    return is_labeled


def count_wrong(
    points: NDArray[Any], y: NDArray[Any], is_labeled: NDArray[np.bool_]
) -> dict[str, int]:
    """Fit each head on the labeled points; count the unlabeled points it gets wrong."""
    heads = {
        "ridge": fit_ridge(points, y, is_labeled),
        "nearest label": KNeighborsClassifier(1).fit(points[is_labeled], y[is_labeled]),
    }
    return {
        name: int(np.count_nonzero(head.predict(points[~is_labeled]) != y[~is_labeled]))
        for name, head in heads.items()
    }


def fit_ridge(
    points: NDArray[Any], y: NDArray[Any], is_labeled: NDArray[np.bool_]
) -> RidgeClassifierCV:
    """Fit penalized least squares; the penalty has the least leave-one-out error on the labels.

    Penalties are in units of the points' variance: maps come in scales from 0.01 to 10.
    """
    penalties = points.var(axis=0).mean() * np.logspace(-4, 4, 17)
    return RidgeClassifierCV(penalties).fit(points[is_labeled], y[is_labeled])


def draw_picture(experiment: DigitsExperiment) -> Figure:
    """Draw all maps side by side, in the same frame."""
    # Not pyplot: a command has no window, and must not depend on the user's graphical backend.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.0, 6.2), dpi=100, layout="constrained")
    axes = figure.subplots(1, len(experiment.maps), sharex=True, sharey=True)
    for ax, panel in zip(axes, experiment.maps, strict=True):
        _draw_panel(ax, panel, experiment)
    caption = CAPTION.format(
        n_labeled=experiment.n_labeled,
        n_scored=experiment.n_scored,
        n_components=experiment.maps[0].embedding.shape[1],
    )
    figure.supxlabel(caption, fontsize=13, color="#444444")
    return figure


def _draw_panel(ax: Axes, panel: DigitsMap, experiment: DigitsExperiment) -> None:
    EmbeddingDisplay.from_predictions(
        panel.embedding,
        experiment.y,
        labels=hide_labels(experiment.y, experiment.is_labeled),
        class_centers=panel.class_centers,
        components="classes",
        ax=ax,
        s=50,
        linewidth=0.9,
        predicted_kwargs={"s": 11, "alpha": 0.4},
        text_kwargs={"fontsize": 18},
    )
    error = panel.n_wrong["ridge"] / experiment.n_scored
    ax.set_title(f"{panel.method}: {100 * error:.1f} % error", fontsize=18)
    ax.margins(0.05, 0.08)
    ax.set_xlabel("")
