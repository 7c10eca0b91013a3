"""`labelfold reproduce`: the papers' tables and figures, made again beside what was printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelfold.cli.console import Console
from labelfold.cli.options import Quiet, Verbose
from labelfold.exceptions import InputError

if TYPE_CHECKING:
    from labelfold.reproduce import Entry, Paper
    from labelfold.reproduce.runner import EntryRun
    from labelfold.reproduce.summary import Summary

ALL = "all"
DATA_VARIABLE = "LABELFOLD_DATA"


def reproduce(
    context: typer.Context,
    paper: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help=f"Which paper, or '{ALL}'; none lists them."),
    ] = None,
    entry: Annotated[
        str | None,
        typer.Argument(metavar="ENTRY", help="Which table or figure; by default all."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help=f"Folder of data files, for entries that read some.  [env: {DATA_VARIABLE}]",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder for reports, pictures and results."),
    ] = Path("labelfold-reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of the work, to see that it runs.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew rather than go on with an earlier run.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", help="Number of processes; -1 for all cores.")
    ] = 1,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a paper's tables and figures again, beside what the paper printed.

    Every finished piece of work is kept at once in the output folder: a run that was interrupted
    goes on where it stopped when the same command is given again, and a finished one only writes
    its reports anew. Results of another version are set aside and not mixed, and quick runs have a
    folder of their own.

    With several processes, pieces of different tables and figures run side by side. Of 'all' papers
    one report is written, report.html and report.md in the output folder.

    Without PAPER it lists the papers and their entries.
    """
    console: Console = context.obj
    console.set_verbosity(quiet=quiet, verbose=verbose)
    from labelfold.reproduce import load_paper, paper_names
    from labelfold.reproduce.full_report import write_full_report

    if data is None and os.environ.get(DATA_VARIABLE):
        data = Path(os.environ[DATA_VARIABLE])
    if paper is None:
        console.result("\n\n".join(describe_paper(load_paper(name)) for name in paper_names()))
        return
    papers = [load_paper(name) for name in (paper_names() if paper == ALL else [paper])]
    work = [(item, one) for item in papers for one in choose_entries(item, entry)]
    check_data(work, data)
    files: list[Path] = []
    for run in run_with_progress(
        console, work, out, data=data, quick=quick, fresh=fresh, jobs=jobs
    ):
        write_and_tell(console, run)
        if paper == ALL:
            # Anew after every entry, so that an interrupted run has a report too.
            files = write_full_report(papers, out, quick=quick)
    if files:
        console.result(f"Report of all papers: {', '.join(str(path) for path in files)}")


def run_with_progress(
    console: Console,
    work: list[tuple[Paper, Entry]],
    out: Path,
    *,
    data: Path | None,
    quick: bool,
    fresh: bool,
    jobs: int,
) -> Iterator[EntryRun]:
    """Run entries side by side, and yield each when it is finished."""
    from labelfold.progress import show_progress
    from labelfold.reproduce.full_report import paper_folder
    from labelfold.reproduce.runner import run_entries

    placed = [(paper, entry, out / paper_folder(paper, quick=quick)) for paper, entry in work]
    shows_progress = not console.is_quiet and (console.is_verbose or sys.stderr.isatty())
    with show_progress(int(shows_progress)) as progress:
        yield from run_entries(
            placed, data_home=data, quick=quick, fresh=fresh, n_jobs=jobs, progress=progress
        )


def write_and_tell(console: Console, run: EntryRun) -> None:
    """Write the files of a finished entry, and print its figures."""
    from labelfold.reproduce.report import write_entry, write_report

    summary = run.summary()
    verdicts = run.entry.judge(summary)
    folder = run.record.parent
    files = [*write_entry(run, summary, verdicts), write_report(run.paper, folder), run.record]
    console.result(describe_run(run, summary))
    for verdict in verdicts:
        console.result(f"\n{verdict.verdict}: {verdict.statement}\n  {verdict.found}")
    console.result(f"\nFiles in {folder}: {', '.join(path.name for path in files)}\n")


def choose_entries(paper: Paper, name: str | None) -> list[Entry]:
    """Return the entry of that name, or all of them."""
    return list(paper.entries) if name is None else [paper.entry(name)]


def check_data(work: list[tuple[Paper, Entry]], data: Path | None) -> None:
    """Refuse to begin where data files are needed and their folder is not there."""
    needing = [f"{paper.name} {entry.name}" for paper, entry in work if entry.needs_data]
    if not needing:
        return
    if data is None:
        raise InputError(
            f"{', '.join(needing)}: data files are needed. Name their folder with --data or the "
            f"environment variable {DATA_VARIABLE}."
        )
    if not data.is_dir():
        raise NotADirectoryError(f"{data} is not a folder: --data names the one of the data files.")


def describe_paper(paper: Paper) -> str:
    """The paper and its entries as text."""
    from labelfold.reproduce.tables import text_table

    rows = [
        [f"  {entry.name}", entry.title + " (reads data files)" * entry.needs_data]
        for entry in paper.entries
    ]
    return f"{paper.name}: {paper.citation}\n{text_table(rows)}"


def describe_run(run: EntryRun, summary: Summary) -> str:
    """The figures of a run as text."""
    from labelfold.reproduce.tables import explain_intervals, result_table, text_table

    seconds = sum(result.seconds for result in run.results)
    reused = f", {run.n_reused:,} of them by an earlier run" if run.n_reused else ""
    lines = [
        f"{run.paper.name} {run.entry.name}: {run.entry.title}",
        f"{len(run.results):,} tasks{reused}; {seconds:,.1f} s of work"
        + ("; a quick run, whose figures say little" if run.origin.quick else ""),
        "",
        text_table(result_table(summary)),
        "",
        explain_intervals(summary),
    ]
    return "\n".join(lines).rstrip()
