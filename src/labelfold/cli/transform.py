"""`labelfold transform`: a saved model on new rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.data_options import Features, Format, Header, IdColumn, Ignore, MaxBytes
from labelfold.cli.method_options import Json, Out
from labelfold.cli.new_rows import read_new_rows
from labelfold.cli.options import Force, Quiet, Verbose
from labelfold.cli.results import Results
from labelfold.cli.summary import (
    counted,
    describe_end,
    describe_files,
    row_column,
    versions,
)


def transform(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A file of --save, or of labelfold.save in Python.",
            show_default=False,
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW",
            help="New rows, in any format that 'labelfold embed' reads; - for standard input.",
            show_default=False,
        ),
    ],
    out: Out,
    spread: Annotated[
        bool,
        typer.Option(
            "--spread",
            help="For a map by --method resampled: how far the subsamples' maps are apart at a "
            "row, in a column of that name. Rows of large spread are placed badly.",
        ),
    ] = False,
    as_json: Json = False,
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
    """Put new rows on a saved map, or label them with a saved classifier.

    Every new row is treated by itself, and no label is asked for. The columns that the model was
    fitted on are found by their names, in whatever order, and others are ignored. A model without
    names takes the columns as they stand; for a file without names choose them with --features.
    Opening a model runs no code from it; one that was altered or cut short is refused.

    The result has a line a row: its name (id) or number (row, the first is 1); the coordinates
    (x1, x2, ...) of a model by 'labelfold embed'; the label and the confidence, which is the
    probability that the classifier gives to that label, of one by 'labelfold classify'.

    For example:

      labelfold transform model.skops more.csv -o more-map.csv

      cat more.csv | labelfold transform model.skops - -o -
    """
    console: Console = context.obj
    console.set_verbosity(quiet=quiet, verbose=verbose)
    start = time.perf_counter()
    with Results(out, inputs=(str(model), new), overwrite=force, as_json=as_json) as results:
        with console.step(f"opening {model}"):
            from labelfold.cli.model_answers import answer, last_step, open_model

            estimator, names = open_model(model, spread=spread)
        table = read_new_rows(
            console,
            new,
            names,
            getattr(estimator, "n_features_in_", None),
            features=features,
            ignore=ignore,
            id_column=id_column,
            header=header,
            format=format,
            max_bytes=max_bytes,
        )
        begin = time.perf_counter()
        with console.step("new rows"):
            answers = answer(estimator, table.X, spread=spread)
        seconds = time.perf_counter() - begin
        results.write_table({**row_column(table), **answers})
    facts = {
        "command": "transform",
        "model": {
            "file": str(model),
            "estimator": type(last_step(estimator)).__name__,
            "n_features": table.n_features,
            "feature_names": names,
        },
        "data": {"file": table.origin, "n_rows": table.n_rows},
        "n_components": answers["x"].shape[1] if "x" in answers else None,
        "columns": list(answers),
        "files": {"table": out},
        "seconds": {
            "new_rows": round(seconds, 3),
            "total": round(time.perf_counter() - start, 3),
        },
        "versions": versions(),
    }
    results.report(console, facts, describe(facts))


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    model, data, n = facts["model"], facts["data"], facts["n_components"]
    given = [] if n is None else [counted(n, "coordinate")]
    given += [title for title in facts["columns"] if title != "x"]
    lines = [
        f"{model['file']}: {model['estimator']} of {counted(model['n_features'], 'feature')}.",
        f"{data['file']}: {counted(data['n_rows'], 'row')}, each with {' and '.join(given)}.",
        *describe_files(facts["files"]),
        *describe_end(facts),
    ]
    return "\n".join(lines)
