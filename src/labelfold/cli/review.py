"""`labelfold review`: the given labels of a data file that look wrong."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelfold.cli import reports
from labelfold.cli.console import Console
from labelfold.cli.methods import labels_of_classes, prepare
from labelfold.cli.options import (
    Data,
    DataOptions,
    Force,
    Json,
    Labels,
    OutputOptions,
    Scale,
    Seed,
    command,
)
from labelfold.cli.output import Results
from labelfold.cli.reports import counted

if TYPE_CHECKING:
    from labelfold.evidence import Suspect
    from labelfold.tables import Table

MOST_SHOWN = 20


@command
def review(
    *,
    console: Console,
    data: Data,
    labels: Labels = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Also write them to a file: .csv, .tsv, .parquet or .npz; - writes CSV to "
            "standard output.",
        ),
    ] = None,
    least_score: Annotated[
        float,
        typer.Option(
            "--least-score",
            metavar="P",
            min=0,
            max=1,
            help="Least probability that a label is wrong; 0 lists all labels.",
        ),
    ] = 0.5,
    scale: Scale = "auto",
    seed: Seed = 0,
    as_json: Json = False,
    force: Force = False,
    reading: DataOptions,
) -> None:
    """List the given labels that look wrong, the most suspect first.

    Every label is predicted from the other labels. The score is the probability that it is wrong;
    the reason is one of: same row with two labels, only label of its class, outlier, on the border,
    neighbors disagree. The labeled rows that are nearest in the graph speak for the given and for
    the suggested label. Nothing is changed.

    For example:

      labelfold review flowers.csv --labels kind

      labelfold review flowers.csv --labels kind --least-score 0.2 -o suspects.csv
    """
    wanted = OutputOptions(as_json=as_json, force=force)
    with Results(out, reading.files(*data), wanted) as results:
        table = reading.read_labeled(console, data, labels)
        y = labels_of_classes(table, "a review")
        with console.step("loading methods"):
            from labelfold import FewLabelClassifier
            from labelfold.evidence import suspect_labels

        begin = time.perf_counter()
        X, _, prepared = prepare(table, scale)
        with console.step("graph and labels"):
            suspects = suspect_labels(
                FewLabelClassifier(random_state=seed).fit(X, y), least_score=least_score
            )
        seconds = time.perf_counter() - begin
        rows = [named(one, table) for one in suspects]
        titles = named(None, table)
        results.write_table({key: [_cell(row[key]) for row in rows] for key in titles})
    facts = {
        "command": "review",
        "data": reports.data_facts(table),
        "columns": prepared.to_dict(),
        "scale": scale,
        "least_score": least_score,
        "suspects": rows,
        **results.end_facts(fit=seconds),
    }
    results.report(console, facts, describe(facts, show_columns=reading.show_columns))


def named(suspect: Suspect | None, table: Table) -> dict[str, Any]:
    """Return a suspect with the names of its rows; the keys alone for None."""
    ((title, names),) = reports.row_column(table).items()
    keys = (title, "given", "suggested", "score", "reason", "for", "against")
    if suspect is None:
        return dict.fromkeys(keys)
    speaks = ([names[row] for row in rows] for rows in (suspect.rows_for, suspect.rows_against))
    given, suggested = (
        getattr(one, "item", lambda one=one: one)() for one in (suspect.given, suspect.suggested)
    )
    values = (names[suspect.row], given, suggested, suspect.score, suspect.reason, *speaks)
    return dict(zip(keys, values, strict=True))


def _cell(value: Any) -> Any:
    """Return a list of rows as text."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def describe(facts: dict[str, Any], *, show_columns: bool = False) -> str:
    """The facts as text for people."""
    rows = facts["suspects"]
    n_labeled = facts["data"]["n_labeled"]
    found = [
        f"{counted(len(rows), 'label')} of {n_labeled:,} with a probability of "
        f"{facts['least_score']:g} or more to be wrong."
    ]
    for row in rows[:MOST_SHOWN]:
        title, name = next(iter(row.items()))
        found.append(
            f"  {title} {name}: given {row['given']}, suggested {row['suggested']}, score "
            f"{row['score']:.2f}, {row['reason']}"
        )
    if len(rows) > MOST_SHOWN:
        found.append(f"{len(rows) - MOST_SHOWN:,} more: write all with -o FILE.")
    return reports.paragraphs(
        reports.describe_input(facts, show_columns=show_columns),
        found,
        reports.describe_files(facts["files"]),
        reports.describe_end(facts),
    )
