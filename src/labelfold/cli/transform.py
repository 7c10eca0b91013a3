"""`labelfold transform`: a saved model on new rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import scikit_learn_errors
from labelfold.cli.options import ColumnOptions, Force, Json, Out, OutputOptions, command
from labelfold.cli.output import Results
from labelfold.exceptions import InputError


@command
def transform(
    *,
    console: Console,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A model that --save wrote, or labelfold.save in Python.",
            show_default=False,
        ),
    ],
    new: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW",
            help="New rows, in any format that 'labelfold embed' reads; - is standard input.",
            show_default=False,
        ),
    ],
    out: Out,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="For --method resampled: add a column that says how much the embeddings of the "
            "subsamples differ at each row. Coordinates with a large std are uncertain.",
        ),
    ] = False,
    as_json: Json = False,
    reading: ColumnOptions,
    force: Force = False,
) -> None:
    """Embed or label new rows with a saved model.

    Each new row is computed by itself, without a label. The columns that the model was fitted on
    are found by name, in any order; others are ignored. A model without names takes the columns in
    their order; in a file without names, choose them with --features. Opening a model runs no code
    from it; a damaged file is refused.

    The result has one line per row: its name (id) or number (row, starting at 1); the coordinates
    (x1, x2, ...) from a model of 'labelfold embed'; the label and the confidence, which is the
    probability of that label, from a model of 'labelfold classify'.

    For example:

      labelfold transform model.skops more.csv -o more-xy.csv

      cat more.csv | labelfold transform model.skops - -o -
    """
    wanted = OutputOptions(as_json=as_json, force=force)
    with Results(out, (str(model), *new), wanted) as results:
        with console.step(f"opening {model}"):
            from labelfold.tables.answers import answer, last_step

            estimator, names = open_model(model, std=std)
        n_features = getattr(estimator, "n_features_in_", None)
        table = reading.read_new(console, new, names, n_features)
        begin = time.perf_counter()
        with console.step("new rows"), scikit_learn_errors(last_step(estimator)):
            answers = answer(estimator, table, std=std)
        seconds = time.perf_counter() - begin
        results.write_table({**reports.row_column(table), **answers})
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
        **results.end_facts(new_rows=seconds),
    }
    results.report(console, facts, describe(facts))


def open_model(path: Path, *, std: bool) -> tuple[Any, list[str] | None]:
    """Return a saved model for new rows, and the names of its columns, if they are known."""
    from labelfold import ResampledEmbedding, load
    from labelfold.persistence.model_file import read_feature_names
    from labelfold.tables.answers import is_classifier, last_step

    estimator = load(path)
    kind = type(last_step(estimator)).__name__
    if not hasattr(estimator, "transform") and not is_classifier(estimator):
        raise InputError(
            f"{path} holds a {kind}, which neither embeds nor labels new rows: use a model that "
            "'labelfold embed --save' or 'labelfold classify --save' wrote."
        )
    if std and not isinstance(last_step(estimator), ResampledEmbedding):
        raise InputError(
            f"{path} holds a {kind}, which has no --std: fit it with --method resampled."
        )
    names = read_feature_names(path)
    if names is None and hasattr(estimator, "feature_names_in_"):
        names = estimator.feature_names_in_.tolist()
    return estimator, names


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    model, data, n = facts["model"], facts["data"], facts["n_components"]
    given = [] if n is None else [reports.counted(n, "coordinate")]
    given += [title for title in facts["columns"] if title != "x"]
    columns = reports.counted(model["n_features"], "column")
    rows = reports.counted(data["n_rows"], "row")
    return reports.paragraphs(
        [
            f"{model['file']}: {model['estimator']} of {columns}.",
            f"{data['file']}: {rows}, each with {' and '.join(given)}.",
        ],
        reports.describe_files(facts["files"]),
        reports.describe_end(facts),
    )
