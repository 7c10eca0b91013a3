"""Tables of the results, as Markdown.

    python -m benchmarks.few_labels.report FILE.jsonl ... [--out FILE.md] [--keep FILE.json]

Means and ranks are over the sixteen development sets. `--keep` writes all results in a small form,
which this command reads too.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.few_labels import results
from benchmarks.few_labels.data import COUNTS, NAMES, SIXTEEN
from benchmarks.few_labels.methods import METHODS
from benchmarks.few_labels.results import Result
from benchmarks.few_labels.statistics import (
    LEVELS,
    Errors,
    cells_at,
    critical_difference,
    mean_ranks,
)

BASE = "base"


def report(found: Sequence[Result]) -> str:
    """Return all tables."""
    errors = Errors(found)
    methods = [name for name in METHODS if name in errors.methods]
    sections = [
        f"# Few labels\n\n{_describe(found)}",
        f"## Mean error over the sixteen sets, %\n\n{table_of_means(errors, methods)}",
        f"## Mean rank\n\n{tables_of_ranks(errors, methods)}",
        f"## Worse than {BASE}\n\n{list_worse(errors, methods)}",
        f"## Error by set and number of labels, %\n\n{table_of_cells(errors, methods)}",
        f"## Difference to {BASE}, points, and its standard error\n\n"
        + table_of_differences(errors, methods),
        f"## Seconds\n\n{table_of_seconds(found, methods)}",
    ]
    failures = sorted({(r.method, r.set, r.failure) for r in found if r.failure})
    if failures:
        lines = [f"- {method}, {name}: {failure}" for method, name, failure in failures]
        sections.append("## Failures\n\n" + "\n".join(lines))
    return "\n\n".join(sections) + "\n"


def table_of_means(errors: Errors, methods: Sequence[str]) -> str:
    """Return mean errors by labels per class; a method has to have run on all sets."""
    cells = {level: cells_at(level, SIXTEEN) for level in LEVELS}
    cells["10 or more"] = cells["10"] + cells["most"]
    columns = [errors.means(methods, some).mean(axis=0) for some in cells.values()]
    header = ["", *(f"{level} ({len(some)} cells)" for level, some in cells.items())]
    rows = [
        [method, *(_percent(column[number]) for column in columns)]
        for number, method in enumerate(methods)
    ]
    return _table(header, rows)


def tables_of_ranks(errors: Errors, methods: Sequence[str]) -> str:
    """Return mean ranks by labels per class over the methods that ran on all sets.

    The last column ranks by set: the mean of a method's ranks over the numbers of labels counts as
    one observation, as the cells of a set are not independent.
    """
    cells = {level: cells_at(level, SIXTEEN) for level in LEVELS}
    every = [cell for some in cells.values() for cell in some]
    complete = [m for m in methods if not np.isnan(errors.means([m], every)).any()]
    if len(complete) < 2:
        return "Fewer than two methods ran on all sets."
    columns = [mean_ranks(errors.means(complete, some)) for some in cells.values()]
    by_set = [
        mean_ranks(errors.means(complete, [(name, count) for count in COUNTS[name]]))
        for name in SIXTEEN
    ]
    columns.append(np.mean(by_set, axis=0))
    sizes = [*(len(some) for some in cells.values()), len(SIXTEEN)]
    rows = [
        [method, *(f"{column[number]:.2f}" for column in columns)]
        for number, method in enumerate(complete)
    ]
    limits = [f"{critical_difference(len(complete), size):.2f}" for size in sizes]
    return _table(["", *LEVELS, "all"], [*rows, ["critical difference", *limits]])


def list_worse(errors: Errors, methods: Sequence[str]) -> str:
    """Return for every method the cells that are worse than the base by the rule."""
    lines = ["Cells with a mean difference above one point and above two paired standard errors:"]
    for method in (name for name in methods if name != BASE):
        gaps = [errors.difference(method, BASE, cell) for cell in _cells()]
        compared = [gap for gap in gaps if gap is not None]
        worse = [gap for gap in compared if gap.is_worse]
        cells = ", ".join(
            f"{gap.cell[0]} {gap.cell[1]} ({100 * gap.mean:+.1f} ± {100 * gap.standard_error:.1f})"
            for gap in worse
        )
        lines.append(f"- {method}: {len(worse)} of {len(compared)}{': ' if worse else ''}{cells}")
    return "\n".join(lines)


def table_of_cells(errors: Errors, methods: Sequence[str]) -> str:
    """Return the mean error of every method in every cell."""
    rows = [
        [name, str(count), *(_percent(errors.mean(method, (name, count))) for method in methods)]
        for name, count in _cells()
    ]
    return _table(["set", "labels", *methods], [row for row in rows if any(row[2:])])


def table_of_differences(errors: Errors, methods: Sequence[str]) -> str:
    """Return the paired difference of every method to the base in every cell."""
    others = [method for method in methods if method != BASE]
    rows = []
    for cell in _cells():
        gaps = [errors.difference(method, BASE, cell) for method in others]
        texts = [
            f"{100 * gap.mean:+.1f} ± {100 * gap.standard_error:.1f}" if gap else "" for gap in gaps
        ]
        if any(texts):
            rows.append([cell[0], str(cell[1]), *texts])
    return _table(["set", "labels", *others], rows)


def table_of_seconds(found: Iterable[Result], methods: Sequence[str]) -> str:
    """Return the mean seconds of a draw, and after "+" those of what all draws share."""
    draws: dict[tuple[str, str], list[float]] = {}
    shared: dict[tuple[str, str], float] = {}
    for result in found:
        key = result.set, result.method
        draws.setdefault(key, []).append(result.seconds)
        # A continued run computes shared parts again.
        shared[key] = max(shared.get(key, 0.0), result.shared_seconds)
    rows = [
        [
            name,
            *(
                f"{np.mean(draws[name, method]):.2f} + {shared[name, method]:.1f}"
                if (name, method) in draws
                else ""
                for method in methods
            ),
        ]
        for name in NAMES
    ]
    return _table(["set", *methods], [row for row in rows if any(row[1:])])


def _cells() -> list[tuple[str, int]]:
    return [(name, count) for name in NAMES for count in COUNTS[name]]


def _describe(found: Sequence[Result]) -> str:
    seeds = sorted({result.seed for result in found})
    counts = Counter(result.method for result in found)
    most = max(counts.values())
    fewer = [f"{method} {count:,}" for method, count in counts.items() if count < most]
    text = f"{len(seeds)} draws of labels (seeds {seeds[0]} to {seeds[-1]}), {most:,} per method."
    return f"{text} Fewer: {', '.join(fewer)}." if fewer else text


def _percent(error: float) -> str:
    return "" if np.isnan(error) else f"{100 * error:.1f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Read the command line and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="write the tables here rather than to the screen")
    parser.add_argument("--keep", type=Path, help="write all results here in a small form")
    arguments = parser.parse_args()
    merged = {result.key: result for path in arguments.files for result in results.read(path)}
    found = list(merged.values())
    if not found:
        parser.error(f"no results in {', '.join(map(str, arguments.files))}.")
    if arguments.keep:
        arguments.keep.write_text(json.dumps(results.pack(found)) + "\n", encoding="utf-8")
    if arguments.out:
        arguments.out.write_text(report(found), encoding="utf-8")
    else:
        print(report(found), end="")


if __name__ == "__main__":
    main()
