"""ISM Tables 3 and 4: the whole of MAGIC, two thirds of it labelled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproductions.entry import Entry, Measurement, Printed, Task, Verdict
from reproductions.ism.magic import (
    BEST_CASE,
    HARD,
    QUANTILE,
    RAW,
    SCORE,
    SOFT,
    STANDARDISED,
    Magic,
    make_map,
    measure_map,
    search_machine,
    search_map,
    try_machines,
    unfold,
)
from reproductions.ism.magic_claims import (
    judge_dimension,
    judge_kernels,
    judge_linear,
    judge_machines,
    judge_neighbors,
    judge_training,
    judge_unfolding,
)
from reproductions.summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MANY_LABELS"]

N_LABELED, N_SCORED, N_DRAWS = 12_080, 6_340, 3
N_QUICK = 1_000, 500
# Table 3: neighbours, dimension, score.
TABLE_3 = (
    (12, 30, 0.8022),
    (12, 35, 0.7997),
    (12, 40, 0.8047),
    (12, 45, 0.7976),
    (12, 50, 0.7981),
    (12, 55, 0.8100),
    (15, 40, 0.8039),
    (15, 45, 0.7940),
    (15, 50, 0.7907),
    (15, 55, 0.7982),
    (20, 40, 0.7896),
    (20, 45, 0.7968),
    (20, 50, 0.8013),
    (20, 55, 0.7842),
)
TABLE_4 = {
    ("Gaussian", 8.0): 0.8328,
    ("Gaussian", 6.0): 0.8277,
    ("linear", 0.0): 0.7864,
    ("polynomial", 2.0): 0.8162,
    ("polynomial", 3.0): 0.8207,
    ("polynomial", 5.0): 0.8126,
}
KERNELS = (
    ("linear", 0.0),
    *(("Gaussian", width) for width in (0.1, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0)),
    *(("polynomial", power) for power in (1.0, 2.0, 3.0, 5.0, 8.0)),
)
PENALTIES = (1.0, 10.0)
OWN = {"margin": 0.6, "label_penalty": 0.03}
CHOICES = {"margin": [0.4, 0.6, 0.8], "label_penalty": [0.03, 0.1]}
MACHINES = {"C": [1.0, 10.0], "gamma": [0.1, 0.5, 2.0]}
N_STEPS = 90
MAPS = ((HARD, RAW), (SOFT, QUANTILE))

PROCEDURE = """
12,080 rows of MAGIC are labelled and 6,340 others scored, as in the paper; as its numbers are 600
short of the data set, the rows are drawn at random. The paper's grids are run on one draw, where
the 6,340 rows give the interval; choices by cross-validation on three draws.

"hard" and "soft" are as in Tables 1 and 2, but soft maps have a margin of 0.6 and a label penalty
of 0.03, found on another draw; both stop after 90 steps or at an error of squared distances of 1 %.
"cross-validated" chooses among margins of 0.4, 0.6 and 0.8 and penalties of 0.03 and 0.1, with 12
neighbours in 12 dimensions, by three folds of the 12,080 labels. Support vector machines, with
kernels as there, have the better C of 1 and 10 by test labels, and at most 50,000 steps, which raw
features can exhaust; the cross-validated Gaussian machine chooses C among 1 and 10 and γ among 0.1,
0.5 and 2 by three folds. "Unfolded" is as in Tables 1 and 2, on all 18,420 rows and for at most ten
minutes.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List the cells of Table 3, the machines, and the choices."""
    size = {"labelled": N_QUICK[0] if quick else N_LABELED}
    cells: list[dict[str, Any]] = [
        {"part": "grid", "labels": labels, "features": features, "neighbors": k, "dimension": r}
        for labels, features in MAPS
        for k, r, _ in TABLE_3
        if not quick or (k, r) == (12, 30)
    ]
    cells += [{"part": "machines", "features": f} for f in (RAW, STANDARDISED, QUANTILE)]
    cells += [{"part": "unfolded", "features": STANDARDISED}]
    tasks = []
    for seed in range(1 if quick else N_DRAWS):
        tasks.append(Task({**size, "part": "chosen", "labels": SOFT, "features": QUANTILE}, seed))
        for features in (STANDARDISED, QUANTILE):
            tasks.append(Task({**size, "part": "machine chosen", "features": features}, seed))
    return tasks + [Task({**size, **setting}, 0) for setting in cells]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Run one cell, one set of machines, or one choice."""
    n_labeled = int(task.setting["labelled"])
    n_scored = N_SCORED if n_labeled == N_LABELED else N_QUICK[1]
    draw = Magic.draw(n_labeled, n_scored, task.seed, data_home)
    part, features = str(task.setting["part"]), str(task.setting["features"])
    if part == "grid":
        own = {} if task.setting["labels"] == HARD else OWN
        model = make_map(
            str(task.setting["labels"]),
            n_neighbors=task.setting["neighbors"],
            rank=task.setting["dimension"],
            max_iter=N_STEPS,
            **own,
        )
        return measure_map(draw, draw.features(features), model)
    if part == "unfolded":
        return unfold(draw)
    if part == "chosen":
        model = make_map(SOFT, n_neighbors=12, rank=12, max_iter=N_STEPS)
        return search_map(draw, model, CHOICES, n_folds=3)
    if part == "machine chosen":
        return [search_machine(draw, features, "Gaussian", MACHINES, n_folds=3)]
    return list(try_machines(draw, features, KERNELS, PENALTIES))


WHY = (
    "Maps of 12 neighbours score a point or two less here than printed, and with that about as "
    "much as the linear machine; why is not known."
)


def judge(summary: Summary) -> list[Verdict]:
    """Judge what the paper concludes from its tables."""
    of_table_3 = [
        *judge_machines(summary, of_map=0.81, of_machine=0.8328, why=WHY),
        *judge_linear(summary, why=WHY),
        *judge_dimension(summary),
        *judge_neighbors(summary),
    ]
    return [
        *(replace(verdict, item="Table 3") for verdict in of_table_3),
        *judge_kernels(summary, "Table 4"),
        *judge_training(summary),
        *judge_unfolding(summary),
    ]


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the scores."""
    from reproductions.ism.magic_picture import draw_scores

    return draw_scores(summary)


def _printed() -> list[Printed]:
    size = {"labelled": N_LABELED}
    cells = [
        Printed(
            score,
            {
                **size,
                "part": "grid",
                "labels": HARD,
                "features": RAW,
                "neighbors": k,
                "dimension": r,
            },
            SCORE,
            goal="high",
        )
        for k, r, score in TABLE_3
    ]
    common: dict[str, str | int | float] = {
        **size,
        "part": "machines",
        "features": RAW,
        "choice": BEST_CASE,
    }
    machines = [
        Printed(score, {**common, "kernel": kernel, "parameter": parameter}, SCORE, goal="high")
        for (kernel, parameter), score in TABLE_4.items()
    ]
    return [*cells, *machines]


MANY_LABELS = Entry(
    name="tables-3-and-4",
    title="MAGIC with 12,080 labels: separation maps and support vector machines",
    procedure=PROCEDURE,
    edition=2,
    tasks=list_tasks,
    run=run,
    judge=judge,
    printed=tuple(_printed()),
    draw=draw,
    needs_data=True,
    why=(
        "On raw features the linear kernel exhausts its steps, and Gaussian machines answer the "
        "larger class for nearly all rows. Maps of 12 neighbours score a point or two less than "
        "printed; why is not known."
    ),
)
