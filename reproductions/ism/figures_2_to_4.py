"""ISM Figs. 2 to 4: three classes on the roll, in bands and at random, in 12 dimensions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from labelfold.semidefinite import MaximumVarianceUnfolding
from reproductions import Measurement, Task
from reproductions.entry import Entry, Printed, Setting, Verdict, judge_all, judge_if
from reproductions.ism import rolls
from reproductions.ism.rolls import FLAT, ISM, OBJECTIVES, SQUARED, TRIVIAL, Roll, mean_of
from reproductions.summary import Summary
from reproductions.tables import format_estimate

N_POINTS, N_DRAWS = 1500, 3
N_POINTS_QUICK = 250
N_NORMALS = 3
RANK = 12
BANDS, RANDOM = "bands", "random"
FIGURES = {BANDS: "Fig. 2", RANDOM: "Fig. 4"}
MARGINS = {BANDS: (0.001, 0.05), RANDOM: (0.001, 0.01)}
WIDE, LOW_RANKS = 0.3, (4, 5)  # below 3 + 3, where the trivial map does not fit
UNFOLDED, MVU = "[margin y, MVU]", "MVU"
UNFOLDING_STEPS = 5000  # in 1 or 2 dimensions no map keeps the distances
SHARES = {count: f"share of the first {count} eigenvalues" for count in (2, 4, 8)}

# Numbers for words of the paper.
RICH = 0.9  # at most so much of the sum in the first two eigenvalues
PRINTED_ERRORS = {BANDS: 0.1, RANDOM: 0.4}  # percent
PRINTED_WRONG = {BANDS: 0.0, RANDOM: 0.0017}

COMMON = """
All points are labeled. ISM is `IsometricSeparationMap` with one decision axis per class, +1 inside
and -1 outside, as in `figure-1-separation`; for three classes the paper has three anchors. Margins
and the tolerance (0.01 % on squared distances, at most 20,000 steps) are ours. 3 draws; the picture
shows the first at the larger margin. The paper's figures are beside the rows of eq. 5's objective,
the variance, and the smaller margin.

Three hyperplanes and the three dimensions of the roll are 6, and the paper's maps have 12: the map
[margin y, X], with y = ±1 for each hyperplane, separates any classes there without learning
anything, so at a small margin a small error means little. It is listed for every margin, and so is
[margin y, arc length, height] with the flat roll, in 5 dimensions. At margin 0.3 and with 4 or 5
dimensions neither [margin y, X] nor an isometric map is possible. There the table has ISM without
an objective beside [margin y, MVU], where MVU is the unsupervised map of the 1 or 2 dimensions that
are left (5,000 steps). "What no map goes below" is the error that stretching neighbors of different
classes to their distance across the margins causes by itself, in any number of dimensions. The goal
of ISM is 1.5 times that.

The spectrum is that of the centered Gram matrix; the share of the first 12 eigenvalues is 100 % by
construction. "Rich" means at most 90 % in the first two, which hold all of the flat roll; "partly"
if that is so only without an objective. MVU, rank 4 and its first two coordinates, is that of
`figure-1-unfolding`.
"""

PROCEDURE_2 = f"""
1,500 points and their 5 nearest neighbors, as in the paper. The paper shows the classes in a
picture only; here three classes alternate in six bands. At margins 0.001 and 0.05 no neighbors
are closer than the margins ask for. The right part of Fig. 3 is the spectrum of these maps.
{COMMON}"""

PROCEDURE_4 = f"""
1,500 points and their 5 nearest neighbors, as in the paper. Each point draws one of three classes,
so two thirds of all neighbors differ. The paper has 0.16 % of the points on a wrong side in the
text and 0.17 % in the caption. The closest neighbors of different classes allow margins of
0.002, 0.002 and 0.017 in the three draws: at margin 0.01 no map keeps all distances in two of them.
The left part of Fig. 3 is the spectrum of these maps. {COMMON}"""


def list_tasks(classes: str, quick: bool) -> list[Task]:
    """List the tasks of Fig. 2, with classes in bands, or of Fig. 4, with random ones."""
    n_draws, size = N_DRAWS, {"points": N_POINTS}
    if quick:
        n_draws, size = 1, {"points": N_POINTS_QUICK, "steps": rolls.STEPS_QUICK}
    settings: list[dict[str, str | int | float]] = [
        {"map": ISM, "rank": RANK, "margin": margin, "objective": objective}
        for margin in MARGINS[classes]
        for objective in OBJECTIVES
    ]
    wide = [{"rank": rank, "margin": WIDE} for rank in LOW_RANKS]
    settings += [{"map": ISM, **own, "objective": "none"} for own in wide]
    settings += [{"map": UNFOLDED, **own} for own in wide]
    settings += [
        {"map": name, "margin": margin}
        for name in (FLAT, TRIVIAL)
        for margin in (*MARGINS[classes], WIDE)
    ]
    settings.append({"map": MVU})
    return [
        Task({**size, "classes": classes, **setting}, seed)
        for setting in settings
        for seed in range(n_draws)
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Compute one map of one roll, and measure it."""
    roll, name = Roll.draw(task), task.setting["map"]
    if name == MVU:
        unfolded = rolls.unfold(roll.X, MVU, rolls.NEIGHBORS, task.seed)
        return rolls.measure_lines(unfolded.embedding_, roll.y)
    if name == ISM:
        own: dict[str, Any] = {n: task.setting[n] for n in ("rank", "margin", "objective")}
        model = rolls.separate(roll, task, **own)
        # What the first eigenvalues of the centered Gram matrix hold (ISM Fig. 3).
        shares = np.cumsum(model.spectrum_) / model.spectrum_.sum()
        return [
            *rolls.measure_separation(model, {}),
            *(
                Measurement(float(shares[min(count, len(shares)) - 1]), {}, measure)
                for count, measure in SHARES.items()
            ),
        ]
    margin = float(task.setting["margin"])
    if name == UNFOLDED:
        coordinates = _unfold_to(roll, int(task.setting["rank"]) - N_NORMALS, task.seed)
        return rolls.measure_appended(roll, margin, coordinates, {})
    coordinates = roll.coordinates if name == FLAT else roll.X
    rank = N_NORMALS + coordinates.shape[1]
    return rolls.measure_appended(roll, margin, coordinates, {"rank": rank})


def _unfold_to(roll: Roll, n_dimensions: int, seed: int | None) -> rolls.Array:
    """Return the unsupervised map of so many dimensions."""
    model = MaximumVarianceUnfolding(
        n_dimensions,
        n_neighbors=rolls.N_NEIGHBORS,
        rank=n_dimensions,
        max_iter=UNFOLDING_STEPS,
        random_state=seed,
    )
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return model.fit(roll.X).gram_factor_


def judge(summary: Summary) -> list[Verdict]:
    """Judge the captions of Figs. 2 to 4, and compare with simpler maps."""
    (classes,) = (str(value) for value in summary.values_of("classes"))
    of_its_figure = [
        _judge_unfolding(summary),
        _judge_sides(summary, classes),
        _judge_distances(summary, classes),
    ]
    return [
        *(replace(verdict, item=FIGURES[classes]) for verdict in of_its_figure),
        _judge_spectrum(summary, classes),
        _judge_trivial(summary, classes),
        _judge_low_ranks(summary),
    ]


def _of_rank_12(objective: str, margin: float) -> Setting:
    return {"map": ISM, "rank": RANK, "objective": objective, "margin": margin}


def _judge_unfolding(summary: Summary) -> Verdict:
    error = summary.row(rolls.LINE_ERROR, map=MVU).estimate
    separated = mean_of(summary, rolls.SEPARABLE, map=MVU)
    return Verdict(
        claim="After unfolding with MVU the classes are not linearly separable",
        paper="caption and picture",
        found=f"a straight line separates {100 * separated:.0f} % of the classes from the others; "
        f"error of least squares {format_estimate(error)}",
        verdict=judge_if(separated == 0, separated < 1),
    )


def _judge_sides(summary: Summary, classes: str) -> Verdict:
    worst = rolls.worst_separation(summary, map=ISM, rank=RANK)
    correct = 100 * (1 - PRINTED_WRONG[classes])
    return Verdict(
        claim="In 12 dimensions 3 hyperplanes separate the classes",
        paper=f"{correct:.4g} % of the points on their sides",
        found=f"{100 * (1 - worst):.4g} % in the worst of all draws, margins and objectives",
        verdict=judge_if(worst <= PRINTED_WRONG[classes]),
    )


def _judge_distances(summary: Summary, classes: str) -> Verdict:
    printed, texts, is_kept = PRINTED_ERRORS[classes], [], []
    for margin in MARGINS[classes]:
        for objective in OBJECTIVES:
            setting = _of_rank_12(objective, margin)
            larger = max(mean_of(summary, name, **setting) for name in rolls.RMS_ERRORS)
            is_kept.append(larger <= printed)
            errors = rolls.describe_errors(summary, **setting)
            texts.append(f"margin {margin}, objective {objective}: {errors}")
    return Verdict(
        claim="Distances of neighbors are kept",
        paper=f"{printed} % root mean square error",
        found="; ".join(texts),
        verdict=judge_all(is_kept),
    )


def _judge_spectrum(summary: Summary, classes: str) -> Verdict:
    margin = MARGINS[classes][1]
    texts, is_rich = [], {}
    for objective in OBJECTIVES:
        setting = _of_rank_12(objective, margin)
        shares = {count: mean_of(summary, name, **setting) for count, name in SHARES.items()}
        is_rich[objective] = shares[2] <= RICH
        listed = ", ".join(f"first {count} {100 * share:.1f} %" for count, share in shares.items())
        texts.append(f"objective {objective}: {listed}")
    return Verdict(
        claim="The spectrum is rich",
        paper='"pretty rich", Fig. 3',
        found=f"shares of eigenvalues at margin {margin}: {'; '.join(texts)}",
        verdict=judge_if(is_rich["variance"], partly=is_rich["none"]),
        item="Fig. 3",
        why="How rich it is depends on the objective, which the paper does not name here: with the "
        "variance term two eigenvalues hold nearly all.",
    )


def _judge_trivial(summary: Summary, classes: str) -> Verdict:
    texts, is_better = [], []
    for margin in MARGINS[classes]:
        ours = _of_rank_12("variance", margin)
        trivial: Setting = {"map": TRIVIAL, "margin": margin}
        is_better.append(rolls.errs_less(summary, ours, trivial))
        texts.append(
            f"margin {margin}: ISM {rolls.describe_errors(summary, **ours)}, {TRIVIAL} "
            + rolls.describe_errors(summary, **trivial)
        )
    return Verdict(
        claim="ISM in 12 dimensions keeps distances better than the trivial map in 6",
        paper='not in the paper: "it suffices to add one extra dimension", section 3',
        found=f"rms errors: {'; '.join(texts)}",
        verdict=judge_all(is_better),
    )


def _judge_low_ranks(summary: Summary) -> Verdict:
    texts, is_better = [], []
    for rank in LOW_RANKS:
        setting = {"rank": rank, "margin": WIDE}
        ours = mean_of(summary, SQUARED, map=ISM, **setting)
        least = mean_of(summary, rolls.LEAST_ERROR, map=ISM, **setting)
        beside = mean_of(summary, SQUARED, map=UNFOLDED, **setting)
        wrong = rolls.worst_separation(summary, map=ISM, **setting)
        is_better.append(wrong == 0 and ours < beside)
        text = f"rank {rank}: ISM {ours:.3g} %, {UNFOLDED} {beside:.3g} %"
        for row in summary.rows_with(SQUARED, map=FLAT, **setting):
            text += f", {FLAT} {row.estimate.mean:.3g} %"
            is_better.append(ours < row.estimate.mean)
        texts.append(f"{text}, no map below {least:.3g} %; wrong sides {100 * wrong:.2g} %")
    return Verdict(
        claim=f"At margin {WIDE}, in 4 and 5 dimensions, it does better than labels beside a map",
        paper="not in the paper",
        found=f"rms errors of squared distances: {'; '.join(texts)}",
        verdict=judge_all(is_better),
    )


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first roll, MVU's map of it, two decision axes of each ISM map, and the spectra."""
    task = Task(summary.rows[0].setting, 0)
    roll, margin = Roll.draw(task), MARGINS[str(task.setting["classes"])][1]
    spectra = {}
    figure = Figure(figsize=(14.0, 9.4), dpi=100, layout="constrained")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[1.0, 1.0])[:, 0]
    grid = above.add_gridspec(1, 2, width_ratios=[1.0, 1.7])
    ax: Any = above.add_subplot(grid[0], projection="3d")
    rolls.draw_roll(ax, roll, by_class=True)
    ax.set_title("The roll with three classes")
    unfolded = rolls.unfold(roll.X, MVU, rolls.NEIGHBORS, 0)
    ax = above.add_subplot(grid[1])
    places = rolls.turn_onto(unfolded.embedding_, roll.coordinates)
    rolls.scatter_by_class(ax, places, roll.y, size=10)
    for value in range(3):
        rolls.name_class(ax, value, 0.09 * value, 1.06, n_classes=3)
    ax.set(title="Unfolded by MVU", xlabel="arc length", ylabel="height", aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    *panels, last = below.subplots(1, 3)
    for ax, (objective, name) in zip(panels, rolls.OBJECTIVE_NAMES.items(), strict=True):
        model = rolls.separate(roll, task, rank=RANK, margin=margin, objective=objective)
        spectra[name] = model.spectrum_
        ax.axhline(0, color=rolls.LINE_GRAY, linewidth=1)
        ax.axvline(0, color=rolls.LINE_GRAY, linewidth=1)
        rolls.scatter_by_class(ax, model.decision_values_[:, :2], roll.y, size=9)
        ax.set_title(f"ISM in {RANK} dimensions, {name}")
        ax.set(xlabel="decision coordinate of class 1", ylabel="decision coordinate of class 2")
        ax.spines[["top", "right"]].set_visible(False)
    rolls.draw_spectra(last, {**spectra, MVU: unfolded.spectrum_})
    return figure


def _printed(classes: str) -> tuple[Printed, ...]:
    """Return the captions' figures, beside the program of eq. 5 at the smallest margin."""
    own = _of_rank_12("variance", MARGINS[classes][0])
    setting: Setting = {"points": N_POINTS, "classes": classes, **own}
    error = PRINTED_ERRORS[classes]
    wrong = "0.16 % (text), 0.17 % (caption)" if classes == RANDOM else ""
    return (
        Printed(PRINTED_WRONG[classes], setting, rolls.SEPARATION_ERROR, wrong),
        # The paper does not say on which of the two.
        *(Printed(error, setting, measure, number="error") for measure in rolls.RMS_ERRORS),
    )


FIGURE_2 = Entry(
    name="figure-2-bands",
    title="Three classes in bands, mapped to 12 dimensions (Fig. 2, and Fig. 3 right)",
    procedure=PROCEDURE_2,
    tasks=partial(list_tasks, BANDS),
    run=run,
    judge=judge,
    printed=_printed(BANDS),
    draw=draw,
)

FIGURE_4 = replace(
    FIGURE_2,
    name="figure-4-random",
    title="Three random classes, mapped to 12 dimensions (Fig. 4, and Fig. 3 left)",
    procedure=PROCEDURE_4,
    tasks=partial(list_tasks, RANDOM),
    printed=_printed(RANDOM),
)
