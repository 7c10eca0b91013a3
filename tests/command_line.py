"""What tests of the command line share: running commands, reading tables, digits as a file."""

from __future__ import annotations

import csv

import numpy as np
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from labelfold.cli.app import app
from labelfold.evaluate import draw_labeled

PIXELS, DIGITS = load_digits(return_X_y=True)
NAMES = [f"pixel{number}" for number in range(64)]
PNG = b"\x89PNG\r\n\x1a\n"


def run(*arguments, **options):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def refused(result, *words):
    """Check that a run failed with one line that has these words and printed nothing on stdout."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.count("\n") == 1, result.stderr
    for word in words:
        assert word in result.stderr


def some_labels(n_rows, n_labels=50):
    """Labels of the first digits, None if unlabeled."""
    labeled = draw_labeled(DIGITS[:n_rows], n_labels, random_state=0)
    return np.array([DIGITS[row] if row in labeled else None for row in range(n_rows)])


def write_csv(path, rows, *, names=NAMES, **more):
    """Write rows as text that reads back to the last bit, and more columns beside them."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*names, *more])
        for number, row in enumerate(np.asarray(rows).tolist()):
            writer.writerow([*row, *(column[number] for column in more.values())])
    return path


def read_csv(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def numbers_of(rows, start):
    """The columns whose names start with this, as a matrix."""
    titles = [title for title in rows[0] if title.startswith(start)]
    return np.array([[float(row[title]) for title in titles] for row in rows])
