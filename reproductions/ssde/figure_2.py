"""SSDE Fig. 2: precision on the alphadigits against the dimension of the map."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from labelfold.extend import KernelRegression
from labelfold.plotting import class_styles, readable_on_white
from reproductions.curves import OKABE_ITO, draw_curve, name_curves, new_figure
from reproductions.entry import Entry, Measurement, Setting, Task, Verdict, judge_all, judge_if
from reproductions.ssde import maps
from reproductions.ssde.maps import PRECISION, SDE, SLLE, SSDE, Array, Names, Split
from reproductions.summary import Summary, SummaryRow, mean_over_seeds, paired_difference
from reproductions.tables import format_difference, format_estimate

BEST_CASE, CROSS_VALIDATED = "best case", "cross-validated"
RAW, CONTROL = "raw pixels", "one-hot control"
DISTANCE_ERROR = "rms error of squared distances within classes, in %"
GAP = "gap to the dual bound, in %"

N_SPLITS = 10  # section 4.2
N_CHARACTERS, N_CHARACTERS_QUICK = 36, 10
DIMENSIONS = (2, 5, 10, 15, 20, 25, 30, 40, 50, 60)
# What is varied of each method, and the values.
VARIED: dict[str, tuple[str, tuple[float, ...]]] = {
    SSDE: ("spread", maps.SPREADS),
    SDE: ("n_neighbors", (4, 8)),
    SLLE: ("alpha", (0.1, 0.3, 0.5, 1.0)),
    maps.PLAIN_SLLE: ("alpha", (0.5, 1.0)),
}
FIXED: dict[str, dict[str, Any]] = {
    SSDE: {"n_neighbors": 4},
    SLLE: {"n_neighbors": 12},
    maps.PLAIN_SLLE: {"n_neighbors": 12},
}
CHOSEN_AT, N_FOLDS = 30, 3

PROCEDURE = """
The Binary Alphadigits: 39 images of 20 x 16 black and white pixels for each of 36 characters. The
paper calls them USPS, but gives this page and these numbers. As in the paper, a fifth of the images
is drawn for the test, regardless of class, in 10 splits (seeds 0 to 9); precision is the share of
test images that the 3 nearest training images classify correctly. The paper has its precisions in a
picture only: not printed. Seeds from 100 on were used to choose the grids below; SLLE did best with
an alpha of 0.5. An earlier SSDE, with distances of medoids instead of means, was scored on these
splits too, and was below SLLE up to 15 dimensions; that led to this one, which was developed on
seeds 100 to 107. On seeds 200 to 209, drawn afterwards and once, it was ahead of neither the
control nor SLLE in 10 dimensions, and of both by less than below in 30.

Embeddings are fitted once to the training images, in 60 dimensions, and their first coordinates are
used for fewer. Test images are embedded by each estimator's own `transform`, which is kernel
regression for all except PCA. SSDE is `SupervisedSemidefiniteEmbedding` with 4 neighbors; the paper
has no bound on how far apart classes may move, and so no maximum; `class_spread`, in distances of
class means, is ours (default 10). SDE is `MaximumVarianceUnfolding` with 4 and 8 neighbors, its
graph connected by bridges. SLLE is `SupervisedLLE` with 12 neighbors; if classes share no
neighbors, its first vectors can be any basis of the classes' indicators, and it takes the one
ordered by the variance of the data. "SLLE, plain basis" takes what LAPACK returns, as other
implementations do; it depends on rounding, so its figures differ between runs. It was added after
the others had been seen.

"cross-validated" takes, in each split, the spread or alpha with the highest precision at 30
dimensions in three-fold cross-validation within the training images; ties go to the first. "best
case" takes, at each dimension, the value with the highest mean precision on the test images: a
choice with the answers.

The one-hot control is the same kernel regression onto centered one-hot labels, without any
embedding, once with the 3 nearest among the training targets, once with the largest output: SSDE
must beat it to be worth more than the labels it was given.

The classes "0" and "O" are the same 39 images: nobody can tell them apart, and the twin of a test
image, which usually is among the training images, has the other label. The measure "0 and O as one"
counts either answer as right for both; nothing else changes. Distances are those to neighbors of
the same class, in all dimensions of the Gram matrix. Seconds are for one thread on a shared
machine.

"Above" is a difference, split by split, whose whole 80 % interval is above zero.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each map, choice and baseline of each split; quick ones take digits."""
    size: Setting = {"characters": N_CHARACTERS_QUICK if quick else N_CHARACTERS}
    settings: list[Setting] = []
    for method, (name, values) in VARIED.items():
        settings += [{**size, "method": method, name: value} for value in values]
    settings += [{**size, "method": method, "choice": CROSS_VALIDATED} for method in (SSDE, SLLE)]
    settings += [{**size, "method": method} for method in ("PCA", RAW, CONTROL)]
    return [Task(setting, seed) for setting in settings for seed in range(1 if quick else N_SPLITS)]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Score one method on one split, or choose its parameter."""
    split = Split.draw(data_home, int(task.setting["characters"]), task.seed)
    method = str(task.setting["method"])
    if method == RAW:
        return split.measured(split.nearest(split.X, split.X_new), {}, merged=True)
    if method == CONTROL:
        nearest, largest = predict_from_labels(split)
        measured = split.measured(nearest, {"rule": "3-NN"}, merged=True)
        return measured + split.measured(largest, {"rule": "argmax"}, merged=True)
    if "choice" in task.setting:
        return search(split, method, task.seed)
    return measure_map(split, method, task)


def measure_map(split: Split, method: str, task: Task) -> list[Measurement]:
    """Score one map at all dimensions, with its cost and, for SSDE, its certificate."""
    parameters = FIXED.get(method, {})
    if method in VARIED:
        name, _ = VARIED[method]
        parameters = {**parameters, name: task.setting[name]}
    model, places, new_places, numbers = maps.map_images(
        method, split, max(DIMENSIONS), task.seed, **parameters
    )
    merged = method == SLLE or task.setting.get("spread") == maps.DEFAULT_SPREAD
    measured = []
    for d in DIMENSIONS:
        predicted = split.nearest(places[:, :d], new_places[:, :d])
        measured += split.measured(predicted, {"dimension": d}, merged=merged)
    if method == SSDE:
        numbers[DISTANCE_ERROR] = 100 * distance_error(model, split.X)
        numbers[GAP] = 100 * model.certificate_.gap
    costs = [Measurement(value, {}, name, unit="number") for name, value in numbers.items()]
    return measured + costs


def distance_error(model: Any, X: Array) -> float:
    """Return the relative root mean square error of squared distances on the map's edges."""
    first, second = model.edges_.T
    asked, found = (
        np.sum((places[first] - places[second]) ** 2, axis=1) for places in (X, model.gram_factor_)
    )
    return float(np.linalg.norm(found - asked) / np.linalg.norm(asked))


def predict_from_labels(split: Split) -> tuple[Names, Names]:
    """Predict classes by the same regression on the labels themselves, without any embedding."""
    classes = np.unique(split.y)
    targets = (split.y[:, None] == classes).astype(float)
    targets -= targets.mean(axis=0)
    regressed = KernelRegression.fit(split.X, targets).predict(split.X_new)
    return split.nearest(targets, regressed), classes[regressed.argmax(axis=1)]


def search(split: Split, method: str, seed: int | None) -> list[Measurement]:
    """Choose a method's parameter by cross-validation within the training images."""
    name, values = VARIED[method]
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(split.X, split.y))
    scores = []
    for value in values:
        n_right = 0.0
        for kept, left in folds:
            part = Split(split.X[kept], split.y[kept], split.X[left], split.y[left])
            parameters = {**FIXED[method], name: value}
            _, places, new_places, _ = maps.map_images(method, part, CHOSEN_AT, seed, **parameters)
            n_right += len(left) * part.score(part.nearest(places, new_places))
        scores.append(n_right / len(split.y))
    chosen = Measurement(values[int(np.argmax(scores))], {}, f"chosen {name}", unit="choice")
    return [chosen] + [
        Measurement(score, {name: value}, "precision in cross-validation", n_scored=len(split.y))
        for value, score in zip(values, scores, strict=True)
    ]


def derive(summary: Summary) -> list[SummaryRow]:
    """Derive the rows of the chosen parameter, split by split, and of the best case."""
    derived = []
    for method, measure, dimension in product(VARIED, (PRECISION, maps.MERGED), DIMENSIONS):
        name, values = VARIED[method]
        rows = summary.rows_with(measure, method=method, dimension=dimension)
        tried = {row.setting[name]: row for row in rows}
        if len(tried) < len(values):
            continue
        best = max(rows, key=lambda row: row.estimate.mean)
        setting = {key: value for key, value in best.setting.items() if key != name}
        derived.append(replace(best, setting={**setting, "choice": BEST_CASE}))
        for chosen in summary.rows_with(f"chosen {name}", method=method):
            found = {seed: tried[value].values[seed] for seed, value in chosen.values.items()}
            estimate = mean_over_seeds(list(found.values()))
            own = {**setting, "choice": CROSS_VALIDATED}
            derived.append(replace(best, setting=own, values=found, estimate=estimate))
    return derived


BARS = {10: 0.70, 30: 0.73}  # set before the run
UP_TO = 30
KEPT = 0.1  # percent, the solver's tolerance
AS_ONE = {PRECISION: "", maps.MERGED: ", with 0 and O as one class"}
OURS = "not in the paper"
DEFAULT: Setting = {"method": SSDE, "spread": maps.DEFAULT_SPREAD}
CHOSEN_SLLE: Setting = {"method": SLLE, "choice": CROSS_VALIDATED}
BEST_PLAIN: Setting = {"method": maps.PLAIN_SLLE, "choice": BEST_CASE}
BEST_SDE: Setting = {"method": SDE, "choice": BEST_CASE}
RIVALS: tuple[tuple[str, str, Setting, str], ...] = (
    (SLLE, f"alpha {CROSS_VALIDATED}", CHOSEN_SLLE, PRECISION),
    (SLLE, f"{BEST_CASE} of alpha", {"method": SLLE, "choice": BEST_CASE}, PRECISION),
    (SLLE, f"alpha {CROSS_VALIDATED}", CHOSEN_SLLE, maps.MERGED),
    (SLLE, f"plain basis, {BEST_CASE} of alpha", BEST_PLAIN, PRECISION),
    (SDE, "4 neighbors", {"method": SDE, "n_neighbors": 4}, PRECISION),
    (SDE, f"{BEST_CASE} of 4 and 8 neighbors", BEST_SDE, PRECISION),
    ("PCA", "", {"method": "PCA"}, PRECISION),
)
WHY = (
    "The paper does not say which basis its SLLE takes. In the one ordered by variance SLLE is "
    "ahead of SSDE in 2 dimensions and level with it in 5 and 10; in the one that LAPACK returns "
    "SSDE is above it everywhere."
)
Rows = dict[int, SummaryRow]  # by dimension


def judge(summary: Summary) -> list[Verdict]:
    """Judge SSDE at its default spread against all others."""
    if not _maps(summary):
        return []
    return [
        _judge_bars(_maps(summary)),
        *(_judge_rival(summary, *rival) for rival in RIVALS),
        _judge_raw(summary),
        _judge_choice(summary),
        _judge_control(summary, PRECISION),
        _judge_control(summary, maps.MERGED),
        _judge_distances(summary),
    ]


def _rows(summary: Summary, measure: str, setting: Setting) -> Rows:
    rows = summary.rows_with(measure, **setting)
    return {int(row.setting["dimension"]): row for row in rows}


def _maps(summary: Summary, measure: str = PRECISION) -> Rows:
    """Return the rows of SSDE at its default spread."""
    return _rows(summary, measure, DEFAULT)


def _chosen(summary: Summary) -> Rows:
    return _rows(summary, PRECISION, {"method": SSDE, "choice": CROSS_VALIDATED})


def _best(rows: Rows) -> int:
    return max(rows, key=lambda dimension: rows[dimension].estimate.mean)


def _is_above(first: SummaryRow, second: SummaryRow) -> bool:
    """Return whether the difference is above zero with its whole interval."""
    return paired_difference(first, second).ends[0] > 0


def _difference(first: SummaryRow, second: SummaryRow) -> str:
    return format_difference(paired_difference(first, second))


def _judge_bars(ours: Rows) -> Verdict:
    texts = [f"{d} dimensions {format_estimate(ours[d].estimate)}" for d in BARS]
    best = _best(ours)
    return Verdict(
        claim="SSDE has a precision of at least 70 % in 10 dimensions and 73 % in 30",
        paper=f"{OURS}: bars set before the run",
        found=f"{'; '.join(texts)}; highest at {best}, a best case: "
        f"{format_estimate(ours[best].estimate)}",
        verdict=judge_all([ours[d].estimate.mean >= bar for d, bar in BARS.items()]),
    )


def _judge_rival(
    summary: Summary, name: str, reading: str, setting: Setting, measure: str
) -> Verdict:
    rival = _rows(summary, measure, setting)
    ours = {d: row for d, row in _maps(summary, measure).items() if d <= UP_TO}
    above = [d for d, row in ours.items() if _is_above(row, rival[d])]
    below = [d for d, row in ours.items() if _is_above(rival[d], row)]
    listed, other = (", ".join(map(str, some)) or "none" for some in (above, below))
    texts = [f"{d}: {_difference(row, rival[d])}" for d, row in ours.items()]
    is_papers = name != "PCA" and measure == PRECISION
    return Verdict(
        claim=f"SSDE is above {name}, at every dimension up to {UP_TO}{AS_ONE[measure]}",
        paper="picture only: not printed" if is_papers else OURS,
        found=f"above at {listed}, below at {other}. Differences by dimension: {'; '.join(texts)}",
        verdict=judge_all([d in above for d in ours]),
        reading=reading,
        why=WHY,
    )


def _judge_raw(summary: Summary) -> Verdict:
    ours, raw = _maps(summary), summary.row(PRECISION, method=RAW)
    texts = [f"{d} dimensions {_difference(ours[d], raw)}" for d in BARS]
    first = min((d for d, row in ours.items() if _is_above(row, raw)), default=0)
    since = f"above from {first} dimensions on" if first else "above at no dimension"
    return Verdict(
        claim="SSDE is above 3-NN on the raw pixels, in 10 dimensions and in 30",
        paper=OURS,
        found=f"raw {format_estimate(raw.estimate)}; {'; '.join(texts)}; {since}",
        verdict=judge_all([_is_above(ours[d], raw) for d in BARS]),
    )


def _judge_choice(summary: Summary) -> Verdict:
    """Judge whether choosing the spread is worth its cost."""
    ours, chosen = _maps(summary), _chosen(summary)
    picked = list(summary.row("chosen spread", method=SSDE).values.values())
    counts = [f"{value:g} ({picked.count(value)})" for value in sorted(set(picked))]
    texts = [
        f"{d} dimensions {format_estimate(chosen[d].estimate)}, {_difference(chosen[d], ours[d])}"
        for d in BARS
    ]
    return Verdict(
        claim="A spread chosen by cross-validation is above the default of 10",
        paper=OURS,
        found=f"{'; '.join(texts)}; chosen, with the number of splits: {', '.join(counts)}",
        verdict=judge_all([_is_above(chosen[d], ours[d]) for d in BARS]),
    )


def _judge_control(summary: Summary, measure: str) -> Verdict:
    ours = _maps(summary, measure)
    controls = {r: summary.row(measure, method=CONTROL, rule=r) for r in ("3-NN", "argmax")}

    def against(row: SummaryRow) -> str:
        gaps = ", ".join(f"{_difference(row, one)} to {rule}" for rule, one in controls.items())
        return f"{format_estimate(row.estimate)}, {gaps}"

    facts = []
    texts = [", ".join(f"{rule} {format_estimate(c.estimate)}" for rule, c in controls.items())]
    best = _best(ours)
    for d in dict.fromkeys((*BARS, best)):
        facts.append(all(_is_above(ours[d], control) for control in controls.values()))
        kind = f", a {BEST_CASE}" if d == best else ""
        texts.append(f"SSDE in {d} dimensions{kind}: {against(ours[d])}")
    if measure == PRECISION:
        chosen = _chosen(summary)
        texts += [f"spread {CROSS_VALIDATED}, {d}: {against(chosen[d])}" for d in BARS]
    else:
        texts.append(f"raw pixels {format_estimate(summary.row(maps.MERGED, method=RAW).estimate)}")
    return Verdict(
        claim=f"SSDE is above the same regression on one-hot labels{AS_ONE[measure]}",
        paper=OURS,
        found=f"control {'; '.join(texts)}",
        verdict=judge_all(facts),
    )


def _judge_distances(summary: Summary) -> Verdict:
    error, gap = (
        max(summary.row(measure, **DEFAULT).values.values()) for measure in (DISTANCE_ERROR, GAP)
    )
    return Verdict(
        claim="Distances to neighbors of the same class are kept",
        paper="constraint of Table 1",
        found=f"squared distances to {error:.2g} % in the worst split; at most {gap:.2g} % of the "
        "variance left to gain",
        verdict=judge_if(error <= KEPT, error <= 1),
    )


BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, _, BLACK = OKABE_ITO
GRAY = "#8C8C8C"
CURVES: dict[str, tuple[Setting, str]] = {
    f"SSDE, spread {maps.DEFAULT_SPREAD:g}": (DEFAULT, BLUE),
    f"SLLE, alpha {CROSS_VALIDATED}": (CHOSEN_SLLE, VERMILLION),
    f"{maps.PLAIN_SLLE}, {BEST_CASE}": (BEST_PLAIN, ORANGE),
    "PCA": ({"method": "PCA"}, GREEN),
    f"SDE, {BEST_CASE}": (BEST_SDE, PURPLE),
}
# With the position of the name along the line, and whether it is above.
LEVELS: dict[str, tuple[Setting, str, float, bool]] = {
    "one-hot control": ({"method": CONTROL, "rule": "argmax"}, BLACK, 0.5, True),
    "raw pixels, 3-NN": ({"method": RAW}, GRAY, 22.0, False),
}
SHAPE = (20, 16)  # of an image
CANVAS = 1700  # pixels per side
ZOOM = 2
MOST = 250
ROOM = 2  # percent above the curves, for their names
ABOVE = 0.9  # percent between a line and its name
SEED = 0  # of the split whose training images are shown


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw precision against dimension, and at the right the images, if there is a data folder."""
    figure = new_figure(1 if data_home is None else 2, width=9.0, height=8.0)
    _draw_curves(figure.axes[0], summary)
    if data_home is not None:
        n_characters = max(int(value) for value in summary.values_of("characters"))
        _draw_images(figure.axes[1], Split.draw(data_home, n_characters, SEED))
    return figure


def _draw_curves(ax: Axes, summary: Summary) -> None:
    for name, (setting, color) in CURVES.items():
        rows = summary.rows_with(PRECISION, **setting)
        rows.sort(key=lambda row: int(row.setting["dimension"]))
        if rows:
            draw_curve(ax, rows, "dimension", name=name, color=color)
    last = max(int(value) for value in summary.values_of("dimension"))
    for name, (setting, color, place, is_above) in LEVELS.items():
        for row in summary.rows_with(PRECISION, **setting):
            level = 100 * row.estimate.mean
            ax.plot([0, last], [level, level], "--", color=color, linewidth=1.5)
            at, align = (level + ABOVE, "bottom") if is_above else (level - ABOVE, "top")
            ax.text(place, at, name, color=readable_on_white(color), va=align)
            low, high = (100 * end for end in row.estimate.ends)
            ax.fill_between([0, last], low, high, color=color, alpha=0.12, linewidth=0)
    ax.set(xlabel="dimension of the map", ylabel="precision of 3-NN on test images, %")
    ax.set_title("Mean of the splits; bars and bands: 80 % intervals", fontsize=12)
    ax.set(xlim=(0, last + 1), ylim=(ax.get_ylim()[0], ax.get_ylim()[1] + ROOM))
    name_curves(ax)


def _draw_images(ax: Axes, split: Split) -> None:
    """Draw training images on a map of two dimensions, without overlap."""
    _, places = maps.fit_map(SSDE, split.X, split.y, 2, SEED, spread=maps.DEFAULT_SPREAD)
    chosen, corners = place_thumbnails(places)
    ax.imshow(paint(split.X[chosen], split.y[chosen], corners, np.unique(split.y)))
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    title = f"{len(chosen)} of {len(split.y):,} training images on the 2-dimensional SSDE map "
    ax.set_title(title + "(8 colors in turns)", fontsize=12)


def place_thumbnails(places: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Choose images that do not overlap; return them and their upper left corners."""
    height, width = (ZOOM * side for side in SHAPE)
    low, extent = places.min(axis=0), float(np.ptp(places, axis=0).max())
    room = CANVAS - max(height, width)
    middle = (room - room * np.ptp(places, axis=0) / extent) / 2
    x, y = (room * (places - low) / extent + middle).T
    corners = np.column_stack([room - y, x]).round().astype(np.intp)
    chosen: list[int] = []
    for row in np.random.default_rng(SEED).permutation(len(places)):
        apart = np.abs(corners[chosen] - corners[row])
        if len(chosen) < MOST and np.all((apart[:, 0] >= height) | (apart[:, 1] >= width)):
            chosen.append(int(row))
    picked = np.array(chosen)
    return picked, corners[picked]


def paint(X: Array, y: Names, corners: NDArray[np.intp], classes: Names) -> NDArray[np.uint8]:
    """Return the canvas with the images in the colors of their classes."""
    canvas = np.full((CANVAS, CANVAS, 3), 255, dtype=np.uint8)
    styles = dict(zip(classes, class_styles(len(classes)), strict=True))
    for pixels, name, (top, left) in zip(X, y, corners, strict=True):
        ink = np.kron(pixels.reshape(SHAPE), np.ones((ZOOM, ZOOM))) > 0
        color = styles[name].text_color
        rgb = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
        canvas[top : top + ink.shape[0], left : left + ink.shape[1]][ink] = rgb
    return canvas


FIGURE_2 = Entry(
    name="figure-2",
    title="Precision on the alphadigits against the dimension of the map",
    procedure=PROCEDURE,
    tasks=list_tasks,
    run=run,
    judge=judge,
    derive=derive,
    draw=draw,
    needs_data=True,
)
