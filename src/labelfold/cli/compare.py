"""`labelfold compare`: methods on the same points, labels and splits, in one table."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.compared_methods import METHODS, TAKE_NEIGHBORS, make_methods
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
from labelfold.cli.method_options import Json, Scale, Seed
from labelfold.cli.options import Force, Quiet, Verbose
from labelfold.cli.output import OutputFiles
from labelfold.cli.results import PICTURES
from labelfold.cli.scaling import check_scale, make_scaler
from labelfold.cli.summary import data_facts, describe_files, versions
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labelfold.cli.tables import Table
    from labelfold.evaluate import Comparison

HEADS = ("knn", "linear")
DEFAULT_METHODS = "pca,lda,isomap,locally-linear,eigenmaps,ccdr,lle,mfa"


def compare(
    context: typer.Context,
    data: Data,
    labels: Labels = None,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            metavar="NAMES",
            help=f"Methods with commas between them, of {', '.join(METHODS)}; from lda on they are "
            "scikit-learn's.",
        ),
    ] = DEFAULT_METHODS,
    head: Annotated[
        str,
        typer.Option("--head", metavar="|".join(HEADS), help="What names classes in every map."),
    ] = "knn",
    dims: Annotated[
        str,
        typer.Option("--dims", metavar="N,N", help="Dimensions of the maps, with commas."),
    ] = "2",
    neighbors: Annotated[
        int,
        typer.Option(
            "--neighbors",
            metavar="K",
            min=1,
            help=f"Neighbours in the graph, for {', '.join(TAKE_NEIGHBORS)}; others keep their own "
            "number.",
        ),
    ] = 12,
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
    """Compare methods by their error on labels that were hidden from them.

    The labelled rows are split into parts. For each part its labels are hidden, every method maps
    all rows with the labels that are left, the same simple head names classes in the map, and its
    answers for the part are counted. Rows without a label help the maps and are never scored. A
    method that cannot do what is asked stands in the table with the reason.

    The methods have their usual parameters: the table tells where to begin, and not which method
    is best once all are tuned. Every map is made once for each part, dimension and method; see
    'labelfold inspect' for the time to expect.

    For example:

      labelfold compare flowers.csv --labels kind

      labelfold compare flowers.csv --labels kind --methods ccdr,pca --dims 2,5 --plot errors.png
    """
    console: Console = context.obj
    console.set_verbosity(quiet=quiet, verbose=verbose)
    dimensions = parse_dims(dims)
    if head not in HEADS:
        raise InputError(f"--head {head} is unknown: use one of {', '.join(HEADS)}.")
    names = parse_methods(methods)
    check_scale(scale)
    check_outputs(data, out, plot)
    outputs = [path for path in (out, plot) if path is not None]
    with OutputFiles(*outputs, overwrite=force) as output:
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
        known = check_labels(table, folds)
        with console.step("loading methods"):
            from labelfold.evaluate import compare as compare_methods

            embedders = make_methods(names, n_neighbors=neighbors, seed=seed)
            scaler = make_scaler(scale, table.X, seed)
        shows_progress = not quiet and (verbose or sys.stderr.isatty())
        with warnings_in_brief():
            comparison = compare_methods(
                table.X if scaler is None else scaler.fit_transform(table.X),
                known,
                embedders,
                head=head,
                dims=dimensions,
                cv=folds,
                random_state=seed,
                verbose=int(shows_progress),
            )
        if out is not None:
            from labelfold.cli.tables import write_table

            with output.open(out) as stream:
                write_table(stream, as_columns(comparison), name=out)
        if plot is not None:
            with console.step("picture"), output.open(plot) as stream:
                draw(comparison).savefig(stream, format=plot.suffix[1:].lower())
    files = {
        "table": None if out is None else str(out),
        "picture": None if plot is None else str(plot),
    }
    if as_json:
        facts = as_plain(comparison, table, scale=scale, seed=seed, files=files)
        console.result(json.dumps(facts, indent=2, allow_nan=False))
        return
    console.result("\n".join([str(comparison), *describe_files(files)]))


def parse_methods(text: str) -> list[str]:
    """Return the names of methods, each once; unknown ones are refused."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        found = f"--methods {unknown[0]} is unknown" if unknown else "--methods names none"
        raise InputError(f"{found}: use some of {', '.join(METHODS)}.")
    return names


def parse_dims(text: str) -> list[int]:
    """Return the dimensions as numbers."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        raise InputError(
            f"--dims {text!r} must be positive whole numbers with commas between them, such as 2,5."
        )
    return [int(part) for part in parts]


def check_outputs(data: str, out: Path | None, plot: Path | None) -> None:
    """Refuse outputs that cannot be written or are the data, before the work begins."""
    for path in (out, plot):
        if path is not None and os.path.realpath(path) == os.path.realpath(data):
            raise InputError(f"{path} is read by this command: write to another file.")
    if out is not None:
        from labelfold.cli.tables import output_format

        if output_format(out) == "npy":
            raise InputError(f"{out}: an NPY file holds a matrix alone: write .csv or .parquet.")
    if plot is not None and plot.suffix[1:].lower() not in PICTURES:
        endings = ", ".join("." + known for known in PICTURES)
        raise InputError(f"{plot}: the ending of a picture is one of {endings}: choose one.")


def check_labels(table: Table, folds: int) -> NDArray[Any]:
    """Return the labels; those of which none can be hidden are refused."""
    if table.labels is None:
        raise InputError(
            f"{table.origin}: a comparison needs labels: name their column with --labels, or a "
            "file with --labels-file."
        )
    counts = table.class_counts
    if len(counts) < 2:
        found = f"one class only, {next(iter(counts))!r}" if counts else "no label"
        raise InputError(
            f"{table.origin}: the labels hold {found}, and a comparison needs two classes or more: "
            "name another column with --labels, or label some rows."
        )
    if max(counts.values()) < folds:
        raise InputError(
            f"{table.origin}: --folds {folds} is more than the {max(counts.values())} labels of "
            "the largest class: lower it, or label more rows."
        )
    return table.labels


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


def as_plain(
    comparison: Comparison, table: Table, *, scale: str, seed: int, files: dict[str, str | None]
) -> dict[str, Any]:
    """Everything about the comparison as plain values, None where there is none."""
    return {
        "command": "compare",
        "data": data_facts(table),
        "head": comparison.head,
        "protocol": comparison.protocol,
        "scale": scale,
        "seed": seed,
        "chance": comparison.chance,
        "summary": [_without_nan(asdict(row)) for row in comparison.summary()],
        "fits": [_without_nan(asdict(record)) for record in comparison.records],
        "files": files,
        "versions": versions(),
    }


def draw(comparison: Comparison) -> Any:
    """Draw the errors."""
    # Not pyplot: a command has no window, and must not depend on the user's graphical backend.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.0), dpi=150, layout="constrained")
    comparison.plot(figure.subplots())
    return figure


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in row.items()}
