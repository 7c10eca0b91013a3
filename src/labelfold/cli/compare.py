"""`labelfold compare`: methods on the same rows, labels and splits, in one table."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.methods import compared, labels_of_classes, prepare
from labelfold.cli.options import (
    Data,
    DataOptions,
    Force,
    Json,
    Labels,
    OutputOptions,
    Scale,
    Seed,
    check_option,
    command,
)
from labelfold.cli.output import Results, new_figure
from labelfold.cli.reports import data_facts, describe_files, paragraphs, wrapped
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.evaluate import Comparison
    from labelfold.methods import Method

HEADS = ("knn", "ridge", "linear")


@command
def compare(
    *,
    console: Console,
    data: Data,
    labels: Labels = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="NAMES",
            help="Some of the methods listed below, separated by commas. The default is all that "
            "take seconds for 10,000 rows.",
        ),
    ] = None,
    head: Annotated[
        str,
        typer.Option("--head", metavar="|".join(HEADS), help="Classifier on every embedding."),
    ] = "knn",
    dims: Annotated[
        str,
        typer.Option("--dims", metavar="N,N", help="Numbers of coordinates, separated by commas."),
    ] = "2",
    neighbors: Annotated[
        int | None,
        typer.Option(
            "--neighbors",
            metavar="K",
            min=1,
            help="Neighbors of each row in the graph; every method has its own default.",
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option("--folds", metavar="N", min=2, help="Folds in which labels are hidden."),
    ] = 5,
    scale: Scale = "auto",
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File of the table: .csv, .tsv, .parquet or .npz, also with .gz.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the errors: .png, .pdf or .svg."),
    ] = None,
    as_json: Json = False,
    force: Force = False,
    reading: DataOptions,
) -> None:
    """Compare methods by their error on hidden labels.

    The labeled rows are split into folds. In each fold the labels are hidden, every method embeds
    all rows with the labels that are left, the same simple classifier (--head) is fitted on the
    embedding, and its errors on the hidden labels are counted. auto and laplacian label the rows
    themselves, without --dims and --head. Unlabeled rows take part in every fit and are never
    scored. A method that fails is listed with the reason.

    The methods have their default parameters: the table shows where to start, not which method is
    best after tuning. Every embedding is computed once per fold, dimension and method.

    For example:

      labelfold compare flowers.csv --labels kind

      labelfold compare flowers.csv --labels kind --methods ccdr,pca --dims 2,5
    """
    dimensions = parse_dims(dims)
    check_option("--head", head, HEADS)
    chosen = choose_methods(methods)
    wanted = OutputOptions(plot=plot, as_json=as_json, force=force)
    table_file = None if out is None else str(out)
    with Results(table_file, reading.files(*data), wanted) as results:
        table = reading.read_labeled(console, data, labels)
        y = labels_of_classes(table, "a comparison")
        largest = max(table.class_counts.values())
        if largest < folds:
            raise InputError(
                f"{table.origin}: --folds {folds} needs a class with {folds} labels, and the "
                f"largest has {largest}: lower it, or label more rows."
            )
        from labelfold.evaluate import compare as compare_methods

        X, _, prepared = prepare(table, scale)
        with warnings_in_brief():
            comparison = compare_methods(
                X,
                y,
                {name: make(one, neighbors, seed) for name, one in chosen.items()},
                head=head,
                dims=dimensions,
                cv=folds,
                random_state=seed,
                verbose=int(console.shows_progress),
            )
        results.write_table(as_columns(comparison))
        if plot is not None:
            with console.step("picture"):
                figure = new_figure(8.0, 5.0)
                comparison.plot(figure.subplots())
                results.write_figure(figure)
    facts = {
        "command": "compare",
        "data": data_facts(table),
        "columns": prepared.to_dict(),
        "head": comparison.head,
        "protocol": comparison.protocol,
        "scale": scale,
        "seed": seed,
        "chance": comparison.chance,
        "summary": [_without_nan(asdict(row)) for row in comparison.summary()],
        "fits": [_without_nan(asdict(record)) for record in comparison.records],
        **results.end_facts(),
    }
    results.report(console, facts, describe(comparison, results.files))


def describe(comparison: Comparison, files: dict[str, str | None]) -> str:
    """The table as text for people, its title within the width."""
    title, *rows = str(comparison).splitlines()
    return paragraphs("\n".join([wrapped(title), *rows]), describe_files(files))


def choose_methods(text: str | None) -> dict[str, Method]:
    """Return the named methods, each once, or the quick ones if none is named."""
    known = compared()
    if text is None:
        return {name: one for name, one in known.items() if one.declaration.quick}
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        problem = f"--methods {unknown[0]} is unknown" if unknown else "--methods names none"
        raise InputError(f"{problem}: use some of {', '.join(known)}.")
    return {name: known[name] for name in names}


def make(method: Method, n_neighbors: int | None, seed: int) -> Any:
    """Return an unfitted estimator with this seed and number of neighbors, if it takes them."""
    given = {"random_state": seed, "n_neighbors": n_neighbors}
    wanted = {name: value for name, value in given.items() if value is not None}
    return method.make().set_params(**{k: wanted[k] for k in wanted if k in method.parameters})


def parse_dims(text: str) -> list[int]:
    """Return the dimensions as numbers."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        raise InputError(
            f"--dims {text!r} must be positive integers separated by commas, such as 2,5."
        )
    return [int(part) for part in parts]


@contextmanager
def warnings_in_brief() -> Iterator[None]:
    """Show one warning of each kind and the number of similar ones: there are many fits."""
    messages: dict[type[Warning], list[str]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for one in caught:
        messages.setdefault(one.category, []).append(str(one.message))
    for category, (first, *others) in messages.items():
        more = f" ({len(others)} more like this.)" if others else ""
        warnings.warn(first + more, category, stacklevel=4)


def as_columns(comparison: Comparison) -> dict[str, list[Any]]:
    """The summary as columns of a table."""
    rows = [asdict(row) for row in comparison.summary()]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in row.items()}
