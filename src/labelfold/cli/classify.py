"""`labelfold classify`: a label and a confidence for every row of a data file."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import (
    classifying,
    find_method,
    labels_of_classes,
    make_estimator,
    prepare,
)
from labelfold.cli.options import (
    Data,
    DataOptions,
    Labels,
    MethodOptions,
    Out,
    OutputOptions,
    check_option,
    command,
)
from labelfold.cli.output import STANDARD_STREAM, Results, map_display
from labelfold.cli.reports import FIXED, MOST_CLASSES, counted, listed
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.plotting import EmbeddingDisplay
    from labelfold.tables import Table

HEADS = ("ridge", "linear", "knn")
LOW = 0.5  # confidences below it are counted
NOT_DRAWN = (
    "",
    "0",
    "0.0",
    "no",
    "false",
    "none",
    "nan",
)  # cells of rows that are not for an audit


@command
def classify(
    *,
    console: Console,
    data: Data,
    out: Out,
    labels: Labels = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="One of the methods listed below. The default is auto, or ccdr if --head, --dims, "
            "--beta or --permutations asks for an embedding.",
            show_default=False,
        ),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="|".join(HEADS),
            help="Classifier on the embedding: least squares with an automatic penalty (ridge, the "
            "default) or without (linear), or the 3 nearest labeled rows (knn), for classes that "
            "form several clusters.",
        ),
    ] = None,
    new: Annotated[
        str | None,
        typer.Option(
            "--new",
            metavar="FILE",
            help="New rows to label; they do not take part in the fit. Columns are found by name.",
        ),
    ] = None,
    options: MethodOptions,
    audit: Annotated[
        str | None,
        typer.Option(
            "--audit",
            metavar="COLUMN",
            help="Column that marks rows which were drawn at random to be labeled. Probabilities, "
            "error and sets then rest on their labels alone (method auto).",
        ),
    ] = None,
    coverage: Annotated[
        float,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            help="Share of the rows whose set of labels is to hold the right one (method auto).",
        ),
    ] = 0.9,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            metavar="N",
            min=0,
            help="Folds in which labels are hidden to estimate the error, one fit each; 0 for no "
            "estimate. The default is 5; none for auto, which estimates the error from one fit.",
            show_default=False,
        ),
    ] = None,
    permutations: Annotated[
        int,
        typer.Option(
            "--permutations",
            metavar="N",
            min=0,
            help="Repeat the estimate with labels shuffled N times, to see whether there is "
            "anything to learn; needs 19 or more. Takes N times as long.",
        ),
    ] = 0,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS|local",
            help="Label Parquet files on a Dask cluster, or with processes on this machine. DATA "
            "is a folder, and so is -o; all workers see both. The fit is on a random sample of "
            "50,000 rows and all labeled ones. Started again, it goes on where it ended.",
            show_default=False,
        ),
    ] = None,
    wanted: OutputOptions,
    reading: DataOptions,
) -> None:
    """Label the unlabeled rows of a data file.

    Columns may hold numbers, categories, dates, text and vectors, and cells may be empty. The
    default method, auto, has nothing to tune: it averages graphs of neighbors and features by how
    well they predict left-out labels. laplacian takes one graph; the others compute an embedding
    and fit a simple classifier, the --head, on it. The error is estimated from labels that are left
    out, and by the methods other than auto by hiding labels, fold by fold.

    The result has one line per row: its name (id) or number (row, starting at 1); its label, given
    or predicted; the confidence, which is the probability that the label is right (calibrated by
    auto only); and whether the label was given. auto adds the set of labels that holds the right
    one with the --coverage asked, one label to accept or several to look at, and marks given labels
    that look wrong (suspect). With --new, a first column names the file.

    For example:

      labelfold classify flowers.csv --labels kind -o labels.csv

      labelfold classify flowers.csv --labels kind --new more.csv -o labels.csv
    """
    needs_embedding = (head, permutations, options.dims, options.beta)
    method = method or ("ccdr" if any(needs_embedding) else "auto")
    chosen = find_method(method, classifying())
    embeds = chosen.declaration.embeds
    check_options(method, embeds=embeds, head=head, permutations=permutations, folds=folds)
    if dask is not None:
        from labelfold.cli.classify_cluster import classify_on_cluster

        excluded = {
            "--new": new,
            "--audit": audit,
            "--folds": folds,
            "--permutations": permutations,
            "--checkpoint": options.checkpoint,
        }
        classify_on_cluster(
            console, dask, data, out, labels, chosen, head or HEADS[0], options, coverage,
            wanted, reading, excluded,
        )  # fmt: skip
        return
    if audit is not None and method != "auto":
        raise InputError(f"--audit needs --method auto, and --method {method} was chosen.")
    if STANDARD_STREAM in data and new == STANDARD_STREAM:
        raise InputError("DATA and --new cannot both be standard input: name a file.")
    named = reading.files(*data, new)
    with options.checkpoints(), Results(out, named, wanted, pages=True) as results:
        estimator = make_estimator(chosen, options)
        table = reading.read_labeled(console, data, labels)
        table, is_audit = split_audit(table, audit)
        y = labels_of_classes(table, "a classifier")
        tables = [table] if new is None else [table, read_more(console, reading, new, table)]
        results.check_map(sum(one.n_rows for one in tables))
        with console.step("loading methods"):
            from sklearn.pipeline import make_pipeline

            from labelfold.cli import classification
            from labelfold.progress import show_progress

        begin = time.perf_counter()
        X, preparation, prepared = prepare(table, options.scale)
        model = classification.make_classifier(estimator, chosen, options, head or HEADS[0], X, y)
        if folds is None:
            folds = 0 if hasattr(model, "label_sets") else 5
        with show_progress(int(console.shows_progress)) as progress:
            fitted, estimate = classification.fit_and_estimate(
                model, X, y, folds=folds, seed=options.seed, progress=progress
            )
        if is_audit is not None:
            fitted.refit(y, audit=is_audit)  # on the same graphs
        fit_seconds = time.perf_counter() - begin
        baseline = None
        if permutations:
            with console.step("shuffling labels"):
                baseline = classification.estimate_shuffled(
                    model, X, y, estimate["n_folds"], permutations, options.seed
                )
        whole = make_pipeline(preparation, fitted)
        rows, answers = identify_rows(tables), answer_all(tables, fitted, whole, coverage)
        have_names = all(one.ids is not None for one in tables)
        shown = {key: rows[key] for key in rows if not (have_names and key == "row")}
        results.write_table({**shown, **answers})
        if wanted.plot is not None:
            with console.step("picture"):
                results.write_map(as_display(fitted, X, y, tables[1:], whole, answers), rows)
        results.write_model(whole, table.feature_names)
    facts = {
        "command": "classify",
        "data": reports.data_facts(table),
        "columns": prepared.to_dict(),
        "new": None if new is None else {"file": tables[1].origin, "n_rows": tables[1].n_rows},
        "method": method,
        "head": head or HEADS[0] if embeds else None,
        "scale": options.scale,
        "n_components": fitted.embedding_.shape[1] if embeds else None,
        **reports.estimator_facts(getattr(fitted, "embedder_", fitted)),
        "candidates": candidate_facts(fitted),
        "evidence": evidence_facts(fitted, coverage, answers),
        "estimate": estimate,
        "permutations": baseline,
        "predicted": prediction_facts(answers),
        **results.end_facts(fit=fit_seconds),
    }
    results.report(console, facts, describe(facts, show_columns=reading.show_columns))


def check_options(
    method: str, *, embeds: bool, head: str | None, permutations: int, folds: int | None
) -> None:
    """Raise InputError for options that contradict each other."""
    for option, value in (("--head", head), ("--permutations", permutations)):
        if value and not embeds:
            raise InputError(
                f"{option} needs an embedding, and --method {method} computes none: leave it out."
            )
    check_option("--head", head or HEADS[0], HEADS)
    if permutations and folds is not None and folds < 2:
        raise InputError(f"--permutations needs --folds of 2 or more, got {folds}.")
    if folds == 1:
        raise InputError("--folds 1 would hide all labels at once: use 2 or more, or 0 for none.")


def find_suspects(fitted: Any) -> list[bool]:
    """Return whether each row has a given label that looks wrong."""
    import numpy as np

    from labelfold.evidence import suspect_labels

    rows = [one.row for one in suspect_labels(fitted)]
    return np.isin(np.arange(len(fitted.transduction_)), rows).tolist()


def split_audit(table: Table, name: str | None) -> tuple[Table, Any]:
    """Return the table without the column of audit rows, and which rows these are."""
    if name is None:
        return table, None
    import numpy as np

    names = table.feature_names or []
    if name not in names:
        raise InputError(f"--audit {name}: {table.origin} has no such column among its features.")
    cells = table.features.column(name).to_pylist()
    is_audit = np.array([str(one).strip().lower() not in NOT_DRAWN for one in cells])
    return replace(table, features=table.features.drop_columns([name])), is_audit


def read_more(console: Console, reading: DataOptions, new: str, table: Table) -> Table:
    """Read the rows of --new like the others; the ending of the file decides its format."""
    from labelfold.tables.source import format_of_name

    known = None if format_of_name(new) is not None else reading.format
    options = replace(reading, features=None, ignore=None, vectors=None, format=known)
    return options.read_new(console, [new], table.feature_names, table.n_features)


def identify_rows(tables: list[Table]) -> dict[str, list[Any]]:
    """Return file (if there are two), number from 1 and name (if there is one) of all rows."""
    columns: dict[str, list[Any]] = {}
    if len(tables) > 1:
        columns["file"] = [one.origin for one in tables for _ in range(one.n_rows)]
    columns["row"] = [row for one in tables for row in range(1, one.n_rows + 1)]
    if any(one.ids is not None for one in tables):
        # pandas writes row names that nobody asked for: one file may have them, the other not.
        columns["id"] = [name for one in tables for name in one.ids or [None] * one.n_rows]
    return columns


def answer_all(tables: list[Table], fitted: Any, whole: Any, coverage: float) -> dict[str, Any]:
    """Return label, confidence and more of all rows, those of the fit and new ones.

    `whole` is the fitted classifier behind its preparation.
    """
    import numpy as np

    from labelfold.tables.answers import answer, confidences, name_sets

    table, *more = tables
    predicted = fitted.transduction_
    columns = {
        "label": predicted.tolist(),
        "confidence": confidences(fitted.label_distributions_, fitted.classes_, predicted).tolist(),
    }
    if hasattr(fitted, "label_sets"):
        columns["set"] = name_sets(fitted.label_sets(coverage), fitted.classes_)
        columns["suspect"] = find_suspects(fitted)
    for new in more:
        answers = answer(whole, new, coverage=coverage)
        answers["suspect"] = [False] * new.n_rows
        for name, values in columns.items():
            values += np.asarray(answers[name]).tolist()
    n_new = sum(one.n_rows for one in more)
    given = np.array([one is not None for one in table.labels] + [False] * n_new)
    return {**columns, "confidence": np.array(columns["confidence"]), "given": given}


def as_display(
    fitted: Any, X: Any, y: Any, more: list[Table], whole: Any, answers: dict[str, Any]
) -> EmbeddingDisplay:
    """Return the map, ready to be drawn: a layout of the rows, or if there is none, by CCDR."""
    import numpy as np

    from labelfold import CCDR
    from labelfold.labels import PartialLabels
    from labelfold.plotting.map_inputs import lay_out
    from labelfold.tables.answers import features_for

    embedder = lay_out(fitted)
    if embedder is None:
        embedder = getattr(fitted, "embedder_", None)
        embedder = embedder or CCDR(2 * len(fitted.classes_), random_state=0).fit(X, y)
    embedding, is_new = embedder.embedding_, None
    labels = PartialLabels.from_y(y)
    for new in more:
        X_new = whole[:-1].transform(features_for(whole, new))
        embedding = np.concatenate([embedding, embedder.transform(X_new)])
        is_new = np.repeat([False, True], [len(y), new.n_rows])
        unlabeled = PartialLabels.none(new.n_rows).codes
        labels = PartialLabels(np.concatenate([labels.codes, unlabeled]), labels.classes)
    return map_display(
        embedding,
        labels,
        embedder,
        predictions=answers["label"],
        confidence=answers["confidence"],
        is_new=is_new,
        classes=fitted.classes_,
    )


def candidate_facts(fitted: Any) -> dict[str, Any] | None:
    """What an average of several regressions considered; None for other classifiers."""
    table = getattr(fitted, "candidates_", None)
    if table is None:
        return None
    return {
        "text": str(table),
        "n_wrong": table.n_wrong,
        "n_left_out": table.n_left_out,
        "rows": [asdict(one) for one in table],
    }


def evidence_facts(fitted: Any, coverage: float, answers: dict[str, Any]) -> dict[str, Any] | None:
    """What a classifier with calibrated probabilities says of itself; None for others."""
    if "set" not in answers:
        return None
    alone = [str(label) == one for label, one in zip(answers["label"], answers["set"], strict=True)]
    return {
        "error": asdict(fitted.error_estimate_),
        "calibration": asdict(fitted.calibration_),
        "promise": fitted.calibration_.promise,
        "class_sizes": asdict(fitted.class_sizes_),
        "coverage": coverage,
        "n_sets": len(alone),
        "n_single": sum(alone),
        "n_suspects": sum(answers["suspect"]),
        "text": str(fitted.error_estimate_),
    }


def prediction_facts(answers: dict[str, Any]) -> dict[str, Any]:
    """Counts and confidences of the predicted labels."""
    import numpy as np

    is_predicted = ~np.asarray(answers["given"])
    confidence = np.asarray(answers["confidence"])[is_predicted]
    counts = Counter(answers["label"][row] for row in np.flatnonzero(is_predicted))
    return {
        "n_rows": len(confidence),
        "n_low_confidence": int(np.count_nonzero(confidence < LOW)),
        "mean_confidence": float(confidence.mean()) if len(confidence) else None,
        "classes": [{"label": label, "n_rows": counts[label]} for label in sorted(counts)],
    }


def describe(facts: dict[str, Any], *, show_columns: bool = False) -> str:
    """The facts as text for people: what was read, the answer, how it was computed."""
    predicted, new, n = facts["predicted"], facts["new"], facts["n_components"]
    read = reports.describe_input(facts, show_columns=show_columns)
    if new is not None:
        read.append(f"{new['file']}: {counted(new['n_rows'], 'new row')}.")
    answer = ["Every row has a label: there was nothing to predict."]
    if predicted["n_rows"]:
        counts = reports.class_counts({one["label"]: one["n_rows"] for one in predicted["classes"]})
        answer = [
            f"Predicted labels of {counted(predicted['n_rows'], 'row')}: {counts}.",
            f"Mean confidence {predicted['mean_confidence']:.2f}; below {LOW} in "
            f"{counted(predicted['n_low_confidence'], 'row')}.",
        ]
    answer += describe_evidence(facts["evidence"])
    if facts["evidence"] is None or facts["estimate"]["error"] is not None:
        answer.append(describe_estimate(facts["estimate"]))
    if facts["permutations"] is not None:
        answer.append(f"Labels shuffled: {facts['permutations']['text']}")
    kind = "" if n is None else f", {counted(n, 'coordinate')} per row, {facts['head']} head"
    return reports.paragraphs(
        read,
        answer,
        reports.describe_files(facts["files"]),
        [
            f"Classifier: {facts['method']} ({facts['estimator']}){kind}.",
            *describe_candidates(facts["candidates"]),
            *reports.describe_solve(facts),
            *reports.describe_end(facts),
        ],
    )


def describe_candidates(facts: dict[str, Any] | None) -> list[str]:
    """The weights of an average as a line, if there is one."""
    return [] if facts is None else [f"Candidates by weight: {facts['text']}"]


def describe_evidence(facts: dict[str, Any] | None) -> list[str]:
    """The estimated error, class sizes and label sets as lines, if there are any."""
    if facts is None:
        return []
    sizes = [f"{one['label']}{FIXED}{one['share']:.1%}" for one in facts["class_sizes"]["classes"]]
    return [
        f"Error: {facts['text']} {facts['promise']}",
        f"Estimated class sizes: {listed(sizes, MOST_CLASSES)}.",
        f"Sets with coverage {facts['coverage']:.0%}: one label in "
        f"{facts['n_single']:,} of {counted(facts['n_sets'], 'row')}, several in the others.",
        *describe_suspects(facts["n_suspects"]),
    ]


def describe_suspects(n: int) -> list[str]:
    """How many given labels look wrong, if any does."""
    text = f"Worth a second look: {counted(n, 'given label')}; labelfold review says why."
    return [text] if n else []


def describe_estimate(facts: dict[str, Any]) -> str:
    """The error on hidden labels as text."""
    if facts["error"] is None:
        return f"Error: not estimated. {' '.join(facts['notes'])}"
    low, high = facts["interval"]
    text = (
        f"Error on hidden labels: {facts['error']:.1%} ({facts['n_wrong']} of {facts['n_hidden']} "
        f"wrong), {facts['level']:.0%} interval {low:.1%} to {high:.1%}; {facts['n_folds']} folds, "
        f"each fitted with about {facts['n_left']} labels. Always predicting the largest class: "
        f"{facts['chance']:.1%}."
    )
    return " ".join([text, *facts["notes"]])
