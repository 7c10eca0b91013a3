"""SSDE Fig. 1: four classes on a roll, mapped into the plane by SLLE and by SSDE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reproductions.entry import Entry, Judgement, Measurement, Setting, Task, Verdict
from reproductions.ssde.names import DEFAULT_SPREAD, SLLE, SPREADS, SSDE
from reproductions.ssde.rolls import (
    BANDS,
    DATA,
    N_CLASSES,
    RANDOM,
    Roll,
    class_correlation,
    fit_map,
    groups_apart,
    left_out_precision,
    new_precision,
    outward_correlation,
    within_share,
)
from reproductions.summary import Summary, SummaryRow
from reproductions.tables import format_estimate, format_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURE_1"]

N_POINTS, N_POINTS_QUICK = 800, 240
N_DRAWS, N_DRAWS_QUICK = 5, 1
ALPHAS = (0.0, 0.01, 0.05, 0.2, 1.0)
VARIED = {SLLE: ("alpha", ALPHAS), SSDE: ("spread", SPREADS)}

LEFT_OUT = "precision at left-out points of the map"
NEW = "precision at new points"
GROUPS = "classes that are groups of their own"
WITHIN = "share of variance within classes"
CORRELATION = "correlation of distances within classes with those on the roll"
OUTWARD = "correlation of the outward coordinate with the distance from the medoid"

MIXED, TOUCHING, APART = "mixed", "touching", "apart"
COLLAPSED = "apart, every class a single point"
FEW_MIXED = 0.9  # of left-out points: below it classes are mixed
SEPARATED = 0.99  # of left-out points: "separated clearly"
RECOGNISABLE, TRACE = 0.9, 0.5  # correlation from which a class can be seen, or something of it
TELLING = 0.9  # precision at new points; half-way between chance and it is some

PROCEDURE = """
The paper takes a "traditional synthetic data set" of four classes and does not say which, nor how
SLLE was set, and shows one picture of each map. Here it is the Swiss roll of the paper it cites:
800 points, and 400 more as new points, with classes in four bands along the arc or drawn at random
for each point; 5 draws. SLLE is `SupervisedLLE` with 8 neighbours, and alpha from 0 (labels count
for nothing) to 1 (neighbours are of the own class). SSDE is `SupervisedSemidefiniteEmbedding` with
4 neighbours; how far apart classes may move, `spread` times the distance of their means, is ours,
as the paper's programme has no maximum (default 10). Both map into the plane.

Since both were given the labels of the points they show, that classes lie apart is no precision of
a classifier. What is measured is

- how mixed the map is: the share of points that have the class of the 3 others nearest to them on
  the map;
- whether a class is a group of its own: farther from every other point than the widest gap within;
- what is left of a class: the share of variance within classes, and the correlation of distances
  within a class with those along the roll (mean over classes; 0 where every class is one point,
  which separates perfectly and shows nothing);
- for SSDE, whether a class is folded about its medoid: the correlation, over all dimensions of the
  Gram matrix, of how far out a point lies, away from the middle of all classes, with its distance
  from the medoid along the roll;
- precision at new points, placed by the map's own `transform`, by 3-NN.

"data" are the points as they are, in three dimensions. Classes are called "separated clearly" if
all are groups of their own in every draw and 99 % of left-out points have their class; "mixed" if
fewer than 90 % have; "touching" otherwise, if some class is no group. Classes can be recognised at
a correlation of 0.9; at 0.5 a trace is left.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each map of each draw."""
    n_points, n_draws = (N_POINTS_QUICK, N_DRAWS_QUICK) if quick else (N_POINTS, N_DRAWS)
    maps: list[Setting] = [{"map": DATA}]
    maps += [
        {"map": name, parameter: value}
        for name, (parameter, values) in VARIED.items()
        for value in values
    ]
    return [
        Task({"classes": classes, "points": n_points, **setting}, seed)
        for classes in (BANDS, RANDOM)
        for setting in maps
        for seed in range(n_draws)
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure one map of one draw."""
    roll = Roll.draw(task)
    name = str(task.setting["map"])
    places, new_places, measured = roll.X, roll.X_new, []
    if name != DATA:
        parameter, _ = VARIED[name]
        model = fit_map(roll, name, float(task.setting[parameter]), task.seed)
        places, new_places = model.embedding_, model.transform(roll.X_new)
        if name == SSDE:
            outward = outward_correlation(model, roll)
            measured.append(Measurement(outward, {}, OUTWARD, unit="number"))
    n = len(roll.y)
    return [
        Measurement(left_out_precision(places, roll.y), {}, LEFT_OUT, n_scored=n),
        Measurement(groups_apart(places, roll.y), {}, GROUPS),
        Measurement(within_share(places, roll.y), {}, WITHIN),
        Measurement(
            class_correlation(places, roll.coordinates, roll.y), {}, CORRELATION, unit="number"
        ),
        Measurement(new_precision(places, new_places, roll), {}, NEW, n_scored=len(roll.y_new)),
        *measured,
    ]


def judge(summary: Summary) -> list[Verdict]:
    """Judge both halves of the paper's claim, and what it does not ask."""
    verdicts = []
    for classes in (BANDS, RANDOM):
        verdicts += [
            _judge_mixed(summary, classes),
            _judge_separated(summary, classes),
            _judge_shape(summary, classes),
            _judge_new(summary, classes),
        ]
    return verdicts


WHY_NOT_MIXED = {
    BANDS: "The paper prints neither its data nor alpha. Bands touch in the maps of a small alpha "
    "and are single points in those of a large one; none mixes them.",
    RANDOM: "Random classes are mixed until alpha is so large that every class is a single point.",
}


def _judge_mixed(summary: Summary, classes: str) -> Verdict:
    rows = summary.rows_with(LEFT_OUT, classes=classes, map=SLLE)
    states = [_state(summary, row) for row in rows]
    texts = [
        f"alpha {row.setting['alpha']:g}: {format_estimate(row.estimate)}, {state}"
        for row, state in zip(rows, states, strict=True)
    ]
    verdict: Judgement = "partly" if {MIXED, TOUCHING} & set(states) else "does not hold"
    return Verdict(
        claim="SLLE mixes the four classes",
        reading=classes,
        why=WHY_NOT_MIXED[classes],
        paper="picture b; alpha not printed",
        found=f"left-out points with their class at {'; '.join(texts)}",
        verdict="holds" if set(states) == {MIXED} else verdict,
    )


def _state(summary: Summary, row: SummaryRow) -> str:
    """Say how the classes of a map of SLLE lie to each other, given its row of left-out points."""
    groups, within = (summary.row(name, **row.setting) for name in (GROUPS, WITHIN))
    if row.estimate.mean < FEW_MIXED:
        return MIXED
    if min(groups.values.values()) < 1:
        return TOUCHING
    return APART if within.estimate.mean > 0 else COLLAPSED


def _judge_separated(summary: Summary, classes: str) -> Verdict:
    rows = summary.rows_with(LEFT_OUT, classes=classes, map=SSDE)
    found, texts = {}, []
    for row in rows:
        spread = float(row.setting["spread"])
        groups = summary.row(GROUPS, classes=classes, map=SSDE, spread=spread)
        found[spread] = min(groups.values.values()) == 1 and min(row.values.values()) >= SEPARATED
        texts.append(
            f"spread {spread:g}: {format_estimate(row.estimate)}, "
            f"{format_value(groups.estimate.mean, 'share')} of classes groups of their own"
        )
    verdict: Judgement = "partly" if any(found.values()) else "does not hold"
    return Verdict(
        claim="SSDE separates the four classes clearly",
        reading=classes,
        why="Random classes do not all part at our default spread, a bound that the paper's "
        "programme lacks.",
        paper="picture c",
        found=f"left-out points with their class at {'; '.join(texts)}",
        verdict="holds" if found[DEFAULT_SPREAD] else verdict,
    )


def _judge_shape(summary: Summary, classes: str) -> Verdict:
    """Judge what SSDE at its default shows of a class, beside all other maps."""
    own: Setting = {"classes": classes, "map": SSDE, "spread": DEFAULT_SPREAD}
    row, share, outward = (summary.row(name, **own) for name in (CORRELATION, WITHIN, OUTWARD))
    rest = [other for other in summary.rows_with(CORRELATION, classes=classes) if other is not row]
    texts = [f"{_describe(other)} {other.estimate.mean:.2f}" for other in rest]
    mean = row.estimate.mean
    return Verdict(
        claim=f"Classes that SSDE separated still show their shape: {classes}",
        paper="not in the paper",
        found=f"correlation of distances within classes with those on the roll {mean:.2f} at "
        f"spread {DEFAULT_SPREAD:g}, with {format_value(share.estimate.mean, 'share')} of the "
        "variance within classes; how far out a point lies correlates "
        f"{outward.estimate.mean:.2f} with its distance from the medoid. Others: "
        f"{'; '.join(texts)}",
        verdict="holds" if mean >= RECOGNISABLE else "partly" if mean >= TRACE else "does not hold",
    )


def _judge_new(summary: Summary, classes: str) -> Verdict:
    own = summary.row(NEW, classes=classes, map=SSDE, spread=DEFAULT_SPREAD)
    rest = [row for row in summary.rows_with(NEW, classes=classes) if row is not own]
    texts = [f"{_describe(row)} {format_value(row.estimate.mean, 'share')}" for row in rest]
    mean, some = own.estimate.mean, (1 / N_CLASSES + TELLING) / 2
    return Verdict(
        claim=f"New points fall into the class that SSDE separated: {classes}",
        paper="not in the paper",
        found=f"{format_estimate(own.estimate)} at spread {DEFAULT_SPREAD:g}, chance "
        f"{100 / N_CLASSES:.0f} %; {'; '.join(texts)}",
        verdict="holds" if mean >= TELLING else "partly" if mean >= some else "does not hold",
    )


def _describe(row: SummaryRow) -> str:
    name = str(row.setting["map"])
    if name == DATA:
        return "data as they are"
    parameter, _ = VARIED[name]
    return f"{name} {parameter} {row.setting[parameter]:g}"


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first roll of each kind and its maps."""
    from reproductions.ssde.figure_1_picture import draw_panels

    return draw_panels(max(int(size) for size in summary.values_of("points")))


FIGURE_1 = Entry(
    name="figure-1",
    title="Four classes on a roll, mapped into the plane by SLLE and by SSDE",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
)
