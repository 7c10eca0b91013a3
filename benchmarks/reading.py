"""How fast files are read, and with how much memory.

    python benchmarks/reading.py [--before SOURCE] [--parquet-gb 5] [--repeats 5]

Writes a CSV file of 200,000 x 100 numbers (393 MB) and a Parquet file with a column of float32
vectors into a temporary folder, and reads them in processes of their own, one contestant after the
other in every round. `--before` names the folder `src` of a checkout of version 0.1, to time the
reader that the one on pyarrow replaced. Raw figures go to `results/reading.json`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measure import environment, in_child, write_results

RESULTS = Path(__file__).parent / "results"
N_ROWS, N_COLUMNS, N_DIMENSIONS = 200_000, 100, 512
ROWS_AT_ONCE = 20_000


def write_csv(path: str) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.csv

    X = np.random.default_rng(0).standard_normal((N_ROWS, N_COLUMNS))
    table = pa.table({f"x{column}": X[:, column] for column in range(N_COLUMNS)})
    pa.csv.write_csv(table, path)
    return {}


def write_parquet(path: str, gigabytes: float) -> dict[str, Any]:
    """Write vectors of about that size; return the size of their float32 matrix."""
    import pyarrow as pa
    import pyarrow.parquet

    n_blocks = max(1, round(gigabytes * 1e9 / (4 * N_DIMENSIONS * ROWS_AT_ONCE)))
    schema = pa.schema([("id", pa.int64()), ("embedding", pa.list_(pa.float32()))])
    rng = np.random.default_rng(0)
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for block in range(n_blocks):
            values = rng.standard_normal(ROWS_AT_ONCE * N_DIMENSIONS, dtype=np.float32)
            offsets = np.arange(0, len(values) + 1, N_DIMENSIONS, dtype=np.int32)
            ids = np.arange(block * ROWS_AT_ONCE, (block + 1) * ROWS_AT_ONCE)
            column = pa.ListArray.from_arrays(offsets, values)
            writer.write_table(pa.table([ids, column], schema=schema))
    return {"matrix_bytes": n_blocks * ROWS_AT_ONCE * N_DIMENSIONS * 4}


def _measured(read: Any, path: str) -> dict[str, Any]:
    start_peak = _peak()
    start, start_cpu = time.perf_counter(), time.process_time()
    found = read(path)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - start_cpu,  # of all threads
        "peak_bytes": _peak(),
        "start_bytes": start_peak,
        "shape": list(getattr(found, "shape", ())),
    }


def _peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def read_here(path: str) -> dict[str, Any]:
    from labelfold.tables import read

    return _measured(lambda name: read(name).features, path)


def read_before(path: str, source: str) -> dict[str, Any]:
    sys.path.insert(0, source)
    read_table = importlib.import_module("labelfold.cli.tables").read_table
    return _measured(lambda name: read_table(name).X, path)


def read_pyarrow(path: str) -> dict[str, Any]:
    from pyarrow.csv import read_csv

    return _measured(read_csv, path)


def read_pandas(path: str) -> dict[str, Any]:
    from pandas import read_csv

    return _measured(read_csv, path)


def read_polars(path: str) -> dict[str, Any]:
    from polars import read_csv

    return _measured(read_csv, path)


def read_duckdb(path: str) -> dict[str, Any]:
    import duckdb

    return _measured(lambda name: duckdb.read_csv(name).to_arrow_table(), path)


READERS = {
    "labelfold": read_here,
    "labelfold 0.1": read_before,
    "pyarrow": read_pyarrow,
    "pandas": read_pandas,
    "polars": read_polars,
    "duckdb": read_duckdb,
}
# Files are written in processes of their own too: one inherits the peak of its parent.
TASKS = {**READERS, "write csv": write_csv, "write parquet": write_parquet}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", help="folder src of a checkout of version 0.1")
    parser.add_argument("--parquet-gb", type=float, default=0.5)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    n_threads = os.cpu_count() or 1
    results: dict[str, Any] = {"environment": environment(n_threads)}
    names = [name for name in READERS if options.before or name != "labelfold 0.1"]
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.csv")
        in_child("reading", "write csv", n_threads, path=str(path))
        results["csv_bytes"] = path.stat().st_size
        for _ in range(options.repeats):
            for name in names:
                more = {"source": options.before} if name == "labelfold 0.1" else {}
                found = in_child("reading", name, n_threads, path=str(path), **more)
                rounds[name].append(found)
        path.unlink()
        results["csv"] = rounds
        vectors = Path(folder, "vectors.parquet")
        sizes = {"path": str(vectors), "gigabytes": options.parquet_gb}
        written = in_child("reading", "write parquet", n_threads, **sizes)
        found = in_child("reading", "labelfold", n_threads, path=str(vectors))
        results["parquet"] = {
            "file_bytes": vectors.stat().st_size,
            **written,
            "peak_to_matrix": found["peak_bytes"] / written["matrix_bytes"],
            **found,
        }
    write_results(RESULTS / "reading.json", results)
    for name, some in rounds.items():
        seconds, cpu = (median(one[key] for one in some) for key in ("seconds", "cpu_seconds"))
        peak = max(one["peak_bytes"] for one in some) / 1e6
        print(f"{name:15s} {seconds:6.2f} s, {cpu:6.2f} s of all cores, {peak:6.0f} MB")
    if options.before:
        ratios = [
            here["seconds"] / before["seconds"]
            for here, before in zip(rounds["labelfold"], rounds["labelfold 0.1"], strict=True)
        ]
        print(f"labelfold to 0.1, by round: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
    parquet = results["parquet"]
    print(
        f"Parquet of {parquet['file_bytes'] / 1e9:.2f} GB: {parquet['seconds']:.1f} s, peak "
        f"{parquet['peak_to_matrix']:.2f} times its float32 matrix"
    )


if __name__ == "__main__":
    main()
