"""All benchmarks in one command: ratios against peers as a table, raw figures as JSON.

    LABELFOLD_DATA=... python benchmarks/run.py [NAME ...] [--repeats 5]

Run it alone on the machine. Every package has its own process and the same number of threads;
compiled code is warmed up before the clock starts; the tables have medians.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import eigen
import joint
import resampling
import scaling_of_columns
import separation
import supervised
import tables
import unfolding
from measure import environment, in_child, write_results
from scaling import SIZES, exponent

RESULTS = Path(__file__).parent / "results"
GB = 1e9


def run_mnist(n_repeats: int, n_threads: int) -> list[str]:
    """Compare with umap-learn and scikit-learn on MNIST."""
    before = environment(n_threads)
    measured = {
        name: in_child("mnist", name, n_threads, n_repeats=n_repeats)
        for name in (
            "labelfold",
            "laplacian_classifier",
            "spectral_embedding",
            "label_spreading",
            "umap",
            "umap_labels",
            "umap_labels_seed",
        )
    }
    write_results(RESULTS / "mnist.json", {"environment": before, **measured})
    ours = measured["labelfold"]
    lines = [
        "## MNIST, 60,000 x 100, 8 neighbors, 20 dims, 100 labels",
        "",
        "| | seconds (median) | ratio to labelfold | peak memory | error on unlabeled rows, "
        "mean of all draws |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, figures in measured.items():
        ratio = figures["seconds"] / ours["seconds"]
        peak = figures["peak_bytes"] / GB
        errors = "; ".join(
            f"{head} {sum(some) / len(some):.2%} ({min(some):.2%} to {max(some):.2%})"
            for head, some in figures["errors"].items()
        )
        lines.append(
            f"| {name} | {figures['seconds']:.2f} | {ratio:.1f} | {peak:.2f} GB | {errors} |"
        )
    return [*lines, "", f"{ours['search']}; {ours['certificate']}"]


def run_scaling(n_repeats: int, n_threads: int) -> list[str]:
    """Measure how search and solve grow with n."""
    before = environment(n_threads)
    measured: list[dict[str, Any]] = []
    for n in SIZES:
        repeats = n_repeats if n < 200_000 else 1
        measured.append(in_child("scaling", "fit", n_threads, n=n, n_repeats=repeats))
        write_results(RESULTS / "scaling.json", {"environment": before, "runs": measured})
    lines = [
        "## Cost against n: 50 features, 10 neighbors, 10 dims",
        "",
        "| n | search s | solve s | total s | peak memory | components | search |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for m in measured:
        lines.append(
            f"| {m['n']:,} | {m['search']:.2f} | {m['solve']:.2f} | {m['seconds']:.2f} | "
            f"{m['peak_bytes'] / GB:.2f} GB | {m['components']} | {m['backend']} |"
        )
    slopes = {
        part: exponent([m["n"] for m in measured], [m[part] for m in measured])
        for part in ("search", "solve", "seconds")
    }
    lines += [
        "",
        f"Exponents of time in n: search {slopes['search']:.2f}, solve {slopes['solve']:.2f}, "
        f"overall {slopes['seconds']:.2f}.",
    ]
    return lines


def run_sweep(n_repeats: int, n_threads: int) -> list[str]:
    """Measure 200 settings on one graph against one fit."""
    before = environment(n_threads)
    measured = {
        name: in_child("sweep", name, n_threads, n_repeats=n_repeats)
        for name in ("fit", "sweep", "search")
    }
    write_results(RESULTS / "sweep.json", {"environment": before, **measured})
    one = measured["fit"]["seconds"]
    lines = [
        "## Landsat, 6,435 x 36, 4 neighbors: 200 settings of beta and dimension, linear head",
        "",
        "| | graphs | maps | seconds (median) | times one fit |",
        "| --- | --- | --- | --- | --- |",
        f"| one fit, 14 dimensions | 1 | 1 | {one:.2f} | 1 |",
    ]
    for name, title in (("sweep", "scored on the test rows"), ("search", "5 folds")):
        m = measured[name]
        lines.append(
            f"| {m['n_settings']} settings, {title} | {m['n_graphs']} | {m['n_maps']} | "
            f"{m['seconds']:.2f} | {m['seconds'] / one:.1f} |"
        )
    return lines


def run_eigen(n_repeats: int, n_threads: int) -> list[str]:
    """Measure how the solve grows with the number of eigenpairs, and compare with ARPACK."""
    before = environment(n_threads)
    measured: dict[str, dict[str, Any]] = {}
    jobs = [("scipy_arpack", eigen.AGAINST_ARPACK), *(("chebyshev", p) for p in eigen.NUMBERS)]
    for solver, n_pairs in jobs:
        repeats = n_repeats if n_pairs <= 1000 else 1
        figures = in_child("eigen", solver, n_threads, n_pairs=n_pairs, n_repeats=repeats)
        measured[f"{solver} {n_pairs}"] = figures
        write_results(RESULTS / "eigen.json", {"environment": before, **measured})
    ours = [measured[f"chebyshev {p}"] for p in eigen.NUMBERS if p <= 1000]
    peer = measured[f"scipy_arpack {eigen.AGAINST_ARPACK}"]
    same = measured[f"chebyshev {eigen.AGAINST_ARPACK}"]
    return [
        "## Eigenpairs of MNIST's graph: 60,000 points, 8 neighbors, L unnormalized, 1e-4 asked",
        "",
        "| solver | pairs | seconds (median; 2,000 once) | residual | peak memory |",
        "| --- | --- | --- | --- | --- |",
        *(_eigen_row(name.split()[0], figures) for name, figures in measured.items()),
        "",
        f"{eigen.AGAINST_ARPACK} pairs: {peer['seconds'] / same['seconds']:.1f} times as fast as "
        "SciPy's ARPACK. Exponent of time in the number of pairs, 100 to 1,000: "
        f"{exponent([m['n_pairs'] for m in ours], [m['seconds'] for m in ours]):.2f}.",
    ]


def run_new_points(n_repeats: int, n_threads: int) -> list[str]:
    """Measure how fast and how well new images are labeled."""
    before = environment(n_threads)
    measured = in_child("new_points", "new_points", n_threads, n_repeats=n_repeats)
    write_results(RESULTS / "new_points.json", {"environment": before, **measured})
    errors = {name: sum(e) / len(e) for name, e in measured["errors"].items()}
    return [
        "## MNIST's 10,000 test images, from 60,000 training images with 1,000 labels",
        "",
        f"{measured['n_new'] / measured['seconds']:,.0f} images per second after a search of "
        f"{measured['search']:.1f} s. Error {errors['new']:.2%} on them, "
        f"{errors['unlabeled']:.2%} on the unlabeled training images (mean of 5 draws).",
    ]


def run_rivals(n_repeats: int, n_threads: int) -> list[str]:
    """Compare the designs that were considered for many eigenpairs, once each."""
    before = environment(n_threads)
    measured = {
        f"{solver} 100": in_child("eigen", solver, n_threads, n_pairs=100, n_repeats=1)
        for solver in eigen.DESIGNS
    }
    write_results(RESULTS / "rivals.json", {"environment": before, **measured})
    return [
        "## Ways to many eigenpairs, MNIST's graph as above, one run each",
        "",
        "| solver | pairs | seconds | residual | peak memory |",
        "| --- | --- | --- | --- | --- |",
        *(_eigen_row(name.split()[0], figures) for name, figures in measured.items()),
    ]


def run_crossing(n_repeats: int, n_threads: int) -> list[str]:
    """Find where one solver overtakes another, once each, to choose between them."""
    before = environment(n_threads)
    few, many = [5, 10, 20, 40, 80, 160], [5, 20, 80, 200, 400, 800]
    settings = [
        *({"n": n, "n_neighbors": 8, "numbers": many, "tol": 1e-8} for n in (1000, 2000, 4000)),
        *({"n": n, "n_neighbors": 8, "numbers": few, "tol": 1e-8} for n in (10_000, 60_000)),
        {"n": 10_000, "n_neighbors": 40, "numbers": few, "tol": 1e-8},
        {"n": 60_000, "n_neighbors": 8, "numbers": few, "tol": 1e-4},
    ]
    runs = []
    for chosen in settings:
        runs.append(in_child("eigen", "crossing", n_threads, **chosen))
        write_results(RESULTS / "crossing.json", {"environment": before, "runs": runs})
    lines = ["## Seconds for a number of eigenpairs of MNIST's first points, one run each", ""]
    for run in runs:
        numbers = list(next(iter(run["seconds"].values())))
        lines += [
            f"n = {run['n']:,}, {run['n_neighbors']} neighbors, residual {run['tol']:.0e}:",
            "",
            f"| solver | {' | '.join(numbers)} |",
            f"| --- |{' --- |' * len(numbers)}",
        ]
        for solver, seconds in run["seconds"].items():
            lines.append(f"| {solver} | {' | '.join(f'{seconds[p]:.2f}' for p in numbers)} |")
        lines.append("")
    return lines


def _eigen_row(solver: str, figures: dict[str, Any]) -> str:
    return (
        f"| {solver} | {figures['n_pairs']:,} | {figures['seconds']:.1f} | "
        f"{figures['residual']:.1e} | {figures['peak_bytes'] / GB:.2f} GB |"
    )


BENCHMARKS = {
    "mnist": run_mnist,
    "scaling": run_scaling,
    "sweep": run_sweep,
    "eigen": run_eigen,
    "new_points": run_new_points,
    "rivals": run_rivals,
    "crossing": run_crossing,
    "unfolding": unfolding.run_accuracy,
    "unfolding_scaling": unfolding.run_scaling,
    "unfolding_small": unfolding.run_small,
    "separation": separation.run,
    "supervised": supervised.run,
    "joint": joint.run,
    "resampling": resampling.run,
    "scaling_of_columns": scaling_of_columns.run,
    "tables": tables.run,
}
NEED_DATA = (
    "mnist",
    "sweep",
    "eigen",
    "new_points",
    "rivals",
    "crossing",
    "separation",
    "supervised",
    "joint",
    "resampling",
    "scaling_of_columns",
    "tables",
)


def main() -> None:
    """Run the named benchmarks and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[], choices=[[], *BENCHMARKS])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    names = options.names or list(BENCHMARKS)
    if "LABELFOLD_DATA" not in os.environ:
        left_out = [name for name in names if name in NEED_DATA]
        names = [name for name in names if name not in NEED_DATA]
        for name in left_out:
            print(f"{name} skipped: set LABELFOLD_DATA to the folder of its data files.\n")
    for name in names:
        table = "\n".join(BENCHMARKS[name](options.repeats, options.threads))
        (RESULTS / f"{name}.md").write_text(table + "\n")
        print(table, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
