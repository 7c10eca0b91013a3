"""ISM section 5: half-moons and a roll with one label per class, against SVMs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
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
from reproductions.ism import rolls
from reproductions.ism.rolls import Array, Classes
from reproductions.summary import Summary, paired_difference
from reproductions.tables import format_difference, format_estimate

MOONS, ROLL = "half-moons", "roll"
# Points and draws of each toy.
SIZES = {MOONS: (200, 20), ROLL: (1500, 10)}
SIZES_QUICK = {MOONS: (200, 2), ROLL: (400, 2)}

ISM_RULES = {f"ISM, objective {objective}": objective for objective in rolls.OBJECTIVES}
PATHS = "nearest label by shortest path"
LINEAR, GAUSSIAN = "linear SVM", "Gaussian SVM"
BEST_CASES = BEST_LINEAR, BEST_GAUSSIAN = f"{LINEAR}, best case", f"{GAUSSIAN}, best case"
PENALTIES = (0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.3, 1.0, 3.0)  # gamma, in units of scikit-learn's default

PROCEDURE = """
The paper says only that ISM "obviously behaves better than SVM", in "a
trivial and not a fair comparison". Here the half-moons are scikit-learn's, 200 points with noise of
0.05 (20 draws), and the roll has 1,500 points and two classes, its inner and its outer half (10
draws). One point of each class, drawn at random, is labeled; errors are on all others.

ISM is `IsometricSeparationMap` at the library's defaults: 5 neighbors, margin 0.3, rank as needed,
0.1 % on squared distances. The graph of the half-moons is disconnected and gets bridges. With two
labels the map starts from shortest paths along the graph, and the nearest label by such a path is a
rule of its own; its row shows how much of ISM's success is due to the graph.

The machines are scikit-learn's `SVC` at its defaults, and in the best case, which is the least
error on the scored points, over penalties of 0.1 to 100 and three widths. With one label per class
it makes no difference: any such machine, linear or Gaussian, separates the points halfway between
the two labels. "Better" is a difference whose whole 80 % interval is below zero.
"""


@dataclass(frozen=True, eq=False)
class Toy:
    """Points, their classes, where to draw them, and one labeled row per class."""

    X: Array
    y: Classes
    places: Array
    labeled: NDArray[np.intp]

    @classmethod
    def draw(cls, task: Task) -> Toy:
        """Draw the points of a task, and a labeled one of each class."""
        n_points, seed = int(task.setting["points"]), task.seed
        if task.setting["toy"] == MOONS:
            X, y = make_moons(n_points, noise=0.05, random_state=seed)
            places = X
        else:
            X, y, places = make_swiss_roll(n_points, n_bands=2, random_state=seed)
        rng = np.random.default_rng(seed)
        labeled = np.array([rng.choice(np.flatnonzero(y == value)) for value in (0, 1)])
        return cls(X, y, places, labeled)

    def error(self, labels: NDArray[Any]) -> float:
        """Return the share of wrong labels, not counting the given ones."""
        return float(np.mean(np.delete(labels != self.y, self.labeled)))

    def predict(self, machine: SVC) -> Classes:
        """Return the labels of all points by a machine trained on the two labels."""
        return machine.fit(self.X[self.labeled], self.y[self.labeled]).predict(self.X)


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each draw of each toy."""
    return [
        Task({"toy": name, "points": n_points}, seed)
        for name, (n_points, n_draws) in (SIZES_QUICK if quick else SIZES).items()
        for seed in range(n_draws)
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Label one draw by all rules."""
    toy = Toy.draw(task)
    errors = {}
    for name, objective in ISM_RULES.items():
        model = separate(toy, objective, task.seed)
        errors[name] = toy.error(model.transduction_)
    # The label nearest along the graph, from which the map starts.
    paths = dijkstra(model.graph_.distances, indices=toy.labeled)
    errors[PATHS] = toy.error(toy.y[toy.labeled][paths.argmin(axis=0)])
    errors |= try_machines(toy)
    n_scored = len(toy.y) - len(toy.labeled)
    return [Measurement(error, {"rule": name}, n_scored=n_scored) for name, error in errors.items()]


def separate(toy: Toy, objective: str, seed: int | None) -> IsometricSeparationMap:
    """Map a toy with its two labels."""
    model = IsometricSeparationMap.as_published(
        objective=objective, n_neighbors=rolls.N_NEIGHBORS, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleMapWarning)  # labels are scored, not distances
        warnings.simplefilter("ignore", DisconnectedGraphWarning)  # the moons are two components
        return model.fit(toy.X, hide_labels(toy.y, toy.labeled))


def try_machines(toy: Toy) -> dict[str, float]:
    """Return the errors of machines at scikit-learn's defaults, and the least over a grid."""
    width = 1 / (toy.X.shape[1] * toy.X[toy.labeled].var())  # the default, "scale"
    machines = {
        LINEAR: [SVC(kernel="linear")],
        GAUSSIAN: [SVC()],
        BEST_LINEAR: [SVC(kernel="linear", C=C) for C in PENALTIES],
        BEST_GAUSSIAN: [SVC(C=C, gamma=factor * width) for C in PENALTIES for factor in WIDTHS],
    }
    return {
        name: min(toy.error(toy.predict(machine)) for machine in tried)
        for name, tried in machines.items()
    }


def judge(summary: Summary) -> list[Verdict]:
    """Judge the comparison that the paper calls trivial and not fair, and what it rests on."""
    toys = [str(name) for name in summary.values_of("toy")]
    return [*(_judge_toy(summary, name) for name in toys), _judge_paths(summary, toys)]


def _compare(summary: Summary, toy: str, rule: str, other: str) -> tuple[bool, str]:
    """Return whether a rule has a smaller error than another, and the difference in words."""
    gap = paired_difference(summary.row(toy=toy, rule=rule), summary.row(toy=toy, rule=other))
    return gap.ends[1] < 0, format_difference(gap)


def _judge_toy(summary: Summary, toy: str) -> Verdict:
    errors = {name: summary.row(toy=toy, rule=name).estimate for name in (*ISM_RULES, *BEST_CASES)}
    best = min(BEST_CASES, key=lambda name: errors[name].mean)
    texts, is_better = [], []
    for name in ISM_RULES:
        is_less, difference = _compare(summary, toy, name, best)
        is_better.append(is_less)
        texts.append(f"{name} {format_estimate(errors[name])}, {difference}")
    return Verdict(
        claim=f"With one label per class ISM has a smaller error than SVMs: {toy}",
        paper='"obviously behaves better", without figures',
        found=f"{'; '.join(texts)}; best SVM {format_estimate(errors[best])}",
        verdict=judge_all(is_better),
    )


def _judge_paths(summary: Summary, toys: list[str]) -> Verdict:
    texts, is_better = [], []
    for toy in toys:
        for name in ISM_RULES:
            is_less, difference = _compare(summary, toy, name, PATHS)
            is_better.append(is_less)
            texts.append(f"{toy}, {name} {difference}")
    return Verdict(
        claim="ISM has a smaller error than the nearest label by shortest path, its start",
        paper="not in the paper",
        found=f"differences of errors: {'; '.join(texts)}",
        verdict=judge_all(is_better),
    )


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw both toys of the first draw: true classes, by an SVM, and by ISM."""
    figure = Figure(figsize=(14.0, 5.2), dpi=100, layout="constrained")
    panels = figure.subplots(2, 3, sharex="row", sharey="row", height_ratios=[2.2, 1.0])
    sizes = {row.setting["toy"]: row.setting["points"] for row in summary.rows}
    for row, (name, n_points) in zip(panels, sizes.items(), strict=True):
        toy = Toy.draw(Task({"toy": name, "points": n_points}, 0))
        found: dict[str, NDArray[Any]] = {
            f"{name}: classes and labels".capitalize(): toy.y,
            "SVM": toy.predict(SVC()),
            "ISM": separate(toy, "variance", 0).transduction_,
        }
        for ax, (title, labels) in zip(row, found.items(), strict=True):
            rolls.scatter_by_class(ax, toy.places, labels, size=10)
            star = {"markersize": 20, "markeredgecolor": "black", "clip_on": False}
            for place, style in zip(toy.places[toy.labeled], class_styles(2), strict=True):
                ax.plot(*place, "*", color=style.color, **star)
            error = "" if labels is toy.y else f": error {100 * toy.error(labels):.1f} %"
            ax.set(title=title + error, aspect="equal", xticks=[], yticks=[])
            ax.spines[:].set_color(rolls.LIGHT_GRAY)
    panels[1, 0].set_xlabel("arc length")
    panels[1, 0].set_ylabel("height")
    return figure


TOYS = Entry(
    name="toys",
    title="Half-moons and a roll with one label per class (section 5)",
    procedure=PROCEDURE,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
)
