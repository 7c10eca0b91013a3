"""CCDR-MC Fig. 1: two long classes side by side, and the one direction that tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from labelfold.plotting import class_styles, readable_on_white
from labelfold.spectral import MarginalFisherAnalysis
from reproductions.curves import OKABE_ITO
from reproductions.entry import Entry, Measurement, Task, Verdict, judge_all
from reproductions.summary import Summary
from reproductions.tables import format_estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURE_1"]

N_TRAIN, N_TEST, N_DRAWS = 200, 1000, 20
LONG, SHORT = 3.0, 0.5  # standard deviations of a class along e_1: the figure's, and a control
DISTANCE, WIDTH = 1.0, 0.35  # along e_2: of a class mean from the middle, and standard deviation
TILT = np.deg2rad(30)  # of e_1, so that no axis of the data is one of the features
E_1 = np.array([np.cos(TILT), np.sin(TILT)])
E_2 = np.array([-np.sin(TILT), np.cos(TILT)])
METHODS = ("PCA", "LDA", "MFA")
BEST = "e_2"
ANGLE = "angle to e_2 in degrees"

# Where a number stands for a word of the paper, this is the number.
RIGHT_ANGLE, SMALL_ANGLE = 80.0, 5.0
SEVERE, SAME = 0.4, 0.01

PROCEDURE = f"""
The paper has a drawing and no figures. Here two classes of Gaussian points in the plane lie side by
side: along e_1 both have mean 0 and standard deviation {LONG:g}, along e_2 means of -{DISTANCE:g}
and {DISTANCE:g} and standard deviation {WIDTH:g}. Only e_2 tells the classes apart, and most
variance is along e_1. As a control the classes are also drawn with standard deviation {SHORT:g}
along e_1, where most variance is along e_2.

Each method finds one direction from {N_TRAIN} labelled points, and {N_TEST:,} new ones are
classified by the nearer class mean of the training points' projections. "{BEST}" projects onto e_2
itself. LDA is named in section III.B; marginal Fisher analysis (MFA), without a kernel, is reviewed
there, and its rows are ours. {N_DRAWS} draws; the picture shows the first.

"Severe degradation" is taken as an error of at least 40 %, and "projects onto e_2" as an
angle of at most {SMALL_ANGLE:g} degrees and an error within 1 point of that on e_2.
"""

Array = NDArray[np.float64]
Classes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draw:
    """Points to learn from, and new ones to score on."""

    X: Array
    y: Classes
    X_new: Array
    y_new: Classes

    @classmethod
    def of(cls, task: Task) -> Draw:
        """Draw the points of a task, equally many of each class."""
        rng = np.random.default_rng([task.seed or 0, N_TRAIN])
        y = np.arange(N_TRAIN + N_TEST) % 2
        along = float(task.setting["length"]) * rng.standard_normal(len(y))
        across = DISTANCE * (2 * y - 1) + WIDTH * rng.standard_normal(len(y))
        X = np.outer(along, E_1) + np.outer(across, E_2)
        return cls(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])

    def error_along(self, direction: Array) -> float:
        """Return the error on new points of the nearer class mean in one projection."""
        head = NearestCentroid().fit(self.X @ direction[:, np.newaxis], self.y)
        predicted = head.predict(self.X_new @ direction[:, np.newaxis])
        return float(np.mean(predicted != self.y_new))


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each kind of classes and draw."""
    n_draws = 2 if quick else N_DRAWS
    return [Task({"length": length}, seed) for length in (LONG, SHORT) for seed in range(n_draws)]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the direction of every method, and the error on it."""
    draw = Draw.of(task)
    directions = find_directions(draw)
    measurements = [
        Measurement(draw.error_along(direction), {"method": name}, n_scored=N_TEST)
        for name, direction in {**directions, BEST: E_2}.items()
    ]
    measurements += [
        Measurement(angle_between(direction, E_2), {"method": name}, ANGLE, unit="number")
        for name, direction in directions.items()
    ]
    return measurements


def find_directions(draw: Draw) -> dict[str, Array]:
    """Return the unit vector that each method projects onto."""
    models: dict[str, Any] = {
        "PCA": PCA(1),
        "LDA": LinearDiscriminantAnalysis(n_components=1),
        "MFA": MarginalFisherAnalysis(1),
    }
    directions = {}
    for name, model in models.items():
        model.fit(draw.X, draw.y)
        slopes = (model.transform(np.eye(2)) - model.transform(np.zeros((2, 2)))).ravel()
        # Upwards, so that pictures have the classes in one order.
        directions[name] = slopes * np.copysign(1 / np.linalg.norm(slopes), slopes[1])
    return directions


def angle_between(first: Array, second: Array) -> float:
    """Return the angle between two lines through the origin, from 0 to 90 degrees."""
    along, across = first @ second, first[0] * second[1] - first[1] * second[0]
    return float(np.rad2deg(np.arctan2(abs(across), abs(along))))


def judge(summary: Summary) -> list[Verdict]:
    """Judge what the paper says of PCA and LDA, then marginal Fisher analysis and the control."""

    def put(
        claim: str, paper: str, length: float, method: str, *, is_lost: bool = False
    ) -> Verdict:
        angle = summary.row(ANGLE, length=length, method=method).estimate
        error = summary.row(length=length, method=method).estimate
        best = summary.row(length=length, method=BEST).estimate
        is_found = angle.mean <= SMALL_ANGLE and error.mean <= best.mean + SAME
        is_so = angle.mean >= RIGHT_ANGLE and error.mean >= SEVERE if is_lost else is_found
        found = f"{format_estimate(angle, 'number')} degrees from e_2, error "
        found += f"{format_estimate(error)}; on e_2 itself {format_estimate(best)}"
        return Verdict(claim, paper, found, judge_all([is_so]))

    severe, ours = "may result in severe degradation; drawing", "not in the paper"
    removes = "PCA removes the direction that tells the classes apart"
    control = "Ours: where classes are short, PCA projects onto e_2 as well"
    return [
        put(removes, severe, LONG, "PCA", is_lost=True),
        put("LDA projects onto e_2", "selects e_2; drawing", LONG, "LDA"),
        put("Ours: marginal Fisher analysis projects onto e_2 too", ours, LONG, "MFA"),
        put(control, ours, SHORT, "PCA"),
    ]


def draw_picture(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first draw with its axes, and what is left of it on each direction."""
    from matplotlib.figure import Figure

    drawn = Draw.of(Task({"length": LONG}, 0))
    directions = find_directions(drawn)
    figure = Figure(figsize=(12.0, 5.6), dpi=100, layout="constrained")
    grid = figure.add_gridspec(len(METHODS), 2, width_ratios=[1.25, 1.0])
    _draw_plane(figure.add_subplot(grid[:, 0]), drawn, directions)
    for place, (name, direction) in enumerate(directions.items()):
        ax = figure.add_subplot(grid[place, 1])
        _draw_projection(ax, drawn, direction)
        error = 100 * drawn.error_along(direction)
        ax.set_title(f"Projected by {name}: {error:.1f} % of new points wrong", fontsize=11)
    return figure


def _draw_plane(ax: Axes, drawn: Draw, directions: dict[str, Array]) -> None:
    for value, (style, marker) in enumerate(zip(class_styles(2), "ov", strict=True)):
        x, y = drawn.X[drawn.y == value].T
        ax.scatter(x, y, 16, color=style.color, marker=marker, label=f"class {value + 1}")
    for name, axis, reach in (("$e_1$", E_1, 9.0), ("$e_2$", E_2, 6.0)):
        x, y = axis.tolist()
        arrow = {"arrowstyle": "->", "color": "black", "linewidth": 1.2}
        ax.annotate("", (reach * x, reach * y), (-reach * x, -reach * y), arrowprops=arrow)
        beyond = reach + 0.6
        ax.annotate(name, (beyond * x, beyond * y), ha="center", va="center", fontsize=13)
    # Long lines behind the short ones, so that directions that agree are all seen.
    reaches, offsets = (8.0, 5.0, 3.6), ((-24, 26), (8, 0), (8, 0))
    lines = zip(directions.items(), OKABE_ITO[2:], reaches, offsets, strict=False)
    for (name, direction), color, reach, offset in lines:
        x, y = (-reach * direction).tolist()
        ax.plot([x, -x], [y, -y], color=color, linewidth=4, alpha=0.8, zorder=1)
        text_color = readable_on_white(color)
        ax.annotate(name, (x, y), offset, textcoords="offset points", color=text_color, va="top")
    ax.set(aspect="equal", xlim=(-9.5, 9.5), ylim=(-7.5, 7.0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.legend(frameon=False, loc="upper left")


def _draw_projection(ax: Axes, drawn: Draw, direction: Array) -> None:
    places = drawn.X_new @ direction
    bins = [float(edge) for edge in np.linspace(places.min(), places.max(), 60)]
    for value, style in enumerate(class_styles(2)):
        ax.hist(places[drawn.y_new == value], bins, color=style.color, alpha=0.7)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set(yticks=[])


FIGURE_1 = Entry(
    name="figure-1",
    title="One direction of two long classes, by PCA, LDA and MFA",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw_picture,
)
