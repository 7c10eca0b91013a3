"""`labelfold suggest`: the rows of a data file to label next."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import prepare
from labelfold.cli.options import (
    Data,
    DataOptions,
    Force,
    Json,
    Labels,
    Out,
    OutputOptions,
    Scale,
    Seed,
    command,
)
from labelfold.cli.output import Results
from labelfold.cli.reports import counted

if TYPE_CHECKING:
    from labelfold.tables import Table

AUDIT = "audit"


@command
def suggest(
    *,
    console: Console,
    data: Data,
    out: Out,
    labels: Labels = None,
    n: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="Number of rows to suggest.")
    ] = 20,
    audit: Annotated[
        int,
        typer.Option(
            "--audit",
            metavar="N",
            min=0,
            help="Add N rows drawn at random. Suggested rows are not a random sample, and only "
            "labels of these rows make an honest estimate of the error.",
        ),
    ] = 0,
    scale: Scale = "auto",
    seed: Seed = 0,
    as_json: Json = False,
    force: Force = False,
    reading: DataOptions,
) -> None:
    """List the rows to label next, the most useful first.

    A row is useful if labels are in doubt around it and none is near. Without labels, or with
    labels of one class only, rows are chosen to cover the data. Similar rows are not suggested
    together.

    The result has one line per row: its name (id) or number (row, starting at 1), and the reason:
    uncertain, uncovered (no label is near), unlike every labeled row (perhaps of a class that has
    no label yet), or audit (drawn at random). With labels of two classes or more it also has the
    predicted label and its confidence.

    For example:

      labelfold suggest flowers.csv --labels kind -o next.csv

      labelfold suggest flowers.csv -n 10 --audit 10 -o next.csv
    """
    wanted = OutputOptions(as_json=as_json, force=force)
    with Results(out, reading.files(*data), wanted) as results:
        table = reading.read_labeled(console, data, labels)
        with console.step("loading methods"):
            from labelfold.evidence import draw_audit, suggest_rows

        begin = time.perf_counter()
        X, _, prepared = prepare(table, scale)
        with console.step("graph and labels"):
            source, labeled = fit_or_build(X, table, seed)
        # Drawn first, since a sample of what suggestions leave over would be none of all rows.
        drawn: list[int] = []
        if audit:
            drawn = draw_audit(source, audit, labeled=labeled, random_state=seed).tolist()
        suggested = suggest_rows(source, n, labeled=labeled, exclude=drawn)
        seconds = time.perf_counter() - begin
        rows = [*(one.row for one in suggested), *drawn]
        why = [*(one.reason for one in suggested), *[AUDIT] * len(drawn)]
        answers = answer(source, table, rows, why)
        results.write_table(answers)
    facts = {
        "command": "suggest",
        "data": reports.data_facts(table),
        "columns": prepared.to_dict(),
        "scale": scale,
        "n_suggested": len(suggested),
        "reasons": dict(Counter(why)),
        "rows": [
            dict(zip(answers, one, strict=True)) for one in zip(*answers.values(), strict=True)
        ],
        **results.end_facts(fit=seconds),
    }
    results.report(console, facts, describe(facts, show_columns=reading.show_columns))


def fit_or_build(X: Any, table: Table, seed: int) -> tuple[Any, Any]:
    """Return a fitted classifier, or the graph if there are no two classes; and labeled rows."""
    import numpy as np

    from labelfold import FewLabelClassifier, PartialLabels

    model = FewLabelClassifier(random_state=seed)
    labels = PartialLabels.from_optional_y(table.labels, n_samples=table.n_rows)
    labeled = np.flatnonzero(labels.mask)
    if len(table.class_counts) < 2:
        return model.build_graph(X), labeled
    return model.fit(X, table.labels), labeled


def answer(source: Any, table: Table, rows: list[int], why: list[str]) -> dict[str, list[Any]]:
    """Return the columns of the result."""
    from labelfold.tables.answers import confidences

    ((title, names),) = reports.row_column(table).items()
    columns: dict[str, list[Any]] = {title: [names[row] for row in rows], "reason": why}
    if hasattr(source, "transduction_"):
        predicted = source.transduction_[rows]
        distributions = source.label_distributions_[rows]
        columns["label"] = predicted.tolist()
        columns["confidence"] = confidences(distributions, source.classes_, predicted).tolist()
    return columns


def describe(facts: dict[str, Any], *, show_columns: bool = False) -> str:
    """The facts as text for people."""
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in facts["reasons"].items())
    found = ["Every row has a label: there is nothing to suggest."]
    if facts["rows"]:
        found = [f"Suggested {counted(len(facts['rows']), 'row')} to label: {reasons}."]
    if len(facts["data"]["classes"]) < 2:
        found.append("They cover the data, as there are no labels of two classes yet.")
    return reports.paragraphs(
        reports.describe_input(facts, show_columns=show_columns),
        found,
        reports.describe_files(facts["files"]),
        reports.describe_end(facts),
    )
