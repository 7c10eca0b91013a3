"""`labelfold compare` against the library, its files, and what it refuses."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from labelfold import CCDR, hide_labels
from labelfold.cli.app import app
from labelfold.cli.compared_methods import METHODS, make_methods
from labelfold.evaluate import compare

PNG = b"\x89PNG\r\n\x1a\n"


def run_compare(*arguments, **options):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)], **options)


def digits_with_labels(n_rows=250, n_labels=50):
    X, y = load_digits(return_X_y=True)
    return X[:n_rows], hide_labels(y[:n_rows], keep=range(n_labels))


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Digits of which fifty are labelled, as a CSV file."""
    path = tmp_path_factory.mktemp("digits") / "digits.csv"
    X, y = digits_with_labels()
    names = [f"pixel{i}" for i in range(64)]
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*names, "digit"])
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            writer.writerow([*row, "" if label == -1 else label])
    return path


@pytest.fixture(scope="module")
def expected():
    """The same comparison made with the library."""
    X, y = digits_with_labels()
    methods = {"pca": PCA(2, random_state=3), "ccdr": CCDR(n_neighbors=7, random_state=3)}
    return compare(X, y, methods, dims=(2, 4), cv=3, random_state=3)


OPTIONS = ("--labels", "digit", "--methods", "pca,ccdr", "--dims", "2,4", "--folds", 3)
OPTIONS += ("--seed", 3, "--neighbors", 7)


def test_figures_are_those_of_the_library(digits, expected):
    result = run_compare(digits, *OPTIONS, "--json")
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
    result = run_compare(digits, *OPTIONS, "-o", path)
    assert result.exit_code == 0, result.stderr
    assert f"Table: {path}" in result.stdout
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    wanted = expected.summary()
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
    assert run_compare(digits, *arguments).exit_code == 0
    assert path.read_bytes().startswith(start)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_a_method_cannot_do_stands_in_the_table(digits):
    result = run_compare(digits, "--labels", "digit", "--methods", "lda,pca", "--dims", "2,12")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert any(line.split()[:2] == ["lda", "12"] and "failed: " in line for line in lines)
    assert any(line.split()[:2] == ["pca", "12"] and "%" in line for line in lines)


def test_linear_head_and_scale(digits):
    X, y = digits_with_labels()
    wanted = compare(
        StandardScaler().fit_transform(X),
        y,
        {"pca": PCA(2, random_state=0)},
        head="linear",
        random_state=0,
    ).summary()[0]
    arguments = ("--methods", "pca", "--head", "linear", "--scale", "standard", "--json")
    facts = json.loads(run_compare(digits, "--labels", "digit", *arguments).stdout)
    assert facts["head"] == "linear"
    assert facts["summary"][0]["error"] == pytest.approx(wanted.error)


def test_every_method_can_be_compared():
    from labelfold.evaluate.comparison import _with_dimension

    for name, estimator in make_methods(METHODS, n_neighbors=5, seed=0).items():
        assert _with_dimension(estimator, 3).get_params()["n_components"] == 3, name


def test_many_warnings_are_one_line_of_each_kind(digits):
    result = run_compare(digits, "--labels", "digit", "--methods", "mfa", "--folds", 3)
    assert result.exit_code == 0
    assert result.stderr.count("n_neighbors_within") == 1
    assert "more like this" in result.stderr
    quiet = run_compare(digits, "--labels", "digit", "--methods", "mfa", "--folds", 3, "-q")
    assert quiet.stderr == ""


def test_standard_input_and_labels_in_a_file_of_their_own(digits, tmp_path):
    lines = digits.read_text().splitlines()
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(line.rpartition(",")[2] or "NA" for line in lines[1:]) + "\n")
    data = "\n".join(line.rpartition(",")[0] for line in lines)
    options = ("--methods", "pca", "--json")
    apart = run_compare("-", "--labels-file", labels, *options, input=data)
    assert apart.exit_code == 0, apart.stderr
    together = json.loads(run_compare(digits, "--labels", "digit", *options).stdout)
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
        (["--labels", "digit", "--dims", "2,x"], "--dims '2,x' must be positive whole numbers"),
        (["--labels", "digit", "--dims", "0"], "must be positive whole numbers"),
        (["--labels", "digit", "--head", "svm"], "--head svm is unknown: use one of knn, linear"),
        (["--labels", "digit", "--scale", "log"], "--scale log is unknown"),
        (["--labels", "digit", "--folds", "40"], "--folds 40 is more than the"),
        (["--labels", "digit", "--folds", "1"], "--folds"),
        (["--labels", "digit", "-o", "table.txt"], "the ending of an output"),
        (["--labels", "digit", "-o", "table.npy"], "an NPY file holds a matrix alone"),
        (["--labels", "digit", "--plot", "picture.gif"], "the ending of a picture"),
        (["--labels", "pixel0", "--ignore", "digit"], "one class only"),
        (["-q", "-v"], "contradict each other"),
    ],
)
def test_refusals(digits, no_work, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    result = run_compare(digits, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["-o", "--plot"])
def test_existing_files_are_refused_before_the_work(digits, no_work, tmp_path, option):
    path = tmp_path / ("table.csv" if option == "-o" else "errors.png")
    path.write_text("mine")
    result = run_compare(digits, "--labels", "digit", option, path)
    assert result.exit_code == 2
    assert "pass --force to replace it" in result.stderr
    assert path.read_text() == "mine"


def test_force_replaces_files_but_never_the_data(digits, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("mine")
    options = ("--labels", "digit", "--methods", "pca", "--folds", 2, "--force")
    assert run_compare(digits, *options, "-o", path).exit_code == 0
    assert path.read_text().startswith("method,")
    before = digits.read_bytes()
    result = run_compare(digits, *options, "-o", digits)
    assert result.exit_code == 2
    assert "is read by this command" in result.stderr
    assert digits.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_leaves_nothing(digits, tmp_path):
    script = textwrap.dedent("""
        import signal
        import time
        import labelfold.evaluate
        from labelfold.cli import main

        def work_forever(*arguments, **options):
            print("working", flush=True)
            time.sleep(60)

        # A shell's background job, and all it starts, ignores SIGINT.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        labelfold.evaluate.compare = work_forever
        main()
    """)
    path = tmp_path / "new" / "table.csv"
    arguments = ["compare", str(digits), "--labels", "digit", "-o", str(path)]
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout.readline() == "working\n"
        program.send_signal(signal.SIGINT)
        _, stderr = program.communicate(timeout=30)
    assert (program.returncode, stderr) == (130, "labelfold: interrupted.\n")
    assert list(tmp_path.iterdir()) == []
