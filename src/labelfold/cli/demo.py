"""`labelfold demo`: handwritten digits with few labels, as maps and figures."""

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
from labelfold.cli.reports import certificate_facts, paragraphs, versions, wrapped

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
        # The ridge head leaves out one label at a time: its class must have another.
        int,
        typer.Option("--labels", min=20, max=1730, metavar="N", help="Number of labels given."),
    ] = 50,
    force: Force = False,
) -> None:
    """Show the library at work on handwritten digits.

    FewLabelClassifier labels all digits from a few. Beside it are simple classifiers on three
    embeddings: CCDR, which uses the labels, and Laplacian eigenmaps and PCA, which do not. You get
    a picture with three maps, and errors, for the unlabeled digits only. The data come with
    scikit-learn; nothing is downloaded.

    Files of an earlier demo are replaced. Other files of the same name are not, unless you pass
    --force.
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
    console.result(f"\nPicture: {picture}\nThe same figures as JSON: {summary}")


def summarize(experiment: DigitsExperiment, seconds: float) -> dict[str, Any]:
    """Everything that the demo prints, as plain values."""
    import numpy as np

    def scores(n_wrong: dict[str, int]) -> dict[str, Any]:
        error = {head: count / experiment.n_scored for head, count in n_wrong.items()}
        return {"n_wrong": n_wrong, "error": error}

    return {
        "made_by": SIGNATURE,
        "data": "scikit-learn's digits, 8 x 8 pixels",
        "n_rows": len(experiment.y),
        "n_labeled": experiment.n_labeled,
        "n_scored": experiment.n_scored,
        "seed": experiment.seed,
        "labeled_rows": np.flatnonzero(experiment.is_labeled).tolist(),
        "classifier": {
            "method": type(experiment.classifier).__name__,
            "n_wrong": experiment.n_wrong,
            "error": experiment.n_wrong / experiment.n_scored,
            "error_estimate": str(experiment.classifier.error_estimate_),
            "candidates": str(experiment.classifier.candidates_),
            "seconds": round(experiment.classifier_seconds, 3),
            "certificate": certificate_facts(experiment.classifier.certificate_),
        },
        "n_components": experiment.embeddings[0].embedding.shape[1],
        "n_neighbors": experiment.n_neighbors,
        "embeddings": [
            {
                "method": one.method,
                "uses": one.uses,
                **scores(one.n_wrong),
                "seconds": round(one.seconds, 3),
                "certificate": certificate_facts(one.certificate),
            }
            for one in experiment.embeddings
        ],
        "pixels": scores(experiment.n_wrong_on_pixels),
        "picture": PICTURE,
        "graph_seconds": round(experiment.graph_seconds, 3),
        "total_seconds": round(seconds, 3),
        "versions": versions(),
    }


def describe(figures: dict[str, Any]) -> str:
    """The summary as text for people."""
    first, rows, pixels = figures["classifier"], figures["embeddings"], figures["pixels"]["error"]
    table = [
        _table_row("embedding", pixels, "seconds", "uses"),
        *(
            _table_row(row["method"], row["error"].values(), f"{row['seconds']:.2f}", row["uses"])
            for row in rows
        ),
        _table_row("none", pixels.values(), "", "pixels"),
    ]
    return paragraphs(
        [
            f"{figures['n_rows']:,} handwritten digits, {figures['n_labeled']} of them labeled: "
            f"the same number per class, drawn with seed {figures['seed']}.",
        ],
        [
            f"{first['method']} labels the other {figures['n_scored']:,} with nothing to tune: "
            f"{100 * first['error']:.1f} % wrong ({first['n_wrong']}), in {first['seconds']:.2f} "
            "s.",
            f"By the labels alone: {first['error_estimate']}",
            f"Candidates by weight: {first['candidates']}",
        ],
        [
            "For comparison, two simple classifiers on the coordinates of embeddings "
            f"({figures['n_components']} each; graphs have {figures['n_neighbors']} neighbors per "
            "row), error on the same digits:",
        ],
        table,
        [f"This is one draw of labels; --seed {figures['seed'] + 1} gives another."],
        ["How exactly the problems were solved:"]
        + [
            wrapped(f"{row['method']}: {row['certificate']['text']}", first="  ", later="    ")
            for row in [first, *rows]
            if row["certificate"]
        ],
        [
            f"Time: {figures['total_seconds']:.1f} s, {figures['graph_seconds']:.2f} s for the "
            "graph that CCDR and LaplacianEigenmaps share.",
            ", ".join(f"{name} {version}" for name, version in figures["versions"].items()),
        ],
    )


def _table_row(name: str, cells: Iterable[str | float], seconds: str, uses: str) -> str:
    texts = [cell if isinstance(cell, str) else f"{100 * cell:.1f} %" for cell in cells]
    return f"  {name:<20}" + "".join(f"{text:>15}" for text in texts) + f"{seconds:>9}  {uses}"


def _is_own(path: Path) -> bool:
    """Whether a demo wrote this file: both files have its signature near their beginning."""
    with path.open("rb") as stream:
        return SIGNATURE.encode() in stream.read(1000)
