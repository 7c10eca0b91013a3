"""Options that name a data file and its columns, the same for every command that reads one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelfold.cli.console import Console

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
        help="Column of labels, by name or number; empty cells, NA, ? and -1 are unlabelled.",
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option("--labels-file", metavar="FILE", help="Labels in a file of their own."),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features",
        metavar="COLUMN",
        help="Columns to use: a name, a pattern such as 'pixel*', a number or a range 2-65; may be "
        "given several times. By default all that hold numbers.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="Columns to leave out, named likewise."),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id-column", metavar="COLUMN", help="Column that names the rows."),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line names the columns."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="Format of DATA, where its name does not tell."),
]
MaxBytes = Annotated[
    int | None,
    typer.Option("--max-bytes", metavar="N", min=1, help="Refuse to unpack more than this."),
]


def read_data(
    console: Console,
    source: str,
    *,
    labels: str | None = None,
    labels_file: Path | None = None,
    features: list[str] | None = None,
    ignore: list[str] | None = None,
    id_column: str | None = None,
    header: bool | None = None,
    format: str | None = None,
    max_bytes: int | None = None,
    n_features: int | None = None,
) -> Table:
    """Read a data file as the options say, and show that step while it runs."""
    with console.step(f"reading {source}"):
        from labelfold.cli.tables import DEFAULT_MAX_BYTES, read_table

        return read_table(
            source,
            labels=labels,
            labels_file=labels_file,
            features=features or None,
            ignore=ignore or (),
            id_column=id_column,
            header=header,
            format=format,
            n_features=n_features,
            max_bytes=max_bytes or DEFAULT_MAX_BYTES,
        )
