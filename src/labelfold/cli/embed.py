"""`labelfold embed`: a map of the rows of a data file."""

from __future__ import annotations

import sys
import time
from pathlib import Path
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
from labelfold.cli.method_options import (
    Beta,
    Compact,
    Dims,
    Jobs,
    Json,
    Neighbors,
    Out,
    Save,
    Scale,
    Seed,
    Settings,
)
from labelfold.cli.methods import EMBEDDERS, check_name, check_needs, make_method
from labelfold.cli.options import Force, Quiet, Verbose
from labelfold.cli.results import Results
from labelfold.cli.scaling import check_scale, make_scaler, with_scaler
from labelfold.cli.summary import (
    data_facts,
    describe_data,
    describe_end,
    describe_files,
    describe_solve,
    estimator_facts,
    row_column,
    versions,
)
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table
    from labelfold.plotting import EmbeddingDisplay


def embed(
    context: typer.Context,
    data: Data,
    out: Out,
    labels: Labels = None,
    method: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help=f"One of {', '.join(EMBEDDERS)}."),
    ] = "ccdr",
    dims: Dims = None,
    neighbors: Neighbors = None,
    beta: Beta = None,
    settings: Settings = None,
    scale: Scale = "none",
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the map, labelled rows in colour: .png, .pdf, .svg, or .html for a page to "
            "search. Of more than two coordinates, the plane that parts three or more classes.",
        ),
    ] = None,
    save: Save = None,
    compact: Compact = False,
    as_json: Json = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    labels_file: LabelsFile = None,
    features: Features = None,
    ignore: Ignore = None,
    id_column: IdColumn = None,
    header: Header = None,
    format: Format = None,
    max_bytes: MaxBytes = None,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Map the rows of a data file to a few coordinates.

    Labels may be missing for most rows. These methods use them: ccdr (class constrained eigenmaps),
    lle (supervised locally linear), mfa (marginal Fisher, linear), ssde and ism (semidefinite, for
    thousands of rows) and resampled (the mean of ccdr on subsamples, for very many rows).
    These see none: eigenmaps (Laplacian), mvu and mfnu (unfolding, for thousands too) and pca.
    'labelfold inspect' tells what to expect of each, 'labelfold compare' which suits the labels.

    The result has a line a row: its name (id) or number (row, the first is 1), its coordinates
    (x1, x2, ...), and the label where one was given.

    For example:

      labelfold embed flowers.csv --labels kind -o map.csv --plot map.png

      labelfold embed flowers.csv --labels kind -o map.csv --plot map.html --save model.skops
    """
    console: Console = context.obj
    console.set_verbosity(quiet=quiet, verbose=verbose)
    check_name(method, list(EMBEDDERS))
    check_scale(scale)
    if compact and save is None:
        raise InputError("--compact says how a model is kept: pass --save as well.")
    start = time.perf_counter()
    with Results(
        out,
        inputs=(data, *([] if labels_file is None else [str(labels_file)])),
        picture=plot,
        model=save,
        overwrite=force,
        as_json=as_json,
    ) as results:
        shows_progress = not quiet and (verbose or sys.stderr.isatty())
        embedder = make_method(
            method,
            dims=dims,
            neighbors=neighbors,
            beta=beta,
            settings=settings or (),
            seed=seed,
            jobs=jobs,
            verbose=shows_progress,
        )
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
        check_needs(method, table)
        results.check_map(table.n_rows)
        begin = time.perf_counter()
        scaler = make_scaler(scale, table.X, seed)
        X = table.X if scaler is None else scaler.fit_transform(table.X)
        coordinates = embedder.fit_transform(X, table.labels)
        fit_seconds = time.perf_counter() - begin
        results.write_table(as_columns(table, coordinates))
        if plot is not None:
            with console.step("picture"):
                numbers = {"row": range(1, table.n_rows + 1)}
                display = as_display(embedder, coordinates, table)
                results.write_map(display, {**numbers, **row_column(table)})
        if "verbose" in embedder.get_params():
            embedder.set_params(verbose=0)  # a model does not remember who watched
        results.write_model(with_scaler(scaler, embedder), table.feature_names, compact=compact)
    facts = {
        "command": "embed",
        "data": data_facts(table),
        "method": method,
        "scale": scale,
        "n_components": coordinates.shape[1],
        **estimator_facts(embedder),
        "files": {
            "table": out,
            "picture": None if plot is None else str(plot),
            "model": None if save is None else str(save),
        },
        "seconds": {
            "fit": round(fit_seconds, 3),
            "total": round(time.perf_counter() - start, 3),
        },
        "versions": versions(),
    }
    results.report(console, facts, describe(facts))


def as_columns(table: Table, coordinates: Any) -> dict[str, Any]:
    """Return the columns of the result."""
    columns = {**row_column(table), "x": coordinates}
    if table.labels is not None:
        columns["label"] = table.labels
    return columns


def as_display(embedder: Any, coordinates: Any, table: Table) -> EmbeddingDisplay:
    """The map, ready to be drawn."""
    from labelfold.labels import PartialLabels
    from labelfold.plotting import EmbeddingDisplay
    from labelfold.plotting.map_view import telling_components

    labels = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
    return EmbeddingDisplay(
        coordinates,
        labels=labels,
        components=telling_components(coordinates.shape[1], labels),
        class_centers=getattr(embedder, "class_centers_", None),
        classes=getattr(embedder, "classes_", None),
    )


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    scaled = "" if facts["scale"] == "none" else f", columns scaled ({facts['scale']})"
    n = facts["n_components"]
    lines = [
        describe_data(facts["data"]),
        "",
        f"Map by {facts['method']} ({facts['estimator']}): {n} coordinate{'s' * (n > 1)}{scaled}.",
        *describe_solve(facts),
        "",
        *describe_files(facts["files"]),
        *describe_end(facts),
    ]
    return "\n".join(lines)
