"""The toys of CCDR-MC: two long classes (Fig. 1), and two concentric circles (section I)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from labelfold.classify import ManifoldClassifier
from labelfold.datasets import make_concentric_circles
from labelfold.evaluate import draw_labeled
from labelfold.labels import hide_labels
from labelfold.plotting import class_styles, readable_on_white
from labelfold.spectral import CCDR, LaplacianEigenmaps, MarginalFisherAnalysis
from reproductions.curves import OKABE_ITO
from reproductions.entry import Entry, Measurement, Setting, Task, Verdict, judge_all
from reproductions.summary import Summary
from reproductions.tables import format_estimate, format_value

Array = NDArray[np.float64]
Classes = NDArray[np.int64]
N_DRAWS = 20

N_TRAIN, N_TEST = 200, 1000
LONG, SHORT = 3.0, 0.5  # standard deviations of a class along e_1: the figure's, and a control
DISTANCE, WIDTH = 1.0, 0.35  # along e_2: of a class mean from the middle, and standard deviation
TILT = np.deg2rad(30)  # of e_1, so no axis of the data is a feature
E_1 = np.array([np.cos(TILT), np.sin(TILT)])
E_2 = np.array([-np.sin(TILT), np.cos(TILT)])
METHODS = ("PCA", "LDA", "MFA")
BEST = "e_2"
ANGLE = "angle to e_2 in degrees"

# Numbers for words of the paper.
RIGHT_ANGLE, SMALL_ANGLE = 80.0, 5.0
SEVERE, SAME = 0.4, 0.01

LONG_PROCEDURE = f"""
The paper has a drawing and no figures. Here two classes of Gaussian points in the plane lie side by
side: along e_1 both have mean 0 and standard deviation {LONG:g}, along e_2 means of -{DISTANCE:g}
and {DISTANCE:g} and standard deviation {WIDTH:g}. Only e_2 separates the classes, and most variance
is along e_1. As a control the classes are also drawn with standard deviation {SHORT:g} along e_1,
where most variance is along e_2.

Each method finds one direction from {N_TRAIN} labeled points, and {N_TEST:,} new ones are
classified by the nearer class mean of the training points' projections. "{BEST}" projects onto e_2
itself. LDA is named in section III.B; marginal Fisher analysis (MFA), without a kernel, is reviewed
there, and its rows are ours. {N_DRAWS} draws; the picture shows the first.

"Severe degradation" means an error of at least 40 %, and "projects onto e_2" an angle of at most
{SMALL_ANGLE:g} degrees and an error within 1 point of that on e_2.
"""


@dataclass(frozen=True, eq=False)
class LongClasses:
    """Points to learn from, and new rows to score."""

    X: Array
    y: Classes
    X_new: Array
    y_new: Classes

    @classmethod
    def of(cls, task: Task) -> LongClasses:
        """Draw the points of a task, equally many of each class."""
        rng = np.random.default_rng([task.seed or 0, N_TRAIN])
        y = np.arange(N_TRAIN + N_TEST) % 2
        along = float(task.setting["length"]) * rng.standard_normal(len(y))
        across = DISTANCE * (2 * y - 1) + WIDTH * rng.standard_normal(len(y))
        X = np.outer(along, E_1) + np.outer(across, E_2)
        return cls(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])

    def error_along(self, direction: Array) -> float:
        """Return the error on new rows of the nearer class mean in one projection."""
        head = NearestCentroid().fit(self.X @ direction[:, np.newaxis], self.y)
        predicted = head.predict(self.X_new @ direction[:, np.newaxis])
        return float(np.mean(predicted != self.y_new))


def list_long(quick: bool) -> list[Task]:
    """List one task for each kind of classes and draw."""
    n_draws = 2 if quick else N_DRAWS
    return [Task({"length": length}, seed) for length in (LONG, SHORT) for seed in range(n_draws)]


def run_long(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the direction of every method, and the error on it."""
    points = LongClasses.of(task)
    directions = find_directions(points)
    measurements = [
        Measurement(points.error_along(direction), {"method": name}, n_scored=N_TEST)
        for name, direction in {**directions, BEST: E_2}.items()
    ]
    return measurements + [
        Measurement(angle_between(direction, E_2), {"method": name}, ANGLE, unit="number")
        for name, direction in directions.items()
    ]


def find_directions(points: LongClasses) -> dict[str, Array]:
    """Return the unit vector that each method projects onto."""
    models: dict[str, Any] = {
        "PCA": PCA(1),
        "LDA": LinearDiscriminantAnalysis(n_components=1),
        "MFA": MarginalFisherAnalysis(1),
    }
    directions = {}
    for name, model in models.items():
        model.fit(points.X, points.y)
        slopes = (model.transform(np.eye(2)) - model.transform(np.zeros((2, 2)))).ravel()
        # Upward, so pictures have the classes in one order.
        directions[name] = slopes * np.copysign(1 / np.linalg.norm(slopes), slopes[1])
    return directions


def angle_between(first: Array, second: Array) -> float:
    """Return the angle between two lines through the origin, from 0 to 90 degrees."""
    along, across = first @ second, first[0] * second[1] - first[1] * second[0]
    return float(np.rad2deg(np.arctan2(abs(across), abs(along))))


def judge_long(summary: Summary) -> list[Verdict]:
    """Judge the paper's claims on PCA and LDA, then marginal Fisher analysis and the control."""

    def put(claim: str, paper: str, length: float, method: str, is_lost: bool = False) -> Verdict:
        angle = summary.row(ANGLE, length=length, method=method).estimate
        error = summary.row(length=length, method=method).estimate
        best = summary.row(length=length, method=BEST).estimate
        is_found = angle.mean <= SMALL_ANGLE and error.mean <= best.mean + SAME
        is_so = angle.mean >= RIGHT_ANGLE and error.mean >= SEVERE if is_lost else is_found
        found = f"{format_estimate(angle, 'number')} degrees from e_2, error "
        found += f"{format_estimate(error)}; on e_2 itself {format_estimate(best)}"
        return Verdict(claim, paper, found, judge_all([is_so]))

    severe, ours = "may result in severe degradation; drawing", "not in the paper"
    removes = "PCA removes the direction that separates the classes"
    control = "Ours: if classes are short, PCA projects onto e_2 as well"
    return [
        put(removes, severe, LONG, "PCA", is_lost=True),
        put("LDA projects onto e_2", "selects e_2; drawing", LONG, "LDA"),
        put("Ours: marginal Fisher analysis projects onto e_2 too", ours, LONG, "MFA"),
        put(control, ours, SHORT, "PCA"),
    ]


def draw_long(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first draw with its axes, and what is left of it on each direction."""
    drawn = LongClasses.of(Task({"length": LONG}, 0))
    directions = find_directions(drawn)
    figure = Figure(figsize=(12.0, 5.6), dpi=100, layout="constrained")
    grid = figure.add_gridspec(len(METHODS), 2, width_ratios=[1.25, 1.0])
    _draw_plane(figure.add_subplot(grid[:, 0]), drawn, directions)
    for place, (name, direction) in enumerate(directions.items()):
        ax = figure.add_subplot(grid[place, 1])
        _draw_projection(ax, drawn, direction)
        error = 100 * drawn.error_along(direction)
        ax.set_title(f"Projected by {name}: {error:.1f} % of new rows wrong", fontsize=11)
    return figure


def _draw_plane(ax: Axes, drawn: LongClasses, directions: dict[str, Array]) -> None:
    for value, (style, marker) in enumerate(zip(class_styles(2), "ov", strict=True)):
        x, y = drawn.X[drawn.y == value].T
        ax.scatter(x, y, 16, color=style.color, marker=marker, label=f"class {value + 1}")
    for name, axis, reach in (("$e_1$", E_1, 9.0), ("$e_2$", E_2, 6.0)):
        x, y = axis.tolist()
        arrow = {"arrowstyle": "->", "color": "black", "linewidth": 1.2}
        ax.annotate("", (reach * x, reach * y), (-reach * x, -reach * y), arrowprops=arrow)
        beyond = reach + 0.6
        ax.annotate(name, (beyond * x, beyond * y), ha="center", va="center", fontsize=13)
    # Long lines behind short ones, so equal directions are all visible.
    reaches, offsets = (8.0, 5.0, 3.6), ((-24, 26), (8, 0), (8, 0))
    lines = zip(directions.items(), OKABE_ITO[2:], reaches, offsets, strict=False)
    for (name, direction), color, reach, offset in lines:
        x, y = (-reach * direction).tolist()
        ax.plot([x, -x], [y, -y], color=color, linewidth=4, alpha=0.8, zorder=1)
        text_color = readable_on_white(color)
        ax.annotate(name, (x, y), offset, textcoords="offset points", color=text_color, va="top")
    ax.set(aspect="equal", xlim=(-9.5, 9.5), ylim=(-7.5, 7.0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.legend(frameon=False, loc="upper left")


def _draw_projection(ax: Axes, drawn: LongClasses, direction: Array) -> None:
    places = drawn.X_new @ direction
    bins = [float(edge) for edge in np.linspace(places.min(), places.max(), 60)]
    for value, style in enumerate(class_styles(2)):
        ax.hist(places[drawn.y_new == value], bins, color=style.color, alpha=0.7)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set(yticks=[])


FIGURE_1 = Entry(
    name="figure-1",
    title="One direction of two long classes, by PCA, LDA and MFA",
    procedure=LONG_PROCEDURE,
    tasks=list_long,
    run=run_long,
    judge=judge_long,
    draw=draw_long,
)


N_POINTS, N_NEW = 400, 1000
FEW = 20
NOISES = (0.15, 0.2)
LINEAR_MAPS = ("PCA", "LDA", "MFA")
OTHER_MAPS = ("kernel MFA", "Laplacian", "CCDR")
FAILS, SEPARATES = 0.4, 0.05  # errors; guessing has 0.5

CIRCLES_PROCEDURE = f"""
The introduction says of two classes on concentric circles that PCA offers no reduction for them,
and has no figures. Here the circles have radius 1 and 2, {N_POINTS} points, and Gaussian noise of
0.15 (the circles stay separate: hardly a point is nearer to the other one) or of 0.2 (a few fill
the gap, and the best rule, by the radius, has an error of about 0.6 %). Embeddings in one and two
dimensions: PCA; LDA, which has one for two classes; marginal Fisher analysis (MFA) without and with
a Gaussian kernel (5 neighbors within, 10 between classes, gamma 0.5); Laplacian eigenmaps and CCDR
with 12 neighbors and β = 1. Parameters are the same in all cases, without a search. The
head is least squares with an intercept, fitted on the labeled points.

With {FEW} labels, as many of each class, the error is that on the other {N_POINTS - FEW} points,
which are part of the map of the Laplacian and of CCDR. With all {N_POINTS} labeled it is that on
{N_NEW:,} new rows, embedded by `transform`. No labeled point is scored. {N_DRAWS} draws; the
picture shows the first, with the share of unlabeled points that are wrong. "Fails" means an error
of at least 40 %, when guessing has 50 %, and "separates" one of at most 5 %. All claims except that
on PCA are ours.
"""


@dataclass(frozen=True, eq=False)
class Circles:
    """Points of a map, which of them are labeled, and new rows."""

    X: Array
    y: Classes
    labeled: NDArray[np.bool_]
    X_new: Array
    y_new: Classes

    @classmethod
    def draw(cls, task: Task) -> Circles:
        """Draw the circles of a task; few and many labels are given to the same points."""
        noise, n_labels = float(task.setting["noise"]), int(task.setting["labels"])
        seeds = np.random.default_rng([task.seed or 0, N_POINTS]).integers(2**31, size=3)
        # Separately: if drawn together, the new rows have the classes that the others lack, # and a
        # head that learned nothing would do worse than guessing.
        (X, y, _), (X_new, y_new, _) = (
            make_concentric_circles(n, noise=noise, random_state=int(seed))
            for n, seed in zip((N_POINTS, N_NEW), seeds, strict=False)
        )
        labeled = np.ones(N_POINTS, dtype=bool)
        if n_labels < N_POINTS:
            rows = draw_labeled(y, n_labels, random_state=int(seeds[2]))
            labeled = np.isin(np.arange(N_POINTS), rows)
        return cls(X, y, labeled, X_new, y_new)

    def fit(self, name: str, dimension: int) -> ManifoldClassifier:
        """Return a map with a linear head on its labeled points."""
        neighbors = {"n_neighbors_within": 5, "n_neighbors_between": FEW // 2}
        maps: dict[str, Any] = {
            "PCA": PCA(dimension),
            "LDA": LinearDiscriminantAnalysis(n_components=dimension),
            "MFA": MarginalFisherAnalysis(dimension, **neighbors),
            "kernel MFA": MarginalFisherAnalysis(dimension, kernel="rbf", gamma=0.5, **neighbors),
            "Laplacian": LaplacianEigenmaps(dimension, n_neighbors=12),
            "CCDR": CCDR(dimension, n_neighbors=12, beta=1.0),
        }
        model = ManifoldClassifier(maps[name], head="linear")
        return model.fit(self.X, hide_labels(self.y, self.labeled))

    def score(self, model: ManifoldClassifier) -> tuple[float, int]:
        """Return the error on unlabeled points, and their number."""
        hidden = ~self.labeled
        if hidden.any():
            wrong = model.transduction_[hidden] != self.y[hidden]
        else:
            wrong = model.predict(self.X_new) != self.y_new
        return float(np.mean(wrong)), len(wrong)


def list_circles(quick: bool) -> list[Task]:
    """List one task for each noise, number of labels and draw."""
    return [
        Task({"noise": noise, "labels": n_labels}, seed)
        for noise in NOISES
        for n_labels in (FEW, N_POINTS)
        for seed in range(1 if quick else N_DRAWS)
    ]


def run_circles(task: Task, data_home: Path | None) -> list[Measurement]:
    """Measure the error of a linear head on every map."""
    circles = Circles.draw(task)
    measurements = []
    for name in LINEAR_MAPS + OTHER_MAPS:
        for dimension in (1,) if name == "LDA" else (1, 2):
            error, n_scored = circles.score(circles.fit(name, dimension))
            about: Setting = {"map": name, "dimension": dimension}
            measurements.append(Measurement(error, about, n_scored=n_scored))
    return measurements


def judge_circles(summary: Summary) -> list[Verdict]:
    """Judge the paper's claim on PCA, and the other maps."""
    claims = {"PCA": "PCA does not reduce the dimension of the circles for classification"}
    claims |= {name: f"Ours: {name} fails on the circles as PCA does" for name in ("LDA", "MFA")}
    claims |= {name: f"Ours: {name} separates the circles for a linear head" for name in OTHER_MAPS}
    verdicts = []
    for name, claim in claims.items():
        paper = "will not be able to; no figures" if name == "PCA" else "not in the paper"
        facts, texts = [], dict[str, list[str]]()
        for row in summary.rows_with(map=name):
            error, setting = row.estimate.mean, row.setting
            facts.append(error >= FAILS if name in LINEAR_MAPS else error <= SEPARATES)
            case = f"noise {setting['noise']:g}, {setting['labels']} labels"
            text = f"{format_value(error, 'share')} in {setting['dimension']}-D"
            texts.setdefault(case, []).append(text)
        found = "; ".join(f"{case}: {', '.join(errors)}" for case, errors in texts.items())
        verdicts.append(Verdict(claim, paper, found, judge_all(facts)))
    return verdicts


def draw_circles(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first circles with few labels, and three maps of each."""
    figure = Figure(figsize=(14.0, 7.4), dpi=100, layout="constrained")
    panels = figure.subplots(len(NOISES), 1 + len(OTHER_MAPS))
    for row, noise in zip(panels, NOISES, strict=True):
        circles = Circles.draw(Task({"noise": noise, "labels": FEW}, 0))
        _scatter(row[0], circles, circles.X)
        row[0].set_title(f"noise {noise:g}; {FEW} points labeled (outlined)", fontsize=11)
        for number, place, style in zip((1, 2), (0, 2.8), class_styles(2), strict=True):
            where: dict[str, Any] = {"xy": (0, place), "ha": "center", "va": "center"}
            row[0].annotate(f"class {number}", **where, color=style.text_color)
        for ax, name in zip(row[1:], OTHER_MAPS, strict=True):
            model = circles.fit(name, 2)
            _scatter(ax, circles, model.embedding_)
            here = 100 * circles.score(model)[0]
            found = summary.row(noise=noise, labels=FEW, map=name, dimension=2).estimate
            text = f"{here:.1f} % wrong here, {100 * found.mean:.1f} % on average"
            ax.set_title(f"{name}\n{text}", fontsize=11)
    return figure


def _scatter(ax: Axes, circles: Circles, places: Array) -> None:
    for value, (style, marker) in enumerate(zip(class_styles(2), "ov", strict=True)):
        for of_kind, size, edge in ((~circles.labeled, 14, "none"), (circles.labeled, 45, "black")):
            x, y = places[(circles.y == value) & of_kind].T
            ax.scatter(x, y, size, color=style.color, marker=marker, edgecolor=edge)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#BDBDBD")
    if places is circles.X:
        ax.set(aspect="equal", xlim=(-3.1, 3.1), ylim=(-3.1, 3.1))


CIRCLES = Entry(
    name="circles",
    title="Errors of a linear head on maps of two concentric circles",
    procedure=CIRCLES_PROCEDURE,
    tasks=list_circles,
    run=run_circles,
    judge=judge_circles,
    draw=draw_circles,
)
