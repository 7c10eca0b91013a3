"""The roll of ISM Figs. 1 to 4 and its maps: computed, measured, judged and drawn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from labelfold.classify import LeastSquaresClassifier
from labelfold.datasets import make_swiss_roll
from labelfold.exceptions import InfeasibleMapWarning
from labelfold.graph import NeighborGraph
from labelfold.plotting import class_styles, readable_on_white
from labelfold.semidefinite import (
    FurthestNeighborUnfolding,
    IsometricSeparationMap,
    MaximumVarianceUnfolding,
)
from reproductions.ccdr_2005.figures_1_and_2 import is_separable
from reproductions.curves import OKABE_ITO
from reproductions.entry import Measurement, Setting, Task
from reproductions.summary import Summary

Array = NDArray[np.float64]
Classes = NDArray[np.int64]
Unfolding = MaximumVarianceUnfolding | FurthestNeighborUnfolding

N_NEIGHBORS = 5  # ISM section 4
UNFOLDING_RANK = 4
UNFOLDINGS: dict[str, type[Unfolding]] = {
    "MVU": MaximumVarianceUnfolding,
    "MFNU": FurthestNeighborUnfolding,
}
# Which distances an unfolding keeps, and how well: rms relative error of squared ones.
NEIGHBORS, ANGLES = "neighbors", "neighbors and angles"
KEPT = {NEIGHBORS: 1e-4, ANGLES: 1e-3}

ISM, TRIVIAL, FLAT = "ISM", "[margin y, X]", "[margin y, arc length, height]"
OBJECTIVES = ("none", "variance")
TOLERANCE = 1e-4  # goal for the rms error of squared distances: the paper's 0.01 %
STEPS, STEPS_QUICK = 20_000, 500

ERRORS = {
    "rms": "rms error of distances, in %",
    "largest": "largest error of distances, in %",
    "rms_squared": "rms error of squared distances, in %",
    "largest_squared": "largest error of squared distances, in %",
}
RMS_ERRORS = DISTANCES, SQUARED = ERRORS["rms"], ERRORS["rms_squared"]
LEAST_ERROR = "what no map goes below: rms error of squared distances, in %"
SEPARATION_ERROR = "separation error"
LINE_ERROR, SEPARABLE = "error of a straight line", "separable by a straight line"

MARKERS = "ovs"
GRAY, LINE_GRAY, LIGHT_GRAY = "#6E6E6E", "#8C8C8C", "#BDBDBD"
OBJECTIVE_NAMES = {"variance": "with the variance term", "none": "without an objective"}
SPECTRUM_COLORS = (OKABE_ITO[0], OKABE_ITO[5], GRAY)


@dataclass(frozen=True, eq=False)
class Roll:
    """Points of the roll, their classes, and their arc length and height."""

    X: Array
    y: Classes
    coordinates: Array

    @classmethod
    def draw(cls, task: Task) -> Roll:
        """Draw the roll of a task: two classes in bands, or three in the task's pattern."""
        n_points, pattern = int(task.setting["points"]), task.setting.get("classes")
        classes: dict[str, Any] = {"pattern": pattern, "n_classes": 3} if pattern else {}
        return cls(*make_swiss_roll(n_points, random_state=task.seed, **classes))


def unfold(X: Array, name: str, kept: str, seed: int | None) -> Unfolding:
    """Unfold a roll by MVU or MFNU."""
    model = UNFOLDINGS[name](
        2,
        n_neighbors=N_NEIGHBORS,
        local_angles=kept == ANGLES,
        rank=UNFOLDING_RANK,
        tol=KEPT[kept],
        random_state=seed,
    )
    return model.fit(X)


def make_map(task: Task, **parameters: Any) -> IsometricSeparationMap:
    """Return a separation map for the roll of a task; a quick task limits the steps."""
    steps = int(task.setting.get("steps", STEPS))
    common: dict[str, Any] = {"n_neighbors": N_NEIGHBORS, "tol": TOLERANCE, "max_iter": steps}
    return IsometricSeparationMap.as_published(random_state=task.seed, **common, **parameters)


def separate(roll: Roll, task: Task, **parameters: Any) -> IsometricSeparationMap:
    """Map the roll of a task, all points labeled."""
    model = make_map(task, n_components=1, **parameters)
    # The table shows the errors that were reached.
    with warnings.catch_warnings(action="ignore", category=InfeasibleMapWarning):
        return model.fit(roll.X, roll.y)


def append_sides(roll: Roll, margin: float, coordinates: Array) -> Array:
    """Return [margin y, coordinates], where y has the side of each point of each normal."""
    sides = np.where(roll.y[:, None] == _positive_classes(roll.y), 1.0, -1.0)
    return np.hstack([margin * edge_length(roll) * sides, coordinates])


def turn_onto(embedding: Array, coordinates: Array) -> Array:
    """Rotate, reflect and shift a map, without scaling, to be closest to the coordinates."""
    center = coordinates.mean(axis=0)
    centered = embedding - embedding.mean(axis=0)
    rotation, _ = orthogonal_procrustes(centered, coordinates - center)
    return np.asarray(centered @ rotation + center)


def correlate(places: Array, coordinates: Array) -> tuple[float, float]:
    """Return the correlations of a rotated map's coordinates with arc length and height."""
    length, height = (float(np.corrcoef(places[:, i], coordinates[:, i])[0, 1]) for i in (0, 1))
    return length, height


def edge_length(roll: Roll) -> float:
    """Return the mean distance between neighbors, the unit of margins."""
    return float(np.mean(neighbor_distances(roll.X)[2]))


def neighbor_distances(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the pairs of neighbors, first and second points, and the distances between them."""
    upper = sp.triu(NeighborGraph.build(X, n_neighbors=N_NEIGHBORS).distances, k=1).tocoo()
    return upper.row.astype(np.intp), upper.col.astype(np.intp), np.asarray(upper.data)


def distance_errors(X: Array, places: Array) -> dict[str, float]:
    """Return a map's relative errors of distances between neighbors, named as in certificates."""
    i, j, given = neighbor_distances(X)
    found = np.linalg.norm(places[i] - places[j], axis=1)
    errors, squared = found - given, found**2 - given**2
    return {
        "rms": float(np.linalg.norm(errors) / np.linalg.norm(given)),
        "largest": float(np.max(np.abs(errors) / given)),
        "rms_squared": float(np.linalg.norm(squared) / np.linalg.norm(given**2)),
        "largest_squared": float(np.max(np.abs(squared) / given**2)),
    }


def measure_errors(errors: Mapping[str, float], setting: Setting) -> list[Measurement]:
    """Return distance errors in percent, as numbers: shares would be rounded too much."""
    return [
        Measurement(100 * errors[name], setting, measure, unit="number")
        for name, measure in ERRORS.items()
    ]


def measure_separation(model: IsometricSeparationMap, setting: Setting) -> list[Measurement]:
    """Measure a separation map: sides, distances, and what no map goes below."""
    found, n_labeled = model.certificate_, len(model.transduction_)
    measured = [
        Measurement(found.separation_error, setting, SEPARATION_ERROR, n_scored=n_labeled),
        *measure_errors(asdict(found.errors), setting),
    ]
    if model.anchors_ is None:  # for anchors the margin is not a length
        measured.append(Measurement(100 * found.least_error, setting, LEAST_ERROR, unit="number"))
    return measured


def measure_appended(
    roll: Roll, margin: float, coordinates: Array, setting: Setting
) -> list[Measurement]:
    """Measure a map with the sides beside coordinates that do not depend on the classes."""
    places = append_sides(roll, margin, coordinates)
    return measure_errors(distance_errors(roll.X, places), setting)


def measure_lines(embedding: Array, y: Classes) -> list[Measurement]:
    """Measure how well straight lines separate the classes in a map."""
    predicted = LeastSquaresClassifier().fit(embedding, y).predict(embedding)
    separated = [
        is_separable(embedding, (y == value).astype(int)) for value in _positive_classes(y)
    ]
    return [
        Measurement(float(np.mean(predicted != y)), {}, LINE_ERROR, n_scored=len(y)),
        Measurement(float(np.mean(separated)), {}, SEPARABLE),
    ]


def mean_of(summary: Summary, measure: str, **setting: str | int | float) -> float:
    """Return the mean over draws of one row."""
    return summary.row(measure, **setting).estimate.mean


def describe_errors(summary: Summary, **setting: str | int | float) -> str:
    """Write the root mean square errors of one map."""
    distances, squared = (mean_of(summary, name, **setting) for name in RMS_ERRORS)
    return f"{distances:.2g} % ({squared:.2g} % on squared distances)"


def errs_less(summary: Summary, first: Setting, second: Setting) -> bool:
    """Return whether a map has smaller errors than another, on distances and on squared ones."""
    return all(
        mean_of(summary, name, **first) < mean_of(summary, name, **second) for name in RMS_ERRORS
    )


def worst_separation(summary: Summary, **setting: str | int | float) -> float:
    """Return the largest separation error of any draw of the maps of a setting."""
    rows = summary.rows_with(SEPARATION_ERROR, **setting)
    return max(value for row in rows for value in row.values.values())


def scatter_by_class(ax: Any, places: Array, y: NDArray[Any], size: float) -> None:
    """Draw points of the plane or of space in the colors and shapes of their classes."""
    for value, style in enumerate(class_styles(int(y.max()) + 1)):
        of_class = places[y == value]
        ax.scatter(*of_class.T, color=style.color, marker=MARKERS[value], s=size, linewidth=0)


def scatter(ax: Any, places: Array, roll: Roll, *, by_class: bool, size: float) -> None:
    """Draw points of the plane or of space by class or by arc length."""
    if by_class:
        scatter_by_class(ax, places, roll.y, size)
    else:
        ax.scatter(*places.T, c=roll.coordinates[:, 0], cmap="viridis", s=size, linewidth=0)


def draw_roll(ax: Any, roll: Roll, *, by_class: bool) -> None:
    """Draw the roll in space."""
    scatter(ax, roll.X, roll, by_class=by_class, size=14)
    ax.view_init(elev=12, azim=-72)
    ax.set_box_aspect(np.ptp(roll.X, axis=0), zoom=1.2)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])


def name_class(ax: Any, value: int, x: float, y: float, *, n_classes: int = 2, **text: Any) -> None:
    """Write the name of a class in its color, at a position given as shares of the axes."""
    write = getattr(ax, "text2D", ax.text)
    color = class_styles(n_classes)[value].text_color
    text = {"transform": ax.transAxes, "color": color, "fontweight": "bold", **text}
    write(x, y, f"class {value + 1}", **text)


def draw_spectra(ax: Axes, spectra: dict[str, Array]) -> None:
    """Draw the eigenvalues' shares of their sums; a logarithmic scale shows the small ones."""
    colors = SPECTRUM_COLORS[: len(spectra)]
    for (name, values), color in zip(spectra.items(), colors, strict=True):
        shares = 100 * values / values.sum()
        ax.plot(range(1, len(shares) + 1), shares, "o-", color=color, label=name)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set(xlabel="eigenvalue", ylabel="share of their sum, %", title="Spectra")
    ax.set_xticks(range(1, max(map(len, spectra.values())) + 1))
    ax.legend(frameon=False, labelcolor=[readable_on_white(color) for color in colors])
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E4E4E4")


def _positive_classes(y: Classes) -> Classes:
    """Return the class of each normal, as separation maps have them: one for two classes."""
    classes = np.unique(y)
    return classes[1:] if len(classes) == 2 else classes
