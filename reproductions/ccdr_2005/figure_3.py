"""CCDR-2005 Fig. 3: errors on unlabeled points against the number of labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from labelfold.classify import LeastSquaresClassifier
from labelfold.evaluate import draw_labeled
from labelfold.labels import hide_labels
from reproductions.ccdr_2005.roll import COLORS, ROLLS, draw_seeds, make_maps
from reproductions.curves import draw_curve, name_curves, new_figure
from reproductions.entry import Entry, Measurement, Task, Verdict, judge_all, judge_readings
from reproductions.summary import Estimate, Summary, SummaryRow, judge_below, paired_difference
from reproductions.tables import format_difference

N_POINTS, N_DRAWS = 1000, 20
NUMBERS_OF_LABELS = (10, 20, 40, 60, 80, 100, 150, 200, 300, 400, 500)
ENOUGH = 100  # from here on the class constraints take effect, according to the paper
ALMOST = 0.9  # of the error, for "almost as bad"
NEIGHBORS = (1, 2, 3)
BEST = "k-NN, best case"

FEW_CLAIM = "With few labels CCDR is almost as bad as the Laplacian map"
ENOUGH_CLAIM = f"From {ENOUGH} labels on CCDR has a smaller error than the Laplacian map"
BEYOND_CLAIM = f"Above {ENOUGH} labels CCDR has a smaller error than k-NN too"
CONSTRAINTS = "the class constraints take effect (text)"
WHY_SOON = "How soon labels help depends on the bands, which the paper does not specify."
WHY_BEYOND = (
    "The paper specifies neither its bands nor the number of coordinates. A straight line in two "
    "coordinates must separate alternating bands: with few wide bands its error is about that of "
    "k-NN on the roll's three features, with more and narrower ones it is larger."
)

PROCEDURE = """
1,000 points on the roll, redrawn in each of 20 draws for each number of labels; equally many labels
of both classes. Both embeddings use all points (12 neighbors, automatic scale, β = 1, 2
coordinates), CCDR with the labels given; then least squares without an intercept on the labeled
points' coordinates, and the sign decides. The baseline is 1-, 2- and 3-NN on the roll's three
features; "best case" is, for each number of labels, the k with the least error, chosen with the
answers, as in the paper. Errors count unlabeled points only.

What differs: the paper shows its bands in a picture only, so both rolls of the entry `table-1` are
used, each as one reading of every claim. The paper does not say how many coordinates the embeddings
have here; we take two, as in Fig. 2. "Smaller error" holds if the 80 % interval of the difference,
draw by draw, is below zero for all numbers of labels in question, and does not hold if it is above
zero for all. "Almost as bad" means at least nine tenths of the error.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each number of labels and draw."""
    numbers, n_draws = ((40, 100, 300), 2) if quick else (NUMBERS_OF_LABELS, N_DRAWS)
    return [Task({"labels": number}, seed) for number in numbers for seed in range(n_draws)]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the error of every method on the unlabeled points of one draw of every roll."""
    n_labels = int(task.setting["labels"])
    seed, other_seed = draw_seeds(task, n_labels)
    return [
        measurement
        for roll in ROLLS
        for measurement in _measure(*roll.draw(N_POINTS, seed), n_labels, other_seed, str(roll))
    ]


def _measure(
    X: NDArray[np.float64], y: NDArray[np.int64], n_labels: int, other_seed: int, roll: str
) -> list[Measurement]:
    rows = draw_labeled(y, n_labels, random_state=other_seed)
    given = np.isin(np.arange(N_POINTS), rows)
    trials = [
        (method, points, LeastSquaresClassifier(fit_intercept=False))
        for method, points in make_maps(X, hide_labels(y, given)).items()
    ]
    trials += [(f"{k}-NN", X, KNeighborsClassifier(k)) for k in NEIGHBORS]
    measurements = []
    for method, points, head in trials:
        predicted = head.fit(points[given], y[given]).predict(points[~given])
        error = float(np.mean(predicted != y[~given]))
        setting = {"roll": roll, "method": method}
        measurements.append(Measurement(error, setting, n_scored=N_POINTS - n_labels))
    return measurements


def derive(summary: Summary) -> list[SummaryRow]:
    """Return the best of the k-NN rows for every number of labels."""
    best_rows = []
    for roll in summary.values_of("roll"):
        for labels in summary.values_of("labels"):
            rows = [summary.row(labels=labels, roll=roll, method=f"{k}-NN") for k in NEIGHBORS]
            best = min(rows, key=lambda row: row.estimate.mean)
            best_rows.append(replace(best, setting={**best.setting, "method": BEST}))
    return best_rows


def judge(summary: Summary) -> list[Verdict]:
    """Judge the paper's three claims about its figure, on every roll."""
    numbers = [int(labels) for labels in summary.values_of("labels")]
    few = [labels for labels in numbers if labels < ENOUGH]
    enough = [labels for labels in numbers if labels >= ENOUGH]
    beyond = [labels for labels in enough if labels > ENOUGH]
    verdicts = []
    for roll in map(str, summary.values_of("roll")):
        almost = judge_all(_are_almost_equal(summary, roll, few))
        for claim, paper, other, some, why, verdict in (
            (FEW_CLAIM, f"below {ENOUGH} labels (text)", "Laplacian", few, WHY_SOON, almost),
            (ENOUGH_CLAIM, CONSTRAINTS, "Laplacian", enough, WHY_SOON, None),
            (BEYOND_CLAIM, "outperforms all other methods (text)", BEST, beyond, WHY_BEYOND, None),
        ):
            gaps = {labels: _gap(summary, roll, other, labels) for labels in some}
            texts = [f"{labels} labels {format_difference(gap)}" for labels, gap in gaps.items()]
            verdicts.append(
                Verdict(
                    claim=claim,
                    paper=paper,
                    found=f"CCDR minus {other}: " + "; ".join(texts),
                    verdict=verdict or judge_readings([judge_below(gap) for gap in gaps.values()]),
                    reading=roll,
                    why=why,
                )
            )
    return verdicts


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw errors against the number of labels, one panel per roll."""
    rolls = [str(roll) for roll in summary.values_of("roll")]
    figure = new_figure(len(rolls), width=7.0)
    for ax, roll in zip(figure.axes, rolls, strict=True):
        for method in ("CCDR", "Laplacian", BEST):
            rows = summary.rows_with(method=method, roll=roll)
            draw_curve(ax, rows, "labels", name=method, color=COLORS[method])
        ax.set_ylim(bottom=0)
        name_curves(ax)
        ax.set(xlabel=f"labeled points of {N_POINTS:,}", ylabel="error on unlabeled points, %")
        ax.set_title(f"{roll}; bars: 80 % intervals", fontsize=11)
    return figure


def _gap(summary: Summary, roll: str, other: str, labels: int) -> Estimate:
    rows = (summary.row(labels=labels, roll=roll, method=one) for one in ("CCDR", other))
    return paired_difference(*rows)


def _are_almost_equal(summary: Summary, roll: str, numbers: list[int]) -> list[bool]:
    means = {
        (method, labels): summary.row(labels=labels, roll=roll, method=method).estimate.mean
        for method in ("CCDR", "Laplacian")
        for labels in numbers
    }
    return [means["CCDR", n] >= ALMOST * means["Laplacian", n] for n in numbers]


FIGURE_3 = Entry(
    name="figure-3",
    title="Errors on unlabeled points against the number of labels",
    procedure=PROCEDURE,
    edition=3,
    tasks=list_tasks,
    run=run,
    judge=judge,
    derive=derive,
    draw=draw,
)
