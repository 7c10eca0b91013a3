"""`labelfold embed` on a file of digits with 50 labels: values, files, reports and refusals."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from command_line import NAMES, PIXELS, PNG, numbers_of, read_csv, refused, some_labels, write_csv
from command_line import run as run_command
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

import labelfold
from labelfold import CCDR, LaplacianEigenmaps, ResampledEmbedding, SupervisedLLE, methods
from labelfold.methods import Declaration, declare
from labelfold.persistence.model_file import read_feature_names

N_ROWS = 300
X, LABELS = PIXELS[:N_ROWS], some_labels(N_ROWS)
VARYING = X[:, np.ptp(X, axis=0) > 0]  # what is left of the columns: constant ones are left out


def run(*arguments, **options):
    return run_command("embed", *arguments, **options)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("data") / "digits.csv", X, digit=LABELS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, digits):
    """One run with everything it can write."""
    folder = tmp_path_factory.mktemp("out")
    result = run(
        *(digits, "--labels", "digit", "-o", folder / "map.csv"),
        *("--plot", folder / "map.png", "--save", folder / "model.skops"),
    )
    return result, folder


# Values


def test_coordinates_are_those_of_the_library(finished):
    result, folder = finished
    assert result.exit_code == 0, result.stderr
    rows = read_csv(folder / "map.csv")
    assert list(rows[0]) == ["row", "x1", "x2", "label"]
    assert [int(row["row"]) for row in rows] == list(range(1, N_ROWS + 1))
    assert [row["label"] for row in rows] == ["" if v is None else str(v) for v in LABELS]
    np.testing.assert_array_equal(numbers_of(rows, "x"), CCDR().fit_transform(X, LABELS))


def test_the_model_is_that_of_the_library_and_knows_its_columns(finished):
    _, folder = finished
    model = labelfold.load(folder / "model.skops")
    assert isinstance(model[-1], CCDR)
    assert model[-1].verbose == 0
    new = PIXELS[N_ROWS : N_ROWS + 20] * (np.ptp(X, axis=0) > 0)
    found = model.transform(pd.DataFrame(new, columns=NAMES))
    np.testing.assert_allclose(found, CCDR().fit(X, LABELS).transform(new), rtol=1e-12)
    assert read_feature_names(folder / "model.skops") == NAMES


def test_the_summary_has_data_graph_and_certificate(finished):
    result, folder = finished
    assert "300 rows, 64 columns" in result.stdout
    assert f"Columns: {VARYING.shape[1]} numbers" in result.stdout
    assert "50 rows labeled, 250 unlabeled; 10 classes: 0 (5), 1 (5)" in result.stdout
    assert "Embedding: ccdr (CCDR), 2 coordinates per row." in result.stdout
    model = CCDR().fit(X, LABELS)
    assert f"Graph: {model.graph_.statistics.n_edges:,} edges" in result.stdout
    assert "Solve: ok: " in result.stdout
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["map.csv", "map.png", "model.skops"]
    assert all(str(folder / name) in result.stdout for name in names)
    assert (folder / "map.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("options", "estimator"),
    [
        (["--dims", 5, "--neighbors", 7, "--beta", 0.25], CCDR(5, n_neighbors=7, beta=0.25)),
        (["--dims", "auto"], CCDR("auto", random_state=0)),
        (
            ["--method", "eigenmaps", "--set", "weights=binary"],
            LaplacianEigenmaps(weights="binary"),
        ),
        (["--method", "lle", "--set", "alpha=0.5"], SupervisedLLE(alpha=0.5, random_state=0)),
        (["--method", "pca", "--dims", 3], PCA(3, random_state=0)),
        (["--method", "isomap"], Isomap(n_neighbors=12)),
        (
            ["--method", "resampled", "--set", "subsample_size=150", "--beta", 0.5, "--seed", 3],
            ResampledEmbedding(CCDR(beta=0.5), subsample_size=150, random_state=3),
        ),
    ],
)
def test_options_reach_the_estimator(tmp_path, digits, options, estimator):
    out = tmp_path / "map.csv"
    result = run(digits, "--labels", "digit", "-o", out, *options)
    assert result.exit_code == 0, result.stderr
    expected = estimator.fit_transform(VARYING, LABELS)
    np.testing.assert_allclose(numbers_of(read_csv(out), "x"), expected, rtol=1e-12, atol=1e-14)


class Shrunk(TransformerMixin, BaseEstimator):
    """The first features at a smaller scale: a method that the package does not know."""

    def __init__(self, n_components: int = 2, *, factor: float = 0.5) -> None:
        self.n_components = n_components
        self.factor = factor

    def fit(self, X, y=None):
        self.embedding_ = self.transform(X)
        return self

    def transform(self, X):
        return self.factor * X[:, : self.n_components]


def test_a_method_that_declares_itself_takes_part(tmp_path, digits, monkeypatch):
    monkeypatch.setattr(methods, "_estimators", methods._estimators.copy())
    monkeypatch.setattr(methods, "_stored", methods._stored.copy())
    purpose = "pixels at a smaller scale"
    declare(Declaration("shrunk", purpose, labels="ignores", produces="embedding"))(Shrunk)
    out = tmp_path / "map.csv"
    options = ["--labels", "digit", "-o", out, "--method", "shrunk", "--dims", 3]
    assert run(digits, *options, "--set", "factor=2").exit_code == 0
    np.testing.assert_array_equal(numbers_of(read_csv(out), "x"), 2 * VARYING[:, :3])
    options = ["--labels", "digit", "--methods", "shrunk", "--folds", 2, "--json"]
    assert '"status": "ok"' in run_command("compare", digits, *options).stdout


def test_the_help_lists_every_declared_embedder():
    text = " ".join(run("--help").stdout.split())
    for name, kind in methods.all_methods().items():
        listed = f"{name} {kind.declaration.purpose}"
        assert (listed in text) == kind.declaration.embeds


def test_labels_may_be_left_out(tmp_path, digits):
    out = tmp_path / "map.csv"
    result = run(digits, "--ignore", "digit", "-o", out)
    assert result.exit_code == 0, result.stderr
    assert "Labels: none." in result.stdout
    rows = read_csv(out)
    assert list(rows[0]) == ["row", "x1", "x2"]
    np.testing.assert_array_equal(numbers_of(rows, "x"), CCDR().fit_transform(X))


# Reports and streams


def test_json_has_the_same_facts(tmp_path, digits):
    out, saved = tmp_path / "map.npz", tmp_path / "model.skops"
    result = run(digits, "--labels", "digit", "-o", out, "--save", saved, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    facts = json.loads(result.stdout)
    assert facts["data"]["n_rows"] == N_ROWS
    assert facts["data"]["classes"][3] == {"label": 3, "n_labeled": 5}
    assert (facts["method"], facts["estimator"], facts["n_components"]) == ("ccdr", "CCDR", 2)
    assert facts["parameters"]["beta"] == 1.0
    assert facts["certificate"]["ok"] is True
    assert facts["files"] == {"table": str(out), "picture": None, "model": str(saved)}
    assert facts["versions"]["labelfold"] == labelfold.__version__
    assert 0 < facts["seconds"]["fit"] <= facts["seconds"]["total"]
    with np.load(out) as arrays:
        np.testing.assert_array_equal(arrays["x"], CCDR().fit_transform(X, LABELS))


def test_quiet_leaves_only_the_table(digits):
    result = run("-q", digits, "--labels", "digit", "-o", "-")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("row,x1,x2,label\n")


def test_progress_is_shown_when_asked_for_and_not_saved(tmp_path, digits):
    saved = tmp_path / "model.skops"
    result = run("-v", digits, "--labels", "digit", "-o", tmp_path / "map.csv", "--save", saved)
    assert result.exit_code == 0
    assert "reading" in result.stderr
    assert labelfold.load(saved).verbose == 0


# Refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--labels", "digits"], ["there is no such column", "did you mean 'digit'"]),
        (["--method", "tsne"], ["--method tsne is unknown", "ccdr, eigenmaps"]),
        (["--method", "lle", "--beta", 2], ["--beta: --method lle has no parameter beta", "alpha"]),
        (["--method", "lle", "--dims", "auto"], ["--dims 'auto' must be a whole number"]),
        (["--dims", "0"], ["n_components=0"]),
        (["--dims", "two"], ["n_components='two'"]),
        (["--set", "gamma=1"], ["--set gamma", "has no parameter gamma", "beta, eigen_solver"]),
        (["--set", "beta"], ["NAME=VALUE"]),
        (["--set", "radius=wide"], ["--set radius 'wide' must be a number or none"]),
        (["--set", "beta=nan"], ["beta=nan must be a number"]),
        (["--set", "beta=2", "--set", "beta=3"], ["--set beta sets beta a second time"]),
        (["--set", "beta=2", "--beta", 3], ["--set beta sets beta a second time"]),
        (["--set", "n_jobs=2"], ["use --jobs instead"]),
        (["--set", "metric=nonsense"], ["metric"]),
        (["--set", "weights=nonsense"], ["weights"]),
        (["--beta", 0], ["beta=0"]),
        (["--scale", "log"], ["--scale log is unknown", "none, standard, quantile"]),
        (["--method", "mfa", "--ignore", "digit"], ["--method mfa needs labels", "--labels"]),
        (["--compact"], ["--save"]),
    ],
)
def test_bad_options_leave_nothing(tmp_path, digits, options, words):
    given = [] if "--labels" in options or "--ignore" in options else ["--labels", "digit"]
    out = tmp_path / "new" / "map.csv"
    refused(run(digits, "-o", out, *given, *options), *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["-o", "--plot", "--save"])
def test_an_existing_file_is_kept_before_anything_is_read(tmp_path, option):
    names = {"-o": "map.csv", "--plot": "map.png", "--save": "model.skops"}
    (tmp_path / names[option]).write_text("mine")
    outputs = [part for key, name in names.items() for part in (key, tmp_path / name)]
    refused(run("no-such-file.csv", *outputs), "exists", "--force")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (["-o", "map.xlsx"], ["map.xlsx", ".csv"]),
        (["-o", "map.npy"], ["map.npy", ".npz"]),
        (["-o", "map.csv", "--plot", "map.gif"], ["map.gif", ".png"]),
        (["-o", "same.csv", "--save", "b/../same.csv"], ["two outputs name the same file"]),
        (["-o", "-", "--json"], ["-o - and --json"]),
    ],
)
def test_outputs_that_cannot_be_written(tmp_path, monkeypatch, digits, outputs, words):
    monkeypatch.chdir(tmp_path)
    refused(run(digits, "--labels", "digit", *outputs), *words)
    assert list(tmp_path.iterdir()) == []


def test_an_output_is_asked_for(digits):
    refused(run(digits), "'--out'", "labelfold embed --help")


@pytest.mark.parametrize("table", ["-", "map.csv"])
def test_a_model_that_cannot_be_saved_leaves_no_table(tmp_path, monkeypatch, digits, table):
    def fail(*arguments, **options):
        raise OSError("the disk is full.")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(labelfold, "save", fail)
    options = ["--labels", "digit", "-o", table, "--save", "model.skops"]
    refused(run(digits, *options), "the disk is full")
    assert list(tmp_path.iterdir()) == []


def test_what_scikit_learn_refuses_is_bad_input(tmp_path, digits):
    options = ["--labels", "digit", "-o", tmp_path / "map.csv", "--method", "pca", "--dims", 65]
    refused(run(digits, *options), "n_components=65")


def test_one_row_is_refused(tmp_path):
    data = tmp_path / "one.csv"
    data.write_text("a,b\n1,2\n")
    result = run(data, "-o", tmp_path / "map.csv")
    refused(result, "has only one row: an embedding needs at least two")
    assert list(tmp_path.iterdir()) == [data]


def test_a_checkpoint_folder_is_made_and_a_file_is_refused(tmp_path, digits, monkeypatch):
    monkeypatch.setattr("labelfold.checkpoint_folder.LEAST_SECONDS", 0.0)
    out, folder = tmp_path / "map.csv", tmp_path / "kept"
    options = ["--labels", "digit", "-o", out, "--force", "--checkpoint"]
    written = []
    for _ in range(2):
        assert run(digits, *options, folder).exit_code == 0
        written.append((out.read_bytes(), sorted(folder.iterdir())))
    assert written[0] == written[1]
    assert [path.name.partition("-")[0] for path in folder.iterdir()].count("graph") == 1
    refused(run(digits, *options, digits), "checkpoints cannot be written to", str(digits))
