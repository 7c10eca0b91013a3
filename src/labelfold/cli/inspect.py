"""`labelfold inspect`: what a table is like, as text or JSON, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.options import Data, DataOptions, Json, Labels, command
from labelfold.cli.reports import counted, listed, wrapped

if TYPE_CHECKING:
    from labelfold.cli.tables import Table

MOST_CLASSES = 20
VERY_DIFFERENT = 30  # times as wide: distances then follow the wide features alone
MANY_ANTIHUBS = 0.25
FEW_PER_CLASS = 5


@command
def inspect(
    *,
    console: Console,
    data: Data,
    labels: Labels = None,
    neighbors: Annotated[
        int,
        typer.Option("--neighbors", metavar="K", min=1, help="Neighbors of every row's graph."),
    ] = 12,
    as_json: Json = False,
    reading: DataOptions,
) -> None:
    """Check a data file and report problems.

    Tells what the columns hold and whether their scales differ, how many labels there are of each
    class, which rows are equal, whether the graph of nearest neighbors falls apart or has hubs,
    how many dimensions the points seem to have, and which methods can be used on them. What to do
    about it stands at the end.

    Nothing is written and nothing is changed. Of many rows the graph is that of a sample.

    For example:

      labelfold inspect flowers.csv --labels kind

      labelfold inspect flowers.csv --labels kind --neighbors 20 --json
    """
    table = reading.read_labeled(console, data, labels)
    report = examine(console, table, neighbors)
    if as_json:
        console.result(json.dumps(report, indent=2, allow_nan=False))
    else:
        console.result(describe(report))


def examine(console: Console, table: Table, n_neighbors: int) -> dict[str, Any]:
    """Everything that the command finds, as plain values."""
    with console.step("features and labels"):
        from labelfold.cli import inspection
        from labelfold.labels import PartialLabels

        given = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
        report: dict[str, Any] = {
            "data": table.origin,
            "features": inspection.examine_features(table),
            "labels": inspection.examine_labels(table),
            "duplicates": inspection.examine_duplicates(table, given),
        }
    rows = inspection.draw_sample(table)
    report["n_examined"] = len(rows)
    with console.step(f"neighbor graph of {len(rows):,} rows"):
        report["graph"] = inspection.examine_graph(table, given, rows, n_neighbors)
    with console.step(f"dimension of {len(rows):,} rows"):
        report["dimension"] = inspection.examine_dimension(table, given, rows)
    report["methods"] = inspection.examine_methods(report)
    report["advice"] = advise(report)
    return report


def describe(report: Mapping[str, Any]) -> str:
    """Return the whole report."""
    n_rows, n_examined = report["features"]["n_rows"], report["n_examined"]
    sample = ""
    if n_examined < n_rows:
        sample = (
            f"Graph and dimension are those of {n_examined:,} rows drawn at random: with all "
            f"{n_rows:,} rows neighbors are nearer, and components may be fewer."
        )
    sections = [
        (f"Data: {report['data']}", _features(report["features"])),
        ("Labels", _labels(report["labels"])),
        ("Equal rows", _duplicates(report["duplicates"])),
        (f"Graph of {report['graph']['n_neighbors']} neighbors", _graph(report["graph"], sample)),
        ("Intrinsic dimension", _dimension(report["dimension"])),
        ("Methods that can be used", _methods(report["methods"])),
        ("What to do", [f"- {line}" for line in report["advice"]] or ["Nothing is amiss."]),
    ]
    return "\n\n".join(f"{title}\n{_indented(lines)}" for title, lines in sections)


def _indented(lines: list[str]) -> str:
    """Return paragraphs within the width, items of a list with their later lines indented."""
    return "\n".join(
        wrapped(line, first="  ", later="    " if line.startswith("- ") else "  ") for line in lines
    )


def _features(features: Mapping[str, Any]) -> list[str]:
    form = "sparse, " if features["is_sparse"] else ""
    lines = [
        f"{counted(features['n_rows'], 'row')}, {counted(features['n_features'], 'feature')}; "
        f"{form}{features['share_of_zeros']:.0%} of the entries are zero."
    ]
    if features["n_constant"]:
        n = features["n_constant"]
        named = ", ".join(features["constant"][:5]) + (", ..." if n > 5 else "")
        lines.append(f"{counted(n, 'constant feature')}: {named}.")
    if features["widest"] is not None:
        lines.append(
            f"Ranges: from {_range(features['narrowest'])} to {_range(features['widest'])}."
        )
    return lines


def _range(found: Mapping[str, Any]) -> str:
    return f"[{found['low']:.4g}, {found['high']:.4g}] in {found['feature']!r}"


def _labels(labels: Mapping[str, Any]) -> list[str]:
    if not labels["has_labels"]:
        return ["None named."]
    counts = list(labels["class_counts"].items())
    lines = [
        f"{labels['n_labeled']:,} with a label, {labels['n_unlabeled']:,} without; "
        f"{counted(labels['n_classes'], 'class')}."
    ]
    shown = ", ".join(f"{name}: {count:,}" for name, count in counts[:MOST_CLASSES])
    if len(counts) > MOST_CLASSES:
        shown += f", and {len(counts) - MOST_CLASSES:,} more classes"
    return [*lines, shown] if counts else lines


def _duplicates(duplicates: Mapping[str, Any]) -> list[str]:
    if not duplicates["n_rows_with_equals"]:
        return ["None."]
    torn = counted(duplicates["n_contradictions"], "group")
    return [
        f"{duplicates['n_rows_with_equals']:,} rows have an equal one; "
        f"{duplicates['n_distinct']:,} distinct rows; up to {duplicates['largest_group']:,} are "
        f"equal to each other; {torn} with different labels."
    ]


def _graph(graph: Mapping[str, Any], sample: str) -> list[str]:
    lines = [sample] if sample else []
    if graph["problem"]:
        return [*lines, graph["problem"]]
    joined = "in one piece."
    if (n := graph["n_connected_components"]) > 1:
        sizes = ", ".join(f"{size:,}" for size in graph["component_sizes"][:5])
        joined = (
            f"{n:,} components (largest: {sizes} rows). To join them takes "
            f"{counted(graph['n_bridges'], 'bridge')}, up to {graph['longest_bridge']:.3g} long "
            f"where the median edge is {graph['median_edge']:.3g}; with a node for each class, "
            f"{counted(graph['n_connected_with_class_nodes'] - 1, 'bridge')}."
        )
    return [
        *lines,
        f"{graph['n_points']:,} rows, {graph['n_edges']:,} edges ({graph['search']} search), "
        f"{joined}",
        f"Hubs: the most popular row, {graph['hub']}, is among the nearest of "
        f"{graph['largest_occurrence']:,} rows (on average {graph['n_neighbors']}); skewness "
        f"{graph['occurrence_skewness']:.1f}; {graph['share_of_antihubs']:.1%} of the rows are "
        "among nobody's nearest.",
        f"Scale of the heat weights (scale='auto'): {graph['scale']:.4g}.",
    ]


def _dimension(dimension: Mapping[str, Any]) -> list[str]:
    lines = [f"All rows: {_estimate(dimension['all'])}"]
    classes = list(dimension["classes"].items())
    lines += [f"Class {name}: {_estimate(found)}" for name, found in classes[:MOST_CLASSES]]
    if not classes:
        lines.append("No class has the 20 labels needed for an estimate of its own.")
    return lines


def _estimate(found: Mapping[str, Any]) -> str:
    if found["dimension"] is None:
        return f"unknown ({found['problem'].rstrip('.')})."
    if found["interval"] is None:
        return f"about {found['dimension']:.1f}."
    low, high = found["interval"]
    return f"{found['dimension']:.1f} (80 % interval {low:.1f} to {high:.1f})."


def _methods(methods: list[Mapping[str, Any]]) -> list[str]:
    """Return the methods by what they do with labels, then those that cannot be used."""
    usable = [one for one in methods if one["obstacle"] is None]
    lines = []
    for title, labels in (
        ("With labels", ("uses", "needs")),
        ("Without regard to labels", ("ignores",)),
    ):
        names = [one["method"] for one in usable if one["labels"] in labels]
        lines += [f"{title}: {', '.join(names)}."] if names else []
    reasons: dict[str, list[str]] = {}
    for one in methods:
        if one["obstacle"] is not None:
            reasons.setdefault(one["obstacle"], []).append(one["method"])
    lines += [f"Not {', '.join(names)}: {reason}." for reason, names in reasons.items()]
    return lines


def advise(report: Mapping[str, Any]) -> list[str]:
    """Return sentences, the weightiest first; none where nothing is amiss."""
    return [
        *_on_labels(report["labels"]),
        *_on_duplicates(report["duplicates"]),
        *_on_features(report["features"]),
        *_on_graph(report["graph"]),
    ]


def _on_labels(labels: Mapping[str, Any]) -> list[str]:
    if not labels["has_labels"]:
        return ["No labels are named: pass --labels COLUMN if a column holds some."]
    if labels["n_classes"] < 2:
        found = "one class" if labels["n_classes"] else "no row"
        return [f"Labels name {found}: classify and compare need two classes or more."]
    advice = []
    single = labels["classes_with_one_label"]
    if single:
        advice.append(
            f"{_counted(len(single), 'class has', 'classes have')} one label only "
            f"({listed(single)}): errors there cannot be measured, label more rows."
        )
    few = [
        name
        for name, count in labels["class_counts"].items()
        if 1 < count < FEW_PER_CLASS and name not in single
    ]
    if few:
        advice.append(
            f"{_counted(len(few), 'class has', 'classes have')} fewer than {FEW_PER_CLASS} labels "
            f"({listed(few)}): measured errors will have wide intervals."
        )
    return advice


def _on_duplicates(duplicates: Mapping[str, Any]) -> list[str]:
    if not duplicates["n_contradictions"]:
        return []
    one, other = duplicates["contradiction"]
    n = duplicates["n_contradictions"]
    more = f", and {n - 1:,} more groups of equal rows differ likewise" if n > 1 else ""
    return [
        f"Equal rows have different labels: row {one['row']} is {one['label']!r} and row "
        f"{other['row']} is {other['label']!r}{more}. Correct them, or leave the cells empty."
    ]


def _on_features(features: Mapping[str, Any]) -> list[str]:
    advice = []
    ratio = features["range_ratio"]
    if ratio is not None and ratio > VERY_DIFFERENT:
        advice.append(
            f"Features have very different scales: {features['widest']['feature']!r} ranges "
            f"{ratio:,.0f} times as wide as a quarter of the others, which distances hardly see. "
            "Unless their units are the same, standardize them: --scale standard does so in embed, "
            "classify and compare."
        )
    if features["n_constant"]:
        n = features["n_constant"]
        advice.append(
            f"{_counted(n, 'feature is', 'features are')} constant "
            f"({listed(features['constant'], n)}): harmless, and can be left out with --ignore."
        )
    return advice


def _on_graph(graph: Mapping[str, Any]) -> list[str]:
    if graph["problem"]:
        return [f"There is no neighbor graph: {graph['problem']}"]
    advice = []
    if (n := graph["n_connected_components"]) > 1:
        sizes = " + ".join(f"{size:,}" for size in graph["component_sizes"][:5])
        more = " + ..." if n > 5 else ""
        advice.append(
            f"The graph falls into {n:,} components ({sizes}{more} rows): maps "
            f"join them by {_counted(graph['n_bridges'], 'bridge', 'bridges')}. Try --neighbors "
            f"{2 * graph['n_neighbors']}, and see whether the far rows belong to the data."
        )
    if graph["has_extreme_hub"]:
        advice.append(
            f"Row {graph['hub']} is a hub: it is among the nearest of "
            f"{graph['largest_occurrence']:,} rows, and joins what has little in common. Rows of "
            "unit length (cosine distances), or fewer features, may avoid this."
        )
    elif graph["share_of_antihubs"] > MANY_ANTIHUBS:
        advice.append(
            f"{graph['share_of_antihubs']:.0%} of the rows are among nobody's nearest, as in very "
            "many dimensions: fewer features, or PCA first, may help."
        )
    return advice


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
