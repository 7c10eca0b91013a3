"""`labelfold compare` against the library, its files, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import DIGITS, PIXELS, PNG, read_csv, refused, write_csv
from command_line import run as run_command
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from labelfold import CCDR, hide_labels
from labelfold.evaluate import compare
from labelfold.methods import known_methods

X, Y = PIXELS[:250], hide_labels(DIGITS[:250], keep=range(50))


def run(*arguments, **options):
    return run_command("compare", *arguments, **options)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Digits of which fifty are labeled, as a CSV file."""
    path = tmp_path_factory.mktemp("digits") / "digits.csv"
    return write_csv(path, X, digit=["" if label == -1 else label for label in Y])


@pytest.fixture(scope="module")
def expected():
    """The same comparison made with the library."""
    methods = {"pca": PCA(2, random_state=3), "ccdr": CCDR(n_neighbors=7, random_state=3)}
    return compare(X, Y, methods, dims=(2, 4), cv=3, random_state=3)


OPTIONS = ("--labels", "digit", "--methods", "pca,ccdr", "--dims", "2,4", "--folds", 3)
OPTIONS += ("--seed", 3, "--neighbors", 7)


def test_figures_are_those_of_the_library(digits, expected):
    result = run(digits, *OPTIONS, "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["chance"] == pytest.approx(expected.chance)
    for found, wanted in zip(facts["summary"], expected.summary(), strict=True):
        assert (found["method"], found["dimension"]) == (wanted.method, wanted.dimension)
        assert found["error"] == pytest.approx(wanted.error)
        assert found["low"] == pytest.approx(wanted.low)
        assert found["high"] == pytest.approx(wanted.high)
    assert len(facts["fits"]) == 2 * 2 * 3
    assert facts["data"]["n_labeled"] == 50


def test_printed_table_and_written_table(digits, expected, tmp_path):
    path = tmp_path / "new" / "table.csv"
    result = run(digits, *OPTIONS, "-o", path)
    assert result.exit_code == 0, result.stderr
    assert f"Table: {path}" in result.stdout
    rows, wanted = read_csv(path), expected.summary()
    assert [(row["method"], int(row["dimension"])) for row in rows] == [
        (row.method, row.dimension) for row in wanted
    ]
    np.testing.assert_allclose([float(row["error"]) for row in rows], [r.error for r in wanted])
    for row in wanted:
        assert f"{row.error:.1%}" in result.stdout


@pytest.mark.parametrize(("ending", "start"), [("png", PNG), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_picture(digits, tmp_path, ending, start):
    path = tmp_path / f"errors.{ending}"
    arguments = ("--labels", "digit", "--methods", "pca", "--folds", 2, "--plot", path)
    assert run(digits, *arguments).exit_code == 0
    assert path.read_bytes().startswith(start)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_method_that_fails_is_listed_with_the_reason(digits):
    result = run(digits, "--labels", "digit", "--methods", "lda,pca", "--dims", "2,12")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert any(line.split()[:2] == ["lda", "12"] and "failed: " in line for line in lines)
    assert any(line.split()[:2] == ["pca", "12"] and "%" in line for line in lines)


def test_linear_head_and_scale(digits):
    wanted = compare(
        StandardScaler().fit_transform(X),
        Y,
        {"pca": PCA(2, random_state=0)},
        head="linear",
        random_state=0,
    ).summary()[0]
    arguments = ("--methods", "pca", "--head", "linear", "--scale", "standard", "--json")
    facts = json.loads(run(digits, "--labels", "digit", *arguments).stdout)
    assert facts["head"] == "linear"
    assert facts["summary"][0]["error"] == pytest.approx(wanted.error)


def test_quick_methods_are_compared_by_default_and_all_can_be(digits, monkeypatch):
    seen = {}

    def look(X, y, methods, **options):
        seen.update(methods)
        raise OSError("enough.")

    monkeypatch.setattr("labelfold.evaluate.compare", look)
    refused(run(digits, "--labels", "digit"), "enough")
    known = {
        name: one
        for name, one in known_methods().items()
        if "n_components" in one.parameters or one.declaration.produces == "classification"
    }
    assert "auto" in known
    assert list(seen) == [name for name, one in known.items() if one.declaration.quick]
    assert seen["isomap"].n_neighbors == seen["ccdr"].n_neighbors == 12
    refused(run(digits, "--labels", "digit", "--methods", ",".join(known), "--neighbors", 7))
    assert set(seen) == set(known)
    assert seen["isomap"].n_neighbors == seen["ccdr"].n_neighbors == seen["mvu"].n_neighbors == 7
    assert {seen[name].random_state for name in ("ccdr", "tsne")} == {0}


def test_many_warnings_are_one_line_of_each_kind(digits):
    result = run(digits, "--labels", "digit", "--methods", "mfa", "--folds", 3)
    assert result.exit_code == 0
    assert result.stderr.count("n_neighbors_within") == 1
    assert "more like this" in result.stderr
    quiet = run(digits, "--labels", "digit", "--methods", "mfa", "--folds", 3, "-q")
    assert quiet.stderr == ""


def test_standard_input_and_labels_in_a_file_of_their_own(digits, tmp_path):
    lines = digits.read_text().splitlines()
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(line.rpartition(",")[2] or "NA" for line in lines[1:]) + "\n")
    data = "\n".join(line.rpartition(",")[0] for line in lines)
    options = ("--methods", "pca", "--json")
    apart = run("-", "--labels-file", labels, *options, input=data)
    assert apart.exit_code == 0, apart.stderr
    together = json.loads(run(digits, "--labels", "digit", *options).stdout)
    found = json.loads(apart.stdout)["summary"][0]
    assert found["error"] == together["summary"][0]["error"]


# What is refused, before any work


@pytest.fixture
def no_work(monkeypatch):
    def refuse(*arguments, **options):
        pytest.fail("the work began")

    monkeypatch.setattr("labelfold.evaluate.compare", refuse)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--ignore", "digit"], "name their column with --labels"),
        (["--labels", "digit", "--methods", "ccdr,umap"], "--methods umap is unknown: use some of"),
        (["--labels", "digit", "--methods", ","], "--methods names none"),
        (["--labels", "digit", "--dims", "2,x"], "--dims '2,x' must be positive integers"),
        (["--labels", "digit", "--dims", "0"], "must be positive integers"),
        (["--labels", "digit", "--head", "svm"], "--head svm is unknown: choose from knn, ridge"),
        (["--labels", "digit", "--scale", "log"], "--scale log is unknown"),
        (["--labels", "digit", "--folds", "40"], "--folds 40 needs a class with 40 labels"),
        (["--labels", "digit", "--folds", "1"], "--folds"),
        (["--labels", "digit", "-o", "table.txt"], "table.txt must end with one of .csv"),
        (["--labels", "digit", "--plot", "picture.gif"], "picture.gif must end with one of .png"),
    ],
)
def test_refusals(digits, no_work, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    refused(run(digits, *arguments), problem)
    assert list(tmp_path.iterdir()) == []
