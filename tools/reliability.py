"""Write docs/reliability.md from the raw results of campaigns in benchmarks/results.

``python tools/reliability.py`` writes the page, ``--check`` fails if it is out of date. A section
is a function that returns Markdown; add it to SECTIONS.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "reliability.md"
INTRODUCTION = """\
# Reliability

What was tried to make labelfold fail, and what came of it. `python tools/reliability.py` builds
this page from the raw results in `benchmarks/results`.
"""
BAD_INPUT = """\
## Bad input

`make fuzz` draws cases by number: 0 to 200 rows with duplicates, constant and collinear columns,
scales from 1e-300 to 1e300, NaN and infinities, in arrays, sparse matrices and frames of every
kind; labels of every kind; parameters from and beyond their ranges; tables, command lines and
changed model files. A case passes if its result is finite, or if an error says what was wrong.
Everything else is a fault: another exception, words of NumPy's or SciPy's own, a warning of NumPy's
about numbers, 60 s without an answer. Infinite or missing values that a docstring announces are
results: an infinite penalty, width or bound, and a dimension that too few rows leave open. A case
with a fault is made smaller and printed as a program. `make test` runs the first 2,000. Below, the
hundred cases around each fault were run again when it was mended; the others ran once.
"""


def bad_input() -> str:
    """Return the section on bad and extreme input."""
    result = json.loads((RESULTS / "fuzz.json").read_text(encoding="utf-8"))
    lines = [
        BAD_INPUT,
        "| run | cases | answered | refused with a reason | input that cannot be made | faults |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(name, one) for name, one in result["runs"].items()),
        "",
        "Found and mended, with tests in `tests/degenerate/test_found_by_fuzzing.py`:",
        "",
        *(f"- {one}" for one in result["mended"]),
    ]
    return "\n".join(lines)


def _row(name: str, one: dict[str, Any]) -> str:
    outcomes = one["outcomes"]
    counts = [outcomes.get(kind, 0) for kind in ("answered", "refused", "cannot be made")]
    versions = ", ".join(f"{library} {number}" for library, number in one["versions"].items())
    cells = [f"{count:,}" for count in (one["cases"], *counts, sum(one["faults"].values()))]
    return f"| {name}, {one['date']}, {versions} | {' | '.join(cells)} |"


SECTIONS = (bad_input,)


def make_page() -> str:
    """Return the page."""
    return "\n".join([INTRODUCTION, *(section() + "\n" for section in SECTIONS)])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    page = make_page()
    if not parser.parse_args().check:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    is_current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page
    if not is_current:
        print("docs/reliability.md is out of date: run python tools/reliability.py")
    return int(not is_current)


if __name__ == "__main__":
    sys.exit(main())
