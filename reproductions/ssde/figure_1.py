"""SSDE Fig. 1: four classes on a roll, embedded in the plane by SLLE and by SSDE."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import KNeighborsClassifier

from labelfold.datasets import make_swiss_roll
from labelfold.plotting import class_styles
from reproductions.entry import Entry, Measurement, Setting, Task, Verdict, judge_if
from reproductions.ssde.maps import DEFAULT_SPREAD, K_NEAREST, SLLE, SPREADS, SSDE, Array, fit_map
from reproductions.summary import Summary, SummaryRow
from reproductions.tables import format_estimate, format_value

Classes = NDArray[np.int64]

N_POINTS, N_POINTS_QUICK = 800, 240
N_DRAWS = 5
N_CLASSES = 4
BANDS, RANDOM = "bands", "random"
DATA = "data"
VARIED = {SLLE: ("alpha", (0.0, 0.01, 0.05, 0.2, 1.0)), SSDE: ("spread", SPREADS)}
NEIGHBORS = {SLLE: 8, SSDE: 4}

LEFT_OUT = "precision at left-out points of the map"
NEW = "precision at new points"  # codespell:ignore
GROUPS = "classes that are groups of their own"
WITHIN = "share of variance within classes"
CORRELATION = "correlation of distances within classes with those on the roll"
OUTWARD = "correlation of the outward coordinate with the distance from the medoid"

FEW_MIXED = 0.9  # of left-out points: below it classes are mixed
SEPARATED = 0.99  # of left-out points: "separated clearly"
RECOGNIZABLE, TRACE = 0.9, 0.5  # correlations at which a class, or a trace of it, is visible
TELLING = 0.9  # precision at new rows; halfway between chance and this is some
COLLAPSED = 1e-12  # share of variance within classes from rounding alone

PROCEDURE = """
The paper takes a "traditional synthetic data set" of four classes and does not say which, nor the
parameters of SLLE, and shows one picture of each map. Here it is the Swiss roll of the paper it
cites: 800 points, and 400 more as new rows, with classes in four bands along the arc or drawn at
random for each point; 5 draws. SLLE is `SupervisedLLE` with 8 neighbors, and alpha from 0 (labels
have no effect) to 1 (neighbors have the same class). SSDE is `SupervisedSemidefiniteEmbedding` with
4 neighbors; the limit on how far classes may move, `class_spread` times the distance of their
means, is ours, since the paper's program has no maximum (default 10). Both embed in the plane. Both
were given the labels of the points they show, so separated classes are not the precision of a
classifier. We measure

- how mixed the map is: the share of points that have the class of the 3 others nearest to them;
- whether a class is a group of its own: farther from every other point than the widest gap within;
- what is left of a class: the share of variance within classes, and the correlation of distances
  within a class with those along the roll (mean over classes; 0 if every class is one point, which
  separates perfectly and shows nothing);
- for SSDE, whether a class is folded about its medoid: the correlation, over all dimensions of the
  Gram matrix, of how far out a point lies, away from the middle of all classes, with its distance
  from the medoid along the roll;
- precision at new rows, embedded by the method's own `transform`, by 3-NN.

"data" are the points as they are, in three dimensions. Classes are called "separated clearly" if
all are groups of their own in every draw and 99 % of left-out points have their class; "mixed" if
fewer than 90 % have; "adjacent" otherwise, if some class is not a group. Classes can be recognized
at a correlation of 0.9; at 0.5 a trace is left.
"""


@dataclass(frozen=True, eq=False)
class Roll:
    """Labeled points with their arc length and height, and new rows of the same roll."""

    X: Array
    y: Classes
    coordinates: Array
    X_new: Array
    y_new: Classes

    @classmethod
    def draw(cls, task: Task) -> Roll:
        """Draw the roll of a task, and half as many new rows."""
        n = int(task.setting["points"])
        X, y, coordinates = make_swiss_roll(
            n + n // 2,
            pattern=task.setting["classes"],  # type: ignore[arg-type]
            n_classes=N_CLASSES,
            n_bands=N_CLASSES,
            random_state=task.seed,
        )
        return cls(X[:n], y[:n], coordinates[:n], X[n:], y[n:])


def map_roll(roll: Roll, name: str, parameter: float, seed: int | None) -> Any:
    """Embed a roll in the plane: SLLE with that alpha, or SSDE with that spread."""
    settings = {VARIED[name][0]: parameter, "n_neighbors": NEIGHBORS[name]}
    return fit_map(name, roll.X, roll.y, 2, seed, **settings)[0]


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each map of each draw."""
    n_points, n_draws = (N_POINTS_QUICK, 1) if quick else (N_POINTS, N_DRAWS)
    maps: list[Setting] = [{"map": DATA}]
    for name, (parameter, values) in VARIED.items():
        maps += [{"map": name, parameter: value} for value in values]
    return [
        Task({"classes": classes, "points": n_points, **setting}, seed)
        for classes in (BANDS, RANDOM)
        for setting in maps
        for seed in range(n_draws)
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure one map of one draw."""
    roll, name = Roll.draw(task), str(task.setting["map"])
    places, new_places, measured = roll.X, roll.X_new, []
    if name != DATA:
        model = map_roll(roll, name, float(task.setting[VARIED[name][0]]), task.seed)
        places, new_places = model.embedding_, model.transform(roll.X_new)
        if name == SSDE:
            outward = outward_correlation(model, roll)
            measured.append(Measurement(outward, {}, OUTWARD, unit="number"))
    head = KNeighborsClassifier(K_NEAREST).fit(places, roll.y)
    # Without test points a head is scored on its training points, each left out in turn.
    left_out, new = head.score(None, roll.y), head.score(new_places, roll.y_new)
    correlation = class_correlation(places, roll.coordinates, roll.y)
    return [
        Measurement(float(left_out), {}, LEFT_OUT, n_scored=len(roll.y)),
        Measurement(groups_apart(places, roll.y), {}, GROUPS),
        Measurement(within_share(places, roll.y), {}, WITHIN),
        Measurement(correlation, {}, CORRELATION, unit="number"),
        Measurement(float(new), {}, NEW, n_scored=len(roll.y_new)),
        *measured,
    ]


def groups_apart(places: Array, y: Classes) -> float:
    """Return the share of classes that are farther from all others than any gap within is wide."""
    found = []
    for value in np.unique(y):
        own, others = places[y == value], places[y != value]
        # Equal points would not be an edge of the tree, nor a gap.
        tree = minimum_spanning_tree(cdist(own, own)).data
        found.append(cdist(own, others).min() > tree.max(initial=0.0))
    return float(np.mean(found))


def within_share(places: Array, y: Classes) -> float:
    """Return the part of the variance that is within classes; 0 if each is a single point."""
    centers = np.stack([places[y == value].mean(axis=0) for value in np.unique(y)])
    within = np.sum((places - centers[np.searchsorted(np.unique(y), y)]) ** 2)
    share = float(within / np.sum((places - places.mean(axis=0)) ** 2))
    return share if share > COLLAPSED else 0.0


def class_correlation(places: Array, coordinates: Array, y: Classes) -> float:
    """Return the mean over classes of how distances correlate with those along the roll."""
    if within_share(places, y) == 0:
        return 0.0  # classes are single points
    pairs = [(pdist(places[y == value]), pdist(coordinates[y == value])) for value in np.unique(y)]
    return float(np.mean([np.corrcoef(found, true)[0, 1] for found, true in pairs]))


def outward_correlation(model: Any, roll: Roll) -> float:
    """Return how distance from the middle of all classes correlates with that from the medoid."""
    found = []
    for value, medoid in enumerate(model.medoids_):
        mask = roll.y == value
        places = model.gram_factor_[mask]
        true = np.linalg.norm(roll.coordinates[mask] - roll.coordinates[medoid], axis=1)
        found.append(np.corrcoef(places @ places.mean(axis=0), true)[0, 1])
    return float(np.mean(found))


WHY_NOT_MIXED = {
    BANDS: "The paper prints neither its data nor alpha. Bands are adjacent in the maps of a small "
    "alpha and single points in those of a large one; none mixes them.",
    RANDOM: "Random classes are mixed until alpha is so large that every class is a single point.",
}


def judge(summary: Summary) -> list[Verdict]:
    """Judge both halves of the paper's claim, and two questions of ours."""
    judges = (_judge_mixed, _judge_separated, _judge_shape, _judge_new)
    return [put(summary, classes) for classes in (BANDS, RANDOM) for put in judges]


def _judge_mixed(summary: Summary, classes: str) -> Verdict:
    states, texts = set(), []
    for row in summary.rows_with(LEFT_OUT, classes=classes, map=SLLE):
        groups, within = (summary.row(name, **row.setting) for name in (GROUPS, WITHIN))
        state = "apart" if within.estimate.mean > 0 else "apart, every class a single point"
        if row.estimate.mean < FEW_MIXED:
            state = "mixed"
        elif min(groups.values.values()) < 1:
            state = "adjacent"
        states.add(state)
        texts.append(f"alpha {row.setting['alpha']:g}: {format_estimate(row.estimate)}, {state}")
    return Verdict(
        claim="SLLE mixes the four classes",
        reading=classes,
        why=WHY_NOT_MIXED[classes],
        paper="picture b; alpha not printed",
        found=f"left-out points with their class at {'; '.join(texts)}",
        verdict=judge_if(states == {"mixed"}, bool({"mixed", "adjacent"} & states)),
    )


def _judge_separated(summary: Summary, classes: str) -> Verdict:
    found, texts = {}, []
    for row in summary.rows_with(LEFT_OUT, classes=classes, map=SSDE):
        groups, spread = summary.row(GROUPS, **row.setting), float(row.setting["spread"])
        found[spread] = min(groups.values.values()) == 1 and min(row.values.values()) >= SEPARATED
        texts.append(
            f"spread {spread:g}: {format_estimate(row.estimate)}, "
            f"{format_value(groups.estimate.mean, 'share')} of classes groups of their own"
        )
    return Verdict(
        claim="SSDE separates the four classes clearly",
        reading=classes,
        why="Random classes do not all separate at our default spread, a bound that the paper's "
        "program lacks.",
        paper="picture c",
        found=f"left-out points with their class at {'; '.join(texts)}",
        verdict=judge_if(found[DEFAULT_SPREAD], any(found.values())),
    )


def _judge_shape(summary: Summary, classes: str) -> Verdict:
    """Judge what SSDE at its default shows of a class, and compare with all other maps."""
    row, rest = _default_and_others(summary, CORRELATION, classes)
    share, outward = (summary.row(name, **row.setting).estimate for name in (WITHIN, OUTWARD))
    texts = [f"{_describe(other)} {other.estimate.mean:.2f}" for other in rest]
    mean = row.estimate.mean
    return Verdict(
        claim=f"Classes that SSDE separated still show their shape: {classes}",
        paper="not in the paper",
        found=f"correlation of distances within classes with those on the roll {mean:.2f} at "
        f"spread {DEFAULT_SPREAD:g}, with {format_value(share.mean, 'share')} of the variance "
        f"within classes; how far out a point lies correlates {outward.mean:.2f} with its distance "
        f"from the medoid. Others: {'; '.join(texts)}",
        verdict=judge_if(mean >= RECOGNIZABLE, mean >= TRACE),
    )


def _judge_new(summary: Summary, classes: str) -> Verdict:
    own, rest = _default_and_others(summary, NEW, classes)
    texts = [f"{_describe(row)} {format_value(row.estimate.mean, 'share')}" for row in rest]
    mean, some = own.estimate.mean, (1 / N_CLASSES + TELLING) / 2
    return Verdict(
        claim=f"New rows fall into the class that SSDE separated: {classes}",
        paper="not in the paper",
        found=f"{format_estimate(own.estimate)} at spread {DEFAULT_SPREAD:g}, chance "
        f"{100 / N_CLASSES:.0f} %; {'; '.join(texts)}",
        verdict=judge_if(mean >= TELLING, mean >= some),
    )


def _default_and_others(
    summary: Summary, measure: str, classes: str
) -> tuple[SummaryRow, list[SummaryRow]]:
    """Return the row of SSDE at its default spread, and those of all other maps."""
    own = summary.row(measure, classes=classes, map=SSDE, spread=DEFAULT_SPREAD)
    return own, [row for row in summary.rows_with(measure, classes=classes) if row is not own]


def _describe(row: SummaryRow) -> str:
    name = str(row.setting["map"])
    if name == DATA:
        return "data as they are"
    parameter, _ = VARIED[name]
    return f"{name} {parameter} {row.setting[parameter]:g}"


SEED = 0  # of the picture
NAMES = {BANDS: "four bands", RANDOM: "classes drawn at random"}


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first roll of each kind with three maps, and what spread does to it."""
    n_points = max(int(size) for size in summary.values_of("points"))
    figure = Figure(figsize=(15.0, 13.8), dpi=100, layout="constrained")
    parts = figure.subfigures(4, 1, squeeze=False, height_ratios=[1.1, 1.0, 1.1, 1.0])[:, 0]
    for above, below, classes in zip(parts[::2], parts[1::2], (BANDS, RANDOM), strict=True):
        roll = Roll.draw(Task({"classes": classes, "points": n_points}, SEED))
        spreads = {value: map_roll(roll, SSDE, value, SEED).embedding_ for value in SPREADS}
        maps = {
            f"SLLE, alpha {alpha:g}": map_roll(roll, SLLE, alpha, SEED).embedding_
            for alpha in (0.01, 1.0)
        }
        maps[f"SSDE, spread {DEFAULT_SPREAD:g}"] = spreads[DEFAULT_SPREAD]
        grid = above.add_gridspec(1, 1 + len(maps))
        _draw_roll(above.add_subplot(grid[0], projection="3d"), roll, NAMES[classes])
        for column, (name, places) in enumerate(maps.items(), start=1):
            _draw_map(above.add_subplot(grid[column]), places, roll.y, name, fontsize=12)
        below.suptitle(f"SSDE of the same roll: what spread does ({NAMES[classes]})", fontsize=11)
        panels = below.subplots(1, len(SPREADS))
        for ax, (value, places) in zip(panels, spreads.items(), strict=True):
            _draw_map(ax, places, roll.y, f"spread {value:g}", fontsize=10)
    return figure


def _draw_roll(space: Any, roll: Roll, name: str) -> None:
    _scatter(space, roll.X, roll.y, size=12)
    space.view_init(elev=12, azim=-72)
    space.set_box_aspect(np.ptp(roll.X, axis=0), zoom=1.25)
    space.set(xticklabels=[], yticklabels=[], zticklabels=[])
    space.set_title(f"The roll: {name}", fontsize=12)


def _draw_map(ax: Axes, places: Array, y: Classes, name: str, *, fontsize: int) -> None:
    share = 100 * within_share(places, y)
    text, size = f"{share:{'.0f' if share >= 10 else '.2g'}} % of variance within classes", 10.0
    if share == 0:
        # Hundreds of points in one place: one visible marker is enough.
        places, y = (np.stack([rows[y == v][0] for v in range(N_CLASSES)]) for rows in (places, y))
        text, size = "every class is one point", 90.0
    _scatter(ax, places, y, size=size)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.set_adjustable("datalim")
    ax.margins(0.08)
    ax.spines[:].set_color("#BDBDBD")
    ax.set_title(f"{name}\n{text}", fontsize=fontsize)


def _scatter(ax: Any, places: Array, y: Classes, *, size: float) -> None:
    for value, style in enumerate(class_styles(N_CLASSES)):
        x = places[y == value].T
        ax.scatter(*x, color=style.color, marker=style.marker, s=size, linewidth=0)


FIGURE_1 = Entry(
    name="figure-1",
    title="Four classes on a roll, embedded in the plane by SLLE and by SSDE",
    procedure=PROCEDURE,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
)
