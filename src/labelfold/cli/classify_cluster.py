"""`labelfold classify --dask`: a fit on a sample, and labels for all rows by many workers."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import labels_of_classes, make_estimator, prepare, scikit_learn_errors
from labelfold.cli.options import DataOptions, MethodOptions, OutputOptions
from labelfold.exceptions import InputError
from labelfold.methods import Method
from labelfold.whole_file import replacing

SAMPLE_SIZE = 50_000  # rows that are fitted beside all labeled ones
LOCAL = "local"
TIMEOUT = 10  # seconds for a scheduler to answer


def classify_on_cluster(
    console: Console,
    address: str,
    data: list[str],
    out: str,
    labels: str | None,
    method: Method,
    head: str,
    options: MethodOptions,
    coverage: float,
    wanted: OutputOptions,
    reading: DataOptions,
    excluded: dict[str, Any],
) -> None:
    """Label the rows of Parquet files; `excluded` are options that do not go with --dask."""
    check_options(wanted, reading, excluded)
    begin = time.perf_counter()
    with console.step("loading methods"):
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise InputError('--dask needs Dask: pip install "labelfold[dask]"') from error
        from labelfold.distributed import label_rows, open_rows
        from labelfold.distributed.checkpoints import open_folder
    rows = open_rows(
        data,
        features=reading.features or None,
        ignore=reading.ignore or (),
        labels=labels,
        id_column=reading.id_column,
    )
    settings = {one.name: getattr(options, one.name) for one in fields(options)}
    del settings["jobs"], settings["checkpoint"]
    plan = {
        "command": "classify",
        "rows": rows.fingerprint,
        "columns": rows.choice.all(),
        "method": method.declaration.name,
        "head": head,
        **settings,
    }
    folder = open_folder(out, plan)
    model, verbose = folder / "model.skops", int(console.shows_progress)
    with connect(address, options.jobs) as client:
        if not model.exists():
            fit_sample(console, client, rows, model, method, head, options, verbose)
        files = label_rows(
            model, rows, folder / "labels", client=client, coverage=coverage, verbose=verbose
        )
    facts = {
        "command": "classify",
        "data": {"files": len({one.path for one in rows.partitions}), "n_rows": rows.n_rows},
        "fit": json.loads((folder / "fit.json").read_text(encoding="utf-8")),
        "files": {"labels": str(folder / "labels"), "n_files": len(files), "model": str(model)},
        "seconds": {"total": round(time.perf_counter() - begin, 3)},
        "versions": reports.versions(),
    }
    text = describe(facts)
    console.result(json.dumps(facts, indent=2, allow_nan=False) if wanted.as_json else text)


def check_options(wanted: OutputOptions, reading: DataOptions, excluded: dict[str, Any]) -> None:
    """Raise InputError for options that --dask does not take."""
    given = {
        **excluded,
        "--plot": wanted.plot,
        "--save": wanted.save,
        "--compact": wanted.compact,
        "--force": wanted.force,
        "--labels-file": reading.labels_file,
        "--vectors": reading.vectors,
        "--format": reading.format,
        "--columns": reading.show_columns,
    }
    for option, value in given.items():
        if value:
            raise InputError(f"{option} does not go with --dask: leave one of them out.")


@contextmanager
def connect(address: str, n_workers: int | None) -> Iterator[Any]:
    """Yield a client of a running scheduler, or of worker processes on this machine."""
    from distributed import Client, LocalCluster

    if address != LOCAL:
        try:
            client = Client(address, timeout=TIMEOUT)
        except (OSError, ValueError) as error:
            raise InputError(
                f"--dask {address}: no scheduler answers ({error}): start one with 'dask "
                "scheduler', or use --dask local."
            ) from error
        with client:
            yield client
        return
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.ERROR,
    )
    with cluster, Client(cluster) as client:
        yield client


def fit_sample(
    console: Console,
    client: Any,
    rows: Any,
    model: Path,
    method: Method,
    head: str,
    options: MethodOptions,
    verbose: int,
) -> None:
    """Fit a sample of the rows in this process, and write the model and its report."""
    from sklearn.pipeline import make_pipeline

    from labelfold import save
    from labelfold.cli.classification import make_classifier
    from labelfold.distributed import draw_sample

    estimator = make_estimator(method, replace(options, jobs=None))  # workers have one thread
    with console.step("drawing a sample"):
        table = draw_sample(rows, SAMPLE_SIZE, client=client, seed=options.seed, verbose=verbose)
    y = labels_of_classes(table, "a classifier")
    X, preparation, prepared = prepare(table, options.scale)
    classifier = make_classifier(estimator, method, options, head, X, y)
    with console.step("fitting the sample"), scikit_learn_errors(estimator):
        classifier.fit(X, y)
    error = getattr(classifier, "error_estimate_", None)
    facts = {
        "data": reports.data_facts(table),
        "columns": prepared.to_dict(),
        "method": method.declaration.name,
        "error": None if error is None else str(error),
        **reports.estimator_facts(getattr(classifier, "embedder_", classifier)),
    }
    with replacing(model.with_name("fit.json")) as stream:
        stream.write(json.dumps(facts, indent=2, allow_nan=False).encode())
    whole = make_pipeline(preparation, classifier)
    save(whole, model, compact=True, feature_names=table.feature_names)


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    data, fit, files = facts["data"], facts["fit"], facts["files"]
    rows, parts = reports.counted(data["n_rows"], "row"), reports.counted(data["files"], "file")
    error = [] if fit["error"] is None else [f"Error: {fit['error']}"]
    return reports.paragraphs(
        [f"{rows} in {parts}. Fit: {fit['method']} ({fit['estimator']})."],
        [*reports.describe_data(fit["data"]), f"Columns: {fit['columns']['summary']}"],
        error,
        [
            f"Labels of all rows: {reports.counted(files['n_files'], 'file')} in "
            f"{files['labels']}.",
            f"Model: {files['model']}.",
        ],
        [f"{facts['seconds']['total']:.1f} s."],
    )
