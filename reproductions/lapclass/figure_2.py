"""LAPCLASS Fig. 2: errors on MNIST against the number of labelled points."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reproductions.curves import OKABE_ITO
from reproductions.entry import Entry, Measurement, Setting, Task
from reproductions.lapclass.claims import judge_figure_2
from reproductions.lapclass.error_curves import Style, draw_panels
from reproductions.lapclass.mnist import mnist
from reproductions.lapclass.names import (
    BEST_K,
    CHOSEN_K,
    CHOSEN_PENALTY,
    GEODESIC,
    LAPLACIAN,
    NEAREST,
    PAPERS_RULE,
    SPREADING,
)
from reproductions.lapclass.nearest import measure_nearest
from reproductions.lapclass.points import measure_draws, n_draws
from reproductions.lapclass.rules import (
    label_by_geodesic,
    label_by_spreading,
    make_model,
    measure_laplacian,
)
from reproductions.summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURE_2"]

ALL, MANY, FEW = 60_000, 10_000, 1_000
LABELS = (20, 50, 100, 500, 1_000, 5_000, 10_000)
MORE_LABELS = (*LABELS, 20_000)  # for the baseline
MOST_PENALISED = 1_000
ALPHAS = (0.2, 0.99)  # the default of LabelSpreading, and the usual value of its authors
ALMOST_ALL = 0.9

PROCEDURE = """
The 60,000 training images of MNIST as their first 100 principal components; random subsets of
10,000 and 1,000 of them. 8 neighbours, binary weights, the unnormalised Laplacian, as many
eigenvectors as 20 % of the labelled points. 20 draws, 10 from 9,000 labels on; labelled points are
drawn whatever their class, and errors are those on all other points. A draw has the same labelled
points in its subsets of 1,000 and 10,000; there are 20 different ones of the former and four of the
latter. Those among all 60,000 are drawn apart. Eigenvectors are computed once for each set of
points, for the largest number of labels, and the first of them serve the smaller ones. Neighbours
are exact.

The baseline is the vote of the k nearest labelled points, k from 1 to 10. "best k" has the least
mean error, chosen with the answers known, as the paper's "best k-NN" must have been: a best case.
"k by leave-one-out" is chosen in each draw on the labelled points.

Beyond the paper, on the 60,000 points and the same draws:

- "penalty chosen": `LaplacianClassifier(penalty="auto")`, with at least 100 eigenvectors and a
  penalty on rough functions that is chosen by the leave-one-out error on the labelled points.
- geodesic: the class of the nearest labelled point, measured along the edges of the same graph; the
  paper's introduction sets this rule aside as potentially unstable.
- LabelSpreading of scikit-learn on the weights of the same graph, with its default of 30 rounds at
  most, for its default α = 0.2 and for α = 0.99. With the latter the 30 rounds are not enough for
  its own criterion, but more of them raise its error.

"Nearly as well" is taken as at most a quarter more errors, "partly" as at most half more; "close"
as one percentage point. Where errors are compared, an order holds if the 80 % interval of the
difference, draw by draw, excludes zero.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each size and rule, since the draws of a rule share costly work."""
    tasks = [
        Task({"points": size, "rule": rule})
        for size in (FEW, MANY, ALL)
        for rule in (LAPLACIAN, NEAREST)
    ]
    tasks += [Task({"points": size, "labelled": "almost all"}) for size in (FEW, MANY)]
    tasks += [Task({"points": ALL, "rule": rule}) for rule in (GEODESIC, SPREADING)]
    if quick:
        return [task for task in tasks if task.setting["points"] != ALL][:-1]
    return tasks


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the errors of one rule for all numbers of labels, or of two for almost all labels."""
    size = int(task.setting["points"])
    if "labelled" in task.setting:
        numbers: tuple[int, ...] = (round(ALMOST_ALL * size),)
        return [
            *_measure(NEAREST, size, numbers, data_home, {"rule": NEAREST}),
            *_measure(LAPLACIAN, size, numbers, data_home, {"rule": LAPLACIAN}),
        ]
    rule = str(task.setting["rule"])
    wanted = MORE_LABELS if rule == NEAREST else LABELS
    numbers = tuple(number for number in wanted if 2 * number <= size)
    return _measure(rule, size, numbers, data_home, {})


def _measure(
    rule: str, size: int, numbers: tuple[int, ...], data_home: Path | None, setting: Setting
) -> list[Measurement]:
    samples = mnist(data_home).samples(size, n_draws(min(numbers)))
    if rule == NEAREST:
        return measure_nearest(samples, numbers, setting=setting)
    measurements = []
    for sample in samples:
        graph = make_model().build_graph(sample.X)
        if rule == LAPLACIAN:
            penalised = tuple(number for number in numbers if number <= MOST_PENALISED)
            measurements += measure_laplacian(
                sample, graph, numbers, setting=setting, penalised=penalised
            )
            continue
        for number in numbers:
            about = {**setting, "labels": number}
            if rule == GEODESIC:
                label = partial(label_by_geodesic, graph, sample)
                measurements += measure_draws(sample, number, label, about)
                continue
            for alpha in ALPHAS:
                spread = partial(label_by_spreading, graph, sample, alpha=alpha)
                choice = {**about, "choice": f"α = {alpha:g}"}
                measurements += measure_draws(sample, number, spread, choice)
    return measurements


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the paper's curves, and all rules on all points."""
    blue, orange, green, purple, sky, vermillion, _, black = OKABE_ITO
    largest = max(int(size) for size in summary.values_of("points"))
    sizes = dict(zip((ALL, MANY, FEW), (blue, green, sky), strict=True))
    first = [
        Style({"points": size, "rule": LAPLACIAN, "choice": PAPERS_RULE}, f"{size:,} points", color)
        for size, color in sizes.items()
    ]
    baseline: Setting = {"points": largest, "rule": NEAREST}
    first.append(Style({**baseline, "choice": BEST_K}, "best k-NN", vermillion))
    second = [
        Style({"points": largest, "rule": LAPLACIAN, "choice": PAPERS_RULE}, "Laplacian", blue),
        Style(
            {"points": largest, "rule": LAPLACIAN, "choice": CHOSEN_PENALTY},
            "Laplacian, penalty chosen",
            purple,
        ),
        Style({"points": largest, "rule": GEODESIC}, "geodesic", green),
        Style(
            {"points": largest, "rule": SPREADING, "choice": "α = 0.99"},
            "LabelSpreading, α = 0.99",
            orange,
        ),
        Style(
            {"points": largest, "rule": SPREADING, "choice": "α = 0.2"},
            "LabelSpreading, α = 0.2",
            black,
        ),
        Style({**baseline, "choice": CHOSEN_K}, "k-NN, k chosen", vermillion),
    ]
    panels = {
        "As in the paper: Laplacian classifier and best k-NN": first,
        f"All rules on {largest:,} points": second,
    }
    return draw_panels(summary, panels)


FIGURE_2 = Entry(
    name="figure-2",
    title="Errors on MNIST against the number of labelled points",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge_figure_2,
    draw=draw,
    needs_data=True,
)
