"""The neighbor search over many machines, and its result as arrays for one process.

Every step is a task per partition or per block, and leaves a file in the folder of the search:

    blocks.npz            from a sample: cells, blocks, and the rows for which recall is measured
    sorted/part-*.npy     the rows of a partition, sorted by block, with the copies for other blocks
    truth/part-*.npz      the nearest rows of a partition to those that recall is measured for
    lists/block-*.parquet row, neighbors and distances of the rows of a block
    neighbors.npy, distances.npy, bridges.npz     the lists of all rows, in their order
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelfold.checks import check_choice, check_integer, check_real, seed_from
from labelfold.distributed.blocks import (
    SAMPLE_PER_CELL,
    Blocks,
    count_cells,
    find_blocks,
    search_block,
)
from labelfold.distributed.checkpoints import Task, check_worker_memory, open_folder, run_tasks
from labelfold.distributed.row_files import (
    Partition,
    RowFiles,
    check_partition_memory,
)
from labelfold.exceptions import ApproximateSearchWarning, InputError, warn_user
from labelfold.graph.adjacency import add_edges
from labelfold.graph.components import find_bridges, find_components
from labelfold.graph.neighbor_index import ExactIndex
from labelfold.graph.point_space import PointSpace, as_float64, unit_rows
from labelfold.tables.frames import pa
from labelfold.tables.table import Choice
from labelfold.whole_file import replacing

__all__ = ["NeighborLists", "search_neighbors"]

METRICS = ("euclidean", "cosine")
N_CHECKED = 300  # rows that recall is measured on
RECALL_GOAL = 0.98
ROUNDING = 1e-5  # relative difference of distances in single precision
ROWS_AT_ONCE = 1_000_000  # whose lists are merged in memory
N_ANCHORS = 20_000  # rows among which bridges between components are sought
BYTES_PER_ENTRY = 24  # of a block: read, sorted, in the index in double precision


@dataclass(frozen=True)
class NeighborLists:
    """The neighbors of all rows, in the files of one folder.

    Parameters
    ----------
    folder : Path
        Where the files are.
    recall : float
        Share of the true neighbors that were found, measured on ``n_checked`` rows.
    n_checked : int
        Number of rows that recall was measured on.
    n_connected_components : int
        Components of the graph of the lists. :meth:`distances` joins them by bridges.
    """

    folder: Path
    recall: float
    n_checked: int
    n_connected_components: int

    def distances(self) -> sp.csr_array:
        """Return the lists as sparse distances, for estimators with ``metric="precomputed"``.

        The arrays are memory-mapped: row numbers of 4 bytes (8 past 2e9 entries) and distances of
        4. If there are bridges, they are in memory.
        """
        neighbors = np.load(self.folder / "neighbors.npy", mmap_mode="r")
        distances = np.load(self.folder / "distances.npy", mmap_mode="r")
        n, k = neighbors.shape
        starts = np.arange(0, n * k + 1, k, dtype=neighbors.dtype)
        lists = sp.csr_array((distances.ravel(), neighbors.ravel(), starts), shape=(n, n))
        with np.load(self.folder / "bridges.npz") as bridges:
            rows, columns, lengths = (bridges[name] for name in ("rows", "columns", "lengths"))
        if len(rows):
            ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
            lists = add_edges(lists, *ends, np.tile(lengths, 2))
        return lists


def search_neighbors(
    rows: RowFiles,
    folder: str | os.PathLike[str],
    *,
    client: Any,
    n_neighbors: int = 12,
    metric: str = "euclidean",
    rows_per_block: int = 100_000,
    copies: float = 2.0,
    random_state: Any = None,
    verbose: int = 0,
) -> NeighborLists:
    """Search the neighbors of all rows, block by block.

    Started again with the same arguments, it does what is not done yet.

    Parameters
    ----------
    rows : RowFiles
        The rows, vectors or numbers.
    folder : str or path-like
        Folder that all workers see, new or of the same call before. It takes about ``copies`` times
        the size of the rows.
    client : distributed.Client
        The cluster.
    n_neighbors : int, default=12
        Neighbors of every row.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Metric.
    rows_per_block : int, default=100000
        Rows of a block without the copies, on average. There is one search task per block.
    copies : float, default=2.0
        In how many blocks a row is, on average, at least 1. More find more of the neighbors.
    random_state : int, RandomState instance or None, default=None
        Seed of samples and k-means; None is a fixed one.
    verbose : int, default=0
        1 shows Dask's progress bars.

    Returns
    -------
    NeighborLists
        The lists, with the recall measured on 300 rows. A recall below 0.98 is warned of.
    """
    check_choice("metric", metric, METRICS)
    check_integer("n_neighbors", n_neighbors, least=1)
    check_integer("rows_per_block", rows_per_block, least=20 * (n_neighbors + 1))
    check_real("copies", copies, at_least=1)
    if rows.n_rows <= n_neighbors:
        raise InputError(f"n_neighbors={n_neighbors} needs more rows than that, got {rows.n_rows}.")
    seed = seed_from(random_state)
    plan = {
        "step": "neighbors",
        "rows": rows.fingerprint,
        "features": rows.choice.features,
        "partitions": len(rows.partitions),
        "n_neighbors": n_neighbors,
        "metric": metric,
        "rows_per_block": rows_per_block,
        "copies": copies,
        "seed": seed,
    }
    check_partition_memory(rows, client)
    path = open_folder(folder, plan)
    if not (path / "report.json").exists():
        for name in ("sorted", "truth", "lists"):
            (path / name).mkdir(exist_ok=True)
        search = _Search(rows, path, client, n_neighbors, metric, seed, verbose)
        search.sample_blocks(rows_per_block, copies)
        search.sort_rows()
        search.search_blocks(rows_per_block, copies)
        search.merge()
    report = json.loads((path / "report.json").read_text(encoding="utf-8"))
    if report["recall"] < RECALL_GOAL:
        warn_user(
            f"The blocks hold {report['recall']:.1%} of the true neighbors of a sample of rows: "
            f"raise copies above {copies:g} or rows_per_block above {rows_per_block:,}.",
            ApproximateSearchWarning,
        )
    return NeighborLists(path, **report)


@dataclass(frozen=True)
class _Search:
    """The steps of a search; each runs tasks whose results are files."""

    rows: RowFiles
    folder: Path
    client: Any
    n_neighbors: int
    metric: str
    seed: int
    verbose: int

    def sample_blocks(self, rows_per_block: int, copies: float) -> None:
        """Find blocks from a sample of the rows."""
        n_blocks, n_cells = count_cells(self.rows.n_rows, rows_per_block)
        size = min(self.rows.n_rows, max(SAMPLE_PER_CELL * n_cells, N_CHECKED))
        output = self.folder / "blocks.npz"
        if output.exists():
            return
        share = size / self.rows.n_rows
        parts = self._run(
            [
                self._task("sample", one, _sample, (share, self.seed), None)
                for one in self.rows.partitions
            ]
        )
        arguments = (output, parts, n_blocks, n_cells, copies, self.seed)
        self._run([Task("blocks", "blocks of the sample", _write_blocks, arguments, output)])

    def sort_rows(self) -> None:
        """Sort the rows of each partition by block."""
        how = self.folder, self.n_neighbors
        self._run(
            [
                self._task("sort", one, _sort, how, _sorted(self.folder, one.number))
                for one in self.rows.partitions
            ]
        )

    def search_blocks(self, rows_per_block: int, copies: float) -> None:
        """Search each block."""
        with np.load(self.folder / "blocks.npz") as stored:
            n_blocks, n_features = len(stored["starts"]), stored["centroids"].shape[1]
        check_worker_memory(
            self.client,
            1.5 * rows_per_block * copies * n_features * BYTES_PER_ENTRY,
            f"A block of {rows_per_block:,} rows and as many copies as copies={copies:g} means",
            "lower rows_per_block, or give workers more memory or fewer threads.",
        )
        n_parts, n_rows = len(self.rows.partitions), self.rows.n_rows
        tasks = []
        for block in range(n_blocks):
            output = _listed(self.folder, block)
            how = (self.folder, block, n_parts, n_rows, self.n_neighbors, self.metric, self.seed)
            title = f"block {block} of {n_blocks}"
            tasks.append(Task(f"search-{block:05d}", title, _search, how, output))
        self._run(tasks)

    def merge(self) -> None:
        """Put the lists in the order of the rows, and join components."""
        n_rows, k = self.rows.n_rows, self.n_neighbors
        output = self.folder / "anchors.npz"
        self._run([Task("merge", "merging lists", _merge, (self.folder, n_rows, k), output)])
        anchors = self._run(
            [
                self._task("anchors", one, _read_anchors, (self.folder,), None)
                for one in self.rows.partitions
                if _anchors_of(self.folder, one)
            ]
        )
        arguments = (self.folder, anchors, self.metric, len(self.rows.partitions))
        output = self.folder / "report.json"
        self._run([Task("report", "bridges and recall", _write_report, arguments, output)])

    def _task(
        self, name: str, partition: Partition, function: Any, more: tuple[Any, ...], output: Any
    ) -> Task:
        arguments = (partition, self.rows.choice, self.metric, *more)
        return Task(f"{name}-{partition.number:05d}", partition.title, function, arguments, output)

    def _run(self, tasks: list[Task]) -> list[Any]:
        return run_tasks(self.client, self.folder, tasks, verbose=self.verbose)


def _read(partition: Partition, choice: Choice, metric: str) -> NDArray[np.float32]:
    """Return rows as they are searched: of length 1 for cosines."""
    rows = partition.read_matrix(choice)
    if metric == "cosine":
        for zero in np.flatnonzero(~rows.any(axis=1))[:1]:
            raise InputError(
                f"metric='cosine' is not defined for rows of zeros, such as row "
                f"{partition.first + zero + 1:,} of all: drop them or use another metric."
            )
        rows = np.asarray(unit_rows(as_float64(rows)), dtype=np.float32)
    return rows


def _sample(
    partition: Partition, choice: Choice, metric: str, share: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return numbers and rows of a random share of a partition."""
    ends = [int(end * share) for end in (partition.first, partition.rows.stop)]
    rng = np.random.default_rng([seed, partition.number])
    drawn = np.sort(rng.choice(partition.n_rows, ends[1] - ends[0], replace=False))
    return drawn + partition.first, _read(partition, choice, metric)[drawn]


def _write_blocks(
    output: Path, parts: list[Any], n_blocks: int, n_cells: int, copies: float, seed: int
) -> None:
    """Find blocks, and draw the rows that recall is measured on."""
    numbers, sample = (np.concatenate(one) for one in zip(*parts, strict=True))
    blocks = find_blocks(sample, n_blocks, n_cells, copies=copies, seed=seed % 2**31)
    rng = np.random.default_rng(seed)
    checked = np.sort(rng.choice(len(sample), min(N_CHECKED, len(sample)), replace=False))
    _write_arrays(
        output,
        centroids=blocks.centroids,
        starts=blocks.starts,
        reach=np.array(blocks.reach),
        checked=numbers[checked],
        checked_rows=sample[checked],
    )


def _sort(
    partition: Partition, choice: Choice, metric: str, folder: Path, n_neighbors: int
) -> None:
    """Write the rows of a partition sorted by block, and its nearest to the checked rows."""
    rows = _read(partition, choice, metric)
    with np.load(folder / "blocks.npz") as stored:
        blocks = Blocks(stored["centroids"], stored["starts"], float(stored["reach"]))
        checked = stored["checked_rows"]
    index = ExactIndex(rows, PointSpace("euclidean"), copy=False)
    k = min(n_neighbors + 1, len(rows))
    indices, distances = index.search_lists(as_float64(checked), k, own=None)
    truth = {"numbers": indices + partition.first, "distances": distances}
    _write_arrays(folder / "truth" / f"part-{partition.number:05d}.npz", **truth)
    del index
    row, block, cell = blocks.members(rows)
    order = np.lexsort((cell, block))
    row, block, cell = row[order], block[order], cell[order]
    starts = np.searchsorted(block, np.arange(len(blocks.starts) + 1))
    target = _sorted(folder, partition.number)
    _write_arrays(target.with_suffix(".npz"), starts=starts)
    kind = _entry(rows.shape[1])
    with replacing(target) as stream:
        header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False}
        np.lib.format.write_array_header_2_0(stream, {**header, "shape": (len(row),)})
        for start in range(0, len(row), 2**14):
            part = slice(start, start + 2**14)
            entries = np.empty(len(row[part]), dtype=kind)
            entries["number"], entries["cell"] = row[part] + partition.first, cell[part]
            entries["row"] = rows[row[part]]
            stream.write(entries.tobytes())


def _search(
    folder: Path, block: int, n_parts: int, n_rows: int, n_neighbors: int, metric: str, seed: int
) -> None:
    """Write the lists of the rows of a block."""
    from pyarrow import parquet

    with np.load(folder / "blocks.npz") as stored:
        blocks = Blocks(stored["centroids"], stored["starts"], float(stored["reach"]))
    spans = []
    for number in range(n_parts):
        with np.load(_sorted(folder, number).with_suffix(".npz")) as stored:
            spans.append(stored["starts"][block : block + 2].tolist())
    n_entries = sum(stop - start for start, stop in spans)
    numbers, cells = np.empty(n_entries, dtype=np.int64), np.empty(n_entries, dtype=np.int32)
    rows = np.empty((n_entries, blocks.centroids.shape[1]), dtype=np.float32)
    place = 0
    for number, (start, stop) in enumerate(spans):
        entries = _read_entries(_sorted(folder, number), start, stop)
        own = slice(place, place + len(entries))
        numbers[own], cells[own], rows[own] = entries["number"], entries["cell"], entries["row"]
        place += len(entries)
    is_copy = blocks.block_of[cells] != block
    # Own rows come first, and rows of a cell one after the other: they find the same lists in the
    # processor's cache.
    order = np.lexsort((numbers, cells, is_copy))
    numbers, rows = numbers[order], rows[order]
    n_own = len(order) - int(is_copy.sum())
    indices, distances = search_block(rows, n_own, n_neighbors, seed=seed)
    distances = PointSpace(metric).from_search(distances)
    dtype = _number_type(n_rows * n_neighbors)
    by_number = np.argsort(numbers[:n_own])
    neighbors = numbers[indices[by_number]]
    in_row = np.argsort(neighbors, axis=1)
    neighbors = np.take_along_axis(neighbors, in_row, axis=1).astype(dtype)
    lengths = np.take_along_axis(distances[by_number], in_row, axis=1).astype(np.float32)
    lists = pa.FixedSizeListArray.from_arrays
    columns = {
        "row": pa.array(numbers[:n_own][by_number]),
        "neighbors": lists(pa.array(neighbors.ravel()), n_neighbors),
        "distances": lists(pa.array(lengths.ravel()), n_neighbors),
    }
    with replacing(_listed(folder, block)) as stream:
        parquet.write_table(pa.table(columns), stream, row_group_size=2**16)


def _merge(folder: Path, n_rows: int, k: int) -> None:
    """Write the lists of all rows in their order, a range of rows after the other."""
    from pyarrow import parquet

    files = sorted((folder / "lists").glob("block-*.parquet"))
    dtypes = {"neighbors": _number_type(n_rows * k), "distances": np.float32}
    with ExitStack() as stack:
        streams = {}
        for name, dtype in dtypes.items():
            stream = streams[name] = stack.enter_context(replacing(folder / f"{name}.npy"))
            descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
            header = {"descr": descr, "fortran_order": False, "shape": (n_rows, k)}
            np.lib.format.write_array_header_2_0(stream, header)
        for start in range(0, n_rows, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, n_rows)
            lists: dict[str, NDArray[Any]] = {
                name: np.empty((stop - start, k), dtype=one) for name, one in dtypes.items()
            }
            count = 0
            for file in files:
                wanted = [("row", ">=", start), ("row", "<", stop)]
                table = parquet.read_table(file, filters=wanted, use_threads=False)
                places = table.column("row").to_numpy() - start
                for name, array in lists.items():
                    column = table.column(name).combine_chunks()
                    array[places] = column.flatten().to_numpy().reshape(-1, k)
                count += len(places)
            if count != stop - start:
                raise InputError(
                    f"rows {start:,} to {stop - 1:,} have {count:,} lists: a file of {folder} was "
                    "changed, remove the folder and start again."
                )
            for name, array in lists.items():
                streams[name].write(array.tobytes())
    _write_arrays(folder / "bridges.npz", **_no_bridges())
    components = find_components(NeighborLists(folder, 1.0, 0, 1).distances())
    counts = np.bincount(components)
    anchors = np.empty(0, dtype=np.intp)
    if len(counts) > 1:
        members = np.split(np.argsort(components, kind="stable"), np.cumsum(counts)[:-1])
        most = max(1, N_ANCHORS // len(counts))
        anchors = np.sort(np.concatenate([one[:: -(-len(one) // most)] for one in members]))
    _write_arrays(
        folder / "anchors.npz",
        anchors=anchors,
        components=components[anchors],
        n_components=np.array(len(counts)),
    )


def _read_anchors(
    partition: Partition, choice: Choice, metric: str, folder: Path
) -> NDArray[np.float32]:
    """Return the rows of a partition among which bridges are sought."""
    numbers = _anchors_of(folder, partition)
    return _read(partition, choice, metric)[np.array(numbers) - partition.first]


def _write_report(folder: Path, parts: list[Any], metric: str, n_parts: int) -> None:
    """Write the bridges between components, the recall, and that all is done."""
    with np.load(folder / "anchors.npz") as stored:
        components, numbers = stored["components"], stored["anchors"]
        n_components = int(stored["n_components"])
    if len(numbers):
        space = PointSpace("euclidean")
        found = find_bridges(components, ExactIndex(np.concatenate(parts), space))
        bridges = {
            "rows": numbers[found[0]],
            "columns": numbers[found[1]],
            "lengths": PointSpace(metric).from_search(found[2]).astype(np.float32),
        }
        _write_arrays(folder / "bridges.npz", **bridges)
    recall, n_checked = _measure_recall(folder, metric, n_parts)
    report = {
        "recall": recall,
        "n_checked": n_checked,
        "n_connected_components": n_components,
    }
    with replacing(folder / "report.json") as stream:
        stream.write(json.dumps(report, indent=2).encode())


def _measure_recall(folder: Path, metric: str, n_parts: int) -> tuple[float, int]:
    """Return which share of the checked rows' true neighbors are in the lists.

    A neighbor as near as the last true one counts, whichever row it is.
    """
    with np.load(folder / "blocks.npz") as stored:
        checked = stored["checked"]
    parts = []
    for number in range(n_parts):
        with np.load(folder / "truth" / f"part-{number:05d}.npz") as stored:
            parts.append((stored["numbers"], stored["distances"]))
    numbers, distances = (np.hstack(one) for one in zip(*parts, strict=True))
    distances = np.where(numbers == checked[:, None], np.inf, distances)
    found = np.load(folder / "distances.npy", mmap_mode="r")[checked]
    k = found.shape[1]
    last = PointSpace(metric).from_search(np.partition(distances, k - 1, axis=1)[:, k - 1])
    hits = found <= last[:, None] * (1 + ROUNDING)
    return float(hits.mean()), len(checked)


def _anchors_of(folder: Path, partition: Partition) -> list[int]:
    with np.load(folder / "anchors.npz") as stored:
        anchors = stored["anchors"]
    start, stop = np.searchsorted(anchors, [partition.first, partition.rows.stop])
    return anchors[start:stop].tolist()


def _read_entries(path: Path, start: int, stop: int) -> NDArray[Any]:
    """Return some entries of a file, without mapping all of it into memory."""
    with open(path, "rb") as stream:
        np.lib.format.read_magic(stream)
        _, _, kind = np.lib.format.read_array_header_2_0(stream)
        stream.seek(start * kind.itemsize, os.SEEK_CUR)
        return np.fromfile(stream, dtype=kind, count=stop - start)


def _write_arrays(path: Path, **arrays: Any) -> None:
    with replacing(path) as stream:
        np.savez(stream, **arrays)


def _no_bridges() -> dict[str, NDArray[Any]]:
    none = np.empty(0, dtype=np.intp)
    return {"rows": none, "columns": none, "lengths": np.empty(0, dtype=np.float32)}


def _entry(n_features: int) -> np.dtype[Any]:
    """Return the type of a row in a file that is sorted by block."""
    return np.dtype([("number", "<i8"), ("cell", "<i4"), ("row", "<f4", (n_features,))])


def _number_type(n_entries: int) -> type[np.signedinteger[Any]]:
    return np.int32 if n_entries < np.iinfo(np.int32).max else np.int64


def _sorted(folder: Path, number: int) -> Path:
    return folder / "sorted" / f"part-{number:05d}.npy"


def _listed(folder: Path, block: int) -> Path:
    return folder / "lists" / f"block-{block:05d}.parquet"
