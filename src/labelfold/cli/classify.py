"""`labelfold classify`: a label and a confidence for every row of a data file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import (
    SCALES,
    check_option,
    classifying,
    find_method,
    labels_of_classes,
    make_estimator,
    scale_columns,
    with_scaler,
)
from labelfold.cli.options import (
    Data,
    DataOptions,
    Labels,
    Method,
    MethodOptions,
    Out,
    OutputOptions,
    command,
)
from labelfold.cli.output import STANDARD_STREAM, Results, map_display
from labelfold.cli.reports import counted
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.cli.tables import Table
    from labelfold.plotting import EmbeddingDisplay

HEADS = ("linear", "knn")
LOW = 0.5  # a confidence below it is counted


@command
def classify(
    *,
    console: Console,
    data: Data,
    out: Out,
    labels: Labels = None,
    method: Method = "ccdr",
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
    options: MethodOptions,
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
            "learn; 19 or more are needed. Takes N times as long.",
        ),
    ] = 0,
    wanted: OutputOptions,
    reading: DataOptions,
) -> None:
    """Label the unlabeled rows of a data file.

    A map of all rows is made by --method, a simple --head is fitted on the labeled ones, and names
    the others; methods that classify by themselves make no map. The error is estimated by hiding
    the given labels in turn, part by part, and counting how often the answer for them is wrong.

    The result has one line per row: its name (id) or number (row, the first is 1); its label, as
    given or as found; the confidence, which is the probability that the classifier gives to that
    label and not calibrated; and whether the label was given. A low confidence in a given label is
    a reason to look at it again. With --new a first column names the file.

    For example:

      labelfold classify flowers.csv --labels kind -o labels.csv

      labelfold classify flowers.csv --labels kind --new more.csv -o labels.csv --plot map.html
    """
    chosen = find_method(method, classifying())
    makes_map = chosen.declaration.embeds
    if not makes_map:
        refuse_without_map(method, head=head, plot=wanted.plot, permutations=permutations)
    check_option("--head", head or HEADS[0], HEADS)
    check_option("--scale", options.scale, SCALES)
    if permutations and folds < 2:
        raise InputError("--permutations hides labels as well: --folds must be 2 or more.")
    if folds == 1:
        raise InputError("--folds 1 would hide all labels at once: use 2 or more, or 0 for none.")
    if data == new == STANDARD_STREAM:
        raise InputError("DATA and --new cannot both come from standard input: name a file.")
    with Results(out, reading.files(data, new), wanted, pages=True) as results:
        estimator = make_estimator(chosen, options)
        table = reading.read_labeled(console, data, labels)
        y = labels_of_classes(table, "a classifier")
        more = None if new is None else read_more(console, reading, new, table)
        results.check_map(table.n_rows + (0 if more is None else more.n_rows))
        with console.step("loading methods"):
            from labelfold.cli.classification import (
                estimate_shuffled,
                fit_and_estimate,
                make_classifier,
            )
            from labelfold.progress import show_progress

        model = make_classifier(estimator, chosen, options, head or HEADS[0], table)
        begin = time.perf_counter()
        X, scaler = scale_columns(options.scale, table.X, options.seed)
        with show_progress(int(console.shows_progress)) as progress:
            fitted, estimate = fit_and_estimate(
                model, X, y, folds=folds, seed=options.seed, progress=progress
            )
        fit_seconds = time.perf_counter() - begin
        baseline = None
        if permutations:
            with console.step("shuffling labels"):
                baseline = estimate_shuffled(
                    model, X, y, estimate["n_folds"], permutations, options.seed
                )
        whole = with_scaler(scaler, fitted)
        columns = as_columns(table, fitted, more, whole)
        results.write_table(columns)
        if wanted.plot is not None:
            with console.step("picture"):
                display = as_display(table, fitted, scaler, more, columns)
                results.write_map(display, row_columns(table, more, columns))
        results.write_model(whole, table.feature_names)
    facts = {
        "command": "classify",
        "data": reports.data_facts(table),
        "new": None if more is None else {"file": more.origin, "n_rows": more.n_rows},
        "method": method,
        "head": head or HEADS[0] if makes_map else None,
        "scale": options.scale,
        "n_components": fitted.embedding_.shape[1] if makes_map else None,
        **reports.estimator_facts(getattr(fitted, "embedder_", fitted)),
        "estimate": estimate,
        "permutations": baseline,
        "found": found_facts(columns),
        **results.end_facts(fit=fit_seconds),
    }
    results.report(console, facts, describe(facts))


def refuse_without_map(method: str, **options: Any) -> None:
    """Refuse options that are about a map, for a method that makes none."""
    for name, value in options.items():
        if value:
            raise InputError(
                f"--{name} needs a map, and --method {method} makes none: leave it out."
            )


def read_more(console: Console, reading: DataOptions, new: str, table: Table) -> Table:
    """Read the rows of --new like the others, in the format that their own name tells."""
    from labelfold.cli.tables.formats import format_of_name

    known = None if format_of_name(new) is not None else reading.format
    options = replace(reading, features=None, ignore=None, format=known)
    return options.read_new(console, new, table.feature_names, table.n_features)


def as_columns(table: Table, fitted: Any, more: Table | None, whole: Any) -> dict[str, Any]:
    """Return the columns of the result: the rows of the fit, then the new ones.

    `whole` is the fitted classifier with the scaler before it, for the new rows.
    """
    import numpy as np

    from labelfold.cli.transform import answer, confidences

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


def as_display(
    table: Table, fitted: Any, scaler: Any, more: Table | None, columns: Mapping[str, Any]
) -> EmbeddingDisplay:
    """The map, ready to be drawn.

    Parameters
    ----------
    table, more : Table
        The rows of the fit, and new ones or None.
    fitted, scaler : estimator
        The classifier, and what scaled its data or None.
    columns : mapping
        The result of the command, with "label" and "confidence" of all rows.
    """
    import numpy as np

    from labelfold.labels import PartialLabels

    embedding, is_new = fitted.embedding_, None
    labels = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
    if more is not None:
        X = more.X if scaler is None else scaler.transform(more.X)
        embedding = np.concatenate([embedding, fitted.embedder_.transform(X)])
        is_new = np.repeat([False, True], [table.n_rows, more.n_rows])
        none = PartialLabels.none(more.n_rows).codes
        labels = PartialLabels(np.concatenate([labels.codes, none]), labels.classes)
    return map_display(
        embedding,
        labels,
        fitted.embedder_,
        predictions=columns["label"],
        confidence=columns["confidence"],
        is_new=is_new,
        classes=fitted.classes_,
    )


def row_columns(table: Table, more: Table | None, columns: Mapping[str, Any]) -> dict[str, Any]:
    """What a page tells of each row beside its labels: number from 1, name, file."""
    tables = [table] if more is None else [table, more]
    numbers = [row for one in tables for row in range(1, one.n_rows + 1)]
    return {"row": numbers, **{name: columns[name] for name in ("id", "file") if name in columns}}


def found_facts(columns: dict[str, Any]) -> dict[str, Any]:
    """Figures about the labels that were found."""
    import numpy as np

    found = ~np.asarray(columns["given"])
    confidence = np.asarray(columns["confidence"])[found]
    named = [label for label, is_found in zip(columns["label"], found, strict=True) if is_found]
    counts = Counter(named)
    return {
        "n_rows": len(named),
        "n_low_confidence": int(np.count_nonzero(confidence < LOW)),
        "mean_confidence": float(confidence.mean()) if len(named) else None,
        "classes": [{"label": label, "n_rows": counts[label]} for label in sorted(counts)],
    }


def describe(facts: dict[str, Any]) -> str:
    """The facts as text for people."""
    found, new = facts["found"], facts["new"]
    n = facts["n_components"]
    kind = "no map" if n is None else f"{counted(n, 'coordinate')}, {facts['head']} head"
    kind += reports.describe_scale(facts["scale"])
    lines = [reports.describe_data(facts["data"])]
    if new is not None:
        lines.append(f"{new['file']}: {counted(new['n_rows'], 'row')} more.")
    lines += [
        "",
        f"Classifier by {facts['method']} ({facts['estimator']}): {kind}.",
        *reports.describe_solve(facts),
        "",
        reports.wrapped(describe_estimate(facts["estimate"])),
    ]
    if facts["permutations"] is not None:
        lines.append(reports.wrapped(f"Labels shuffled: {facts['permutations']['text']}"))
    if found["n_rows"]:
        counts = ", ".join(f"{one['label']} ({one['n_rows']:,})" for one in found["classes"])
        lines += [
            reports.wrapped(f"Labels found for {counted(found['n_rows'], 'row')}: {counts}."),
            f"Mean confidence {found['mean_confidence']:.2f}; below {LOW} for "
            f"{counted(found['n_low_confidence'], 'row')}.",
        ]
    else:
        lines.append("Every row has a label: nothing was left to find.")
    return "\n".join([*lines, "", *reports.describe_end(facts)])


def describe_estimate(facts: dict[str, Any]) -> str:
    """The error on hidden labels as text."""
    if facts["error"] is None:
        return f"Error: not estimated. {' '.join(facts['notes'])}"
    low, high = facts["interval"]
    text = (
        f"Error on hidden labels: {facts['error']:.1%} ({facts['n_wrong']} of {facts['n_hidden']} "
        f"wrong, in {facts['n_folds']} folds with about {facts['n_left']} labels left), "
        f"{facts['level']:.0%} interval {low:.1%} to {high:.1%}; by always naming the largest "
        f"class {facts['chance']:.1%}."
    )
    return " ".join([text, *facts["notes"]])
