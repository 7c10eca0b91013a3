"""`labelfold inspect`: what a table is like, and what each method would do with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.data_options import (
    Data,
    Features,
    Format,
    Header,
    IdColumn,
    Ignore,
    Labels,
    LabelsFile,
    MaxBytes,
    read_data,
)
from labelfold.cli.options import Quiet, Verbose

if TYPE_CHECKING:
    from labelfold.cli.tables import Table


def inspect(
    context: typer.Context,
    data: Data,
    labels: Labels = None,
    neighbors: Annotated[
        int,
        typer.Option("--neighbors", metavar="K", min=1, help="Neighbours of every row's graph."),
    ] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    labels_file: LabelsFile = None,
    features: Features = None,
    ignore: Ignore = None,
    id_column: IdColumn = None,
    header: Header = None,
    format: Format = None,
    max_bytes: MaxBytes = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Look at data before any map is made: a doctor for their features, labels and graph.

    Tells what the columns hold and whether their scales differ, how many labels there are of each
    class, which rows are equal, whether the graph of nearest neighbours falls apart or has hubs,
    how many dimensions the points seem to have, which methods can be used on them, and roughly
    how long each takes. What to do about it stands at the end.

    Nothing is written and nothing is changed. Of many rows the graph is that of a sample.

    For example:

      labelfold inspect flowers.csv --labels kind

      labelfold inspect flowers.csv --labels kind --neighbors 20 --json
    """
    console: Console = context.obj
    console.set_verbosity(quiet=quiet, verbose=verbose)
    table = read_data(
        console,
        data,
        labels=labels,
        labels_file=labels_file,
        features=features,
        ignore=ignore,
        id_column=id_column,
        header=header,
        format=format,
        max_bytes=max_bytes,
    )
    report = examine(console, table, neighbors)
    if as_json:
        console.result(json.dumps(report, indent=2, allow_nan=False))
        return
    from labelfold.cli.inspection_text import describe

    console.result(describe(report))


def examine(console: Console, table: Table, n_neighbors: int) -> dict[str, Any]:
    """Everything that the command finds, as plain values."""
    with console.step("features and labels"):
        from labelfold.cli import doctor
        from labelfold.cli.advice import advise
        from labelfold.cli.costs import DataSize
        from labelfold.cli.prospects import foresee
        from labelfold.cli.tables.memory import available_memory
        from labelfold.labels import PartialLabels

        given = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
        report: dict[str, Any] = {
            "data": table.origin,
            "features": doctor.examine_features(table),
            "labels": doctor.examine_labels(table),
            "duplicates": doctor.examine_duplicates(table, given),
        }
    rows = doctor.draw_sample(table)
    report["n_examined"] = len(rows)
    with console.step(f"neighbour graph of {len(rows):,} rows"):
        report["graph"] = doctor.examine_graph(table, given, rows, n_neighbors)
    with console.step(f"dimension of {len(rows):,} rows"):
        report["dimension"] = doctor.examine_dimension(table, given, rows)
    n_entries = (1 - report["features"]["share_of_zeros"]) * table.n_features
    size = DataSize(
        n_rows=table.n_rows,
        n_features=table.n_features,
        n_labeled=table.n_labeled,
        is_sparse=report["features"]["is_sparse"],
        entries_per_row=n_entries if report["features"]["is_sparse"] else table.n_features,
    )
    report["methods"] = [
        {
            "method": one.method,
            "is_usable": one.is_usable,
            "time": one.cost.time if one.cost else None,
            "memory": one.cost.memory if one.cost else None,
            "seconds_guessed": float(f"{one.cost.seconds:.1g}") if one.cost else None,
            "bytes_guessed": float(f"{one.cost.n_bytes:.1g}") if one.cost else None,
            "notes": list(one.notes),
        }
        for one in foresee(report, size, available_memory())
    ]
    report["advice"] = advise(report)
    return report
