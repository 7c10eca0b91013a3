"""Tables of the layout benchmark, from its lines.

python -m benchmarks.layout.report --out benchmarks/results/layout.md
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import rankdata

from benchmarks.layout.__main__ import OUT
from benchmarks.layout.data import N_LABELS
from benchmarks.layout.methods import METHODS

Lines = list[dict[str, Any]]
MEASURES = {
    "knn": "10-NN accuracy in the plane",
    "one_nearest": "1-NN error from the few labels",
    "trust": "trustworthiness",
}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def quality_tables(lines: Lines) -> list[str]:
    """Return a table per measure: means over draws, a column per set, mean and mean rank."""
    texts = []
    sets = [name for name in N_LABELS if any(one["set"] == name for one in lines)]
    for measure, title in MEASURES.items():
        means = {
            (name, method): fmean(values)
            for name in sets
            for method in METHODS
            if (values := [o[measure] for o in lines if (o["set"], o["method"]) == (name, method)])
        }
        whole = [name for name in sets if all((name, method) in means for method in METHODS)]
        sign = 1 if measure == "one_nearest" else -1
        ranks = {
            name: dict(
                zip(METHODS, rankdata([sign * means[name, m] for m in METHODS]), strict=True)
            )
            for name in whole
        }
        rows = []
        for method in METHODS:
            cells = [f"{means[n, method]:.4f}" if (n, method) in means else "" for n in sets]
            total = [means[name, method] for name in whole]
            rank = [ranks[name][method] for name in whole]
            end = [f"{fmean(total):.4f}", f"{fmean(rank):.1f}"] if whole else ["", ""]
            rows.append([method, *cells, *end])
        texts.append(f"## {title}\n\n" + table(["", *sets, "mean", "mean rank"], rows))
    return texts


def other_table(part: str, lines: Lines) -> str:
    """Return a table of the means over draws, and the largest values, of another part."""
    keys = ("set", "method", "labels")
    groups: dict[tuple[str, ...], Lines] = {}
    for line in lines:
        groups.setdefault(tuple(str(line[k]) for k in keys if k in line), []).append(line)
    names = [
        name
        for name, value in lines[0].items()
        if isinstance(value, float | bool | int) and name != "seed"
    ]
    rows = []
    for group, found in groups.items():
        cells = []
        for name in names:
            values = [float(one[name]) for one in found]
            cells.append(f"{fmean(values):.4g} (largest {max(values):.4g})")
        rows.append([", ".join(group), *cells])
    return f"## {part}\n\n" + table(["", *names], rows)


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--lines", type=Path, default=OUT)
    parser.add_argument("--out", type=Path, default=OUT.with_suffix(".md"))
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.lines.read_text(encoding="utf-8").splitlines()]
    parts = {
        part: [one for one in lines if one["part"] == part]
        for part in dict.fromkeys(one["part"] for one in lines)
    }
    texts = quality_tables(parts.pop("quality", []))
    texts += [other_table(part, found) for part, found in parts.items()]
    given.out.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
