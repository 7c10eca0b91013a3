"""Search, fit and labels on two workers of 3 GB, beside one process: recall, labels, time, memory.

``python -m benchmarks.cluster`` takes 2,000,000 rows of 200 float32 columns, the whole machine and
about 12 GB of disk; ``--rows 200000 --memory 900MB`` a tenth of that. Rows lie on curved sheets of
four dimensions, 40 of them, in 8 classes with 1,000 labels.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_FEATURES, N_SHEETS, N_CLASSES, N_LABELS, N_NEIGHBORS = 200, 40, 8, 1000, 10
ROWS_PER_BLOCK = 1 / 20  # of all rows
RESULTS = Path(__file__).parent / "results"


def sheets(start, stop):
    """Return rows and sheets: the same for any division of the rows into calls of 10,000."""
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(N_SHEETS, 12, N_FEATURES)) / np.sqrt(12)
    middles = rng.normal(size=(N_SHEETS, N_FEATURES)) / 2
    X, sheet = [], []
    for first in range(start, stop, 10_000):
        rng = np.random.default_rng([1, first])
        own = rng.integers(N_SHEETS, size=10_000)
        flat = rng.uniform(-1, 1, (10_000, 4))
        curved = np.hstack([flat, np.sin(2 * flat), np.cos(3 * flat)])
        rows = 0.05 * rng.normal(size=(10_000, N_FEATURES)) + middles[own]
        for one in range(N_SHEETS):
            rows[own == one] += curved[own == one] @ turns[one]
        X.append(rows.astype(np.float32))
        sheet.append(own)
    return np.concatenate(X), np.concatenate(sheet)


def labels_of(sheet, start, n_rows):
    numbers = np.arange(start, start + len(sheet))
    is_labeled = numbers % (n_rows // N_LABELS) == 0
    return np.where(is_labeled, sheet % N_CLASSES, -1)


def write(folder, n_rows):
    """Write the rows as 20 Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    (folder / "data").mkdir()
    size = n_rows // 20
    for number in range(20):
        X, sheet = sheets(number * size, (number + 1) * size)
        y = labels_of(sheet, number * size, n_rows)
        columns = {f"x{i}": X[:, i] for i in range(N_FEATURES)}
        table = pa.table(
            {**columns, "kind": y, "id": np.arange(number * size, (number + 1) * size)}
        )
        path = folder / "data" / f"rows-{number:02d}.parquet"
        parquet.write_table(table, path, row_group_size=size // 2)


def estimator():
    from labelfold import CCDR, ManifoldClassifier

    return ManifoldClassifier(CCDR(8, n_neighbors=N_NEIGHBORS, metric="precomputed", n_jobs=1))


def on_workers(folder, address, n_rows):
    """Run all steps as a client, and print figures as JSON."""
    from distributed import Client

    from labelfold import FewLabelClassifier, save
    from labelfold.distributed import (
        draw_sample,
        label_rows,
        label_rows_by_graph,
        open_rows,
        search_neighbors,
    )
    from labelfold.exceptions import InputError

    seconds = {}

    def timed(name, function, *arguments, **named):
        begin = time.perf_counter()
        result = function(*arguments, **named)
        seconds[name] = round(time.perf_counter() - begin, 1)
        return result

    with Client(address) as client:
        rows = open_rows(folder / "data", labels="kind")
        block = int(n_rows * ROWS_PER_BLOCK)
        how = {"n_neighbors": N_NEIGHBORS, "rows_per_block": block, "client": client}
        lists = timed("search", search_neighbors, rows, folder / "graph", **how)
        by_graph = (estimator(), lists, rows, folder / "by-graph")
        refused = ""
        try:
            timed("fit on the graph", label_rows_by_graph, *by_graph, client=client)
        except InputError as error:  # a worker has too little memory: labels are from the sample
            refused = str(error)
        sample = timed("sample", draw_sample, rows, min(50_000, n_rows // 10), client=client)
        model = FewLabelClassifier(n_jobs=1)
        timed("fit on a sample", model.fit, sample.to_matrix(), sample.labels)
        save(model, folder / "model.skops", compact=True)
        by_model = (folder / "model.skops", rows, folder / "by-model")
        timed("labels", label_rows, *by_model, client=client)
        peaks = client.run(peak_memory)
    facts = {
        "recall": lists.recall,
        "fit on the graph refused": refused,
        "components": lists.n_connected_components,
        "seconds": seconds,
        "worker GB": sorted(peaks.values()),
        "client GB": peak_memory(),
    }
    print(json.dumps(facts))


def alone(folder, n_rows):
    """Search and fit in one process, and print figures as JSON."""
    from labelfold import NeighborGraph, load

    X = np.empty((n_rows, N_FEATURES), dtype=np.float32)
    y = np.empty(n_rows, dtype=int)
    for start in range(0, n_rows, 10_000):
        part = slice(start, start + 10_000)
        X[part], sheet = sheets(start, start + 10_000)
        y[part] = labels_of(sheet, start, n_rows)
    begin = time.perf_counter()
    graph = NeighborGraph.build(X, n_neighbors=N_NEIGHBORS)
    nearest, search = graph.nearest, str(graph.search)
    seconds = {"search": round(time.perf_counter() - begin, 1)}
    np.savez(folder / "alone-lists.npz", indices=nearest.indices, indptr=nearest.indptr)
    begin = time.perf_counter()
    # The same bridges as in the lists of the workers: those of a graph of rows are others.
    from labelfold.distributed import NeighborLists
    from labelfold.graph.adjacency import add_edges

    with np.load(folder / "graph" / "bridges.npz") as bridges:
        rows, columns, lengths = (bridges[name] for name in ("rows", "columns", "lengths"))
    ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    nearest = add_edges(nearest, *ends, np.tile(lengths, 2))
    fitted = estimator().fit(nearest, y)
    seconds["fit"] = round(time.perf_counter() - begin, 1)
    np.save(folder / "alone.npy", fitted.transduction_)
    lists = NeighborLists(folder / "graph", 1.0, 0, 1).distances()
    same = estimator().fit(lists, y).transduction_
    np.save(folder / "alone-same-graph.npy", same)
    np.save(folder / "alone-model.npy", load(folder / "model.skops").predict(X[::20]))
    print(json.dumps({"search": search, "seconds": seconds, "GB": peak_memory()}))


def peak_memory():
    """Return the largest resident size that this process has had, in GB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return round(int(next(x for x in lines if x.startswith("VmHWM")).split()[1]) / 1e6, 2)


def compare(folder, n_rows):
    """Return how labels agree with those of one process and with the truth."""
    truth = np.concatenate([sheets(s, s + 10_000)[1] % N_CLASSES for s in range(0, n_rows, 10_000)])

    def read(name):
        files = sorted((folder / name).glob("part-*.parquet"))
        return pd.concat([pd.read_parquet(f, columns=["label"]) for f in files])["label"].to_numpy()

    by_model = read("by-model")
    own, same = np.load(folder / "alone.npy"), np.load(folder / "alone-same-graph.npy")
    is_there = any((folder / "by-graph").glob("part-*"))
    by_graph = read("by-graph") if is_there else same
    # Every 20th row; those with a given label keep it.
    differ = (by_model[::20] != np.load(folder / "alone-model.npy")) & (
        np.arange(0, n_rows, 20) % (n_rows // N_LABELS) != 0
    )
    with np.load(folder / "alone-lists.npz") as lists:
        numbers = lists["indices"].reshape(n_rows, -1)
    found = np.load(folder / "graph" / "neighbors.npy")
    checked = np.random.default_rng(0).choice(n_rows, 2000)
    shared = np.mean([np.isin(found[i], numbers[i]).mean() for i in checked])
    return {
        "labels differ from one process, same graph": float(np.mean(by_graph != same)),
        "labels differ from one process, its own graph": float(np.mean(by_graph != own)),
        "labels differ from one process, same model": float(differ.mean()),
        "neighbors shared with one process": float(shared),
        "error by graph": float(np.mean(by_graph != truth)),
        "error of one process": float(np.mean(own != truth)),
        "error by a sample's model": float(np.mean(by_model != truth)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--step", choices=("write", "workers", "alone"))
    parser.add_argument("--address")
    given = parser.parse_args()
    steps = {
        "write": lambda: write(given.folder, given.rows),
        "workers": lambda: on_workers(given.folder, given.address, given.rows),
        "alone": lambda: alone(given.folder, given.rows),
    }
    if given.step:
        steps[given.step]()
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)

        def step(*options):
            """Run a step as a process of its own, whose memory is its own."""
            command = [sys.executable, "-m", "benchmarks.cluster", "--rows", str(given.rows)]
            command += ["--folder", str(folder), "--step", *options]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            print(*options, done.stdout, flush=True)
            return json.loads(done.stdout) if done.stdout else None

        step("write")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        file = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
        dask = [sys.executable, "-m"]
        limits = ["--nworkers", "2", "--nthreads", "1", "--memory-limit", given.memory]
        with (folder / "log.txt").open("w") as log:
            how = {"stdout": log, "stderr": log, "env": environment, "cwd": folder}
            scheduler = subprocess.Popen(
                [*dask, "distributed.cli.dask_scheduler", "--port", "0", *file], **how
            )
            workers = subprocess.Popen(
                [*dask, "distributed.cli.dask_worker", *limits, *file], **how
            )
            try:
                while not (folder / "scheduler.json").exists():
                    time.sleep(0.1)
                address = json.loads((folder / "scheduler.json").read_text())["address"]
                facts = {"rows": given.rows, "memory": given.memory}
                facts["workers"] = step("workers", "--address", address)
            finally:
                workers.terminate()
                workers.wait()
                scheduler.terminate()
                scheduler.wait()
        log = (folder / "log.txt").read_text()
        facts["restarted workers"] = log.count("Restarting worker")
        facts["alone"] = step("alone")
        facts["agreement"] = compare(folder, given.rows)
    print(json.dumps(facts, indent=2))
    RESULTS.joinpath(f"cluster_{given.rows}.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
