"""Separation maps of labelled rolls, the trivial maps beside them, and what is measured of both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from labelfold.exceptions import InfeasibleMapWarning
from labelfold.semidefinite import IsometricSeparationMap
from reproductions.entry import Measurement, Setting, Task
from reproductions.ism.figure_1 import ERRORS
from reproductions.ism.maps import N_NEIGHBORS, Array, Roll, distance_errors, neighbor_distances
from reproductions.summary import Summary

__all__ = [
    "DISTANCES",
    "FLAT",
    "ISM",
    "LEAST_ERROR",
    "OBJECTIVES",
    "SEPARATION_ERROR",
    "SQUARED",
    "STEPS",
    "STEPS_QUICK",
    "TOLERANCE",
    "TRIVIAL",
    "append_sides",
    "describe_errors",
    "edge_length",
    "errs_less",
    "mean_of",
    "measure_appended",
    "measure_errors_of",
    "measure_separation",
    "separate",
    "steps_of",
    "worst_separation",
]

ISM, TRIVIAL, FLAT = "ISM", "[margin y, X]", "[margin y, arc length, height]"
OBJECTIVES = ("none", "variance")
DISTANCES, SQUARED = ERRORS["rms"], ERRORS["rms_squared"]
SEPARATION_ERROR = "separation error"
LEAST_ERROR = "what no map goes below: rms error of squared distances, in %"

TOLERANCE = 1e-4  # rms error of squared distances that maps strive for: the paper's 0.01 %
STEPS, STEPS_QUICK = 20_000, 500


def separate(
    roll: Roll,
    *,
    rank: int,
    margin: float,
    objective: str,
    seed: int | None,
    normals: str = "axes",
    start: Any = "auto",
    steps: int = STEPS,
) -> IsometricSeparationMap:
    """Map a roll, all of its points labelled."""
    model = IsometricSeparationMap(
        1,
        margin=margin,
        objective=objective,
        normals=normals,
        n_neighbors=N_NEIGHBORS,
        rank=rank,
        start=start,
        tol=TOLERANCE,
        max_iter=steps,
        random_state=seed,
    )
    with warnings.catch_warnings():
        # The table tells what was reached.
        warnings.simplefilter("ignore", InfeasibleMapWarning)
        return model.fit(roll.X, roll.y)


def steps_of(task: Task) -> int:
    """Return the steps that the maps of a task may take: quick ones say it."""
    return int(task.setting.get("steps", STEPS))


def measure_separation(model: IsometricSeparationMap, setting: Setting) -> list[Measurement]:
    """Measure a separation map: sides, distances, and what no map goes below."""
    found = model.certificate_
    n_labeled = len(model.transduction_)
    measured = [
        Measurement(found.separation_error, setting, SEPARATION_ERROR, n_scored=n_labeled),
        *measure_errors_of(asdict(found.errors), setting),
    ]
    if model.anchors_ is None:  # for anchors the margin is no length
        measured.append(Measurement(100 * found.least_error, setting, LEAST_ERROR, unit="number"))
    return measured


def measure_appended(
    roll: Roll, margin: float, coordinates: Array, setting: Setting
) -> list[Measurement]:
    """Measure a map that has the sides beside coordinates which know nothing of classes."""
    places = append_sides(roll, margin, coordinates)
    return measure_errors_of(distance_errors(roll.X, places), setting)


def append_sides(roll: Roll, margin: float, coordinates: Array) -> Array:
    """Return [margin y, coordinates], with y the sides of the points."""
    # As IsometricSeparationMap has it: one normal for two classes, else one normal per class.
    classes = np.unique(roll.y)
    positive = classes[1:] if len(classes) == 2 else classes
    sides = np.where(roll.y[:, None] == positive, 1.0, -1.0)
    return np.hstack([margin * edge_length(roll) * sides, coordinates])


def edge_length(roll: Roll) -> float:
    """Return the mean distance between neighbours, the unit of margins."""
    return float(np.mean(neighbor_distances(roll.X)[2]))


def measure_errors_of(errors: Mapping[str, float], setting: Setting) -> list[Measurement]:
    """Return the errors of distances in per cent, as numbers: shares would be rounded too much."""
    return [
        Measurement(100 * errors[name], setting, measure, unit="number")
        for name, measure in ERRORS.items()
    ]


def mean_of(summary: Summary, measure: str, **setting: str | int | float) -> float:
    """Return the mean over draws of one row."""
    return summary.row(measure, **setting).estimate.mean


def describe_errors(summary: Summary, **setting: str | int | float) -> str:
    """Write the root mean square errors of one map."""
    distances, squared = (mean_of(summary, name, **setting) for name in (DISTANCES, SQUARED))
    return f"{distances:.2g} % ({squared:.2g} % on squared distances)"


def errs_less(summary: Summary, first: Setting, second: Setting) -> bool:
    """Tell whether a map errs less than another, on distances and on squared ones."""
    return all(
        mean_of(summary, name, **first) < mean_of(summary, name, **second)
        for name in (DISTANCES, SQUARED)
    )


def worst_separation(summary: Summary, **setting: str | int | float) -> float:
    """Return the largest separation error of any draw of the maps of a setting."""
    rows = summary.rows_with(SEPARATION_ERROR, **setting)
    return max(value for row in rows for value in row.values.values())
