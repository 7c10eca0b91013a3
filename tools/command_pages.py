"""Run the commands in the pages of docs/cli, and write their output there.

``python tools/command_pages.py`` updates all pages, or those named; ``--check`` fails if a page
does not show what its commands print now. labelfold runs in this process, other programs in a
shell. CONTRIBUTING.md shows how a block of commands looks in a page.
"""

import argparse
import contextlib
import csv
import difflib
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs" / "cli"
BLOCK = re.compile(r"(<!-- run -->\n```console\n)(.*?)(```\n<!-- end -->)", re.DOTALL)
PROMPT, CONTINUED = "$ ", "> "
N_FITTED, N_LABELED = 1500, 50

# Differs between two runs of the same command, or between machines.
VOLATILE = [
    (r'\b((?:labelfold|numpy|scipy|scikit-learn)(?:": ")? ?)\d[\w.+]*', r"\1<version>"),
    (r"[\d.,]+ (s|[kMG]i?B)\b", r"<time or memory> \1"),
    (r'("(?:fit|total|new_rows|seconds)": )[\d.]+', r"\1<seconds>"),
    (r"[\d.]+e[-+]\d+", "<residual>"),
    (r"(residuals\s+)\d+%", r"\1<share>"),
    (r"\d+(\s+products)", r"<number>\1"),
    (r"\s+", " "),  # values of another length wrap a line elsewhere
]
DECIMAL = re.compile(r"-?\d+\.\d+")
NUMBER = re.compile(r"-?\d[\d,.]*")
RELEASE = re.compile(r"\b(numpy|scipy|scikit-learn) (\d+\.\d+)")


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


def commands_of(block: str) -> list[str]:
    """Return the commands of a block, each with its continued lines."""
    commands: list[str] = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            commands.append(line)
        elif line.startswith(CONTINUED) and commands and commands[-1].endswith("\\"):
            commands[-1] += "\n" + line
    return commands


def run(command: str) -> str:
    """Return what a command prints on both streams, as in a terminal of 80 columns."""
    text = command.removeprefix(PROMPT).replace("\n" + CONTINUED, "\n")
    shown, content = "", b""
    for stage in re.split(r"\s\|\s", text):
        is_ours = stage.lstrip().startswith("labelfold ")
        content, remarks = (run_labelfold if is_ours else run_shell)(stage, content)
        shown += remarks
    shown += content.decode()
    return "".join(line.rstrip() + "\n" for line in shown.splitlines())


def run_labelfold(stage: str, content: bytes) -> tuple[bytes, str]:
    """Run a command of labelfold in this process; return what it writes on stdout and stderr."""
    from typer.testing import CliRunner

    from labelfold.cli.app import app

    call, _, file = stage.replace("\\\n", " ").partition(" > ")
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        runner = CliRunner(env={"COLUMNS": "80"})
        result = runner.invoke(app, shlex.split(call)[1:], content, terminal_width=78)
    if result.exit_code not in (0, 2):
        raise SystemExit(f"{stage}\nended with exit code {result.exit_code}:\n{result.output}")
    if file:
        Path(file.strip()).write_bytes(result.stdout_bytes)
        return b"", result.stderr
    return result.stdout_bytes, result.stderr


def run_shell(stage: str, content: bytes) -> tuple[bytes, str]:
    """Run other programs; return what they write on stdout and stderr."""
    result = subprocess.run(stage, shell=True, input=content, capture_output=True, check=True)
    return result.stdout, result.stderr.decode()


def renew(page: str) -> str:
    """Return a page with the output that its commands print now."""
    import matplotlib.font_manager  # noqa: F401, prints when it is first loaded
    import sklearn.neighbors  # noqa: F401, whose threads are limited here
    from threadpoolctl import threadpool_limits

    def renew_block(match: re.Match[str]) -> str:
        shown = [f"{one}\n{run(one)}" for one in commands_of(match[2])]
        return match[1] + "".join(shown) + match[3]

    # If distances are equal, scikit-learn's neighbors depend on the number of threads.
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        threadpool_limits(1),
    ):
        make_digits(Path(folder))
        return BLOCK.sub(renew_block, page)


def is_same(old: str, new: str) -> bool:
    """Return whether two pages differ only in volatile values, and in decimals by at most 1 %.

    Other releases of the libraries may give other digits; then numbers are not compared.
    """
    by_same_releases = set(RELEASE.findall(old)) == set(RELEASE.findall(new))
    for pattern, mask in VOLATILE:
        old, new = re.sub(pattern, mask, old), re.sub(pattern, mask, new)
    if not by_same_releases:
        return NUMBER.sub("<number>", old) == NUMBER.sub("<number>", new)
    if DECIMAL.sub("<decimal>", old) != DECIMAL.sub("<decimal>", new):
        return False
    pairs = zip(DECIMAL.findall(old), DECIMAL.findall(new), strict=True)
    return all(abs(float(a) - float(b)) <= 0.01 * abs(float(a)) + 1e-6 for a, b in pairs)


def difference(old: str, new: str, name: str) -> str:
    """Return the lines that differ."""
    lines = (old.splitlines(), new.splitlines())
    return "\n".join(difflib.unified_diff(*lines, name, "now", lineterm=""))


def main(names: list[str], *, check: bool) -> int:
    """Update or check pages; return the exit code."""
    paths = [PAGES / f"{Path(name).stem}.md" for name in names] or sorted(PAGES.glob("*.md"))
    stale = 0
    for path in paths:
        old = path.read_text(encoding="utf-8")
        new = renew(old)
        if is_same(old, new):
            continue
        if check:
            stale += 1
            print(difference(old, new, str(path)))
        else:
            path.write_text(new, encoding="utf-8")
            print(f"{path.name} updated.")
    if stale:
        print(f"{stale} pages are out of date: run python tools/command_pages.py")
    return min(stale, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run the commands of docs/cli.")
    parser.add_argument("pages", nargs="*", help="names such as embed; by default all")
    parser.add_argument("--check", action="store_true", help="fail on differences, write nothing")
    options = parser.parse_args()
    sys.exit(main(options.pages, check=options.check))
