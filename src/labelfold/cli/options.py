"""Options that several commands share, declared once so that they read the same everywhere.

`command` lets a function take them in groups: a parameter whose type is a dataclass of options
stands for its fields, and one of type `Console` for -q and -v.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from labelfold.cli.console import Console
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, NPY, NPZ, svmlight or idx file, also packed with gzip; - for "
        "standard input.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="COLUMN",
        help="Column of labels, by name or number; empty cells, NA, ? and -1 are unlabeled.",
    ),
]
Method = Annotated[
    str, typer.Option("--method", metavar="NAME", help="One of the methods listed below.")
]
Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="none|standard|quantile",
        help="What is done to every column first: nothing, mean 0 and variance 1, or ranks made "
        "normal. Scale where columns have different units or long tails.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Seed of whatever is drawn at random.")
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="The result: .csv, .tsv, .parquet or .npz, also with .gz; - for CSV on standard "
        "output.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr except errors.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show progress even when stderr is no terminal.")
]


@dataclass(frozen=True)
class ColumnOptions:
    """How a data file is read."""

    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            metavar="COLUMN",
            help="Columns to use: a name, a pattern such as 'pixel*', a number or a range 2-65; "
            "may be given several times. By default all that hold numbers.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="COLUMN", help="Columns to leave out, named likewise."),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", metavar="COLUMN", help="Column that names the rows."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns."),
    ] = None
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format, where the name does not tell."),
    ] = None
    max_bytes: Annotated[
        int | None,
        typer.Option("--max-bytes", metavar="N", min=1, help="Refuse to unpack more than this."),
    ] = None

    def read(self, console: Console, source: str, **more: Any) -> Table:
        """Read a data file; `more` goes to `labelfold.cli.tables.read_table`."""
        with console.step(f"reading {source}"):
            from labelfold.cli.tables import DEFAULT_MAX_BYTES, read_table

            chosen = {
                "features": self.features or None,
                "ignore": self.ignore or (),
                "id_column": self.id_column,
                "header": self.header,
                "format": self.format,
                "max_bytes": self.max_bytes or DEFAULT_MAX_BYTES,
            }
            return read_table(source, **{**chosen, **more})

    def read_new(
        self, console: Console, source: str, names: list[str] | None, n_features: int | None
    ) -> Table:
        """Read rows for a fitted model.

        Parameters
        ----------
        console : Console
            Shows the step.
        source : str
            The file, or "-".
        names : list of str or None
            Columns that the model was fitted on, which are taken in this order unless --features
            or --ignore choose others. None takes all columns.
        n_features : int or None
            Number of columns that there must be.

        Raises
        ------
        InputError
            If a column is missing, or there are more or fewer.
        """
        if names is None or self.features or self.ignore:
            return self.read(console, source, n_features=n_features)
        try:
            table = self.read(console, source, features=names, n_features=n_features)
        except InputError as error:
            if "--features" in str(error):  # an option that nobody gave
                error.add_note("New rows need the columns that the model was fitted on.")
            raise
        if table.feature_names != names:
            # A name such as "3" is also a number, of whatever column stands there.
            missing = next(name for name in names if name not in (table.feature_names or ()))
            raise InputError(
                f"{table.origin} has no column {missing!r}, which the model was fitted on: add it, "
                "or name the columns to take with --features."
            )
        return table


@dataclass(frozen=True)
class DataOptions(ColumnOptions):
    """How a data file is read that may have labels in another file."""

    labels_file: Annotated[
        Path | None,
        typer.Option("--labels-file", metavar="FILE", help="Labels in a file of their own."),
    ] = None

    def read_labeled(self, console: Console, source: str, labels: str | None) -> Table:
        """Read a data file with its labels."""
        return self.read(console, source, labels=labels, labels_file=self.labels_file)

    def files(self, *sources: str | None) -> tuple[str, ...]:
        """Return all files that are read, the sources first."""
        found = [*sources, self.labels_file]
        return tuple(str(name) for name in found if name is not None)


@dataclass(frozen=True)
class MethodOptions:
    """Parameters of a method."""

    dims: Annotated[
        str | None,
        typer.Option(
            "--dims",
            metavar="N",
            help="Number of coordinates, or auto where the method can choose it. More for a "
            "classifier, 2 for a picture.",
        ),
    ] = None
    neighbors: Annotated[
        int | None,
        typer.Option(
            "--neighbors",
            metavar="K",
            min=1,
            help="Neighbors of every row in the graph; each method has its own default. More where "
            "the graph falls into pieces, fewer where classes run together.",
        ),
    ] = None
    beta: Annotated[
        float | None,
        typer.Option(
            "--beta",
            metavar="B",
            help="Weight of the geometry against the labels, for methods that have one. Small "
            "(0.01) draws classes together, large (100) lets labels count for little.",
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other parameter of the estimator, such as metric=cosine or weights=binary; "
            "may be given several times. A wrong name prints those that there are.",
        ),
    ] = None
    scale: Scale = "none"
    seed: Seed = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Number of threads; -1 for all cores. By default the libraries choose.",
        ),
    ] = None


@dataclass(frozen=True)
class OutputOptions:
    """What is written beside the table."""

    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the map, classes in color: .png, .pdf, .svg, or .html for a page to search. "
            "Of more than two coordinates, the plane that parts three or more classes.",
        ),
    ] = None
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Keep the model for 'labelfold transform', as .skops."
        ),
    ] = None
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Keep only what new rows need: a smaller model file."),
    ] = False
    as_json: Json = False
    force: Force = False


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer, with single options in place of groups of them.

    Parameters
    ----------
    function : callable
        A command. A parameter whose type is a dataclass gets an object made of the options that
        are its fields; one of type `Console` gets that of the command, with -q and -v set.
    """
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
