"""CCDR-MC appendix III: maps of subsamples tend to the map of all rows."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from labelfold.classify import LeastSquaresClassifier
from labelfold.ensemble import ResampledEmbedding, align
from labelfold.exceptions import DisconnectedGraphWarning
from labelfold.labels import hide_labels
from labelfold.spectral import CCDR
from reproductions.ccdr_mc.landsat import N_TEST, landsat_of
from reproductions.curves import OKABE_ITO, draw_curve, name_curves, new_figure
from reproductions.entry import Entry, Measurement, Task, Verdict, judge_all
from reproductions.summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["APPENDIX_3"]

SIZES = (200, 400, 800, 1600, 3200)
DIMENSIONS = (5, 14)
NUMBERS = (1, 2, 4, 8)
N_SEEDS = 5
DISTANCE, SPREAD = "distance from the map of all rows", "median spread"
HEADS = {"linear": LeastSquaresClassifier(), "3-NN": KNeighborsClassifier(3)}

PROCEDURE = """
`ResampledEmbedding` of CCDR (4 neighbours, β = 0.5) on Landsat's 6,435 rows with the labels of
4,435: one to eight subsamples of 200 to 3,200 rows, embedded, turned onto each other and averaged;
all rows are mapped by eq. 19, labelled ones with their label. Five seeds draw the subsamples. A
subsample's graph has as many neighbours as that of all rows.

Maps have 5 dimensions, one less than there are classes, which the labels determine; and 14, as in
the paper's figures, of which the later ones belong to eigenvalues close to each other, so that they
may mix with those that follow.

"distance" is that of the mean map from the map of all rows made at once, after the best rotation
and scale, relative to that map's size; "spread" is the median over rows of how far the subsamples'
maps are apart, relative to the same. Appendix III concludes that the map of a subsample tends to
the map of all rows as the subsample grows; it assumes that all rows tend to one point, and has no
figures.
"""

Array = NDArray[np.float64]


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each size and seed."""
    sizes, seeds = (SIZES[:2], range(1)) if quick else (SIZES, range(N_SEEDS))
    dimensions = DIMENSIONS[:1] if quick else DIMENSIONS
    return [
        Task({"dimension": dimension, "rows": size}, seed)
        for dimension in dimensions
        for size in sizes
        for seed in seeds
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Compare the mean of several subsamples' maps with the map of all rows."""
    data, size = landsat_of(task, data_home), int(task.setting["rows"])
    embedder = CCDR(int(task.setting["dimension"]), n_neighbors=4, beta=0.5)
    y = hide_labels(data.y, keep=data.train)
    measurements = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)  # small subsamples need bridges
        whole = clone(embedder).fit(data.X, y).embedding_
        for number in NUMBERS:
            model = ResampledEmbedding(
                embedder,
                n_subsamples=number,
                subsample_size=size,
                n_neighbors=None,
                random_state=task.seed,
            ).fit(data.X, y)
            setting = {"subsamples": number}
            reach = float(np.linalg.norm(whole - whole.mean(axis=0))) / np.sqrt(len(whole))
            scale = align([whole, model.embedding_])[0][1].scale
            spread = scale * float(np.median(model.spread_)) / reach
            distance = apart(whole, model.embedding_)
            measurements.append(Measurement(distance, setting, DISTANCE, unit="number"))
            if number > 1:  # one map has no spread
                measurements.append(Measurement(spread, setting, SPREAD, unit="number"))
            measurements += _errors(data.y, model.embedding_, data.train, data.test, setting)
    return measurements


def apart(goal: Array, other: Array) -> float:
    """Return the distance of a map from the goal after the best motion, relative to its size."""
    goal, other = goal - goal.mean(axis=0), other - other.mean(axis=0)
    overlap = np.linalg.svd(other.T @ goal, compute_uv=False).sum()
    share = overlap**2 / (np.sum(goal**2) * np.sum(other**2))
    return float(np.sqrt(max(1 - share, 0.0)))


def _errors(
    y: NDArray[np.int64],
    embedding: Array,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    setting: dict[str, int],
) -> list[Measurement]:
    found = []
    for name, head in HEADS.items():
        fitted = clone(head).fit(embedding[train], y[train])
        error = float(np.mean(fitted.predict(embedding[test]) != y[test]))
        found.append(Measurement(error, {**setting, "head": name}, n_scored=N_TEST))
    return found


def judge(summary: Summary) -> list[Verdict]:
    """Judge the claim for every number of subsamples."""
    return [
        verdict
        for dimension in summary.values_of("dimension")
        for verdict in _judge_dimension(summary, int(dimension))
    ]


def _judge_dimension(summary: Summary, dimension: int) -> list[Verdict]:
    curves = {
        int(number): [
            row.estimate.mean
            for row in summary.rows_with(DISTANCE, dimension=dimension, subsamples=int(number))
        ]
        for number in summary.values_of("subsamples")
    }
    sizes = ", ".join(f"{int(size):,}" for size in summary.values_of("rows"))
    found = "; ".join(
        f"{number} subsample{'s' * (number > 1)}: {', '.join(f'{d:.2f}' for d in distances)}"
        for number, distances in curves.items()
    )
    falls = [all(a > b for a, b in pairwise(distances)) for distances in curves.values()]
    fewer, more = curves[min(curves)], curves[max(curves)]
    return [
        Verdict(
            claim="The map of a subsample tends to the map of all rows as it grows",
            paper="tends to it (appendix III, no figures)",
            found=f"distance at {sizes} rows: {found}",
            verdict=judge_all(falls),
            reading=f"{dimension} dimensions",
            why="The appendix assumes that all points of a class tend to one, so that it says "
            "little of a map. In many dimensions distances fall slowly, and not at every step.",
        ),
        Verdict(
            claim="The mean of several maps is nearer to it than a single one "
            f"({dimension} dimensions)",
            paper="not in the paper, which announces a resampling method",
            found=f"{max(curves)} subsamples instead of {min(curves)}: "
            + ", ".join(f"{a:.2f} to {b:.2f}" for a, b in zip(fewer, more, strict=True)),
            verdict=judge_all([b < a for a, b in zip(fewer, more, strict=True)]),
        ),
    ]


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw distance, spread and error against the size of subsamples."""
    figure = new_figure(4, width=4.8, height=4.5)
    panels: list[tuple[str, dict[str, str | int]]] = [
        (DISTANCE, {"dimension": DIMENSIONS[0]}),
        (DISTANCE, {"dimension": DIMENSIONS[1]}),
        (SPREAD, {"dimension": DIMENSIONS[0]}),
        ("error", {"dimension": DIMENSIONS[1], "head": "3-NN"}),
    ]
    for ax, (measure, more) in zip(figure.axes, panels, strict=True):
        for number, color in zip(NUMBERS, OKABE_ITO, strict=False):
            rows = summary.rows_with(measure, subsamples=number, **more)
            if not rows:
                continue
            name = f"{number} map{'s' * (number > 1)}"
            draw_curve(ax, rows, "rows", name=name, color=color)
        ax.set_xscale("log")
        sizes = [int(size) for size in summary.values_of("rows")]
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.minorticks_off()
        ax.set_xlim(sizes[0] * 0.85, sizes[-1] * 1.15)
        ax.set_ylim(bottom=0)
        if ax.get_lines():  # a quick run has some panels only
            name_curves(ax)
        unit = "3-NN error on test rows, %" if measure == "error" else f"{measure}, relative"
        ax.set(xlabel="rows of a subsample", ylabel=unit)
        ax.set_title(f"{more['dimension']} dimensions", fontsize=11)
    return figure


APPENDIX_3 = Entry(
    name="appendix-3",
    title="Maps of subsamples of Landsat, averaged, against the map of all rows",
    procedure=PROCEDURE,
    edition=1,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
    needs_data=True,
)
