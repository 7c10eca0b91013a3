"""`labelfold embed`: a map of the rows of a data file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from labelfold.cli.console import Console
from labelfold.cli.methods import (
    check_needs,
    check_scale,
    embedders,
    find_method,
    make_estimator,
    refusals_of,
    scale_columns,
    with_scaler,
)
from labelfold.cli.options import (
    Data,
    DataOptions,
    Labels,
    Method,
    MethodOptions,
    Out,
    OutputOptions,
    command,
)
from labelfold.cli.output import Results
from labelfold.cli.reports import (
    counted,
    data_facts,
    describe_data,
    describe_end,
    describe_scale,
    describe_solve,
    estimator_facts,
    row_column,
)
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table
    from labelfold.plotting import EmbeddingDisplay


@command
def embed(
    *,
    console: Console,
    data: Data,
    out: Out,
    labels: Labels = None,
    method: Method = "ccdr",
    options: MethodOptions,
    wanted: OutputOptions,
    reading: DataOptions,
) -> None:
    """Map the rows of a data file to a few coordinates.

    Labels may be missing for most rows. Methods that use them, and those that see none, are listed
    below; 'labelfold compare' shows which of them suits the labels.

    The result has one line per row: its name (id) or number (row, the first is 1), its coordinates
    (x1, x2, ...), and the label where one was given.

    For example:

      labelfold embed flowers.csv --labels kind -o map.csv --plot map.png

      labelfold embed flowers.csv --labels kind -o map.csv --plot map.html --save model.skops
    """
    chosen = find_method(method, embedders())
    check_scale(options.scale)
    check_saving(wanted)
    with Results(
        out,
        inputs=reading.files(data),
        picture=wanted.plot,
        model=wanted.save,
        pages=True,
        overwrite=wanted.force,
        as_json=wanted.as_json,
    ) as results:
        embedder = make_estimator(chosen, options, verbose=console.shows_progress)
        table = reading.read_labeled(console, data, labels)
        check_needs(chosen, table)
        results.check_map(table.n_rows)
        begin = time.perf_counter()
        X, scaler = scale_columns(options.scale, table.X, options.seed)
        with refusals_of(embedder):
            coordinates = embedder.fit_transform(X, table.labels)
        fit_seconds = time.perf_counter() - begin
        results.write_table(as_columns(table, coordinates))
        if wanted.plot is not None:
            with console.step("picture"):
                numbers = {"row": range(1, table.n_rows + 1)}
                display = as_display(embedder, coordinates, table)
                results.write_map(display, {**numbers, **row_column(table)})
        if "verbose" in embedder.get_params():
            embedder.set_params(verbose=0)  # a model does not remember who watched
        model = with_scaler(scaler, embedder)
        results.write_model(model, table.feature_names, compact=wanted.compact)
    facts = {
        "command": "embed",
        "data": data_facts(table),
        "method": method,
        "scale": options.scale,
        "n_components": coordinates.shape[1],
        **estimator_facts(embedder),
        **results.end_facts(fit=fit_seconds),
    }
    results.report(console, facts, describe(facts))


def check_saving(wanted: OutputOptions) -> None:
    """Refuse --compact where there is nothing to save."""
    if wanted.compact and wanted.save is None:
        raise InputError("--compact requires --save.")


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
    n = counted(facts["n_components"], "coordinate")
    scaled = describe_scale(facts["scale"])
    lines = [
        describe_data(facts["data"]),
        "",
        f"Map by {facts['method']} ({facts['estimator']}): {n}{scaled}.",
        *describe_solve(facts),
        "",
        *describe_end(facts),
    ]
    return "\n".join(lines)
