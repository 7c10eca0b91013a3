"""The results of an entry on disk: one JSON line a finished task, behind a line on their origin.

A task's line is on disk before the next one begins, so that an interrupted run goes on where it
stopped. Results of another origin (other versions, another edition of the entry, a quick run) are
never mixed with new ones: their file is set aside under another name.
"""

from __future__ import annotations

import json
import os
import platform
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labelfold import __version__
from labelfold.exceptions import InputError
from reproductions.entry import Measurement, Task
from reproductions.summary import TaskResult

__all__ = ["Origin", "Record"]


@dataclass(frozen=True)
class Origin:
    """What results must have in common to stand in one table; the first line of a record.

    Parameters
    ----------
    paper, entry : str
        Names.
    edition : int
        The entry's edition.
    quick : bool
        Whether it is a quick run.
    versions : dict
        Versions of labelfold, of the packages under it and of Python.
    """

    paper: str
    entry: str
    edition: int
    quick: bool
    versions: dict[str, str]

    @classmethod
    def here(cls, *, paper: str, entry: str, edition: int, quick: bool) -> Origin:
        """Return the origin of what this process computes."""
        import numpy
        import scipy
        import sklearn

        versions = {
            "labelfold": __version__,
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        }
        return cls(paper, entry, edition, quick, versions)

    def differences(self, header: dict[str, Any]) -> str:
        """Say in which points a record's first line names another origin; "" if in none."""
        here = {**asdict(self), **self.versions}
        there = {**header, **header.get("versions", {})}
        del here["versions"]
        return ", ".join(
            f"{name} {there.get(name)} rather than {value}"
            for name, value in here.items()
            if there.get(name) != value
        )


def describe_machine() -> str:
    """Say on what kind of machine numbers are computed: rounding depends on it, and little else."""
    from threadpoolctl import threadpool_info

    kernels = {
        f"{pool['internal_api']} for {pool['architecture']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas" and pool.get("architecture")
    }
    return ", ".join([f"{platform.system()} {platform.machine()}", *sorted(kernels)])


class Record:
    """A file of results, opened for going on.

    Parameters
    ----------
    path : Path
        The file; its folder is made if missing.
    origin : Origin
        Origin of the results to add.
    fresh : bool, default=False
        Start anew even if the file has results of the same origin.

    Attributes
    ----------
    path : Path
        The file.
    platform : str
        The machine on which the record was begun.
    results : dict of str to TaskResult
        Results so far, by the tasks' keys.
    """

    def __init__(self, path: Path, origin: Origin, *, fresh: bool = False) -> None:
        self.path = path
        self.results: dict[str, TaskResult] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = _complete_lines(path)
        if lines:
            reason = "a fresh start was asked for" if fresh else origin.differences(lines[0])
            if reason:
                _set_aside(path, reason)
                lines = []
        if not lines:
            lines = [{**asdict(origin), "platform": describe_machine()}]
            self._write(lines[0])
        self.platform = str(lines[0]["platform"])
        for line in lines[1:]:
            self._keep(_result_from(line))

    def append(self, result: TaskResult) -> None:
        """Add a result, on disk when this returns."""
        self._write(_line_from(result))
        self._keep(result)

    def _keep(self, result: TaskResult) -> None:
        self.results.setdefault(result.task.key, result)

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as stream:
            stream.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def _complete_lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a file, and cut off a last one that an interruption left half-written."""
    content = path.read_bytes() if path.exists() else b""
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) < len(content):
        os.truncate(path, len(complete))
    lines = []
    for number, text in enumerate(complete.splitlines(), start=1):
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise InputError(
                f"line {number} of {path} is no result of a task: move the file away, and the run "
                "starts anew."
            )
        lines.append(line)
    return lines


def _set_aside(path: Path, reason: str) -> None:
    number = 1
    while (aside := path.with_name(f"{path.stem}.old-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
    warnings.warn(
        f"{path} was set aside as {aside.name}, and the run starts anew: {reason}.", stacklevel=4
    )


def _line_from(result: TaskResult) -> dict[str, Any]:
    return {
        "setting": dict(result.task.setting),
        "seed": result.task.seed,
        "seconds": round(result.seconds, 3),
        "warnings": list(result.warnings),
        "measurements": [
            {
                "measure": measurement.measure,
                "setting": dict(measurement.setting),
                "value": float(measurement.value),
                "n_scored": None if measurement.n_scored is None else int(measurement.n_scored),
                "unit": measurement.unit,
                **({} if measurement.draw is None else {"draw": int(measurement.draw)}),
            }
            for measurement in result.measurements
        ],
    }


def _result_from(line: dict[str, Any]) -> TaskResult:
    return TaskResult(
        task=Task(line["setting"], line["seed"]),
        measurements=tuple(Measurement(**fields) for fields in line["measurements"]),
        seconds=line["seconds"],
        warnings=tuple(line["warnings"]),
    )
