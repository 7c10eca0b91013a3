"""`python -m reproductions`: the papers' tables and figures, computed again beside what they print.

Results go to stdout; progress, warnings and errors to stderr. The exit code is 0 when all went
well, 2 for bad usage or input, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import reproductions
from labelfold.exceptions import InputError
from reproductions.entry import Entry, Paper
from reproductions.full_report import paper_folder, write_full_report
from reproductions.report import write_entry, write_report
from reproductions.runner import EntryRun, run_entries
from reproductions.summary import Summary
from reproductions.tables import explain_intervals, result_table, text_table

PROGRAM = "python -m reproductions"
ALL = "all"
DATA_VARIABLE = "LABELFOLD_DATA"
BAD_INPUT, INTERRUPTED = 2, 130

DESCRIPTION = "Compute a paper's tables and figures again, beside what the paper printed."
EPILOG = """
Every finished piece of work is kept at once in the output folder: a run that was interrupted
continues where it stopped when the same command is given again, and a finished one only rewrites
its reports. Results of another version are set aside and not mixed, and quick runs have a folder of
their own. With several processes, pieces of different tables and figures run side by side. For
'all' papers there is one more report, report.md in the output folder. Without PAPER it lists the
papers and their entries.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = make_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _hide_warning if options.quiet else _show_warning
            reproduce(options)
    except KeyboardInterrupt as interrupt:
        _say(" ".join(["interrupted.", *getattr(interrupt, "__notes__", [])]))
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the results has enough of them
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        _say(" ".join([str(error), *getattr(error, "__notes__", [])]))
        return BAD_INPUT
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument(
        "paper", metavar="PAPER", nargs="?", help=f"which paper, or '{ALL}'; none lists them"
    )
    parser.add_argument(
        "entry", metavar="ENTRY", nargs="?", help="which table or figure; by default all"
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        default=os.environ.get(DATA_VARIABLE) or None,
        help=f"folder of data files, for entries that read some (or the variable {DATA_VARIABLE})",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("labelfold-reproduce"),
        help="folder for reports, pictures and results (default: %(default)s)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small part of the work, to see that it runs"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="start again rather than continue an earlier run"
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        default=1,
        help="number of processes; -1 for all cores (default: %(default)s)",
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument(
        "-q", "--quiet", action="store_true", help="say nothing on stderr except errors"
    )
    loudness.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show progress even when stderr is no terminal",
    )
    return parser


def reproduce(options: argparse.Namespace) -> None:
    """List the papers, or run their entries and print the results."""
    names = reproductions.paper_names()
    if options.paper is None:
        print("\n\n".join(describe_paper(reproductions.load_paper(name)) for name in names))
        return
    papers = [
        reproductions.load_paper(name)
        for name in (names if options.paper == ALL else [options.paper])
    ]
    work = [(paper, one) for paper in papers for one in choose_entries(paper, options.entry)]
    check_data(work, options.data)
    report = None
    for run in run_entries(
        [
            (paper, entry, options.out / paper_folder(paper, quick=options.quick))
            for paper, entry in work
        ],
        data_home=options.data,
        quick=options.quick,
        fresh=options.fresh,
        n_jobs=options.jobs,
        verbose=not options.quiet and (options.verbose or sys.stderr.isatty()),
    ):
        write_and_print(run)
        if options.paper == ALL:
            # Again after every entry, so that an interrupted run has a report too.
            report = write_full_report(papers, options.out, quick=options.quick)
    if report is not None:
        print(f"Report of all papers: {report}")


def write_and_print(run: EntryRun) -> None:
    """Write the files of a finished entry, and print its figures."""
    summary = run.summary()
    verdicts = run.entry.judge(summary)
    folder = run.record.parent
    files = [*write_entry(run, summary, verdicts), write_report(run.paper, folder), run.record]
    print(describe_run(run, summary))
    for verdict in verdicts:
        print(f"\n{verdict.verdict}: {verdict.statement}\n  {verdict.found}")
    print(f"\nFiles in {folder}: {', '.join(path.name for path in files)}\n", flush=True)


def choose_entries(paper: Paper, name: str | None) -> list[Entry]:
    """Return the entry of that name, or all of them."""
    return list(paper.entries) if name is None else [paper.entry(name)]


def check_data(work: list[tuple[Paper, Entry]], data: Path | None) -> None:
    """Raise an error before any work if data files are needed and their folder is missing."""
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
    """Return the paper and its entries as text."""
    rows = [
        [f"  {entry.name}", entry.title + " (reads data files)" * entry.needs_data]
        for entry in paper.entries
    ]
    return f"{paper.name}: {paper.citation}\n{text_table(rows)}"


def describe_run(run: EntryRun, summary: Summary) -> str:
    """Return the figures of a run as text."""
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


def _say(text: str) -> None:
    print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    _say(f"warning: {' '.join(str(message).split())}")


def _hide_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Say nothing."""


if __name__ == "__main__":
    sys.exit(main())
