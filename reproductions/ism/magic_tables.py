"""ISM Tables 1 to 4: MAGIC with 50 and with 12,080 labels, by maps and by machines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from reproductions.entry import Entry, Measurement, Printed, Task
from reproductions.ism import magic
from reproductions.ism.magic import FEATURES, HARD, MAPS, QUANTILE, RAW, SOFT, STANDARDIZED, Magic
from reproductions.ism.magic_claims import draw, judge

Scores = dict[int, dict[int, float]]  # by neighbors and dimension
MachineScores = dict[str, dict[float, float]]  # by kernel and its parameter

TABLE_1: Scores = {
    5: {50: 0.7010},
    8: {10: 0.6873},
    10: {12: 0.7063},
    15: {8: 0.7042, 12: 0.6905},
    20: {8: 0.7168, 12: 0.7168, 40: 0.7337},
    25: {8: 0.7263, 12: 0.7189},
    30: {40: 0.7368},
}
GAUSSIAN = {0.1: 0.6989, 0.5: 0.7, 1.0: 0.7011, 1.5: 0.7, 2.0: 0.7011, 4.0: 0.7021, 5.0: 0.7032}
GAUSSIAN |= {6.0: 0.7021, 8.0: 0.7011}
POLYNOMIAL = {1.0: 0.6989, 2.0: 0.6968, 3.0: 0.6958, 4.0: 0.6984, 5.0: 0.6884, 6.0: 0.6884}
POLYNOMIAL |= {8.0: 0.6895}
TABLE_2: MachineScores = {"linear": {0.0: 0.6989}, "Gaussian": GAUSSIAN, "polynomial": POLYNOMIAL}
TABLE_3: Scores = {
    12: {30: 0.8022, 35: 0.7997, 40: 0.8047, 45: 0.7976, 50: 0.7981, 55: 0.8100},
    15: {40: 0.8039, 45: 0.7940, 50: 0.7907, 55: 0.7982},
    20: {40: 0.7896, 45: 0.7968, 50: 0.8013, 55: 0.7842},
}
TABLE_4: MachineScores = {
    "linear": {0.0: 0.7864},
    "Gaussian": {6.0: 0.8277, 8.0: 0.8328},
    "polynomial": {2.0: 0.8162, 3.0: 0.8207, 5.0: 0.8126},
}


@dataclass(frozen=True)
class Plan:
    """The sizes of an experiment, and what is tried in it."""

    n_labeled: int
    n_scored: int
    first_seed: int  # settings of our own were found on other draws
    n_draws: int
    n_steps: int  # of a map
    n_folds: int
    kernels: dict[str, tuple[float, ...]]
    penalties: tuple[float, ...]
    choices: dict[str, Any]  # of the cross-validated map
    machines: dict[str, dict[str, Any]]  # choices of the cross-validated machines
    soft: dict[str, float] = field(default_factory=dict)  # parameters of soft maps


PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
FEW = Plan(
    n_labeled=50,
    n_scored=950,
    first_seed=2000,
    n_draws=10,
    n_steps=300,
    n_folds=5,
    kernels={kernel: tuple(scores) for kernel, scores in TABLE_2.items()},
    penalties=PENALTIES,
    choices={"n_neighbors": [15, 20, 25]},
    machines={
        "linear": {"C": PENALTIES},
        "Gaussian": {"C": PENALTIES, "gamma": [0.01, 0.03, *GAUSSIAN]},
        "polynomial": {"C": PENALTIES, "degree": list(map(int, POLYNOMIAL))},
    },
)
MANY = Plan(
    n_labeled=12_080,
    n_scored=6_340,
    first_seed=1000,
    n_draws=3,
    n_steps=90,
    n_folds=3,
    kernels={
        "linear": (0.0,),
        "Gaussian": (0.1, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0),
        "polynomial": (1.0, 2.0, 3.0, 5.0, 8.0),
    },
    penalties=(1.0, 10.0),
    choices={"margin": [0.4, 0.6, 0.8], "label_weight": [0.03, 0.1]},
    machines={"Gaussian": {"C": [1.0, 10.0], "gamma": [0.1, 0.5, 2.0]}},
    soft={"margin": 0.6, "label_weight": 0.03},
)
N_QUICK = 1_000, 500  # labeled and scored, instead of MANY

PROCEDURE_FEW = """
Each of 10 draws takes 1,000 rows of MAGIC and labels 50; scores are shares of right classes among
the other 950, as in the paper, which has one draw. Intervals are over draws.

"hard" is the paper's program on raw features: any map that keeps the distances to the k nearest
neighbors and has all labels on their side, without the variance term, by a margin of 0.3 mean edge
lengths. "soft" is ours: each feature is replaced by its rank among the 1,000 (quantiles, without
any label), labels that distances pull against may give way (`label_weight=0.1`, margin 0.5), and
the solver starts from the data rotated along a ridge score. We chose these settings on other draws
of MAGIC. The solver stops at an error of squared distances of 1 %, or after 300 steps.

"best case" reads the table as the paper does: the best cell by test labels. "cross-validated"
chooses among 15, 20 and 25 neighbors, in 12 dimensions, by five-fold cross-validation on the 50
labels.

Support vector machines have the kernels and parameters of the paper's Table 2, γ of exp(-γ |x -
y|²) for the Gaussian and (x·y / s + 1)^p for polynomials, s the rows' mean square (1 in SVM-light,
with which powers of raw features overflow), each with the best C from 0.01 to 100 by test labels;
the cross-validated ones choose C and the parameter on the 50 labels.
"K as kernel" gives the matrix K that a soft map learned (20 neighbors, 12 dimensions) to a support
vector machine with C = 1. "Ridge" is the start of that map by itself.

"one neighbor": k = 1 and all 1,000 labeled, margin 0.001 (the paper has none). "Unfolded" is
maximum variance unfolding of the 1,000 standardized points to rank 5, with 5 neighbors; the paper
reports this for the whole data set.
"""


PROCEDURE_MANY = """
12,080 rows of MAGIC are labeled and 6,340 others scored, as in the paper; since its numbers are 600
short of the data set, the rows are drawn at random. The paper's grids are run on one draw, where
the 6,340 rows give the interval; choices by cross-validation on three draws.

"hard" and "soft" are as in Tables 1 and 2, but soft maps have a margin of 0.6 and a label weight of
0.03, chosen on another draw; both stop after 90 steps or at an error of squared distances of 1 %.
"cross-validated" chooses among margins of 0.4, 0.6 and 0.8 and label weights of 0.03 and 0.1, with
12 neighbors in 12 dimensions, by three folds of the 12,080 labels. Support vector machines, with
kernels as there, have the better C of 1 and 10 by test labels, and at most 50,000 steps, which raw
features can exhaust; the cross-validated Gaussian machine chooses C among 1 and 10 and γ among 0.1,
0.5 and 2 by three folds. "Unfolded" is as in Tables 1 and 2, on all 18,420 rows and for at most ten
minutes.
"""


def list_few(quick: bool) -> list[Task]:
    """List the cells of Table 1, and one task for each other method, draw by draw."""
    settings = _list_cells(TABLE_1, quick, (10, 12))
    settings += [{"part": part} for part in ("kernel", "unfolded", "one neighbor")]
    for features in FEATURES:
        settings += [{"part": p, "features": features} for p in ("machines", "machine chosen")]
    settings += [] if quick else [{"part": "chosen", "labels": SOFT, "features": QUANTILE}]
    seeds = range(1 if quick else FEW.n_draws)
    return [Task(setting, seed) for setting in settings for seed in seeds]


def list_many(quick: bool) -> list[Task]:
    """List the choices on all draws, and the cells of Table 3 and the machines on one."""
    choices: list[dict[str, Any]] = [{"part": "chosen", "labels": SOFT, "features": QUANTILE}]
    choices += [{"part": "machine chosen", "features": f} for f in (STANDARDIZED, QUANTILE)]
    seeds = range(1 if quick else MANY.n_draws)
    tried = [(setting, seed) for seed in seeds for setting in choices]
    others = _list_cells(TABLE_3, quick, (12, 30))
    others += [{"part": "machines", "features": features} for features in FEATURES]
    others += [{"part": "unfolded", "features": STANDARDIZED}]
    tried += [(setting, 0) for setting in others]
    size = {"labeled": N_QUICK[0] if quick else MANY.n_labeled}
    return [Task({**size, **setting}, seed) for setting, seed in tried]


def _list_cells(table: Scores, quick: bool, quick_cell: tuple[int, int]) -> list[dict[str, Any]]:
    return [
        _cell(labels, k, r)
        for labels in MAPS
        for k, scores in table.items()
        for r in scores
        if not quick or (k, r) == quick_cell
    ]


def _cell(labels: str, neighbors: int, dimension: int) -> dict[str, Any]:
    own = {"labels": labels, "features": MAPS[labels]}
    return {"part": "grid", **own, "neighbors": neighbors, "dimension": dimension}


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Run one method on one draw."""
    setting: dict[str, Any] = {"features": "", **task.setting}
    plan = MANY if "labeled" in setting else FEW
    n_labeled = setting.get("labeled", plan.n_labeled)
    n_scored = plan.n_scored if n_labeled == plan.n_labeled else N_QUICK[1]
    draw = Magic.draw(n_labeled, n_scored, plan.first_seed + (task.seed or 0), data_home)
    part, features = setting["part"], setting["features"]
    if part == "grid":
        own: dict[str, Any] = {} if setting["labels"] == HARD else plan.soft
        own = {"n_neighbors": setting["neighbors"], "rank": setting["dimension"], **own}
        model = magic.make_map(setting["labels"], max_iter=plan.n_steps, **own)
        return magic.measure_map(draw, features, model)
    if part == "chosen":
        model = magic.make_map(SOFT, n_neighbors=12, rank=12, max_iter=plan.n_steps)
        return magic.search_map(draw, model, plan.choices, n_folds=plan.n_folds)
    if part == "machines":
        kernels = [(kernel, p) for kernel, values in plan.kernels.items() for p in values]
        return list(magic.try_machines(draw, features, kernels, plan.penalties))
    if part == "machine chosen":
        return [
            magic.search_machine(draw, features, kernel, grid, n_folds=plan.n_folds)
            for kernel, grid in plan.machines.items()
        ]
    if part == "kernel":
        model = magic.make_map(SOFT, n_neighbors=20, rank=12, max_iter=plan.n_steps)
        return magic.learn_kernel(draw, model)
    return magic.unfold(draw) if part == "unfolded" else magic.map_with_one_neighbor(draw)


def _printed(table: Scores, machines: MachineScores, size: dict[str, int]) -> tuple[Printed, ...]:
    """Return the paper's scores, beside hard maps and machines on raw features."""
    scores: list[tuple[float, dict[str, Any]]] = [
        (score, _cell(HARD, k, r)) for k, row in table.items() for r, score in row.items()
    ]
    common = {"part": "machines", "features": RAW, "choice": magic.BEST_CASE}
    scores += [
        (score, {**common, "kernel": kernel, "parameter": parameter})
        for kernel, row in machines.items()
        for parameter, score in row.items()
    ]
    return tuple(
        Printed(score, {**size, **setting}, magic.SCORE, goal="high") for score, setting in scores
    )


FEW_LABELS = Entry(
    name="tables-1-and-2",
    title="MAGIC with 50 labels: separation maps and support vector machines",
    procedure=PROCEDURE_FEW,
    tasks=list_few,
    run=run,
    judge=partial(
        judge,
        items=("Table 1", "Table 2"),
        printed=(0.7368, 0.7032),
        why="Linear and polynomial machines score more here than any machine of the paper. It has "
        "one draw of 50 labels, and here there are ten.",
    ),
    printed=_printed(TABLE_1, TABLE_2, {}),
    draw=draw,
    needs_data=True,
    why="Gaussian machines score less here than printed: to them no two rows of raw features are "
    "near, and they predict the larger class for nearly all. Linear and polynomial machines "
    "and the maps score more than printed. The paper has one draw of 50 labels, and here "
    "there are ten.",
)

MANY_LABELS = replace(
    FEW_LABELS,
    name="tables-3-and-4",
    title="MAGIC with 12,080 labels: separation maps and support vector machines",
    procedure=PROCEDURE_MANY,
    edition=2,
    tasks=list_many,
    judge=partial(
        judge,
        items=("Table 3", "Table 4"),
        printed=(0.81, 0.8328),
        why="Maps of 12 neighbors score a point or two less here than printed, about as much "
        "as the linear machine; the reason is not known.",
    ),
    printed=_printed(TABLE_3, TABLE_4, {"labeled": MANY.n_labeled}),
    why="On raw features the linear kernel runs out of steps, and Gaussian machines predict the "
    "larger class for nearly all rows. Maps of 12 neighbors score a point or two less than "
    "printed; the reason is not known.",
)
