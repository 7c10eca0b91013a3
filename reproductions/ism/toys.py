"""ISM section 5: half-moons and a roll with one label a class, against support vector machines."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import DisconnectedGraphWarning, InfeasibleMapWarning
from labelfold.labels import hide_labels
from labelfold.plotting import class_styles
from labelfold.semidefinite import IsometricSeparationMap
from reproductions.entry import Entry, Measurement, Task, Verdict, judge_all
from reproductions.ism.figure_1_separation_picture import scatter_by_class
from reproductions.ism.maps import N_NEIGHBORS
from reproductions.ism.separations import OBJECTIVES
from reproductions.summary import Summary, paired_difference
from reproductions.tables import format_difference, format_estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TOYS"]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]
Classes = NDArray[np.int64]

MOONS, ROLL = "half-moons", "roll"
N_POINTS = {MOONS: 200, ROLL: 1500}
N_POINTS_QUICK = {MOONS: 200, ROLL: 400}
N_DRAWS, N_DRAWS_QUICK = {MOONS: 20, ROLL: 10}, {MOONS: 2, ROLL: 2}
NOISE = 0.05  # of the half-moons

ISM_RULES = {f"ISM, objective {objective}": objective for objective in OBJECTIVES}
PATHS = "nearest label by shortest path"
LINEAR, GAUSSIAN = "linear SVM", "Gaussian SVM"
BEST_LINEAR, BEST_GAUSSIAN = f"{LINEAR}, best case", f"{GAUSSIAN}, best case"
BEST_CASES = (BEST_LINEAR, BEST_GAUSSIAN)
PENALTIES = (0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.3, 1.0, 3.0)  # gamma, in units of scikit-learn's default

PROCEDURE = """
The paper says nothing of these experiments but that ISM "obviously behaves better than SVM", in "a
trivial and not a fair comparison". Here the half-moons are scikit-learn's, 200 points with noise of
0.05 (20 draws), and the roll has 1,500 points and two classes, its inner and its outer half (10
draws). One point of each class, drawn at random, is labelled; errors are on all others.

ISM is `IsometricSeparationMap` at the library's defaults: 5 neighbours, margin 0.3, rank as needed,
0.1 % on squared distances. The graph of the half-moons falls apart and is joined by its shortest
bridges. With two labels the map starts from shortest paths along the graph, and the nearest label
by such a path is a rule of its own; its row tells what of ISM's success is the graph's.

The machines are scikit-learn's `SVC` at its defaults, and in the best case, which is the least
error on the very points that are scored, over penalties of 0.1 to 100 and three widths. With one
label a class it makes no difference: any such machine, linear or Gaussian, parts the points halfway
between the two labels. "Better" is a difference below zero with its whole 80 % interval.
"""


@dataclass(frozen=True, eq=False)
class Toy:
    """Points, their classes, where to draw them, and one labelled row a class."""

    X: Array
    y: Classes
    places: Array
    labeled: Numbers

    @classmethod
    def draw(cls, task: Task) -> Toy:
        """Draw the points of a task, and a labelled one of each class."""
        n_points, seed = int(task.setting["points"]), task.seed
        if task.setting["toy"] == MOONS:
            X, y = make_moons(n_points, noise=NOISE, random_state=seed)
            places = X
        else:
            X, y, places = make_swiss_roll(n_points, n_bands=2, random_state=seed)
        rng = np.random.default_rng(seed)
        labeled = np.array([rng.choice(np.flatnonzero(y == value)) for value in (0, 1)])
        return cls(X, y, places, labeled)

    def error(self, labels: NDArray[Any]) -> float:
        """Return the share of wrong labels, the given ones left aside."""
        return float(np.mean(np.delete(labels != self.y, self.labeled)))


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each draw of each toy."""
    sizes, n_draws = (N_POINTS_QUICK, N_DRAWS_QUICK) if quick else (N_POINTS, N_DRAWS)
    return [
        Task({"toy": name, "points": n_points}, seed)
        for name, n_points in sizes.items()
        for seed in range(n_draws[name])
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Label one draw by all rules."""
    toy = Toy.draw(task)
    models = {name: separate(toy, which, task.seed) for name, which in ISM_RULES.items()}
    errors = {name: toy.error(model.transduction_) for name, model in models.items()}
    first = next(iter(models.values()))
    errors[PATHS] = toy.error(label_by_paths(first, toy))
    errors |= try_machines(toy)
    n_scored = len(toy.y) - len(toy.labeled)
    return [Measurement(error, {"rule": name}, n_scored=n_scored) for name, error in errors.items()]


def separate(toy: Toy, objective: str, seed: int | None) -> IsometricSeparationMap:
    """Map a toy with its two labels."""
    model = IsometricSeparationMap(objective=objective, n_neighbors=N_NEIGHBORS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleMapWarning)  # labels are scored, not distances
        warnings.simplefilter("ignore", DisconnectedGraphWarning)  # the moons are two pieces
        return model.fit(toy.X, hide_labels(toy.y, toy.labeled))


def label_by_paths(model: IsometricSeparationMap, toy: Toy) -> Classes:
    """Return the label nearest along the graph, which is what the map starts from."""
    paths = dijkstra(model.graph_.distances, indices=toy.labeled)
    return toy.y[toy.labeled][paths.argmin(axis=0)]


def try_machines(toy: Toy) -> dict[str, float]:
    """Return the errors of machines at scikit-learn's defaults, and the least over a grid."""
    errors = {
        LINEAR: _error_of(SVC(kernel="linear"), toy),
        GAUSSIAN: _error_of(SVC(), toy),
    }
    width = 1 / (toy.X.shape[1] * toy.X[toy.labeled].var())  # the default, "scale"
    linear = [_error_of(SVC(kernel="linear", C=penalty), toy) for penalty in PENALTIES]
    gaussian = [
        _error_of(SVC(C=penalty, gamma=factor * width), toy)
        for penalty in PENALTIES
        for factor in WIDTHS
    ]
    return {**errors, BEST_LINEAR: min(linear), BEST_GAUSSIAN: min(gaussian)}


def _error_of(machine: SVC, toy: Toy) -> float:
    return toy.error(machine.fit(toy.X[toy.labeled], toy.y[toy.labeled]).predict(toy.X))


def judge(summary: Summary) -> list[Verdict]:
    """Judge the comparison that the paper calls trivial and not fair, and what it rests on."""
    toys = [str(name) for name in summary.values_of("toy")]
    return [*(_judge_toy(summary, name) for name in toys), _judge_paths(summary, toys)]


def _judge_toy(summary: Summary, toy: str) -> Verdict:
    machines = {name: summary.row(toy=toy, rule=name) for name in BEST_CASES}
    best = min(machines.values(), key=lambda row: row.estimate.mean)
    texts, is_better = [], []
    for name in ISM_RULES:
        row = summary.row(toy=toy, rule=name)
        gap = paired_difference(row, best)
        is_better.append(gap.mean < 0 and (gap.high is None or gap.high < 0))
        texts.append(f"{name} {format_estimate(row.estimate)}, {format_difference(gap)}")
    return Verdict(
        claim=f"With one label a class ISM errs less than SVMs: {toy}",
        paper='"obviously behaves better", without figures',
        found=f"{'; '.join(texts)}; best SVM {format_estimate(best.estimate)}",
        verdict=judge_all(is_better),
    )


def _judge_paths(summary: Summary, toys: list[str]) -> Verdict:
    texts, is_better = [], []
    for toy in toys:
        paths = summary.row(toy=toy, rule=PATHS)
        for name in ISM_RULES:
            gap = paired_difference(summary.row(toy=toy, rule=name), paths)
            is_better.append(gap.mean < 0 and (gap.high is None or gap.high < 0))
            texts.append(f"{toy}, {name} {format_difference(gap)}")
    return Verdict(
        claim="ISM errs less than the nearest label by shortest path, from which it starts",
        paper="not in the paper",
        found=f"differences of errors: {'; '.join(texts)}",
        verdict=judge_all(is_better),
    )


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw both toys of the first draw as they are, by an SVM and by ISM."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14.0, 5.2), dpi=100, layout="constrained")
    panels = figure.subplots(2, 3, sharex="row", sharey="row", height_ratios=[2.2, 1.0])
    sizes = {row.setting["toy"]: row.setting["points"] for row in summary.rows}
    for row, (name, n_points) in zip(panels, sizes.items(), strict=True):
        toy = Toy.draw(Task({"toy": name, "points": n_points}, 0))
        machine = SVC().fit(toy.X[toy.labeled], toy.y[toy.labeled])
        found = {
            f"{name}: classes and labels".capitalize(): toy.y,
            "SVM": machine.predict(toy.X),
            "ISM": separate(toy, "variance", 0).transduction_,
        }
        for ax, (title, labels) in zip(row, found.items(), strict=True):
            scatter_by_class(ax, toy.places, labels, size=10)
            for value, at in enumerate(toy.places[toy.labeled]):
                color = class_styles(2)[value].color
                ax.plot(
                    *at, "*", color=color, markersize=20, markeredgecolor="black", clip_on=False
                )
            error = "" if labels is toy.y else f": error {100 * toy.error(labels):.1f} %"
            ax.set(title=title + error, aspect="equal", xticks=[], yticks=[])
            ax.spines[:].set_color("#BDBDBD")
    panels[1, 0].set_xlabel("arc length")
    panels[1, 0].set_ylabel("height")
    return figure


TOYS = Entry(
    name="toys",
    title="Half-moons and a roll with one label a class (section 5)",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
)
