"""LAPCLASS Fig. 1: two classes on a closed curve, and a point between two of its arms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from labelfold.classify import LaplacianClassifier
from labelfold.datasets import make_closed_curve
from labelfold.labels import hide_labels
from labelfold.spectral import LaplacianEigenmaps
from reproductions.curves import OKABE_ITO
from reproductions.entry import Entry, Measurement, Task, Verdict, judge_if
from reproductions.summary import Summary
from reproductions.tables import format_estimate

N_UNLABELED, PER_CLASS, N_DRAWS = 500, 5, 20
N_HALF_TURNS, WIDTH = 2, 0.5
LENGTH = np.pi * (2 * N_HALF_TURNS**2 + WIDTH)  # at which make_closed_curve closes
PLUS, CIRCLE = 0, 1  # the class of "?", and the other one
COLORS = (OKABE_ITO[0], OKABE_ITO[5])
GRAPH: dict[str, Any] = {"n_neighbors": 8, "weights": "binary", "normalization": "none"}
N_EIGENVECTORS = 3  # the constant, and the two coordinates of the map

RATIO = "distance to the nearest circle over that to the nearest plus"
NEAREST_IS_PLUS = "the nearest labeled point in the plane is a plus"
BETWEEN = "in the map it lies between two pluses"
LABELED_PLUS = "the Laplacian classifier labels it plus"
OTHERS = "error on all unlabeled points"
EQUALLY_NEAR = 1.25  # largest ratio of distances, either way, that leaves open which is nearer
ALMOST_ALL = 0.9  # of the draws
TITLES = (
    "1  Two classes on a curve",
    '2  Labeled points, and "?"',
    f"3  {N_UNLABELED} unlabeled points",
    "4  Ideal representation: a circle by arc length",
    '5  Labeled points and "?" in the Laplacian map',
    "6  All points in the Laplacian map",
)

PROCEDURE = """
The paper shows its curve in a picture only. Here it is `make_closed_curve`, the outline of a ribbon
rolled up into a double spiral: each class is one long side of it, "+" or "o", half a unit from the
other, and the next turn is half a unit away too. 510 points, uniform in arc length; one of them in
every fifth of each side is labeled, five of each class, and 500 are not.
"?" is, among the unlabeled points in the middle half of the side of "+", the one whose nearest "+"
and nearest "o" are most nearly at the same distance, so it is undecided in the plane by
construction.

Graph as in the paper's section 3: 8 neighbors, binary weights, unnormalized Laplacian. "Between
two pluses": the labeled points next to "?" on its two sides, by the angle around the middle of the
two-dimensional map, are both "+". The classifier uses three eigenvectors, the constant and the
map's two coordinates; 20 % of ten labels would be two.
"""


@dataclass(frozen=True, eq=False)
class Curve:
    """Points on the curve; ``question`` is the row of "?"."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    arc_length: NDArray[np.float64]
    labeled: NDArray[np.intp]
    question: int

    def map(self) -> NDArray[np.float64]:
        """Return the two-dimensional Laplacian eigenmap of all points."""
        return np.asarray(LaplacianEigenmaps(2, **GRAPH).fit(self.X).embedding_)

    def rows_of(self, value: int) -> NDArray[np.intp]:
        """Return the labeled rows of a class."""
        return self.labeled[self.y[self.labeled] == value]

    def ratio(self) -> float:
        """Return how much farther from "?" the nearest circle is than the nearest plus."""
        return float(distance_ratios(self.X, self)[self.question])


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each draw of points."""
    return [Task({}, seed) for seed in range(3 if quick else N_DRAWS)]


def draw_curve(task: Task) -> Curve:
    """Draw the points of a task, the labeled ones and "?"."""
    seed = task.seed or 0
    X, y, coordinates = make_closed_curve(
        N_UNLABELED + 2 * PER_CLASS, n_half_turns=N_HALF_TURNS, width=WIDTH, random_state=seed
    )
    arc_length = coordinates[:, 0]
    rng = np.random.default_rng(seed)
    fifth = np.floor(arc_length / LENGTH * 2 * PER_CLASS)
    labeled = [rng.choice(np.flatnonzero(fifth == number)) for number in range(2 * PER_CLASS)]
    curve = Curve(X, y, arc_length, np.array(labeled), question=-1)
    along = arc_length / (LENGTH / 2)  # the side of "+" comes first
    is_candidate = (along > 0.25) & (along < 0.75)
    is_candidate[labeled] = False
    doubt = np.where(is_candidate, np.abs(np.log(distance_ratios(X, curve))), np.inf)
    return Curve(X, y, arc_length, curve.labeled, int(doubt.argmin()))


def distance_ratios(X: NDArray[np.float64], curve: Curve) -> NDArray[np.float64]:
    """Return for all points the distance to the nearest circle over that to the nearest plus."""
    to_plus, to_circle = (cdist(X, X[curve.rows_of(value)]).min(axis=1) for value in (PLUS, CIRCLE))
    # A labeled point is at distance 0 from itself.
    return np.maximum(to_circle, 1e-12) / np.maximum(to_plus, 1e-12)


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Look at "?" in the plane, in the map, and as the classifier labels it."""
    curve = draw_curve(task)
    hidden = np.setdiff1d(np.arange(len(curve.y)), curve.labeled)
    model = LaplacianClassifier.as_published(n_eigenvectors=N_EIGENVECTORS, **GRAPH)
    labels = model.fit(curve.X, hide_labels(curve.y, curve.labeled)).transduction_
    nearest = curve.labeled[cdist(curve.X, curve.X[curve.labeled]).argmin(axis=1)]
    ratio = curve.ratio()
    facts = {
        NEAREST_IS_PLUS: ratio > 1,
        BETWEEN: is_between(curve.map(), curve),
        LABELED_PLUS: labels[curve.question] == PLUS,
    }
    measurements = [Measurement(ratio, measure=RATIO, unit="number")]
    measurements += [Measurement(float(fact), measure=name) for name, fact in facts.items()]
    for rule, found in (("nearest labeled point", curve.y[nearest]), ("Laplacian", labels)):
        error = float(np.mean(found[hidden] != curve.y[hidden]))
        measurements.append(Measurement(error, {"rule": rule}, OTHERS, n_scored=len(hidden)))
    return measurements


def is_between(embedding: NDArray[np.float64], curve: Curve) -> bool:
    """Return whether both labeled points next to "?" around the map are pluses."""
    angle = np.arctan2(*(embedding - embedding.mean(axis=0)).T)
    ahead = (angle[curve.labeled] - angle[curve.question]) % (2 * np.pi)
    neighbors = curve.labeled[[ahead.argmin(), ahead.argmax()]]
    return bool(np.all(curve.y[neighbors] == PLUS))


def judge(summary: Summary) -> list[Verdict]:
    """Judge the paper's claims about its panels."""
    ratios = list(summary.row(RATIO).values.values())
    plain, laplacian = (
        format_estimate(summary.row(OTHERS, rule=rule).estimate)
        for rule in ("nearest labeled point", "Laplacian")
    )
    between, plus = (summary.row(measure).estimate.mean for measure in (BETWEEN, LABELED_PLUS))
    judged = (
        (
            '"?" cannot be told confidently from the labeled points alone',
            f"the nearest circle is {min(ratios):.2f} to {max(ratios):.2f} times as far as "
            f"the nearest plus; the nearest labeled point is a plus in "
            f"{100 * summary.row(NEAREST_IS_PLUS).estimate.mean:.0f} % of the draws",
            judge_if(max(max(ratios), 1 / min(ratios)) <= EQUALLY_NEAR),
        ),
        (
            'In the Laplacian map "?" falls in the middle of "+" signs',
            f"between two pluses in {100 * between:.0f} % of the draws",
            judge_if(between >= ALMOST_ALL, between > 0.5),
        ),
        (
            'There it "can easily be identified" as "+"',
            f"labeled so by the classifier in {100 * plus:.0f} % of the draws; "
            f"error on all unlabeled points {laplacian}, of the nearest labeled point {plain}",
            judge_if(plus >= ALMOST_ALL, plus > 0.5),
        ),
    )
    return [Verdict(claim, "text and picture", found, verdict) for claim, found, verdict in judged]


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the paper's six panels for the first draw."""
    curve = draw_curve(Task({}, 0))
    embedding = curve.map()
    figure = Figure(figsize=(13.5, 8.6), dpi=100, layout="constrained")
    panels = figure.subplots(2, 3)
    for ax in panels.flat:
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.spines[:].set_color("#BDBDBD")
    X, y, along = make_closed_curve(20_000, n_half_turns=N_HALF_TURNS, width=WIDTH, random_state=0)
    order = along[:, 0].argsort()
    X, y, angle = X[order], y[order], 2 * np.pi * along[order, 0] / LENGTH
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for row, (ideal, places) in enumerate(((X, curve.X), (circle, embedding))):
        line, labeled, every = panels[row]
        for value in (PLUS, CIRCLE):
            line.plot(*ideal[y == value].T, color=COLORS[value], linewidth=2.5)
        labeled.scatter(*places.T, s=0)  # the same view as in the panel of all points
        _draw_labeled(labeled, places, curve)
        every.scatter(*places.T, s=7, color="#6E6E6E", linewidth=0)
    _draw_labeled(panels[1, 2], embedding, curve)
    for ax, title in zip(panels.flat, TITLES, strict=True):
        ax.set_title(title)
    return figure


def _draw_labeled(ax: Axes, places: NDArray[np.float64], curve: Curve) -> None:
    plus, circle = (places[curve.rows_of(value)].T for value in (PLUS, CIRCLE))
    ax.plot(*plus, "+", color=COLORS[PLUS], markersize=13, markeredgewidth=2.8)
    hollow: dict[str, Any] = {"markeredgewidth": 2.4, "markerfacecolor": "white"}
    ax.plot(*circle, "o", color=COLORS[CIRCLE], markersize=9, **hollow)
    outline = [withStroke(linewidth=4, foreground="white")]
    style: dict[str, Any] = {"fontsize": 19, "fontweight": "bold", "path_effects": outline}
    x, y = places[curve.question]
    ax.text(x, y, "?", ha="center", va="center", zorder=4, **style)


FIGURE_1 = Entry(
    name="figure-1",
    title="Two classes on a closed curve, and a point between two arms",
    procedure=PROCEDURE,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
)
