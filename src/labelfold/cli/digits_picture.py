"""The demo's picture: one panel a map, laid flat so that ten classes can be told apart.

Unlabelled points wear the colour of their true class, pale and small. No method has seen it: it is
there because a reader can judge a map only by where the other points went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelfold.cli.digits_experiment import DigitsExperiment, DigitsMap
from labelfold.labels import hide_labels
from labelfold.plotting import EmbeddingDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION = (
    "Large points: the {n_labeled} labels given. Small points: the other {n_scored:,} digits, in "
    "the colour of their true class, which no method saw.\n"
    "Stars: class centres. Each map has {n_components} coordinates, laid flat so that the "
    "{n_labeled} labelled points come closest to the spokes of their classes.\n"
    "Errors: a ridge classifier in all coordinates, on unlabelled digits only."
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
