"""`labelfold embed`: coordinates of the rows of a data file, and a map of them."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import (
    check_needs,
    embedders,
    find_method,
    make_estimator,
    prepare,
    scikit_learn_errors,
)
from labelfold.cli.options import (
    Data,
    DataOptions,
    Labels,
    MethodOptions,
    Out,
    OutputOptions,
    command,
)
from labelfold.cli.output import Results, map_display

DEFAULT = "ccdr"


@command
def embed(
    *,
    console: Console,
    data: Data,
    out: Out,
    labels: Labels = None,
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="NAME", help="One of the methods below, or ccdr."),
    ] = None,
    options: MethodOptions,
    wanted: OutputOptions,
    reading: DataOptions,
) -> None:
    """Compute a few coordinates for every row of a data file.

    Neighbors stay close, and labeled rows of one class come together. Most rows may be unlabeled.
    The methods are listed below; 'labelfold compare' shows which of them suits your labels.

    The result has one line per row: its name (id) or number (row, starting at 1), its coordinates
    (x1, x2, ...), and its label if it has one.

    --plot draws a layout of the neighbor graph, in which groups lie apart and neighbors together;
    with --method, the coordinates of that method.

    For example:

      labelfold embed flowers.csv --labels kind -o xy.csv --plot map.png

      labelfold embed flowers.csv --labels kind -o xy.csv --dims 5 --save model.skops
    """
    chosen = find_method(method or DEFAULT, embedders())
    named = reading.files(*data)
    with options.checkpoints(), Results(out, named, wanted, pages=True) as results:
        embedder = make_estimator(chosen, options, verbose=console.shows_progress)
        table = reading.read_labeled(console, data, labels)
        check_needs(chosen, table)
        results.check_map(table.n_rows)
        from sklearn.pipeline import make_pipeline

        begin = time.perf_counter()
        X, preparation, prepared = prepare(table, options.scale)
        with scikit_learn_errors(embedder):
            coordinates = embedder.fit_transform(X, table.labels)
        fit_seconds = time.perf_counter() - begin
        names = reports.row_column(table)
        given = {} if table.labels is None else {"label": table.labels}
        results.write_table({**names, "x": coordinates, **given})
        if wanted.plot is not None:
            with console.step("picture"):
                from labelfold.labels import PartialLabels

                partial = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
                drawn = embedder
                if method is None:
                    drawn = lay_out(embedder, X, table.labels) or embedder
                    coordinates = drawn.embedding_
                display = map_display(coordinates, partial, drawn)
                results.write_map(display, {"row": range(1, table.n_rows + 1), **names})
        if "verbose" in embedder.get_params():
            embedder.set_params(verbose=0)  # progress is for this run, not for the saved model
        results.write_model(make_pipeline(preparation, embedder), table.feature_names)
    facts = {
        "command": "embed",
        "data": reports.data_facts(table),
        "columns": prepared.to_dict(),
        "method": method or DEFAULT,
        "scale": options.scale,
        "n_components": coordinates.shape[1],
        **reports.estimator_facts(embedder),
        **results.end_facts(fit=fit_seconds),
    }
    results.report(console, facts, describe(facts, show_columns=reading.show_columns))


def lay_out(embedder: Any, X: Any, y: Any) -> Any:
    """Return a layout of the rows on the graph of the embedder; None without openTSNE."""
    from labelfold.exceptions import warn_user
    from labelfold.layout import GraphLayout
    from labelfold.layout.descent import MISSING, is_available

    if not is_available():
        warn_user(f"The map shows the coordinates: {MISSING}")
        return None
    graph, layout = embedder.graph_, GraphLayout(random_state=0)
    layout.set_params(metric=graph.recipe.metric)
    if graph.recipe.radius is not None:
        return layout.fit(X, y)
    layout.set_params(n_neighbors=min(layout.n_neighbors, graph.recipe.n_neighbors))
    return layout.fit(X, y, graph=graph.reweighed(layout.n_neighbors, layout.weights))


def describe(facts: dict[str, Any], *, show_columns: bool = False) -> str:
    """The facts as text for people."""
    n = reports.counted(facts["n_components"], "coordinate")
    return reports.paragraphs(
        reports.describe_input(facts, show_columns=show_columns),
        reports.describe_files(facts["files"]),
        [
            f"Embedding: {facts['method']} ({facts['estimator']}), {n} per row.",
            *reports.describe_solve(facts),
            *reports.describe_end(facts),
        ],
    )
