"""The results of an entry on disk: one JSON line per finished task, after a line on their origin.

A task's line is on disk before the next one begins, so an interrupted run resumes where it stopped.
Results of another origin (other versions, another edition of the entry, a quick run) are never
mixed with new ones: their file is set aside under another name.
"""

from __future__ import annotations

import json
import os
import platform
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn
from threadpoolctl import threadpool_info

from labelfold import __version__
from reproductions.entry import Entry, Measurement, Paper, Task
from reproductions.summary import TaskResult


def list_versions() -> dict[str, str]:
    """Return the versions on which results depend."""
    return {
        "labelfold": __version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


def describe_machine() -> str:
    """Describe the machine; rounding depends on it, and little else."""
    kernels = {
        f"{pool['internal_api']} for {pool['architecture']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas" and pool.get("architecture")
    }
    return ", ".join([f"{platform.system()} {platform.machine()}", *sorted(kernels)])


class Record:
    """The file of an entry's results, opened to resume; `fresh` starts over.

    `path` is the file, ``<entry>.jsonl``, whose folder is made if missing; `origin` its first line:
    paper, entry, edition, whether it is a quick run, versions and platform; `results` has the
    results so far by the tasks' keys.
    """

    def __init__(
        self, folder: Path, paper: Paper, entry: Entry, *, quick: bool = False, fresh: bool = False
    ) -> None:
        self.path = folder / f"{entry.name}.jsonl"
        self.results: dict[str, TaskResult] = {}
        self.origin: dict[str, Any] = {
            "paper": paper.name,
            "entry": entry.name,
            "edition": entry.edition,
            "quick": quick,
            "versions": list_versions(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        lines = _complete_lines(self.path)
        if lines:
            reason = "a fresh start was requested" if fresh else _differences(self.origin, lines[0])
            if reason:
                _set_aside(self.path, reason)
                lines = []
        if not lines:
            lines = [{**self.origin, "platform": describe_machine()}]
            self._write(lines[0])
        self.origin = lines[0]
        for line in lines[1:]:
            result = TaskResult(
                task=Task(line["setting"], line["seed"]),
                measurements=tuple(Measurement(**fields) for fields in line["measurements"]),
                seconds=line["seconds"],
                warnings=tuple(line["warnings"]),
            )
            self.results.setdefault(result.task.key, result)

    def append(self, result: TaskResult) -> None:
        """Add a result, on disk when this returns."""
        self._write(
            {
                **asdict(result.task),
                "seconds": round(result.seconds, 3),
                "warnings": result.warnings,
                "measurements": [asdict(measurement) for measurement in result.measurements],
            }
        )
        self.results.setdefault(result.task.key, result)

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as stream:
            # NumPy's numbers as Python's.
            text = json.dumps(line, allow_nan=False, default=lambda number: number.item())
            stream.write(text.encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def _complete_lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a file, and cut off a last one that an interruption left half-written."""
    content = path.read_bytes() if path.exists() else b""
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) < len(content):
        os.truncate(path, len(complete))
    return [json.loads(line) for line in complete.splitlines()]


def _differences(here: dict[str, Any], there: dict[str, Any]) -> str:
    """Say how the origin in a record's first line differs; "" if it does not."""
    here, there = ({**one, **one["versions"], "versions": None} for one in (here, there))
    return ", ".join(
        f"{name} {there.get(name)} rather than {value}"
        for name, value in here.items()
        if there.get(name) != value
    )


def _set_aside(path: Path, reason: str) -> None:
    number = 1
    while (aside := path.with_name(f"{path.stem}.old-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
    warnings.warn(
        f"{path} was renamed to {aside.name}, and the run starts over: {reason}.", stacklevel=3
    )
