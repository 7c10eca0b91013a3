"""`labelfold compare`: methods on the same points, labels and splits, in one table."""

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
from labelfold.cli.methods import SCALES, check_option, compared, labels_of_classes, scale_columns
from labelfold.cli.options import (
    Data,
    DataOptions,
    Force,
    Json,
    Labels,
    OutputOptions,
    Scale,
    Seed,
    command,
)
from labelfold.cli.output import Results, new_figure
from labelfold.cli.reports import data_facts, describe_files
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.evaluate import Comparison
    from labelfold.methods import Method

HEADS = ("knn", "linear")


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
            help="Methods of the list below, with commas between them; by default those that are "
            "quick.",
        ),
    ] = None,
    head: Annotated[
        str,
        typer.Option("--head", metavar="|".join(HEADS), help="What names classes in every map."),
    ] = "knn",
    dims: Annotated[
        str,
        typer.Option("--dims", metavar="N,N", help="Dimensions of the maps, with commas."),
    ] = "2",
    neighbors: Annotated[
        int | None,
        typer.Option(
            "--neighbors",
            metavar="K",
            min=1,
            help="Neighbors in the graph, for all methods that have a number of them; by default "
            "each has its own.",
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option("--folds", metavar="N", min=2, help="Parts that labels are hidden in."),
    ] = 5,
    scale: Scale = "none",
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the table: .csv, .tsv, .parquet or .npz, also with .gz.",
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
    """Compare methods by their error on labels that were hidden from them.

    The labeled rows are split into parts. For each part its labels are hidden, every method maps
    all rows with the labels that are left, the same simple head names classes in the map, and its
    answers for the part are counted. Rows without a label help the maps and are never scored. A
    method that cannot do what is asked stands in the table with the reason.

    The methods have their usual parameters: the table tells where to begin, and not which method
    is best once all are tuned. Every map is made once for each part, dimension and method.

    For example:

      labelfold compare flowers.csv --labels kind

      labelfold compare flowers.csv --labels kind --methods ccdr,pca --dims 2,5 --plot errors.png
    """
    dimensions = parse_dims(dims)
    check_option("--head", head, HEADS)
    check_option("--scale", scale, SCALES)
    chosen = choose_methods(methods)
    wanted = OutputOptions(plot=plot, as_json=as_json, force=force)
    table_file = None if out is None else str(out)
    with Results(table_file, reading.files(data), wanted) as results:
        table = reading.read_labeled(console, data, labels)
        y = labels_of_classes(table, "a comparison")
        largest = max(table.class_counts.values())
        if largest < folds:
            raise InputError(
                f"{table.origin}: --folds {folds} is more than the {largest} labels of the largest "
                "class: lower it, or label more rows."
            )
        from labelfold.evaluate import compare as compare_methods

        X, _ = scale_columns(scale, table.X, seed)
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
        "head": comparison.head,
        "protocol": comparison.protocol,
        "scale": scale,
        "seed": seed,
        "chance": comparison.chance,
        "summary": [_without_nan(asdict(row)) for row in comparison.summary()],
        "fits": [_without_nan(asdict(record)) for record in comparison.records],
        **results.end_facts(),
    }
    results.report(console, facts, "\n".join([str(comparison), *describe_files(results.files)]))


def choose_methods(text: str | None) -> dict[str, Method]:
    """Return methods by their names, each once, or the quick ones; unknown ones are refused."""
    known = compared()
    if text is None:
        return {name: one for name, one in known.items() if one.declaration.quick}
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        found = f"--methods {unknown[0]} is unknown" if unknown else "--methods names none"
        raise InputError(f"{found}: use some of {', '.join(known)}.")
    return {name: known[name] for name in names}


def make(method: Method, n_neighbors: int | None, seed: int) -> Any:
    """Return an unfitted estimator with that seed and number of neighbors, where it takes them."""
    given = {"random_state": seed, "n_neighbors": n_neighbors}
    return method.make().set_params(
        **{
            name: value
            for name, value in given.items()
            if value is not None and name in method.parameters
        }
    )


def parse_dims(text: str) -> list[int]:
    """Return the dimensions as numbers."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        raise InputError(
            f"--dims {text!r} must be positive whole numbers with commas between them, such as 2,5."
        )
    return [int(part) for part in parts]


@contextmanager
def warnings_in_brief() -> Iterator[None]:
    """Show one warning of each kind, with the number of those like it: there are many fits."""
    found: dict[type[Warning], list[str]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for one in caught:
        found.setdefault(one.category, []).append(str(one.message))
    for category, messages in found.items():
        more = f" ({len(messages) - 1} more like this.)" if len(messages) > 1 else ""
        warnings.warn(messages[0] + more, category, stacklevel=4)


def as_columns(comparison: Comparison) -> dict[str, list[Any]]:
    """The summary as columns of a table."""
    rows = [asdict(row) for row in comparison.summary()]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in row.items()}
