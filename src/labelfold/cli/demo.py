"""`labelfold demo`: maps of handwritten digits with few labels, as a picture and figures."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.console import Console
from labelfold.cli.options import Force, command
from labelfold.cli.output import OutputFiles
from labelfold.cli.reports import certificate_facts, versions

if TYPE_CHECKING:
    from labelfold.cli.digits import DigitsExperiment

PICTURE = "demo.png"
SUMMARY = "summary.json"
SIGNATURE = "labelfold demo"


@command
def demo(
    *,
    console: Console,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help=f"Folder for {PICTURE} and {SUMMARY}."),
    ] = Path("labelfold-demo"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, metavar="N", help="Seed of the draw of labels.")
    ] = 0,
    labels: Annotated[
        int, typer.Option("--labels", metavar="N", help="Number of labels given, from 20 to 1730.")
    ] = 50,
    force: Force = False,
) -> None:
    """Map handwritten digits of which few are labeled.

    Compares CCDR, which uses the labels, with Laplacian eigenmaps and PCA, which do not: a picture
    of the three maps, and the errors of the same simple heads on each, for the unlabeled digits
    only. The data come with scikit-learn; nothing is downloaded.

    Files that an earlier demo left in the folder are replaced. Other files of the same name are
    not, unless you pass --force.
    """
    picture, summary = out / PICTURE, out / SUMMARY
    overwrite = force or all(_is_own(path) for path in (picture, summary) if path.is_file())
    with OutputFiles(summary, picture, overwrite=overwrite) as output:
        start = time.perf_counter()
        with console.step("loading"):
            from labelfold.cli.digits import draw_picture, run_experiment
        experiment = run_experiment(labels, seed, console.step)
        with console.step("picture"), output.open(picture) as stream:
            draw_picture(experiment).savefig(
                stream,
                format="png",
                metadata={"Software": SIGNATURE},
                pil_kwargs={"optimize": True},
            )
        figures = summarize(experiment, time.perf_counter() - start)
        with output.open(summary) as stream:
            stream.write((json.dumps(figures, indent=2) + "\n").encode())
    console.result(describe(figures))
    console.result(f"\nPicture: {picture}\nThe same figures for machines: {summary}")


def summarize(experiment: DigitsExperiment, seconds: float) -> dict[str, Any]:
    """Everything that the demo prints, as plain values."""
    import numpy as np

    n_scored = experiment.n_scored
    return {
        "made_by": SIGNATURE,
        "data": "scikit-learn's digits, 8 x 8 pixels",
        "n_points": len(experiment.y),
        "n_labeled": experiment.n_labeled,
        "n_scored": n_scored,
        "seed": experiment.seed,
        "labeled_rows": np.flatnonzero(experiment.is_labeled).tolist(),
        "n_components": experiment.maps[0].embedding.shape[1],
        "n_neighbors": experiment.n_neighbors,
        "maps": [
            {
                "method": panel.method,
                "uses": panel.uses,
                "n_wrong": panel.n_wrong,
                "error": _shares(panel.n_wrong, n_scored),
                "seconds": round(panel.seconds, 3),
                "certificate": certificate_facts(panel.certificate),
            }
            for panel in experiment.maps
        ],
        "without_map": {
            "n_wrong": experiment.n_wrong_on_pixels,
            "error": _shares(experiment.n_wrong_on_pixels, n_scored),
        },
        "picture": PICTURE,
        "graph_seconds": round(experiment.graph_seconds, 3),
        "total_seconds": round(seconds, 3),
        "versions": versions(),
    }


def describe(figures: dict[str, Any]) -> str:
    """The summary as text for people."""
    maps, bare = figures["maps"], figures["without_map"]
    heads = list(bare["error"])
    lines = [
        f"{figures['n_points']:,} handwritten digits, {figures['n_labeled']} of them labeled: "
        f"spread evenly over the classes, drawn with seed {figures['seed']}.",
        f"Each map has {figures['n_components']} coordinates; graphs join "
        f"{figures['n_neighbors']} nearest neighbors.",
        "",
        f"Error on the {figures['n_scored']:,} unlabeled digits (labeled ones are not counted)",
        "of two simple heads, fitted on the labeled digits' coordinates:",
        "",
        _table_row("map", heads, "seconds", "uses"),
    ]
    for row in maps:
        lines.append(
            _table_row(row["method"], row["error"].values(), f"{row['seconds']:.2f}", row["uses"])
        )
    lines += [
        _table_row("no map", bare["error"].values(), "", "pixels"),
        "",
        f"This is one draw of labels; --seed {figures['seed'] + 1} makes another.",
        "",
        "How good the solves are:",
    ]
    lines += [
        f"  {row['method']}: {row['certificate']['text']}" for row in maps if row["certificate"]
    ]
    lines += [
        "",
        f"{figures['total_seconds']:.1f} s in all, {figures['graph_seconds']:.2f} s of it for the "
        "graph that the first two share.",
        ", ".join(f"{name} {version}" for name, version in figures["versions"].items()),
    ]
    return "\n".join(lines)


def _table_row(name: str, cells: Iterable[str | float], seconds: str, uses: str) -> str:
    texts = [cell if isinstance(cell, str) else f"{100 * cell:.1f} %" for cell in cells]
    return f"  {name:<20}" + "".join(f"{text:>15}" for text in texts) + f"{seconds:>10}   {uses}"


def _shares(n_wrong: dict[str, int], n_scored: int) -> dict[str, float]:
    return {head: count / n_scored for head, count in n_wrong.items()}


def _is_own(path: Path) -> bool:
    """Whether a demo wrote this file: both kinds carry its signature near their beginning."""
    with path.open("rb") as stream:
        return SIGNATURE.encode() in stream.read(1000)
