"""Rows in Parquet files, as partitions that a worker reads by itself.

A partition is some row groups of one file. Nothing of a data set is held anywhere as a whole, and
nothing of it passes through the client.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelfold.checks import check_integer
from labelfold.distributed.checkpoints import Task, check_worker_memory, open_folder, run_tasks
from labelfold.exceptions import InputError
from labelfold.tables import Table
from labelfold.tables.frames import get_column, pa, require_pyarrow, to_column
from labelfold.tables.table import ID_NAMES, Choice, Request, make_table, read_labels
from labelfold.whole_file import replacing

__all__ = ["Partition", "RowFiles", "draw_sample", "open_rows", "store_rows"]

ROWS_PER_PARTITION = 100_000
COPIES_IN_MEMORY = 4  # of a partition, as it is read, checked and made a matrix


@dataclass(frozen=True)
class Partition:
    """Some row groups of a Parquet file; ``first`` is the number of their first row in all."""

    number: int
    path: str
    groups: tuple[int, int]
    first: int
    n_rows: int

    @property
    def rows(self) -> range:
        """Numbers of the rows."""
        return range(self.first, self.first + self.n_rows)

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{Path(self.path).name}, row groups {self.groups[0]} to {self.groups[1] - 1}"

    def output(self, folder: Path) -> Path:
        """Return the file for what a task makes of it."""
        return folder / f"part-{self.number:05d}.parquet"

    def read(self, columns: Sequence[str]) -> Any:
        """Return columns as an Arrow table."""
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            groups = range(*self.groups)
            return file.read_row_groups(groups, columns=list(columns), use_threads=False)

    def read_table(self, choice: Choice) -> Table:
        """Return features, labels as Arrow cells and row names."""
        return make_table(self.read(choice.all()), choice, place=self._place)

    def read_matrix(self, choice: Choice) -> NDArray[np.float32]:
        """Return the features as vectors."""
        features = choice._replace(label=None, row_id=None)
        matrix = self.read_table(features).to_matrix()
        return np.ascontiguousarray(matrix, dtype=np.float32)

    def _place(self, row: int) -> str:
        return f"row {self.first + row:,} of all"


@dataclass(frozen=True)
class RowFiles:
    """Rows in Parquet files, which :func:`open_rows` or :func:`store_rows` returns.

    Parameters
    ----------
    partitions : tuple of Partition
        In the order of the rows.
    choice : Choice
        The columns: ``features``, ``label`` and ``row_id``.
    fingerprint : str
        Of the names, sizes and times of the files.
    """

    partitions: tuple[Partition, ...]
    choice: Choice
    fingerprint: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(one.n_rows for one in self.partitions)

    def read_labels(self) -> NDArray[Any]:
        """Return the labels of all rows, None for unlabeled ones: 8 bytes per row.

        Only their column is read.
        """
        if self.choice.label is None:
            raise InputError("The rows have no labels: name their column with labels=.")
        parts = [one.read([self.choice.label]) for one in self.partitions]
        return read_labels(get_column(_join(parts), self.choice.label))


def open_rows(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    features: Sequence[str | int] | None = None,
    ignore: Sequence[str | int] = (),
    labels: str | int | None = None,
    id_column: str | int | None = None,
    rows_per_partition: int = ROWS_PER_PARTITION,
) -> RowFiles:
    """Open Parquet files that all workers see under the same name.

    Parameters
    ----------
    data : str, path-like or sequence of them
        A folder of Parquet files, a pattern, or files. All have the same columns.
    features, ignore, labels, id_column : optional
        Columns, as :func:`labelfold.tables.read` takes them. Features are vectors, or numbers that
        need no preparation unless a fitted model prepares them. A column called "id" names the
        rows unless told otherwise.
    rows_per_partition : int, default=100000
        Row groups of a file are put together up to so many rows; none is split.

    Returns
    -------
    RowFiles
        The rows. No worker is needed: names, types and numbers of rows are at the end of each file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from labelfold.distributed import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pd.DataFrame({"id": range(300), "x": np.arange(300.0), "kind": None})
    ...     frame.to_parquet(pathlib.Path(folder, "some.parquet"))
    ...     rows = open_rows(folder, labels="kind", id_column="id")
    >>> rows.n_rows, rows.choice.features
    (300, ['x'])
    """
    require_pyarrow()
    from pyarrow import parquet

    check_integer("rows_per_partition", rows_per_partition, least=1)
    paths = _find_files(data)
    partitions: list[Partition] = []
    digest, first = hashlib.sha256(), 0
    schema: Any = None
    for path in paths:
        try:
            meta = parquet.ParquetFile(path).metadata
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"{path}: not a Parquet file that can be read ({error}).") from error
        found = meta.schema.to_arrow_schema().remove_metadata()
        schema = schema or found
        if found.names != schema.names:
            raise InputError(f"{path}: not the columns of {paths[0]}: give files of one kind.")
        stat = os.stat(path)
        digest.update(repr((path, stat.st_size, stat.st_mtime_ns)).encode())
        sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
        for groups, n_rows in _put_together(sizes, rows_per_partition):
            partitions.append(Partition(len(partitions), path, groups, first, n_rows))
            first += n_rows
    if not partitions:
        raise InputError(f"{paths[0]}: the files have no rows.")
    if id_column is None and features is None:
        id_column = next((name for name in schema.names if name.lower() in ID_NAMES), None)
    request = Request(labels, features, ignore, id_column)
    return RowFiles(tuple(partitions), request.choose(schema.names), digest.hexdigest()[:16])


def store_rows(
    data: Any,
    folder: str | os.PathLike[str],
    *,
    client: Any,
    labels: Any = None,
    ids: Any = None,
    verbose: int = 0,
) -> RowFiles:
    """Write a Dask array or DataFrame as Parquet files, one per partition, and open them.

    What later steps lose with a worker they read again, instead of computing it again.

    Parameters
    ----------
    data : dask.array.Array of shape (n_rows, n_features) or dask.dataframe.DataFrame
        The rows; an array is a column of vectors.
    folder : str or path-like
        Folder that all workers see, new or of the same call before.
    client : distributed.Client
        The cluster.
    labels, ids : array-like or Dask array of shape (n_rows,), or str
        Labels, None or -1 where unlabeled, and row names; of a DataFrame the names of columns.
    verbose : int, default=0
        1 shows Dask's progress bar.

    Returns
    -------
    RowFiles
        The rows.
    """
    require_pyarrow()
    import dask
    from dask.base import tokenize

    is_frame = hasattr(data, "npartitions") and hasattr(data, "columns")
    token = tokenize(data, labels, ids)
    path = open_folder(folder, {"step": "rows", "token": token})
    parts = data.to_delayed() if is_frame else _array_parts(data, labels, ids)
    tasks = []
    for number, part in enumerate(parts):
        output = path / f"rows-{number:05d}.parquet"
        if not output.exists():
            arrays = (part,) if is_frame else part
            # Futures: Dask itself finds what a partition is computed from.
            arrays = [client.compute(p) if dask.is_dask_collection(p) else p for p in arrays]
            name, title = f"store-{number:05d}", f"partition {number} of the data"
            tasks.append(Task(name, title, _store, (output, *arrays)))
    run_tasks(client, path, tasks, verbose=verbose)
    has = {"labels": labels, "id_column": ids}
    if not is_frame:
        has = {name: name for name, value in has.items() if value is not None}
    return open_rows(sorted(path.glob("rows-*.parquet")), **has)


def draw_sample(
    rows: RowFiles, n_rows: int, *, client: Any, seed: int = 0, verbose: int = 0
) -> Table:
    """Return all labeled rows, and about ``n_rows`` rows drawn at random.

    Parameters
    ----------
    rows : RowFiles
        The rows.
    n_rows : int
        Number of random rows, of which some may be labeled.
    client : distributed.Client
        The cluster.
    seed : int, default=0
        Seed of the draw.
    verbose : int, default=0
        1 shows Dask's progress bar.

    Returns
    -------
    labelfold.tables.Table
        The rows in their order, for a fit in this process: ``fit(table.to_matrix(),
        table.labels)``.
    """
    check_integer("n_rows", n_rows, least=2)
    check_partition_memory(rows, client)
    share = min(1.0, n_rows / rows.n_rows)
    tasks = [
        Task(f"sample-{one.number:05d}", one.title, _draw, (one, rows.choice, share, seed))
        for one in rows.partitions
    ]
    folder = Path(rows.partitions[0].path).parent
    futures = run_tasks(client, folder, tasks, verbose=verbose)
    cells = _join(client.gather(futures))
    table = make_table(cells, rows.choice)
    labels = None if table.labels is None else read_labels(table.labels)
    return Table(table.features, labels, table.ids, f"a sample of {cells.num_rows:,} rows", True)


def check_partition_memory(rows: RowFiles, client: Any) -> None:
    """Raise InputError if a worker cannot hold the largest partition."""
    largest = max(rows.partitions, key=lambda one: one.n_rows)
    width = _row_bytes(largest, rows.choice)
    check_worker_memory(
        client,
        COPIES_IN_MEMORY * largest.n_rows * width,
        f"{largest.title}, of {largest.n_rows:,} rows,",
        "write the file again with smaller row groups (row_group_size=100_000 of pandas), or give "
        "workers more memory or fewer threads.",
    )


def _join(tables: Sequence[Any]) -> Any:
    """Return tables as one; a column without a value in some of them has no type there."""
    return pa.concat_tables(tables, promote_options="permissive")


def _row_bytes(partition: Partition, choice: Choice) -> float:
    """Return the bytes of a row's features before compression, as the file says."""
    from pyarrow import parquet

    with parquet.ParquetFile(partition.path) as file:
        group = file.metadata.row_group(partition.groups[0])
    columns = map(group.column, range(group.num_columns))
    wanted = set(choice.features)
    sizes = (c.total_uncompressed_size for c in columns if c.path_in_schema.split(".")[0] in wanted)
    return sum(sizes) / max(1, group.num_rows)


def _find_files(data: Any) -> list[str]:
    """Return the absolute names of the files, those of a folder or pattern in order."""
    given = [data] if isinstance(data, str | os.PathLike) else list(data)
    found: list[str] = []
    for name in [os.fspath(one) for one in given]:
        if os.path.isdir(name):
            names = sorted(glob.glob(os.path.join(glob.escape(name), "*.parquet")))
        else:
            names = [name] if os.path.exists(name) else sorted(glob.glob(name))
        if not names:
            raise InputError(f"{name}: there is no Parquet file: check the name.")
        found += [os.path.abspath(one) for one in names]
    return found


def _put_together(sizes: list[int], most: int) -> list[tuple[tuple[int, int], int]]:
    """Return ranges of row groups with up to so many rows, and their numbers of rows."""
    ranges: list[tuple[tuple[int, int], int]] = []
    for number, size in enumerate(sizes):
        if ranges and ranges[-1][1] + size <= most:
            (start, _), before = ranges.pop()
            ranges.append(((start, number + 1), before + size))
        elif size:
            ranges.append(((number, number + 1), size))
    return ranges


def _array_parts(data: Any, labels: Any, ids: Any) -> list[tuple[Any, Any, Any]]:
    """Return rows, labels and names of every chunk of an array."""
    if data.ndim != 2 or any(np.isnan(size) for size in data.chunks[0]):
        raise InputError(
            f"The array must have two dimensions and chunks of known size, got shape {data.shape}: "
            "call compute_chunk_sizes() first."
        )
    data = data.rechunk({1: -1})
    ends = np.cumsum(data.chunks[0])
    parts = []
    for number, (end, size) in enumerate(zip(ends, data.chunks[0], strict=True)):
        own = slice(int(end - size), int(end))
        parts.append(
            (data.blocks[number], *(None if one is None else one[own] for one in (labels, ids)))
        )
    return parts


def _store(output: Path, data: Any, labels: Any = None, ids: Any = None) -> None:
    """Write a partition of a DataFrame, or of arrays."""
    from pyarrow import parquet

    if hasattr(data, "columns"):
        table = pa.Table.from_pandas(data, preserve_index=False)
    else:
        columns = {"vectors": to_column(np.asarray(data))}
        for name, values in (("labels", labels), ("id_column", ids)):
            if values is not None:
                columns[name] = pa.array(np.asarray(values).tolist())
        table = pa.table(columns)
    with replacing(output) as stream:
        parquet.write_table(table, stream, row_group_size=ROWS_PER_PARTITION)


def _draw(partition: Partition, choice: Choice, share: float, seed: int) -> Any:
    """Return the labeled rows of a partition and a share of all."""
    table = partition.read(choice.all())
    ends = [int(end * share) for end in (partition.first, partition.rows.stop)]
    rng = np.random.default_rng([seed, partition.number])
    wanted = np.zeros(partition.n_rows, dtype=bool)
    wanted[rng.choice(partition.n_rows, ends[1] - ends[0], replace=False)] = True
    if choice.label is not None:
        cells = table.column(choice.label).combine_chunks()
        wanted |= np.array([one is not None for one in read_labels(cells)])
    return table.take(pa.array(np.flatnonzero(wanted)))
