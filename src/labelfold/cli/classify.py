"""`labelfold classify`: a label and a confidence for every row of a data file."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli.classification_summary import classifier_facts, describe, found_facts
from labelfold.cli.console import Console
from labelfold.cli.data_options import (
    Data,
    Features,
    Format,
    Header,
    IdColumn,
    Ignore,
    Labels,
    LabelsFile,
    MaxBytes,
    read_data,
)
from labelfold.cli.method_options import (
    Beta,
    Compact,
    Dims,
    Jobs,
    Json,
    Neighbors,
    Out,
    Save,
    Scale,
    Seed,
    Settings,
)
from labelfold.cli.methods import (
    CLASSIFIERS,
    EMBEDDERS,
    check_name,
    dimension_parameter,
    make_method,
)
from labelfold.cli.new_rows import read_new_rows
from labelfold.cli.options import Force, Quiet, Verbose
from labelfold.cli.results import STANDARD_STREAM, Results
from labelfold.cli.scaling import check_scale, make_scaler, with_scaler
from labelfold.cli.settings import sets
from labelfold.cli.summary import data_facts, versions
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table

HEADS = ("linear", "knn")
METHODS = (*EMBEDDERS, *CLASSIFIERS)


def classify(
    context: typer.Context,
    data: Data,
    out: Out,
    labels: Labels = None,
    method: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help=f"One of {', '.join(METHODS)}."),
    ] = "ccdr",
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="|".join(HEADS),
            help="What names classes in the map: least squares (the default), or the 3 nearest "
            "labels, for classes that lie in several places.",
        ),
    ] = None,
    new: Annotated[
        str | None,
        typer.Option(
            "--new",
            metavar="FILE",
            help="More rows to label, which have no part in the fit; columns are found by name.",
        ),
    ] = None,
    dims: Dims = None,
    neighbors: Neighbors = None,
    beta: Beta = None,
    settings: Settings = None,
    scale: Scale = "none",
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            metavar="N",
            min=0,
            help="Parts that labels are hidden in to estimate the error, a fit each; 0 for none.",
        ),
    ] = 5,
    permutations: Annotated[
        int,
        typer.Option(
            "--permutations",
            metavar="N",
            min=0,
            help="Do the same with labels shuffled N times, to see whether there is anything to "
            "learn; 19 or more tell. Takes N times as long.",
        ),
    ] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the map, every row in the colour of its label: .png, .pdf, .svg, or .html "
            "for a page to search.",
        ),
    ] = None,
    save: Save = None,
    compact: Compact = False,
    as_json: Json = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    labels_file: LabelsFile = None,
    features: Features = None,
    ignore: Ignore = None,
    id_column: IdColumn = None,
    header: Header = None,
    format: Format = None,
    max_bytes: MaxBytes = None,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Label the unlabelled rows of a data file.

    A map of all rows is made by --method (see 'labelfold embed --help'), a simple --head is fitted
    on the labelled ones, and names the others; --method laplacian does without a map. The error is
    estimated by hiding the given labels in turn, part by part, and counting how often the answer
    for them is wrong.

    The result has a line a row: its name (id) or number (row, the first is 1); its label, as given
    or as found; the confidence, which is the probability that the classifier gives to that label
    and not calibrated; and whether the label was given. A low confidence in a given label is a
    reason to look at it again. With --new a first column names the file.

    For example:

      labelfold classify flowers.csv --labels kind -o labels.csv

      labelfold classify flowers.csv --labels kind --new more.csv -o labels.csv --plot map.html
    """
    console: Console = context.obj
    console.set_verbosity(quiet=quiet, verbose=verbose)
    check_options(method, head, compact, save is not None, permutations, folds)
    if plot is not None and method in CLASSIFIERS:
        raise InputError(f"--plot needs a map, and --method {method} makes none.")
    check_scale(scale)
    if data == new == STANDARD_STREAM:
        raise InputError("DATA and --new cannot both come from standard input: name a file.")
    start = time.perf_counter()
    with Results(
        out,
        inputs=tuple(str(name) for name in (data, new, labels_file) if name is not None),
        picture=plot,
        model=save,
        overwrite=force,
        as_json=as_json,
    ) as results:
        estimator = make_method(
            method,
            dims=dims,
            neighbors=neighbors,
            beta=beta,
            settings=settings or (),
            seed=seed,
            jobs=jobs,
        )
        table = read_data(
            console,
            data,
            labels=labels,
            labels_file=labels_file,
            features=features,
            ignore=ignore,
            id_column=id_column,
            header=header,
            format=format,
            max_bytes=max_bytes,
        )
        check_labels(table)
        more = None
        if new is not None:
            from labelfold.cli.tables.formats import format_of_name

            more = read_new_rows(
                console,
                new,
                table.feature_names,
                table.n_features,
                id_column=id_column,
                header=header,
                format=format if format_of_name(new) is None else None,
                max_bytes=max_bytes,
            )
        results.check_map(table.n_rows + (0 if more is None else more.n_rows))
        with console.step("loading methods"):
            from labelfold.cli.classification import fit_and_estimate, make_classifier
            from labelfold.progress import show_progress

        model = make_classifier(
            estimator,
            method,
            head or HEADS[0],
            table,
            chooses_dims=dims is None and not sets(settings, dimension_parameter(method)),
        )
        begin = time.perf_counter()
        scaler = make_scaler(scale, table.X, seed)
        y: Any = table.labels
        X: Any = table.X if scaler is None else scaler.fit_transform(table.X)
        shows_progress = not quiet and (verbose or sys.stderr.isatty())
        with show_progress(int(shows_progress)) as progress:
            fitted, estimate = fit_and_estimate(
                model, X, y, folds=folds, seed=seed, progress=progress
            )
        fit_seconds = time.perf_counter() - begin
        baseline = None
        if permutations:
            with console.step("shuffling labels"):
                baseline = shuffle_labels(model, X, y, estimate.n_folds, permutations, seed)
        whole = with_scaler(scaler, fitted)
        columns = as_columns(table, fitted, more, whole)
        results.write_table(columns)
        if plot is not None:
            with console.step("picture"):
                from labelfold.cli.classified_map import as_display, row_columns

                display = as_display(table, fitted, scaler, more, columns)
                results.write_map(display, row_columns(table, more, columns))
        results.write_model(whole, table.feature_names, compact=compact)
    facts = {
        "command": "classify",
        "data": data_facts(table),
        "new": None if more is None else {"file": more.origin, "n_rows": more.n_rows},
        "method": method,
        "head": None if method in CLASSIFIERS else head or HEADS[0],
        "scale": scale,
        **classifier_facts(fitted),
        "estimate": estimate.as_plain(),
        "permutations": baseline,
        "found": found_facts(columns),
        "files": {
            "table": out,
            "picture": None if plot is None else str(plot),
            "model": None if save is None else str(save),
        },
        "seconds": {
            "fit": round(fit_seconds, 3),
            "total": round(time.perf_counter() - start, 3),
        },
        "versions": versions(),
    }
    results.report(console, facts, describe(facts, str(estimate)))


def check_options(
    method: str, head: str | None, compact: bool, is_saved: bool, permutations: int, folds: int
) -> None:
    """Refuse options that contradict each other."""
    check_name(method, METHODS)
    if head is not None and head not in HEADS:
        raise InputError(f"--head {head} is unknown: use one of {', '.join(HEADS)}.")
    if head is not None and method in CLASSIFIERS:
        raise InputError(f"--head has no meaning for --method {method}, which makes no map.")
    if compact and not is_saved:
        raise InputError("--compact says how a model is kept: pass --save as well.")
    if permutations and method in CLASSIFIERS:
        raise InputError(f"--permutations needs a map, and --method {method} makes none.")
    if permutations and folds < 2:
        raise InputError("--permutations hides labels as well: --folds must be 2 or more.")
    if folds == 1:
        raise InputError("--folds 1 would hide all labels at once: use 2 or more, or 0 for none.")


def check_labels(table: Table) -> None:
    """Refuse labels that leave nothing to choose between."""
    if table.labels is None:
        raise InputError(
            f"{table.origin}: a classifier needs labels: name their column with --labels, or a "
            "file with --labels-file."
        )
    classes = list(table.class_counts)
    if len(classes) < 2:
        found = f"one class only, {classes[0]!r}" if classes else "no label"
        raise InputError(
            f"{table.origin}: the labels hold {found}, and a classifier needs two classes or more: "
            "name another column with --labels, or label some rows."
        )


def shuffle_labels(
    model: Any, X: Any, y: Any, n_folds: int, n_permutations: int, seed: int
) -> dict[str, Any]:
    """The same estimate with labels shuffled, as plain values."""
    from labelfold.evaluate import LabeledKFold, permuted_label_baseline

    if n_folds < 2:
        raise InputError(
            "--permutations needs labels to hide, two of some class: label more "
            "rows, or leave it out."
        )
    folds = LabeledKFold(n_folds, shuffle=True, random_state=seed)  # those of the estimate
    baseline = permuted_label_baseline(
        model, X, y, cv=folds, n_permutations=n_permutations, random_state=seed
    )
    return {
        "n_permutations": n_permutations,
        "error": baseline.hidden_error,
        "shuffled_error": float(baseline.permuted_hidden_errors.mean()),
        "p_value": baseline.p_value,
        "has_signal": baseline.has_signal,
        "text": str(baseline),
    }


def as_columns(table: Table, fitted: Any, more: Table | None, whole: Any) -> dict[str, Any]:
    """Return the columns of the result: the rows of the fit, then the new ones.

    `whole` is the fitted classifier with the scaler before it, for the new rows.
    """
    import numpy as np

    from labelfold.cli.model_answers import answer, confidences

    named = fitted.transduction_
    label = named.tolist()
    confidence = confidences(fitted.label_distributions_, fitted.classes_, named)
    given = table.is_labeled
    tables = [table]
    if more is not None:
        tables.append(more)
        answers = answer(whole, more.X)
        label += answers["label"].tolist()
        confidence = np.concatenate([confidence, answers["confidence"]])
        given = np.append(given, np.zeros(more.n_rows, dtype=bool))
    columns: dict[str, Any] = {}
    if more is not None:
        columns["file"] = [one.origin for one in tables for _ in range(one.n_rows)]
    has_names = [one.row_ids is not None for one in tables]
    if not all(has_names):
        columns["row"] = [row for one in tables for row in range(1, one.n_rows + 1)]
    if any(has_names):
        # A file may have row names that nobody asked for, as pandas writes them, and the other not.
        columns["id"] = [name for one in tables for name in one.row_ids or [None] * one.n_rows]
    return {**columns, "label": label, "confidence": confidence, "given": given}
