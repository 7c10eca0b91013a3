"""Calibration, error estimate, label sets and class sizes, against the truth.

    LABELFOLD_DATA=... python -m benchmarks.evidence.probabilities run --seeds 100:120 --out FILE
    python -m benchmarks.evidence.probabilities report FILE [--out FILE.md] [--keep FILE.json]

`run` continues where an earlier one ended. Names with "-thin" are sets of which every second class
was thinned to a fifth. "logistic" is scikit-learn's LogisticRegression on standardized columns,
"uncalibrated" the distribution nearest to the classifier's scores.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.few_labels.data import N_CLASSES, SIXTEEN, DataSet, draw_labels, load
from benchmarks.few_labels.run import parse_seeds
from labelfold import FewLabelClassifier
from labelfold.labels.transduction import nearest_distributions

Array = NDArray[np.float64]

PER_CLASS = (2, 5, 10, 20)
COVERAGES = (0.8, 0.9, 0.95)
BINS = 15
LEAST = 1e-3  # a probability of 0 for the right class would make any log loss infinite
THIN = ("digits-thin", "optdigits-thin", "pendigits-thin", "mnist10k-thin", "news-thin")
SETS = (*SIXTEEN, "vectors")


def load_any(name: str) -> DataSet:
    """Return a set; one with "-thin" has a fifth of the rows of every second class."""
    plain = name.removesuffix("-thin")
    data = load(plain)
    if plain == name:
        return data
    rng = np.random.default_rng(0)
    keep = (data.y % 2 == 0) | (rng.uniform(size=len(data.y)) < 0.2)
    return DataSet(plain, data.X[keep], data.y[keep])


def run(sets: Sequence[str], seeds: Iterable[int], out: Path) -> None:
    """Add a line for every set, number of labels and seed that the file lacks."""
    done = {(one["set"], one["per_class"], one["seed"]) for one in read([out])}
    for name in sets:
        data, model = load_any(name), None
        for seed in seeds:
            for per_class in PER_CLASS:
                if (name, per_class, seed) in done:
                    continue
                n_labels = per_class * N_CLASSES[data.name]
                labeled = draw_labels(data.y, n_labels, seed, least_classes=data.least_classes)
                y = np.full(len(data.y), -1)
                y[labeled] = data.y[labeled]
                if model is None:
                    model = FewLabelClassifier().fit(data.X, y)
                else:
                    model.refit(y)
                line = {"set": name, "per_class": per_class, "seed": seed}
                line |= measure(model, data.X, data.y, labeled)
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        print(name, flush=True)


def measure(
    model: FewLabelClassifier, X: Array, y: NDArray[np.int64], labeled: NDArray[np.int64]
) -> dict[str, float]:
    """Return how far evidence of a fitted model is from the truth."""
    hidden = np.setdiff1d(np.arange(len(y)), labeled)
    codes = np.searchsorted(model.classes_, y)
    known = model.classes_[np.minimum(codes, len(model.classes_) - 1)] == y
    codes = np.where(known, codes, -1)  # of classes without a label
    figures: dict[str, float] = {}
    scores = model.decision_values_
    features = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    features.fit(X[labeled], y[labeled])
    for name, distributions in (
        ("calibrated", model.label_distributions_[hidden]),
        ("uncalibrated", nearest_distributions(scores[hidden])),
        ("logistic", features.predict_proba(X[hidden])),
    ):
        figures |= {
            f"{name} {key}": value for key, value in judge(distributions, codes[hidden]).items()
        }
    estimate = model.error_estimate_
    error = float(np.mean(model.transduction_[hidden] != y[hidden]))
    figures |= {"error": error, "estimate": estimate.error}
    figures["in interval"] = float(estimate.low <= error <= estimate.high)
    for coverage in COVERAGES:
        sets = model.label_sets(coverage)[hidden]
        covered = sets[np.arange(len(hidden)), np.maximum(codes[hidden], 0)] & (codes[hidden] >= 0)
        figures[f"coverage {coverage}"] = float(covered.mean())
        figures[f"size {coverage}"] = float(sets.sum(axis=1).mean())
    truth = np.bincount(codes[known], minlength=len(model.classes_)) / len(y)
    missed = 1 - truth.sum()  # rows of classes without a label are missed by all
    for name, shares in (
        ("probabilities", np.array([one["share"] for one in model.class_sizes_.classes])),
        ("predictions", frequencies(model.transduction_, model.classes_)),
        ("labels", frequencies(y[labeled], model.classes_)),
    ):
        n_classes = len(np.unique(y))
        figures[f"sizes by {name}"] = float((np.abs(shares - truth).sum() + missed) / n_classes)
    return {key: round(value, 5) for key, value in figures.items()}


def judge(distributions: Array, codes: NDArray[np.int64]) -> dict[str, float]:
    """Return calibration error, log loss, Brier score and how well confidence ranks the rows."""
    confidence, right = distributions.max(axis=1), distributions.argmax(axis=1) == codes
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, confidence - right, minlength=BINS)
    own = np.where(codes >= 0, distributions[np.arange(len(codes)), codes], 0)
    ranks, n_right = rankdata(confidence), np.count_nonzero(right)
    pairs = n_right * (len(right) - n_right)
    above = ranks[right].sum() - n_right * (n_right + 1) / 2
    return {
        "ece": float(np.abs(gaps).sum() / len(codes)),
        "log loss": float(-np.log(np.maximum(own, LEAST)).mean()),
        "brier": float(np.mean(np.sum(distributions**2, axis=1) - 2 * own + 1)),
        "auc": float(above / pairs) if pairs else 1.0,
    }


def frequencies(labels: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return the share of each class among labels."""
    return np.array([np.mean(labels == one) for one in classes])


def read(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return all lines of files; those of `pack` end with .json."""
    found: list[dict[str, Any]] = []
    for path in paths:
        if path.suffix == ".json":
            for cell in json.loads(path.read_text(encoding="utf-8")):
                names, columns = zip(*cell["draws"].items(), strict=True)
                own = {"set": cell["set"], "per_class": cell["per_class"]}
                for draw in zip(*columns, strict=True):
                    found.append(own | dict(zip(names, draw, strict=True)))
        elif path.exists():
            found += map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return found


def pack(lines: Sequence[dict[str, Any]]) -> str:
    """Return results in a small form: the figures of all draws by set and number of labels."""
    cells: dict[tuple[str, int], dict[str, list[float]]] = {}
    for line in sorted(lines, key=lambda one: one["seed"]):
        draws = cells.setdefault((line["set"], line["per_class"]), {})
        for name in line.keys() - {"set", "per_class"}:
            draws.setdefault(name, []).append(round(line[name], 4))
    packed = [
        json.dumps({"set": name, "per_class": per_class, "draws": dict(sorted(draws.items()))})
        for (name, per_class), draws in cells.items()
    ]
    return "[" + ",\n".join(packed) + "]\n"


def report(lines: Sequence[dict[str, Any]]) -> str:
    """Return all tables as Markdown."""
    seeds = sorted({one["seed"] for one in lines})
    text = [f"# Probabilities\n\nMeans over sets; {len(seeds)} draws of labels for each.\n"]
    text.append(
        "| labels per class | " + " | ".join(map(str, PER_CLASS)) + " |\n| --- |" + " --- |" * 4
    )
    plain = [one for one in lines if one["set"] in SETS]
    for who in ("calibrated", "uncalibrated", "logistic"):
        for what in ("ece", "log loss", "brier", "auc"):
            text.append(row(f"{who}: {what}", plain, lambda one, k=f"{who} {what}": one[k]))
    for name, function in (
        ("error", lambda one: one["error"]),
        ("estimated error minus error", lambda one: one["estimate"] - one["error"]),
        ("absolute difference", lambda one: abs(one["estimate"] - one["error"])),
        ("80 % interval holds the error", lambda one: one["in interval"]),
    ):
        text.append(row(name, plain, function))
    text.append("\n## Label sets\n\n" + table_of_sets(plain))
    text.append(
        "\n## Class sizes: mean absolute error of shares, points\n\n" + table_of_sizes(lines)
    )
    text.append("\n## By set\n\n" + table_by_set(plain))
    return "\n".join(text) + "\n"


def row(name: str, lines: Sequence[dict[str, Any]], function: Any) -> str:
    """Return a row of means over sets, for each number of labels."""
    cells = []
    for per_class in PER_CLASS:
        means = by_set([one for one in lines if one["per_class"] == per_class], function)
        cells.append(f"{np.mean(list(means.values())):.3f}")
    return f"| {name} | {' | '.join(cells)} |"


def by_set(lines: Sequence[dict[str, Any]], function: Any) -> dict[str, float]:
    """Return the mean of a figure for each set."""
    names = dict.fromkeys(one["set"] for one in lines)
    return {n: float(np.mean([function(o) for o in lines if o["set"] == n])) for n in names}


def table_of_sets(lines: Sequence[dict[str, Any]]) -> str:
    """Return coverages and sizes; hard sets are those with an error above 10 %."""
    text = "| asked | labels per class | coverage | of hard sets | size on easy sets | too low |\n"
    text += "| --- |" + " --- |" * 5 + "\n"
    for coverage in COVERAGES:
        for per_class in PER_CLASS[1:]:
            some = [one for one in lines if one["per_class"] == per_class]
            covered = by_set(some, lambda one, c=coverage: one[f"coverage {c}"])
            size = by_set(some, lambda one, c=coverage: one[f"size {c}"])
            error = by_set(some, lambda one: one["error"])
            hard = [name for name in covered if error[name] > 0.1]
            easy = [name for name in covered if error[name] <= 0.1]
            low = []
            for name in covered:
                values = [one[f"coverage {coverage}"] for one in some if one["set"] == name]
                deviation = np.std(values, ddof=1) / np.sqrt(len(values))
                if covered[name] < coverage - 3 * deviation:
                    low.append(f"{name} {covered[name]:.3f}")
            text += (
                f"| {coverage} | {per_class} | {np.mean(list(covered.values())):.3f} | "
                f"{np.mean([covered[n] for n in hard]):.3f} | "
                f"{np.mean([size[n] for n in easy]):.2f} | {', '.join(low) or 'none'} |\n"
            )
    return text


def table_of_sizes(lines: Sequence[dict[str, Any]]) -> str:
    """Return errors of class sizes, on sets as they are and thinned."""
    text = "| sets | by | " + " | ".join(map(str, PER_CLASS)) + " |\n| --- | --- |" + " --- |" * 4
    for title, names in (("as they are", SETS), ("5:1", THIN)):
        some = [one for one in lines if one["set"] in names]
        for who in ("probabilities", "predictions", "labels") if some else ():
            cells = row(who, some, lambda one, k=f"sizes by {who}": 100 * one[k])
            text += f"\n| {title} {cells}"
    return text + "\n"


def table_by_set(lines: Sequence[dict[str, Any]]) -> str:
    """Return calibration error, and estimated minus true error in points, of every set."""
    text = (
        "| set | " + " | ".join(f"{n} per class" for n in PER_CLASS) + " |\n| --- |" + " --- |" * 4
    )
    for name in dict.fromkeys(one["set"] for one in lines):
        cells = []
        for per_class in PER_CLASS:
            some = [o for o in lines if (o["set"], o["per_class"]) == (name, per_class)]
            ece = np.mean([one["calibrated ece"] for one in some])
            bias = 100 * np.mean([one["estimate"] - one["error"] for one in some])
            cells.append(f"{ece:.3f}, {bias:+.1f}")
        text += f"\n| {name} | {' | '.join(cells)} |"
    return text + "\n"


def main() -> None:
    """Read the command line; run or report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    to_run = commands.add_parser("run")
    to_run.add_argument("--sets", nargs="+", default=[*SETS, *THIN], metavar="SET")
    to_run.add_argument("--seeds", type=parse_seeds, default=parse_seeds("100:120"))
    to_run.add_argument("--out", type=Path, required=True)
    to_report = commands.add_parser("report")
    to_report.add_argument("files", nargs="+", type=Path)
    to_report.add_argument("--out", type=Path)
    to_report.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of too few labels for a coverage: the sets are counted
    if arguments.command == "run":
        run(arguments.sets, arguments.seeds, arguments.out)
        return
    lines = read(arguments.files)
    text = report(lines)
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    if arguments.keep:
        arguments.keep.write_text(pack(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
