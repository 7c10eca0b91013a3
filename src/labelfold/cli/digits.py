"""Labels for all of scikit-learn's digits from few, and three embeddings, with errors and maps.

The labels are those of FewLabelClassifier. All embeddings have the same number of coordinates;
other parameters are the defaults. Two heads are fitted on the coordinates of labeled rows: least
squares on the classes (CCDR-MC V.A) with a ridge penalty chosen on the labeled rows, and the label
of the nearest labeled row. Everything is scored on the unlabeled rows only, whose true labels no
method sees.

The first panel shows the labels of FewLabelClassifier on the layout of its graph (without openTSNE,
on the map of CCDR), the others those of the ridge head on their own maps. Unlabeled points are
small, in the color of their predicted class; wrong ones have a cross.
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

from labelfold.classify import FewLabelClassifier
from labelfold.evaluate import draw_labeled
from labelfold.graph import NeighborGraph
from labelfold.labels import hide_labels
from labelfold.plotting import EmbeddingDisplay
from labelfold.plotting.map_inputs import lay_out
from labelfold.spectral import CCDR, LaplacianEigenmaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As in the library's benchmark on MNIST, which has ten classes too.
N_COMPONENTS = 20
CAPTION = (
    "Large points: the {n_labeled} labels given. Small points: the other {n_scored:,} digits, in "
    "the color of their predicted class. Crosses: wrong predictions.\n"
    "Left: labels of FewLabelClassifier, on {map}.\n"
    "The others: labels of a ridge classifier on {n_components} coordinates, in the plane in which "
    "the {n_labeled} labeled points come closest to the spokes of their classes."
)


@dataclass(frozen=True)
class DigitsEmbedding:
    """One embedding, how it was computed, and how many unlabeled rows each head gets wrong."""

    method: str
    uses: str
    embedding: NDArray[Any]
    certificate: Any
    seconds: float
    predicted: dict[str, NDArray[Any]]  # classes of the unlabeled rows, by head
    n_wrong: dict[str, int]


@dataclass(frozen=True)
class DigitsExperiment:
    """The digits, the labels given, the classifier, and the embeddings computed with them."""

    y: NDArray[Any]
    is_labeled: NDArray[np.bool_]
    seed: int
    n_neighbors: int
    classifier: FewLabelClassifier
    classifier_seconds: float
    layout: NDArray[np.float64] | None  # of the classifier's graph; None without openTSNE
    graph_seconds: float
    embeddings: list[DigitsEmbedding]
    n_wrong_on_pixels: dict[str, int]

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(np.count_nonzero(self.is_labeled))

    @property
    def n_scored(self) -> int:
        """Number of unlabeled rows, on which errors are counted."""
        return len(self.y) - self.n_labeled

    @property
    def n_wrong(self) -> int:
        """Number of unlabeled rows that the classifier labels wrongly."""
        return int(np.count_nonzero(self.classifier.transduction_ != self.y))


def run_experiment(
    n_labels: int, seed: int, step: Callable[[str], AbstractContextManager[None]]
) -> DigitsExperiment:
    """Draw labels, label and embed all rows, and score the result; `step` shows progress."""
    X, y = load_digits(return_X_y=True)
    is_labeled = np.zeros(len(y), dtype=bool)
    is_labeled[draw_labeled(y, n_labels, random_state=seed)] = True
    y_given = hide_labels(y, is_labeled)
    start = time.perf_counter()
    with step("FewLabelClassifier"):
        classifier = FewLabelClassifier().fit(X, y_given)
    classifier_seconds = time.perf_counter() - start
    with step("layout"):
        layout = lay_out(classifier)
    ccdr, eigenmaps, pca = CCDR(N_COMPONENTS), LaplacianEigenmaps(N_COMPONENTS), PCA(N_COMPONENTS)
    start = time.perf_counter()
    with step("neighbor graph"):
        graph = NeighborGraph.build(X, n_neighbors=ccdr.n_neighbors)
    graph_seconds = time.perf_counter() - start
    embeddings = []
    runs: list[tuple[Any, str, dict[str, Any]]] = [
        (ccdr, "graph, labels", {"y": y_given, "graph": graph}),
        (eigenmaps, "graph", {"graph": graph}),
        (pca, "pixels", {}),
    ]
    for method, uses, given in runs:
        start, name = time.perf_counter(), type(method).__name__
        with step(name):
            embedding = method.fit_transform(X, **given)
        seconds = time.perf_counter() - start
        predicted = predict_by_heads(embedding, y, is_labeled)
        embeddings.append(
            DigitsEmbedding(
                method=name,
                uses=uses,
                embedding=embedding,
                certificate=getattr(method, "certificate_", None),
                seconds=seconds,
                predicted=predicted,
                n_wrong=count_wrong(predicted, y[~is_labeled]),
            )
        )
    return DigitsExperiment(
        y=y,
        is_labeled=is_labeled,
        seed=seed,
        n_neighbors=ccdr.n_neighbors,
        classifier=classifier,
        classifier_seconds=classifier_seconds,
        layout=None if layout is None else layout.embedding_,
        graph_seconds=graph_seconds,
        embeddings=embeddings,
        n_wrong_on_pixels=count_wrong(predict_by_heads(X, y, is_labeled), y[~is_labeled]),
    )


def predict_by_heads(
    points: NDArray[Any], y: NDArray[Any], is_labeled: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Fit each head on the labeled rows; return its classes of the unlabeled rows."""
    # In units of the variance, because the scales of embeddings differ from 0.01 to 10.
    penalties = points.var(axis=0).mean() * np.logspace(-4, 4, 17)
    heads = {"ridge": RidgeClassifierCV(penalties), "nearest label": KNeighborsClassifier(1)}
    return {
        name: head.fit(points[is_labeled], y[is_labeled]).predict(points[~is_labeled])
        for name, head in heads.items()
    }


def count_wrong(predicted: dict[str, NDArray[Any]], truth: NDArray[Any]) -> dict[str, int]:
    """Return how many classes each head gets wrong."""
    return {name: int(np.count_nonzero(found != truth)) for name, found in predicted.items()}


def draw_picture(experiment: DigitsExperiment) -> Figure:
    """Draw labels and maps side by side."""
    # Not pyplot: a command has no window and must not depend on the user's backend.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.0, 6.2), dpi=100, layout="constrained")
    axes = figure.subplots(1, len(experiment.embeddings))
    title, labels = type(experiment.classifier).__name__, experiment.classifier.transduction_
    given = hide_labels(experiment.y, experiment.is_labeled)
    first, *others = experiment.embeddings
    display = EmbeddingDisplay(
        first.embedding, labels=given, predictions=labels, components="classes"
    )
    if experiment.layout is not None:
        display = EmbeddingDisplay(
            experiment.layout, labels=given, predictions=labels, is_layout=True
        )
    _draw_panel(axes[0], display, experiment, title, labels)
    for ax, panel in zip(axes[1:], others, strict=True):
        labels = experiment.y.copy()
        labels[~experiment.is_labeled] = panel.predicted["ridge"]
        display = EmbeddingDisplay(
            panel.embedding, labels=given, predictions=labels, components="classes"
        )
        _draw_panel(ax, display, experiment, panel.method, labels)
    caption = CAPTION.format(
        map="the map of CCDR" if experiment.layout is None else "the layout of its graph",
        n_labeled=experiment.n_labeled,
        n_scored=experiment.n_scored,
        n_components=N_COMPONENTS,
    )
    figure.supxlabel(caption, fontsize=13, color="#444444")
    return figure


def _draw_panel(
    ax: Axes,
    display: EmbeddingDisplay,
    experiment: DigitsExperiment,
    title: str,
    labels: NDArray[Any],
) -> None:
    """Draw a map with these labels of all rows; crosses mark wrong ones."""
    display.plot(
        ax,
        s=50,
        linewidth=0.9,
        predicted_kwargs={"s": 11, "alpha": 0.4},
        text_kwargs={"fontsize": 18},
    )
    is_wrong = labels != experiment.y
    x, y = display.view.place(display.embedding[is_wrong]).T
    ax.scatter(x, y, s=26, marker="x", color="black", linewidths=1.0)
    error = np.count_nonzero(is_wrong) / experiment.n_scored
    ax.set_title(f"{title}: {100 * error:.1f} % error", fontsize=18)
    ax.margins(0.05, 0.08)
    ax.set_xlabel("")
