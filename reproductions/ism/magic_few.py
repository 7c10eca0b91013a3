"""ISM Tables 1 and 2: 1,000 MAGIC points, 50 of them labelled."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.svm import SVC

from reproductions.entry import OF_THE_TEXT, Entry, Measurement, Printed, Task, Verdict
from reproductions.ism.magic import (
    BEST_CASE,
    DISTANCE_ERROR,
    HARD,
    QUANTILE,
    RAW,
    SCORE,
    SOFT,
    STANDARDISED,
    WRONG_SIDE,
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
from reproductions.tables import format_estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FEW_LABELS"]

N_LABELED, N_SCORED, N_DRAWS = 50, 950, 10
FIRST_DRAW = 1000  # those before served to find settings
# Table 1: neighbours, dimension, score.
TABLE_1 = (
    (5, 50, 0.7010),
    (8, 10, 0.6873),
    (10, 12, 0.7063),
    (15, 8, 0.7042),
    (15, 12, 0.6905),
    (20, 8, 0.7168),
    (20, 12, 0.7168),
    (20, 40, 0.7337),
    (25, 8, 0.7263),
    (25, 12, 0.7189),
    (30, 40, 0.7368),
)
GAUSSIAN = {
    0.1: 0.6989,
    0.5: 0.7,
    1.0: 0.7011,
    1.5: 0.7,
    2.0: 0.7011,
    4.0: 0.7021,
    5.0: 0.7032,
    6.0: 0.7021,
    8.0: 0.7011,
}
POLYNOMIAL = {1: 0.6989, 2: 0.6968, 3: 0.6958, 4: 0.6984, 5: 0.6884, 6: 0.6884, 8: 0.6895}
LINEAR = 0.6989
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
CHOICES = {"n_neighbors": [15, 20, 25]}
N_STEPS = 300
KERNELS = (
    ("linear", 0.0),
    *(("Gaussian", width) for width in GAUSSIAN),
    *(("polynomial", float(power)) for power in POLYNOMIAL),
)
MACHINES: dict[str, dict[str, Any]] = {
    "linear": {"C": PENALTIES},
    "Gaussian": {"C": PENALTIES, "gamma": [0.01, 0.03, *GAUSSIAN]},
    "polynomial": {"C": PENALTIES, "degree": list(POLYNOMIAL)},
}
MAPS = ((HARD, RAW), (SOFT, QUANTILE))

PROCEDURE = """
Each of 10 draws takes 1,000 rows of MAGIC and labels 50; scores are shares of right classes among
the other 950, as in the paper, which has one draw. Intervals are over draws.

"hard" is the paper's programme on raw features: any map that keeps the distances to the k nearest
neighbours and has all labels on their side, without the variance term, by a margin of 0.3 mean edge
lengths. "soft" is ours: each feature is replaced by its rank among the 1,000 (quantiles, without
any label), labels that distances pull against may give way (`label_penalty=0.1`, margin 0.5), and
the solver begins from the data turned along a ridge score. These settings of ours were found on
other draws of MAGIC. The solver stops at an error of squared distances of 1 %, or after 300 steps.

"best case" reads the table as the paper does: the best cell by test labels. "cross-validated"
chooses among 15, 20 and 25 neighbours, in 12 dimensions, by five-fold cross-validation on the 50
labels.

Support vector machines have the kernels and parameters of the paper's Table 2, γ of exp(-γ |x -
y|²) for the Gaussian and (x·y / s + 1)^p for polynomials, s the rows' mean square (1 in SVM-light,
with which powers of raw features overflow), each with the best C from 0.01 to 100 by test labels;
the cross-validated ones choose C and the parameter on the 50 labels.
"K as kernel" gives the matrix K that a soft map learnt (20 neighbours, 12 dimensions) to a support
vector machine with C = 1. "Ridge" is the start of that map by itself.

"one neighbour": k = 1 and all 1,000 labelled, margin 0.001 (the paper has none). "Unfolded" is
maximum variance unfolding of the 1,000 standardised points to rank 5, with 5 neighbours; the paper
says so of the whole data set.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List the cells of Table 1, and one task for each other part, draw by draw."""
    seeds = range(1 if quick else N_DRAWS)
    cells: list[dict[str, str | int | float]] = [
        {"part": "grid", "labels": labels, "features": features, "neighbors": k, "dimension": r}
        for labels, features in MAPS
        for k, r, _ in TABLE_1
        if not quick or (k, r) == (10, 12)
    ]
    parts: list[dict[str, str | int | float]] = [
        {"part": "kernel"},
        {"part": "unfolded"},
        {"part": "one neighbour"},
    ]
    for features in (RAW, STANDARDISED, QUANTILE):
        parts += [{"part": p, "features": features} for p in ("machines", "machine chosen")]
    parts += [] if quick else [{"part": "chosen", "labels": SOFT, "features": QUANTILE}]
    return [Task(setting, seed) for setting in cells + parts for seed in seeds]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Run one part of one draw."""
    draw = Magic.draw(N_LABELED, N_SCORED, FIRST_DRAW + (task.seed or 0), data_home)
    part = str(task.setting["part"])
    if part == "grid":
        return _run_cell(draw, task)
    if part == "chosen":
        model = make_map(SOFT, rank=12, max_iter=N_STEPS)
        return search_map(draw, model, CHOICES, n_folds=5)
    if part == "kernel":
        return _run_kernel(draw)
    if part == "machines":
        return list(try_machines(draw, str(task.setting["features"]), KERNELS, PENALTIES))
    if part == "machine chosen":
        return [
            search_machine(draw, str(task.setting["features"]), kernel, grid, n_folds=5)
            for kernel, grid in MACHINES.items()
        ]
    return unfold(draw) if part == "unfolded" else _run_one_neighbor(draw)


def _run_cell(draw: Magic, task: Task) -> list[Measurement]:
    model = make_map(
        str(task.setting["labels"]),
        n_neighbors=task.setting["neighbors"],
        rank=task.setting["dimension"],
        max_iter=N_STEPS,
    )
    return measure_map(draw, draw.features(str(task.setting["features"])), model)


def _run_kernel(draw: Magic) -> list[Measurement]:
    X, n = draw.features(QUANTILE), draw.n_labeled
    model = make_map(SOFT, n_neighbors=20, rank=12, max_iter=N_STEPS)
    map_score = measure_map(draw, X, model)[0].value
    R = model.gram_factor_
    K = R @ R.T
    machine = SVC(kernel="precomputed").fit(K[:n, :n], draw.y[:n])
    ridge = model.classes_[(_ridge_scores(X, n, draw.y[:n] == model.classes_[1]) > 0).astype(int)]
    return [
        draw.measured(map_score, method="side of the map"),
        draw.measured(draw.score(machine.predict(K[n:, :n])), method="K as kernel"),
        draw.measured(draw.score(ridge), method="ridge"),
    ]


def _ridge_scores(
    X: NDArray[np.float64], n_labeled: int, is_second: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the ridge scores from which separation maps begin (``start="ridge"``)."""
    labeled = X[:n_labeled]
    size = float(np.sum(np.var(labeled, axis=0))) * n_labeled / X.shape[1]
    model = RidgeCV(alphas=np.logspace(-4, 2, 13) * size)
    return np.asarray(model.fit(labeled, np.where(is_second, 1.0, -1.0)).predict(X))


def _run_one_neighbor(draw: Magic) -> list[Measurement]:
    model = make_map(HARD, n_neighbors=1, margin=0.001, rank=12, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of bridges; the errors stand in the table
        model.fit(draw.features(STANDARDISED), draw.y)
    certificate = model.certificate_
    return [
        Measurement(100 * certificate.errors.rms_squared, {}, DISTANCE_ERROR, unit="number"),
        Measurement(certificate.separation_error, {}, WRONG_SIDE),
    ]


WHY = (
    "Linear and polynomial machines score more here than any machine of the paper. It has one draw "
    "of 50 labels, and here there are ten."
)


def judge(summary: Summary) -> list[Verdict]:
    """Judge what the paper concludes from its tables."""
    of_table_1 = [
        *judge_machines(summary, of_map=0.7368, of_machine=0.7032, why=WHY),
        *judge_linear(summary, why=WHY),
        *judge_dimension(summary),
        *judge_neighbors(summary),
    ]
    return [
        *(replace(verdict, item="Table 1") for verdict in of_table_1),
        *judge_kernels(summary, "Table 2"),
        *judge_training(summary),
        *_judge_one_neighbor(summary),
        *judge_unfolding(summary),
        *_judge_kernel(summary),
    ]


def _judge_one_neighbor(summary: Summary) -> list[Verdict]:
    errors = summary.rows_with(DISTANCE_ERROR, part="one neighbour")
    wrong = summary.rows_with(WRONG_SIDE, part="one neighbour")
    if not errors or not wrong:
        return []
    worst, most = max(errors[0].values.values()), max(wrong[0].values.values())
    return [
        Verdict(
            claim="With one neighbour a map that separates always exists",
            paper="text, section 3",
            found=f"all 1,000 labelled: {100 * most:.2g} % on the wrong side, squared distances "
            f"kept to {worst:.2g} % in the worst draw",
            verdict="holds" if most == 0 and worst <= 0.1 else "does not hold",
            item=OF_THE_TEXT,
        )
    ]


def _judge_kernel(summary: Summary) -> list[Verdict]:
    rows = {
        name: summary.rows_with(SCORE, part="kernel", method=name)
        for name in ("K as kernel", "side of the map", "ridge")
    }
    if not all(rows.values()):
        return []
    machine, side = rows["K as kernel"][0].estimate, rows["side of the map"][0].estimate
    found = "; ".join(f"{name} {format_estimate(row[0].estimate)}" for name, row in rows.items())
    close = bool(np.isclose(machine.mean, side.mean, atol=0.02))
    return [
        Verdict(
            claim="The learnt K serves as the kernel of a support vector machine",
            paper="abstract",
            found=found,
            verdict="holds" if machine.mean >= side.mean or close else "does not hold",
            item=OF_THE_TEXT,
        )
    ]


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the scores."""
    from reproductions.ism.magic_picture import draw_scores

    return draw_scores(summary)


def _printed() -> list[Printed]:
    cells = [
        Printed(
            score,
            {"part": "grid", "labels": HARD, "features": RAW, "neighbors": k, "dimension": r},
            SCORE,
            goal="high",
        )
        for k, r, score in TABLE_1
    ]
    common = {"part": "machines", "features": RAW, "choice": BEST_CASE}
    machines = [
        Printed(score, {**common, "kernel": "Gaussian", "parameter": width}, SCORE, goal="high")
        for width, score in GAUSSIAN.items()
    ]
    machines += [
        Printed(
            score, {**common, "kernel": "polynomial", "parameter": float(power)}, SCORE, goal="high"
        )
        for power, score in POLYNOMIAL.items()
    ]
    linear = Printed(LINEAR, {**common, "kernel": "linear", "parameter": 0.0}, SCORE, goal="high")
    return [*cells, *machines, linear]


FEW_LABELS = Entry(
    name="tables-1-and-2",
    title="MAGIC with 50 labels: separation maps and support vector machines",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge,
    printed=tuple(_printed()),
    draw=draw,
    needs_data=True,
    why=(
        "Gaussian machines score less here than printed: to them no two rows of raw features are "
        "near, and they answer the larger class for nearly all. Linear and polynomial machines "
        "and the maps score more than printed. The paper has one draw of 50 labels, and here "
        "there are ten."
    ),
)
