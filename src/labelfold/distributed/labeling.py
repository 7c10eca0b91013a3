"""Labels and coordinates of all rows, partition by partition, as Parquet files.

Either a model that was fitted before is loaded once by each worker and answers for every row; or an
estimator is fitted on the neighbor lists of all rows, in one task, and its labels are written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from labelfold.checkpoint_folder import checkpoints
from labelfold.distributed.checkpoints import Task, check_worker_memory, open_folder, run_tasks
from labelfold.distributed.neighbor_lists import NeighborLists
from labelfold.distributed.row_files import Partition, RowFiles, check_partition_memory
from labelfold.fit_memory import FitMemory
from labelfold.tables.answers import answer, confidences, features_for
from labelfold.tables.table import Choice, Table, read_labels
from labelfold.tables.writing import write_table
from labelfold.whole_file import replacing

__all__ = ["label_rows", "label_rows_by_graph"]

N_VECTORS = 10  # that a fit is assumed to compute, before the estimator itself looks


def label_rows(
    model: str | os.PathLike[str],
    rows: RowFiles,
    folder: str | os.PathLike[str],
    *,
    client: Any,
    coverage: float | None = None,
    verbose: int = 0,
) -> list[Path]:
    """Write what a saved model says of every row.

    Started again with the same arguments, it does what is not done yet.

    Parameters
    ----------
    model : str or path-like
        File that :func:`labelfold.save` wrote, on storage that all workers see. Each worker loads
        it once.
    rows : RowFiles
        The rows, which need not be those of the fit.
    folder : str or path-like
        Folder that all workers see, new or of the same call before.
    client : distributed.Client
        The cluster.
    coverage : float, default=None
        Also write a set of labels that holds the right one for this share of the rows, if the model
        has sets.
    verbose : int, default=0
        1 shows Dask's progress bar.

    Returns
    -------
    list of Path
        One Parquet file per partition: the rows' names (id) or numbers (row, from 1), label,
        confidence and whether the label was given; coordinates x1, x2 and so on of an embedding.
    """
    path = Path(model).absolute()
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    plan = {"step": "labels", "model": digest, **_rows_plan(rows), "coverage": coverage}
    check_partition_memory(rows, client)
    out = open_folder(folder, plan)
    tasks = [
        Task(
            f"label-{one.number:05d}",
            one.title,
            _label,
            (str(path), digest, one, rows.choice, one.output(out), coverage),
            one.output(out),
        )
        for one in rows.partitions
    ]
    run_tasks(client, out, tasks, verbose=verbose)
    return [one.output(out) for one in rows.partitions]


def label_rows_by_graph(
    estimator: Any,
    lists: NeighborLists,
    rows: RowFiles,
    folder: str | os.PathLike[str],
    *,
    client: Any,
    worker: str | None = None,
) -> list[Path]:
    """Fit an estimator on the neighbor lists of all rows, and write its labels and coordinates.

    The fit is one task on one worker: the graph must fit its memory, about 2 kB per row with 10
    neighbors. The rows themselves are not read.

    Parameters
    ----------
    estimator : estimator
        With ``metric="precomputed"``, such as ``ManifoldClassifier(CCDR(10,
        metric="precomputed"))`` or ``FewLabelClassifier(metric="precomputed")``. It is not changed.
    lists : NeighborLists
        The neighbors.
    rows : RowFiles
        The rows that were searched; their labels and names are read.
    folder : str or path-like
        Folder that all workers see, new or of the same call before.
    client : distributed.Client
        The cluster.
    worker : str, default=None
        Address of the worker that fits; None lets Dask choose.

    Returns
    -------
    list of Path
        One Parquet file per partition, as :func:`label_rows` writes them.
    """
    plan = {
        "step": "labels by graph",
        "lists": (lists.folder / "plan.json").read_text(encoding="utf-8"),
        "estimator": joblib.hash(estimator),
        **_rows_plan(rows),
    }
    neighbors = np.load(lists.folder / "neighbors.npy", mmap_mode="r")
    check_worker_memory(
        client,
        _fit_bytes(*neighbors.shape),
        f"A fit on {neighbors.shape[0]:,} rows with {neighbors.shape[1]} neighbors each",
        "give a worker more memory or fewer threads, or fit on a sample.",
    )
    out = open_folder(folder, plan)
    outputs = [one.output(out) for one in rows.partitions]
    if not all(one.exists() for one in outputs):
        arguments = (clone(estimator), lists, rows, out)
        run_tasks(client, out, [Task("fit", "fit", _fit, arguments)], worker=worker)
    return outputs


def _fit_bytes(n_rows: int, n_neighbors: int) -> float:
    """Return the memory of a fit on neighbor lists with a few eigenvectors."""
    memory = FitMemory(n_rows)
    memory.add(kept=12 * n_neighbors)  # the lists, in float64
    memory.add_edges(n_neighbors)
    memory.add_eigenvectors(n_neighbors, N_VECTORS)
    return memory.needed


def _rows_plan(rows: RowFiles) -> dict[str, Any]:
    return {
        "rows": rows.fingerprint,
        "columns": list(rows.choice.all()),
        "partitions": len(rows.partitions),
    }


@lru_cache(maxsize=1)
def _load(path: str, digest: str) -> Any:
    """Return a model, once per process; the digest is part of the key."""
    from labelfold.persistence import load

    return load(path)


def _label(
    path: str,
    digest: str,
    partition: Partition,
    choice: Choice,
    output: Path,
    coverage: float | None,
) -> None:
    model, table = _load(path, digest), partition.read_table(choice)
    answers = answer(model, table, coverage=coverage)
    if table.labels is not None and "label" in answers:
        _keep_given(answers, model, table)
    _write(output, partition, table.ids, table.labels, answers)


def _keep_given(answers: dict[str, Any], model: Any, table: Table) -> None:
    """Put given labels in place of predicted ones, with the model's confidence in them.

    A partition may have text where others have numbers: classes are compared as text.
    """
    classes = {str(one): one for one in model.classes_.tolist()}
    given = [classes.get(str(one)) for one in read_labels(table.labels)]
    rows = np.flatnonzero([one is not None for one in given])
    if not len(rows):
        return
    labels = np.array([given[row] for row in rows], dtype=model.classes_.dtype)
    answers["label"] = np.array(answers["label"])
    answers["label"][rows] = labels
    if "confidence" in answers:
        some = replace(table, features=table.features.take(rows))
        distributions = model.predict_proba(features_for(model, some))
        answers["confidence"][rows] = confidences(distributions, model.classes_, labels)


def _fit(estimator: Any, lists: NeighborLists, rows: RowFiles, folder: Path) -> None:
    """Fit, and write labels and coordinates for each partition."""
    with checkpoints(folder / "fit"):
        estimator.fit(lists.distances(), rows.read_labels())
    columns = dict(_fitted_columns(estimator))
    choice = rows.choice._replace(features=[])
    for one in rows.partitions:
        cells = one.read(choice.all())
        ids = None if choice.row_id is None else cells.column(choice.row_id).to_pylist()
        labels = None if choice.label is None else cells.column(choice.label).combine_chunks()
        own = slice(one.first, one.rows.stop)
        answers = {name: values[own] for name, values in columns.items()}
        if not one.output(folder).exists():
            _write(one.output(folder), one, ids, labels, answers)


def _fitted_columns(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an estimator says of the rows of its fit."""
    if hasattr(estimator, "embedding_"):
        yield "x", estimator.embedding_
    if hasattr(estimator, "transduction_"):
        predicted = estimator.transduction_
        yield "label", predicted
        distributions = estimator.label_distributions_
        yield "confidence", confidences(distributions, estimator.classes_, predicted)


def _write(
    output: Path, partition: Partition, ids: Any, cells: Any, answers: Mapping[str, Any]
) -> None:
    """Write the names of a partition's rows, what the model says, and which labels were given."""
    columns: dict[str, Any] = {"id": ids} if ids is not None else {}
    if ids is None:
        columns["row"] = np.array(partition.rows) + 1
    columns |= answers
    if cells is not None and "label" in columns:
        columns["given"] = np.array([one is not None for one in read_labels(cells)])
    with replacing(output) as stream:
        write_table(stream, columns, name=output)
