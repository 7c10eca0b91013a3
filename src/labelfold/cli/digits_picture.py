"""The demo's picture: one panel a map, laid flat so that ten classes can be told apart.

The first two coordinates of a spectral map of ten classes set two of them apart and leave the
others in a heap. So each map is drawn through its ridge head, fitted on the labelled points: each
class has a corner of a regular polygon, and a point stands at the sum of the corners weighted by
its scores. This is a linear map of all coordinates into the plane, by the same rule for each panel.

Unlabelled points wear the colour of their true class, pale and small. No method has seen it: it is
there because a reader can judge a map only by where the other points went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifierCV

from labelfold.cli.digits_experiment import DigitsExperiment, DigitsMap, fit_ridge
from labelfold.plotting import EmbeddingDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Large points: the {n_labeled} labels given. Small points: the other {n_scored:,} digits, in "
    "the colour of their true class, which no method saw.\n"
    "Stars: class centres. Each map has {n_components} coordinates, drawn by the scores of a ridge "
    "classifier fitted on the {n_labeled} labelled points,\n"
    "one spoke a class. Errors: that classifier, on unlabelled digits only."
)


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


def polygon(n_corners: int) -> NDArray[np.float64]:
    """Corners on the unit circle, clockwise from the top."""
    angles = 2 * np.pi * np.arange(n_corners) / n_corners
    return np.column_stack([np.sin(angles), np.cos(angles)])


def _draw_panel(ax: Axes, panel: DigitsMap, experiment: DigitsExperiment) -> None:
    y, given = experiment.y, experiment.is_labeled
    classes = np.unique(y)
    head = fit_ridge(panel.embedding, y, given)
    points = _between_corners(head, panel.embedding)
    centers = None if panel.class_centers is None else _between_corners(head, panel.class_centers)
    for corner in polygon(len(classes)):
        ax.plot(*np.outer(corner, [0, 1]), color="#E4E4E4", linewidth=1, zorder=0)
    EmbeddingDisplay(points[~given], labels=y[~given], classes=classes).plot(
        ax, show_names=False, s=11, alpha=0.4, linewidth=0
    )
    EmbeddingDisplay(points[given], labels=y[given], class_centers=centers, classes=classes).plot(
        ax, s=50, linewidth=0.9, text_kwargs={"fontsize": 18}
    )
    error = panel.n_wrong["ridge"] / experiment.n_scored
    ax.set_title(f"{panel.method}: {100 * error:.1f} % error", fontsize=18)
    ax.margins(0.05, 0.08)
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")


def _between_corners(head: RidgeClassifierCV, points: NDArray[Any]) -> NDArray[Any]:
    # The head is fitted to -1 and 1 rather than 0 and 1; the corners sum to zero, so that halving
    # its scores is all it takes to put a perfectly fitted point on its corner.
    return np.asarray(head.decision_function(points) @ polygon(len(head.classes_)) / 2)
