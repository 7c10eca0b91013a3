"""`labelfold embed`: a map of the rows of a data file."""

from __future__ import annotations

import time
from typing import Any

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import (
    SCALES,
    check_needs,
    check_option,
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
from labelfold.cli.output import Results, map_display


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
    check_option("--scale", options.scale, SCALES)
    with Results(out, reading.files(data), wanted, pages=True) as results:
        embedder = make_estimator(chosen, options, verbose=console.shows_progress)
        table = reading.read_labeled(console, data, labels)
        check_needs(chosen, table)
        results.check_map(table.n_rows)
        begin = time.perf_counter()
        X, scaler = scale_columns(options.scale, table.X, options.seed)
        with refusals_of(embedder):
            coordinates = embedder.fit_transform(X, table.labels)
        fit_seconds = time.perf_counter() - begin
        names = reports.row_column(table)
        given = {} if table.labels is None else {"label": table.labels}
        results.write_table({**names, "x": coordinates, **given})
        if wanted.plot is not None:
            with console.step("picture"):
                from labelfold.labels import PartialLabels

                known = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
                display = map_display(coordinates, known, embedder)
                results.write_map(display, {"row": range(1, table.n_rows + 1), **names})
        if "verbose" in embedder.get_params():
            embedder.set_params(verbose=0)  # a model does not remember who watched
        results.write_model(with_scaler(scaler, embedder), table.feature_names)
    facts = {
        "command": "embed",
        "data": reports.data_facts(table),
        "method": method,
        "scale": options.scale,
        "n_components": coordinates.shape[1],
        **reports.estimator_facts(embedder),
        **results.end_facts(fit=fit_seconds),
    }
    results.report(console, facts, describe(facts))


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    n = reports.counted(facts["n_components"], "coordinate")
    scaled = reports.describe_scale(facts["scale"])
    lines = [
        reports.describe_data(facts["data"]),
        "",
        f"Map by {facts['method']} ({facts['estimator']}): {n}{scaled}.",
        *reports.describe_solve(facts),
        "",
        *reports.describe_end(facts),
    ]
    return "\n".join(lines)
