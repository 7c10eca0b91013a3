"""`labelfold transform`: saved embeddings and classifiers on new rows, and refused models."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from command_line import (
    DIGITS,
    NAMES,
    PIXELS,
    numbers_of,
    read_csv,
    refused,
    some_labels,
    write_csv,
)
from command_line import run as run_command
from sklearn.cluster import DBSCAN
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelfold
from labelfold import (
    CCDR,
    IsometricSeparationMap,
    LaplacianClassifier,
    ManifoldClassifier,
    ResampledEmbedding,
)
from labelfold.exceptions import ModelFileError
from labelfold.persistence.model_file import read_feature_names

N_ROWS, N_NEW = 200, 30
X, NEW = PIXELS[:N_ROWS], PIXELS[N_ROWS : N_ROWS + N_NEW]
LABELS = some_labels(N_ROWS)


def run(*arguments, **options):
    return run_command("transform", *arguments, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """New rows, and what embed and classify save from the same 200 digits."""
    folder = tmp_path_factory.mktemp("models")
    data = write_csv(folder / "digits.csv", X, digit=LABELS)
    write_csv(folder / "new.csv", NEW)
    for command, options in (
        ("embed", ["--scale", "standard"]),
        ("classify", ["--method", "ccdr", "--folds", 0]),
    ):
        result = run_command(
            *(command, data, "--labels", "digit", *options, "--compact"),
            *("--save", folder / f"{command}.skops", "-o", folder / f"{command}.csv"),
        )
        assert result.exit_code == 0, result.stderr
    return folder


# Values


def test_an_embedding_of_scaled_columns(tmp_path, folder):
    out = tmp_path / "out.csv"
    result = run(folder / "embed.skops", folder / "new.csv", "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    text = " ".join(result.stdout.split())
    assert "CCDR of 64 columns" in text
    assert "30 rows, each with 2 coordinates" in text
    rows = read_csv(out)
    assert list(rows[0]) == ["row", "x1", "x2"]
    assert [int(row["row"]) for row in rows] == list(range(1, N_NEW + 1))
    expected = make_pipeline(StandardScaler(), CCDR()).fit(X, LABELS).transform(NEW)
    np.testing.assert_allclose(numbers_of(rows, "x"), expected, rtol=1e-12, atol=1e-15)


def test_a_classifier(tmp_path, folder):
    out = tmp_path / "out.csv"
    result = run(folder / "classify.skops", folder / "new.csv", "-o", out)
    assert result.exit_code == 0, result.stderr
    rows = read_csv(out)
    assert list(rows[0]) == ["row", "label", "confidence"]
    model = ManifoldClassifier(CCDR(30)).fit(X, LABELS)
    assert [int(row["label"]) for row in rows] == model.predict(NEW).tolist()
    expected = model.predict_proba(NEW).max(axis=1)
    np.testing.assert_allclose(numbers_of(rows, "confidence")[:, 0], expected)


def test_rows_of_the_fit_keep_their_coordinates(tmp_path, folder):
    out = tmp_path / "out.csv"
    assert run(folder / "embed.skops", folder / "digits.csv", "-o", out).exit_code == 0
    before = numbers_of(read_csv(folder / "embed.csv"), "x")
    np.testing.assert_allclose(numbers_of(read_csv(out), "x"), before)


def test_columns_are_found_by_name_in_any_order(tmp_path, folder):
    order = np.random.default_rng(0).permutation(64)
    shuffled = write_csv(
        tmp_path / "shuffled.csv",
        NEW[:, order],
        names=[NAMES[column] for column in order],
        comment=["text"] * N_NEW,
        pixel64=range(N_NEW),
    )
    for name, source in (("a", folder / "new.csv"), ("b", shuffled)):
        assert run(folder / "embed.skops", source, "-o", tmp_path / f"{name}.csv").exit_code == 0
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_names_of_a_data_frame_are_used(tmp_path, folder):
    frame = pd.DataFrame(X, columns=NAMES)
    labelfold.save(CCDR().fit(frame, LABELS), tmp_path / "model.skops")
    turned = write_csv(tmp_path / "turned.csv", NEW[:, ::-1], names=NAMES[::-1])
    result = run(tmp_path / "model.skops", turned, "-o", tmp_path / "out.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = CCDR().fit(X, LABELS).transform(NEW)
    np.testing.assert_array_equal(numbers_of(read_csv(tmp_path / "out.csv"), "x"), expected)


def test_a_model_without_names_takes_columns_as_they_come(tmp_path, folder):
    labelfold.save(CCDR().fit(X, LABELS), tmp_path / "model.skops")
    np.save(tmp_path / "new.npy", NEW)
    result = run(tmp_path / "model.skops", tmp_path / "new.npy", "-o", tmp_path / "out.npz")
    assert result.exit_code == 0, result.stderr
    with np.load(tmp_path / "out.npz") as arrays:
        np.testing.assert_array_equal(arrays["x"], CCDR().fit(X, LABELS).transform(NEW))


def test_rows_without_names_for_a_model_with_names(tmp_path, folder):
    np.save(tmp_path / "new.npy", NEW)
    arguments = [folder / "embed.skops", tmp_path / "new.npy", "-o", tmp_path / "out.csv"]
    refused(run(*arguments), "no column 'pixel0'", "--features")
    assert run(*arguments, "--features", "1-64").exit_code == 0
    run(folder / "embed.skops", folder / "new.csv", "-o", tmp_path / "by_name.csv")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "by_name.csv").read_text()


def test_an_embedder_that_classifies_gives_both(tmp_path, folder):
    labels = np.where(np.isin(DIGITS[:60], (0, 1)), DIGITS[:60], None)
    model = IsometricSeparationMap(tol=0.1, random_state=0).fit(X[:60], labels)
    labelfold.save(model, tmp_path / "model.skops")
    result = run(tmp_path / "model.skops", folder / "new.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    rows = read_csv(tmp_path / "out.csv")
    assert list(rows[0]) == ["row", "x1", "x2", "label", "confidence"]
    np.testing.assert_allclose(numbers_of(rows, "x"), model.transform(NEW))
    assert [int(row["label"]) for row in rows] == model.predict(NEW).tolist()


def test_sparse_rows_and_a_classifier_on_the_graph(tmp_path):
    model = LaplacianClassifier().fit(sp.csr_array(X), LABELS)
    labelfold.save(model, tmp_path / "model.skops")
    sp.save_npz(tmp_path / "new.npz", sp.csr_array(NEW))
    result = run(tmp_path / "model.skops", tmp_path / "new.npz", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    rows = read_csv(tmp_path / "out.csv")
    assert [int(row["label"]) for row in rows] == model.predict(NEW).tolist()


@pytest.mark.parametrize("is_scaled", [False, True])
def test_std_of_subsamples(tmp_path, folder, is_scaled):
    member = ResampledEmbedding(subsample_size=100, n_subsamples=3, random_state=0)
    scaler = StandardScaler() if is_scaled else "passthrough"
    model = make_pipeline(scaler, member).fit(X, LABELS) if is_scaled else member.fit(X, LABELS)
    labelfold.save(model, tmp_path / "model.skops")
    options = ["-o", tmp_path / "out.csv", "--std"]
    result = run(tmp_path / "model.skops", folder / "new.csv", *options)
    assert result.exit_code == 0, result.stderr
    rows = read_csv(tmp_path / "out.csv")
    assert list(rows[0]) == ["row", "x1", "x2", "std"]
    inner = scaler.transform(NEW) if is_scaled else NEW
    x, std = member.transform(inner, return_std=True)
    np.testing.assert_allclose(numbers_of(rows, "x"), x)
    np.testing.assert_allclose(numbers_of(rows, "std")[:, 0], std)


# Reports and streams


def test_json_has_the_facts(tmp_path, folder):
    out = tmp_path / "out.csv"
    result = run(folder / "classify.skops", folder / "new.csv", "-o", out, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    facts = json.loads(result.stdout)
    assert facts["model"]["estimator"] == "ManifoldClassifier"
    assert facts["model"]["feature_names"] == NAMES
    assert facts["data"]["n_rows"] == N_NEW
    assert facts["columns"] == ["label", "confidence"]
    assert facts["files"] == {"table": str(out), "picture": None, "model": None}
    assert facts["versions"]["labelfold"] == labelfold.__version__


# Refusals


def test_a_missing_column(tmp_path, folder):
    short = write_csv(tmp_path / "short.csv", NEW[:, 1:], names=NAMES[1:])
    result = run(folder / "embed.skops", short, "-o", tmp_path / "new" / "out.csv")
    refused(result, "'pixel0'", "which the model was fitted on")
    assert [path.name for path in tmp_path.iterdir()] == ["short.csv"]


def test_names_that_are_numbers_are_not_column_numbers(tmp_path):
    names = [str(number) for number in range(1, 65)]
    model = CCDR().fit(X, LABELS)
    labelfold.save(model, tmp_path / "model.skops", feature_names=names)
    other = write_csv(tmp_path / "other.csv", NEW)
    result = run(tmp_path / "model.skops", other, "-o", tmp_path / "out.csv")
    refused(result, "no column '1'", "--features")
    assert not (tmp_path / "out.csv").exists()


def test_another_number_of_columns(tmp_path, folder):
    labelfold.save(CCDR().fit(X, LABELS), tmp_path / "model.skops")
    np.save(tmp_path / "new.npy", NEW[:, :60])
    result = run(tmp_path / "model.skops", tmp_path / "new.npy", "-o", tmp_path / "out.csv")
    refused(result, "60 columns and 64 are needed")


@pytest.mark.parametrize(
    ("model", "name"),
    [(LinearRegression().fit(X, DIGITS[:N_ROWS]), "LinearRegression"), (DBSCAN().fit(X), "DBSCAN")],
)
def test_a_model_of_another_kind(tmp_path, folder, model, name):
    labelfold.save(model, tmp_path / "model.skops")
    result = run(tmp_path / "model.skops", folder / "new.csv", "-o", tmp_path / "out.csv")
    refused(result, f"holds a {name}", "labelfold embed --save")
    assert not (tmp_path / "out.csv").exists()


def test_a_std_that_is_not_there(tmp_path, folder):
    options = ["-o", tmp_path / "out.csv", "--std"]
    refused(run(folder / "embed.skops", folder / "new.csv", *options), "CCDR", "resampled")


def test_files_that_are_not_there(tmp_path, folder):
    out = tmp_path / "out.csv"
    refused(run(tmp_path / "none.skops", folder / "new.csv", "-o", out), "none.skops")
    missing = run(folder / "embed.skops", tmp_path / "none.csv", "-o", out)
    refused(missing, "none.csv")
    assert "columns" not in missing.stderr
    assert list(tmp_path.iterdir()) == []


# Names in model files


def test_names_are_kept_beside_the_estimator(tmp_path):
    path = tmp_path / "model.skops"
    scaler = StandardScaler().fit(X[:, :2])
    labelfold.save(scaler, path, feature_names=["α", "b c"])
    assert read_feature_names(path) == ["α", "b c"]
    assert not hasattr(labelfold.load(path), "feature_names_in_")
    labelfold.save(scaler, path)
    assert read_feature_names(path) is None


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], "ab", [1, 2], ["a", None]])
def test_names_must_be_one_per_feature(tmp_path, names):
    with pytest.raises(ValueError, match="feature_names"):
        labelfold.save(
            StandardScaler().fit(X[:, :2]), tmp_path / "model.skops", feature_names=names
        )
    assert list(tmp_path.iterdir()) == []


def test_names_of_an_altered_file_are_not_read(tmp_path):
    path = tmp_path / "model.skops"
    labelfold.save(StandardScaler().fit(X[:, :2]), path, feature_names=["a", "b"])
    path.write_bytes(path.read_bytes().replace(b'"b"', b'"c"'))
    with pytest.raises(ModelFileError, match="altered"):
        read_feature_names(path)
