"""Run the commands that stand in the pages of docs/cli, and write their output there.

``python tools/command_pages.py`` brings all pages up to date, ``--check`` fails where a page shows
other output than its commands print now; names of pages choose some of them. CONTRIBUTING.md
tells how a block of commands looks in a page.
"""

import argparse
import csv
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs" / "cli"
BLOCK = re.compile(r"(<!-- run -->\n```console\n)(.*?)(```\n<!-- end -->)", re.DOTALL)
PROMPT, CONTINUED = "$ ", "> "
N_FITTED, N_LABELED = 1500, 50

# What differs between two runs of the same command, or between machines.
VARYING = [
    (re.compile(r"\b(labelfold|numpy|scipy|scikit-learn) \d[\w.+]*"), r"\1 <version>"),
    (re.compile(r'("(?:labelfold|numpy|scipy|scikit-learn)": )"[^"]*"'), r"\1<version>"),
    (re.compile(r"[\d.,]+ (s|ms|min|h|minutes?|seconds?|[kMG]i?B)\b"), r"<amount> \1"),
    (re.compile(r'("(?:fit|total|new_rows|seconds)": )[\d.]+'), r"\1<amount>"),
    (re.compile(r"[\d.]+e[-+]\d+"), "<residual>"),
    (re.compile(r"\d+ products"), "<number> products"),
    (re.compile(r"\s+"), " "),  # amounts of another length wrap a line elsewhere
]
DECIMAL = re.compile(r"-?\d+\.\d+")


def make_digits(folder: Path) -> None:
    """Write scikit-learn's digits: digits.csv with 50 labels, new.csv without any."""
    from sklearn.datasets import load_digits

    from labelfold.evaluate import draw_labeled

    X, y = load_digits(return_X_y=True)
    labeled = set(draw_labeled(y[:N_FITTED], N_LABELED, random_state=0).tolist())
    names = [f"pixel{number}" for number in range(X.shape[1])]
    labels = [str(digit) if row in labeled else "" for row, digit in enumerate(y)]
    with (folder / "digits.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*names, "digit"])
        for row in range(N_FITTED):
            writer.writerow([*X[row].astype(int), labels[row]])
    with (folder / "new.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(X[N_FITTED:].astype(int))


# Where distances are equal, scikit-learn's neighbours depend on the number of threads.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def commands_of(block: str) -> list[str]:
    """Return the commands of a block, each with its continued lines."""
    commands: list[str] = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            commands.append(line)
        elif line.startswith(CONTINUED) and commands and commands[-1].endswith("\\"):
            commands[-1] += "\n" + line
    return commands


def run(command: str, folder: Path) -> str:
    """Return what a command prints on both streams, as in a terminal that is 100 wide."""
    text = command.removeprefix(PROMPT).replace("\n" + CONTINUED, "\n")
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        text,
        shell=True,
        cwd=folder,
        env={**os.environ, **ONE_THREAD, "PATH": programs, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if result.returncode not in (0, 2):
        raise SystemExit(f"{text}\nended with exit code {result.returncode}:\n{result.stdout}")
    return "".join(line.rstrip() + "\n" for line in result.stdout.splitlines())


def renew(page: str) -> str:
    """Return a page with the output that its commands print now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_digits(folder)

        def renew_block(match: re.Match[str]) -> str:
            shown = [f"{one}\n{run(one, folder)}" for one in commands_of(match[2])]
            return match[1] + "".join(shown) + match[3]

        return BLOCK.sub(renew_block, page)


def is_same(old: str, new: str) -> bool:
    """Return whether two pages differ only in what varies, and decimals by 1 % at the most."""
    for pattern, mask in VARYING:
        old, new = pattern.sub(mask, old), pattern.sub(mask, new)
    if DECIMAL.sub("<decimal>", old) != DECIMAL.sub("<decimal>", new):
        return False
    pairs = zip(DECIMAL.findall(old), DECIMAL.findall(new), strict=True)
    return all(abs(float(a) - float(b)) <= 0.01 * abs(float(a)) + 1e-6 for a, b in pairs)


def main(names: list[str], *, check: bool) -> int:
    """Renew or check pages; return the exit code."""
    paths = [PAGES / f"{Path(name).stem}.md" for name in names] or sorted(PAGES.glob("*.md"))
    stale = 0
    for path in paths:
        old = path.read_text(encoding="utf-8")
        new = renew(old)
        if is_same(old, new):
            continue
        if check:
            stale += 1
            lines = (old.splitlines(), new.splitlines())
            print("\n".join(difflib.unified_diff(*lines, f"{path}", "now", lineterm="")))
        else:
            path.write_text(new, encoding="utf-8")
            print(f"{path.name} was brought up to date.")
    if stale:
        print(f"{stale} pages are out of date: run python tools/command_pages.py")
    return min(stale, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run the commands of docs/cli.")
    parser.add_argument("pages", nargs="*", help="names such as embed; by default all")
    parser.add_argument("--check", action="store_true", help="fail on differences, write nothing")
    options = parser.parse_args()
    sys.exit(main(options.pages, check=options.check))
