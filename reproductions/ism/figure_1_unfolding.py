"""ISM Fig. 1 a to d: the roll, unfolded without class information."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from reproductions.entry import Entry, Judgment, Measurement, Task, Verdict, judge_if
from reproductions.ism import rolls
from reproductions.ism.rolls import ANGLES, KEPT, NEIGHBORS, UNFOLDING_RANK, UNFOLDINGS, Roll
from reproductions.summary import Summary
from reproductions.tables import format_estimate, format_value

N_POINTS, N_DRAWS = 1500, 5
N_POINTS_QUICK = 400
TWO_EIGENVALUES = "share of the first two eigenvalues"
WITH_LENGTH, WITH_HEIGHT = "correlation with arc length", "correlation with height"

# Numbers for words of the paper.
STRIP, NEARLY_A_STRIP = 0.99, 0.95
LOW_ERROR = 0.4  # percent: "a very low feasibility error", section 4

PROCEDURE = """
1,500 points and their 5 nearest neighbors, as in the paper; the points are uniform in area. The
paper shows the two classes in a picture only; here they are six alternating bands along the roll.
It prints no figures for these panels (its 0.01 % and 2 % are errors of isometric separation maps,
panels e to h), so the table has only ours. 5 draws; the picture shows the first.

MVU is `MaximumVarianceUnfolding`, MFNU `FurthestNeighborUnfolding`, both with a Gram matrix of rank
4 (ISM eq. 4), whose first two coordinates are the map. "Neighbors" is the paper's program: only
distances between neighbors are kept (to a root mean square error of 0.01 %, on squared distances).
These are about 4,480, fewer than the 5,990 degrees of freedom of 1,500 points in 4 dimensions:
loose spots are stretched along the roll, and points leave the plane by a good part of the distance
to their neighbors. "Neighbors and angles" is our addition: distances between any two neighbors of a
point are kept as well (to 0.1 %), about 8,680 in all.

The paper does not say whether its errors are on distances or on squared distances: both are here.
In 4 dimensions they count all distances that an unfolding had to keep; in 2 dimensions, for all
maps, those between neighbors. Root mean squares are relative, √(Σ (found − given)² / Σ given²); the
largest is over the edges' own relative errors.

Correlations are those of the map's two coordinates with arc length and height, after the rotation
or reflection, without scaling, that brings it closest to the flat roll by least squares. The
objective is the sum of squared distances from the mean for MVU, and from each point to its furthest
one for MFNU, in the roll's units; no Gram matrix of any rank that keeps the distances exceeds it by
more than the gap, which is an upper bound and is loose if angles are kept. Isomap (as many
neighbors) and PCA are for comparison. The line that should separate the classes is fitted by least
squares to the same points; "separable" is decided by linear programming.

"A strip" means correlations and a share of two eigenvalues of at least 0.99, and "partly" 0.95.
Distances count as kept with a root mean square error of at most 0.4 %, which the paper calls very
low, in 4 dimensions and in the plane; "partly" if in 4 dimensions only.
"""


def list_tasks(quick: bool) -> list[Task]:
    """List one task for each map and draw; a quick run has one draw of fewer points."""
    n_points, n_draws = (N_POINTS_QUICK, 1) if quick else (N_POINTS, N_DRAWS)
    settings = [{"map": name, "kept": kept} for kept in KEPT for name in UNFOLDINGS]
    settings += [{"map": "Isomap"}, {"map": "PCA"}]
    return [
        Task({"points": n_points, **setting}, seed)
        for setting in settings
        for seed in range(n_draws)
    ]


def run(task: Task, data_home: Path | None) -> list[Measurement]:
    """Compute one map of one roll, and measure it."""
    roll, name = Roll.draw(task), str(task.setting["map"])
    if name == "Isomap":
        isomap = Isomap(n_neighbors=rolls.N_NEIGHBORS, n_components=2)
        return measure_map(np.asarray(isomap.fit_transform(roll.X)), roll)
    if name == "PCA":
        pca = PCA(2)
        embedding = np.asarray(pca.fit_transform(roll.X))
        share = float(pca.explained_variance_ratio_.sum())
        return [Measurement(share, {}, TWO_EIGENVALUES), *measure_map(embedding, roll)]
    model = rolls.unfold(roll.X, name, str(task.setting["kept"]), task.seed)
    found, spectrum = model.certificate_, model.spectrum_
    return [
        *rolls.measure_errors(asdict(found.errors), {"dimensions": UNFOLDING_RANK}),
        Measurement(float(spectrum[:2].sum() / spectrum.sum()), {}, TWO_EIGENVALUES),
        Measurement(found.objective, {}, "objective", unit="number"),
        Measurement(found.gap, {}, "gap to the dual bound"),
        *measure_map(model.embedding_, roll),
    ]


def measure_map(embedding: rolls.Array, roll: Roll) -> list[Measurement]:
    """Measure two coordinates: distances of neighbors, correlations, and a line's error."""
    places = rolls.turn_onto(embedding, roll.coordinates)
    length, height = rolls.correlate(places, roll.coordinates)
    return [
        *rolls.measure_errors(rolls.distance_errors(roll.X, embedding), {"dimensions": 2}),
        Measurement(length, {}, WITH_LENGTH),
        Measurement(height, {}, WITH_HEIGHT),
        *rolls.measure_lines(embedding, roll.y),
    ]


def judge(summary: Summary) -> list[Verdict]:
    """Judge what the paper says about its panels, and what keeping angles changes."""
    return [
        Verdict(
            claim="MVU and MFNU unfold the roll into a strip",
            paper="text and picture",
            found=f"{_describe_strips(summary, NEIGHBORS)}; Isomap: "
            + _correlations(summary, map="Isomap"),
            verdict=_judge_strips(summary, NEIGHBORS),
            why="Fewer distances are kept than there are degrees of freedom, so loose spots are "
            "stretched. With angles kept as well the strip is complete.",
        ),
        Verdict(
            claim="With angles kept as well they unfold it into a strip",
            paper="not in the paper",
            found=_describe_strips(summary, ANGLES),
            verdict=_judge_strips(summary, ANGLES),
        ),
        _judge_distances(summary),
        _judge_spectrum(summary),
        _judge_classes(summary),
    ]


def _describe_strips(summary: Summary, kept: str) -> str:
    return "; ".join(
        f"{name}: {_correlations(summary, map=name, kept=kept)}, first two eigenvalues "
        + format_value(rolls.mean_of(summary, TWO_EIGENVALUES, map=name, kept=kept), "share")
        for name in UNFOLDINGS
    )


def _correlations(summary: Summary, **setting: str) -> str:
    length, height = (summary.row(name, **setting) for name in (WITH_LENGTH, WITH_HEIGHT))
    return (
        f"correlation {length.estimate.mean:.4f} with arc length, {height.estimate.mean:.4f} with "
        f"height (worst draw {min(height.values.values()):.4f})"
    )


def _judge_strips(summary: Summary, kept: str) -> Judgment:
    least = min(
        rolls.mean_of(summary, measure, map=name, kept=kept)
        for name in UNFOLDINGS
        for measure in (WITH_LENGTH, WITH_HEIGHT, TWO_EIGENVALUES)
    )
    return judge_if(least >= STRIP, least >= NEARLY_A_STRIP)


def _judge_distances(summary: Summary) -> Verdict:
    texts, is_kept = [], {UNFOLDING_RANK: True, 2: True}
    for name in UNFOLDINGS:
        for dimensions in is_kept:
            error, squared = (
                rolls.mean_of(summary, measure, map=name, kept=NEIGHBORS, dimensions=dimensions)
                for measure in rolls.RMS_ERRORS
            )
            is_kept[dimensions] &= error <= LOW_ERROR
            texts.append(
                f"{name} {error:.3g} % in {dimensions} dimensions ({squared:.3g} % on squared "
                "distances)"
            )
    return Verdict(
        claim="The unfoldings keep local distances",
        paper='"the color gradient shows that local distances has been preserved"',
        found=f"rms errors: {'; '.join(texts)}",
        verdict=judge_if(all(is_kept.values()), partly=is_kept[UNFOLDING_RANK]),
        why="They are kept in the 4 dimensions of the solve; the pictures have the first two.",
    )


def _judge_spectrum(summary: Summary) -> Verdict:
    pca = summary.row(TWO_EIGENVALUES, map="PCA").estimate
    shares = {
        name: summary.row(TWO_EIGENVALUES, map=name, kept=NEIGHBORS).estimate for name in UNFOLDINGS
    }
    is_more_compact = all(share.mean > pca.mean for share in shares.values())
    texts = [f"{name} {format_estimate(share)}" for name, share in {**shares, "PCA": pca}.items()]
    return Verdict(
        claim="Their spectra are more compact than that of PCA",
        paper='"at least more compact than" PCA, section 2',
        found=f"first two eigenvalues: {', '.join(texts)}",
        verdict=judge_if(is_more_compact),
    )


def _judge_classes(summary: Summary) -> Verdict:
    texts, separable = [], []
    for kept in KEPT:
        for name in UNFOLDINGS:
            error = summary.row(rolls.LINE_ERROR, map=name, kept=kept).estimate
            separable.append(rolls.mean_of(summary, rolls.SEPARABLE, map=name, kept=kept))
            texts.append(f"{name}, {kept}: {format_estimate(error)}")
    return Verdict(
        claim="In the unfolded roll the classes are not linearly separable",
        paper="text and picture",
        found=f"a straight line separates them in {100 * np.mean(separable):.0f} % of the maps; "
        f"errors of a least-squares line: {'; '.join(texts)}",
        verdict=judge_if(max(separable) == 0),
    )


def draw(summary: Summary, data_home: Path | None = None) -> Figure:
    """Draw the first roll and the spectra above, and below the maps of both unfoldings."""
    roll = Roll.draw(Task({"points": summary.values_of("points")[0]}, 0))
    # One row per entry of KEPT, the paper's program first.
    models = [[rolls.unfold(roll.X, name, kept, 0) for name in UNFOLDINGS] for kept in KEPT]
    figure = Figure(figsize=(14.0, 10.6), dpi=100, layout="constrained")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[5.0, 6.0])[:, 0]
    grid = above.add_gridspec(1, 3, width_ratios=[1.0, 1.0, 0.8])
    for place, title in enumerate(("a  The roll, by arc length", "b  The roll with two classes")):
        ax = above.add_subplot(grid[place], projection="3d")
        rolls.draw_roll(ax, roll, by_class=place == 1)
        ax.set_title(title)
    for value in (0, 1):
        rolls.name_class(ax, value, 0.04, 0.94 - 0.06 * value)
    spectra = dict(zip(UNFOLDINGS, (model.spectrum_ for model in models[0]), strict=True))
    spectra["PCA"] = PCA().fit(roll.X).explained_variance_
    ax = above.add_subplot(grid[2])
    rolls.draw_spectra(ax, spectra)
    ax.set_title("Spectra of c and d, and of PCA")
    panels = below.subplots(3, len(UNFOLDINGS), sharex=True, sharey=True)
    for column, name, plain, angular in zip(panels.T, UNFOLDINGS, *models, strict=True):
        for ax, model, by_class, title in (
            (column[0], plain, False, f"c  {name}, by arc length"),
            (column[1], plain, True, f"d  {name}, by class"),
            (column[2], angular, False, f"{name} with angles kept too (our addition)"),
        ):
            places = rolls.turn_onto(model.embedding_, roll.coordinates)
            _draw_map(ax, places, roll, by_class=by_class)
            length, height = rolls.correlate(places, roll.coordinates)
            ax.set_title(title + ("" if by_class else f": r = {length:.3f} and {height:.3f}"))
    below.supxlabel(
        "arc length. Maps are rotated, not scaled, onto the flat roll (gray outline); r: "
        "correlations with arc length and height."
    )
    below.supylabel("height")
    return figure


def _draw_map(ax: Axes, places: rolls.Array, roll: Roll, *, by_class: bool) -> None:
    """Draw a map rotated onto the flat roll, with the roll's outline behind it."""
    length, height = roll.coordinates.max(axis=0)
    ax.add_patch(Rectangle((0, 0), length, height, fill=False, color=rolls.LIGHT_GRAY, zorder=0))
    rolls.scatter(ax, places, roll, by_class=by_class, size=9)
    if by_class:
        for value in (0, 1):
            # The classes alternate along the roll: the first point of each is in its first band.
            start = roll.coordinates[roll.y == value, 0].min()
            rolls.name_class(ax, value, start, height + 1, transform=ax.transData)
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)


UNFOLDING = Entry(
    name="figure-1-unfolding",
    title="The Swiss roll unfolded by MVU and MFNU (panels a to d)",
    procedure=PROCEDURE,
    tasks=list_tasks,
    run=run,
    judge=judge,
    draw=draw,
)
