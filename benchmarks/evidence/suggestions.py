"""Labels that are needed if a rule chooses the rows, beside rows drawn at random.

    LABELFOLD_DATA=... python -m benchmarks.evidence.suggestions run --seeds 100:110 --out FILE
    python -m benchmarks.evidence.suggestions report FILE [--out FILE.md]
    python -m benchmarks.evidence.suggestions time

A run has four fifths of the rows of a set, drawn at random, and its own goal: the mean error of the
classifier with 10 random labels per class, over 20 draws from these rows. Every rule first chooses
one row per class on average, and at least 5, without any label, and then batches of 5; after each
batch the classifier is fitted again. The labels needed are those at which the error, interpolated
between batches, reaches the goal and keeps it with the next batch (few labels reach it by chance
now and then), and twice the goal's where that never happens. `run` continues where an earlier one
ended.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from benchmarks.evidence.probabilities import read
from benchmarks.few_labels.data import SIXTEEN, DataSet, draw_labels, load
from benchmarks.few_labels.run import parse_seeds
from labelfold import FewLabelClassifier
from labelfold.classify import kernel_average
from labelfold.evidence import suggest_rows

Rows = NDArray[np.intp]

SETS = (*SIXTEEN, "vectors")
BATCH = 5
SHARE_OF_ROWS = 0.8
N_DRAWS = 20
OURS = "labelfold"
MOST_FOLDED = kernel_average.MOST_FOLDED


@dataclass(eq=False)
class Session:
    """Rows of which a rule chooses some, and the classifier of all of them."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    rng: np.random.Generator
    model: FewLabelClassifier
    labeled: list[int] = field(default_factory=list)

    @property
    def has_model(self) -> bool:
        """Return whether labels of two classes are there."""
        return len(np.unique(self.y[self.labeled])) > 1

    @cached_property
    def typicality(self) -> NDArray[np.float64]:
        """Return the inverse mean distance of every row to its 20 nearest."""
        distances, _ = NearestNeighbors(n_neighbors=20).fit(self.X).kneighbors()
        return np.asarray(1 / np.maximum(distances.mean(axis=1), 1e-12))

    @property
    def unlabeled(self) -> Rows:
        """Return the rows without a label."""
        return np.setdiff1d(np.arange(len(self.y)), self.labeled)

    def fit(self, labeled: Sequence[int], *, needs_probabilities: bool = False) -> float:
        """Return the error with these labels; with one class all rows are of it."""
        self.labeled = list(labeled)
        # Folds, which take most of the time, serve probabilities alone.
        kernel_average.MOST_FOLDED = MOST_FOLDED if needs_probabilities else 0
        hidden, predicted = self.unlabeled, np.full(len(self.y), self.y[self.labeled[0]])
        if self.has_model:
            partial = np.full(len(self.y), -1)
            partial[self.labeled] = self.y[self.labeled]
            predicted = self.model.refit(partial).transduction_
        return float(np.mean(predicted[hidden] != self.y[hidden]))


Rule = Callable[[Session, int], Sequence[int]]


def choose_at_random(session: Session, n: int) -> Sequence[int]:
    """Draw rows."""
    return session.rng.choice(session.unlabeled, n, replace=False).tolist()


def choose_by_margin(session: Session, n: int) -> Sequence[int]:
    """Take the rows whose two largest probabilities differ least; random ones at first."""
    if not session.has_model:
        return choose_at_random(session, n)
    ordered = np.sort(session.model.label_distributions_[session.unlabeled], axis=1)
    order = np.argsort(ordered[:, -1] - ordered[:, -2], kind="stable")
    return session.unlabeled[order[:n]].tolist()


def choose_typical(session: Session, n: int) -> Sequence[int]:
    """TypiClust (Hacohen, Dekel and Weinshall, ICML 2022, algorithm 1) on the rows themselves.

    As many clusters as there will be labels, 500 at most; the most typical row of the largest
    clusters with the fewest labels. Clusters of fewer than 5 rows are left out.
    """
    n_clusters = min(len(session.labeled) + n, 500)
    seed = int(session.rng.integers(2**31))
    if n_clusters <= 50:
        clusters = KMeans(n_clusters, n_init=1, random_state=seed).fit_predict(session.X)
    else:
        small = MiniBatchKMeans(n_clusters, n_init=1, batch_size=5000, random_state=seed)
        clusters = small.fit_predict(session.X)
    typicality = session.typicality.copy()
    typicality[session.labeled] = -np.inf
    sizes = np.bincount(clusters, minlength=n_clusters)
    n_labeled = np.bincount(clusters[session.labeled], minlength=n_clusters)
    chosen: list[int] = []
    while len(chosen) < n:
        for cluster in np.lexsort((-sizes, n_labeled)):
            left = np.flatnonzero((clusters == cluster) & np.isfinite(typicality))
            if sizes[cluster] >= 5 and len(left):
                break
        row = int(left[typicality[left].argmax()])
        chosen.append(row)
        typicality[row] = -np.inf
        n_labeled[cluster] += 1
    return chosen


def choose_suggested(session: Session, n: int) -> Sequence[int]:
    """Take the rows that labelfold suggests."""
    source = session.model if session.has_model else session.model.graph_
    return [one.row for one in suggest_rows(source, n, labeled=session.labeled)]


RULES: dict[str, Rule] = {
    "random": choose_at_random,
    "margin": choose_by_margin,
    "TypiClust": choose_typical,
    OURS: choose_suggested,
}


def begin(data: DataSet, seed: int, n_goal: int) -> tuple[Session, float]:
    """Return four fifths of the rows of a set, and their mean error with so many random labels."""
    rng = np.random.default_rng([seed, 1])
    n_rows = round(SHARE_OF_ROWS * len(data.y))
    kept = np.sort(rng.choice(len(data.y), n_rows, replace=False))
    X, y = data.X[kept], data.y[kept]
    session = Session(X, y, rng, FewLabelClassifier().fit(X, y))
    draws = [draw_labels(y, n_goal, 1000 * seed + draw) for draw in range(N_DRAWS)]
    return session, float(np.mean([session.fit(rows.tolist()) for rows in draws]))


def run(sets: Sequence[str], rules: dict[str, Rule], seeds: Iterable[int], out: Path) -> None:
    """Add a line for every set, rule and seed that the file lacks."""
    done = {(one["set"], one["rule"], one["seed"]) for one in read([out])}
    for name in sets:
        data = load(name)
        n_goal = 10 * data.n_classes
        for seed in seeds:
            missing = [rule for rule in rules if (name, rule, seed) not in done]
            if not missing:
                continue
            session, aim = begin(data, seed, n_goal)
            for rule in missing:
                session.rng = np.random.default_rng([seed, 2])
                counts, errors = simulate(session, rules[rule], data.n_classes, n_goal, aim)
                line = {"set": name, "rule": rule, "seed": seed, "n_goal": n_goal}
                line |= {"aim": round(aim, 5), "n_needed": round(needed(counts, errors, aim), 1)}
                line |= {"counts": counts, "errors": [round(error, 5) for error in errors]}
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(name, seed, rule, line["n_needed"], "of", n_goal, flush=True)


def simulate(
    session: Session, rule: Rule, n_classes: int, n_goal: int, aim: float
) -> tuple[list[int], list[float]]:
    """Label rows until two errors reach the aim, and return numbers of labels and errors."""
    session.labeled = []
    labeled = list(rule(session, max(BATCH, n_classes)))
    looks = rule not in (choose_at_random, choose_typical)
    counts, errors = [len(labeled)], [session.fit(labeled, needs_probabilities=looks)]
    while max(errors[-2:]) > aim or len(errors) == 1:
        if counts[-1] >= 2 * n_goal:
            break
        labeled += rule(session, BATCH)
        counts.append(len(labeled))
        errors.append(session.fit(labeled, needs_probabilities=looks))
    return counts, errors


def needed(counts: Sequence[int], errors: Sequence[float], aim: float) -> float:
    """Return the number of labels at which the error reaches the aim, as the last two do.

    >>> needed([5, 10, 15], [0.3, 0.1, 0.1], 0.2), needed([5, 10], [0.1, 0.1], 0.2)
    (7.5, 5.0)
    """
    if max(errors[-2:]) > aim:
        return float(counts[-1])
    if len(counts) == 2:
        return float(counts[0])
    return float(np.interp(-aim, [-errors[-3], -errors[-2]], counts[-3:-1]))


def report(lines: Sequence[dict[str, Any]]) -> str:
    """Return the labels needed, as shares of those of the goal, as Markdown."""
    rules = list(dict.fromkeys(one["rule"] for one in lines))
    n_runs = len({one["seed"] for one in lines})
    text = [
        "# Suggestions\n\n## Labels needed to reach the error of 10 random labels per class\n\n"
        f"{n_runs} runs: mean, standard error, and in brackets the difference to random in paired "
        "standard errors.\n",
        f"| set | goal | {' | '.join(rules)} |\n| --- | --- |" + " --- |" * len(rules),
    ]
    shares: dict[str, list[float]] = {rule: [] for rule in rules}
    for name in dict.fromkeys(one["set"] for one in lines):
        of_set = [one for one in lines if one["set"] == name]
        found = {
            rule: {one["seed"]: one["n_needed"] for one in of_set if one["rule"] == rule}
            for rule in rules
        }
        n_goal = of_set[0]["n_goal"]
        cells = []
        for rule in rules:
            values = list(found[rule].values())
            shares[rule].append(float(np.mean(values)) / n_goal)
            cell = f"{np.mean(values):.0f} ± {standard_error(values):.0f}"
            both = found[rule].keys() & found["random"].keys()
            gaps = [found[rule][seed] - found["random"][seed] for seed in both]
            if rule != "random" and np.std(gaps) > 0:
                cell += f" ({np.mean(gaps) / standard_error(gaps):+.1f})"
            cells.append(cell)
        text.append(f"| {name} | {n_goal} | {' | '.join(cells)} |")
    means = [f"{np.mean(shares[rule]):.0%}" for rule in rules]
    text.append(f"| mean share | 100% | {' | '.join(means)} |\n")
    return "\n".join(text)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def measure_time() -> None:
    """Print how long a batch of 20 takes at 60,000 rows, for several numbers of labels."""
    data = load("mnist60k")
    model = None
    for n_labels in (20, 100, 500):
        y = np.full(len(data.y), -1)
        rows = draw_labels(data.y, n_labels, 0)
        y[rows] = data.y[rows]
        model = FewLabelClassifier().fit(data.X, y) if model is None else model.refit(y)
        for title in ("first", "next"):
            start = time.perf_counter()
            suggest_rows(model, 20)
            seconds = time.perf_counter() - start
            print(f"{n_labels} labels, {title} batch of 20: {seconds:.2f} s", flush=True)


def main() -> None:
    """Read the command line; run, report or measure the time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    to_run = commands.add_parser("run")
    to_run.add_argument("--sets", nargs="+", metavar="SET")
    to_run.add_argument("--rules", nargs="+", choices=list(RULES), metavar="RULE")
    to_run.add_argument("--seeds", type=parse_seeds, default=parse_seeds("100:110"))
    to_run.add_argument("--out", type=Path, required=True)
    to_report = commands.add_parser("report")
    to_report.add_argument("files", nargs="+", type=Path)
    to_report.add_argument("--out", type=Path)
    commands.add_parser("time")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.command == "time":
        measure_time()
        return
    if arguments.command == "run":
        chosen = {one: RULES[one] for one in arguments.rules or RULES}
        run(arguments.sets or SETS, chosen, arguments.seeds, arguments.out)
        return
    lines = read(arguments.files)
    text = report(lines)
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
