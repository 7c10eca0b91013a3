"""`python -m reproductions`: recompute the papers' tables and figures beside what they printed.

Results go to stdout; progress, warnings and errors to stderr. The exit code is 0 on success, 2 for
bad usage or input, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import reproductions
from labelfold.exceptions import InputError
from reproductions.entry import Entry, Paper
from reproductions.report import paper_folder, write_entry, write_report
from reproductions.runner import EntryRun, run_entries
from reproductions.tables import explain_intervals, result_table, text_table

PROGRAM = "python -m reproductions"
DATA_VARIABLE = "LABELFOLD_DATA"
BAD_INPUT, INTERRUPTED = 2, 130
EPILOG = """
Every finished task is saved at once in the output folder: the same command resumes an interrupted
run, and only rewrites the reports of a finished one. Results of other versions are set aside, and
quick runs have their own folder. With several processes, tasks of different tables and figures run
side by side. The report is report.md in the output folder. Without PAPER the command lists papers
and entries.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = parse(arguments)
    try:
        with warnings.catch_warnings():
            # Not by a filter, which would also keep warnings out of the tasks' records.
            warnings.showwarning = partial(_show_warning, quiet=options.quiet)
            reproduce(options)
    except KeyboardInterrupt as interrupt:
        _say(" ".join(["interrupted.", *getattr(interrupt, "__notes__", [])]))
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the results has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        _say(" ".join([str(error), *getattr(error, "__notes__", [])]))
        return BAD_INPUT
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Recompute a paper's tables and figures, beside what the paper printed.",
        epilog=EPILOG,
    )
    option = parser.add_argument
    data = os.environ.get(DATA_VARIABLE) or None
    out = Path("labelfold-reproduce")
    option("paper", metavar="PAPER", nargs="?", help="a paper, or 'all'; without it, list them")
    option("entry", metavar="ENTRY", nargs="?", help="a table or figure (default: all)")
    text = f"folder of data files, for entries that need them (or the variable {DATA_VARIABLE})"
    option("--data", metavar="DIR", type=Path, default=data, help=text)
    text = "folder for reports, pictures and results (default: %(default)s)"
    option("--out", metavar="DIR", type=Path, default=out, help=text)
    option("--quick", action="store_true", help="run a small part, to see that it works")
    option("--fresh", action="store_true", help="start over instead of resuming an earlier run")
    text = "number of processes; -1 for all cores (default: %(default)s)"
    option("--jobs", metavar="N", type=int, default=1, help=text)
    option = parser.add_mutually_exclusive_group().add_argument
    option("-q", "--quiet", action="store_true", help="print nothing on stderr except errors")
    option("-v", "--verbose", action="store_true", help="show progress even without a terminal")
    return parser.parse_args(arguments)


def reproduce(options: argparse.Namespace) -> None:
    """List the papers, or run their entries and print the results."""
    papers = [reproductions.load_paper(name) for name in reproductions.PAPERS]
    if options.paper is None:
        print("\n\n".join(map(describe_paper, papers)))
        return
    chosen = papers if options.paper == "all" else [reproductions.load_paper(options.paper)]
    work = [
        (paper, entry)
        for paper in chosen
        for entry in (paper.entries if options.entry is None else [paper.entry(options.entry)])
    ]
    check_data(work, options.data)
    how = {"data_home": options.data, "quick": options.quick, "fresh": options.fresh}
    runs = [
        EntryRun(paper, entry, options.out / paper_folder(paper, quick=options.quick), **how)
        for paper, entry in work
    ]
    verbose = not options.quiet and (options.verbose or sys.stderr.isatty())
    for run in run_entries(runs, n_jobs=options.jobs, verbose=verbose):
        print(describe_run(run))
        names = ", ".join(path.name for path in [*write_entry(run), run.record.path])
        print(f"\nFiles in {run.folder}: {names}\n", flush=True)
        # After every entry, so an interrupted run has a report too.
        report = write_report(papers, options.out, quick=options.quick)
    print(f"Report: {report}")


def check_data(work: list[tuple[Paper, Entry]], data: Path | None) -> None:
    """Raise an error before any work if data files are needed and their folder is missing."""
    needing = [f"{paper.name} {entry.name}" for paper, entry in work if entry.needs_data]
    if needing and data is None:
        raise InputError(
            f"{', '.join(needing)}: data files are needed. Pass their folder with --data or the "
            f"environment variable {DATA_VARIABLE}."
        )
    if needing and data is not None and not data.is_dir():
        raise NotADirectoryError(f"{data} is not a folder: --data must name one.")


def describe_paper(paper: Paper) -> str:
    """Return the paper and its entries as text."""
    rows = [
        [f"  {entry.name}", entry.title + " (reads data files)" * entry.needs_data]
        for entry in paper.entries
    ]
    return f"{paper.name}: {paper.citation}\n{text_table(rows)}"


def describe_run(run: EntryRun) -> str:
    """Return the figures and verdicts of a run as text."""
    reused = f", {run.n_reused:,} of them by an earlier run" if run.n_reused else ""
    lines = [
        f"{run.paper.name} {run.entry.name}: {run.entry.title}",
        f"{len(run.tasks):,} tasks{reused}; {run.seconds:,.1f} s of work"
        + "; a quick run, whose figures mean little" * run.quick,
        "",
        text_table(result_table(run.summary)),
        *(["", text] if (text := explain_intervals(run.summary)) else []),
    ]
    for verdict in run.verdicts:
        lines += ["", f"{verdict.verdict}: {verdict.statement}", f"  {verdict.found}"]
    return "\n".join(lines)


def _say(text: str) -> None:
    print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def _show_warning(message: Warning | str, *where: Any, quiet: bool, **more: Any) -> None:
    if not quiet:
        _say(f"warning: {' '.join(str(message).split())}")


if __name__ == "__main__":
    sys.exit(main())
