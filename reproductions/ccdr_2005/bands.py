"""How many bands CCDR-2005's roll may have: 3-NN errors on the roll against those of Table 1."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.neighbors import KNeighborsClassifier

from labelfold.datasets import make_swiss_roll
from reproductions.ccdr_2005.roll import N_BANDS, draw_seeds
from reproductions.ccdr_2005.table_1 import PRINTED as TABLE_1_PRINTED
from reproductions.curves import OKABE_ITO, draw_curve, name_curves, new_figure
from reproductions.entry import Entry, Measurement, Printed, Task, Verdict, judge_if
from reproductions.summary import Estimate, Summary, SummaryRow
from reproductions.tables import format_value

NUMBERS_OF_BANDS = range(2, 11)
N_TESTED, N_DRAWS = 1000, 200
PRINTED = {size: raw for size, (_, _, raw) in TABLE_1_PRINTED.items()}
GAP = "distance from the paper"

PROCEDURE = """
The paper shows the classes on its roll in a picture only (Fig. 1). Alternating bands along the roll
are the obvious reading; their number decides how hard the problem is. This entry takes the paper's
one method without free parameters, 3 nearest neighbors on the roll's three features, and looks for
the number of bands of equal width whose errors after 300, 400 and 500 training points are nearest
to the paper's: 200 training sets of each size, 1,000 new rows for each. "Distance from the paper"
is the root mean square of the three differences.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each size and training set."""
    n_draws = 5 if quick else N_DRAWS
    return [Task({"training_points": size}, seed) for size in PRINTED for seed in range(n_draws)]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the error of 3-NN for every number of bands on the same points."""
    n = int(task.setting["training_points"])
    seed, _ = draw_seeds(task, n)
    measurements = []
    for bands in NUMBERS_OF_BANDS:
        X, y, _ = make_swiss_roll(n + N_TESTED, n_bands=bands, random_state=seed)
        head = KNeighborsClassifier(3).fit(X[:n], y[:n])
        error = float(np.mean(head.predict(X[n:]) != y[n:]))
        measurements.append(Measurement(error, {"bands": bands}, n_scored=N_TESTED))
    return measurements


def derive(summary: Summary) -> list[SummaryRow]:
    """Return the distance from the paper's three errors for every number of bands."""
    rows = []
    for bands in summary.values_of("bands"):
        pairs = zip(errors_with(summary, bands), PRINTED.values(), strict=True)
        squares = [(mean - printed) ** 2 for mean, printed in pairs]
        distance = math.sqrt(math.fsum(squares) / len(squares))
        estimate = Estimate(distance, None, None, summary.rows[0].estimate.n_runs, "none")
        rows.append(SummaryRow({"bands": bands}, GAP, "share", {}, None, estimate))
    return rows


def errors_with(summary: Summary, bands: str | int | float) -> list[float]:
    """Return the errors after 300, 400 and 500 training points."""
    rows = [summary.row(training_points=size, bands=bands) for size in PRINTED]
    return [row.estimate.mean for row in rows]


def judge(summary: Summary) -> list[Verdict]:
    """Judge whether the number of bands used by the other entries is the nearest."""
    ranked = sorted(summary.rows_with(GAP), key=lambda row: row.estimate.mean)[:2]
    found = []
    for row in ranked:
        errors = errors_with(summary, row.setting["bands"])
        texts = ", ".join(format_value(error, "share") for error in errors)
        distance = format_value(row.estimate.mean, "share")
        found.append(f"{row.setting['bands']} bands: {texts}, {distance} away")
    return [
        Verdict(
            claim=f"{N_BANDS} bands give the paper's 3-NN errors",
            paper="not in the paper, which has "
            + ", ".join(f"{100 * value:.1f} %" for value in PRINTED.values()),
            found="; ".join(found),
            verdict=judge_if(ranked[0].setting["bands"] == N_BANDS),
        )
    ]


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw errors against the number of bands, the paper's as horizontal lines."""
    figure = new_figure()
    (ax,) = figure.axes
    for size, color in zip(PRINTED, OKABE_ITO, strict=False):
        ax.axhline(100 * PRINTED[size], color=color, linestyle=":")
        rows = summary.rows_with(training_points=size)
        draw_curve(ax, rows, "bands", name=f"{size} points", color=color)
    ax.set_ylim(bottom=0)
    name_curves(ax)
    ax.set(xlabel="bands on the roll", ylabel="3-NN error on new rows, %")
    ax.set_title("Dotted: the paper's errors.", fontsize=11)
    return figure


BANDS = Entry(
    name="bands",
    title="How many bands the roll of Fig. 1 has",
    procedure=PROCEDURE,
    tasks=list_tasks,
    run=run,
    judge=judge,
    printed=tuple(
        Printed(value, {"training_points": size, "bands": N_BANDS}, goal="equal")
        for size, value in PRINTED.items()
    ),
    derive=derive,
    draw=draw,
    why="The number of bands is a guess, and the paper's errors come from 1,000 points per size.",
)
