"""CCDR-2005 Table 1: new points classified in the maps that they were added to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from labelfold.datasets import make_swiss_roll
from labelfold.labels import hide_labels
from labelfold.reproduce.ccdr_2005.roll import COLORS, N_BANDS, draw_seeds, make_maps, size_of
from labelfold.reproduce.curves import draw_curve, draw_printed, name_curves, new_figure
from labelfold.reproduce.entry import Entry, Judgement, Measurement, Printed, Task, Verdict
from labelfold.reproduce.summary import Summary, paired_difference
from labelfold.reproduce.tables import format_difference, format_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PRINTED", "TABLE_1"]

N_TESTED, N_DRAWS = 50, 20
METHODS = ("CCDR", "Laplacian", "3-NN")
PRINTED = {
    300: (0.044, 0.064, 0.050),
    400: (0.036, 0.050, 0.044),
    500: (0.026, 0.036, 0.034),
}

PROCEDURE = """
Training sets of 300, 400 and 500 points, all labelled, uniform in area on the Swiss roll; 20
training sets of each size, 50 new points for each. A new point joins the training set's graph alone
and without a label, both maps are made anew on all n + 1 points (12 neighbours, automatic scale,
β = 1, 2 coordinates), and the 3 nearest training points in the map decide. "3-NN" is the same rule
on the three features of the roll.

What differs: the paper shows its classes in a picture only. Here they are six bands of equal width
that take turns along the roll, for the reason that the entry `bands` gives.

All methods see the same draws, so differences between them are taken draw by draw. The paper's
order of the methods holds where the 80 % intervals of both differences exclude zero, and does not
where both means have the other sign; all else is "partly".
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each size and training set."""
    sizes, n_draws = ((300,), 3) if quick else (tuple(PRINTED), N_DRAWS)
    return [Task({"training_points": size}, seed) for size in sizes for seed in range(n_draws)]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Count the new points that each method gets wrong for one training set."""
    n = size_of(task, "training_points")
    seed, _ = draw_seeds(task, n)
    X, y, _ = make_swiss_roll(n + N_TESTED, n_bands=N_BANDS, random_state=seed)
    n_wrong = dict.fromkeys(METHODS, 0)
    for new in range(n, n + N_TESTED):
        rows = np.append(np.arange(n), new)
        spaces = {**make_maps(X[rows], hide_labels(y[rows], np.arange(n))), "3-NN": X[rows]}
        for method, points in spaces.items():
            head = KNeighborsClassifier(3).fit(points[:n], y[:n])
            n_wrong[method] += int(head.predict(points[n:])[0] != y[new])
    return [
        Measurement(n_wrong[method] / N_TESTED, {"method": method}, n_scored=N_TESTED)
        for method in METHODS
    ]


def judge(summary: Summary) -> list[Verdict]:
    """Judge the order of the methods at every size."""
    return [_judge_order(summary, size) for size in map(int, summary.values_of("training_points"))]


def draw(summary: Summary) -> Figure:
    """Draw errors against the size of the training set, the paper's as diamonds."""
    figure = new_figure()
    (ax,) = figure.axes
    for method, shift in zip(METHODS, (-3.0, 0.0, 3.0), strict=True):
        rows, color = summary.rows_with(method=method), COLORS[method]
        draw_curve(ax, rows, "training_points", name=method, color=color, shift=shift)
        draw_printed(ax, rows, "training_points", color=color, shift=shift)
    ax.set_ylim(bottom=0)
    name_curves(ax)
    ax.set_xticks([int(size) for size in summary.values_of("training_points")])
    ax.set(xlabel="training points", ylabel="error on new points, %")
    ax.set_title("Diamonds: the paper. Bars: 80 % intervals.", fontsize=11)
    return figure


def _judge_order(summary: Summary, size: int) -> Verdict:
    ccdr, laplacian, raw = (summary.row(training_points=size, method=name) for name in METHODS)
    gaps = [paired_difference(ccdr, raw), paired_difference(raw, laplacian)]
    in_order = [gap.mean < 0 for gap in gaps]
    beyond_chance = [gap.high is not None and gap.high < 0 for gap in gaps]
    verdict: Judgement = "partly"
    if all(beyond_chance):
        verdict = "holds"
    elif not any(in_order):
        verdict = "does not hold"
    means = ", ".join(
        f"{name} {format_value(row.estimate.mean, 'share')}"
        for name, row in zip(METHODS, (ccdr, laplacian, raw), strict=True)
    )
    return Verdict(
        claim=f"With {size} training points CCDR errs least, then 3-NN, then the Laplacian map",
        paper=", ".join(
            f"{name} {100 * value:.1f} %"
            for name, value in zip(METHODS, PRINTED[size], strict=True)
        ),
        found=f"{means}; CCDR minus 3-NN {format_difference(gaps[0])}, "
        f"3-NN minus Laplacian {format_difference(gaps[1])}",
        verdict=verdict,
    )


TABLE_1 = Entry(
    name="table-1",
    title="Errors on new points in a map that they were added to",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge,
    printed=tuple(
        Printed(value, {"training_points": size, "method": method})
        for size, values in PRINTED.items()
        for method, value in zip(METHODS, values, strict=True)
    ),
    draw=draw,
)
