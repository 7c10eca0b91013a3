"""Wrong labels that are found, beside cleanlab on the same probabilities.

    LABELFOLD_DATA=... python -m benchmarks.evidence.suspects run --seeds 100:120 --out FILE
    python -m benchmarks.evidence.suspects report FILE [--out FILE.md] [--keep FILE.json]

Of 10 random labels per class some are replaced by another class of the draw. A draw's precision is
the share of wrong labels among the first as many as are wrong. `run` continues where an earlier one
ended.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cleanlab.rank import get_label_quality_scores
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.evidence.probabilities import read
from benchmarks.few_labels.data import SIXTEEN, draw_labels, load
from benchmarks.few_labels.run import parse_seeds
from labelfold import FewLabelClassifier
from labelfold.evidence.suspects import score_labels

SHARES = (0.05, 0.1, 0.2)
SETS = (*SIXTEEN, "vectors")
OURS = "labelfold"
METHODS = {
    OURS: score_labels,
    "cleanlab": lambda left_out, codes: 1 - get_label_quality_scores(codes, left_out),
    "cleanlab, margin": lambda left_out, codes: (
        1 - get_label_quality_scores(codes, left_out, method="normalized_margin")
    ),
}


def run(sets: Sequence[str], seeds: Iterable[int], out: Path) -> None:
    """Add a line for every set, share of wrong labels and seed that the file lacks."""
    done = {(one["set"], one["share"], one["seed"]) for one in read([out])}
    for name in sets:
        data, model = load(name), None
        for seed in seeds:
            rows = draw_labels(data.y, 10 * data.n_classes, seed)
            for share in SHARES:
                if (name, share, seed) in done:
                    continue
                given, is_wrong = flip(data.y[rows], share, seed)
                y = np.full(len(data.y), -1)
                y[rows] = given
                model = FewLabelClassifier().fit(data.X, y) if model is None else model.refit(y)
                codes = np.searchsorted(model.classes_, given)
                line = {"set": name, "share": share, "seed": seed, "n_wrong": int(is_wrong.sum())}
                for method, score in METHODS.items():
                    scores = score(model.left_out_distributions_, codes)
                    first = np.argsort(-scores, kind="stable")[: line["n_wrong"]]
                    line[method] = {
                        "found": int(is_wrong[first].sum()),
                        "area": round(float(roc_auc_score(is_wrong, scores)), 5),
                    }
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        print(name, flush=True)


def flip(
    labels: NDArray[np.int64], share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return labels of which a share, and at least one, names another class that occurs."""
    rng = np.random.default_rng([seed, round(100 * share)])
    classes, given = np.unique(labels), labels.copy()
    wrong = rng.choice(len(labels), max(1, round(share * len(labels))), replace=False)
    for position in wrong:
        given[position] = rng.choice(classes[classes != labels[position]])
    return given, given != labels


def report(lines: Sequence[dict[str, Any]]) -> str:
    """Return tables of precision and area, and differences to cleanlab, as Markdown."""
    seeds = {one["seed"] for one in lines}
    text = [f"# Suspect labels\n\n{len(seeds)} draws; standard errors are paired, over draws.\n"]
    for share in SHARES:
        some = [one for one in lines if one["share"] == share]
        sets = list(dict.fromkeys(one["set"] for one in some))
        text.append(f"## {share:.0%} wrong: precision, area under the ROC curve\n")
        text.append(f"| set | {' | '.join(METHODS)} |\n| --- |" + " --- |" * len(METHODS))
        for name in sets:
            text.append(f"| {name} | {' | '.join(cells(some, [name]))} |")
        text.append(f"| mean | {' | '.join(cells(some, sets))} |\n")
        for rival in [method for method in METHODS if method != OURS]:
            text.append(f"{OURS} minus {rival}: {differences(some, sets, rival)}\n")
    return "\n".join(text)


def cells(lines: Sequence[dict[str, Any]], sets: Sequence[str]) -> list[str]:
    """Return precision and area of every method, means over sets."""
    values = {method: [figures(lines, name, method) for name in sets] for method in METHODS}
    means = {method: np.mean(of_sets, axis=0) for method, of_sets in values.items()}
    return [f"{precision:.3f}, {area:.3f}" for precision, area in means.values()]


def figures(lines: Sequence[dict[str, Any]], name: str, method: str) -> tuple[float, float]:
    """Return precision of all draws of a set pooled, and the mean area."""
    draws = [one for one in lines if one["set"] == name]
    found = sum(one[method]["found"] for one in draws) / sum(one["n_wrong"] for one in draws)
    return found, float(np.mean([one[method]["area"] for one in draws]))


def differences(lines: Sequence[dict[str, Any]], sets: Sequence[str], rival: str) -> str:
    """Return mean differences over sets with their standard errors, and the worst set."""
    parts = []
    for title, position in (("precision", 0), ("area", 1)):
        gaps = {
            name: figures(lines, name, OURS)[position] - figures(lines, name, rival)[position]
            for name in sets
        }
        by_seed: dict[int, list[float]] = {}
        for one in lines:
            ours, theirs = one[OURS], one[rival]
            gap = ours["area"] - theirs["area"]
            if title == "precision":
                gap = (ours["found"] - theirs["found"]) / one["n_wrong"]
            by_seed.setdefault(one["seed"], []).append(gap)
        draws = [float(np.mean(of_draw)) for of_draw in by_seed.values()]
        error = np.std(draws, ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else np.nan
        worst = min(gaps, key=lambda name: gaps[name])
        mean = np.mean(list(gaps.values()))
        parts.append(
            f"{title} {mean:+.4f} (standard error {error:.4f}), worst {worst} {gaps[worst]:+.3f}"
        )
    return "; ".join(parts) + "."


def main() -> None:
    """Read the command line; run or report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    to_run = commands.add_parser("run")
    to_run.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    to_run.add_argument("--seeds", type=parse_seeds, default=parse_seeds("100:120"))
    to_run.add_argument("--out", type=Path, required=True)
    to_report = commands.add_parser("report")
    to_report.add_argument("files", nargs="+", type=Path)
    to_report.add_argument("--out", type=Path)
    to_report.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.command == "run":
        run(arguments.sets, arguments.seeds, arguments.out)
        return
    lines = read(arguments.files)
    text = report(lines)
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    if arguments.keep:
        rows = ",\n".join(json.dumps(one) for one in lines)
        arguments.keep.write_text(f"[{rows}]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
