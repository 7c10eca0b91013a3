"""Options that several commands share, declared once.

`command` lets a function take them in groups: a parameter whose type is a dataclass of options
stands for its fields, and one of type `Console` for -q and -v.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from labelfold.cli.console import Console
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.tables import Table

SCALES = ("auto", "none", "standard", "quantile")


def check_option(option: str, value: str, choices: Iterable[str]) -> None:
    """Raise InputError unless the value is one of the choices."""
    if value not in choices:
        raise InputError(f"{option} {value} is unknown: choose from {', '.join(choices)}.")


def check_scale(value: str) -> str:
    """Return the value of --scale if it is known."""
    check_option("--scale", value, SCALES)
    return value


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet, Arrow, JSON lines, Excel, NPY, NPZ, svmlight or idx file, also "
        "compressed by gzip or zstd. Several files, or a pattern such as 'part-*.csv', are one "
        "table; - is standard input.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="COLUMN",
        help="Column of labels, by name or number. Empty cells, NA, ? and -1 mean unlabeled.",
    ),
]
Method = Annotated[
    str, typer.Option("--method", metavar="NAME", help="One of the methods listed below.")
]
Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="|".join(SCALES),
        help="How numbers are scaled: auto decides by the columns (those that share a unit are "
        "not scaled), standard means mean 0 and variance 1, quantile normal quantiles.",
        callback=check_scale,
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Seed of everything drawn at random.")
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="File of the result: .csv, .tsv, .parquet or .npz, also with .gz; - writes CSV to "
        "standard output.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on stderr.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show progress even if stderr is not a terminal.")
]


@dataclass(frozen=True)
class ColumnOptions:
    """How a data file is read."""

    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            metavar="COLUMN",
            help="Columns to use: a name, a pattern such as 'pixel*', a number, or a range such as "
            "2-65. May be repeated. The default is all but the labels.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore", metavar="COLUMN", help="Columns to leave out, named as in --features."
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", metavar="COLUMN", help="Column that names the rows."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns."),
    ] = None
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors", metavar="FILE", help="NPY file of vectors, one per row of the table."
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format, if the file name does not say."),
    ] = None

    def read(self, console: Console, sources: list[str], **more: Any) -> Table:
        """Read data files as one table; `more` goes to `labelfold.tables.read`."""
        with console.step(f"reading {', '.join(sources)}"):
            from labelfold.tables import read

            return read(sources, **self.arguments(), **more)

    def arguments(self) -> dict[str, Any]:
        """Return these options as arguments of `labelfold.tables.read`."""
        return {
            "features": self.features or None,
            "ignore": self.ignore or (),
            "id_column": self.id_column,
            "header": self.header,
            "vectors": self.vectors,
            "format": self.format,
        }

    def read_new(
        self, console: Console, sources: list[str], names: list[str] | None, n_features: int | None
    ) -> Table:
        """Read rows for a model that was fitted on these columns.

        They are taken in this order, unless --features or --ignore choose others; `names=None`
        takes all columns.
        """
        from labelfold.tables import as_table

        table = self.read(console, sources, n_features=n_features)
        if names is not None:
            columns, is_matrix = as_table(table.features), table.feature_names is None
            is_chosen = bool(self.features or self.ignore)
            is_text = not is_matrix and not table.has_names
            if (is_chosen or is_text) and columns.num_columns == len(names):
                # In the order of the model's.
                return replace(table, features=columns.rename_columns(names))
            missing = [name for name in names if name not in columns.column_names]
            if missing and not is_chosen:
                raise InputError(
                    f"{table.origin} has no column {missing[0]!r}, which the model was fitted on: "
                    "add it, or name the columns to take with --features."
                )
            if not missing and not is_matrix:
                return replace(table, features=columns.select(names))
        if n_features is not None and table.n_features != n_features:
            raise InputError(
                f"{table.origin} has {table.n_features:,} columns and {n_features:,} are needed: "
                "name them with --features, or leave some out with --ignore."
            )
        return table


@dataclass(frozen=True)
class DataOptions(ColumnOptions):
    """How a data file with labels is read."""

    labels_file: Annotated[
        Path | None,
        typer.Option("--labels-file", metavar="FILE", help="File of labels, one per row."),
    ] = None
    show_columns: Annotated[
        bool,
        typer.Option("--columns", help="Print what every column was taken for and how it is used."),
    ] = False

    def read_labeled(self, console: Console, sources: list[str], labels: str | None) -> Table:
        """Read data files with their labels."""
        return self.read(console, sources, labels=labels, labels_file=self.labels_file)

    def files(self, *sources: str | None) -> tuple[str, ...]:
        """Return all files that are read, the sources first."""
        found = [*sources, self.labels_file, self.vectors]
        return tuple(str(name) for name in found if name is not None)


@dataclass(frozen=True)
class MethodOptions:
    """Parameters of a method."""

    dims: Annotated[
        str | None,
        typer.Option(
            "--dims",
            metavar="N",
            help="Number of coordinates, or auto if the method can choose it: 2 for a map, more "
            "for a classifier.",
        ),
    ] = None
    neighbors: Annotated[
        int | None,
        typer.Option(
            "--neighbors",
            metavar="K",
            min=1,
            help="Neighbors of each row in the graph; every method has its own default. Use more "
            "if the graph is not connected, fewer if classes overlap.",
        ),
    ] = None
    beta: Annotated[
        float | None,
        typer.Option(
            "--beta",
            metavar="B",
            help="Weight of the geometry against the labels, for methods that have one: small "
            "(0.01) pulls classes together, large (100) gives labels little influence.",
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other parameter of the method, such as metric=cosine or weights=binary. May "
            "be repeated. An unknown name lists all parameters.",
        ),
    ] = None
    scale: Scale = "auto"
    seed: Seed = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Number of threads; -1 for all cores. By default the libraries choose.",
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FOLDER",
            help="Keep finished work in this folder: the same command goes on from there if it "
            "was stopped.",
        ),
    ] = None

    def checkpoints(self) -> AbstractContextManager[None]:
        """Return a block in which fits keep finished work, if --checkpoint names a folder."""
        if self.checkpoint is None:
            return nullcontext()
        from labelfold import checkpoints

        return checkpoints(self.checkpoint)


@dataclass(frozen=True)
class OutputOptions:
    """What is written beside the table."""

    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw a map with classes in color: .png, .pdf, .svg, or .html for a page to zoom "
            "and search. More than two coordinates are drawn in the plane that best separates "
            "three or more classes.",
        ),
    ] = None
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Save the model for 'labelfold transform' (.skops)."
        ),
    ] = None
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Save only what new rows need: a smaller model file."),
    ] = False
    as_json: Json = False
    force: Force = False


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer, with single options in place of groups of them."""
    types = get_type_hints(function, include_extras=True)
    single: list[inspect.Parameter] = []
    flags: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    console = None
    for parameter in inspect.signature(function).parameters.values():
        kind = types[parameter.name]
        if kind is Console:
            console = parameter.name
            single.append(_option("context", typer.Context, inspect.Parameter.empty))
            flags = [_option("quiet", Quiet, False), _option("verbose", Verbose, False)]
        elif is_dataclass(kind):
            groups[parameter.name] = kind
            own = get_type_hints(kind, include_extras=True)
            single += [_option(one.name, own[one.name], one.default) for one in fields(kind)]
        else:
            single.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        if console is not None:
            given[console] = given.pop("context").obj
            given[console].set_verbosity(quiet=given.pop("quiet"), verbose=given.pop("verbose"))
        function(**given)

    shown = inspect.Signature([*single, *flags])
    run.__signature__ = shown  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in shown.parameters.values()}
    del run.__wrapped__
    return run


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
