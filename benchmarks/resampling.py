"""Embeddings of subsamples against one of all rows: MNIST, 60,000 rows, 100 components, 500 labels.

Every method has its own process, which starts with the rows in memory. Memory is what the
first fit adds to that.
"""

from __future__ import annotations

import resource
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measure import environment, in_child, repeat, write_results
from mnist import N_COMPONENTS, linear_error, rows

RESULTS = Path(__file__).parent / "results"
N_LABELS, N_DRAWS = 500, 3
NEIGHBORS = (12, 8)
SIZES, NUMBERS = (1250, 2500, 5000, 10_000), (1, 2, 4, 8)
MB = 1e6


def time_whole(path: str, n_repeats: int, n_draws: int, n_neighbors: int) -> dict[str, Any]:
    """Return figures of one embedding of all rows."""
    from labelfold import CCDR

    return _measure(
        CCDR(N_COMPONENTS, n_neighbors=n_neighbors, random_state=0), path, n_repeats, n_draws
    )


def time_resampled(
    path: str, n_repeats: int, n_draws: int, n_neighbors: int, size: int, number: int
) -> dict[str, Any]:
    """Return figures of the mean of subsamples' embeddings."""
    from labelfold import CCDR, ResampledEmbedding

    embedder = CCDR(N_COMPONENTS, n_neighbors=n_neighbors)
    model = ResampledEmbedding(embedder, n_subsamples=number, subsample_size=size, random_state=0)
    return _measure(model, path, n_repeats, n_draws)


def _measure(model: Any, path: str, n_repeats: int, n_draws: int) -> dict[str, Any]:
    from sklearn.base import clone

    from labelfold import CCDR, hide_labels

    warnings.simplefilter("ignore")  # small subsamples need bridges
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    # Load the libraries first, so their memory is not counted.
    CCDR(neighbor_search="approximate").fit(X[:500], hide_labels(y[:500], np.arange(50)))
    before = _peak()
    errors = []
    for seed in range(n_draws):
        draw = np.random.default_rng(seed).choice(len(y), N_LABELS, replace=False)
        given = hide_labels(y, draw)
        embedding = clone(model).fit(X, given).embedding_
        if seed == 0:
            added = _peak() - before
        errors.append(linear_error(embedding, y, draw))
    model = clone(model)
    measured = repeat(lambda: model.fit(X, given) and None, n_repeats) if n_repeats else {}
    return {**measured, "added_bytes": added, "errors": errors}


def _peak() -> int:
    status = Path("/proc/self/status")
    if status.exists():  # not getrusage, whose peak a child begins with its parent's
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(n_repeats: int, n_threads: int) -> list[str]:
    """Compare 8 subsamples of 5,000 rows with one embedding; then vary number and size."""
    before = environment(n_threads)
    X, y = rows()
    measured: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npz")
        np.savez(path, X=X, y=y)
        del X, y

        def measure(name: str, task: str, **setting: int) -> None:
            measured[name] = in_child("resampling", task, n_threads, path=path, **setting)
            write_results(RESULTS / "resampling.json", {"environment": before, **measured})

        for k in NEIGHBORS:
            how = {"n_repeats": n_repeats, "n_draws": N_DRAWS, "n_neighbors": k}
            measure(f"whole {k}", "whole", **how)
            measure(f"8 x 5000 {k}", "resampled", **how, size=5000, number=8)
        for size in SIZES:
            for number in NUMBERS:
                name = f"{number} x {size} 12"
                if name not in measured and number * size <= 40_000:
                    how = {"n_repeats": 0, "n_draws": 1, "n_neighbors": 12}
                    measure(name, "resampled", **how, size=size, number=number)
    return _table(measured, n_repeats)


def _table(measured: dict[str, dict[str, Any]], n_repeats: int) -> list[str]:
    runs = f"median of {n_repeats}" if n_repeats > 1 else "one run"
    lines = [
        "## Maps of subsamples of MNIST: 60,000 x 100, 20 dims, 500 labels, linear head",
        "",
        f"| | neighbors | seconds, {runs} | memory added | error, 3 draws | above one map |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for k in NEIGHBORS:
        whole = measured[f"whole {k}"]
        for name in ("whole", "8 x 5000"):
            one = measured[f"{name} {k}"]
            gap = np.mean(one["errors"]) - np.mean(whole["errors"])
            lines.append(
                f"| {name.replace('whole', 'one map')} | {k} | {one['seconds']:.1f} | "
                f"{one['added_bytes'] / MB:.0f} MB | {np.mean(one['errors']):.2%} | "
                f"{100 * gap:.2f} points |"
            )
    lines += [
        "",
        "Error of subsamples' maps by their number and size, 12 neighbors, first draw:",
        "",
        f"| rows | {' | '.join(f'{number} maps' for number in NUMBERS)} |",
        f"| --- |{' --- |' * len(NUMBERS)}",
    ]
    for size in SIZES:
        cells = [measured.get(f"{number} x {size} 12") for number in NUMBERS]
        texts = ["" if one is None else f"{one['errors'][0]:.2%}" for one in cells]
        lines.append(f"| {size:,} | {' | '.join(texts)} |")
    return lines


TASKS = {"whole": time_whole, "resampled": time_resampled}
