"""Results: one line of JSON per set, method, number of labels and seed, added as they come.

Many lines are kept small by `pack`: errors and seconds in the order of the seeds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Result:
    """One answer of one method."""

    set: str
    method: str
    n_labels: int
    seed: int
    error: float | None  # share of wrong classes among unlabeled rows; None if the method failed
    seconds: float  # of this draw
    shared_seconds: float = 0.0  # spent in this call on what all draws share
    failure: str = ""

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Return what was run."""
        return self.set, self.method, self.n_labels, self.seed


def append(path: Path, result: Result) -> None:
    """Add a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def read(path: Path) -> list[Result]:
    """Return the results of a file of lines or of packed results; of a repeated run the last."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return unpack(json.loads(text))
    results = [Result(**json.loads(line)) for line in text.splitlines()]
    return list({result.key: result for result in results}.values())


def pack(results: Iterable[Result]) -> dict[str, Any]:
    """Return {set: {method: {n_labels: {seeds, errors, ...}}}} with rounded numbers.

    >>> pack([Result("digits", "knn", 50, seed, 0.1, 2.0) for seed in (0, 1)])
    {'digits': {'knn': {'50': {'seed': [0, 1], 'error': [0.1, 0.1], 'seconds': [2.0, 2.0]}}}}
    """
    packed: dict[str, Any] = {}
    for result in sorted(results, key=lambda result: result.key):
        cells = packed.setdefault(result.set, {}).setdefault(result.method, {})
        cell = cells.setdefault(str(result.n_labels), {"seed": [], "error": [], "seconds": []})
        cell["seed"].append(result.seed)
        cell["error"].append(None if result.error is None else round(result.error, 5))
        cell["seconds"].append(float(f"{result.seconds:.2g}"))
        if result.shared_seconds:
            cell["shared_seconds"] = float(f"{result.shared_seconds:.2g}")
        if result.failure:
            cell["failure"] = result.failure
    return packed


def unpack(packed: dict[str, Any]) -> list[Result]:
    """Return the results of `pack`; what all draws share counts for the first of them."""
    results = []
    for name, methods in packed.items():
        for method, cells in methods.items():
            for n_labels, cell in cells.items():
                draws = zip(cell["seed"], cell["error"], cell["seconds"], strict=True)
                for number, (seed, error, seconds) in enumerate(draws):
                    shared = cell.get("shared_seconds", 0.0) if number == 0 else 0.0
                    failure = cell.get("failure", "") if error is None else ""
                    results.append(
                        Result(name, method, int(n_labels), seed, error, seconds, shared, failure)
                    )
    return results
