"""`labelfold inspect`: what a table is like, as text or JSON, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import prepare
from labelfold.cli.options import Data, DataOptions, Json, Labels, Scale, command
from labelfold.cli.reports import counted, listed, wrapped

if TYPE_CHECKING:
    from labelfold.tables import Table

MANY_MISSING = 0.5  # of the cells of a column
MANY_ANTIHUBS = 0.25
FEW_PER_CLASS = 5
MOST_SIZES = 5


@command
def inspect(
    *,
    console: Console,
    data: Data,
    labels: Labels = None,
    neighbors: Annotated[
        int,
        typer.Option(
            "--neighbors", metavar="K", min=1, help="Neighbors of every row in the graph."
        ),
    ] = 12,
    scale: Scale = "auto",
    as_json: Json = False,
    reading: DataOptions,
) -> None:
    """Check a data file and report problems.

    Reports what the columns hold and how they are used (one by one with --columns), the labels of
    each class, equal rows, whether the neighbor graph is connected and has hubs, the intrinsic
    dimension of the rows, and which methods can be used. The last section says what to do.

    Nothing is written. The graph of a large file is that of a random sample of its rows.

    For example:

      labelfold inspect flowers.csv --labels kind

      labelfold inspect flowers.csv --labels kind --neighbors 20 --json
    """
    table = reading.read_labeled(console, data, labels)
    report = examine(console, table, neighbors, scale)
    if as_json:
        console.result(json.dumps(report, indent=2, allow_nan=False))
    else:
        console.result(describe(report, show_columns=reading.show_columns))


def examine(console: Console, table: Table, n_neighbors: int, scale: str) -> dict[str, Any]:
    """Return all findings as plain values."""
    with console.step("features and labels"):
        from labelfold.cli import inspection
        from labelfold.labels import PartialLabels

        X, _, prepared = prepare(table, scale)
        given = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
        report: dict[str, Any] = {
            "command": "inspect",
            "data": reports.data_facts(table),
            "columns": prepared.to_dict(),
            "features": inspection.examine_features(X),
            "duplicates": inspection.examine_duplicates(table, X, given),
        }
    rows = inspection.draw_sample(table.n_rows)
    report["n_examined"] = len(rows)
    with console.step(f"neighbor graph of {len(rows):,} rows"):
        report["graph"] = inspection.examine_graph(table, X, given, rows, n_neighbors)
    with console.step(f"dimension of {len(rows):,} rows"):
        report["dimension"] = inspection.examine_dimension(X, given, rows)
    report["methods"] = inspection.examine_methods(report)
    report["advice"] = advise(report)
    return report


def describe(report: Mapping[str, Any], *, show_columns: bool = False) -> str:
    """The report as text for people."""
    sections = [
        ("Data", [*reports.describe_input(report), _features(report["features"])]),
        *([("Columns", reports.describe_columns(report["columns"]))] if show_columns else []),
        ("Equal rows", _duplicates(report["duplicates"])),
        (f"Neighbor graph (--neighbors {report['graph']['n_neighbors']})", _graph(report)),
        ("Intrinsic dimension", _dimension(report["dimension"])),
        ("Methods that can be used", _methods(report["methods"])),
        ("What to do", [f"- {line}" for line in report["advice"]] or ["No problems found."]),
    ]
    return "\n\n".join(
        "\n".join([title, *(wrapped(line, first="  ", later="    ") for line in lines)])
        for title, lines in sections
    )


def _features(features: Mapping[str, Any]) -> str:
    form = "sparse, " if features["is_sparse"] else ""
    return f"Features: {form}{features['share_of_zeros']:.0%} of the entries are zero."


def _duplicates(duplicates: Mapping[str, Any]) -> list[str]:
    n = duplicates["n_rows_with_equals"]
    if not n:
        return ["None."]
    groups = counted(duplicates["n_contradictions"], "group of equal rows", "groups of equal rows")
    return [
        f"{n:,} rows equal another row, in groups of up to {duplicates['largest_group']:,}; "
        f"{duplicates['n_distinct']:,} distinct rows.",
        f"{groups} with different labels.",
    ]


def _graph(report: Mapping[str, Any]) -> list[str]:
    graph, n_rows, n_examined = report["graph"], report["data"]["n_rows"], report["n_examined"]
    lines = []
    if n_examined < n_rows:
        lines.append(
            f"Graph and dimension are those of {n_examined:,} rows drawn at random. In the graph "
            f"of all {n_rows:,} rows neighbors are closer, and there may be fewer components."
        )
    if graph["problem"]:
        return [*lines, graph["problem"]]
    n = graph["n_connected_components"]
    components = "connected" if n == 1 else f"{n:,} components of {_sizes(graph)} rows"
    lines.append(f"{counted(graph['n_edges'], 'edge')}, {components}; search: {graph['search']}.")
    if n > 1:
        with_nodes = graph["n_connected_with_class_nodes"] - 1
        lines.append(
            f"{counted(graph['n_bridges'], 'bridge')} would connect them, up to "
            f"{graph['longest_bridge']:.3g} long (median edge: {graph['median_edge']:.3g}); with "
            f"the class nodes of ccdr, {counted(with_nodes, 'bridge')}."
        )
    return [
        *lines,
        f"Largest hub: row {graph['hub']}, a neighbor of "
        f"{counted(graph['largest_occurrence'], 'row')} (average: {graph['n_neighbors']}). "
        f"{graph['share_of_antihubs']:.1%} of the rows are not a neighbor of any other. Skewness: "
        f"{graph['occurrence_skewness']:.1f}.",
        f"Scale of heat weights (scale='auto'): {graph['scale']:.4g}.",
    ]


def _sizes(graph: Mapping[str, Any]) -> str:
    sizes = " + ".join(f"{size:,}" for size in graph["component_sizes"][:MOST_SIZES])
    return sizes + (" + ..." if graph["n_connected_components"] > MOST_SIZES else "")


def _dimension(dimension: Mapping[str, Any]) -> list[str]:
    lines = [f"All rows: {_estimate(dimension['all'])}"]
    classes = list(dimension["classes"].items())
    lines += [f"Class {name}: {_estimate(one)}" for name, one in classes[: reports.MOST_CLASSES]]
    if not classes:
        lines.append("No class has the 20 labels needed for a per-class estimate.")
    return lines


def _estimate(one: Mapping[str, Any]) -> str:
    if one["dimension"] is None:
        return f"unknown ({one['problem'].rstrip('.')})."
    if one["interval"] is None:
        return f"about {one['dimension']:.1f}."
    low, high = one["interval"]
    return f"{one['dimension']:.1f} (80% interval {low:.1f} to {high:.1f})."


def _methods(methods: list[Mapping[str, Any]]) -> list[str]:
    """Return the methods by what they do with labels, then those that cannot be used."""
    groups: dict[str, list[str]] = {}
    for one in methods:
        if one["obstacle"] is None:
            title = "Ignore labels" if one["labels"] == "ignores" else "Use labels"
            groups.setdefault(f"{title}: ", []).append(one["method"])
    lines = [f"{title}{', '.join(names)}." for title, names in sorted(groups.items())[::-1]]
    reasons: dict[str, list[str]] = {}
    for one in methods:
        if one["obstacle"] is not None:
            reasons.setdefault(one["obstacle"], []).append(one["method"])
    return lines + [f"Not usable: {', '.join(reasons[why])} ({why})." for why in reasons]


def advise(report: Mapping[str, Any]) -> list[str]:
    """Return what to do, the most important first; nothing if no problem was found."""
    return [
        *_on_labels(report["data"]),
        *_on_duplicates(report["duplicates"]),
        *_on_columns(report["columns"], report["data"]["n_rows"]),
        *_on_graph(report["graph"]),
    ]


def _on_labels(data: Mapping[str, Any]) -> list[str]:
    classes = data["classes"]
    if not data["has_labels"]:
        return ["No labels are named: pass --labels COLUMN if a column holds them."]
    if len(classes) < 2:
        what = "only one class is labeled" if classes else "no row is labeled"
        return [f"{what.capitalize()}: classify and compare need two classes or more."]
    advice = []
    single = [str(one["label"]) for one in classes if one["n_labeled"] == 1]
    few = [str(one["label"]) for one in classes if 1 < one["n_labeled"] < FEW_PER_CLASS]
    if single:
        advice.append(
            f"{counted(len(single), 'class has', 'classes have')} only one label "
            f"({listed(single)}), so errors there cannot be measured: label more rows."
        )
    if few:
        advice.append(
            f"{counted(len(few), 'class has', 'classes have')} fewer than {FEW_PER_CLASS} labels "
            f"({listed(few)}), so measured errors have wide intervals: label more rows."
        )
    return advice


def _on_duplicates(duplicates: Mapping[str, Any]) -> list[str]:
    n = duplicates["n_contradictions"]
    if not n:
        return []
    one, other = duplicates["contradiction"]
    more = f" (and {n - 1:,} more groups of equal rows)" if n > 1 else ""
    return [
        f"Equal rows have different labels: row {one['row']} is {one['label']!r} and row "
        f"{other['row']} is {other['label']!r}{more}. Correct the labels, or leave them empty."
    ]


def _on_columns(report: Mapping[str, Any], n_rows: int) -> list[str]:
    columns = report["columns"]
    copies = [one["name"] for one in columns if one["copies_labels"]]
    missing = [one["name"] for one in columns if one["n_missing"] > MANY_MISSING * n_rows]
    unreadable = [one["name"] for one in columns if one["n_unreadable"]]
    advice = []
    if copies:
        advice.append(
            f"{listed(copies)}: gives away the class of every labeled row. If it is the label "
            "under another name, leave it out with --ignore; otherwise error estimates are too low."
        )
    if unreadable:
        advice.append(
            f"{listed(unreadable)}: some cells do not fit the column and count as missing: correct "
            "them."
        )
    if missing:
        advice.append(f"{listed(missing)}: most cells are missing; --ignore leaves a column out.")
    return advice


def _on_graph(graph: Mapping[str, Any]) -> list[str]:
    if graph["problem"]:
        return [f"There is no neighbor graph: {graph['problem']}"]
    advice = []
    if (n := graph["n_connected_components"]) > 1:
        advice.append(
            f"The graph has {n:,} connected components ({_sizes(graph)} rows), which embeddings "
            f"connect by {counted(graph['n_bridges'], 'bridge')}. Try --neighbors "
            f"{2 * graph['n_neighbors']}, and check whether the distant rows belong to the data."
        )
    if graph["has_extreme_hub"]:
        advice.append(
            f"Row {graph['hub']} is a hub: it is a neighbor of {graph['largest_occurrence']:,} "
            "rows and connects what has little in common. Cosine distances (--set metric=cosine) "
            "or fewer features may avoid this."
        )
    elif graph["share_of_antihubs"] > MANY_ANTIHUBS:
        advice.append(
            f"{graph['share_of_antihubs']:.0%} of the rows are not a neighbor of any other, as "
            "in very many dimensions: fewer features, or PCA first, may help."
        )
    return advice
