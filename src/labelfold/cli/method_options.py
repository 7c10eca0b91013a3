"""Options that choose a method and its parameters, and where results go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Dims = Annotated[
    str | None,
    typer.Option(
        "--dims",
        metavar="N",
        help="Number of coordinates, or auto for ccdr, mvu, mfnu, ssde and ism. More for a "
        "classifier, 2 for a picture.",
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        metavar="K",
        min=1,
        help="Neighbours of every row in the graph, by default 12 for ccdr, eigenmaps, lle and "
        "resampled, 8 for laplacian, 5 or 4 for the others. More where the graph falls into "
        "pieces, fewer where classes run together.",
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        "--beta",
        metavar="B",
        help="Weight of the geometry against the labels for ccdr and resampled, by default 1. "
        "Small (0.01) draws classes together, large (100) lets labels count for little.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter of the estimator, such as metric=cosine or weights=binary; may "
        "be given several times. A wrong name prints those that there are.",
    ),
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
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Number of threads; -1 for all cores. By default the libraries choose.",
    ),
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
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Keep the model for 'labelfold transform', as .skops."
    ),
]
Compact = Annotated[
    bool,
    typer.Option("--compact", help="Keep only what new rows need: a smaller model file."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
