"""`labelfold suggest` and `labelfold review` on files of digits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import DIGITS, PIXELS, read_csv, refused, some_labels, write_csv
from command_line import run as run_command

from labelfold import FewLabelClassifier
from labelfold.evidence import draw_audit, suggest_rows, suspect_labels

N_ROWS = 300
X = PIXELS[:N_ROWS]
VARIES = np.ptp(X, axis=0) > 0
LABELS = some_labels(N_ROWS)
NAMED = [f"scan{number}" for number in range(N_ROWS)]


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("data") / "digits.csv", X, digit=LABELS)


def test_suggested_rows_are_those_of_the_library(digits, tmp_path):
    out = tmp_path / "next.csv"
    arguments = ("-n", 6, "--audit", 4, "--seed", 7, "-o", out)
    result = run_command("suggest", digits, "--labels", "digit", *arguments)
    assert result.exit_code == 0, result.output
    model = FewLabelClassifier(random_state=7).fit(X[:, VARIES], LABELS)
    drawn = draw_audit(model, 4, random_state=7)
    expected = suggest_rows(model, 6, exclude=drawn)
    rows = read_csv(out)
    numbers = [int(row["row"]) - 1 for row in rows]
    assert numbers == [*(one.row for one in expected), *drawn]
    assert [row["reason"] for row in rows] == [*(one.reason for one in expected), *["audit"] * 4]
    assert [int(row["label"]) for row in rows] == model.transduction_[numbers].tolist()
    confidence = model.label_distributions_[numbers].max(axis=1)
    np.testing.assert_allclose([float(row["confidence"]) for row in rows], confidence)
    assert "Suggested 10 rows to label" in result.stdout


@pytest.mark.parametrize("given", [[None] * N_ROWS, [None] * (N_ROWS - 1) + [3]])
def test_without_two_classes_rows_cover_the_data(tmp_path, given):
    path = write_csv(tmp_path / "digits.csv", X, name=NAMED, digit=given)
    arguments = ("--labels", "digit", "--id-column", "name", "-n", 5, "-o", "-")
    result = run_command("suggest", path, *arguments)
    assert result.exit_code == 0, result.output
    header, *lines = result.stdout.splitlines()
    graph = FewLabelClassifier().build_graph(X[:, VARIES])
    labeled = [row for row, label in enumerate(given) if label is not None]
    expected = suggest_rows(graph, 5, labeled=labeled)
    assert header == "id,reason"
    assert lines == [f"{NAMED[one.row]},{one.reason}" for one in expected]
    assert "They cover the data" in result.stderr


def test_suggestions_as_json(digits, tmp_path):
    result = run_command(
        "suggest", digits, "--labels", "digit", "-n", 3, "-o", tmp_path / "next.csv", "--json"
    )
    facts = json.loads(result.stdout)
    assert (facts["command"], facts["n_suggested"]) == ("suggest", 3)
    assert sum(facts["reasons"].values()) == 3
    rows = [str(one["row"]) for one in facts["rows"]]
    assert rows == [row["row"] for row in read_csv(tmp_path / "next.csv")]


def test_nothing_to_suggest(tmp_path):
    path = write_csv(tmp_path / "digits.csv", X, digit=DIGITS[:N_ROWS])
    result = run_command("suggest", path, "--labels", "digit", "-o", tmp_path / "next.csv")
    assert result.exit_code == 0, result.output
    assert "nothing to suggest" in result.stdout
    assert read_csv(tmp_path / "next.csv") == []


def test_a_wrong_label_is_listed(tmp_path):
    given = LABELS.copy()
    row = int(np.flatnonzero([label == 0 for label in LABELS])[0])
    given[row] = 7
    path = write_csv(tmp_path / "digits.csv", X, name=NAMED, digit=given)
    out = tmp_path / "suspects.csv"
    arguments = ("--labels", "digit", "--id-column", "name")
    result = run_command("review", path, *arguments, "-o", out, "--least-score", 0.3)
    assert result.exit_code == 0, result.output
    assert f"id {NAMED[row]}: given 7, suggested 0" in result.stdout
    model = FewLabelClassifier(random_state=0).fit(X[:, VARIES], given)
    expected = suspect_labels(model, least_score=0.3)
    rows = read_csv(out)
    assert [one["id"] for one in rows] == [NAMED[one.row] for one in expected]
    assert [one["reason"] for one in rows] == [one.reason for one in expected]
    assert rows[0]["against"].split() == [NAMED[row] for row in expected[0].rows_against]
    facts = json.loads(run_command("review", path, *arguments, "--json").stdout)
    assert facts["suspects"][0]["id"] == rows[0]["id"]
    assert facts["suspects"][0]["given"] == int(rows[0]["given"])


def test_a_review_needs_two_classes(digits, tmp_path):
    refused(run_command("review", digits), "--labels")
    path = write_csv(tmp_path / "one.csv", X, digit=[1, *[None] * (N_ROWS - 1)])
    refused(run_command("review", path, "--labels", "digit"), "one class only")
    refused(run_command("review", digits, "--labels", "digit", "--least-score", 2), "least-score")
