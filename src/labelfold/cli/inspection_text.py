"""The report of `labelfold inspect` as text in sections."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from labelfold.cli.summary import WIDTH, counted

MOST_CLASSES = 20
KINDS = {"zero_or_one": "0 and 1 only", "whole": "whole numbers", "real": "numbers"}


def describe(report: Mapping[str, Any]) -> str:
    """Return the whole report."""
    n_rows, n_examined = report["features"]["n_rows"], report["n_examined"]
    sample = ""
    if n_examined < n_rows:
        sample = (
            f"Graph and dimension are those of {n_examined:,} rows drawn at random: with all "
            f"{n_rows:,} rows neighbours are nearer, and components may be fewer."
        )
    sections = [
        (f"Data: {report['data']}", _features(report["features"])),
        ("Labels", _labels(report["labels"])),
        ("Equal rows", _duplicates(report["duplicates"])),
        (f"Graph of {report['graph']['n_neighbors']} neighbours", _graph(report["graph"], sample)),
        ("Intrinsic dimension", _dimension(report["dimension"])),
        ("What each method would do", _methods(report["methods"])),
        ("What to do", [f"- {line}" for line in report["advice"]] or ["Nothing is amiss."]),
    ]
    return "\n\n".join(f"{title}\n{_indented(lines)}" for title, lines in sections)


def _indented(lines: list[str]) -> str:
    """Return paragraphs within the width; what begins with blanks is a table, and kept."""
    return "\n".join(
        line
        if line.startswith(" ") or not line
        else textwrap.fill(
            line,
            WIDTH,
            initial_indent="  ",
            subsequent_indent="    " if line.startswith("- ") else "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )


def _features(features: Mapping[str, Any]) -> list[str]:
    kinds = [f"{n:,} of {KINDS[kind]}" for kind, n in features["kinds"].items() if n]
    form = "sparse, " if features["is_sparse"] else ""
    lines = [
        f"{counted(features['n_rows'], 'row')}, {counted(features['n_features'], 'feature')} "
        f"({', '.join(kinds)}); "
        f"{form}{features['share_of_zeros']:.0%} of the entries are zero."
    ]
    if features["n_constant"]:
        n = features["n_constant"]
        named = ", ".join(features["constant"][:5]) + (", ..." if n > 5 else "")
        lines.append(f"{counted(n, 'constant feature')}: {named}.")
    if features["widest"] is not None:
        lines.append(
            f"Ranges: from {_range(features['narrowest'])} to {_range(features['widest'])}; one "
            f"feature has up to {features['largest_share_of_variance']:.0%} of all variance."
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
    if graph["n_components"] > 1:
        sizes = ", ".join(f"{size:,}" for size in graph["component_sizes"][:5])
        joined = (
            f"{graph['n_components']:,} components (largest: {sizes} rows). To join them takes "
            f"{counted(graph['n_bridges'], 'bridge')}, up to {graph['longest_bridge']:.3g} long "
            f"where the median edge is {graph['median_edge']:.3g}; with a node for each class, "
            f"{counted(graph['n_components_with_class_nodes'] - 1, 'bridge')}."
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
        lines.append("No class has the 20 labels that it takes to estimate its own.")
    return lines


def _estimate(found: Mapping[str, Any]) -> str:
    if found["dimension"] is None:
        return f"unknown ({found['problem'].rstrip('.')})."
    if found["interval"] is None:
        return f"about {found['dimension']:.1f}."
    low, high = found["interval"]
    return f"{found['dimension']:.1f} (80 % interval {low:.1f} to {high:.1f})."


def _methods(methods: list[Mapping[str, Any]]) -> list[str]:
    lines = [_table_row("method", "time", "memory", "remarks")]
    for one in methods:
        remarks = "; ".join(one["notes"])
        if one["is_usable"]:
            lines.append(_table_row(one["method"], one["time"], one["memory"], remarks))
        else:
            lines.append(_table_row(one["method"], "-", "-", f"cannot be used: {remarks}"))
    return [
        *lines,
        "",
        "Time and memory are rough guesses for one map with default parameters on one thread; "
        "data can make them ten times as large.",
    ]


def _table_row(method: str, time: str, memory: str, remarks: str) -> str:
    """Return a row of the table, its last column in lines below each other."""
    start = f"  {method:<16}{time:<16}{memory:<10}"
    if not remarks:
        return start.rstrip()
    return textwrap.fill(
        remarks,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
