"""CCDR-2005 Figs. 1 and 2: the roll with its two classes, and three maps of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import optimize, spatial, stats
from sklearn.manifold import Isomap

from labelfold.classify import LeastSquaresClassifier
from labelfold.datasets import make_swiss_roll
from labelfold.plotting import EmbeddingDisplay, class_styles
from reproductions.ccdr_2005.roll import N_BANDS, N_COMPONENTS, draw_seeds, make_maps
from reproductions.curves import new_figure
from reproductions.entry import Entry, Measurement, Task, Verdict, judge_if
from reproductions.summary import Summary
from reproductions.tables import format_estimate

PER_CLASS, N_DRAWS = 400, 20
ISOMAP_NEIGHBORS = 8  # caption of Fig. 2
LINE_ERROR, PLANE_ERROR = "error of a straight line", "error of a plane"
SEPARABLE = "separable by a plane"
DISPARITY, RANK_CORRELATION = "disparity from the flat roll", "rank correlation with arc length"
MAPS = ("Isomap", "Laplacian", "CCDR")

# Numbers for words of the paper.
ISOMETRIC, ARC_LENGTH_LIKE = 0.01, 0.95
ALMOST_SEPARABLE, MIXED = 0.05, 0.25

PROCEDURE_1 = """
400 points of each of two classes, uniform in area on the roll: more are drawn, and the first 400 of
each class are kept. The paper shows the classes in a picture only; here they are six bands (see the
entry `bands`). It says that no linear projection onto a plane separates the classes. A projection
in which a straight line separates them would give a plane that separates them in space, so the
table says whether there is such a plane (by linear programming) and gives the error of a
least-squares plane on the same points. 20 draws; the picture shows the first.
"""

PROCEDURE_2 = """
The points of Fig. 1, all labeled, in three embeddings of two coordinates: Isomap with 8 neighbors,
Laplacian eigenmaps and CCDR with 12 (automatic scale, β = 1). The paper shows pictures. To measure
what it says about them the table has the error of a straight line fitted by least squares with an
intercept, on the same points; for Isomap the disparity of a Procrustes fit to the flat roll, 0 for
the same shape; for Laplacian eigenmaps the absolute rank correlation of the first coordinate with
arc length. "Almost linearly separable" means an error of at most 5 %, and "no simple separation"
one of at least 25 %. 20 draws; the picture shows the first.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each draw of the roll."""
    return [Task({}, seed) for seed in range(2 if quick else N_DRAWS)]


def run_figure_1(task: Task, data_home: Path | None) -> list[Measurement]:
    """Try to separate the classes in space by a plane."""
    X, y, _ = draw_roll(task)
    return [
        Measurement(_error_of_hyperplane(X, y), measure=PLANE_ERROR, n_scored=len(y)),
        Measurement(float(is_separable(X, y)), measure=SEPARABLE),
    ]


def run_figure_2(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure what the paper says about the three maps."""
    X, y, coordinates = draw_roll(task)
    maps = make_three_maps(X, y)
    disparity = float(spatial.procrustes(coordinates, maps["Isomap"])[2])
    correlation = stats.spearmanr(coordinates[:, 0], maps["Laplacian"][:, 0]).statistic
    errors = {name: _error_of_hyperplane(maps[name], y) for name in MAPS}
    return [
        *(Measurement(errors[name], {"map": name}, LINE_ERROR, n_scored=len(y)) for name in MAPS),
        Measurement(disparity, {"map": "Isomap"}, DISPARITY, unit="number"),
        Measurement(abs(float(correlation)), {"map": "Laplacian"}, RANK_CORRELATION, unit="number"),
    ]


def draw_roll(task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Draw equally many points of each class, uniform on its part of the roll."""
    seed, _ = draw_seeds(task, PER_CLASS)
    X, y, coordinates = make_swiss_roll(4 * PER_CLASS, n_bands=N_BANDS, random_state=seed)
    kept = np.sort(np.concatenate([np.flatnonzero(y == value)[:PER_CLASS] for value in (0, 1)]))
    return X[kept], y[kept], coordinates[kept]


def make_three_maps(X: NDArray[np.float64], y: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Return the maps of Fig. 2."""
    isomap = Isomap(n_neighbors=ISOMAP_NEIGHBORS, n_components=N_COMPONENTS)
    return {"Isomap": isomap.fit_transform(X), **make_maps(X, y)}


def is_separable(X: NDArray[np.float64], y: NDArray[np.int64]) -> bool:
    """Return whether a hyperplane strictly separates the two classes."""
    sides = np.where(y == 1, 1.0, -1.0)
    with_constant = np.column_stack([X, np.ones(len(X))])
    # side * (a^T x + b) >= 1 for all points: is there such (a, b)?
    program = optimize.linprog(
        np.zeros(with_constant.shape[1]),
        A_ub=-sides[:, np.newaxis] * with_constant,
        b_ub=-np.ones(len(X)),
        bounds=(None, None),
    )
    return bool(program.status == 0)


def judge_figure_1(summary: Summary) -> list[Verdict]:
    """Judge that no plane separates the classes."""
    separable, error = summary.row(SEPARABLE), summary.row(PLANE_ERROR)
    return [
        Verdict(
            claim="No linear projection into a plane separates the classes",
            paper="can be deduced from the figure",
            found=f"a plane separates them in {100 * separable.estimate.mean:.0f} % of the draws; "
            f"error of a least-squares plane {format_estimate(error.estimate)}",
            verdict=judge_if(separable.estimate.mean == 0),
        )
    ]


def judge_figure_2(summary: Summary) -> list[Verdict]:
    """Judge what the paper says about the three maps."""
    disparity, correlation = summary.row(DISPARITY).estimate, summary.row(RANK_CORRELATION).estimate
    isomap, laplacian, ccdr = (summary.row(LINE_ERROR, map=name).estimate for name in MAPS)
    judged = (
        (
            "Isomap recovers an isometric embedding",
            f"disparity from the flat roll {format_estimate(disparity, 'number')}",
            disparity.mean <= ISOMETRIC,
        ),
        (
            "Laplacian eigenmaps finds an arc-length type of parameterization",
            "rank correlation of the first coordinate with arc length "
            + format_estimate(correlation, "number"),
            correlation.mean >= ARC_LENGTH_LIKE,
        ),
        (
            "Neither of these two maps separates the classes simply",
            f"error of a straight line: Isomap {format_estimate(isomap)}, "
            f"Laplacian {format_estimate(laplacian)}",
            min(isomap.mean, laplacian.mean) >= MIXED,
        ),
        (
            "In the map of CCDR the classes are almost linearly separable",
            f"error of a straight line {format_estimate(ccdr)}",
            ccdr.mean <= ALMOST_SEPARABLE,
        ),
    )
    return [
        Verdict(claim, "text and picture", found, judge_if(holds)) for claim, found, holds in judged
    ]


def draw_figure_1(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first roll in space."""
    X, y, _ = draw_roll(Task({}, 0))
    figure = Figure(figsize=(7.0, 5.5), dpi=100)
    ax = figure.add_subplot(projection="3d")
    for value, (style, marker) in enumerate(zip(class_styles(2), "ov", strict=True)):
        ax.scatter(
            *X[y == value].T, color=style.color, marker=marker, s=18, label=f"class {value + 1}"
        )
    ax.view_init(elev=12, azim=-72)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.3)
    ax.legend(loc="upper left")
    return figure


def draw_figure_2(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the three maps of the first roll."""
    X, y, _ = draw_roll(Task({}, 0))
    maps = make_three_maps(X, y)
    figure = new_figure(len(MAPS), width=5.0, height=4.8)
    for ax, name in zip(figure.axes, MAPS, strict=True):
        ax.grid(visible=False)
        EmbeddingDisplay(maps[name], labels=y).plot(ax, show_names=False, s=16, linewidth=0.2)
        ax.set_title(f"{name}: error of a line {100 * _error_of_hyperplane(maps[name], y):.1f} %")
        ax.locator_params(nbins=5)
    return figure


def _error_of_hyperplane(points: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    predicted = LeastSquaresClassifier().fit(points, y).predict(points)
    return float(np.mean(predicted != y))


FIGURE_1 = Entry(
    name="figure-1",
    title="The Swiss roll with 400 points of each of two classes",
    procedure=PROCEDURE_1,
    tasks=list_tasks,
    run=run_figure_1,
    judge=judge_figure_1,
    draw=draw_figure_1,
)

FIGURE_2 = Entry(
    name="figure-2",
    title="Maps of the roll by Isomap, Laplacian eigenmaps and CCDR",
    procedure=PROCEDURE_2,
    tasks=list_tasks,
    run=run_figure_2,
    judge=judge_figure_2,
    draw=draw_figure_2,
)
